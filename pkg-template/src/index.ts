export { evalSetToAdkJson, readEvalSet, resultsToAdkJson, resultsToAdkJsonChunks } from "./adk-schema.js";
export { compareRuns } from "./compare/runs.js";
export { type CheckedInputs, type CheckedMetric, checkInputs } from "./check-inputs.js";
export { EvalStatus, PrebuiltMetrics } from "./enums.js";
export { AdkMetricsError, type AdkMetricsErrorCode, type ErrorDetails } from "./errors.js";
export { type CallEstimate, estimateCalls, type JudgeEstimateRow } from "./estimate.js";
export { evaluate } from "./evaluate.js";
export { evaluateStream } from "./evaluate-stream.js";
export { type AdkEvaluatorClass, Evaluator, type EvaluatorClass, ResponseEvaluator } from "./evaluators.js";
export * from "./generated/evaluators.js";
export { finalText, toolCallsOf } from "./invocation.js";
export { knownScore } from "./known-score.js";
export { toolErrorOf, toolOutputsOf, type TurnEvent, type TurnEvents, turnEventsOf } from "./turn-events.js";
export * from "./judges/index.js";
export type { MetricAnswer, MetricFunction, TurnAnswer } from "./metric-function.js";
export { DEFAULT_METRIC_EVALUATOR_REGISTRY, MetricEvaluatorRegistry } from "./registry.js";
export { type Rouge, rouge1 } from "./rouge.js";
export type { Estimate, Variance } from "./statistics/estimates.js";
export { checkGates, type GateOutcome, type GateReport, type Gates } from "./statistics/gates.js";
export {
  type CaseMetricReliability,
  type CaseReliability,
  type MetricReliability,
  type NeededRuns,
  type PassEstimate,
  type Reliability,
  type ReliabilityOptions,
  reliabilityOf,
} from "./statistics/reliability.js";
export { readResults, resultLines } from "./stored-results.js";
export { withThresholds } from "./thresholds.js";
export type * from "./types.js";
export * from "./agents/index.js";
