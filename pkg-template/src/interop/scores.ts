/**
 * Results as others take them: OpenTelemetry's event `gen_ai.evaluation.result`, and the scores of autoevals, openevals
 * and Mastra. All shapes are structural: none of these packages is imported. Nothing is scored here.
 */

import { checkOptions } from "../known-options.js";
import { isObject, unexpected, reading } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { SCALES, UNITS } from "../generated/metrics.js";
import { isUnreported, reasonOf } from "../metric-info.js";
import { canonicalName } from "../metric-names.js";
import { AdkMetricsError } from "../errors.js";
import { type DifferenceLine, failuresOf, type MetricFailure, type TurnFailure } from "../report/difference.js";
import { listOf, type Results } from "../report/results.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult, Invocation } from "../types.js";
import { definedProperties } from "../lists.js";

/** A metric's result, for a case or for one of its turns. */
interface Line {
  metric: EvalMetricResult;
  /** Why it did not pass; absent if it did. */
  why: string | undefined;
  /** The turn, counted from 0; absent for the whole case. */
  turn?: number;
  invocation?: Invocation;
}

/** @throws {AdkMetricsError} `invalid_input` for anything but the result of a case. */
function checkCase(result: unknown): void {
  const isCase = reading(
    "result",
    () => isObject(result) && Array.isArray((result as Partial<EvalCaseResult>).overallEvalMetricResults),
  );
  if (isCase) return;
  const { message } = unexpected("the result of a case", result, "result");
  const help = "Pass one of the `evalCaseResults` of evaluate() or readResults()";
  throw new AdkMetricsError("invalid_input", message, { path: "result", help });
}

function linesOfCase(result: EvalCaseResult): Line[] {
  const failures = new Map(failuresOf(result).map((failure) => [failure.metric, failure]));
  return result.overallEvalMetricResults.map((metric) => ({
    metric: known(metric),
    why: whyOf(metric, failures.get(metric)),
  }));
}

function linesOfTurns(result: EvalCaseResult): Line[] {
  const failures = new Map(failuresOf(result).flatMap(({ turns }) => turns.map((turn) => [turn.metric, turn])));
  return result.evalMetricResultPerInvocation.flatMap(({ actualInvocation, evalMetricResults }, turn) =>
    evalMetricResults.map((metric) => ({
      metric: known(metric),
      why: whyOf(metric, failures.get(metric)),
      turn,
      invocation: actualInvocation,
    })),
  );
}

/** A result without a score that is not known. */
function known(metric: EvalMetricResult): EvalMetricResult {
  const { score, ...rest } = metric;
  return score === undefined || isUnreported(metric) ? rest : metric;
}

/** The reason that there is no score, or what is not as it should be, line by line. */
function whyOf(metric: EvalMetricResult, failure: MetricFailure | TurnFailure | undefined): string | undefined {
  const reason = reasonOf(metric);
  if (reason !== undefined || failure === undefined) return reason;
  const turns = "turns" in failure ? failure.turns : [];
  const lines = [
    ...failure.lines.map(textOf),
    ...turns.flatMap(({ turn, lines: own }) => [`Turn ${turn}`, ...own.map(textOf)]),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

function textOf({ mark, text }: DifferenceLine): string {
  return mark === "expected" ? `- ${text}` : mark === "actual" ? `+ ${text}` : text;
}

/** OpenTelemetry's event of a result; a log record as it is. */
export interface EvaluationEvent {
  eventName: "gen_ai.evaluation.result";
  /** Milliseconds since 1970. */
  timestamp: number;
  /** 9: INFO. */
  severityNumber: 9;
  attributes: Record<string, string | number>;
}

/** Which events are made, and what is known of what was evaluated. */
export interface EvaluationEventOptions {
  /** Whether there is one for each metric of a case, of a turn, or of both. Default: `both`. */
  of?: "cases" | "turns" | "both";
  /** `gen_ai.response.id`: the id of the model's response that a turn ended with. */
  responseId?(invocation: Invocation): string | undefined;
}

/**
 * The events of results: the metric's name, its score, its label (`pass`, `fail`, or none for what only informs), why it
 * did not pass, and what it is about. Where there is no score because a metric was not evaluated, `error.type` is
 * `not_evaluated`.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 */
export function evaluationEvents(results: Results, options: EvaluationEventOptions = {}): EvaluationEvent[] {
  checkOptions(options, ["of", "responseId"]);
  return reading("results", () => {
    const { of = "both" } = options;
    if (!["cases", "turns", "both"].includes(of)) throw unexpected('"cases", "turns" or "both"', of, "options: of");
    return listOf(results).flatMap((set) =>
      set.evalCaseResults.flatMap((result) => {
        const lines = [...(of === "turns" ? [] : linesOfCase(result)), ...(of === "cases" ? [] : linesOfTurns(result))];
        return lines.map((line) => eventOf(set, result, line, options));
      }),
    );
  });
}

const LABELS: Partial<Record<EvalStatus, string>> = { [EvalStatus.PASSED]: "pass", [EvalStatus.FAILED]: "fail" };

function eventOf(
  { evalSetId, creationTimestamp }: EvalSetResult,
  { evalId, sessionId }: EvalCaseResult,
  { metric, why, turn, invocation }: Line,
  { responseId }: EvaluationEventOptions,
): EvaluationEvent {
  const { metricName, score, evalStatus, threshold } = metric;
  const attributes = {
    "gen_ai.evaluation.name": metricName,
    "gen_ai.evaluation.score.value": score,
    "gen_ai.evaluation.score.label": LABELS[evalStatus],
    "gen_ai.evaluation.explanation": why,
    "gen_ai.conversation.id": sessionId,
    "gen_ai.response.id": invocation === undefined ? undefined : responseId?.(invocation),
    "error.type": evalStatus === EvalStatus.NOT_EVALUATED ? "not_evaluated" : undefined,
    "adk_metrics.eval_set_id": evalSetId,
    "adk_metrics.eval_id": evalId,
    "adk_metrics.threshold": threshold,
    "adk_metrics.turn": turn,
    "adk_metrics.invocation_id": invocation?.invocationId,
  };
  const known = Object.entries(attributes).filter((entry): entry is [string, string | number] => {
    return entry[1] !== undefined && entry[1] !== null && entry[1] !== "";
  });
  return {
    eventName: "gen_ai.evaluation.result",
    timestamp: creationTimestamp * 1000,
    severityNumber: 9,
    attributes: Object.fromEntries(known),
  };
}

/** Where events go: a `Logger` of OpenTelemetry, or a `Span`, whose events they become. */
export type EventSink =
  | {
      /** Takes an event. */
      emit(record: EvaluationEvent): void;
    }
  | {
      /** Takes an event. */
      addEvent(name: string, attributes: Record<string, string | number>): unknown;
    };

/**
 * Emits the events of results. They belong to the span in whose context a logger is called, or to the span given.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results and a sink; what the sink throws passes through.
 *
 * @example
 * emitEvaluationEvents(await evaluate(request), logs.getLogger("evaluation"));
 */
export function emitEvaluationEvents(results: Results, sink: EventSink, options: EvaluationEventOptions = {}): void {
  reading("sink", () => {
    const { emit, addEvent } = (isObject(sink) ? sink : {}) as Readonly<Record<string, unknown>>;
    if (typeof emit !== "function" && typeof addEvent !== "function") {
      throw unexpected("a Logger or a Span of OpenTelemetry", sink, "sink");
    }
  });
  for (const event of evaluationEvents(results, options)) {
    if ("emit" in sink) sink.emit(event);
    else sink.addEvent(event.eventName, event.attributes);
  }
}

/** A score of autoevals, which Braintrust logs. */
export interface AutoevalsScore {
  name: string;
  /** From 0 to 1; null where there is none, or none in this range: then it is in `metadata.value`. */
  score: number | null;
  metadata: Record<string, unknown>;
}

/**
 * A case's metrics as scores of autoevals.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but the result of a case.
 */
export function toAutoevals(result: EvalCaseResult): AutoevalsScore[] {
  checkCase(result);
  return linesOfCase(result).map((line) => autoevalsScore(line.metric, metadataOf(result, line)));
}

/**
 * A score of autoevals.
 *
 * @param metric The metric whose score it is, where it is called otherwise.
 */
export function autoevalsScore(
  { metricName, score }: Scored,
  metadata: Record<string, unknown>,
  metric = metricName,
): AutoevalsScore {
  // A single call, or the lowest grade of a scale that begins at 1, would look like the best score.
  const isOther = [UNITS, SCALES].some((known) => Object.hasOwn(known, canonicalName(metric)));
  const fits = score !== undefined && score >= 0 && score <= 1 && !isOther;
  const value = score === undefined || fits ? {} : { value: score };
  return { name: metricName, score: fits ? score : null, metadata: { ...metadata, ...value } };
}

type Scored = Pick<EvalMetricResult, "metricName" | "score">;

function metadataOf({ evalId, sessionId }: EvalCaseResult, { metric, why }: Line): Record<string, unknown> {
  const { evalStatus, threshold } = metric;
  return {
    evalId,
    sessionId,
    status: EvalStatus[evalStatus],
    ...definedProperties({ threshold }),
    ...(why === undefined ? {} : { reason: why }),
  };
}

/** A result of openevals, which LangSmith takes as feedback. */
export interface OpenevalsResult {
  key: string;
  score: number;
  comment?: string;
  metadata: Record<string, unknown>;
}

/**
 * A case's metrics as results of openevals. What has no score is left out: openevals has no word for it.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but the result of a case.
 */
export function toOpenevals(result: EvalCaseResult): OpenevalsResult[] {
  checkCase(result);
  return linesOfCase(result).flatMap((line) => {
    const { metricName: key, score } = line.metric;
    if (score === undefined) return [];
    const comment = line.why === undefined ? {} : { comment: line.why };
    return { key, score, ...comment, metadata: metadataOf(result, line) };
  });
}

/** What a scorer of Mastra found in a run. */
export interface MastraResult {
  scorerId: string;
  runId: string;
  /** Absent where there is none; `notScorable` says why. */
  score?: number;
  reason?: string;
  notScorable?: { step: "generateScore"; reason?: string };
}

/**
 * A case's metrics as results of Mastra's scorers; the run is the session.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but the result of a case.
 */
export function toMastra(result: EvalCaseResult): MastraResult[] {
  checkCase(result);
  return linesOfCase(result).map(({ metric: { metricName, score }, why }) => {
    const reason = why === undefined ? {} : { reason: why };
    const ids = { scorerId: metricName, runId: result.sessionId };
    if (score === undefined) return { ...ids, notScorable: { step: "generateScore", ...reason } };
    return { ...ids, score, ...reason };
  });
}
