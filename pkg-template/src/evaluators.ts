import { type DecodedCase, decodeCases, decodeHeader, readBatch } from "./engine/decode.js";
import { isObject, reading, toBytes, unexpected } from "./engine/input.js";
import { freeing } from "./engine/instance.js";
import { invocationsOf } from "./engine/invocations.js";
import { engineOptions, written } from "./run/options.js";
import { drive, type RunPlan } from "./run/run.js";
import { call } from "./engine/call.js";
import { PrebuiltMetrics } from "./enums.js";
import { AdkMetricsError, type EngineMistake, ofMistake, warningOf } from "./errors.js";
import { checkEvaluatorOptions } from "./known-options.js";
import { metricInfo } from "./metric-info.js";
import type {
  ConversationScenario,
  Criteria,
  EvalMetric,
  EvalMetricResult,
  EvaluationResult,
  EvaluatorOptions,
  Invocation,
  InvocationInput,
  JudgeProgress,
  MetricInfo,
  MetricRegistry,
  PerInvocationResult,
} from "./types.js";

/** Scores conversations. Extend it for a metric of your own. */
export abstract class Evaluator {
  /** The metric. A threshold is there unless the metric's info says that it needs none. */
  protected readonly metric: EvalMetric & { threshold: number };
  protected readonly options: EvaluatorOptions;

  constructor(metric: EvalMetric, options: EvaluatorOptions = {}) {
    this.metric = metric as EvalMetric & { threshold: number };
    this.options = options;
  }

  /**
   * Scores one conversation.
   *
   * @param actual What the agent did, turn by turn.
   * @param expected What was expected of it, turn by turn.
   * @param scenario The scenario, where the user was simulated.
   */
  abstract evaluateInvocations(
    actual: Invocation[],
    expected?: Invocation[],
    scenario?: ConversationScenario,
  ): Promise<EvaluationResult> | EvaluationResult;

  /** What is known of the metric without running it. */
  static getMetricInfo(_metricName?: string): MetricInfo {
    throw new AdkMetricsError("unknown_metric", "this evaluator has no static getMetricInfo() of its own");
  }
}

/** A class of evaluators, as the registry holds them. */
export interface EvaluatorClass {
  new (metric: EvalMetric, options?: EvaluatorOptions): Evaluator;
  /** What is known of the metric without running it. */
  getMetricInfo(metricName?: string): MetricInfo;
}

/** The settings of a metric. */
type SettingsOf<Name extends keyof Criteria> = Exclude<Criteria[Name], number | undefined>;

/** A metric that the engine computes. */
abstract class EngineEvaluator<Name extends keyof Criteria = string> extends Evaluator {
  /** The engine's name of the metric. */
  protected abstract readonly engineMetric: PrebuiltMetrics;

  // It is there for its types: a metric's own settings.
  constructor(metric: EvalMetric<SettingsOf<Name>>, options?: EvaluatorOptions) {
    super(metric, options);
  }

  /**
   * @throws {AdkMetricsError} if an input cannot be used, or where google-adk raises.
   */
  override async evaluateInvocations(
    actual: InvocationInput[],
    expected?: InvocationInput[],
    scenario?: ConversationScenario,
  ): Promise<EvaluationResult> {
    const metric = reading("metric", () => ({ ...this.metric, metricName: this.engineMetric }));
    return evaluateConversation(metric, { actual, expected, scenario }, this.options);
  }
}

/** `tool_trajectory_avg_score`: whether the expected tools were called with the expected arguments. */
export class TrajectoryEvaluator extends EngineEvaluator<"tool_trajectory_avg_score"> {
  protected override readonly engineMetric = PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE);
  }
}

/** `response_match_score`: the ROUGE-1 F-measure of the final responses. */
export class RougeEvaluator extends EngineEvaluator<"response_match_score"> {
  protected override readonly engineMetric = PrebuiltMetrics.RESPONSE_MATCH_SCORE;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.RESPONSE_MATCH_SCORE);
  }
}

/** ADK-TS's evaluator of two metrics: `response_evaluation_score`, and `response_match_score` by any other name. */
export class ResponseEvaluator extends EngineEvaluator<"response_evaluation_score" | "response_match_score"> {
  protected override get engineMetric(): PrebuiltMetrics {
    return responseMetric(reading("metric", () => this.metric.metricName));
  }
  static override getMetricInfo(metricName?: string): MetricInfo {
    return metricInfo(responseMetric(metricName));
  }
}

function responseMetric(metricName: string | undefined): PrebuiltMetrics {
  const { RESPONSE_EVALUATION_SCORE, RESPONSE_MATCH_SCORE } = PrebuiltMetrics;
  return metricName === RESPONSE_EVALUATION_SCORE ? RESPONSE_EVALUATION_SCORE : RESPONSE_MATCH_SCORE;
}

/** `tool_parameter_match`: how many arguments of the expected tool calls are right. */
export class ToolParameterMatchEvaluator extends EngineEvaluator<"tool_parameter_match"> {
  protected override readonly engineMetric = PrebuiltMetrics.TOOL_PARAMETER_MATCH;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.TOOL_PARAMETER_MATCH);
  }
}

/** `tool_trajectory_f1`: how many expected tool calls were made, and how few others. */
export class ToolTrajectoryF1Evaluator extends EngineEvaluator<"tool_trajectory_f1"> {
  protected override readonly engineMetric = PrebuiltMetrics.TOOL_TRAJECTORY_F1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.TOOL_TRAJECTORY_F1);
  }
}

/** `tool_call_count_v1`: tool calls a turn; informational. */
export class ToolCallCountV1Evaluator extends EngineEvaluator {
  protected override readonly engineMetric = PrebuiltMetrics.TOOL_CALL_COUNT_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.TOOL_CALL_COUNT_V1);
  }
}

/** `inference_call_count_v1`: model calls a turn; informational. */
export class InferenceCallCountV1Evaluator extends EngineEvaluator {
  protected override readonly engineMetric = PrebuiltMetrics.INFERENCE_CALL_COUNT_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.INFERENCE_CALL_COUNT_V1);
  }
}

/** `token_usage_v1`: tokens a turn; informational. */
export class TokenUsageV1Evaluator extends EngineEvaluator {
  protected override readonly engineMetric = PrebuiltMetrics.TOKEN_USAGE_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.TOKEN_USAGE_V1);
  }
}

/** `invocation_duration_v1`: seconds a turn; informational. */
export class InvocationDurationV1Evaluator extends EngineEvaluator {
  protected override readonly engineMetric = PrebuiltMetrics.INVOCATION_DURATION_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.INVOCATION_DURATION_V1);
  }
}

/** `final_response_match_v2`: whether the final response says what the expected one says; asks a judge. */
export class FinalResponseMatchV2Evaluator extends EngineEvaluator<"final_response_match_v2"> {
  protected override readonly engineMetric = PrebuiltMetrics.FINAL_RESPONSE_MATCH_V2;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.FINAL_RESPONSE_MATCH_V2);
  }
}

/** `rubric_based_final_response_quality_v1`: the share of rubrics that the final response meets; asks a judge. */
export class RubricBasedFinalResponseQualityV1Evaluator extends EngineEvaluator<"rubric_based_final_response_quality_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.RUBRIC_BASED_FINAL_RESPONSE_QUALITY_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.RUBRIC_BASED_FINAL_RESPONSE_QUALITY_V1);
  }
}

/** `rubric_based_tool_use_quality_v1`: the share of rubrics that the use of tools meets; asks a judge. */
export class RubricBasedToolUseV1Evaluator extends EngineEvaluator<"rubric_based_tool_use_quality_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.RUBRIC_BASED_TOOL_USE_QUALITY_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.RUBRIC_BASED_TOOL_USE_QUALITY_V1);
  }
}

/** `rubric_based_multi_turn_trajectory_quality_v1`: the share of rubrics that the whole conversation meets; asks a judge. */
export class RubricBasedMultiTurnTrajectoryEvaluator extends EngineEvaluator<"rubric_based_multi_turn_trajectory_quality_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.RUBRIC_BASED_MULTI_TURN_TRAJECTORY_QUALITY_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.RUBRIC_BASED_MULTI_TURN_TRAJECTORY_QUALITY_V1);
  }
}

/** `hallucinations_v1`: the share of sentences that the agent's context supports; asks a judge. */
export class HallucinationsV1Evaluator extends EngineEvaluator<"hallucinations_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.HALLUCINATIONS_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.HALLUCINATIONS_V1);
  }
}

/** `per_turn_user_simulator_quality_v1`: the share of simulated user turns that follow the plan; asks a judge. */
export class PerTurnUserSimulatorQualityV1 extends EngineEvaluator<"per_turn_user_simulator_quality_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.PER_TURN_USER_SIMULATOR_QUALITY_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.PER_TURN_USER_SIMULATOR_QUALITY_V1);
  }
}

/** `safety_v1`: whether the response is harmless; asks a judge, or Vertex AI. */
export class SafetyEvaluatorV1 extends EngineEvaluator<"safety_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.SAFETY_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.SAFETY_V1);
  }
}

/** `multi_turn_task_success_v1`: whether the conversation reached its goals; asks a judge, or Vertex AI. */
export class MultiTurnTaskSuccessV1Evaluator extends EngineEvaluator<"multi_turn_task_success_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.MULTI_TURN_TASK_SUCCESS_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.MULTI_TURN_TASK_SUCCESS_V1);
  }
}

/** `multi_turn_trajectory_quality_v1`: how good the path through the conversation is; asks a judge, or Vertex AI. */
export class MultiTurnTrajectoryQualityV1Evaluator extends EngineEvaluator<"multi_turn_trajectory_quality_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.MULTI_TURN_TRAJECTORY_QUALITY_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.MULTI_TURN_TRAJECTORY_QUALITY_V1);
  }
}

/** `multi_turn_tool_use_quality_v1`: how good the tool calls of the conversation are; asks a judge, or Vertex AI. */
export class MultiTurnToolUseQualityV1Evaluator extends EngineEvaluator<"multi_turn_tool_use_quality_v1"> {
  protected override readonly engineMetric = PrebuiltMetrics.MULTI_TURN_TOOL_USE_QUALITY_V1;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.MULTI_TURN_TOOL_USE_QUALITY_V1);
  }
}

/** One conversation, as an evaluator is given it. */
interface Conversation {
  actual: InvocationInput[];
  expected: InvocationInput[] | undefined;
  scenario: ConversationScenario | undefined;
}

async function evaluateConversation(
  metric: EvalMetric,
  { actual, expected, scenario }: Conversation,
  options: EvaluatorOptions,
): Promise<EvaluationResult> {
  if (!Array.isArray(actual)) throw unexpected("an array of invocations", actual, "actual");
  if (expected !== undefined && !Array.isArray(expected)) {
    throw unexpected("an array of invocations", expected, "expected");
  }
  if (isObject(options)) checkEvaluatorOptions(options);
  const bytes = {
    metric: toBytes(metric, "metric"),
    actual: toBytes(actual, "actual"),
    expected: expected === undefined ? undefined : toBytes(expected, "expected"),
    scenario: scenario === undefined ? undefined : toBytes(scenario, "scenario"),
  };
  const forEngine = written(engineOptions(options));
  const plan: RunPlan = {
    open: (engine) =>
      engine.EvalRun.ofInvocations(bytes.metric, bytes.actual, bytes.expected, bytes.scenario, forEngine),
    sources: {
      actual: invocationsOf({ inferences: actual }, bytes.actual),
      expected: invocationsOf({ inferences: expected }, bytes.expected ?? new Uint8Array()),
    },
    options,
    registry: NO_REGISTRY,
    hasLines: () => false,
  };
  const { only, warnings } = askedAtOnce(plan) ?? (await asked(plan));
  const { result, failure, errors } = only;
  const problem = failure ?? errors[0];
  if (problem !== undefined && problem.code !== "cancelled") throw ofMistake(problem, () => false);
  const overall = result.overallEvalMetricResults[0] as EvalMetricResult | undefined;
  const evaluation: EvaluationResult = {
    overallEvalStatus: overall?.evalStatus ?? result.finalEvalStatus,
    perInvocationResults: result.evalMetricResultPerInvocation.flatMap((turn) =>
      turn.evalMetricResults.map((found) => perInvocation(found, turn.actualInvocation, turn.expectedInvocation)),
    ),
  };
  if (overall?.score !== undefined) evaluation.overallScore = overall.score;
  const reason = overall?.reason ?? result.reason;
  if (reason !== undefined) evaluation.reason = reason;
  const { rubricScores, tokenUsageDetails, durationDetails } = overall?.details ?? {};
  if (rubricScores !== undefined) evaluation.overallRubricScores = rubricScores;
  if (tokenUsageDetails !== undefined) evaluation.overallTokenUsageDetails = tokenUsageDetails;
  if (durationDetails !== undefined) evaluation.overallDurationDetails = durationDetails;
  if (warnings.length > 0) evaluation.warnings = warnings.map((warning) => warningOf(warning, plan));
  return evaluation;
}

/** A conversation that was scored. */
interface Scored {
  only: DecodedCase;
  /** What may surprise in the inputs and the judge's settings. */
  warnings: readonly EngineMistake[];
}

/** The result of a metric that the engine answers in a single step; nothing if it has to ask. */
function askedAtOnce(plan: RunPlan): Scored | undefined {
  return call(plan, (engine) =>
    freeing(plan.open(engine), (run) => {
      const header = decodeHeader(run);
      if (header.metrics.some(({ judge }) => judge !== undefined)) return undefined;
      const [only] = decodeCases(readBatch(run.poll(0, 1)), header, plan.sources);
      return only && { only, warnings: header.warnings };
    }),
  );
}

async function asked(plan: RunPlan): Promise<Scored> {
  const { onProgress } = plan.options;
  const output = drive(plan);
  let only: DecodedCase | undefined;
  let judge: JudgeProgress | undefined;
  const warnings: EngineMistake[] = [];
  try {
    for (;;) {
      const next = await output.next();
      if (next.done === true) {
        warnings.push(...(next.value.judges?.warnings ?? []));
        return { only: only as DecodedCase, warnings };
      }
      if ("header" in next.value) {
        warnings.push(...next.value.header.warnings);
        continue;
      }
      if ("cases" in next.value) only ??= next.value.cases[0];
      else judge = next.value.judge;
      if (judge !== undefined) onProgress?.call(plan.options, { done: only === undefined ? 0 : 1, total: 1, judge });
    }
  } finally {
    await output.return({ cancelled: true });
  }
}

/** One metric of the engine needs no other. */
const NO_REGISTRY: MetricRegistry = {
  customMetricNames: () => [],
  getEvaluator: ({ metricName }) => {
    throw new AdkMetricsError("unknown_metric", metricName);
  },
};

function perInvocation(
  found: EvalMetricResult,
  actualInvocation: Invocation,
  expectedInvocation: Invocation | undefined,
): PerInvocationResult {
  const result: PerInvocationResult = { actualInvocation, evalStatus: found.evalStatus };
  if (expectedInvocation !== undefined) result.expectedInvocation = expectedInvocation;
  if (found.score !== undefined) result.score = found.score;
  if (found.reason !== undefined) result.reason = found.reason;
  if (found.explanation !== undefined) result.explanation = found.explanation;
  const { rubricScores, tokenUsageDetails, durationDetails } = found.details ?? {};
  if (rubricScores !== undefined) result.rubricScores = rubricScores;
  if (tokenUsageDetails !== undefined) result.tokenUsageDetails = tokenUsageDetails;
  if (durationDetails !== undefined) result.durationDetails = durationDetails;
  return result;
}
