/** Running agents and evaluating them. */

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
export { AgentEvaluator, type AgentFileOptions, type Criteria } from "./agent-evaluator.js";
export type { AgentEvaluationOptions } from "./evaluation.js";
export { type EvaluateConfig, type InferenceRequest, LocalEvalService } from "./local-eval-service.js";
export { AgentEvaluationError, type EvaluationFailure } from "./pooled.js";
export type { AgentRunOptions } from "./run.js";
export type { UserSimulatorOptions } from "./simulator.js";
