export { evalSetToAdkJson, readEvalSet, resultsToAdkJson, resultsToAdkJsonChunks } from "./adk-schema.js";
export { compareRuns } from "./compare/runs.js";
export { EvalStatus, PrebuiltMetrics } from "./enums.js";
export { AdkMetricsError, type AdkMetricsErrorCode, type ErrorDetails } from "./errors.js";
export { evaluate, evaluateStream } from "./evaluate.js";
export {
  Evaluator,
  type EvaluatorClass,
  FinalResponseMatchV2Evaluator,
  HallucinationsV1Evaluator,
  InferenceCallCountV1Evaluator,
  InvocationDurationV1Evaluator,
  MultiTurnTaskSuccessV1Evaluator,
  MultiTurnToolUseQualityV1Evaluator,
  MultiTurnTrajectoryQualityV1Evaluator,
  PerTurnUserSimulatorQualityV1,
  ResponseEvaluator,
  RougeEvaluator,
  RubricBasedFinalResponseQualityV1Evaluator,
  RubricBasedMultiTurnTrajectoryEvaluator,
  RubricBasedToolUseV1Evaluator,
  SafetyEvaluatorV1,
  TokenUsageV1Evaluator,
  ToolCallCountV1Evaluator,
  ToolParameterMatchEvaluator,
  ToolTrajectoryF1Evaluator,
  TrajectoryEvaluator,
} from "./evaluators.js";
export { finalText, toolCallsOf } from "./invocation.js";
export * from "./judges/index.js";
export type { MetricAnswer, MetricFunction, TurnAnswer } from "./metric-function.js";
export { DEFAULT_METRIC_EVALUATOR_REGISTRY, MetricEvaluatorRegistry } from "./registry.js";
export { type Rouge, rouge1 } from "./rouge.js";
export { withThresholds } from "./thresholds.js";
export type * from "./types.js";
export * from "./agents/index.js";
