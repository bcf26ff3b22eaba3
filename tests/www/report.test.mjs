// The HTML report in a browser: one file with a strict policy, and a case as the playground shows it.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { packageFolder } from "../package/support/package.mjs";
import { assertHarmless, hostileResults, watched } from "./hostile.mjs";
import { scored, scoredExample, turn } from "./scored.mjs";
import { playground, says, skip, violations } from "./support.mjs";

const { renderHtml } = await import(pathToFileURL(join(packageFolder, "dist/esm/report.js")).href);

const ADDRESS = "http://report.invalid/report.html";

describe("the HTML report", { skip }, () => {
  const site = playground();

  /** A page with the report of results, its cases unfolded. */
  async function reportOf(results, options) {
    const page = await site.open(options);
    await page.route(ADDRESS, (route) => route.fulfill({ contentType: "text/html", body: renderHtml(results) }));
    await page.goto(ADDRESS);
    for (const summary of await page.locator(".case > summary").all()) await summary.click();
    return page;
  }

  test("says why a case failed, marks what changed on both sides, and folds turns that passed", async () => {
    const day = (number, city, degrees) =>
      turn(`Day ${number}?`, `It is ${degrees} degrees.`, [{ name: "look", args: { at: { city }, day: number } }]);
    const expected = [1, 2, 3].map((number) => day(number, "Oslo", 20));
    const actual = [day(1, "Oslo", 20), day(2, "Rome", 31), day(3, "Oslo", 20)];
    const page = await reportOf(await scored({ trip: [expected, actual] }, { tool_trajectory_avg_score: 1 }));
    await says(
      page.getByRole("list", { name: "Why it did not pass" }),
      /^tool_trajectory_avg_score needs 1, got 0\.6667, in turn 2 look: at\.city is "Rome", expected "Oslo"$/,
    );
    const open = page.locator("section.turn");
    assert.deepEqual(await open.locator(".pair mark").allInnerTexts(), ["20", "31"]);
    assert.deepEqual(await open.locator(".call mark").allInnerTexts(), ["Oslo", "Rome"]);
    const folded = page.locator("details.turn");
    await says(folded.first(), /^Turn 1 passed Day 1\?$/);
    await folded.first().locator("summary").first().click();
    await says(folded.first(), /Expected response It is 20 degrees\./);
    await site.done(page);
  });

  test("shows why judges voted as they did where a metric did not pass", async () => {
    const page = await reportOf(await scoredExample("museum-guide"));
    const told = page.locator(".case", { hasText: "student_ticket" }).locator(".told");
    // What is out of sight is not laid out.
    await told.first().scrollIntoViewIfNeeded();
    await says(told.first(), /^Invalid The reference says 7 euros, the answer 9\./);
    assert.equal(await told.count(), 3);
    await site.done(page);
  });

  test("shows hostile texts as texts", async () => {
    const page = await reportOf(await hostileResults());
    await assertHarmless(page, watched(page), "the report");
    await site.done(page);
  });

  test("has nothing that axe finds wrong, in both themes and narrow", async () => {
    const results = [await scoredExample("museum-guide"), await scoredExample("cake-orders")];
    for (const theme of ["light", "dark"]) {
      for (const width of [390, 1280]) {
        const page = await reportOf(results, { theme, width });
        assert.deepEqual(await violations(page), [], `${theme}, ${width} px`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `at ${width} px it is ${overflow} px too wide`);
        await site.done(page);
      }
    }
  });
});
