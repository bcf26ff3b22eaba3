// Where things stand in a window of usual size: what one came for is in sight without scrolling.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { becomes, playground, skip } from "./support.mjs";
import { scored, scoredExample, showing, turn } from "./scored.mjs";

/** Results of some metrics, each of which has a threshold. */
async function resultsOf(metrics) {
  const cases = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`case_${at}`, [[turn("Hi", "Hello")], [turn("Hi", "Hello")]]]),
  );
  const result = await scored(cases, { response_match_score: 0.5 });
  for (const one of result.evalCaseResults) {
    const [first] = one.overallEvalMetricResults;
    one.overallEvalMetricResults = Array.from({ length: metrics }, (_, at) => ({
      ...first,
      metricName: `the_score_of_metric_${at}_v1`,
    }));
  }
  return result;
}

/** How many whole rows of cases are in sight. */
const rowsInSight = (page) =>
  page.evaluate(
    () =>
      [...document.querySelectorAll('.grid [role="rowheader"]')].filter((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      }).length,
  );

describe("results", { skip }, () => {
  const site = playground();

  for (const [what, results, width, height, rows] of [
    ["of twelve metrics", () => resultsOf(12), 1280, 800, 4],
    ["of two metrics", () => resultsOf(2), 1280, 800, 4],
    ["of twelve metrics, wide", () => resultsOf(12), 1920, 1080, 10],
    ["with many facts", () => scoredExample("museum-guide"), 1280, 800, 4],
  ]) {
    test(`${what} show their first cases without scrolling`, async () => {
      const page = await showing(site, await results(), { width, height });
      // The figures that come last make the summary higher.
      await page.getByText("Pass rate", { exact: true }).waitFor();
      await becomes(async () => (await rowsInSight(page)) >= rows, true);
      await site.done(page);
    });
  }

  test("show the histograms of all metrics on request", async () => {
    const page = await showing(site, await resultsOf(12), { width: 1280, height: 800 });
    const all = page.getByRole("button", { name: "Show all 12" });
    await all.click();
    await becomes(() => page.getByRole("slider").count(), 12);
    const isWhole = () =>
      page.getByRole("slider").evaluateAll((sliders) =>
        sliders.every((slider) => {
          const { left, right } = slider.getBoundingClientRect();
          return left >= 0 && right <= document.documentElement.clientWidth;
        }),
      );
    assert.equal(await isWhole(), true);
    await page.getByRole("button", { name: "Show one row" }).click();
    await all.waitFor();
    await site.done(page);
  });
});
