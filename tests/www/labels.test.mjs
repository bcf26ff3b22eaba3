// Labels that people give to verdicts: by keyboard, kept with the run, exchanged with the command, measuring the judge.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { packageFolder } from "../package/support/package.mjs";
import { assertHarmless, EVERYTHING, hostileResults, MARKUP, onDisk, watched } from "./hostile.mjs";
import { scored, scoredExample, showing, turn } from "./scored.mjs";
import { becomes, keptRecords, playground, says, skip, violations } from "./support.mjs";

const JUDGED = "final_response_match_v2";
const SCALE = "response_evaluation_score";
const CLI = join(packageFolder, "dist/esm/cli.js");

/** Results of a judge whose samples agree but for the case `split`. */
function judged(ids = ["sure", "split", "wrong", "other"]) {
  const conversations = Object.fromEntries(
    ids.map((id) => [id, [[turn(`Ask ${id}`, "Yes")], [turn(`Ask ${id}`, `Answer of ${id}`)]]]),
  );
  return scored(
    conversations,
    {
      [JUDGED]: { threshold: 0.5, judgeModelOptions: { numSamples: 3 } },
      [SCALE]: { threshold: 3, judgeModelOptions: { numSamples: 1 } },
    },
    {
      earlyStop: false,
      judge: Object.assign(
        ({ metricName, prompt, sampleIndex }) => {
          if (metricName === SCALE) return JSON.stringify({ score: 4, explanation: "quite good" });
          const isValid = !prompt.includes("of wrong") && !(prompt.includes("of split") && sampleIndex === 0);
          return JSON.stringify({ reasoning: "so", is_the_agent_response_valid: isValid ? "valid" : "invalid" });
        },
        { model: "judge-1" },
      ),
    },
  );
}

const toLabels = async (page) => {
  await page.getByRole("link", { name: /^Label verdicts/ }).click();
  await page.getByRole("heading", { level: 1, name: "Labels" }).waitFor();
  await page.locator(".label-answers").waitFor();
};
const task = (page) => page.getByRole("region", { name: "Verdict to label" });
const agreement = (page) => page.getByRole("complementary", { name: "How often the judge is right" });

/** What a click has the browser save. */
async function saved(page, name) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path(), "utf8") };
}

/** Waits until the labels of a run are in the browser's storage, and returns how many. */
const storedLabels = async (page) =>
  Object.entries(await keptRecords(page)).flatMap(([key, labels]) =>
    key.startsWith("labels/") ? [labels.length] : [],
  );

describe("labels", { skip }, () => {
  const site = playground();

  test("are given by keyboard, blind to the judge, the most doubtful verdict first", async () => {
    const page = await showing(site, await judged());
    await toLabels(page);
    await page.getByLabel("Metric").selectOption(JUDGED);
    await says(task(page), /0 of 4 labelled.* split, turn 1 .*Ask split.*Answer of split/);
    assert.equal(await page.getByText("The judge says").count(), 0);
    await page.getByLabel("Hide the judge’s verdict").uncheck();
    await says(page.getByRole("region", { name: "The judge" }), /The judge says: pass/);
    await page.getByLabel("Hide the judge’s verdict").check();
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("c");
    await page.keyboard.type("too short");
    await page.keyboard.press("Enter");
    await page.keyboard.press("n");
    await says(task(page), /1 of 4 labelled Labelled: Fail\./);
    await says(agreement(page), /1 label .*Agreement 0%.*1 disagreement.*split, turn 1.*judge pass, label fail/);
    await page.keyboard.press("y");
    await says(agreement(page), /2 labels .*Agreement 50%/);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Backspace");
    await says(task(page), /The label was removed/);
    await page.getByLabel("Metric").selectOption(SCALE);
    await page.getByRole("group", { name: "Which score, from 1 to 5?" }).waitFor();
    await page.keyboard.press("2");
    await says(task(page), /1 of 4 labelled Labelled: 2\./);
    assert.deepEqual(await violations(page), []);
    await site.done(page);
  });

  test("are of all metrics where none asked a judge, and the choice says so", async () => {
    const first = (page) => page.getByLabel("Metric").locator("option").first().innerText();
    const unjudged = await showing(site, await scoredExample("weather"));
    await toLabels(unjudged);
    await says(task(unjudged), /0 of 10 labelled/);
    assert.equal(await first(unjudged), "All metrics");
    await site.done(unjudged);
    const asked = await showing(site, await judged());
    await toLabels(asked);
    assert.equal(await first(asked), "All judged metrics");
    await site.done(asked);
  });

  test("are kept with the run, filter its cases, and go with it", async () => {
    const page = await showing(site, await judged());
    await toLabels(page);
    await page.getByLabel("Metric").selectOption(JUDGED);
    await says(task(page), /0 of 4 labelled/);
    for (const key of ["n", "y", "y", "y"]) {
      await page.keyboard.press(key);
    }
    await says(task(page), /4 of 4 labelled .*All of them are labelled/);
    await says(agreement(page), /2 disagreements/);
    await becomes(() => storedLabels(page), [4]);
    await page.goto(`${site.origin}/#/labels`);
    await page.reload();
    await says(agreement(page), /Agreement 50%/);
    await page.getByRole("link", { name: "Show these cases in the results" }).click();
    const names = () => page.locator(".grid-body [role=row] a").allInnerTexts();
    await becomes(async () => (await names()).sort(), ["split", "wrong"]);
    await page.reload();
    await becomes(async () => (await names()).sort(), ["split", "wrong"]);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("was deleted").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "Label verdicts: 4" }).waitFor();
    await site.done(page);
  });

  test("are given where a verdict is shown, by thumbs, with a comment", async () => {
    const page = await showing(site, await judged());
    await page.getByRole("link", { name: "wrong" }).click();
    const label = page.getByRole("group", { name: `Your label of ${JUDGED}` });
    await label.getByRole("button", { name: "Label: Pass" }).click();
    await says(label, /differs from the judge/);
    assert.equal(await label.getByRole("button", { name: "Label: Pass" }).getAttribute("aria-pressed"), "true");
    await label.getByRole("button", { name: "Comment" }).click();
    await label.getByLabel(`Comment on ${JUDGED}`).fill("means the same");
    const scale = page.getByRole("group", { name: `Your label of ${SCALE}` });
    await scale.getByRole("button", { name: "Label: 4" }).click();
    await becomes(() => storedLabels(page), [2]);
    assert.deepEqual(await violations(page), []);
    await page.getByRole("link", { name: "Results" }).first().click();
    await page.getByRole("radio", { name: /Label differs 1/ }).check();
    await becomes(() => page.locator(".grid-body [role=row] a").allInnerTexts(), ["wrong"]);
    await site.done(page);
  });

  test("are the file that calibrate reads, both ways", async () => {
    const results = await judged();
    const page = await showing(site, results);
    await toLabels(page);
    await page.getByLabel("Order").selectOption("random");
    await page.getByLabel("Your name").fill("Ann");
    await page.getByLabel("Metric").selectOption(JUDGED);
    await says(task(page), /0 of 4 labelled/);
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("c");
    await page.keyboard.type('=1+1, "so"');
    await page.keyboard.press("Enter");
    for (const key of ["n", "y", "y", "n"]) await page.keyboard.press(key);
    await says(task(page), /4 of 4 labelled/);
    const csv = await saved(page, "Export CSV");
    const lines = await saved(page, "JSON lines");
    const report = await saved(page, "Report");
    assert.deepEqual([csv.name, lines.name], ["made_here.labels.csv", "made_here.labels.jsonl"]);
    assert.match(report.content, /<html/);
    const shownAgreement = /Agreement (\d+)%/.exec((await agreement(page).innerText()).replace(/\s+/g, " "))[1];
    const { resultsToAdkJson } = await import(`file://${packageFolder}/dist/esm/node.js`);
    {
      const file = onDisk("results.evalset_result.json", resultsToAdkJson(results));
      for (const labels of [csv, lines]) {
        const args = [CLI, "calibrate", file, "--labels", onDisk(labels.name, labels.content), "--format", "json"];
        const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
        const { labels: counts, subjects } = JSON.parse(stdout);
        assert.deepEqual([counts.used, counts.problems, counts.annotators], [4, [], 1], stderr);
        assert.equal(String(Math.round(subjects[0].agreement.value * 100)), shownAgreement);
      }
      // What people fill in is read back.
      const { stdout: sheet } = await promisify(execFile)(process.execPath, [CLI, "labels", "export", file]);
      const filled = sheet.replaceAll(`,${JUDGED},,,,`, `,${JUDGED},,pass,Bob,`);
      const bad = `${filled}made_here,nobody,,1,${JUDGED},,pass,,,\r\n`;
      await page.getByLabel("Import labels").setInputFiles(onDisk("filled.csv", bad));
      await says(page.locator(".label-messages"), /filled\.csv: 4 labels imported, 4 rows without a label\./);
      await says(page.locator(".label-messages"), /Line 10: there is no case `nobody` in the results/);
      await says(agreement(page), /4 labels of 2 people; 4 more do not count .*Ann fails it, Bob passes it.*Alpha/);
    }
    await page.getByRole("button", { name: "Remove all" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await says(agreement(page), /4 labels of 2 people; 4 more/);
    await page.getByLabel("Import labels").setInputFiles(onDisk("again.jsonl", lines.content));
    await says(page.locator(".label-messages"), /again\.jsonl: 4 labels imported\./);
    await site.done(page);
  });

  test("correct the pass rate when they were drawn at random", async () => {
    const ids = [...Array(8).keys()].flatMap((at) => [`good-${at}`, `wrong-${at}`]);
    const page = await showing(site, await judged(ids));
    await toLabels(page);
    await page.getByLabel("Metric").selectOption(JUDGED);
    await page.getByLabel("Order").selectOption("random");
    await says(task(page), /0 of 16 labelled/);
    for (let at = 0; at < 16; at += 1) {
      const text = await task(page).innerText();
      await page.keyboard.press(/good-0|wrong-[2-7]/.test(text) ? "n" : "y");
      await says(task(page), new RegExp(`${at + 1} of 16 labelled`));
    }
    await says(agreement(page), /Agreement 81% .*Kappa 0\.6.*Pass rate by the judge 50%.*Corrected pass rate \d+% \(/);
    await site.done(page);
  });

  test("of hostile results, and from hostile files, are text", async () => {
    const page = await showing(site, await hostileResults());
    const did = watched(page);
    await page.getByRole("link", { name: /^Label verdicts/ }).click();
    await page.getByLabel("Hide the judge’s verdict").uncheck();
    await page.locator(".label-turn").first().waitFor();
    await page.keyboard.press("y");
    await page.keyboard.press("n");
    await says(agreement(page), /2 labels/);
    const rows = [`case,metric,label`, `"${MARKUP.replaceAll('"', '""')}",x,pass`].join("\n");
    await page.getByLabel("Import labels").setInputFiles(onDisk("hostile.csv", rows));
    await says(page.locator(".label-messages"), /Line 2: there is no case/);
    await page.getByLabel("Your name").fill(EVERYTHING.replaceAll("\n", " ").slice(0, 90));
    await page.keyboard.press("Tab");
    await assertHarmless(page, did, "labels");
    assert.deepEqual(await violations(page), []);
    const csv = await saved(page, "Export CSV");
    for (const field of csv.content.matchAll(/(?:^|,)"?([=+@\t][^,]*)/gm)) assert.fail(`a formula: ${field[1]}`);
    await site.done(page);
  });
});
