// Results as they are stored keep what was read: scoring a stored result gives the scores that it holds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { evaluate, resultsToAdkJson, withThresholds } = await importEntry();

const turn = (args) =>
  `{"user_content":{"parts":[{"text":"q"}]},"final_response":{"parts":[{"text":"a"}]},` +
  `"intermediate_data":{"tool_uses":[{"name":"f","args":${args}}]}}`;
const set = (args) => `{"eval_set_id":"s","eval_cases":[{"eval_id":"c","conversation":[${turn(args)}]}]}`;

const EXACT = '{"id":9007199254740993,"n":1000000000000000000000000000000,"r":1.0,"z":-0.0}';
const criteria = { tool_trajectory_avg_score: 1 };

for (const [kind, input] of [
  ["text", (text) => text],
  ["bytes", (text) => new TextEncoder().encode(text)],
]) {
  test(`numbers read from ${kind} keep their digits`, async () => {
    const result = await evaluate({ evalSet: input(set(EXACT)), actual: input(set(EXACT)), criteria });
    for (const stored of [resultsToAdkJson(result), resultsToAdkJson(withThresholds(result, criteria))]) {
      const numbers = ['"id": 9007199254740993', '"n": 1000000000000000000000000000000', '"r": 1.0', '"z": -0.0'];
      for (const number of numbers) {
        assert.equal(stored.split(number).length, 3, `${number} stands in the actual and the expected invocation`);
      }
      const again = await evaluate({ evalSet: set(EXACT), actual: stored, criteria });
      assert.equal(again.evalCaseResults[0].overallEvalMetricResults[0].score, 1);
    }
  });
}

test("invocations that came as objects are written as they are", async () => {
  const result = await evaluate({
    evalSet: JSON.parse(set('{"id":1}')),
    actual: JSON.parse(set('{"id":1}')),
    criteria,
  });
  assert.match(resultsToAdkJson(result), /"args": \{\s+"id": 1\s+\}/);
});

test("a result that is none is an error", () => {
  for (const wrong of [undefined, null, 3, {}, { evalCaseResults: [null] }, { evalCaseResults: [{}] }]) {
    assert.throws(() => resultsToAdkJson(wrong), { name: "AdkMetricsError" });
  }
});

test("looking at a result is not changed by storing it", async () => {
  const result = await evaluate({ evalSet: set(EXACT), actual: set(EXACT), criteria });
  resultsToAdkJson(result);
  const { actualInvocation } = result.evalCaseResults[0].evalMetricResultPerInvocation[0];
  assert.equal(actualInvocation.intermediateData.toolUses[0].name, "f");
});
