// Texts and lists without measure: however long they are and however many, the page answers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { onDisk, rubric, RUBRICS } from "./hostile.mjs";
import { scored, showing, turn } from "./scored.mjs";
import { becomes, playground, skip } from "./support.mjs";

// Whatever is not linear takes minutes with these, and every step of a test may take seconds: it fails where the page does
// not answer.
describe("texts and lists without measure", { skip }, () => {
  const site = playground();

  test("leave the page answering: answers of four million characters", async () => {
    const page = await site.open();
    const words = "word ".repeat(800_000);
    const unbroken = "x".repeat(4_000_000);
    const set = (...answers) =>
      JSON.stringify({
        eval_set_id: "long",
        eval_cases: answers.map((answer, at) => ({ eval_id: `c${at}`, conversation: [turn(answer, answer)] })),
      });
    await page
      .getByLabel("Choose files")
      .setInputFiles([
        onDisk("long.evalset.json", set(words, unbroken)),
        onDisk("long.actual.json", set(`${words} end`, `${unbroken} end`)),
        onDisk("test_config.json", '{"criteria":{"response_match_score":0.5}}'),
      ]);
    await page.getByRole("button", { name: "Score 2 cases" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("grid").waitFor();
    for (const at of [0, 1]) {
      await page.goto(`${site.origin}/#/case/${at}`);
      await page.locator(".turn").first().waitFor();
    }
    await page.getByRole("button", { name: /^Show/ }).first().click();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    await site.done(page);
  });

  test("leave the page answering: five thousand rubrics", async () => {
    const rubrics = Array.from({ length: 5000 }, (_, at) => rubric(`rubric_${at}`, `Property ${at} holds`));
    const result = await scored(
      { many: [[turn("Go", "Gone")], [turn("Go", "Gone")]] },
      { [RUBRICS]: { threshold: 0.5, rubrics, judgeModelOptions: { numSamples: 1 } } },
      {
        judge: () =>
          rubrics
            .map(({ rubricContent }) => `Property: ${rubricContent.textProperty}\nRationale: Fine.\nVerdict: yes\n`)
            .join("\n"),
      },
    );
    const page = await site.open({ at: "#/compare" });
    await page.goto(`${site.origin}/#/files`);
    const config = JSON.stringify({ criteria: { [RUBRICS]: { threshold: 0.5, rubrics } } });
    await page
      .getByLabel("Choose files")
      .setInputFiles([onDisk("many.evalset_result.json", JSON.stringify(result)), onDisk("test_config.json", config)]);
    await page.getByText("2 files were added").waitFor();
    await page.goto(`${site.origin}/#/criteria`);
    await page.getByRole("checkbox", { name: RUBRICS, exact: true }).waitFor();
    for (const folded of await page.locator("main details:not([open]) > summary").all()) {
      if (await folded.isVisible()) await folded.click();
    }
    await site.done(page);
    const shown = await showing(site, result);
    await shown.goto(`${site.origin}/#/case/0`);
    await shown.locator(".turn").first().waitFor();
    await site.done(shown);
  });

  test("leave the worker with a few runs, however many are kept", async () => {
    const page = await site.open();
    await page.addInitScript(watchWorker);
    await page.reload();
    const result = await scored({ one: [[turn("Hi", "Hello")], [turn("Hi", "Hello")]] }, { response_match_score: 0.5 });
    const [first] = result.evalCaseResults;
    const casesOf = (age) =>
      Array.from({ length: 7_000 }, (_one, at) => ({
        ...first,
        evalId: `run_${age}_case_${at}`,
        evalMetricResultPerInvocation: [],
      }));
    const files = Array.from({ length: 5 }, (_one, age) =>
      onDisk(
        `run_${age}.evalset_result.json`,
        JSON.stringify({ ...result, creationTimestamp: 1_790_000_000 + age, evalCaseResults: casesOf(age) }),
      ),
    );
    await page.getByLabel("Choose files").setInputFiles(files);
    await page.getByRole("button", { name: "Open the results of 5 files" }).click();
    await page.waitForURL("**/#/results");
    await becomes(() => page.evaluate(() => globalThis.dropped), 3);
    // They are there again when they are looked at.
    const field = page.getByRole("combobox", { name: "Run", exact: true });
    await field.selectOption({ index: 4 });
    await page.getByRole("rowheader", { name: /run_0_case_0/ }).waitFor();
    // What is saved while they are loaded side by side drops none of them.
    await becomes(() => page.evaluate(() => globalThis.dropped), 4);
    await page.evaluate(() => {
      globalThis.held.inspect = [];
      globalThis.held.restoreRun = [];
      location.hash = "#/files";
    });
    await page.getByLabel("Choose files").setInputFiles(onDisk("notes.json", "{}"));
    const areHeld = (method, number) =>
      becomes(() => page.evaluate((name) => globalThis.held[name].length, method), number);
    await areHeld("inspect", 1);
    await page.evaluate(() => (location.hash = "#/runs"));
    for (const at of [0, 1]) {
      await areHeld("restoreRun", at + 1);
      await page.evaluate((place) => globalThis.held.restoreRun[place](), at);
    }
    await areHeld("restoreRun", 3);
    const areSaved = (number) => becomes(() => page.evaluate(() => globalThis.saved), number);
    await areSaved(1);
    await page.evaluate(() => globalThis.held.inspect[0]());
    await areSaved(2);
    await page.evaluate(() => {
      const [, , third] = globalThis.held.restoreRun;
      delete globalThis.held.restoreRun;
      third();
    });
    await becomes(() => page.getByRole("table", { name: "Cases and runs" }).getByRole("columnheader").count(), 6);
    assert.deepEqual(await page.getByRole("alert").allInnerTexts(), []);
    await site.done(page);
  });
});

/**
 * Counts what the page asks its worker to drop, and how often it has saved since it has new files; holds calls of the methods in
 * `held`.
 */
function watchWorker() {
  globalThis.dropped = 0;
  globalThis.saved = 0;
  globalThis.held = {};
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function post(...message) {
    const method = message[0]?.method;
    if (method === "forgetRun") globalThis.dropped += 1;
    const send = () => postMessage.apply(this, message);
    if (Object.hasOwn(globalThis.held, method)) globalThis.held[method].push(send);
    else send();
  };
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function store(value, key) {
    if (key === "files") globalThis.saved = 0;
    // The last of what is saved.
    if (key === "shown") globalThis.saved += 1;
    return put.call(this, value, key);
  };
}
