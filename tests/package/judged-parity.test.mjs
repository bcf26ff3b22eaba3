// The judged metrics beside google-adk, given the same replies, through the evaluator classes of the package.
// `tests/engine/judged/parity.rs` says more about the vectors and compares more of the results.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry, testFile } from "./support/package.mjs";

const { DEFAULT_METRIC_EVALUATOR_REGISTRY } = await importEntry();

const METRICS = [
  "final_response_match_v2",
  "rubric_based_final_response_quality_v1",
  "rubric_based_tool_use_quality_v1",
  "rubric_based_multi_turn_trajectory_quality_v1",
  "hallucinations_v1",
  "per_turn_user_simulator_quality_v1",
];

/** Flags of vectors whose results may differ on purpose; docs/differences.md has the reasons. */
const MAY_DIFFER = ["own_rubrics_differ", "repeated_entries", "failed", "structured"];

/** Whether google-adk raises because the first event of a turn is by an agent that `app_details` does not describe. */
function namesAnUnknownAgent({ metric, actual }) {
  return (
    metric.metric_name === "rubric_based_final_response_quality_v1" &&
    actual.some(({ intermediate_data: data, app_details: app }) => {
      const author = data?.invocation_events?.[0]?.author;
      return author !== undefined && app?.agent_details !== undefined && !Object.hasOwn(app.agent_details, author);
    })
  );
}

/** Turns that are alike have replies of their own here. */
const cache = { get: async () => undefined, set: async () => {} };

async function evaluate({ metric, actual, expected, scenario, replies }) {
  const judge = async ({ invocationIndex, stepIndex, purpose, sampleIndex }) => {
    const reply = replies[`${invocationIndex}/${stepIndex}/${purpose}/${sampleIndex}`];
    if (reply === null) throw new Error("the call failed");
    return reply;
  };
  const { metric_name: metricName, ...rest } = metric;
  const Class = DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator({ metricName }).constructor;
  try {
    const evaluator = new Class({ metricName, ...rest }, { judge, cache, explain: "none" });
    const found = await evaluator.evaluateInvocations(actual, expected ?? undefined, scenario ?? undefined);
    const { overallScore, overallEvalStatus, overallRubricScores, perInvocationResults } = found;
    return {
      ...resultOf(overallScore, overallEvalStatus, overallRubricScores),
      turns: perInvocationResults.map(({ score, evalStatus, rubricScores }) =>
        resultOf(score, evalStatus, rubricScores),
      ),
    };
  } catch (error) {
    if (error.name !== "AdkMetricsError") throw error;
    return "raises";
  }
}

const resultOf = (score, status, rubrics) => ({ score: score ?? null, status, rubrics: byId(rubrics, "rubricId") });
const byId = (rubrics, key) => Object.fromEntries((rubrics ?? []).map((found) => [found[key], found.score ?? null]));

for (const metric of METRICS) {
  test(`${metric} scores as google-adk does`, async () => {
    const lines = testFile(`parity/vectors/judged_${metric}.jsonl`).trimEnd().split("\n");
    let compared = 0;
    for (const [index, line] of lines.entries()) {
      const vector = JSON.parse(line);
      if (MAY_DIFFER.some((flag) => vector[flag]) || namesAnUnknownAgent(vector)) continue;
      const { result } = vector;
      const recorded = vector.raises
        ? "raises"
        : {
            ...resultOf(result.score, result.status),
            rubrics: byId(result.rubrics, "id"),
            turns: result.turns.map((turn) => ({
              ...resultOf(turn.score, turn.status),
              rubrics: byId(turn.rubrics, "id"),
            })),
          };
      assert.deepEqual(await evaluate(vector), recorded, `line ${index + 1}`);
      compared += 1;
    }
    assert.ok(compared >= 1000, `${compared} of ${lines.length}`);
  });
}
