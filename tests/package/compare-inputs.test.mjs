// Two runs compared: the results that are taken, in every shape, and the mistakes in them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry, root, testFile } from "./support/package.mjs";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { caseOf, runOf, scored, setOf } from "./support/comparisons.mjs";

const { AdkMetricsError, compareRuns, evaluate, resultLines, resultsToAdkJson, withThresholds } = await importEntry();

const example = (name) => readFileSync(join(root, "examples/travel-concierge", name));

test("results are read in every shape", async () => {
  const request = {
    evalSet: example("travel-concierge.evalset.json"),
    criteria: { tool_trajectory_avg_score: 1, response_match_score: 0.5 },
  };
  const result = await evaluate({ ...request, actual: example("travel-concierge.evalset_result.json") });
  const base = withThresholds(result, { response_match_score: 0.9 });
  const snake = resultsToAdkJson(result);
  const expected = compareRuns(base, JSON.parse(snake));
  assert.ok(expected.counts.fixed > 0 || expected.thresholdChanges.length > 0);
  for (const shape of [
    snake,
    `\n ${snake}`,
    JSON.stringify(snake),
    new TextEncoder().encode(snake),
    new TextEncoder().encode(JSON.stringify(snake)),
    JSON.stringify(result),
    JSON.parse(JSON.stringify(result), (key, value) => (key === "reason" ? undefined : value)),
    { ...result, evalSetId: null, eval_set_id: result.evalSetId },
  ]) {
    if (typeof shape === "object" && "eval_set_id" in shape) delete shape.evalSetId;
    assert.deepEqual(compareRuns(base, shape), expected);
  }
});

test("files that google-adk reads are read, and what it refuses breaks nothing", () => {
  const { documents, edits } = JSON.parse(testFile("parity/vectors/shapes.json"));
  const camel = (key) => key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  let read = 0;
  for (const { document, path, edit, key, result } of edits) {
    if (document !== "eval_set_result" || edit === "wrong_type") continue;
    const edited = structuredClone(documents.eval_set_result);
    const target = path.reduce((value, step) => value[step], edited);
    if (edit === "extra") target[key] = "x";
    else if (edit === "null") target[key] = null;
    else {
      if (edit === "camel") target[camel(key)] = target[key];
      delete target[key];
    }
    for (const shape of [edited, JSON.stringify(edited)]) {
      try {
        assert.equal(compareRuns(shape, shape).hasRegressions, false);
        read += 1;
      } catch (error) {
        assert.ok(error instanceof AdkMetricsError, String(error?.stack));
        const isEmpty = error.message === "the two runs have no case in common";
        assert.ok(result === "refused" || isEmpty, `${edit} ${path.join(".")}.${key}: ${error}`);
      }
    }
  }
  assert.ok(read > 500, String(read));
});

test("invocations are not looked at, and nothing given is changed", () => {
  const set = setOf([caseOf("a", { quality: 1 }, { turns: [{ quality: 1 }] })]);
  for (const turn of set.evalCaseResults[0].evalMetricResultPerInvocation) {
    Object.defineProperty(turn, "actualInvocation", { get: () => assert.fail("looked at"), enumerable: true });
  }
  const freeze = (value) => {
    for (const [key, part] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
      if (key !== "actualInvocation" && typeof part.value === "object" && part.value !== null) freeze(part.value);
    }
    return Object.freeze(value);
  };
  assert.equal(compareRuns(freeze(set), set).counts.unchanged, 1);
});

test("names that objects have anyway are names of cases and metrics", () => {
  const run = setOf(
    ["__proto__", "constructor", ""].map((evalId) => caseOf(evalId, { ["__proto__"]: 1, toString: 1 })),
  );
  const { cases, metrics } = compareRuns(run, JSON.stringify(run));
  assert.equal(cases.length, 3);
  assert.ok(metrics.some(({ metricName }) => metricName === "toString"));
});

for (const [name, args, wanted] of [
  ["nothing", [undefined, scored([1])], { code: "invalid_input", path: "baseline" }],
  ["a number", [scored([1]), 3], { code: "invalid_input", path: "current" }],
  ["a promise", [scored([1]), Promise.resolve()], { code: "invalid_input", path: "current", help: "Await it first" }],
  ["text that is no JSON", ["{", scored([1])], { code: "invalid_json", line: 1 }],
  ["JSON text that holds text", ['"no results"', scored([1])], { code: "invalid_json", line: 1 }],
  [
    "an evalset",
    [scored([1]), { eval_set_id: "s", eval_cases: [] }],
    { path: "current", help: /results of `evaluate`/ },
  ],
  [
    "a status that is none",
    [scored([1]), runOf({ c0: [7, 1] })],
    { code: "invalid_input", path: "current: evalCaseResults[0].overallEvalMetricResults[0].evalStatus" },
  ],
  [
    "a score that is no number",
    [runOf({ c0: [1, NaN] }), scored([1])],
    {
      code: "unserializable",
      path: "baseline: evalCaseResults[0].overallEvalMetricResults[0].score",
      help: "Leave out the value or use null",
    },
  ],
  ["no case in common", [runOf({ a: 1 }), runOf({ b: 1 })], { path: "current", help: /The baseline has `a`; .* `b`$/ }],
  ["no case at all", [setOf([]), setOf([])], { message: "the two runs have no case in common", help: /has no case/ }],
  ["options that are none", [scored([1]), scored([1]), 3], { path: "options" }],
  ["a misspelt option", [scored([1]), scored([1]), { sead: 1 }], { help: "Did you mean `seed`?" }],
  ["an unknown option", [scored([1]), scored([1]), { alpha: 1 }], { path: "options: alpha", help: /^The options are/ }],
  ["too few resamples", [scored([1]), scored([1]), { resamples: 99 }], { path: "options: resamples" }],
  ["too many resamples", [scored([1]), scored([1]), { resamples: 1e7 }], { path: "options: resamples" }],
  ["a fractional seed", [scored([1]), scored([1]), { seed: 0.5 }], { path: "options: seed" }],
  ["a confidence of one", [scored([1]), scored([1]), { confidence: 1 }], { path: "options: confidence" }],
  [
    "a getter that throws",
    [scored([1]), Object.defineProperty(scored([1]), "evalCaseResults", { get: () => assert.fail() })],
    { code: "invalid_input", path: "current" },
  ],
]) {
  test(`is an error: ${name}`, () => {
    assert.throws(
      () => compareRuns(...args),
      (error) => {
        assert.ok(error instanceof AdkMetricsError, String(error?.stack));
        for (const [key, value] of Object.entries(wanted)) {
          if (value instanceof RegExp) assert.match(error[key], value);
          else assert.equal(error[key], value);
        }
        return true;
      },
    );
  });
}

test("JSON lines in pieces need their first line, wherever the pieces end", () => {
  const encoder = new TextEncoder();
  const text = [...resultLines(runOf({ a: 1, b: 0 }))].join("");
  const headless = text.slice(text.indexOf("\n") + 1);
  const cut = (whole, size) => {
    const bytes = encoder.encode(whole);
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
  };
  const expected = compareRuns(text, text);
  for (const size of [1, 50, 1000, text.length]) {
    assert.deepEqual(compareRuns(cut(text, size), cut(text, size)), expected);
    assert.throws(() => compareRuns(cut(headless, size), text), {
      message: "the first line is missing, which says whose results the lines below are",
      path: "baseline",
      line: 1,
    });
  }
});
