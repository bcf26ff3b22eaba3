// What @iqai/adk 0.5.9 answered, replayed through the package (natively: tests/engine/metrics/adk_ts_parity.rs).

import { test } from "node:test";
import { importEntry, testFile } from "./support/package.mjs";
import { asEvaluation, assertClassified, attempt, compareNumber, deviation, evalSetText } from "./support/replay.mjs";

const { evaluate, RougeEvaluator, TrajectoryEvaluator } = await importEntry();

const ADK_TS = {
  tool_trajectory_avg_score: TrajectoryEvaluator,
  tool_trajectory_score: TrajectoryEvaluator,
  response_match_score: RougeEvaluator,
  response_match: RougeEvaluator,
};

function adkTsDifferences(recorded, found) {
  const differences = [];
  compareNumber("overall score", recorded.overallScore, found.overallScore, differences);
  compareNumber("overall status", recorded.overallEvalStatus, found.overallEvalStatus, differences);
  compareNumber("turns", recorded.perInvocationResults.length, found.perInvocationResults.length, differences);
  for (const [index, { score, evalStatus }] of recorded.perInvocationResults.entries()) {
    compareNumber(`turn ${index} score`, score, found.perInvocationResults[index]?.score, differences);
    compareNumber(`turn ${index} status`, evalStatus, found.perInvocationResults[index]?.evalStatus, differences);
  }
  return differences;
}

test("the adk-ts dialect answers as @iqai/adk", async () => {
  const { cases } = JSON.parse(testFile("adk-ts/vectors.json"));
  const deviations = [];
  for (const { name, metric, actual, expected, result } of cases.filter((one) => !one.name.startsWith("malformed/"))) {
    const evaluator = new ADK_TS[metric.metricName](metric, { dialect: "adk-ts" });
    const found = await attempt(() => evaluator.evaluateInvocations(actual, expected));
    deviations.push(deviation(name, result.error, found, (value) => adkTsDifferences(result, value)));
  }
  assertClassified(deviations.filter(Boolean), [
    [
      "a threshold is needed; without one ADK-TS fails every score",
      60,
      (d) => d.refused?.code === "threshold_required",
    ],
    [
      "`criterion.threshold` counts, which ADK-TS does not read: statuses, never scores",
      18,
      (d) => d.name.includes("criterion.threshold") && d.how?.every((difference) => !difference.includes("score")),
    ],
  ]);
});

test("malformed invocations end in an error of the package or in a score", async () => {
  const { cases } = JSON.parse(testFile("adk-ts/vectors.json"));
  for (const { metric, actual, expected } of cases.filter((one) => one.name.startsWith("malformed/"))) {
    const evaluator = new ADK_TS[metric.metricName](metric, { dialect: "adk-ts" });
    await attempt(() => evaluator.evaluateInvocations(actual, expected));
  }
});

test("the adk-ts dialect answers as @iqai/adk where only text can say what was given", async () => {
  const { cases } = JSON.parse(testFile("adk-ts/vectors-text.json"));
  const deviations = [];
  for (const { name, metric, actualText, expectedText, result } of cases) {
    const metricName = metric.metricName;
    const found = await attempt(async () => {
      const set = await evaluate({
        evalSet: evalSetText(expectedText, metricName),
        actual: `[{"evalCaseId":"c","inferences":${actualText}}]`,
        criteria: { [metricName]: metric.threshold },
        dialect: "adk-ts",
        explain: "none",
      });
      return asEvaluation(set.evalCaseResults[0], metricName);
    });
    deviations.push(deviation(name, result.error, found, (value) => adkTsDifferences(result, value)));
  }
  assertClassified(deviations.filter(Boolean), [
    ["a repeated key is an error; JavaScript takes the last", 4, (d) => d.refused?.message.includes("given twice")],
    ["half of a surrogate pair is an error", 6, (d) => d.refused?.message.includes("surrogate")],
  ]);
});
