import { type NoOptions, refuseOptions } from "./known-options.js";
import { call } from "./engine/call.js";
import { metricResultsJson } from "./engine/explanation.js";
import { hosted } from "./engine/hosted.js";
import { invocationJson } from "./engine/turn.js";
import { AdkMetricsError } from "./errors.js";
import { toBytes } from "./engine/input.js";
import { isObject, reading, unexpected } from "./engine/values.js";
import { MOST_PLAIN, stringify } from "./engine/writing.js";
import type { Mistake } from "./generated/shapes.js";
import type { EvalCaseResult, EvalMetricResultPerInvocation, EvalSet, EvalSetResult, Input } from "./types.js";
import { judgeVotesOf } from "./votes.js";
import { definedProperties } from "./lists.js";

/**
 * Reads an evalset of any form, old ones included, and writes it as google-adk does: JSON in `snake_case`.
 *
 * @param name What an evalset in an old form, which has no id, is called.
 * @throws {AdkMetricsError} if it is not an evalset.
 */
export function evalSetToAdkJson(evalSet: Input<EvalSet>, name = "evalset"): string {
  checkName(name);
  const bytes = toBytes(evalSet, "evalSet");
  return call({ hasLines: () => !isObject(evalSet) }, (engine) => engine.evalSetToAdk(bytes, name));
}

/** What may surprise in an evalset: keys that are left out, and the like. */
export function evalSetWarnings(evalSet: Input<EvalSet>, name = "evalset"): Mistake[] {
  const bytes = toBytes(evalSet, "evalSet");
  return call({ hasLines: () => !isObject(evalSet) }, (engine) => engine.evalSetWarnings(bytes, name));
}

/** Reads an evalset of any form as an object in camelCase. Integers beyond 2⁵³ lose digits, as all JavaScript numbers do. */
export function readEvalSet(evalSet: Input<EvalSet>, name = "evalset"): EvalSet {
  checkName(name);
  const bytes = toBytes(evalSet, "evalSet");
  const json = call({ hasLines: () => !isObject(evalSet) }, (engine) => engine.evalSetToJs(bytes, name));
  return evalSetOf(json);
}

/** An evalset as the engine writes it, with its invocations as hosts see them. */
export function evalSetOf(json: string): EvalSet {
  const set = JSON.parse(json) as EvalSet;
  for (const evalCase of set.evalCases) {
    if (evalCase.conversation !== undefined) evalCase.conversation = evalCase.conversation.map(hosted);
  }
  return set;
}

/**
 * Writes results as google-adk stores them: JSON in `snake_case`, statuses as integers. What that schema has no place
 * for (`reason`, `explanation` of a metric) is left out; how the samples of judges voted is in `judgeVotes` of each case,
 * which google-adk ignores. Invocations that were read from text or bytes keep their numbers to the digit.
 */
export function resultsToAdkJson(result: EvalSetResult, options?: NoOptions): string {
  const chunks = [...resultsToAdkJsonChunks(result, options)];
  try {
    return chunks.join("");
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new AdkMetricsError("limit_exceeded", "the JSON is too long for a string", {
      path: "result",
      help: "Write it in chunks, with resultsToAdkJsonChunks",
      cause,
    });
  }
}

/** As much JSON of cases as goes to the engine at once. */
const BATCH_LENGTH = 4 * 1024 * 1024;

/**
 * As {@link resultsToAdkJson}, piece by piece: for results of any size.
 *
 * @throws {AdkMetricsError} for anything but a result; what is wrong further on is thrown with its chunk.
 *
 * @example
 * await writeFile("results.json", resultsToAdkJsonChunks(result));
 */
export function* resultsToAdkJsonChunks(result: EvalSetResult, options?: NoOptions): Generator<string> {
  refuseOptions(options);
  const { rest, cases } = reading("result", () => partsOf(result));
  let batch: string[] = [];
  let length = 0;
  let written = 0;
  for (const [at, one] of cases.entries()) {
    const json = reading("result", () => caseJson(withVotes(one)));
    batch.push(json);
    length += json.length;
    if (length < BATCH_LENGTH && at < cases.length - 1) continue;
    const text = adkJson(rest, batch, written);
    const isFirst = written === 0;
    const isLast = at === cases.length - 1;
    // Line breaks are outside of strings only, and only the list of cases is at this depth between these.
    const from = isFirst ? 0 : text.indexOf(LIST) + LIST.length;
    const to = isLast ? text.length : text.indexOf(END_OF_LIST, text.indexOf(LIST));
    yield `${isFirst ? "" : ","}${text.slice(from, to)}`;
    written += batch.length;
    batch = [];
    length = 0;
  }
  if (cases.length === 0) yield adkJson(rest, [], 0);
}

const LIST = '\n  "eval_case_results": [';
const END_OF_LIST = "\n  ]";

/** Results with some of their cases, starting with the one at `first`, as the engine writes them. */
function adkJson(rest: object, cases: readonly string[], first: number): string {
  const bytes = new TextEncoder().encode(withList(rest, "evalCaseResults", cases));
  try {
    return call({ hasLines: () => false }, (engine) => engine.resultsToAdk(bytes));
  } catch (error) {
    if (first === 0 || !(error instanceof AdkMetricsError) || error.path === undefined) throw error;
    const path = error.path.replace(
      /^evalCaseResults\[(\d+)\]/,
      (_, at: string) => `evalCaseResults[${Number(at) + first}]`,
    );
    const { help, cause } = error;
    throw new AdkMetricsError(error.code, error.message, { path, ...definedProperties({ help }), cause });
  }
}

function partsOf(result: EvalSetResult): { rest: object; cases: readonly EvalCaseResult[] } {
  if (!isObject(result) || !Array.isArray(result.evalCaseResults))
    throw unexpected("an EvalSetResult", result, "result");
  const { evalCaseResults, ...rest } = result;
  return { rest, cases: Array.from(evalCaseResults) };
}

/** The results of a case as JSON, whose invocations are as they were written, digits and white space included. */
export function caseJson(result: EvalCaseResult): string {
  if (!Array.isArray(result?.evalMetricResultPerInvocation)) throw unexpected("an EvalCaseResult", result, "result");
  const { evalMetricResultPerInvocation, ...rest } = result;
  return withList(rest, "evalMetricResultPerInvocation", evalMetricResultPerInvocation.map(turnJson));
}

/** The case with the votes of judges where ADK's schema has room for them: its own fields. */
function withVotes(result: EvalCaseResult): EvalCaseResult {
  if (!Array.isArray(result?.evalMetricResultPerInvocation)) return result;
  const judgeVotes = result.judgeVotes ?? judgeVotesOf(result);
  if (judgeVotes.length === 0) return result;
  return { ...result, judgeVotes };
}

function turnJson(turn: EvalMetricResultPerInvocation): string {
  if (!isObject(turn)) throw unexpected("the results of a turn", turn, "result");
  const actual = invocationJson(turn, "actualInvocation");
  const expected = invocationJson(turn, "expectedInvocation");
  const results = turn.evalMetricResults ?? [];
  let json = "{";
  if (actual !== undefined) json += `"actualInvocation":${actual},`;
  if (expected !== undefined) json += `"expectedInvocation":${expected},`;
  return `${json}"evalMetricResults":${metricResultsJson(results, MOST_PLAIN) ?? stringify(results, "result")}}`;
}

/** An object as JSON with a list of JSON texts added under a key. */
function withList(object: object, key: string, items: readonly string[]): string {
  const json = stringify(object, "result");
  // Not by `join`, which copies what is put together once more anyway.
  const list = items.reduce((all, item) => (all === "" ? item : `${all},${item}`), "");
  return `${json.slice(0, -1)}${json === "{}" ? "" : ","}"${key}":[${list}]}`;
}

function checkName(name: unknown): void {
  if (typeof name !== "string") throw unexpected("a string", name, "name");
}
