/**
 * Results as files hold them: in ADK's schema, which has no place for votes and explanations, or as JSON lines with
 * everything. JSON lines begin with a line for the evalset and have another one for each of its cases.
 */

import { caseJson } from "./adk-schema.js";
import { checkSize } from "./engine/checks.js";
import { hosted } from "./engine/hosted.js";
import { toBytes } from "./engine/input.js";
import { withEngine } from "./engine/instance.js";
import { parseJson } from "./engine/json.js";
import { isBytes, isObject, reading, unexpected } from "./engine/values.js";
import { stringify } from "./engine/writing.js";
import type { EvalStatus } from "./enums.js";
import { AdkMetricsError, errorOf, isEngineError } from "./errors.js";
import { looksLike } from "./looks-like.js";
import type { EvalCaseResult, EvalSetResult, Input } from "./types.js";

/** What the first line says it is. */
const FORMAT = "adk-metrics results";
const VERSION = 1;

/** Matches the beginning of results as JSON lines. */
export const RESULT_LINES = /^\s*\{\s*"format":\s*"adk-metrics results"/;

/** What results of google-adk do not say. */
type Stamps = "engineVersion" | "referenceVersion" | "dialect";

/** How much of a file is looked at to tell what it is. */
const HEAD_BYTES = 200;

const NEWLINE = 0x0a;

/**
 * Writes results as JSON lines that {@link readResults} reads back whole, votes and explanations included.
 *
 * @throws {AdkMetricsError} for what are no results, some of it when the line is asked for that it would be in.
 */
export function* resultLines(results: EvalSetResult | readonly EvalSetResult[]): Generator<string> {
  const sets = reading("results", () => (Array.isArray(results) ? results.slice() : [results]) as unknown[]);
  for (const set of sets) {
    const { header, cases } = reading("results", () => partsOf(set));
    yield `${header}\n`;
    for (const one of cases) yield `${reading("results", () => caseLine(one))}\n`;
  }
}

/** The first line of results, and their cases. */
function partsOf(set: unknown): { header: string; cases: readonly EvalCaseResult[] } {
  if (!isFields(set)) throw unexpected("an EvalSetResult", set, "results");
  const { evalCaseResults: cases, ...rest } = set;
  if (!Array.isArray(cases)) throw unexpected("an EvalSetResult", set, "results");
  return { header: headerOf(rest), cases: cases.slice() };
}

/** The first line of results, from all of them but the cases. */
export function headerOf(rest: object): string {
  return stringify({ format: FORMAT, version: VERSION, ...rest }, "results");
}

/** The line of a case. In JSON, line breaks stand between values only. */
export function caseLine(result: EvalCaseResult): string {
  return caseJson(result).replaceAll(/[\r\n]+/g, " ");
}

/**
 * Reads stored results: those of `adk eval`, adk web, `evaluate` and `eval --format json`, of one evalset each, or those of
 * `eval --format jsonl`, of one or more. Integers beyond 2⁵³ lose digits, as all JavaScript numbers do.
 *
 * Results that google-adk wrote do not say how they were scored: their `engineVersion` and `referenceVersion` are empty.
 *
 * @returns The results of each evalset.
 * @throws {AdkMetricsError} if they are none.
 *
 * @example
 * const [result] = readResults(await readFile("weather.evalset_result.json"));
 */
export function readResults(results: Input<EvalSetResult>): EvalSetResult[] {
  return reading("results", () => {
    if (isResults(results)) return [results];
    if (isResultLines(results)) return readLines(typeof results === "string" ? toBytes(results, "results") : results);
    const stored = readStored(results, "results") as Omit<EvalSetResult, Stamps> & Partial<Pick<EvalSetResult, Stamps>>;
    for (const result of stored.evalCaseResults) host(result);
    return [{ engineVersion: "", referenceVersion: "", dialect: "adk-python", ...stored }];
  });
}

/**
 * Reads results in ADK's schema by the engine, which says what is wrong with them; in camelCase.
 *
 * @param input What they are called in errors.
 */
export function readStored(results: unknown, input: string): object {
  const bytes = unwrapped(toBytes(results, input), input);
  try {
    return JSON.parse(withEngine((engine) => engine.resultsToJs(bytes))) as object;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    const isNone = error.code === "invalid_input" && error.path === "$";
    const help =
      error.help ?? (isNone ? looksLike(parseJson(new TextDecoder().decode(bytes))) + WHAT_IT_TAKES : undefined);
    throw errorOf({ ...error, input, ...(help === undefined ? {} : { help }) }, () => !isObject(results));
  }
}

const WHAT_IT_TAKES = "Pass the results of `evaluate`, or JSON from `eval --format json` or ADK";

/** Gives the invocations of a case the shape that hosts see. */
function host(result: EvalCaseResult): EvalCaseResult {
  for (const turn of result.evalMetricResultPerInvocation) {
    turn.actualInvocation = hosted(turn.actualInvocation);
    if (turn.expectedInvocation !== undefined) turn.expectedInvocation = hosted(turn.expectedInvocation);
  }
  return result;
}

/** Whether text or bytes are results as JSON lines. */
export function isResultLines(results: unknown): results is string | Uint8Array {
  if (typeof results === "string") return RESULT_LINES.test(results.slice(0, HEAD_BYTES));
  return isBytes(results) && RESULT_LINES.test(new TextDecoder().decode(results.subarray(0, HEAD_BYTES)));
}

function readLines(bytes: Uint8Array): EvalSetResult[] {
  const sets: EvalSetResult[] = [];
  for (const { line, value } of parsedLines(bytes)) {
    const problem = sets.length === 0 || isHeader(value) ? problemOfHeader(value) : problemOfCase(value);
    if (problem !== undefined) throw new AdkMetricsError("invalid_input", problem, { path: "results", line });
    const last = sets.at(-1);
    if (last !== undefined && !isHeader(value)) {
      last.evalCaseResults.push(host(value as EvalCaseResult));
      continue;
    }
    const { format: _format, version: _version, ...set } = value as { format: string; version: number };
    sets.push({ ...set, evalCaseResults: [] as EvalCaseResult[] } as unknown as EvalSetResult);
  }
  return sets;
}

/** The lines that are not empty, counted from 1. */
function* parsedLines(bytes: Uint8Array): Generator<{ line: number; value: unknown }> {
  const decoder = new TextDecoder();
  for (let [from, line] = [0, 1]; from < bytes.length; line += 1) {
    const found = bytes.indexOf(NEWLINE, from);
    const end = found === -1 ? bytes.length : found;
    checkSize(end - from, "results");
    const text = decoder.decode(bytes.subarray(from, end)).trim();
    from = end + 1;
    if (text === "") continue;
    try {
      yield { line, value: parseJson(text) };
    } catch (cause) {
      const isCut = found === -1;
      throw new AdkMetricsError("invalid_input", isCut ? "the last line is cut off" : "this line is not JSON", {
        path: "results",
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

const QUOTE = 0x22;

/** The JSON within, if the bytes are those of a JSON string, as old versions of ADK stored it. What cannot be read is left to the engine. */
function unwrapped(bytes: Uint8Array, input: string): Uint8Array {
  const first = bytes.find((byte) => byte > 0x20);
  if (first !== QUOTE) return bytes;
  try {
    const inner: unknown = parseJson(new TextDecoder().decode(bytes));
    return typeof inner === "string" ? toBytes(inner, input) : bytes;
  } catch {
    return bytes;
  }
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
