/**
 * Between this package and others: what agents did, read from OpenTelemetry traces and from sessions; results as
 * OpenTelemetry events, and as scores of autoevals, openevals and Mastra; evaluators as their scorers.
 */

export { isTraces } from "./otlp.js";
export { asAutoevalsScorer, asMastraStep, asOpenevalsEvaluator, type ScoringEvaluator } from "./scorers.js";
export {
  type AutoevalsScore,
  emitEvaluationEvents,
  type EvaluationEvent,
  type EvaluationEventOptions,
  evaluationEvents,
  type EventSink,
  type MastraResult,
  type OpenevalsResult,
  toAutoevals,
  toMastra,
  toOpenevals,
} from "./scores.js";
export { readSessions, type SessionOptions } from "./sessions.js";
export { readTraces, type TracedConversation, type TracedRun, type TraceOptions, tracesToJson } from "./traces.js";
