// Runs side by side, and results on their way out and back.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { packageFolder } from "../package/support/package.mjs";
import { linkOf, resultsToAdkJson, scoredExample } from "./scored.mjs";
import { example, playground, skip, violations } from "./support.mjs";

const cli = join(packageFolder, "dist/esm/cli.js");
const name = "museum-guide";
const evalSet = example(name, `${name}.evalset.json`);

/** What the command line writes of the example, in a format. */
function byCommandLine(format) {
  const options = ["--judge", `replay:${example(name, "judge.jsonl")}`, "--explain", "all", "--format", format];
  const { stdout, stderr } = spawnSync(process.execPath, [cli, "eval", evalSet, ...options], { encoding: "utf8" });
  assert.ok(stdout.length > 0, stderr);
  return stdout;
}

/** Results without what differs from run to run. */
function steady(json) {
  const results = JSON.parse(json);
  delete results.eval_set_result_id;
  delete results.eval_set_result_name;
  delete results.creation_timestamp;
  for (const one of results.eval_case_results) delete one.session_id;
  return results;
}

describe("comparing and exporting", { skip }, () => {
  const site = playground();
  let folder;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "adk-metrics-www-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Opens an example and scores it. */
  async function scored(options) {
    const page = await site.open(options);
    await page.getByRole("button", { name: /Museum guide:?\s*Score it/ }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("heading", { name: "Results" }).waitFor();
    return page;
  }

  /** Presses a button of the export menu; gives the file. */
  async function exported(page, format) {
    await page.locator("summary", { hasText: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: format }).click(),
    ]);
    await page.keyboard.press("Escape");
    return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
  }

  test("the scores that are exported equal those of the command line", async () => {
    const page = await scored();
    const json = await exported(page, "JSON ADK");
    assert.equal(json.name, "museum-guide.evalset_result.json");
    assert.deepEqual(steady(json.content), steady(byCommandLine("json")));
    const csv = await exported(page, "CSV");
    assert.equal(String(csv.content), byCommandLine("csv"));
    await site.done(page);
  });

  test("JUnit, Markdown, the HTML report and an image are files that open", async () => {
    const page = await scored();
    assert.match(String((await exported(page, "JUnit")).content), /^<\?xml.*<testsuites /s);
    assert.match(String((await exported(page, "Markdown")).content), /student&#95;ticket/);
    const html = await exported(page, "HTML report");
    assert.match(String(html.content), /^<!doctype html>/i);
    const image = await exported(page, "Image");
    assert.equal(image.content.subarray(1, 4).toString(), "PNG");
    assert.ok(image.content.readUInt32BE(16) > 300, "its width");
    await site.done(page);
  });

  test("a chart is an image of its own, in light colours, that says what it shows", async () => {
    const page = await scored({ theme: "dark" });
    const { name, content } = await exported(page, "SVG");
    assert.equal(name, "scores.svg");
    const svg = String(content);
    assert.match(svg, /<title>museum-guide: 2 of 6 cases passed<\/title>/);
    assert.match(svg, /response_evaluation_score.*5 pass, 1 fail, threshold 3\.5/s);
    const { content: png } = await exported(page, "Image");
    const colours = await page.evaluate(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const seen = {};
      for (let at = 0; at < data.length; at += 4) {
        const colour = [data[at], data[at + 1], data[at + 2]]
          .map((part) => part.toString(16).padStart(2, "0"))
          .join("");
        seen[colour] = (seen[colour] ?? 0) + 1;
      }
      return seen;
    }, png.toString("base64"));
    assert.ok(colours.ffffff > 0.8 * Object.values(colours).reduce((a, b) => a + b), "a light background");
    for (const colour of ["2f9e6b", "d8584d"]) assert.ok(colours[colour] > 1000, `${colour}: passed or failed`);
    await site.done(page);
  });

  test("a link holds the run, and another browser shows it", async () => {
    const page = await scored({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.locator("summary", { hasText: "Export" }).click();
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("The link is copied").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const cells = await page.locator("main").innerText();
    await site.done(page);
    const other = await site.open({ at: new URL(link).hash });
    await other.getByRole("heading", { level: 1, name: "Results" }).waitFor();
    await other.reload();
    await other.getByRole("heading", { level: 1, name: "Results" }).waitFor();
    assert.equal(other.url(), link.replace(new URL(link).origin, site.origin));
    for (const score of ["0.950", "4.667", "student_ticket"]) {
      assert.ok(cells.includes(score), score);
      await other.getByText(score).first().waitFor();
    }
    await site.done(other);
  });

  test("a link that was cut off, or holds something else, says so", async () => {
    for (const at of ["#run=AAAA", "#run=%%%", "#run=", "#run=q1YqLU4tckksSVSyUkpKLC5WqgUA"]) {
      const page = await site.open({ at });
      await page
        .getByText(/link holds no (run|results)/)
        .first()
        .waitFor();
      await site.done(page);
    }
  });

  test("a link with damaged results, or with more than a link can hold, is refused", async () => {
    const result = JSON.parse(JSON.stringify(await scoredExample("cake-orders")));
    const damaged = (damage) => {
      const copy = structuredClone(result);
      damage(copy, copy.evalCaseResults[0]);
      return linkOf(copy);
    };
    for (const at of [
      damaged((set) => (set.judges = null)),
      damaged((set) => (set.judgeUsage = { calls: "many" })),
      damaged((set) => (set.warnings = [7])),
      damaged((set) => (set.evalCaseResults = {})),
      damaged((_, one) => (one.evalId = null)),
      damaged((_, one) => (one.reason = 7)),
      damaged((_, one) => (one.overallEvalMetricResults = [null])),
      damaged((_, one) => (one.overallEvalMetricResults[0].reason = {})),
      damaged((_, one) => (one.evalMetricResultPerInvocation = null)),
      linkOf({ evalSetId: " ".repeat(21_000_000) }),
    ]) {
      const page = await site.open({ at });
      await page.getByRole("alert").first().waitFor();
      assert.equal(await page.getByRole("heading", { level: 1 }).innerText(), "Run");
      await site.done(page);
    }
    const page = await site.open({
      at: damaged((_, one) => (one.evalMetricResultPerInvocation[0].actualInvocation = null)),
    });
    await page.getByRole("rowheader").filter({ hasText: result.evalCaseResults[0].evalId }).getByRole("link").click();
    await page.getByText("This case cannot be shown: its results are damaged.").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.locator(".turn").first().waitFor();
    await site.done(page);
  });

  test("results of an earlier run are compared with, regressions first", async () => {
    const results = JSON.parse(byCommandLine("json"));
    for (const one of results.eval_case_results) {
      for (const metric of one.overall_eval_metric_results) {
        if (metric.metric_name === "response_match_score") Object.assign(metric, { score: 1, eval_status: 1 });
      }
      one.final_eval_status = 1;
    }
    const file = join(folder, "earlier.evalset_result.json");
    writeFileSync(file, JSON.stringify(results));
    const page = await scored();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByLabel("Open results to compare with").setInputFiles(file);
    const changes = page.locator(".case-changes > li");
    await changes.first().waitFor();
    const texts = await changes.allInnerTexts();
    const kinds = texts.map((text) => (text.includes("Regressed") ? 0 : 1));
    assert.deepEqual(
      kinds,
      [...kinds].sort((a, b) => a - b),
    );
    assert.equal(kinds.filter((kind) => kind === 0).length, 4);
    const row = page.getByRole("row", { name: /response_match_score/ }).first();
    assert.match(await row.innerText(), /worse\s+−0\.484\s[^]*\s1\.000\s+0\.516/);
    assert.deepEqual(await violations(page), []);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Markdown" }).click(),
    ]);
    assert.match(readFileSync(await download.path(), "utf8"), /regressed/i);
    await site.done(page);
  });

  test("each metric has its p-value, corrected for their number, and the difference that would show", async () => {
    const made = await scoredExample("museum-guide");
    const withScores = (scores) => ({
      ...made,
      evalSetId: "shop",
      evalCaseResults: Array.from({ length: 10 }, (_, at) => ({
        ...made.evalCaseResults[0],
        evalSetId: "shop",
        evalId: `case_${at}`,
        evalMetricResultPerInvocation: [],
        overallEvalMetricResults: Object.entries(scores).map(([metricName, of]) => ({
          metricName,
          threshold: 0.5,
          score: of(at),
          evalStatus: 1,
        })),
      })),
    });
    const steady = withScores({ first: () => 0.9, second: () => 0.9, third: () => 0.9 });
    const lost = withScores({
      first: (at) => (at < 6 ? 0.7 : 0.9),
      second: (at) => 0.7 - at / 1000,
      third: () => 0.9,
    });
    const page = await site.open({ at: linkOf(lost) });
    await page.getByRole("heading", { level: 1, name: "Results" }).waitFor();
    await page.getByRole("link", { name: "Compare" }).click();
    const file = { name: "steady.json", mimeType: "application/json", buffer: Buffer.from(resultsToAdkJson(steady)) };
    await page.getByLabel("Open results to compare with").setInputFiles(file);
    const cells = async (name) => (await page.getByRole("row", { name }).first().innerText()).replaceAll(/\s+/g, " ");
    await page.getByRole("row", { name: /^first/ }).waitFor();
    assert.match(await page.locator(".metric-changes thead").innerText(), /p-value\s+would show/i);
    // Six of ten cases that all lost are 1 of 32 by chance; another metric changed, so that half of them remain.
    assert.match(await cells(/^first/), /0\.031 0\.1\d\d 0\.900/);
    assert.match(await cells(/^second/), /0\.004 alone 0\.002 /);
    assert.match(await cells(/^third/), /unchanged .*0\.000 – – 0\.900 0\.900/);
    assert.deepEqual(await violations(page), []);
    await site.done(page);
  });

  test("runs that have no evalset in common are not compared unless that is wanted", async () => {
    const page = await scored();
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByRole("button", { name: /Weather:?\s*Score it/ }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByText("No other run here has an evalset in common with this one.").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.deepEqual(await violations(page), []);
    await page.getByLabel("Baseline").selectOption({ label: "Run 1" });
    await page.getByRole("alert").waitFor();
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByRole("button", { name: /Museum guide:?\s*Score it/ }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByText("No case changed").waitFor();
    await site.done(page);
  });

  test("results can be dropped to compare with", async () => {
    const page = await scored();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("region", { name: "Open results" }).waitFor();
    await page.getByRole("region", { name: "Open results" }).evaluate((area, text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "earlier.json", { type: "application/json" }));
      area.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, byCommandLine("json"));
    await page.getByText("No case changed").waitFor();
    assert.equal(await page.getByLabel("Baseline").locator("option:checked").innerText(), "earlier.json");
    await site.done(page);
  });

  test("a file that holds no results is refused with its name", async () => {
    const page = await scored();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByLabel("Open results to compare with").setInputFiles(evalSet);
    await page
      .getByRole("alert")
      .getByText(/museum-guide\.evalset\.json/)
      .waitFor();
    await site.done(page);
  });
});
