// Criteria and configs: every setting of a metric is known to editors, and a misspelt one does not compile.

import {
  AgentEvaluator,
  type Criteria,
  type Criterion,
  type EvalConfig,
  type EvalMetric,
  type EvalSetResult,
  evaluate,
  FinalResponseMatchV2Evaluator,
  MetricEvaluatorRegistry,
  PrebuiltMetrics,
  type Rubric,
  ToolParameterMatchEvaluator,
  TrajectoryEvaluator,
  withThresholds,
} from "adk-metrics";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T | undefined => undefined;
/** The keys that a type names. */
type Named<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };

// ---- what editors complete

holds<Same<Named<Criteria>, `${PrebuiltMetrics}`>>();
holds<
  Same<
    Named<Exclude<Criteria["tool_trajectory_avg_score"], number | undefined>>,
    Settings<"match_type" | "matchType" | "ignore_args" | "ignoreArgs">
  >
>();
holds<
  Same<
    Named<Exclude<Criteria["hallucinations_v1"], number | undefined>>,
    Settings<"evaluate_intermediate_nl_responses" | "evaluateIntermediateNlResponses">
  >
>();
holds<Same<Named<Exclude<Criteria["response_match"], number | undefined>>, Settings<never>>>();
type Settings<Own> =
  | Own
  | "threshold"
  | "judge_model_options"
  | "judgeModelOptions"
  | "include_intermediate_responses_in_final"
  | "includeIntermediateResponsesInFinal";

// ---- every setting, in both spellings

const judge = {
  judgeModel: "gemini-2.5-pro",
  judgeModelConfig: { temperature: 0, topP: 1 },
  numSamples: 3,
  parallelismLimit: 2,
};
const judgeInSnakeCase = {
  judge_model: "m",
  judge_model_config: { max_output_tokens: 9, other: 1 },
  num_samples: 3,
  parallelism_limit: 2,
};
const rubric: Rubric = { rubricId: "price", rubricContent: { textProperty: "It names the price." } };
const rubrics = [{ rubric_id: "price", rubric_content: { text_property: "It names the price." } }];

export const criteria: Criteria = {
  tool_trajectory_avg_score: { threshold: 1, match_type: "IN_ORDER", ignore_args: true },
  tool_trajectory_score: { threshold: 1, matchType: "ANY_ORDER", ignoreArgs: true },
  tool_trajectory_f1: { threshold: 0.8, match_mode: "name_only", ordered: false },
  tool_parameter_match: {
    threshold: 0.8,
    matchMode: "name_and_args",
    ordered: false,
    default_strategy: "numeric",
    per_arg_strategies: { query: "contains" },
    numeric_tolerance: 0.1,
  },
  response_match_score: 0.8,
  response_match: { threshold: 0.8 },
  response_evaluation_score: { threshold: 4, judgeModelOptions: judge },
  safety_v1: { threshold: 1, judge_model_options: judgeInSnakeCase },
  safety: 1,
  final_response_match_v2: { threshold: 0.8, judgeModelOptions: judge, includeIntermediateResponsesInFinal: true },
  hallucinations_v1: { threshold: 0.8, evaluate_intermediate_nl_responses: true },
  per_turn_user_simulator_quality_v1: { threshold: 0.8, stop_signal: "bye", judge_model_options: judgeInSnakeCase },
  rubric_based_final_response_quality_v1: { threshold: 0.8, rubrics, include_intermediate_responses_in_final: true },
  rubric_based_tool_use_quality_v1: { threshold: 0.8, rubrics: [rubric] },
  rubric_based_multi_turn_trajectory_quality_v1: { threshold: 0.8, rubrics },
  multi_turn_task_success_v1: 0.5,
  multi_turn_trajectory_quality_v1: { threshold: 0.5, judgeModelOptions: { numSamples: 1 } },
  multi_turn_tool_use_quality_v1: 0.5,
};

export const config: EvalConfig = {
  $schema: "./config.schema.json",
  criteria,
  custom_metrics: { politeness: { code_config: { name: "./metrics.mjs#politeness" } } },
  user_simulator_config: { model: "gemini-2.5-pro", max_allowed_invocations: 5 },
  live_model_config: { timeout_seconds: 10 },
};

// As in google-adk every metric takes the settings of a judge, read or not.
export const named: Criteria = {
  [PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE]: { threshold: 1, judge_model_options: judgeInSnakeCase },
  [PrebuiltMetrics.SAFETY]: { threshold: 1, include_intermediate_responses_in_final: true },
};

// ---- metrics of one's own

export const own: Criteria = { politeness: 0.5, brevity: { threshold: 0.5, words: 10, inSentences: { of: 2 } } };

// ---- criteria that come from elsewhere

/** As TypeScript sees `import config from "./test_config.json"`. */
const json = {
  criteria: {
    tool_trajectory_avg_score: { threshold: 1, match_type: "IN_ORDER" },
    tool_parameter_match: { threshold: 1, per_arg_strategies: { query: "contains" } },
    politeness: 1,
  },
};
const thresholds: Record<string, number> = { response_match_score: 0.8 };
const loose: Record<string, number | Criterion> = { response_match_score: { threshold: 0.8 } };
const setting: Criterion = { threshold: 0.8 };

export async function uses(agent: () => string, set: EvalSetResult, unknownShape: object): Promise<void> {
  for (const given of [criteria, own, json.criteria, thresholds, loose, { response_match_score: setting }]) {
    await evaluate({ evalSet: "", actual: "", criteria: given });
    await evaluate({ evalSet: "", actual: "", config: { criteria: given } });
    withThresholds(set, given);
  }
  for (const given of [config, json, unknownShape, "{}", new Uint8Array(), { response_match_score: 0.8 }, thresholds]) {
    await evaluate({ evalSet: "", actual: "", config: given });
  }
  const found: Criteria = await AgentEvaluator.findConfigForTestFile<Criteria>("a.test.json");
  const numbers: Record<string, number> = await AgentEvaluator.findConfigForTestFile("a.test.json");
  await AgentEvaluator.evaluateEvalSet(agent, "", found);
  await AgentEvaluator.evaluateEvalSet(agent, "", numbers);
  await AgentEvaluator.evaluate(agent, "a.test.json", 1, undefined, { criteria: loose });
}

// ---- one metric

const metric: EvalMetric = { metricName: "politeness", criterion: { threshold: 1, words: 10 } };
export const evaluators = [
  new TrajectoryEvaluator(metric),
  new TrajectoryEvaluator({
    metricName: "tool_trajectory_avg_score",
    criterion: { match_type: "EXACT" },
    threshold: 1,
  }),
  new TrajectoryEvaluator({ metricName: "any name", criterion: setting }),
  new FinalResponseMatchV2Evaluator({
    metricName: PrebuiltMetrics.FINAL_RESPONSE_MATCH_V2,
    judgeModelOptions: judgeInSnakeCase,
  }),
  new MetricEvaluatorRegistry().getEvaluator(metric),
];

// ---- misspelt settings

export const misspelt: Criteria = {
  // @ts-expect-error it is `match_type`
  tool_trajectory_avg_score: { threshold: 1, match_typ: "IN_ORDER" },
  // @ts-expect-error it is `matchType`
  tool_trajectory_score: { threshold: 1, matchTyp: "IN_ORDER" },
  // @ts-expect-error it is `threshold`
  response_match_score: { treshold: 0.8 },
  // @ts-expect-error another metric's setting
  tool_trajectory_f1: { threshold: 1, matchType: "EXACT" },
  // @ts-expect-error it is `numSamples`
  final_response_match_v2: { threshold: 1, judgeModelOptions: { numSample: 3 } },
  // @ts-expect-error it is `rubric_content`
  rubric_based_tool_use_quality_v1: { threshold: 1, rubrics: [{ rubric_id: "a", rubric_contents: {} }] },
  // @ts-expect-error a tolerance is a number
  tool_parameter_match: { threshold: 1, numeric_tolerance: "0.1" },
  // @ts-expect-error it is always reported
  token_usage_v1: 100,
  // @ts-expect-error a criterion is a number or an object
  politeness: "0.5",
};

const files = { evalSet: "", actual: "" };
const tool = "tool_trajectory_avg_score";

export async function misspeltUses(agent: () => string, set: EvalSetResult): Promise<void> {
  // @ts-expect-error it is `matchType`
  await evaluate({ ...files, criteria: { tool_trajectory_avg_score: { matchTypes: "EXACT" } } });
  // @ts-expect-error it is `match_type`
  await evaluate({ ...files, config: { criteria: { tool_trajectory_avg_score: { match_types: "EXACT" } } } });
  // @ts-expect-error it is `user_simulator_config`
  await evaluate({ ...files, config: { criteria: {}, user_simulator_configs: {} } });
  // @ts-expect-error it is `ignoreArgs`
  await AgentEvaluator.evaluateEvalSet(agent, "", { tool_trajectory_avg_score: { ignoreArg: true } });
  // @ts-expect-error it is `ignoreArgs`
  await AgentEvaluator.evaluate(agent, "", 1, "", { criteria: { tool_trajectory_avg_score: { ignoreArg: true } } });
  // @ts-expect-error it is `threshold`
  withThresholds(set, { response_match_score: { treshold: 0.8 } });
  // @ts-expect-error it is `matchType`
  new TrajectoryEvaluator({ metricName: tool, criterion: { threshold: 1, matchTypes: "EXACT" } });
  // @ts-expect-error it is `default_strategy`
  new ToolParameterMatchEvaluator({ metricName: "tool_parameter_match", criterion: { strategy: "exact" } });
}
