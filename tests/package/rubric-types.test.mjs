// Rubrics of cases and turns are for the metric that their type names. One that is for none is left out, which is said.

import assert from "node:assert/strict";
import test from "node:test";
import { evaluate, RubricBasedFinalResponseQualityV1Evaluator } from "../../pkg/dist/esm/node.js";

const rubric = (rubricId, type) => ({
  rubricId,
  rubricContent: { textProperty: `It is ${rubricId}.` },
  ...(type === undefined ? {} : { type }),
});
const turn = (...rubrics) => ({
  userContent: { parts: [{ text: "Hi" }] },
  finalResponse: { parts: [{ text: "Hello" }] },
  rubrics,
});
const setOf = (turns, rubrics) => ({
  evalSetId: "s",
  evalCases: [{ evalId: "c", conversation: turns, ...(rubrics === undefined ? {} : { rubrics }) }],
});
const judge = async ({ metricName }) =>
  metricName === "safety_v1" ? '{"explanation": "", "score": 1}' : '{"polite": {"rationale": "", "verdict": "yes"}}';
const RUBRICS = { rubric_based_final_response_quality_v1: 0.5 };

const HELP = "The types are `FINAL_RESPONSE_QUALITY`, `TOOL_USE_QUALITY` and `TRAJECTORY_QUALITY`";
const warnings = async (evalSet, actual = evalSet, criteria = RUBRICS) => {
  const { warnings = [] } = await evaluate({ evalSet, actual, criteria, judge });
  return warnings.map(({ message, path, help }) => [message, path, help]);
};

test("a rubric whose type no metric reads is warned of, once for each type", async () => {
  const expected = setOf(
    [turn(rubric("polite", "FINAL_RESPONSE_QUALITY"), rubric("calm", "RESPONSE_QUALTY")), turn(rubric("brief"))],
    [rubric("kind", "final_response_quality"), rubric("calm", "RESPONSE_QUALTY"), rubric("used", "TOOL_USE_QUALITY")],
  );
  const actual = setOf([turn(), turn(rubric("late", "TONE"))]);
  assert.deepEqual(await warnings(expected, actual), [
    [
      'rubrics of the type "RESPONSE_QUALTY" are left out: no metric reads them',
      "evalSet: evalCases[0].conversation[0].rubrics[1]",
      HELP,
    ],
    [
      "rubrics without a type are left out: no metric reads them",
      "evalSet: evalCases[0].conversation[1].rubrics[0]",
      HELP,
    ],
    [
      'rubrics of the type "final_response_quality" are left out: no metric reads them',
      "evalSet: evalCases[0].rubrics[0]",
      HELP,
    ],
    [
      'rubrics of the type "TONE" are left out: no metric reads them',
      "actual: evalCases[0].conversation[1].rubrics[0]",
      HELP,
    ],
  ]);
});

test("types are looked at only where a metric reads rubrics by them", async () => {
  const evalSet = setOf([turn(rubric("calm", "TONE"))]);
  assert.deepEqual(
    await warnings(evalSet, structuredClone(evalSet), { response_match_score: 0.5, safety_v1: 0.5 }),
    [],
  );
});

test("strict refuses them", async () => {
  const evalSet = setOf([turn(rubric("polite", "FINAL_RESPONSE_QUALITY"), rubric("calm", "TONE"))]);
  const judged = evaluate({ evalSet, actual: evalSet, criteria: RUBRICS, judge, strict: true });
  await assert.rejects(judged, { code: "invalid_input", message: /"TONE" are left out/ });
});

test("evaluator classes say it too", async () => {
  const evaluator = new RubricBasedFinalResponseQualityV1Evaluator({ metricName: "x", threshold: 0.5 }, { judge });
  const turns = [turn(rubric("polite", "FINAL_RESPONSE_QUALITY"), rubric("calm", "TONE"))];
  const { warnings } = await evaluator.evaluateInvocations(turns, turns);
  assert.deepEqual(
    warnings.map(({ message, path }) => [message, path]),
    [
      ['rubrics of the type "TONE" are left out: no metric reads them', "actual: [0].rubrics[1]"],
      ['rubrics of the type "TONE" are left out: no metric reads them', "expected: [0].rubrics[1]"],
    ],
  );
});
