export { evalSetToAdkJson, readEvalSet, resultsToAdkJson } from "./adk-schema.js";
export { EvalStatus, PrebuiltMetrics } from "./enums.js";
export { AdkMetricsError, type AdkMetricsErrorCode } from "./errors.js";
export { evaluate, evaluateStream } from "./evaluate.js";
export {
  Evaluator,
  type EvaluatorClass,
  InferenceCallCountV1Evaluator,
  InvocationDurationV1Evaluator,
  ResponseEvaluator,
  RougeEvaluator,
  TokenUsageV1Evaluator,
  ToolCallCountV1Evaluator,
  ToolParameterMatchEvaluator,
  ToolTrajectoryF1Evaluator,
  TrajectoryEvaluator,
} from "./evaluators.js";
export { DEFAULT_METRIC_EVALUATOR_REGISTRY, MetricEvaluatorRegistry } from "./registry.js";
export { type Rouge, rouge1 } from "./rouge.js";
export { withThresholds } from "./thresholds.js";
export type * from "./types.js";
