// Results of any size: written piece by piece, and read back case by case.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { AdkMetricsError, compareRuns, EvalStatus, resultsToAdkJson, resultsToAdkJsonChunks } = await importEntry();
const report = await importEntry("./report");

const FILLER = '\\n  "eval_case_results": []\n  ],{[" \\\\" ü'.repeat(20_000);

/** A run of cases, each with a text of `filler` that tries to look like the JSON around it. */
function setOf(scores, filler = "Hello") {
  return {
    evalSetResultId: `set ${filler.slice(0, 40)}`,
    evalSetId: "set",
    evalCaseResults: scores.map((score, at) => {
      const metric = {
        metricName: "quality",
        threshold: 0.5,
        score,
        evalStatus: score >= 0.5 ? EvalStatus.PASSED : EvalStatus.FAILED,
      };
      const actualInvocation = { invocationId: "i", userContent: { parts: [{ text: filler }] }, creationTimestamp: 0 };
      return {
        evalSetId: "set",
        evalId: `case ${at}`,
        finalEvalStatus: metric.evalStatus,
        overallEvalMetricResults: [metric],
        evalMetricResultPerInvocation: [{ actualInvocation, evalMetricResults: [metric] }],
        sessionId: "s",
      };
    }),
    creationTimestamp: 1.5,
    engineVersion: "0.1.0",
    referenceVersion: "2.13.0",
    dialect: "adk-python",
  };
}

const bytes = (text) => new TextEncoder().encode(text);

/** JSON cut into chunks of a size that no character keeps to. */
function* cut(json, size) {
  const all = bytes(json);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

const large = () =>
  setOf(
    Array.from({ length: 16 }, (_, at) => at / 15),
    FILLER,
  );

test("chunks of JSON are the JSON of the whole, whatever the texts in it look like", () => {
  const chunks = [...resultsToAdkJsonChunks(large())];
  assert.ok(chunks.length > 1, `${chunks.length} chunk`);
  const whole = JSON.parse(chunks.join(""));
  assert.deepEqual(
    whole.eval_case_results.map((one) => JSON.stringify(one)),
    large().evalCaseResults.map((one) => {
      const written = JSON.parse(resultsToAdkJson({ ...large(), evalCaseResults: [one] }));
      return JSON.stringify(written.eval_case_results[0]);
    }),
  );
  const { eval_case_results: _, ...rest } = whole;
  const { eval_case_results: __, ...alone } = JSON.parse(resultsToAdkJson({ ...large(), evalCaseResults: [] }));
  assert.deepEqual(rest, alone);
  const linesOf = (json) =>
    json
      .trimEnd()
      .split("\n")
      .map((line) => /^ */.exec(line)?.[0].length);
  assert.deepEqual(linesOf(chunks.join("")), linesOf(JSON.stringify(whole, null, 2)));
});

test("an error in a later chunk names the case", () => {
  const set = large();
  set.evalCaseResults[14].finalEvalStatus = 9;
  assert.throws(() => [...resultsToAdkJsonChunks(set)], { path: "evalCaseResults[14].finalEvalStatus" });
});

test("results in chunks compare as those in one piece, wherever they are cut", () => {
  const before = setOf([1, 0.2, 0.9, 0.4], '"]}\\\\"{[ü');
  const after = setOf([0.2, 1, 0.8, 0.4], '"]}\\\\"{[ü');
  const [old, now] = [resultsToAdkJson(before), resultsToAdkJson(after)];
  const expected = compareRuns(bytes(old), bytes(now));
  for (const size of [1, 2, 7, 64, 1000, 1e6]) {
    assert.deepEqual(compareRuns(cut(old, size), [...cut(now, size)]), expected, `${size}`);
  }
  const compact = JSON.stringify(JSON.parse(old));
  assert.deepEqual(compareRuns(cut(compact, 5), now), expected);
  const camel = bytes(JSON.stringify(before));
  assert.deepEqual(compareRuns([camel], now), expected);
});

test("objects with more cases than are read at once are read case by case", () => {
  const many = JSON.parse(resultsToAdkJson(setOf(Array.from({ length: 20_001 }, (_, at) => at % 2))));
  const { counts } = compareRuns(many, many, { resamples: 100 });
  assert.equal(counts.unchanged, 20_001);
});

const broken = {
  "not JSON": "{ oops",
  "no object": "[1]",
  "no results": '{"eval_cases": []}',
  "cut short": resultsToAdkJson(setOf([1, 0])).slice(0, -40),
  "cut in a case": resultsToAdkJson(setOf([1, 0])).slice(0, 600),
  "a case that is none":
    '{"eval_set_id":"s","eval_set_result_id":"r","eval_case_results":[1, 2],"creation_timestamp":1}',
  "more after the end": `${resultsToAdkJson(setOf([1]))} {}`,
  nothing: "",
};

for (const [name, json] of Object.entries(broken)) {
  test(`chunks that are ${name} are an error of this package`, () => {
    for (const size of [1, 50, 1e6]) {
      assert.throws(
        () => compareRuns(cut(json, size), setOf([1, 0])),
        (error) => error instanceof AdkMetricsError && /^baseline/.test(error.path),
        name,
      );
    }
  });
}

test("an error in chunks names the case by its place among all", () => {
  const set = JSON.parse(resultsToAdkJson(large()));
  set.eval_case_results[15].final_eval_status = 9;
  assert.throws(() => compareRuns(cut(JSON.stringify(set), 1e6), large()), {
    path: "baseline: eval_case_results[15].final_eval_status",
  });
});

test("what is iterable but gives no bytes is an error", () => {
  assert.throws(() => compareRuns(new Set(["{}"]), setOf([1])), { code: "invalid_input", path: "baseline" });
});

for (const [chunks, render] of [
  ["csvChunks", "renderCsv"],
  ["htmlChunks", "renderHtml"],
  ["junitChunks", "renderJUnit"],
  ["tableChunks", "renderTable"],
]) {
  test(`${chunks} gives what ${render} gives, a case at a time`, () => {
    const set = setOf(Array.from({ length: 1500 }, (_, at) => at % 2));
    const pieces = [...report[chunks]([set, set])];
    assert.equal(pieces.join(""), report[render]([set, set]));
    const longest = Math.max(...pieces.map(({ length }) => length));
    assert.ok(longest < 200_000, `${longest} characters`);
    assert.throws(() => report[chunks](null), { name: "AdkMetricsError", path: "results" });
  });
}

for (const format of ["Csv", "Json", "Table"]) {
  test(`comparison${format}Chunks gives what renderComparison${format} gives`, () => {
    const comparison = compareRuns(setOf([1, 0, 1]), setOf([0, 1, 1]));
    for (const given of [comparison, [comparison, comparison], []]) {
      const pieces = [...report[`comparison${format}Chunks`](given)];
      assert.equal(pieces.join(""), report[`renderComparison${format}`](given));
      if (format === "Json") assert.equal(pieces.join(""), `${JSON.stringify(given, null, 2)}\n`);
    }
  });
}
