// The package's contract: what it exports, by import and by require.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ACTUAL, EXPECTED } from "./support/conversations.mjs";
import { importEntry, requireEntry } from "./support/package.mjs";
import { CRITERIA } from "./support/contract.mjs";

const adk = await importEntry();
const { EvalStatus, PrebuiltMetrics, rouge1 } = adk;

describe("names", () => {
  test("EvalStatus has ADK's numbers, with reverse mapping", () => {
    const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;
    assert.deepEqual([PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL], [1, 2, 3, 4]);
    assert.equal(EvalStatus[1], "PASSED");
  });

  test("PrebuiltMetrics has ADK-TS's eight members with its values", () => {
    const expected = {
      TOOL_TRAJECTORY_AVG_SCORE: "tool_trajectory_avg_score",
      RESPONSE_EVALUATION_SCORE: "response_evaluation_score",
      RESPONSE_MATCH_SCORE: "response_match_score",
      SAFETY_V1: "safety_v1",
      FINAL_RESPONSE_MATCH_V2: "final_response_match_v2",
      TOOL_TRAJECTORY_SCORE: "tool_trajectory_score",
      SAFETY: "safety",
      RESPONSE_MATCH: "response_match",
    };
    for (const [member, value] of Object.entries(expected)) assert.equal(PrebuiltMetrics[member], value);
  });

  test("PrebuiltMetrics has google-adk's seventeen metrics and the two proposed ones", () => {
    const ofAdk = [
      "tool_trajectory_avg_score",
      "response_match_score",
      "response_evaluation_score",
      "final_response_match_v2",
      "safety_v1",
      "hallucinations_v1",
      "rubric_based_final_response_quality_v1",
      "rubric_based_tool_use_quality_v1",
      "rubric_based_multi_turn_trajectory_quality_v1",
      "per_turn_user_simulator_quality_v1",
      "multi_turn_task_success_v1",
      "multi_turn_trajectory_quality_v1",
      "multi_turn_tool_use_quality_v1",
      "tool_call_count_v1",
      "inference_call_count_v1",
      "token_usage_v1",
      "invocation_duration_v1",
    ];
    const proposed = ["tool_parameter_match", "tool_trajectory_f1"];
    const legacy = ["tool_trajectory_score", "safety", "response_match"];
    assert.deepEqual(new Set(Object.values(PrebuiltMetrics)), new Set([...ofAdk, ...proposed, ...legacy]));
    for (const [member, value] of Object.entries(PrebuiltMetrics)) assert.equal(member, value.toUpperCase());
  });
});

describe("module systems", () => {
  test("require and import have the same names and give the same results", async () => {
    const required = requireEntry();
    assert.deepEqual(Object.keys(required).sort(), Object.keys(adk).sort());
    const scores = async ({ evaluate, rouge1 }) => {
      const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
      return [set.evalCaseResults, rouge1("The weather in London is sunny", "It's sunny in London today")];
    };
    assert.deepEqual(await scores(required), await scores(adk));
  });

  test("rouge1 knows both dialects", () => {
    assert.equal(rouge1("run", "running").fmeasure, 1);
    assert.equal(rouge1("run", "running", { dialect: "adk-ts" }).fmeasure, 0);
    assert.throws(() => rouge1("a", "b", { dialect: "other" }), { code: "invalid_input", path: "dialect" });
  });

  test("the report entry renders results", async () => {
    const report = await importEntry("./report");
    assert.deepEqual(Object.keys(report).sort(), Object.keys(requireEntry("./report")).sort());
    assert.ok(Object.keys(report).length > 0);
  });
});
