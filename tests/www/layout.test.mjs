// Where things stand in a window of usual size: what one came for is in sight without scrolling.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { becomes, playground, says, skip } from "./support.mjs";
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

  test("on a phone show their first cases without scrolling, and what is folded for that on request", async () => {
    const page = await showing(site, await scoredExample("museum-guide"), { width: 390, height: 844 });
    await becomes(async () => (await rowsInSight(page)) >= 3, true);
    const summary = page.getByRole("region", { name: "Summary" });
    const scores = page.getByRole("region", { name: "Scores and thresholds" });
    for (const [part, title] of [
      [summary, "About this run"],
      [scores, "Scores and thresholds"],
    ]) {
      await part.getByText(title, { exact: true }).click();
    }
    await says(summary, /About this run Evalset museum-guide .*Pass rate 33%/);
    await scores.getByRole("slider").first().waitFor();
    // They stay open after another screen, and are not folded in a wide window.
    await page.goto(`${site.origin}/#/case/0`);
    await page.locator(".turn").first().waitFor();
    await page.goto(`${site.origin}/#/results`);
    await scores.getByRole("slider").first().waitFor();
    await scores.getByText("Scores and thresholds", { exact: true }).click();
    await becomes(() => scores.getByRole("slider").count(), 0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await scores.getByRole("slider").first().waitFor();
    assert.equal(await summary.locator("details").count(), 0);
    await site.done(page);
  });

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

describe("a phone", { skip }, () => {
  const site = playground();

  test("shows the figures of a run without scrolling sideways", async () => {
    const page = await showing(site, await scoredExample("museum-guide"), { width: 390, height: 844 });
    await page.goto(`${site.origin}/#/runs`);
    const run = page
      .getByRole("table")
      .filter({ hasText: "Pass rate" })
      .getByRole("columnheader", { name: /^Run 1/ });
    const { x, width } = await run.boundingBox();
    assert.ok(x + width <= 390, `it ends at ${x + width}`);
    assert.equal(await page.getByText("Trend", { exact: true }).isVisible(), false);
    await site.done(page);
  });

  test("shows the way to other cases in a row, and what is copied in its box", async () => {
    const page = await showing(site, await scoredExample("cake-orders"), { width: 390, height: 844 });
    await page.goto(`${site.origin}/#/case/0`);
    const neighbours = page.getByRole("navigation", { name: "Cases" }).locator(".button");
    await neighbours.first().waitFor();
    const tops = await neighbours.evaluateAll((links) => links.map((link) => link.getBoundingClientRect().top));
    assert.equal(tops.length, 3);
    assert.equal(new Set(tops).size, 1);
    await page.locator(".rationale").first().getByRole("button", { name: "Copy the rationale" }).waitFor();
    // What is in the bar is in the order in which the keyboard comes to it.
    const [colours, shortcuts] = await Promise.all(
      [page.getByLabel("Colours"), page.getByRole("button", { name: "Keyboard shortcuts" })].map((one) =>
        one.boundingBox(),
      ),
    );
    assert.ok(colours.x < shortcuts.x);
    await site.done(page);
  });
});

describe("the accent", { skip }, () => {
  const site = playground();

  test("is for what can be pressed or followed, not for what is chosen or said", async () => {
    const page = await site.open();
    /** The parts of the page that have the colour of the first button. */
    const accented = (selectors) =>
      page.evaluate((list) => {
        const probe = document.createElement("i");
        document.body.append(probe);
        const colour = (name) => ((probe.style.color = `var(${name})`), getComputedStyle(probe).color);
        const blue = ["--accent", "--accent-soft"].map(colour);
        probe.remove();
        return list.filter((selector) => {
          const parts = [...document.querySelectorAll(selector)];
          if (parts.length === 0) throw new Error(`nothing is ${selector}`);
          return parts.some((part) => {
            const { color, backgroundColor, borderBottomColor, borderTopColor } = getComputedStyle(part);
            return [color, backgroundColor, borderBottomColor, borderTopColor].some((one) => blue.includes(one));
          });
        });
      }, selectors);
    await page.getByText("recorded judge").first().waitFor();
    assert.deepEqual(await accented([".tag", ".bar nav a[aria-current]"]), []);
    await page.getByRole("button", { name: "Weather: Score it" }).click();
    await page.getByRole("grid").waitFor();
    const slider = page.getByRole("slider").last();
    await slider.focus();
    for (let press = 0; press < 3; press += 1) await slider.press("PageUp");
    await page.getByRole("heading", { name: /^Verdicts? flips?/ }).waitFor();
    await page.locator("h1").click();
    assert.deepEqual(await accented([".choices label:has(:checked)", ".flips"]), []);
    await page.getByRole("link", { name: "storm_warning" }).first().click();
    await page.getByRole("button", { name: "Only differences" }).click();
    assert.deepEqual(await accented(['[aria-pressed="true"]']), []);
    await site.done(page);
  });
});
