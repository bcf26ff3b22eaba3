// tests/vectors/proposed.json through the package: by the evaluator classes and by `evaluate`. The native test of the
// same table is tests/engine/metrics/proposed.rs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry, testFile } from "./support/package.mjs";

const { DEFAULT_METRIC_EVALUATOR_REGISTRY, EvalStatus, evaluate, MetricEvaluatorRegistry } = await importEntry();
const { cases } = JSON.parse(testFile("vectors/proposed.json"));

/** The same with null for what is not there, so that exact doubles are all there is to compare. */
const inShape = ({ overallScore, overallEvalStatus, perInvocationResults }) => ({
  overallScore: overallScore ?? null,
  overallEvalStatus,
  perInvocationResults: perInvocationResults.map(({ score, evalStatus }) => ({ score: score ?? null, evalStatus })),
});

/** The conversation as an evalset; without one it is a scenario. */
function evalSetOf(conversation) {
  const conversationScenario = { startingPrompt: "Go", conversationPlan: "Go on" };
  const evalCase = conversation === null ? { conversationScenario } : { conversation };
  return { evalSetId: "set", evalCases: [{ evalId: "case", ...evalCase }] };
}

async function byClass({ metric, actual, expected }, dialect) {
  const registry =
    dialect === "adk-python" ? DEFAULT_METRIC_EVALUATOR_REGISTRY : new MetricEvaluatorRegistry({ dialect });
  return registry.getEvaluator(metric).evaluateInvocations(actual, expected ?? undefined);
}

async function byEvaluate({ metric: { metricName, criterion }, actual, expected }, dialect) {
  const { evalCaseResults } = await evaluate({
    evalSet: evalSetOf(expected),
    actual: evalSetOf(actual),
    criteria: { [metricName]: criterion },
    dialect,
  });
  const [{ overallEvalMetricResults, evalMetricResultPerInvocation }] = evalCaseResults;
  const find = (results) => results.find((result) => result.metricName === metricName);
  const overall = find(overallEvalMetricResults);
  if (overall.evalStatus === EvalStatus.NOT_EVALUATED) assert.ok(overall.reason, "a reason");
  return {
    overallScore: overall.score,
    overallEvalStatus: overall.evalStatus,
    perInvocationResults: evalMetricResultPerInvocation.map((turn) => find(turn.evalMetricResults)),
  };
}

for (const [way, score] of Object.entries({ "the evaluator classes": byClass, evaluate: byEvaluate })) {
  describe(`by ${way}`, () => {
    for (const one of cases) {
      for (const dialect of one.dialects ?? ["adk-python"]) {
        test(`${one.name} (${dialect})`, async () => {
          assert.deepStrictEqual(inShape(await score(one, dialect)), one.result);
        });
      }
    }
  });
}
