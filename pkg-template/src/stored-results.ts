/**
 * Results as files hold them: in ADK's schema, which has no place for votes and explanations, or as JSON lines with
 * everything. JSON lines begin with a line for the evalset and have another one for each of its cases.
 */

import { type NoOptions, refuseOptions } from "./known-options.js";
import { caseJson } from "./adk-schema.js";
import { hosted } from "./engine/hosted.js";
import { toBytes } from "./engine/input.js";
import { withEngine } from "./engine/instance.js";
import { parseJson } from "./engine/json.js";
import { isObject, reading, unexpected } from "./engine/values.js";
import { stringify } from "./engine/writing.js";
import { errorOf, isEngineError } from "./errors.js";
import { looksLike } from "./looks-like.js";
import { FORMAT, isFields, isResultLines, isResults, refuseHeadless, setsInLines, VERSION } from "./result-lines.js";
import type { EvalCaseResult, EvalSetResult, Input } from "./types.js";
import { definedProperties } from "./lists.js";

/** What results of google-adk do not say. */
type Stamps = "engineVersion" | "referenceVersion" | "dialect";

/**
 * Writes results as JSON lines that {@link readResults} reads back whole, votes and explanations included.
 *
 * @throws {AdkMetricsError} for anything but results; what is wrong further on is thrown with its line.
 */
export function* resultLines(
  results: EvalSetResult | readonly EvalSetResult[],
  options?: NoOptions,
): Generator<string> {
  refuseOptions(options);
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

/** The line of a case. In JSON, line breaks are between values only. */
export function caseLine(result: EvalCaseResult): string {
  const json = caseJson(result);
  // Few have any.
  return /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]+/g, " ") : json;
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
export function readResults(results: Input<EvalSetResult>, options?: NoOptions): EvalSetResult[] {
  refuseOptions(options);
  return reading("results", () => {
    if (isResults(results)) return [results];
    if (isResultLines(results)) {
      return setsInLines(typeof results === "string" ? toBytes(results, "results") : results, "results", host);
    }
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
    refuseHeadless(results, input);
    const isNone = error.code === "invalid_input" && error.path === "$";
    const help =
      error.help ?? (isNone ? looksLike(parseJson(new TextDecoder().decode(bytes))) + WHAT_IT_TAKES : undefined);
    throw errorOf({ ...error, input, ...definedProperties({ help }) }, () => !isObject(results));
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
