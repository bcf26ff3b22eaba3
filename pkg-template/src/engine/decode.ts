import type { EvalStatus } from "../enums.js";
import { type Columns, readColumns } from "../generated/columns.js";
import type { EngineError, HeaderMetric, RunHeader } from "../generated/contract.js";
import type { EvalCaseResult, EvalMetricResult, EvalMetricResultDetails, Invocation } from "../types.js";
import { explain } from "./explanation.js";
import { hosted } from "./hosted.js";
import { numberOrNone } from "./input.js";
import { memoryBuffer } from "./instance.js";
import type { InvocationSource, Span } from "./invocations.js";
import { NOT_IN_PLACE, type Sources, Turn, turnResult } from "./turn.js";

/** A case result, and what tells it from the others of its run. */
export interface DecodedCase {
  key: number;
  result: EvalCaseResult;
  /** Why the case could not be scored. */
  failure?: EngineError;
  /** Why single metrics could not be computed. */
  errors: EngineError[];
}

/** Why a case could not be scored. */
interface CaseFailure {
  error: EngineError;
  /** The same in words. */
  reason: string;
}

/** What is rare about a slot. */
interface Note {
  details?: EvalMetricResultDetails;
  error?: EngineError;
}

/**
 * What a poll found. It stands in the engine's memory: read it before the engine is called again. Only `spans` and `aborts`
 * are copies, since results keep the one, and the other is read after metrics of the user's own have begun.
 */
export interface Batch extends Omit<Columns, "waitUntil" | "next"> {
  waitUntil: number | undefined;
  isFinished: boolean;
  /** Whether there is more to do at once. */
  hasMore: boolean;
}

/** What comes after a batch, besides an answer to wait for. */
const FINISHED = 1;
const MORE = 2;

/** The batch of which a table says where everything is. */
export function readBatch(table: number): Batch {
  const { waitUntil, next, ...columns } = readColumns(memoryBuffer(), table);
  return {
    ...columns,
    spans: columns.spans.slice(),
    aborts: columns.aborts.slice(),
    waitUntil: numberOrNone(waitUntil),
    isFinished: next === FINISHED,
    hasMore: next === MORE,
  };
}

const NUMBERS_PER_CASE = 5;

/** What the last number of a case says. */
const SCORED = 1;
const CONTINUED = 2;

/** Reads the case results of a run's batches, one after the other: the results of a large case are in several. */
export class CaseDecoder {
  readonly #header: RunHeader;
  readonly #sources: Sources;
  /** The case whose other turns are in the next batch. */
  #open: DecodedCase | undefined;

  constructor(header: RunHeader, sources: Sources) {
    this.#header = header;
    this.#sources = sources;
  }

  /** The cases that are complete with this batch. */
  decode(batch: Batch): DecodedCase[] {
    const { cases, spans } = batch;
    if (cases.length === 0) return [];
    const columns = new Slots(batch, this.#header.metrics);
    const ids = slices(batch.ids, batch.idLengths);
    const texts = batch.texts as object[];
    let span = 0;
    let text = 0;

    const decoded: DecodedCase[] = [];
    for (let number = 0; number * NUMBERS_PER_CASE < cases.length; number += 1) {
      const at = number * NUMBERS_PER_CASE;
      const caseIndex = cases[at] as number;
      const run = cases[at + 1] as number;
      const turns = cases[at + 3] as number;
      const flags = cases[at + 4] as number;
      const scored = (flags & SCORED) !== 0;
      const one = this.#open ?? this.#begin(batch, number, ids, columns);
      const { evalMetricResultPerInvocation } = one.result;
      for (let left = turns; left > 0; left -= 1) {
        const turn = evalMetricResultPerInvocation.length;
        const of = new Turn(this.#sources, run - 1, caseIndex, turn, spans, span);
        if (spans[span] === NOT_IN_PLACE) of.actual = hosted(texts[text++] as object);
        if (spans[span + 2] === NOT_IN_PLACE) of.expected = hosted(texts[text++] as object);
        span += 4;
        evalMetricResultPerInvocation.push(turnResult(of, scored ? columns.next() : []));
      }
      this.#open = (flags & CONTINUED) === 0 ? undefined : one;
      if (this.#open === undefined) decoded.push(one);
    }
    return decoded;
  }

  /** A case without its turns. */
  #begin({ cases }: Batch, number: number, ids: readonly string[], columns: Slots): DecodedCase {
    const at = number * NUMBERS_PER_CASE;
    const firstSlot = columns.slot;
    const result: EvalCaseResult = {
      evalSetId: this.#header.evalSetId,
      evalId: ids[3 * number] as string,
      finalEvalStatus: cases[at + 2] as EvalStatus,
      overallEvalMetricResults: ((cases[at + 4] as number) & SCORED) === 0 ? [] : columns.next(),
      evalMetricResultPerInvocation: [],
      sessionId: ids[3 * number + 1] as string,
    };
    const userId = ids[3 * number + 2] as string;
    if (userId !== "") result.userId = userId;
    const key = (cases[at] as number) * 2 ** 26 + (cases[at + 1] as number);
    const one: DecodedCase = { key, result, errors: columns.errors(firstSlot) };
    const failure = columns.failureOf(number);
    if (failure !== undefined) {
      one.failure = failure.error;
      result.reason = failure.reason;
    }
    return one;
  }
}

/** A text cut into pieces of these lengths. */
function slices(text: string, lengths: Uint32Array): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (const length of lengths) pieces.push(text.slice(start, (start += length)));
  return pieces;
}

/** The slots of a batch, read from the first to the last. */
class Slots {
  slot = 0;
  readonly #metrics: readonly HeaderMetric[];
  readonly #scores: Float64Array;
  readonly #statuses: Uint8Array;
  readonly #reasons: Uint32Array;
  readonly #reasonTexts: string[];
  readonly #notes: Map<number, Note>;
  readonly #explained: Uint32Array;
  readonly #explanations: string;
  /** Where the next explanation stands in both. */
  #nextExplained = 0;
  #explanationStart = 0;
  /** Results that say nothing but why there is no score: one for all that are alike. */
  readonly #blanks: (EvalMetricResult | undefined)[] = [];

  constructor(batch: Batch, metrics: readonly HeaderMetric[]) {
    this.#metrics = metrics;
    this.#scores = batch.scores;
    this.#statuses = batch.statuses;
    this.#reasons = batch.reasons;
    this.#reasonTexts = batch.reasonTexts as string[];
    this.#notes = new Map(batch.notes as [number, Note][]);
    this.#explained = batch.explained;
    this.#explanations = batch.explanations;
  }

  /** The results of every metric for the next turn or conversation. */
  next(): EvalMetricResult[] {
    const results: EvalMetricResult[] = [];
    for (let metric = 0; metric < this.#metrics.length; metric += 1) results.push(this.#result(metric));
    return results;
  }

  /** Why metrics could not be computed, for the case whose slots begin here. */
  errors(firstSlot: number): EngineError[] {
    if (this.#notes.size === 0) return NO_ERRORS;
    return this.#metrics.flatMap((_, metric) => this.#notes.get(firstSlot + metric)?.error ?? []);
  }

  /** Why a case could not be scored. */
  failureOf(number: number): CaseFailure | undefined {
    return this.#notes.size === 0 ? undefined : (this.#notes.get(-1 - number) as CaseFailure | undefined);
  }

  #result(metric: number): EvalMetricResult {
    const slot = this.slot++;
    const score = this.#scores[slot] as number;
    const note = this.#notes.size === 0 ? undefined : this.#notes.get(slot);
    const explanation = this.#explanationOf(slot);
    if (Number.isNaN(score) && note === undefined && explanation === undefined) return this.#blank(metric, slot);
    const { metricName, threshold, criterion, judge } = this.#metrics[metric] as HeaderMetric;
    const result: EvalMetricResult = { metricName, evalStatus: this.#statuses[slot] as EvalStatus };
    if (threshold !== undefined) result.threshold = threshold;
    if (criterion !== undefined) result.criterion = criterion;
    if (!Number.isNaN(score)) result.score = score;
    const reason = this.#reasons[slot] as number;
    if (reason !== 0) result.reason = this.#reasonTexts[reason - 1] as string;
    if (note?.details !== undefined) result.details = note.details;
    if (explanation !== undefined) explain(result, explanation, judge?.panel);
    return result;
  }

  /** The explanation of a slot as JSON, if it has one; for slots in their order. */
  #explanationOf(slot: number): string | undefined {
    if (this.#explained[this.#nextExplained] !== slot) return undefined;
    const start = this.#explanationStart;
    this.#explanationStart += this.#explained[this.#nextExplained + 1] as number;
    this.#nextExplained += 2;
    return this.#explanations.slice(start, this.#explanationStart);
  }

  #blank(metric: number, slot: number): EvalMetricResult {
    const status = this.#statuses[slot] as number;
    const reason = this.#reasons[slot] as number;
    const key = (reason * this.#metrics.length + metric) * 8 + status;
    const known = this.#blanks[key];
    if (known !== undefined) return known;
    const { metricName, threshold, criterion } = this.#metrics[metric] as HeaderMetric;
    const result: EvalMetricResult = { metricName, evalStatus: status as EvalStatus };
    if (threshold !== undefined) result.threshold = threshold;
    if (criterion !== undefined) result.criterion = criterion;
    if (reason !== 0) result.reason = this.#reasonTexts[reason - 1] as string;
    return (this.#blanks[key] = Object.freeze(result));
  }
}

const NO_ERRORS: EngineError[] = [];

/** A metric of the user's own that the engine asks for. */
export interface HostTask {
  id: number;
  metric: number;
  case: number;
  run: number | null;
  actual: HostTurn[] | null;
  expected: HostTurn[] | null;
  scenario: object | null;
}

/** Where an invocation stands in its input, or the invocation itself. */
export type HostTurn = Span | Invocation;

/** The invocations of one side of a task. */
export function taskInvocations(
  turns: HostTurn[] | null,
  source: InvocationSource,
  conversation: number,
): Invocation[] {
  return (turns ?? []).map((turn, index) =>
    Array.isArray(turn) ? source.at(conversation, index, turn as Span) : hosted(turn),
  );
}
