// The `adk-ts` dialect against @iqai/adk itself, on random conversations that no recorded vector holds. Needs
// `npm ci --ignore-scripts` in tests/adk-ts.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { rougeCases } from "../adk-ts/rouge-cases.mjs";
import { trajectoryCases } from "../adk-ts/trajectory-cases.mjs";
import { importEntry, mustRun, root } from "./support/package.mjs";

const folder = join(root, "tests/adk-ts");
const isInstalled = existsSync(join(folder, "node_modules/@iqai/adk/package.json"));
const skip =
  !isInstalled && !mustRun ? "@iqai/adk is not installed: run `npm ci --ignore-scripts` in tests/adk-ts" : false;

const SEED = 0x5eed_2026;
const CASES_OF_EACH = 1000;

const scoreOrNull = (score) => (Number.isFinite(score) ? score : null);

async function answer(evaluator, actual, expected) {
  try {
    const { overallScore, overallEvalStatus, perInvocationResults } = await evaluator.evaluateInvocations(
      actual,
      expected,
    );
    return {
      overallScore: scoreOrNull(overallScore),
      overallEvalStatus,
      turns: perInvocationResults.map(({ score, evalStatus }) => [scoreOrNull(score), evalStatus]),
    };
  } catch {
    return "an error";
  }
}

test("random conversations score as @iqai/adk scores them", { skip }, async () => {
  const theirs = createRequire(join(folder, "package.json"))("@iqai/adk");
  const ours = await importEntry();
  const random = [...trajectoryCases(SEED, CASES_OF_EACH), ...rougeCases(SEED + 1, CASES_OF_EACH)];
  const cases = random.filter(({ name }) => name.includes("/seeded "));
  assert.equal(cases.length, 2 * CASES_OF_EACH);
  let scored = 0;
  for (const { name, metric, actual, expected } of cases) {
    const isTrajectory = metric.metricName.startsWith("tool_trajectory");
    const [Theirs, Ours] = isTrajectory
      ? [theirs.TrajectoryEvaluator, ours.TrajectoryEvaluator]
      : [theirs.RougeEvaluator, ours.RougeEvaluator];
    const recorded = await answer(new Theirs(metric), actual, expected);
    const found = await answer(new Ours(metric, { dialect: "adk-ts" }), actual, expected);
    assert.deepStrictEqual(found, recorded, name);
    if (recorded !== "an error") scored += 1;
  }
  assert.ok(scored > 0.9 * cases.length, `only ${scored} cases were scored`);
});

test("the example of its documentation scores what the migration guide says", { skip }, async () => {
  const theirs = createRequire(join(folder, "package.json"))("@iqai/adk");
  const ours = await importEntry();
  const turn = (text) => ({ userContent: { parts: [{ text: "Weather?" }] }, finalResponse: { parts: [{ text }] } });
  const [actual, expected] = [[turn("It's sunny in London today")], [turn("The weather in London is sunny")]];
  const metric = { metricName: "response_match_score", threshold: 0.8 };
  for (const { RougeEvaluator, options } of [
    { RougeEvaluator: theirs.RougeEvaluator },
    { RougeEvaluator: ours.RougeEvaluator, options: { dialect: "adk-ts" } },
    { RougeEvaluator: ours.RougeEvaluator, options: {} },
  ]) {
    const { overallScore } = await new RougeEvaluator(metric, options).evaluateInvocations(actual, expected);
    assert.equal(overallScore, 0.5);
  }
});
