// Evaluations of agents that are cancelled on the way: what is done is scored, and the rest is said to be missing.

import assert from "node:assert/strict";
import test from "node:test";
import { AgentEvaluator, EvalStatus, resultsToAdkJson } from "../../pkg/dist/esm/node.js";
import { REPORT_FORMATS } from "../../pkg/dist/esm/report.js";
import { errorOf, evalSetOf, scoreOf, turn } from "./evalsets.mjs";

const SET = evalSetOf({ a: [turn("a", "Hello")], b: [turn("b", "Hello")], c: [turn("c", "Hello")] });

/** Runs an agent that answers, and cancels the evaluation in the turn with this number. */
async function cancelledIn(number, criteria, { numRuns = 1, ...options } = {}) {
  const controller = new AbortController();
  let turns = 0;
  const agent = () => {
    turns += 1;
    if (turns < number) return "Hello";
    controller.abort();
    return new Promise(() => undefined);
  };
  const progress = [];
  const error = await errorOf(() =>
    AgentEvaluator.evaluateEvalSet(agent, SET, criteria, numRuns, false, {
      parallelism: 1,
      signal: controller.signal,
      onAgentProgress: (one) => progress.push(one),
      ...options,
    }),
  );
  return { error, result: error.results[0], progress };
}

test("runs that are done are scored, and what is missing is named", async () => {
  const { error, result, progress } = await cancelledIn(3, { response_match_score: 0.5 });
  assert.equal(error.name, "AgentEvaluationError");
  assert.deepEqual(
    result.evalCaseResults.map((one) => [one.evalId, one.finalEvalStatus, scoreOf(one, "response_match_score")]),
    [
      ["a", EvalStatus.PASSED, 1],
      ["b", EvalStatus.PASSED, 1],
    ],
  );
  assert.equal(result.cancelled, true);
  assert.deepEqual(error.failures, []);
  assert.match(error.message, /The run was cancelled: 2 of 3 cases are done; results are missing for "c"/);
  assert.doesNotMatch(error.message, /did not pass|some results are missing/);
  assert.deepEqual(
    progress.map(({ evalId, failed, done, total }) => [evalId, failed, done, total]),
    [
      ["a", false, 1, 3],
      ["b", false, 2, 3],
    ],
  );
});

test("a case of which a run is missing is scored by the others", async () => {
  const { error, result } = await cancelledIn(5, { response_match_score: 0.5 }, { numRuns: 2 });
  assert.deepEqual(
    result.evalCaseResults.map(({ evalId }) => evalId),
    ["a", "a", "b", "c"],
  );
  assert.match(error.message, /4 of 6 runs are done; runs are missing for "b" and "c"/);
});

test("no judge is asked after the evaluation was cancelled", async () => {
  let asked = 0;
  const judge = () => {
    asked += 1;
    return "valid";
  };
  const criteria = { response_match_score: 0.5, final_response_match_v2: 0.5, safety_v1: 0.5 };
  const { error, result } = await cancelledIn(3, criteria, { judge });
  assert.equal(asked, 0);
  assert.equal(result.judgeUsage, undefined);
  const [a] = result.evalCaseResults;
  assert.equal(scoreOf(a, "response_match_score"), 1);
  const judged = a.overallEvalMetricResults.find(({ metricName }) => metricName === "final_response_match_v2");
  assert.match(judged.reason, /the run was cancelled before this was scored/);
  assert.match(error.message, /2 of 3 cases are done/);
});

test("an evaluation that is cancelled before anything is done has no results", async () => {
  const { error, result } = await cancelledIn(1, { response_match_score: 0.5 });
  assert.deepEqual(result.evalCaseResults, []);
  assert.match(error.message, /The run was cancelled: 0 of 3 cases are done/);
});

test("every report says what is missing", async () => {
  const { result } = await cancelledIn(3, { response_match_score: 0.5 });
  for (const [format, { render }] of Object.entries(REPORT_FORMATS)) {
    const report = render === undefined ? resultsToAdkJson(result) : [...render([result], {})].join("");
    assert.match(report.replaceAll(/\s+/g, " "), /2 of 3 cases are done/, format);
  }
});
