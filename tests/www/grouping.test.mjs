// What runs tell of the next ones: intervals, which may respect cases that depend on each other, and repeated runs of a case.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evaluate, showing, turn } from "./scored.mjs";
import { playground, says, skip } from "./support.mjs";

const conversation = (text) => [
  { user_content: { parts: [{ text: "When?" }] }, final_response: { parts: [{ text }] } },
];
/** Topics of cases, and how their runs end: `p` passes, `f` fails. */
const CASES = {
  rome: ["trains", "p"],
  oslo: ["trains", "p"],
  kyiv: ["ferries", "f"],
  riga: ["ferries", "f"],
  bern: ["buses", "p"],
};
const file = (name, value) => ({ name, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(value)) });
const files = (id) => [
  file(`${id}.evalset.json`, {
    eval_set_id: id,
    eval_cases: Object.entries(CASES).map(([evalId, [topic]]) => ({
      eval_id: evalId,
      session_input: { app_name: "a", user_id: "u", state: { topic, seat: `${id} ${evalId}` } },
      conversation: conversation("At nine."),
    })),
  }),
  file(`${id}.actual.json`, {
    eval_set_id: id,
    eval_cases: Object.entries(CASES).map(([evalId, [, end]]) => ({
      eval_id: evalId,
      conversation: conversation(end === "p" ? "At nine." : "No idea."),
    })),
  }),
];

describe("intervals in the playground", { skip }, () => {
  const site = playground();

  test("respect the cases of an evalset, or those with the same tag", async () => {
    const page = await site.open();
    await page.getByLabel("Choose files").setInputFiles([...files("one"), ...files("two")]);
    await page.getByRole("button", { name: /^Score \d+ cases?$/ }).click();
    await page.waitForURL("**/#/results");
    const summary = page.getByRole("region", { name: "Summary" });
    await says(summary, /Pass rate 60% \(31 to 83%, 95% interval\)/);
    const choice = summary.getByLabel("Intervals respect");
    assert.deepEqual(await choice.evaluate((select) => [...select.options].map(({ text }) => text)), [
      "runs of a case",
      "cases of an evalset",
      "cases with the same topic",
    ]);
    await choice.selectOption("cases with the same topic");
    await says(summary, /Pass rate 60% \(\d+ to 9\d%, 95% interval\) Groups of cases 3/);
    await choice.selectOption("cases of an evalset");
    await says(summary, /Groups of cases 2/);
    await choice.selectOption("runs of a case");
    await says(summary, /Pass rate 60% \(31 to 83%, 95% interval\) Pass rate to within/);
    await site.done(page);
  });

  test("a case that was run repeatedly shows how its runs ended, and those of its flaky metrics", async () => {
    const said = (text) => [turn("When?", text)];
    const side = (...all) => ({
      evalSetId: "trains",
      evalCases: all.map(([evalId, text]) => ({ evalId, conversation: said(text) })),
    });
    const results = await evaluate({
      evalSet: side(["moody", "At nine."], ["once", "At nine."]),
      actual: side(["moody", "At nine."], ["moody", "At nine."], ["moody", "No idea."], ["once", "At nine."]),
      criteria: { response_match_score: 0.8, tool_trajectory_avg_score: 1 },
    });
    const page = await showing(site, results);
    const header = page.locator(".case-head");
    await page.evaluate(() => {
      location.hash = "#/case/2";
    });
    await says(header, /Flaky: 2 of 3 runs pass \(pass@2 100%, pass\^2 33%\)/);
    await says(header, /response_match_score: 2 of 3 runs pass/);
    await page.evaluate(() => {
      location.hash = "#/case/3";
    });
    await says(header, /once/);
    assert.doesNotMatch(await header.innerText(), /runs pass/);
    await site.done(page);
  });
});
