// The types of this package are compatible with the published types of the other packages.

import type { NotScorableOutcome, ScorerRunResult } from "@mastra/core/evals";
import { createScorer } from "@mastra/core/evals";
import type { Span } from "@opentelemetry/api";
import type { Logger, LogRecord } from "@opentelemetry/api-logs";
import type { Score, Scorer } from "autoevals";
import type { EvaluatorResult, SimpleEvaluator } from "openevals";
import { evaluate, type EvalCaseResult, type EvalSetResult, RougeEvaluator } from "adk-metrics";
import {
  asAutoevalsScorer,
  asMastraStep,
  asOpenevalsEvaluator,
  emitEvaluationEvents,
  type EvaluationEvent,
  type MastraResult,
  readSessions,
  readTraces,
  toAutoevals,
  toMastra,
  toOpenevals,
  tracesToJson,
} from "adk-metrics/interop";

export function emits(results: EvalSetResult, logger: Logger, span: Span): void {
  emitEvaluationEvents(results, logger);
  emitEvaluationEvents([results], span, { of: "turns", responseId: ({ invocationId }) => invocationId });
}

export const record = (event: EvaluationEvent): LogRecord => event;

export const scores = (result: EvalCaseResult): Score[] => toAutoevals(result);
export const results = (result: EvalCaseResult): EvaluatorResult[] => toOpenevals(result);

/** What a result of Mastra's has of its own, its step's types aside. */
type OfMastra = Pick<ScorerRunResult<{ generateScoreStepResult: number }>, "runId" | "score" | "notScorable">;
export const ofMastra = (result: MastraResult): { runId: string; score?: number; notScorable?: NotScorableOutcome } =>
  result;
export const runId = (result: EvalCaseResult): OfMastra["runId"][] => toMastra(result).map((one) => one.runId);

const rouge = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.8 });
export const scorer: Scorer<string, { input?: string }> = asAutoevalsScorer("rouge", rouge);
export const evaluator: SimpleEvaluator = asOpenevalsEvaluator("rouge", rouge);
export const mastra = createScorer({ id: "rouge", description: "Words in common" }).generateScore(asMastraStep(rouge));

export async function reads(evalSet: object, bytes: Uint8Array, session: object): Promise<void> {
  await evaluate({ evalSet, actual: readTraces(bytes, { evalIds: { session: "case" } }) });
  await evaluate({ evalSet, actual: tracesToJson(bytes, { evalIds: ({ sessionId }) => sessionId.slice(2) }) });
  await evaluate({ evalSet, actual: readSessions([session]) });
  // @ts-expect-error: a number is no trace.
  readTraces(7);
}

export function mixesUp(result: EvalCaseResult): unknown[] {
  // @ts-expect-error: a result of openevals is no score of autoevals.
  const autoevals: Score[] = toOpenevals(result);
  // @ts-expect-error: nor the other way round.
  const openevals: EvaluatorResult[] = toAutoevals(result);
  // @ts-expect-error: what a logger of OpenTelemetry takes has no such attribute.
  const emitted: LogRecord = { attributes: { when: () => 0 } };
  // @ts-expect-error: a step of Mastra's gives a number, or says why there is none.
  createScorer({ id: "rouge", description: "" }).generateScore(async () => "1");
  return [autoevals, openevals, emitted];
}
