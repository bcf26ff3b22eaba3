import type { EvalStatus } from "./enums.js";
import type { AdkMetricsError } from "./errors.js";
import type {
  DurationDetails,
  EvalCase,
  EvalCaseResult as StoredCaseResult,
  EvalMetricResult as StoredMetricResult,
  EvalMetricResultDetails,
  EvalSet,
  EvalSetResult as StoredSetResult,
  Explanation,
  Invocation,
  Mistake,
  RubricScore,
  TokenUsageDetails,
} from "./generated/shapes.js";

export type {
  AlignmentEntry,
  AlignmentKind,
  Content,
  ConversationScenario,
  Difference,
  DurationDetails,
  EvalCase,
  EvalMetricResultDetails,
  EvalSet,
  Explanation,
  FunctionCall,
  FunctionResponse,
  IntermediateData,
  IntermediateSummary,
  Invocation,
  InvocationEvent,
  InvocationEvents,
  MatchedToken,
  Mistake,
  MistakeCode,
  Part,
  Rubric,
  RubricContent,
  RubricScore,
  SessionInput,
  TokenOverlap,
  TokenUsageDetails,
  UsageMetadata,
} from "./generated/shapes.js";

/** A file or a value that holds one: JSON text, its bytes (UTF-8), or the object itself. */
export type Input<T extends object> = string | Uint8Array | T | object;

/** Whose scores to give: google-adk 2.13.0's (the default), or those of `@iqai/adk` 0.5.9. */
export type Dialect = "adk-python" | "adk-ts";

/** Settings of a judge model. */
export interface JudgeModelOptions {
  judgeModel?: string;
  judgeModelConfig?: Record<string, unknown>;
  numSamples?: number;
  parallelismLimit?: number;
}

/** A metric's settings. `threshold` wins over the metric's; the others are each metric's own. */
export interface Criterion {
  threshold?: number;
  [setting: string]: unknown;
}

/** A metric with its settings. */
export interface EvalMetric {
  /** One of {@link PrebuiltMetrics}, or the name of a registered metric. */
  metricName: string;
  /** What the score has to reach. */
  threshold?: number;
  /** Further settings. */
  criterion?: Criterion;
  /** Settings of the judge model; the criterion's win. */
  judgeModelOptions?: JudgeModelOptions;
}

/** The range of a metric's values. */
export interface Interval {
  minValue: number;
  openAtMin: boolean;
  maxValue: number;
  openAtMax: boolean;
}

/** What is known of a metric without running it. */
export interface MetricInfo {
  metricName: string;
  description?: string;
  metricValueInfo?: { interval?: Interval };
  /** Whether it passes or fails; a metric that does not only informs. */
  requiresThreshold?: boolean;
}

/** How far a run is. */
export interface Progress {
  /** Case results that are there. */
  done: number;
  /** Case results there will be. */
  total: number;
}

/** How to evaluate. */
export interface EvaluatorOptions {
  /** Whose scores to give. Default: `adk-python`. */
  dialect?: Dialect;
  /** Which results get an `explanation`; the others cost nothing. Default: `all`. */
  explain?: "none" | "failures" | "all";
  /** How many metrics of your own are computed at a time. Default: 8. */
  concurrency?: number;
  /** How long one computation of a metric of your own may take, in milliseconds. Default: no limit. */
  timeoutMs?: number;
  /** Stops the evaluation; what is scored by then is returned. */
  signal?: AbortSignal;
  /** Called whenever case results arrive. What it throws ends the evaluation and passes through as it is. */
  onProgress?(progress: Progress): void;
}

/** What a metric found in one turn. */
export interface PerInvocationResult {
  actualInvocation: Invocation;
  expectedInvocation?: Invocation;
  score?: number;
  evalStatus: EvalStatus;
  rubricScores?: RubricScore[];
  tokenUsageDetails?: TokenUsageDetails;
  durationDetails?: DurationDetails;
  /** Why there is no score. */
  reason?: string;
  /** How the score came about. */
  explanation?: Explanation;
}

/** What a metric found in a conversation. */
export interface EvaluationResult {
  overallScore?: number;
  overallEvalStatus: EvalStatus;
  perInvocationResults: PerInvocationResult[];
  overallRubricScores?: RubricScore[];
  overallTokenUsageDetails?: TokenUsageDetails;
  overallDurationDetails?: DurationDetails;
  /** Why there is no score. */
  reason?: string;
}

/** What one metric found in a case or a turn. Results that only say why there is no score may be shared and frozen. */
export interface EvalMetricResult extends Omit<StoredMetricResult, "details"> {
  /** What the score is made of. */
  details?: EvalMetricResultDetails;
  /** Why there is no score. */
  reason?: string;
  /** How the score came about; for turns only. */
  explanation?: Explanation;
}

/** The results of one turn. */
export interface EvalMetricResultPerInvocation {
  /** What the agent did. Read from bytes it is parsed when first looked at. */
  actualInvocation: Invocation;
  /** What was expected of it. */
  expectedInvocation?: Invocation;
  /** One entry a metric. */
  evalMetricResults: EvalMetricResult[];
}

/** The results of one run of a case. */
export interface EvalCaseResult extends Omit<
  StoredCaseResult,
  "overallEvalMetricResults" | "evalMetricResultPerInvocation" | "evalSetFile"
> {
  evalSetId: string;
  evalId: string;
  sessionId: string;
  /** Each metric's result for the whole conversation. */
  overallEvalMetricResults: EvalMetricResult[];
  /** Each metric's result for each turn. */
  evalMetricResultPerInvocation: EvalMetricResultPerInvocation[];
  /** Why the case could not be scored. */
  reason?: string;
}

/** The results of an evalset. */
export interface EvalSetResult extends Omit<StoredSetResult, "evalCaseResults"> {
  evalCaseResults: EvalCaseResult[];
  /** When it was made, in seconds since 1970. */
  creationTimestamp: number;
  /** The version of this package. */
  engineVersion: string;
  /** The version of google-adk whose scores the `adk-python` dialect gives. */
  referenceVersion: string;
  dialect: Dialect;
  /** Whether the run was cancelled: then some results are NOT_EVALUATED for that reason. */
  cancelled?: boolean;
  /** What may surprise in the inputs. */
  warnings?: Mistake[];
}

/** What to evaluate. */
export interface EvaluateRequest extends EvaluatorOptions {
  /** What is expected: an evalset of any form. */
  evalSet: Input<EvalSet>;
  /** What the agent did: an evalset of actual conversations, evalset results, inference results, or sessions. */
  actual: Input<EvalSet | EvalSetResult>;
  /** An eval config. Without `config` and `criteria` ADK's default criteria apply; both together are an error. */
  config?: Input<{ criteria: Record<string, number | Criterion> }>;
  /** The criteria of a config alone: metric name to threshold or settings. Not together with `config`. */
  criteria?: Record<string, number | Criterion>;
  /** Where metrics of your own are found. Default: `DEFAULT_METRIC_EVALUATOR_REGISTRY`. */
  registry?: MetricRegistry;
  /** The cases to evaluate, by eval id. Default: all. */
  evalIds?: readonly string[];
  /** What an evalset in an old form, which has no id, is called. Default: `evalset`. */
  evalSetName?: string;
}

/** What `evaluate` needs of a registry. */
export interface MetricRegistry {
  /** The names of the metrics that are not the engine's own. */
  customMetricNames(): string[];
  getEvaluator(metric: EvalMetric): {
    evaluateInvocations(
      actual: Invocation[],
      expected?: Invocation[],
      scenario?: EvalCase["conversationScenario"],
    ): Promise<EvaluationResult> | EvaluationResult;
  };
}

export type { AdkMetricsError };
