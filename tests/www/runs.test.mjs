// The runs that a browser keeps: chosen, named, deleted, and there again after a reload.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { linkOf, scored, showing, turn } from "./scored.mjs";
import { assertHarmless, MARKUP, watched } from "./hostile.mjs";
import { becomes, keptRecords, playground, says, skip, violations } from "./support.mjs";

/** Results of an agent that says goodbye in its own way. */
const run = (answer) =>
  scored(
    {
      greet: [[turn("Hi", "Hello there")], [turn("Hi", "Hello there")]],
      leave: [[turn("Bye", "See you soon")], [turn("Bye", answer)]],
    },
    { response_match_score: 0.5 },
  );

async function openLink(page, results) {
  await page.evaluate((hash) => (location.hash = hash), linkOf(results));
}

const names = async (page) =>
  (await runField(page).locator("option").allInnerTexts()).map((text) => text.split(",")[0]);
const runField = (page) => page.getByRole("combobox", { name: "Run", exact: true });
const passed = (page) => page.locator(".tally").innerText();

/** Waits until a key or a list of runs is in the browser's storage. */
const stored = (page, expected) =>
  becomes(async () => {
    const { runs = [], ...others } = await keptRecords(page);
    const kept = Object.keys(others).filter((key) => key.startsWith("run/")).length;
    return { names: runs.map(({ name }) => name), kept };
  }, expected);

describe("the runs of a browser", { skip }, () => {
  const site = playground();

  test("last, with their names, until they are deleted", async () => {
    const page = await showing(site, await run("See you soon"));
    await says(page.locator(".tally"), /Passed 2/);
    await openLink(page, await run("What?"));
    await says(page.locator(".tally"), /Passed 1/);
    await becomes(() => names(page), ["Run 2", "Run 1"]);
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Name of the run").fill("shorter prompt");
    await page.keyboard.press("Enter");
    await becomes(() => names(page), ["shorter prompt", "Run 1"]);
    assert.equal(await runField(page).evaluate((field) => field === document.activeElement), true);
    await stored(page, { names: ["Run 1", "shorter prompt"], kept: 2 });
    await page.goto(`${site.origin}/#/results`);
    await page.reload();
    await says(page.locator(".tally"), /Passed 1/);
    await runField(page).selectOption({ index: 1 });
    await says(page.locator(".tally"), /Passed 2/);
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Delete" }).click();
    await says(page.locator(".tally"), /Passed 1/);
    await page.getByRole("button", { name: "Undo" }).click();
    await says(page.locator(".tally"), /Passed 2/);
    await page.getByRole("button", { name: "Delete" }).click();
    await says(page.locator(".tally"), /Passed 1/);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Nothing has been scored yet.").waitFor();
    await stored(page, { names: [], kept: 1 });
    await page.reload();
    await page.getByText("Nothing has been scored yet.").waitFor();
    await site.done(page);
  });

  test("keep their own thresholds, and are compared after a reload", async () => {
    const page = await showing(site, await run("What?"));
    const slider = page.getByRole("slider").first();
    await slider.focus();
    await slider.press("Home");
    await page.getByRole("heading", { name: /^Verdicts? flips?/ }).waitFor();
    const before = await passed(page);
    await openLink(page, await run("What?"));
    await becomes(() => names(page), ["Run 2", "Run 1"]);
    assert.equal(await page.getByRole("heading", { name: /^Verdicts? flips?/ }).count(), 0);
    await stored(page, { names: ["Run 1", "Run 2"], kept: 2 });
    await page.goto(`${site.origin}/#/compare`);
    await page.reload();
    await page.getByText("Regressed").first().waitFor();
    await page.getByRole("link", { name: "Results", exact: true }).click();
    await runField(page).selectOption({ index: 1 });
    await becomes(() => passed(page), before);
    await site.done(page);
  });

  test("stand side by side: verdicts, repetitions, intervals and answers", async () => {
    const page = await showing(site, await run("See you soon"));
    await openLink(page, await run("What?"));
    await becomes(() => names(page), ["Run 2", "Run 1"]);
    const repeated = await run("See you soon then");
    const failed = (await run("What?")).evalCaseResults[1];
    await openLink(page, { ...repeated, evalCaseResults: [...repeated.evalCaseResults, failed] });
    await becomes(() => names(page), ["Run 3", "Run 2", "Run 1"]);
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("link", { name: "All runs side by side" }).click();
    const estimates = page.getByRole("table").filter({ hasText: "Pass rate" });
    await says(
      estimates,
      /Pass rate 100% .* 50% .* 67% .*pass@2 – – 100% .*pass\^2 – – 0% .*Flaky cases 0 cases 0 cases 1 case/,
    );
    const cases = page.getByRole("table", { name: "Cases and runs" });
    await says(cases, /greet Passed Passed Passed leave Passed Failed Failed 1 of 2 flaky/);
    await page.getByRole("radio", { name: /Verdicts differ 1/ }).check();
    await becomes(() => cases.getByRole("rowheader").allInnerTexts(), ["leave"]);
    await page.getByRole("radio", { name: /Flaky 1/ }).check();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("link", { name: "leave" }).click();
    await page.getByRole("heading", { level: 1, name: "leave" }).waitFor();
    await says(
      page.locator(".answers table"),
      /User Bye Expected response See you soon See you soon What\? See you soon then/,
    );
    assert.deepEqual(await violations(page), []);
    await page.getByRole("link", { name: "Runs side by side" }).click();
    await page.getByRole("combobox", { name: /^What changed from/ }).selectOption("Run 1");
    await page.getByRole("combobox", { name: /^to/ }).selectOption("Run 2");
    await page.getByRole("button", { name: "Show the changes" }).click();
    await page.getByText("Regressed").first().waitFor();
    assert.equal(await page.getByLabel("Candidate").locator("option:checked").innerText(), "Run 2");
    await site.done(page);
  });

  test("have any name", async () => {
    const page = await showing(site, await run("See you soon"));
    const did = watched(page);
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Name of the run").fill(MARKUP.slice(0, 200));
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("was deleted").waitFor();
    await assertHarmless(page, did, "a run's name");
    await site.done(page);
  });
});
