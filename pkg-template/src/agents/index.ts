/** Running agents and evaluating them. */

import type { MetricInfo } from "../types.js";

export type {
  AdkAgent,
  AdkAgentBuilder,
  AdkApp,
  AdkBuiltAgent,
  AdkRunner,
  Agent,
  AgentAnswer,
  AgentEvent,
  AgentFunction,
  AgentTurn,
} from "./agent.js";
/** ADK-TS's name of what is known of a metric's values. */
export type MetricValueInfo = NonNullable<MetricInfo["metricValueInfo"]>;

export { AgentEvaluator, type AgentFileOptions } from "./agent-evaluator.js";
export {
  type EvaluateConfig,
  type InferenceRequest,
  LocalEvalService,
  type ScoringRequest,
} from "./local-eval-service.js";
export { type AgentEvaluationOptions, DEFAULT_CRITERIA } from "./options.js";
export { AgentEvaluationError, EvalResult, type EvaluationFailure } from "./results.js";
export type { AgentProgress, AgentRunOptions } from "./run.js";
export type { UserSimulatorOptions } from "./simulator.js";
