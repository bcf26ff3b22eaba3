import { type Columns, readColumns, STEP_FINISHED, STEP_MORE } from "../generated/columns.js";
import type { EngineError, RunHeader } from "../generated/contract.js";
import type { EvalCaseResult, Invocation } from "../types.js";
import { hosted } from "./hosted.js";
import { numberOrNone } from "./input.js";
import { memoryBuffer } from "./instance.js";
import type { InvocationSource, Span } from "./invocations.js";
import { caseResult, Rows } from "./rows.js";
import type { Sources } from "./turn.js";

/** A case result, and what tells it from the others of its run. */
export interface DecodedCase {
  key: number;
  result: EvalCaseResult;
  /** Why the case could not be scored. */
  failure?: EngineError;
  /** Why single metrics could not be computed. */
  errors: EngineError[];
}

/**
 * What a poll found. It is in the engine's memory: read it before the engine is called again. Only `spans` and `aborts`
 * are copies, since results keep the one, and the other is read after custom metrics have begun.
 */
export interface Batch extends Omit<Columns, "waitUntil" | "next"> {
  waitUntil: number | undefined;
  isFinished: boolean;
  /** Whether there is more to do at once. */
  hasMore: boolean;
}

/** The batch whose table is at an address. */
export function readBatch(table: number): Batch {
  const { waitUntil, next, ...columns } = readColumns(memoryBuffer(), table);
  return {
    ...columns,
    spans: columns.spans.slice(),
    aborts: columns.aborts.slice(),
    waitUntil: numberOrNone(waitUntil),
    isFinished: next === STEP_FINISHED,
    hasMore: next === STEP_MORE,
  };
}

/** Reads the case results of a run's batches, one after the other: the results of a large case are in several. */
export class CaseDecoder {
  readonly #header: RunHeader;
  readonly #sources: Sources;
  readonly #reworded: ((reason: string) => string) | undefined;
  /** The case whose other turns are in the next batch. */
  #open: DecodedCase | undefined;

  /** @param reworded What reasons are in the end, where the host knows more than the engine. */
  constructor(header: RunHeader, sources: Sources, reworded?: (reason: string) => string) {
    this.#header = header;
    this.#sources = sources;
    this.#reworded = reworded;
  }

  /** The cases that are complete with this batch. */
  decode(batch: Batch): DecodedCase[] {
    if (batch.cases.length === 0) return [];
    const texts = batch.reasonTexts as string[];
    if (this.#reworded !== undefined) batch.reasonTexts = texts.map(this.#reworded);
    const rows = new Rows(batch, this.#header.metrics, this.#sources, this.#open !== undefined);
    const ids = slices(batch.ids, batch.idLengths);
    const decoded: DecodedCase[] = [];
    for (let row = 0; row < rows.cases.count; row += 1) {
      const one = this.#open ?? this.#begin(rows, row, ids);
      if (this.#open !== undefined) {
        const turns = one.result.evalMetricResultPerInvocation;
        for (const turn of rows.turns(row, turns.length)) turns.push(turn);
      }
      this.#open = rows.cases.isUnfinished(row) ? one : undefined;
      if (this.#open === undefined) decoded.push(one);
    }
    return decoded;
  }

  /** A case with the turns in this batch. */
  #begin(rows: Rows, row: number, ids: readonly string[]): DecodedCase {
    const { cases } = rows;
    const said = {
      evalSetId: this.#header.evalSetId,
      evalId: ids[3 * row] as string,
      finalEvalStatus: cases.status(row),
      sessionId: ids[3 * row + 1] as string,
    };
    const result = caseResult(said, rows, row);
    const userId = ids[3 * row + 2] as string;
    if (userId !== "") result.userId = userId;
    const key = cases.caseIndex(row) * 2 ** 26 + cases.run(row);
    const one: DecodedCase = { key, result, errors: rows.errors(row) };
    const failure = rows.failureOf(row);
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

/** A custom metric that the engine asks for. */
export interface HostTask {
  id: number;
  metric: number;
  case: number;
  run: number | null;
  actual: HostTurn[] | null;
  expected: HostTurn[] | null;
  scenario: object | null;
}

/** The position of an invocation in its input, or the invocation itself. */
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
