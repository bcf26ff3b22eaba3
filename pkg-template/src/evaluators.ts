import { decodeCases, type Header } from "./engine/decode.js";
import { reading, toBytes, unexpected } from "./engine/input.js";
import { freeing } from "./engine/instance.js";
import { invocationsOf } from "./engine/invocations.js";
import { engineOptions } from "./engine/options.js";
import { call } from "./engine/call.js";
import { PrebuiltMetrics } from "./enums.js";
import { AdkMetricsError, ofMistake } from "./errors.js";
import { metricInfo } from "./metric-info.js";
import type {
  ConversationScenario,
  EvalMetric,
  EvalMetricResult,
  EvaluationResult,
  EvaluatorOptions,
  Invocation,
  MetricInfo,
  PerInvocationResult,
} from "./types.js";

/** Scores conversations. Extend it for a metric of your own. */
export abstract class Evaluator {
  protected readonly metric: EvalMetric;
  protected readonly options: EvaluatorOptions;

  constructor(metric: EvalMetric, options: EvaluatorOptions = {}) {
    this.metric = metric;
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
    throw new AdkMetricsError("unknown_metric", "getMetricInfo() must be implemented by subclass");
  }
}

/** A class of evaluators, as the registry holds them. */
export interface EvaluatorClass {
  new (metric: EvalMetric, options?: EvaluatorOptions): Evaluator;
  getMetricInfo(metricName?: string): MetricInfo;
}

/** A metric that the engine computes. */
abstract class EngineEvaluator extends Evaluator {
  /** The engine's name of the metric. */
  protected abstract readonly engineMetric: PrebuiltMetrics;

  /**
   * @throws {AdkMetricsError} if an input cannot be used, or where google-adk raises.
   */
  override async evaluateInvocations(
    actual: Invocation[],
    expected?: Invocation[],
    _scenario?: ConversationScenario,
  ): Promise<EvaluationResult> {
    const metric = reading("metric", () => ({ ...this.metric, metricName: this.engineMetric }));
    return evaluateConversation(metric, actual, expected, this.options);
  }
}

/** `tool_trajectory_avg_score`: whether the expected tools were called with the expected arguments. */
export class TrajectoryEvaluator extends EngineEvaluator {
  protected override readonly engineMetric = PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE);
  }
}

/** `response_match_score`: the ROUGE-1 F-measure of the final responses. */
export class RougeEvaluator extends EngineEvaluator {
  protected override readonly engineMetric = PrebuiltMetrics.RESPONSE_MATCH_SCORE;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.RESPONSE_MATCH_SCORE);
  }
}

/** `response_match_score` under ADK-TS's other name. */
export class ResponseEvaluator extends RougeEvaluator {}

/** `tool_parameter_match`: how many arguments of the expected tool calls are right. */
export class ToolParameterMatchEvaluator extends EngineEvaluator {
  protected override readonly engineMetric = PrebuiltMetrics.TOOL_PARAMETER_MATCH;
  static override getMetricInfo(): MetricInfo {
    return metricInfo(PrebuiltMetrics.TOOL_PARAMETER_MATCH);
  }
}

/** `tool_trajectory_f1`: how many expected tool calls were made, and how few others. */
export class ToolTrajectoryF1Evaluator extends EngineEvaluator {
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

/** The engine answers these metrics at once, in a single step. */
function evaluateConversation(
  metric: EvalMetric,
  actual: Invocation[],
  expected: Invocation[] | undefined,
  options: EvaluatorOptions,
): EvaluationResult {
  if (!Array.isArray(actual)) throw unexpected("an array of invocations", actual, "actual");
  if (expected !== undefined && !Array.isArray(expected)) {
    throw unexpected("an array of invocations", expected, "expected");
  }
  const bytes = {
    metric: toBytes(metric, "metric"),
    actual: toBytes(actual, "actual"),
    expected: expected === undefined ? undefined : toBytes(expected, "expected"),
  };
  const noLines = { hasLines: () => false };
  const { result, failure, errors } = call(noLines, (engine) => {
    const run = engine.EvalRun.ofInvocations(bytes.metric, bytes.actual, bytes.expected, engineOptions(options));
    return freeing(run, () =>
      freeing(run.poll(0, 1), (batch) => {
        const header = JSON.parse(run.header()) as Header;
        const sources = {
          actual: invocationsOf({ inferences: actual }, bytes.actual),
          expected: invocationsOf({ inferences: expected }, bytes.expected ?? new Uint8Array()),
        };
        const [only] = decodeCases(batch, header, sources);
        return only as NonNullable<typeof only>;
      }),
    );
  });
  const problem = failure ?? errors[0];
  if (problem !== undefined) throw ofMistake(problem, () => false);
  const overall = result.overallEvalMetricResults[0] as EvalMetricResult;
  const evaluation: EvaluationResult = {
    overallEvalStatus: overall.evalStatus,
    perInvocationResults: result.evalMetricResultPerInvocation.map((turn, index) =>
      perInvocation(turn.evalMetricResults[0] as EvalMetricResult, actual[index] as Invocation, expected?.[index]),
    ),
  };
  if (overall.score !== undefined) evaluation.overallScore = overall.score;
  if (overall.reason !== undefined) evaluation.reason = overall.reason;
  const { tokenUsageDetails, durationDetails } = overall.details ?? {};
  if (tokenUsageDetails !== undefined) evaluation.overallTokenUsageDetails = tokenUsageDetails;
  if (durationDetails !== undefined) evaluation.overallDurationDetails = durationDetails;
  return evaluation;
}

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
  const { tokenUsageDetails, durationDetails } = found.details ?? {};
  if (tokenUsageDetails !== undefined) result.tokenUsageDetails = tokenUsageDetails;
  if (durationDetails !== undefined) result.durationDetails = durationDetails;
  return result;
}
