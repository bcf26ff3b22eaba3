// Every screen, in both themes and at three widths: nothing that axe objects to, a title that says what is shown, a link past
// the navigation.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { becomes, example, playground, skip, violations } from "./support.mjs";

const go = (page, name) =>
  page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name, exact: true }).click();

/** A phone, a large screen, and what the rest of the walk is made in. */
const WIDTHS = [390, 1920, 1280];

/** Looks for violations at all widths. */
async function sound(page, where) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    assert.deepEqual(await violations(page), [], `${where}, ${width} px`);
  }
}

async function scored(page, name) {
  await page.getByRole("button", { name: `${name}: Score it` }).click();
  await page.waitForURL("**/#/results");
  await page.getByRole("grid").waitFor();
}

describe("every screen", { skip }, () => {
  const site = playground();

  for (const theme of ["light", "dark"]) {
    test(`has no violation and a title of its own, ${theme}`, async () => {
      const page = await site.open({ theme });
      /** Looks at what is shown, under a title. */
      const look = async (where, title) => {
        // While a screen is loaded there is none.
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        await sound(page, `${where}, ${theme}`);
        await becomes(() => page.title(), title, where);
      };
      await look("start", "Files – adk-metrics");
      for (const [screen, title] of [
        ["results", "Results"],
        ["case/0", "Case"],
        ["labels", "Labels"],
        ["draft/1", "New evalset"],
        ["edit", "Edit"],
        ["compare", "Compare"],
        ["runs", "Runs side by side"],
        ["run", "Run"],
      ]) {
        await page.goto(`${site.origin}/#/${screen}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await look(`${screen}, empty`, `${title} – adk-metrics`);
      }
      await page.goto(`${site.origin}/#/files`);
      await scored(page, "Cake orders");
      await look("results", "Results – adk-metrics");
      await page.locator("summary", { hasText: "Filters" }).click();
      await look("filters", "Results – adk-metrics");
      await page.locator("summary", { hasText: "Filters" }).click();
      await page.getByRole("link", { name: "birthday_inscription" }).click();
      await page.locator(".turn").first().waitFor();
      await look("case", "birthday_inscription – adk-metrics");
      await page.getByRole("link", { name: "Results" }).first().click();
      await page.getByRole("grid").waitFor();
      await look("results again", "Results – adk-metrics");
      // The screen is loaded by now, which must not change its title.
      await page.getByRole("link", { name: "nut_allergy" }).click();
      await page.locator(".turn").first().waitFor();
      await becomes(() => page.title(), "nut_allergy – adk-metrics");
      await page.getByRole("link", { name: "Edit the case" }).click();
      await page.getByLabel("Expected answer").first().waitFor();
      await look("edit", "nut_allergy – Edit – adk-metrics");
      await go(page, "Results");
      await page.getByRole("link", { name: "Label verdicts" }).click();
      await page.locator(".label-sides").last().waitFor();
      await page.keyboard.press("y");
      await page.keyboard.press("n");
      await page.getByText("2 labels").waitFor();
      await sound(page, `labels, ${theme}`);
      assert.match(await page.title(), /^\w+ – Labels – adk-metrics$/);
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await sound(page, `keys, ${theme}`);
      await page.keyboard.press("Escape");
      await go(page, "Run");
      await page.getByText("Estimated by a dry run").waitFor();
      await look("run", "Run – adk-metrics");
      await go(page, "Criteria");
      await page.getByText("Estimated judge calls").waitFor();
      await look("criteria", "Criteria – adk-metrics");
      await page.getByRole("link", { name: "JSON", exact: true }).click();
      await page.getByRole("textbox", { name: "The eval config" }).waitFor();
      await look("criteria as JSON", "Criteria – adk-metrics");
      await go(page, "Files");
      await look("files", "Files – adk-metrics");
      await scored(page, "Cake orders");
      await go(page, "Compare");
      await page.getByRole("group", { name: "Export the comparison" }).waitFor();
      await look("compare", "Compare – adk-metrics");
      await page.getByRole("link", { name: "All runs side by side" }).click();
      await page.getByRole("table", { name: "Cases and runs" }).waitFor();
      await look("runs", "Runs side by side – adk-metrics");
      await page.getByRole("link", { name: "nut_allergy" }).click();
      await page.getByRole("heading", { level: 1, name: "nut_allergy" }).waitFor();
      await look("answers", "nut_allergy – adk-metrics");
      await go(page, "Files");
      await page.getByLabel("Choose files").setInputFiles(example("phrasebook", "phrasebook.session.json"));
      await page.getByRole("link", { name: /^Make an evalset/ }).click();
      await page.locator(".draft-case").first().waitFor();
      await look("draft", "New evalset – adk-metrics");
      await page.goBack();
      await page.getByRole("link", { name: "phrasebook.session.json", exact: true }).click();
      await page.getByRole("textbox", { name: /^The text of/ }).waitFor();
      await look("file", "Files – adk-metrics");
      await site.done(page);
    });
  }

  test("is skipped to by keyboard", async () => {
    const page = await site.open();
    for (const screen of ["files", "results", "labels", "runs", "draft"]) {
      await page.goto(`${site.origin}/#/${screen}`);
      await page.reload();
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await becomes(() => page.evaluate(() => document.activeElement.id), "main", screen);
    }
    await site.done(page);
  });
});
