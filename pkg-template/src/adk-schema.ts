import { call } from "./engine/call.js";
import { hosted } from "./engine/hosted.js";
import { invocationJson } from "./engine/turn.js";
import { isObject, reading, stringify, toBytes, unexpected } from "./engine/input.js";
import type { EvalCaseResult, EvalMetricResultPerInvocation, EvalSet, EvalSetResult, Input } from "./types.js";

/**
 * Reads an evalset of any form, old ones included, and writes it as google-adk does: JSON in `snake_case`.
 *
 * @param name What an evalset in an old form, which has no id, is called.
 * @throws {AdkMetricsError} if it is no evalset.
 */
export function evalSetToAdkJson(evalSet: Input<EvalSet>, name = "evalset"): string {
  checkName(name);
  const bytes = toBytes(evalSet, "evalSet");
  return call({ hasLines: () => !isObject(evalSet) }, (engine) => engine.evalSetToAdk(bytes, name));
}

/** Reads an evalset of any form as an object in camelCase. Integers beyond 2⁵³ lose digits, as all JavaScript numbers do. */
export function readEvalSet(evalSet: Input<EvalSet>, name = "evalset"): EvalSet {
  checkName(name);
  const bytes = toBytes(evalSet, "evalSet");
  const json = call({ hasLines: () => !isObject(evalSet) }, (engine) => engine.evalSetToJs(bytes, name));
  const set = JSON.parse(json) as EvalSet;
  for (const evalCase of set.evalCases) {
    if (evalCase.conversation !== undefined) evalCase.conversation = evalCase.conversation.map(hosted);
  }
  return set;
}

/**
 * Writes results as google-adk stores them: JSON in `snake_case`, statuses as integers. What that schema has no place
 * for (`reason`, `explanation` of a metric) is left out. Invocations that were read from text or bytes keep their
 * numbers to the digit.
 */
export function resultsToAdkJson(result: EvalSetResult): string {
  const bytes = new TextEncoder().encode(reading("result", () => setJson(result)));
  return call({ hasLines: () => false }, (engine) => engine.resultsToAdk(bytes));
}

function setJson(result: EvalSetResult): string {
  if (!isObject(result) || !Array.isArray(result.evalCaseResults))
    throw unexpected("an EvalSetResult", result, "result");
  const { evalCaseResults, ...rest } = result;
  return withList(rest, "evalCaseResults", evalCaseResults.map(caseJson));
}

function caseJson(result: EvalCaseResult): string {
  if (!Array.isArray(result?.evalMetricResultPerInvocation)) throw unexpected("an EvalCaseResult", result, "result");
  const { evalMetricResultPerInvocation, ...rest } = result;
  return withList(rest, "evalMetricResultPerInvocation", evalMetricResultPerInvocation.map(turnJson));
}

function turnJson(turn: EvalMetricResultPerInvocation): string {
  if (!isObject(turn)) throw unexpected("the results of a turn", turn, "result");
  const actual = invocationJson(turn, "actualInvocation");
  const expected = invocationJson(turn, "expectedInvocation");
  const parts = [
    ...(actual === undefined ? [] : [`"actualInvocation":${actual}`]),
    ...(expected === undefined ? [] : [`"expectedInvocation":${expected}`]),
    `"evalMetricResults":${stringify(turn.evalMetricResults ?? [], "result")}`,
  ];
  return `{${parts.join(",")}}`;
}

/** An object as JSON with a list of JSON texts added under a key. */
function withList(object: object, key: string, items: readonly string[]): string {
  const json = stringify(object, "result");
  return `${json.slice(0, -1)}${json === "{}" ? "" : ","}"${key}":[${items.join(",")}]}`;
}

function checkName(name: unknown): void {
  if (typeof name !== "string") throw unexpected("a text", name, "name");
}
