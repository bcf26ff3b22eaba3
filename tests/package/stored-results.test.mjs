// Results that are stored and read back: in ADK's schema, and as JSON lines with everything.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { importEntry, root } from "./support/package.mjs";

const { AdkMetricsError, compareRuns, evaluate, readResults, replayJudge, resultLines, resultsToAdkJson } =
  await importEntry();

const example = (name) => readFileSync(join(root, "examples", name));
const travel = () =>
  evaluate({
    evalSet: example("travel-concierge/travel-concierge.evalset.json"),
    actual: example("travel-concierge/travel-concierge.evalset_result.json"),
    criteria: { tool_trajectory_avg_score: 1, response_match_score: 0.5 },
  });
const museum = () =>
  evaluate({
    evalSet: example("museum-guide/museum-guide.evalset.json"),
    actual: example("museum-guide/museum-guide.actual.json"),
    config: example("museum-guide/test_config.json"),
    judge: replayJudge(example("museum-guide/judge.jsonl")),
  });

/** Results as plain values: those of `evaluate` have getters. */
const plain = (result) => JSON.parse(JSON.stringify(result));

test("JSON lines hold all of it, votes and explanations too", async () => {
  const sets = [await travel(), await museum()];
  const text = [...resultLines(sets)].join("");
  assert.equal(
    text.split("\n").length - 1,
    sets.reduce((lines, set) => lines + 1 + set.evalCaseResults.length, 0),
  );
  for (const form of [text, new TextEncoder().encode(text), text.trimEnd(), text.replaceAll("\n", "\r\n\n")]) {
    assert.deepEqual(plain(readResults(form)), plain(sets));
  }
  assert.match(text, /"samples":/);
});

test("JSON lines keep the digits of numbers that JavaScript rounds", async () => {
  const id = "12345678901234567891";
  const set = JSON.stringify({
    eval_set_id: "digits",
    eval_cases: [
      {
        eval_id: "one",
        conversation: [
          {
            user_content: { parts: [{ text: "Hello" }] },
            intermediate_data: { tool_uses: [{ name: "find", args: { id: 0 } }] },
          },
        ],
      },
    ],
  }).replace('"id":0', `"id":${id}`);
  const result = await evaluate({ evalSet: set, actual: set, criteria: { tool_trajectory_avg_score: 1 } });
  assert.ok([...resultLines(result)].join("").includes(id));
});

test("results in ADK's schema are read in camelCase, with the turns as hosts see them", async () => {
  const result = await travel();
  const [back] = readResults(resultsToAdkJson(result));
  const scores = ({ evalCaseResults }) =>
    evalCaseResults.map(({ evalId, finalEvalStatus, overallEvalMetricResults }) => [
      evalId,
      finalEvalStatus,
      overallEvalMetricResults.map(({ metricName, score, evalStatus }) => [metricName, score, evalStatus]),
    ]);
  assert.deepEqual(scores(back), scores(result));
  const [{ evalMetricResultPerInvocation: turns }] = back.evalCaseResults;
  assert.ok(Array.isArray(turns[0].actualInvocation.intermediateData.toolUses));
  const [ofGoogle] = readResults(example("travel-concierge/travel-concierge.evalset_result.json"));
  assert.equal(ofGoogle.engineVersion, "");
  assert.ok(ofGoogle.evalCaseResults.length > 0);
  assert.deepEqual(readResults(result), [result]);
});

test("results as JSON lines are compared like any", async () => {
  const result = await travel();
  const lines = [...resultLines(result)].join("");
  assert.deepEqual(compareRuns(lines, resultsToAdkJson(result)).counts, compareRuns(result, result).counts);
  assert.throws(() => compareRuns(lines, lines + lines), {
    name: "AdkMetricsError",
    message: "expected the results of one evalset, found those of 2",
    path: "current",
  });
});

test("what is wrong with results is said, with its line", async () => {
  const lines = [...resultLines(await travel())].join("");
  const cases = [
    [lines.slice(0, -40), /the last line is cut off/],
    [lines.replace(/\n\{/, "\n{{"), /line 2: this line is not JSON|this line is not JSON/],
    [lines.replace('"version":1', '"version":2'), /version 2 of this format/],
    [lines.replace(/"finalEvalStatus":\d/, '"finalEvalStatus":9'), /expected the results of a case/],
    [lines.replace('"actualInvocation":{', '"actualInvocation":1,"then":{'), /expected the results of a case/],
    [lines.replace('"evalSetId":', '"evalSet":'), /`evalSetId`/],
    ["{}", /eval_set_result_id/],
    ["", /./],
    [undefined, /./],
  ];
  for (const [input, message] of cases) {
    assert.throws(
      () => readResults(input),
      (error) => error instanceof AdkMetricsError && message.test(error.message) && /^results/.test(error.path),
      String(message),
    );
  }
});
