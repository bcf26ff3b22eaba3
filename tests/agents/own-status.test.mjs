// Evaluators of one's own whose statuses are not what their scores and thresholds say.

import assert from "node:assert/strict";
import test from "node:test";
import * as api from "../../pkg/dist/esm/node.js";
import { renderTable } from "../../pkg/dist/esm/report.js";
import { evalSetOf, turn } from "./evalsets.mjs";

const { AgentEvaluator, EvalStatus, Evaluator, MetricEvaluatorRegistry, withThresholds } = api;
const evalSet = evalSetOf({ a: [turn("Hi", "Hello")] });

/** The registry of a metric `m` that gives these scores and statuses in turn. */
function registryOf(...given) {
  let at = 0;
  class Own extends Evaluator {
    async evaluateInvocations() {
      const [overallScore, status] = given[at++ % given.length];
      return { overallScore, overallEvalStatus: EvalStatus[status], perInvocationResults: [] };
    }
  }
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "m" }, Own);
  return registry;
}

const evaluate = (threshold, ...given) =>
  AgentEvaluator.evaluateEvalSet(async () => "Hello", evalSet, { m: threshold }, 2, false, {
    registry: registryOf(...given),
  });
const contradicts = ({ warnings = [] }) =>
  warnings.filter(({ message }) => /contradict its scores/.test(message)).length;

test("a status that contradicts its score is a warning in every report", async () => {
  const passed = await evaluate(0.9, [0.5, "PASSED"]);
  assert.equal(contradicts(passed), 1);
  assert.match(renderTable(passed), /the statuses of `m`'s evaluator contradict its scores in 2 of 2 case results/);
  assert.equal(contradicts(await evaluate(0.9, [0.95, "PASSED"])), 0);
});

test("a failure says what decided", async () => {
  const failure = async (...given) => (await evaluate(...given).catch((error) => error)).failures[0].message;
  assert.match(
    await failure(0.9, [1, "FAILED"]),
    /threshold 0.9 \(lower scores are better, according to its evaluator's statuses/,
  );
  assert.match(await failure(0.9, [1, "FAILED"], [0.5, "FAILED"]), /threshold 0.9 \(the mean decides, because/);
  assert.doesNotMatch(await failure(0.9, [0.5, "FAILED"]), /decide|better/);
});

test("other thresholds keep which scores are better, in turns as well", async () => {
  const statuses = (result, threshold) =>
    withThresholds(result, { m: threshold }).evalCaseResults.map(({ finalEvalStatus, overallEvalMetricResults }) => [
      EvalStatus[finalEvalStatus],
      EvalStatus[overallEvalMetricResults[0].evalStatus],
    ]);
  const lower = await evaluate(2, [1, "PASSED"], [3, "FAILED"]).catch(({ results: [result] }) => result);
  assert.deepEqual(statuses(lower, 5).flat(), ["PASSED", "PASSED", "PASSED", "PASSED"]);
  assert.deepEqual(statuses(lower, 3).flat(), ["PASSED", "PASSED", "PASSED", "PASSED"]);
  assert.deepEqual(statuses(lower, 0.5).flat(), ["FAILED", "FAILED", "FAILED", "FAILED"]);
  // What the statuses do not agree on follows from the threshold.
  const mixed = await evaluate(2, [1, "PASSED"], [3, "PASSED"]);
  assert.deepEqual(
    statuses(mixed, 2).map(([status]) => status),
    ["FAILED", "PASSED"],
  );
  const set = structuredClone({ ...lower });
  for (const one of set.evalCaseResults) {
    const [metric] = one.overallEvalMetricResults;
    for (const turn of one.evalMetricResultPerInvocation) turn.evalMetricResults = [metric];
  }
  const [, second] = withThresholds(set, { m: 5 }).evalCaseResults;
  assert.equal(second.evalMetricResultPerInvocation[0].evalMetricResults[0].evalStatus, EvalStatus.PASSED);
});
