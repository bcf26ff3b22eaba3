// Texts that nobody has vetted: on every screen and in every file that leaves the page they are text, however they are
// written.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  assertHarmless,
  EVERYTHING,
  file,
  hostileCases,
  hostileResults,
  MARKUP,
  nested,
  onDisk,
  PROTOTYPE_KEYS,
  rubric,
  RUBRICS,
  watched,
} from "./hostile.mjs";
import { scored, showing, turn } from "./scored.mjs";
import { becomes, playground, skip, violations } from "./support.mjs";

const UNSEEN_CHARACTERS = /[\u202A-\u202E\u2066-\u2069\u200B\uFEFF\u0000-\u0008\u001B]/;

/** What a click has the browser save, in order. */
async function saved(page, click, count = 1) {
  const downloads = [];
  const note = (download) => downloads.push(download);
  page.on("download", note);
  await click();
  while (downloads.length < count) await page.waitForTimeout(20);
  page.off("download", note);
  return Promise.all(
    downloads.map(async (download) => ({
      name: download.suggestedFilename(),
      path: await download.path(),
      content: readFileSync(await download.path()),
    })),
  );
}

const exported = (page, name) =>
  saved(page, async () => {
    if (!(await page.locator(".exports details").evaluate(({ open }) => open))) await page.getByText("Export").click();
    await page.locator(".exports").getByRole("button", { name }).click();
  });

/** The fields of CSV text (RFC 4180). */
function fields(csv) {
  const found = [];
  for (const { 1: quoted, 2: plain } of csv.matchAll(/(?:^|,|\r?\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)) {
    found.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
  }
  return found;
}

describe("hostile texts", { skip }, () => {
  const site = playground();

  test("are text on every screen that shows results", async () => {
    const page = await showing(site, await hostileResults(), { width: 1280 });
    const did = watched(page);
    await page.getByRole("grid").waitFor();
    await assertHarmless(page, did, "results");
    assert.deepEqual(await violations(page), []);
    await page.getByRole("slider").first().focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    await assertHarmless(page, did, "flips");
    for (let row = 0; row < 11; row += 1) {
      await page.goto(`${site.origin}/#/case/${row}`);
      await page.locator(".turn").nth(1).waitFor();
      for (const folded of await page.locator("details:not([open]) > summary").all()) {
        if (await folded.isVisible()) await folded.click();
      }
      await page.waitForTimeout(50);
      await assertHarmless(page, did, `case ${row}`);
    }
    assert.deepEqual(await violations(page), []);
    await page.goto(`${site.origin}/#/run`);
    await page.getByRole("heading", { name: "Run", exact: true }).waitFor();
    await assertHarmless(page, did, "run");
    await site.done(page);
  });

  test("are text in a comparison, and in its files", async () => {
    const result = await hostileResults();
    const page = await showing(site, result);
    const did = watched(page);
    const worse = structuredClone(JSON.parse(JSON.stringify(result)));
    worse.evalSetResultName = EVERYTHING;
    for (const one of worse.evalCaseResults) {
      one.finalEvalStatus = 1;
      for (const metric of one.overallEvalMetricResults) Object.assign(metric, { evalStatus: 1, score: 1 });
    }
    await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "Compare" }).click();
    await page
      .getByLabel("Open results to compare with")
      .setInputFiles([file(`${MARKUP.replaceAll("/", "")}.json`, JSON.stringify(worse))]);
    await page.getByRole("group", { name: "Export the comparison" }).waitFor();
    await page.waitForTimeout(100);
    await assertHarmless(page, did, "compare");
    assert.deepEqual(await violations(page), []);
    const [csv] = await saved(page, () => page.getByRole("button", { name: "CSV", exact: true }).click());
    for (const field of fields(csv.content.toString())) {
      assert.doesNotMatch(field, /^[=+@\t\r]|^-(?![\d.])/, "a field that a spreadsheet runs");
    }
    const [markdown] = await saved(page, () => page.getByRole("button", { name: "Markdown", exact: true }).click());
    assert.doesNotMatch(markdown.content.toString(), /(?<!\\)<(?:script|img|svg|iframe|a )/);
    const [json] = await saved(page, () => page.getByRole("button", { name: "JSON", exact: true }).click());
    JSON.parse(json.content.toString());
    await site.done(page);
  });

  test("are text in every file of results", async () => {
    const page = await showing(site, await hostileResults());
    const did = watched(page);
    const name = /^[\p{L}\p{N}._-]{1,140}$/u;
    const [json] = await exported(page, /^JSON ADK/);
    assert.match(json.name, name);
    const outer = JSON.parse(json.content.toString());
    assert.ok(typeof outer === "object" || typeof JSON.parse(outer) === "object");
    const [csv] = await exported(page, /^CSV/);
    assert.match(csv.name, name);
    for (const field of fields(csv.content.toString())) {
      assert.doesNotMatch(field, /^[=+@\t\r]|^-(?![\d.])/, "a field that a spreadsheet runs");
    }
    const [markdown] = await exported(page, /^Markdown/);
    const outside = markdown.content.toString().replace(/(`+)[^`][\s\S]*?\1/g, "");
    assert.doesNotMatch(outside, /(?<!\\)<(?:script|img|svg|iframe|a |link|style)/);
    assert.doesNotMatch(outside, /(?<!\\)\]\((?:javascript|http)/);
    const [junit] = await exported(page, /^JUnit/);
    const errors = await page.evaluate((xml) => {
      const parsed = new DOMParser().parseFromString(xml, "application/xml");
      const elements = [...parsed.querySelectorAll("*")].map(({ localName }) => localName);
      return { isBroken: parsed.querySelector("parsererror") !== null, elements: [...new Set(elements)] };
    }, junit.content.toString());
    assert.equal(errors.isBroken, false);
    assert.deepEqual(
      errors.elements.filter((element) => /^(img|script|svg|a|iframe|link|style)$/.test(element)),
      [],
    );
    const [html] = await exported(page, /^HTML report/);
    const report = await page.context().newPage();
    const reportDid = [];
    report.on("dialog", (dialog) => void dialog.dismiss().then(() => reportDid.push("a dialog")));
    report.on("request", (request) => {
      if (request.url().startsWith("http")) reportDid.push(request.url());
    });
    report.on("console", (message) => {
      if (message.type() === "error") reportDid.push(message.text());
    });
    await report.goto(pathToFileURL(onDisk("report.html", html.content)).href);
    for (const details of await report.locator("details").all()) {
      await details.evaluate((element) => (element.open = true));
    }
    await report.waitForTimeout(200);
    assert.equal(await report.evaluate(() => globalThis.__owned), undefined);
    assert.equal(await report.locator("img, iframe, object, embed").count(), 0);
    assert.deepEqual(reportDid, []);
    const [image] = await exported(page, /^Image/);
    assert.equal(image.content.subarray(1, 4).toString(), "PNG");
    const [svg] = await exported(page, /^SVG/);
    assert.doesNotMatch(svg.content.toString(), UNSEEN_CHARACTERS);
    const chart = await page.evaluate((xml) => {
      const parsed = new DOMParser().parseFromString(xml, "image/svg+xml");
      const all = [...parsed.querySelectorAll("*")];
      const references = all.flatMap((one) => [...one.attributes].filter(({ value }) => /url\(|:/.test(value)));
      return {
        elements: [...new Set(all.map(({ localName }) => localName))].sort(),
        references: [...new Set(references.map(({ value }) => value))].sort(),
      };
    }, svg.content.toString());
    assert.deepEqual(chart, {
      elements: ["defs", "g", "path", "pattern", "rect", "svg", "text", "title"],
      references: ["http://www.w3.org/2000/svg", "url(#failed)"],
    });
    await assertHarmless(page, did, "exports");
    await site.done(page);
  });

  test("are text among files, in the editor, and after a run in the page", async () => {
    const page = await site.open();
    const did = watched(page);
    const cases = Object.entries(hostileCases());
    const set = (at) =>
      JSON.stringify({
        eval_set_id: EVERYTHING,
        eval_cases: cases.map(([evalId, turns]) => ({ eval_id: evalId, conversation: turns[at] })),
      });
    const bare = MARKUP.replaceAll("/", "").slice(0, 200);
    await page
      .getByLabel("Choose files")
      .setInputFiles([
        file(`\u202E${bare}.evalset.json`, set(0)),
        file(`\u202E${bare}.actual.json`, set(1)),
        file("__proto__", set(1)),
        file("test_config.json", '{"criteria":{"tool_trajectory_avg_score":1,"response_match_score":0.5}}'),
      ]);
    await page.getByText("4 files were added.").waitFor();
    await assertHarmless(page, did, "files");
    await page
      .getByRole("link", { name: bare.slice(0, 30) })
      .first()
      .click();
    await page.getByRole("textbox", { name: /^The text of/ }).waitFor();
    await assertHarmless(page, did, "editor");
    await page.getByRole("link", { name: "← All files" }).click();
    await page.getByRole("button", { name: "Remove __proto__" }).click();
    await page.getByRole("button", { name: /^Score \d+ cases$/ }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("grid").waitFor();
    await assertHarmless(page, did, "results");
    for (let row = 0; row < 11; row += 1) {
      await page.goto(`${site.origin}/#/case/${row}`);
      await page.locator(".turn").first().waitFor();
      await page.getByRole("link", { name: "Edit the case" }).click();
      await page.getByLabel("Expected answer").first().waitFor();
      await assertHarmless(page, did, `edit ${row}`);
    }
    await page.goto(`${site.origin}/#/run`);
    await page.getByText(/^Scored/).waitFor();
    await assertHarmless(page, did, "run");
    await page.goto(`${site.origin}/#/criteria`);
    await page.getByRole("heading", { name: "Criteria" }).waitFor();
    await assertHarmless(page, did, "criteria");
    await site.done(page);
  });

  test("in a config are text", async () => {
    const page = await site.open();
    const did = watched(page);
    const criteria = {
      [RUBRICS]: { threshold: 0.5, rubrics: [rubric(EVERYTHING, EVERYTHING), rubric("__proto__", MARKUP)] },
      [EVERYTHING]: 1,
      constructor: 0.5,
      response_match_score: { threshold: MARKUP, [MARKUP]: 1 },
    };
    const config = JSON.stringify({ criteria }).replace('"constructor":', '"__proto__":1,"constructor":');
    await page.getByLabel("Choose files").setInputFiles([file("test_config.json", config)]);
    await page.getByText("test_config.json was added").waitFor();
    for (const at of ["criteria", "criteria/json", "run", "files"]) {
      await page.goto(`${site.origin}/#/${at}`);
      await page.locator("main h1").waitFor();
      await page.waitForTimeout(200);
      for (const folded of await page.locator("main details:not([open]) > summary").all()) {
        if (await folded.isVisible()) await folded.click();
      }
      await assertHarmless(page, did, at);
    }
    await site.done(page);
  });

  test("that name metrics after what every object has keep their thresholds", async () => {
    const result = JSON.parse(
      JSON.stringify(await scored({ a: [[turn("x", "y")], [turn("x", "y")]] }, { response_match_score: 0.5 })),
    );
    const [first] = result.evalCaseResults[0].overallEvalMetricResults;
    for (const metricName of [...PROTOTYPE_KEYS, MARKUP]) {
      result.evalCaseResults[0].overallEvalMetricResults.push({ ...first, metricName });
    }
    const page = await showing(site, result);
    const did = watched(page);
    for (const name of PROTOTYPE_KEYS) {
      const slider = page.getByRole("slider", { name: `Threshold of ${name}`, exact: true });
      assert.equal(await slider.getAttribute("aria-valuenow"), "0.5", name);
      await slider.focus();
      await page.keyboard.press("PageUp");
      await becomes(() => slider.getAttribute("aria-valuenow"), "0.6", name);
    }
    await assertHarmless(page, did, "results");
    const [image] = await exported(page, /^Image/);
    assert.equal(image.content.subarray(1, 4).toString(), "PNG");
    await site.done(page);
  });

  test("with halves of characters, or too deep to read, are refused or shown, and the page goes on", async () => {
    const page = await site.open();
    const did = watched(page);
    const lone = JSON.stringify({
      eval_set_id: "\uD800",
      eval_cases: [{ eval_id: "half \uDC00", conversation: [turn("\uD800", "\uDC00 and \uD83D")] }],
    });
    const deep = (depth) =>
      JSON.stringify({
        eval_set_id: "deep",
        eval_cases: [{ eval_id: "deep", conversation: [turn("x", "y", [{ name: "t", args: "HERE" }])] }],
      }).replace('"HERE"', nested(depth));
    await page
      .getByLabel("Choose files")
      .setInputFiles([
        file("half.evalset.json", lone),
        file("half.actual.json", lone),
        file("deep.evalset.json", deep(100_000)),
        file("less-deep.evalset.json", deep(110)),
        file("less-deep.actual.json", deep(110)),
      ]);
    await page.getByText(/5 files were added/).waitFor();
    await assertHarmless(page, did, "files");
    for (const name of ["deep.evalset.json", "half.evalset.json"]) {
      await page.getByRole("link", { name, exact: true }).first().click();
      await page.getByRole("textbox", { name: /^The text of/ }).waitFor();
      await assertHarmless(page, did, name);
      await page.getByRole("link", { name: "← All files" }).click();
    }
    await page.getByRole("button", { name: "Remove deep.evalset.json", exact: true }).click();
    await page.goto(`${site.origin}/#/edit`);
    await page.getByLabel("Expected answer").or(page.getByRole("alert")).first().waitFor();
    await assertHarmless(page, did, "edit");
    await page.goto(`${site.origin}/#/files`);
    const go = page.getByRole("button", { name: /^Score/ }).filter({ hasText: /cases?$/ });
    if ((await go.getAttribute("aria-disabled")) !== "true") {
      await go.click();
      await page.getByRole("grid").or(page.getByRole("alert")).first().waitFor();
    }
    await assertHarmless(page, did, "after the run");
    await site.done(page);
  });
});
