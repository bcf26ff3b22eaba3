import { isObject, toBytes, unexpected } from "./engine/input.js";
import { call } from "./engine/call.js";
import type { EvalSet, EvalSetResult, Input } from "./types.js";

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
  return JSON.parse(json) as EvalSet;
}

/**
 * Writes results as google-adk stores them: JSON in `snake_case`, statuses as integers. What that schema has no place
 * for (`reason`, `explanation` of a metric) is left out.
 */
export function resultsToAdkJson(result: EvalSetResult): string {
  const bytes = toBytes(result, "result");
  return call({ hasLines: () => false }, (engine) => engine.resultsToAdk(bytes));
}

function checkName(name: unknown): void {
  if (typeof name !== "string") throw unexpected("a text", name, "name");
}
