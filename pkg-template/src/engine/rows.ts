/** Case results as rows over columns: what a row says of metrics and turns is made when it is looked at, and kept then. */

import type { EvalStatus } from "../enums.js";
import {
  CASE_FLAGS,
  CASE_INDEX,
  CASE_RUN,
  CASE_STATUS,
  CASE_TURNS,
  FLAG_CONTINUED,
  FLAG_SCORED,
  NUMBERS_PER_CASE,
} from "../generated/columns.js";
import type { EngineError, HeaderMetric } from "../generated/contract.js";
import type {
  EvalCaseResult,
  EvalMetricResult,
  EvalMetricResultDetails,
  EvalMetricResultPerInvocation,
} from "../types.js";
import type { Batch } from "./decode.js";
import { explain } from "./explanation.js";
import { hosted } from "./hosted.js";
import { Marks } from "./marks.js";
import { NOT_IN_PLACE, type Sources, Turn, turnResult } from "./turn.js";

/** What the columns of a batch say of its cases, by row. */
export class CaseNumbers {
  readonly #numbers: Uint32Array;

  constructor(numbers: Uint32Array) {
    this.#numbers = numbers;
  }

  get count(): number {
    return this.#numbers.length / NUMBERS_PER_CASE;
  }

  caseIndex(row: number): number {
    return this.#of(row, CASE_INDEX);
  }

  /** The number of the run, from 1; 0 without one. */
  run(row: number): number {
    return this.#of(row, CASE_RUN);
  }

  status(row: number): EvalStatus {
    return this.#of(row, CASE_STATUS);
  }

  /** How many turns of it are in this batch. */
  turns(row: number): number {
    return this.#of(row, CASE_TURNS);
  }

  isScored(row: number): boolean {
    return (this.#of(row, CASE_FLAGS) & FLAG_SCORED) !== 0;
  }

  /** Whether its other turns are in the next batch. */
  isUnfinished(row: number): boolean {
    return (this.#of(row, CASE_FLAGS) & FLAG_CONTINUED) !== 0;
  }

  #of(row: number, which: number): number {
    return this.#numbers[row * NUMBERS_PER_CASE + which] as number;
  }
}

/** What is rare about a slot. */
interface Note {
  details?: EvalMetricResultDetails;
  error?: EngineError;
}

/** Why a case could not be scored. */
export interface CaseFailure {
  error: EngineError;
  /** The same in words. */
  reason: string;
}

/** Where the slots, the spans and the texts of each row begin. */
interface Starts {
  readonly slots: Uint32Array;
  readonly spans: Uint32Array;
  readonly texts: Uint32Array;
}

/** The columns of a batch, copied out of the engine's memory. */
export class Rows {
  readonly cases: CaseNumbers;
  readonly #metrics: readonly HeaderMetric[];
  readonly #sources: Sources;
  /** Whether the first row goes on with a case whose results for the conversation were in an earlier batch. */
  readonly #continues: boolean;
  readonly #spans: Uint32Array;
  readonly #scores: Float64Array;
  readonly #statuses: Uint8Array;
  readonly #reasons: Uint32Array | Uint8Array;
  readonly #reasonTexts: string[];
  readonly #notes: ReadonlyMap<number, Note>;
  readonly #texts: object[];
  readonly #explained: Uint32Array;
  readonly #explanations: string;
  #explanationAt: Map<number, readonly [start: number, end: number]> | undefined;
  #starts: Starts | undefined;
  /** Results that say nothing but why there is no score: one for all that are alike. */
  readonly #blanks: (EvalMetricResult | undefined)[] = [];

  constructor(batch: Batch, metrics: readonly HeaderMetric[], sources: Sources, continues: boolean) {
    this.#metrics = metrics;
    this.#sources = sources;
    this.#continues = continues;
    this.cases = new CaseNumbers(batch.cases.slice());
    this.#spans = batch.spans;
    this.#scores = batch.scores.slice();
    this.#statuses = batch.statuses.slice();
    this.#reasonTexts = batch.reasonTexts as string[];
    // Most batches have a few reasons, and memory counts.
    this.#reasons = this.#reasonTexts.length < 2 ** 8 ? new Uint8Array(batch.reasons) : batch.reasons.slice();
    this.#notes = batch.notes.length === 0 ? NO_NOTES : new Map(batch.notes as [number, Note][]);
    this.#texts = batch.texts as object[];
    this.#explained = batch.explained.slice();
    this.#explanations = batch.explanations;
  }

  /** The results of every metric for the conversation of a row. */
  ofConversation(row: number): EvalMetricResult[] {
    return this.cases.isScored(row) ? this.#results(this.#begin().slots[row] as number) : [];
  }

  /** The turns of a row. Others may have been in earlier batches. */
  turns(row: number, before = 0): EvalMetricResultPerInvocation[] {
    const { slots, spans, texts } = this.#begin();
    const [index, run, turns] = [this.cases.caseIndex(row), this.cases.run(row), this.cases.turns(row)];
    const isScored = this.cases.isScored(row);
    let slot = (slots[row] as number) + (isScored && this.#hasConversation(row) ? this.#metrics.length : 0);
    let span = spans[row] as number;
    let text = texts[row] as number;
    const results: EvalMetricResultPerInvocation[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const of = new Turn(this.#sources, run - 1, index, before + turn, this.#spans, span);
      if (this.#spans[span] === NOT_IN_PLACE) of.actual = hosted(this.#texts[text++] as object);
      if (this.#spans[span + 2] === NOT_IN_PLACE) of.expected = hosted(this.#texts[text++] as object);
      span += NUMBERS_PER_TURN;
      results.push(turnResult(of, isScored ? this.#results(slot) : []));
      slot += this.#metrics.length;
    }
    return results;
  }

  /** Why metrics could not be computed for the conversation of a row. */
  errors(row: number): EngineError[] {
    if (this.#notes.size === 0 || !this.cases.isScored(row)) return NO_ERRORS;
    const slot = this.#begin().slots[row] as number;
    return this.#metrics.flatMap((_, metric) => this.#notes.get(slot + metric)?.error ?? []);
  }

  /** Why a case could not be scored. */
  failureOf(row: number): CaseFailure | undefined {
    return this.#notes.get(-1 - row) as CaseFailure | undefined;
  }

  /** Whether the results for the conversation of a row are here. */
  #hasConversation(row: number): boolean {
    return row > 0 || !this.#continues;
  }

  #begin(): Starts {
    if (this.#starts !== undefined) return this.#starts;
    const { count } = this.cases;
    const starts = { slots: new Uint32Array(count), spans: new Uint32Array(count), texts: new Uint32Array(count) };
    let [slot, span, text] = [0, 0, 0];
    for (let row = 0; row < count; row += 1) {
      starts.slots[row] = slot;
      starts.spans[row] = span;
      starts.texts[row] = text;
      const turns = this.cases.turns(row);
      if (this.cases.isScored(row)) slot += this.#metrics.length * (turns + (this.#hasConversation(row) ? 1 : 0));
      for (const end = span + turns * NUMBERS_PER_TURN; span < end; span += 2) {
        if (this.#spans[span] === NOT_IN_PLACE) text += 1;
      }
    }
    return (this.#starts = starts);
  }

  #results(first: number): EvalMetricResult[] {
    return this.#metrics.map((metric, at) => this.#result(metric, at, first + at));
  }

  #result(of: HeaderMetric, metric: number, slot: number): EvalMetricResult {
    const score = this.#scores[slot] as number;
    const note = this.#notes.get(slot);
    const explanation = this.#explanationOf(slot);
    const isBlank = Number.isNaN(score) && note === undefined && explanation === undefined;
    const status = this.#statuses[slot] as number;
    const reason = this.#reasons[slot] as number;
    const key = (reason * this.#metrics.length + metric) * 8 + status;
    const known = isBlank ? this.#blanks[key] : undefined;
    if (known !== undefined) return known;
    const result: EvalMetricResult = { metricName: of.metricName, evalStatus: status as EvalStatus };
    if (of.threshold !== undefined) result.threshold = of.threshold;
    if (of.criterion !== undefined) result.criterion = of.criterion;
    if (!Number.isNaN(score)) result.score = score;
    if (reason !== 0) result.reason = this.#reasonTexts[reason - 1] as string;
    if (isBlank) return (this.#blanks[key] = Object.freeze(result));
    if (note?.details !== undefined) result.details = note.details;
    if (explanation !== undefined) explain(result, explanation, of.judge?.panel);
    return result;
  }

  /** The explanation of a slot as JSON, if it has one. */
  #explanationOf(slot: number): string | undefined {
    if (this.#explained.length === 0) return undefined;
    this.#explanationAt ??= placesOf(this.#explained);
    const place = this.#explanationAt.get(slot);
    return place && this.#explanations.slice(...place);
  }
}

const NUMBERS_PER_TURN = 4;
const NO_ERRORS: EngineError[] = [];
const NO_NOTES: ReadonlyMap<number, Note> = new Map();

/** The position of each slot's explanation. */
function placesOf(explained: Uint32Array): Map<number, readonly [start: number, end: number]> {
  const places = new Map<number, readonly [start: number, end: number]>();
  let end = 0;
  for (let at = 0; at < explained.length; at += 2) {
    places.set(explained[at] as number, [end, (end += explained[at + 1] as number)]);
  }
  return places;
}

/** What a case result says itself. */
type Said = Pick<EvalCaseResult, "evalSetId" | "evalId" | "finalEvalStatus" | "sessionId">;

type Made = Pick<EvalCaseResult, "overallEvalMetricResults" | "evalMetricResultPerInvocation">;

/** Notes on a case result which row it is, where neither comparisons nor copies see it. */
class RowMark extends Marks {
  readonly #rows: Rows;
  readonly #row: number;
  #overall: EvalMetricResult[] | undefined = undefined;
  #turns: EvalMetricResultPerInvocation[] | undefined = undefined;

  constructor(result: object, rows: Rows, row: number) {
    super(result);
    this.#rows = rows;
    this.#row = row;
  }

  static overallOf(result: object): EvalMetricResult[] | undefined {
    return #row in result ? (result.#overall ??= result.#rows.ofConversation(result.#row)) : undefined;
  }

  static turnsOf(result: object): EvalMetricResultPerInvocation[] | undefined {
    return #row in result ? (result.#turns ??= result.#rows.turns(result.#row)) : undefined;
  }
}

/** A property that is the same for all rows, since a getter of each would cost more than all the rest. */
function property<Key extends keyof Made>(key: Key, make: (row: object) => Made[Key] | undefined): PropertyDescriptor {
  return {
    get(this: object) {
      return make(this);
    },
    set(this: object, value: unknown) {
      Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  };
}

const OVERALL_OF_ROW = property("overallEvalMetricResults", (row) => RowMark.overallOf(row));
const TURNS_OF_ROW = property("evalMetricResultPerInvocation", (row) => RowMark.turnsOf(row));

/** Shows a row's values in consoles, instead of getters. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");
const SHOWN: PropertyDescriptor = {
  value(this: object) {
    return { ...this };
  },
  enumerable: false,
  configurable: true,
  writable: true,
};

/** Makes rows of one shape that contain their values. */
const PlainRow = function (this: EvalCaseResult, { evalSetId, evalId, finalEvalStatus, sessionId }: Said) {
  this.evalSetId = evalSetId;
  this.evalId = evalId;
  this.finalEvalStatus = finalEvalStatus;
  Object.defineProperty(this, "overallEvalMetricResults", OVERALL_OF_ROW);
  Object.defineProperty(this, "evalMetricResultPerInvocation", TURNS_OF_ROW);
  this.sessionId = sessionId;
  Object.defineProperty(this, INSPECT, SHOWN);
} as unknown as new (said: Said) => EvalCaseResult;
PlainRow.prototype = Object.prototype;

/** A case result, whose metrics and turns are own properties that are made when they are looked at. */
export function caseResult(said: Said, rows: Rows, row: number): EvalCaseResult {
  const result = new PlainRow(said);
  new RowMark(result, rows, row);
  return result;
}
