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

test("explanations that nobody has looked at are written like all others", async () => {
  const turn = (text) => ({ userContent: { parts: [{ text: "?" }] }, finalResponse: { parts: [{ text }] } });
  const set = (...texts) => ({
    evalSetId: "words",
    evalCases: texts.map((text, at) => ({ evalId: `${at}`, conversation: [turn(text), turn('one "two"\n\u2028')] })),
  });
  const expected = "one two three four five six seven eight nine ten";
  const evalSet = set(expected, expected, expected, expected, "same words");
  const actual = set("one", "none of it", "seven words: one two three four five", `${expected} more`, "same words");
  const criteria = { tool_trajectory_avg_score: 1, response_match_score: 0.5 };
  const fresh = async () => await evaluate({ evalSet, actual, criteria, explain: "all" });
  const written = (result) => [...resultLines(result)].slice(1);
  const metricsOf = ({ evalCaseResults }) =>
    evalCaseResults.flatMap((result) => result.evalMetricResultPerInvocation.flatMap((turn) => turn.evalMetricResults));

  const looked = await fresh();
  const tokens = metricsOf(looked).flatMap(({ explanation }) => explanation?.tokens ?? []);
  assert.deepEqual(
    tokens.filter((_, at) => at % 2 === 0).map(({ precision, recall }) => [precision, recall]),
    [
      [1, 0.1],
      [0, 0],
      [6 / 7, 0.6],
      [10 / 11, 1],
      [1, 1],
    ],
  );
  assert.deepEqual(written(await fresh()), written(looked));

  // What the caller changed is written as it is now.
  for (const change of [
    (metric) => (metric.explanation = { own: true }),
    (metric) => delete metric.explanation,
    (metric) => (metric.note = "behind the explanation"),
    (metric) => (metric.score = undefined),
    (metric) => Object.freeze(metric),
  ]) {
    const [unread, read] = [await fresh(), await fresh()];
    for (const metric of metricsOf(read)) void metric.explanation;
    for (const metric of [...metricsOf(unread), ...metricsOf(read)]) {
      if (metric.metricName === "response_match_score") change(metric);
    }
    assert.deepEqual(written(unread), written(read));
  }
  const odd = await fresh();
  odd.evalCaseResults[0].evalMetricResultPerInvocation[0].evalMetricResults[1].score = Number.NaN;
  assert.throws(() => written(odd), { code: "unserializable", path: "result: [1].score" });
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
