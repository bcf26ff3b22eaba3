// What a visitor does first, from beginning to end: by mouse in few clicks, by keyboard alone, and on every example with the
// scores of the command line.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageFolder } from "../package/support/package.mjs";
import { example, playground, skip, violations } from "./support.mjs";

/** Examples by the names that the page has for them, and what the command line is given for each. */
const EXAMPLES = [
  ["Weather", "weather"],
  ["Museum guide", "museum-guide"],
  ["Cake orders", "cake-orders"],
  ["Ferry press", "ferry-press"],
  ["Bike workshop", "bike-workshop"],
  ["Shop assistant", "shop-assistant"],
  ["Travel concierge", "travel-concierge"],
  ["Home automation", "home-automation"],
  ["Support", "support"],
  ["Phrasebook", "phrasebook"],
  ["Library desk", "library-desk"],
];

/** Whether a case of each kind is looked at: by its example, and a part of its name. */
const CASES = [
  ["Weather", "two_cities"],
  ["Ferry press", "incident"],
  ["Cake orders", "birthday_inscription"],
  ["Bike workshop", "child_seat"],
  ["Travel concierge", "weekend_in_rome"],
  ["Phrasebook", ""],
];

const scoreIt = (page, name) => page.getByRole("button", { name: new RegExp(`^(?=.*Score it).*${name}`) });

async function scored(page, name) {
  await scoreIt(page, name).click();
  await page.waitForURL("**/#/results");
  await page.getByRole("grid").waitFor();
}

async function opened(page, example, name) {
  await scored(page, example);
  await page.getByRole("rowheader").filter({ hasText: name }).getByRole("link").first().click();
  await page.locator(".turn").first().waitFor();
}

/** The pairs of an example: an evalset or a list of cases, and what the agent did on it. */
function pairsOf(folder) {
  const names = readdirSync(example(folder));
  const sets = names.filter((name) => /\.(evalset|test)\.json$/.test(name));
  return sets.map((name) => {
    const stem = name.replace(/\.(evalset|test)\.json$/, "");
    const actual = names.find((one) =>
      new RegExp(`^${stem}\\.(actual|session|inferences|evalset_result)\\.json$`).test(one),
    );
    return [example(folder, name), example(folder, actual)];
  });
}

/** What the command line says of an example: metric results by evalset. */
function byCommandLine(folder) {
  return pairsOf(folder).map(([evalSet, actual]) => {
    const recording = example(folder, "judge.jsonl");
    const judge = existsSync(recording) ? ["--judge", `replay:${recording}`] : [];
    const args = ["eval", evalSet, "--actual", actual, ...judge, "--format", "json"];
    const { stdout, stderr } = spawnSync(process.execPath, [join(packageFolder, "dist/esm/cli.js"), ...args], {
      encoding: "utf8",
    });
    assert.ok(stdout.length > 0, stderr);
    return scoresOf(stdout);
  });
}

/** Scores, thresholds and statuses of evalset results in ADK's schema, with the cases by their ids. */
function scoresOf(json) {
  const plain = (results) =>
    results.map(({ metric_name, threshold, score, eval_status }) => ({ metric_name, threshold, score, eval_status }));
  return JSON.parse(json).eval_case_results.map((one) => ({
    eval_id: one.eval_id,
    final: one.final_eval_status,
    overall: plain(one.overall_eval_metric_results),
    turns: one.eval_metric_result_per_invocation.map(({ eval_metric_results }) => plain(eval_metric_results)),
  }));
}

/** Presses Tab until something that fits has the focus; the focus may never be lost meanwhile. */
async function tabTo(page, fits, most = 80) {
  for (let times = 0; times < most; times += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const { activeElement: element } = document;
      const name = element.getAttribute("aria-label") ?? element.textContent.trim();
      return { tag: element.tagName, name: `${element.getAttribute("role") ?? ""} ${name}`.trim() };
    });
    assert.notEqual(focused.tag, "BODY", "the focus is lost");
    if (fits.test(focused.name)) return;
  }
  assert.fail(`${fits} was not reached by ${most} Tabs`);
}

describe("the story", { skip }, () => {
  const site = playground();

  test("takes three clicks and a key: score an example, see why a case failed, change a threshold", async () => {
    const page = await site.open();
    await scoreIt(page, "Weather").click();
    await page.getByRole("rowheader").filter({ hasText: "two_cities" }).getByRole("link").click();
    await page.getByText("fahrenheit").first().waitFor();
    await page.getByRole("link", { name: "Results", exact: true }).first().click();
    await page.getByRole("slider", { name: "Threshold of response_match_score" }).focus();
    await page.keyboard.press("Home");
    await page.getByRole("heading", { name: /Verdicts flip/ }).waitFor();
    await site.done(page);
  });

  test("can be walked by keyboard alone, without losing the focus", async () => {
    const page = await site.open();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await tabTo(page, /^Weather.*Score it|Score it.*Weather/s);
    await page.keyboard.press("Enter");
    await page.getByRole("grid").waitFor();
    await page.waitForFunction(() => document.activeElement !== document.body);
    await tabTo(page, /^slider Threshold of response_match_score/);
    await page.keyboard.press("Home");
    await page.getByRole("heading", { name: /Verdicts flip/ }).waitFor();
    await page.keyboard.press("Escape");
    // What flipped goes with what would have the focus next.
    await page.getByRole("heading", { name: /Verdicts flip/ }).waitFor({ state: "hidden" });
    await tabTo(page, /(^| )Case$/);
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: "two_cities" }).waitFor();
    await page.waitForFunction(() => document.activeElement !== document.body);
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { level: 1, name: "storm_warning" }).waitFor();
    await page.waitForFunction(() => document.activeElement !== document.body);
    await tabTo(page, /^Edit the case$/);
    await page.keyboard.press("Enter");
    await page.getByLabel("Expected answer").first().waitFor();
    await tabTo(page, /^Accept everything the agent did$/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Undo" }).and(page.locator(":enabled")).waitFor();
    await page.waitForFunction(() => document.activeElement !== document.body);
    await page.getByRole("link", { name: "Score again" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Run" }).waitFor();
    await page.waitForFunction(() => document.activeElement !== document.body);
    await tabTo(page, /^Score/);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/#/results");
    await page.getByRole("grid").waitFor();
    await page.waitForFunction(() => document.activeElement !== document.body);
    await tabTo(page, /^Export/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^JSON ADK/ }).waitFor();
    await tabTo(page, /^JSON ADK/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    assert.match(download.suggestedFilename(), /^weather.*\.json$/);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement.textContent.startsWith("Export"));
    await page.getByRole("link", { name: "Compare", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "Export the comparison" }).waitFor();
    await page.getByText("Fixed").first().waitFor();
    await site.done(page);
  });

  test("goes on from the heading of a screen where what had the focus is gone", async () => {
    const page = await site.open();
    const heading = (name) =>
      page.waitForFunction(
        (text) => document.activeElement.matches("h1") && document.activeElement.innerText === text,
        name,
      );
    await scoreIt(page, "Museum guide").focus();
    await page.keyboard.press("Enter");
    await heading("Results");
    await page.goto(`${site.origin}/#/criteria`);
    await page.getByRole("button", { name: "Score", exact: true }).focus();
    await page.keyboard.press("Enter");
    await heading("Results");
    await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "Compare" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Compare" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Compare");
    await site.done(page);
  });

  test("fits 320 px, as a page of 1280 px has at 400%, and texts spaced as WCAG wants them to be able to", async () => {
    for (const [width, spacing] of [
      [320, ""],
      [360, "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }"],
      [640, "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }"],
    ]) {
      const page = await site.open({ width, height: 512 });
      await page.evaluate((css) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(css);
        document.adoptedStyleSheets.push(sheet);
      }, spacing);
      const fits = async (where) => {
        const misfits = await page.evaluate(() => [
          ...(document.documentElement.scrollWidth > innerWidth ? [`${document.documentElement.scrollWidth} px`] : []),
          ...[...document.querySelectorAll("body *")]
            .filter((element) => {
              const { overflowX, overflowY } = getComputedStyle(element);
              const hides = (overflow) => overflow === "hidden" || overflow === "clip";
              const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
              return (
                isText &&
                !element.matches(".visually-hidden, .visually-hidden *") &&
                ((hides(overflowX) && element.scrollWidth > element.clientWidth + 1) ||
                  (hides(overflowY) && element.scrollHeight > element.clientHeight + 2))
              );
            })
            .map(({ outerHTML }) => outerHTML.slice(0, 100)),
        ]);
        assert.deepEqual(misfits, [], `${where} at ${width} px${spacing === "" ? "" : ", spaced"}`);
      };
      const step = (name) => page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name, exact: true });
      await fits("start");
      await page.getByRole("button", { name: "Open files of Museum guide" }).click();
      await page.getByRole("link", { name: "Choose criteria" }).click();
      await page.getByText("Estimated by a dry run").waitFor();
      await page.getByLabel("Provider").selectOption({ label: "Vertex AI" });
      await page.locator("main details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
      await fits("criteria");
      await step("Files").click();
      await scored(page, "Museum guide");
      await page.getByText("Export").first().click();
      await fits("results");
      await step("Run").click();
      await page.getByText(/^Scored/).waitFor();
      await fits("run");
      for (const [name, part] of CASES) {
        await step("Files").click();
        await opened(page, name, part);
        await page.locator("main details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
        await fits(`${name}, ${part}`);
      }
      await page.getByRole("link", { name: "Edit the case" }).click();
      await page.getByLabel("Expected answer").first().waitFor();
      await fits("edit");
      await step("Files").click();
      await scored(page, "Phrasebook");
      await step("Compare").click();
      await page.getByRole("group", { name: "Export the comparison" }).waitFor();
      await fits("compare");
      await site.done(page);
    }
  });

  test("tells apart what colours tell apart where the system has its own", async () => {
    const page = await site.open({ forcedColors: "active" });
    const styles = (selector) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { color, backgroundColor, backgroundImage, textDecorationStyle } = getComputedStyle(element);
          return { color, backgroundColor, backgroundImage, textDecorationStyle };
        });
    await opened(page, "Ferry press", "incident");
    const looks = [];
    for (const look of ["supported", "unsupported", "contradictory", "disputed", "inapplicable"]) {
      const { color, backgroundColor, textDecorationStyle } = await styles(`mark.label.${look}`);
      assert.notEqual(color, backgroundColor, look);
      looks.push(textDecorationStyle);
    }
    assert.equal(new Set(looks).size, 5);
    const chosen = await styles('.toggles [aria-pressed="true"]');
    assert.notEqual(chosen.backgroundColor, (await styles('.toggles [aria-pressed="false"]')).backgroundColor);
    await page.getByRole("link", { name: "Results", exact: true }).first().click();
    const around = (await styles("body")).backgroundColor;
    assert.notEqual((await styles(".bars > .passed")).backgroundColor, around);
    assert.match((await styles(".bars > .failed")).backgroundImage, /gradient/);
    await site.done(page);
  });

  test("has the scores of the command line in every example", async () => {
    const page = await site.open();
    const buttons = page.getByRole("button", { name: /Score it/ });
    await buttons.first().waitFor();
    assert.equal(await buttons.count(), EXAMPLES.length);
    for (const [name, at] of EXAMPLES) {
      await page.goto(`${site.origin}/#/files`);
      await scored(page, name);
      const expected = byCommandLine(at);
      const downloads = [];
      const note = (download) => downloads.push(download);
      page.on("download", note);
      await page.getByText("Export").first().click();
      await page
        .locator(".exports")
        .getByRole("button", { name: /^JSON ADK/ })
        .click();
      while (downloads.length < expected.length) await page.waitForTimeout(20);
      page.off("download", note);
      const found = [];
      for (const download of downloads) found.push(scoresOf(readFileSync(await download.path(), "utf8")));
      const byId = (sets) => sets.map((set) => JSON.stringify(set)).sort();
      assert.deepEqual(byId(found), byId(expected), name);
    }
    await site.done(page);
  });

  for (const [how, options] of [
    ["light", { theme: "light", width: 1280 }],
    ["dark and narrow", { theme: "dark", width: 360 }],
    ["light and narrow, as a page of 720 px is at 200%", { theme: "light", width: 360 }],
    ["dark", { theme: "dark", width: 1280 }],
    ["forced colours and reduced motion", { forcedColors: "active", reducedMotion: "reduce", width: 640 }],
  ]) {
    test(`has nothing that axe finds wrong in cases of every kind, edited and compared: ${how}`, async () => {
      const page = await site.open(options);
      const check = async (where) => {
        assert.deepEqual(await violations(page), [], where);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${where} is ${overflow} px too wide`);
      };
      for (const [name, part] of CASES) {
        await page.goto(`${site.origin}/#/files`);
        await opened(page, name, part);
        await check(`${name}, ${part}`);
      }
      await page.getByRole("link", { name: "Edit the case" }).click();
      await page.getByLabel("Expected answer").first().waitFor();
      await check("edit");
      await page.goto(`${site.origin}/#/files`);
      await scored(page, "Weather");
      await page.getByRole("link", { name: "Compare", exact: true }).click();
      await page.getByRole("group", { name: "Export the comparison" }).waitFor();
      await check("compare");
      await site.done(page);
    });
  }
});
