/** Results as JSON lines: one for each evalset, followed by one for each of its cases. Read without the engine. */

import { checkSize } from "./engine/checks.js";
import { parseJson } from "./engine/json.js";
import { isBytes, isObject, unexpected } from "./engine/values.js";
import type { EvalStatus } from "./enums.js";
import { AdkMetricsError } from "./errors.js";
import type { EvalCaseResult, EvalSetResult } from "./types.js";

/** What the first line says it is. */
export const FORMAT = "adk-metrics results";
export const VERSION = 1;

/** Matches the beginning of results as JSON lines. */
export const RESULT_LINES = /^\s*\{\s*"format":\s*"adk-metrics results"/;

/** Results of more bytes are read in pieces: they may be larger than what can be read at once. */
export const LARGE_BYTES = 64 * 1024 * 1024;

/** How much of a file is looked at to tell what it is. */
const HEAD_BYTES = 200;

/** How long the first line may be of what is looked at. */
const LONGEST_LINE = 4 * 1024 * 1024;

const NEWLINE = 0x0a;

/** Whether text or bytes are results as JSON lines. */
export function isResultLines(results: unknown): results is string | Uint8Array {
  if (typeof results === "string") return RESULT_LINES.test(results.slice(0, HEAD_BYTES));
  return isBytes(results) && RESULT_LINES.test(new TextDecoder().decode(results.subarray(0, HEAD_BYTES)));
}

/**
 * Whether pieces of bytes are results as JSON lines, with their first line or without it; and all of these pieces again: they
 * may come only once.
 */
export function lookedAt(given: Iterable<Uint8Array>): { isLines: boolean; pieces: Iterable<Uint8Array> } {
  const rest = given[Symbol.iterator]();
  const begun: Uint8Array[] = [];
  let size = 0;
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    begun.push(next.value);
    size += next.value.length;
    if (size > LONGEST_LINE || next.value.includes(NEWLINE)) break;
  }
  const head = concatenated(begun.map((piece) => piece.subarray(0, LONGEST_LINE)));
  return { isLines: isResultLines(head) || firstCase(head) !== undefined, pieces: again(begun, rest) };
}

function* again(begun: readonly Uint8Array[], rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  yield* begun;
  for (let next = rest.next(); next.done !== true; next = rest.next()) yield next.value;
}

/** @throws {AdkMetricsError} for results as JSON lines whose first line is missing, which begin with those of a case. */
export function refuseHeadless(results: unknown, input: string): void {
  const found = firstCase(results);
  if (found !== undefined) throw headless(found, input);
}

/** The results of a case that a text begins with, or bytes. */
function firstCase(results: unknown): EvalCaseResult | undefined {
  if (typeof results !== "string" && !isBytes(results)) return undefined;
  const head = typeof results === "string" ? /^\s*.*/.exec(results)?.[0] : firstLine(results);
  try {
    const value: unknown = parseJson((head ?? "").replace(/^\uFEFF/, ""));
    return isCaseResult(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function headless({ evalSetId }: EvalCaseResult, input: string): AdkMetricsError {
  const header = { format: FORMAT, version: VERSION, evalSetId: typeof evalSetId === "string" ? evalSetId : "…" };
  const help = `Copy it from the file that \`eval --format jsonl\` wrote, or begin the file with ${JSON.stringify(header)}`;
  const message = "the first line is missing, which says whose results the lines below are";
  return new AdkMetricsError("invalid_input", message, { path: input, line: 1, help });
}

function firstLine(bytes: Uint8Array): string {
  const found = bytes.indexOf(NEWLINE);
  return new TextDecoder().decode(found === -1 ? bytes : bytes.subarray(0, found));
}

/**
 * The results of each evalset, read line by line: however many there are, only what is kept of them takes memory.
 *
 * @param given Bytes, whole or in pieces.
 * @param input What the results are called in errors.
 * @param keep What is kept of the results of a case, if anything.
 * @throws {AdkMetricsError} for a line that is not part of such results.
 */
export function setsInLines(
  given: Uint8Array | Iterable<Uint8Array>,
  input: string,
  keep: (result: EvalCaseResult) => EvalCaseResult | undefined,
): EvalSetResult[] {
  const sets: EvalSetResult[] = [];
  for (const { line, value } of parsedLines(isBytes(given) ? [given] : given, input)) {
    if (sets.length === 0 && isCaseResult(value)) throw headless(value, input);
    const problem = sets.length === 0 || isHeader(value) ? problemOfHeader(value) : problemOfCase(value);
    if (problem !== undefined) throw new AdkMetricsError("invalid_input", problem, { path: input, line });
    const last = sets.at(-1);
    if (last !== undefined && !isHeader(value)) {
      const kept = keep(value as EvalCaseResult);
      if (kept !== undefined) last.evalCaseResults.push(kept);
      continue;
    }
    const { format: _format, version: _version, ...set } = value as { format: string; version: number };
    sets.push({ ...set, evalCaseResults: [] as EvalCaseResult[] } as unknown as EvalSetResult);
  }
  return sets;
}

/** The lines that are not empty, counted from 1. */
function* parsedLines(pieces: Iterable<Uint8Array>, input: string): Generator<{ line: number; value: unknown }> {
  let line = 0;
  for (const { bytes, isCut } of linesIn(pieces, input)) {
    line += 1;
    const text = new TextDecoder().decode(bytes).trim();
    if (text === "") continue;
    try {
      yield { line, value: parseJson(text) };
    } catch (cause) {
      throw new AdkMetricsError("invalid_input", isCut ? "the last line is cut off" : "this line is not JSON", {
        path: input,
        line,
        help: isCut ? "To read the cases before it, remove it" : "Every line is one JSON object",
        cause,
      });
    }
  }
}

/** The lines of pieces; the last one is cut if no line end follows it. */
function* linesIn(pieces: Iterable<Uint8Array>, input: string): Generator<{ bytes: Uint8Array; isCut: boolean }> {
  let begun: Uint8Array[] = [];
  let size = 0;
  const add = (part: Uint8Array): void => {
    size += part.length;
    checkSize(size, input);
    begun.push(part);
  };
  const taken = (): Uint8Array => {
    const bytes = begun.length === 1 ? (begun[0] as Uint8Array) : concatenated(begun);
    [begun, size] = [[], 0];
    return bytes;
  };
  for (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      add(piece.subarray(from, end));
      yield { bytes: taken(), isCut: false };
      from = end + 1;
    }
    if (from < piece.length) add(piece.subarray(from));
  }
  if (size > 0) yield { bytes: taken(), isCut: true };
}

/** @throws {AdkMetricsError} for anything but a piece of text or bytes. */
export function* checkedPieces(pieces: Iterable<unknown>, input: string): Generator<Uint8Array> {
  for (const piece of pieces) {
    if (!isBytes(piece)) throw unexpected("chunks of bytes", piece, input);
    yield piece;
  }
}

/** Pieces of bytes, put together. */
export function concatenated(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function isHeader(value: unknown): boolean {
  return isFields(value) && value["format"] === FORMAT;
}

function problemOfHeader(value: unknown): string | undefined {
  if (!isFields(value)) return "expected an object";
  if (value["version"] !== VERSION) {
    return `version ${String(value["version"])} of this format needs a newer version of adk-metrics`;
  }
  return isResults({ ...value, evalCaseResults: [] })
    ? undefined
    : "expected the header of an evalset, with its `evalSetId`";
}

function problemOfCase(value: unknown): string | undefined {
  const isOne =
    isCaseResult(value) && value.evalMetricResultPerInvocation.every((turn) => isFields(turn.actualInvocation));
  return isOne ? undefined : "expected the results of a case";
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is results as `evaluate` gives them, as far as scores and verdicts go. */
export function isResults(value: unknown): value is EvalSetResult {
  return (
    isFields(value) &&
    typeof value["evalSetId"] === "string" &&
    isListOf(value["evalCaseResults"], isCaseResult) &&
    isOptional(value["creationTimestamp"], Number.isFinite)
  );
}

function isCaseResult(value: unknown): value is EvalCaseResult {
  return (
    isFields(value) &&
    typeof value["evalId"] === "string" &&
    isStatus(value["finalEvalStatus"]) &&
    isListOf(value["overallEvalMetricResults"], isMetricResult) &&
    isListOf(
      value["evalMetricResultPerInvocation"],
      (turn) => isFields(turn) && isListOf(turn["evalMetricResults"], isMetricResult),
    )
  );
}

function isMetricResult(value: unknown): boolean {
  return (
    isFields(value) &&
    typeof value["metricName"] === "string" &&
    isStatus(value["evalStatus"]) &&
    isOptional(value["score"], Number.isFinite) &&
    isOptional(value["threshold"], Number.isFinite)
  );
}

function isStatus(value: unknown): value is EvalStatus {
  return value === 1 || value === 2 || value === 3 || value === 4;
}

export function isFields(value: unknown): value is Fields {
  return isObject(value) && !Array.isArray(value);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  if (!Array.isArray(value)) return false;
  // Not by `every`, which passes over holes.
  for (const item of value) if (!isItem(item)) return false;
  return true;
}

function isOptional(value: unknown, isIt: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || isIt(value);
}
