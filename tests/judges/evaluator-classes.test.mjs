// The evaluator classes of judged metrics: what they score, where they reject, and where they resolve with a reason.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { ACTUAL, criteriaOf, EVAL_SET, fair, FAIR_SCORES, fairJudge } from "./trip.mjs";

const adkMetrics = await importEntry();
const { EvalStatus } = adkMetrics;

describe("an evaluator class", () => {
  const evaluatorOf = (metricName, options, more = {}) => {
    const criterion = { ...criteriaOf([metricName])[metricName], ...more };
    return new adkMetrics.MetricEvaluatorRegistry(options).getEvaluator({ metricName, criterion });
  };
  const [flight, simulated] = ACTUAL.eval_cases;
  const [expected, { conversation_scenario }] = EVAL_SET.eval_cases;

  test("of every judged metric asks and scores", async () => {
    for (const metricName of Object.keys(criteriaOf())) {
      const isSimulated = metricName === "per_turn_user_simulator_quality_v1";
      const given = isSimulated
        ? [simulated.conversation, undefined, conversation_scenario]
        : [flight.conversation, expected.conversation];
      const result = await evaluatorOf(metricName, { judge: fairJudge }).evaluateInvocations(...given);
      const scores = [result.overallScore, ...result.perInvocationResults.map(({ score }) => score)];
      const wanted = FAIR_SCORES[isSimulated ? "simulated" : "flight"][metricName];
      // The rubrics of the case are not known here.
      const withoutCase = {
        rubric_based_final_response_quality_v1: "0 0 0",
        rubric_based_multi_turn_trajectory_quality_v1: "1 - 1",
      };
      assert.equal(scores.map((score) => score ?? "-").join(" "), withoutCase[metricName] ?? wanted, metricName);
      const [{ actualInvocation }] = result.perInvocationResults;
      assert.deepEqual(actualInvocation.userContent, given[0][0].user_content);
    }
  });

  test("rejects where google-adk raises", async () => {
    const judge = fairJudge;
    const { conversation } = flight;
    for (const [metricName, code, given, more] of [
      ["per_turn_user_simulator_quality_v1", "scenario_required", [simulated.conversation]],
      ["final_response_match_v2", "reference_required", [conversation]],
      ["response_evaluation_score", "reference_required", [conversation]],
      ["rubric_based_tool_use_quality_v1", "rubrics_required", [conversation], { rubrics: [] }],
      ["final_response_match_v2", "length_mismatch", [conversation, simulated.conversation]],
    ]) {
      const evaluator = evaluatorOf(metricName, { judge }, more);
      await assert.rejects(evaluator.evaluateInvocations(...given), (error) => {
        assert.ok(error instanceof adkMetrics.AdkMetricsError);
        assert.equal(error.code, code, `${metricName}: ${error}`);
        return true;
      });
    }
    const failing = evaluatorOf("per_turn_user_simulator_quality_v1", {
      judge: async () => {
        throw new Error("out of order");
      },
    });
    await assert.rejects(failing.evaluateInvocations(simulated.conversation, undefined, conversation_scenario), {
      code: "judge_failed",
      message: /out of order/,
    });
    const none = evaluatorOf("safety_v1", {}, { judge_model_options: { judge_model: "gpt-4.1", num_samples: 1 } });
    delete process.env.OPENAI_API_KEY;
    await assert.rejects(none.evaluateInvocations(conversation), { code: "judge_required" });
  });

  test("resolves with the reason where google-adk goes on", async () => {
    const judge = async (asked) => {
      if (asked.invocationIndex === 0) throw new Error("out of order");
      return fair(asked);
    };
    const evaluator = evaluatorOf("final_response_match_v2", { judge });
    const result = await evaluator.evaluateInvocations(flight.conversation, expected.conversation);
    assert.equal(result.overallScore, 0);
    const [first, second] = result.perInvocationResults;
    assert.deepEqual([first.evalStatus, first.score, second.score], [EvalStatus.NOT_EVALUATED, undefined, 0]);
    assert.match(first.reason, /out of order/);
  });

  test("resolves when it is cancelled, before it began too", async () => {
    for (const isEarly of [true, false]) {
      const controller = new AbortController();
      if (isEarly) controller.abort();
      let aborted = 0;
      const judge = (_asked, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted += 1;
            reject(signal.reason);
          });
          setTimeout(() => controller.abort());
        });
      for (const metricName of ["safety_v1", "per_turn_user_simulator_quality_v1"]) {
        const evaluator = evaluatorOf(metricName, { judge, signal: controller.signal });
        const result = await evaluator.evaluateInvocations(simulated.conversation, undefined, conversation_scenario);
        assert.deepEqual([result.overallEvalStatus, result.overallScore], [EvalStatus.NOT_EVALUATED, undefined]);
        assert.match(result.reason, /cancelled/);
      }
      assert.equal(aborted > 0, !isEarly);
    }
  });

  test("resolves when its budget is spent", async () => {
    const evaluator = evaluatorOf("per_turn_user_simulator_quality_v1", { judge: fairJudge, budget: { calls: 2 } });
    const result = await evaluator.evaluateInvocations(simulated.conversation, undefined, conversation_scenario);
    assert.equal(result.overallEvalStatus, EvalStatus.NOT_EVALUATED);
    assert.match(result.reason, /the budget of \d+ calls? for judges is spent/);
  });
});
