/** Results as JSON lines: one for each evalset, followed by one for each of its cases. Read without the engine. */

import { checkSize } from "./engine/checks.js";
import { parseJson } from "./engine/json.js";
import { isBytes, isObject } from "./engine/values.js";
import type { EvalStatus } from "./enums.js";
import { AdkMetricsError } from "./errors.js";
import type { EvalCaseResult, EvalSetResult } from "./types.js";

/** What the first line says it is. */
export const FORMAT = "adk-metrics results";
export const VERSION = 1;

/** Matches the beginning of results as JSON lines. */
export const RESULT_LINES = /^\s*\{\s*"format":\s*"adk-metrics results"/;

/** How much of a file is looked at to tell what it is. */
const HEAD_BYTES = 200;

const NEWLINE = 0x0a;

/** Whether text or bytes are results as JSON lines. */
export function isResultLines(results: unknown): results is string | Uint8Array {
  if (typeof results === "string") return RESULT_LINES.test(results.slice(0, HEAD_BYTES));
  return isBytes(results) && RESULT_LINES.test(new TextDecoder().decode(results.subarray(0, HEAD_BYTES)));
}

/**
 * The results of each evalset, read line by line: however many there are, only what is kept of them takes memory.
 *
 * @param input What the results are called in errors.
 * @param keep What is kept of the results of a case.
 * @throws {AdkMetricsError} for a line that is none of such results.
 */
export function setsInLines(
  bytes: Uint8Array,
  input: string,
  keep: (result: EvalCaseResult) => EvalCaseResult,
): EvalSetResult[] {
  const sets: EvalSetResult[] = [];
  for (const { line, value } of parsedLines(bytes, input)) {
    const problem = sets.length === 0 || isHeader(value) ? problemOfHeader(value) : problemOfCase(value);
    if (problem !== undefined) throw new AdkMetricsError("invalid_input", problem, { path: input, line });
    const last = sets.at(-1);
    if (last !== undefined && !isHeader(value)) {
      last.evalCaseResults.push(keep(value as EvalCaseResult));
      continue;
    }
    const { format: _format, version: _version, ...set } = value as { format: string; version: number };
    sets.push({ ...set, evalCaseResults: [] as EvalCaseResult[] } as unknown as EvalSetResult);
  }
  return sets;
}

/** The lines that are not empty, counted from 1. */
function* parsedLines(bytes: Uint8Array, input: string): Generator<{ line: number; value: unknown }> {
  const decoder = new TextDecoder();
  for (let [from, line] = [0, 1]; from < bytes.length; line += 1) {
    const found = bytes.indexOf(NEWLINE, from);
    const end = found === -1 ? bytes.length : found;
    checkSize(end - from, input);
    const text = decoder.decode(bytes.subarray(from, end)).trim();
    from = end + 1;
    if (text === "") continue;
    try {
      yield { line, value: parseJson(text) };
    } catch (cause) {
      const isCut = found === -1;
      throw new AdkMetricsError("invalid_input", isCut ? "the last line is cut off" : "this line is not JSON", {
        path: input,
        line,
        help: isCut ? "To read the cases before it, remove it" : "Every line is one JSON object",
        cause,
      });
    }
  }
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
