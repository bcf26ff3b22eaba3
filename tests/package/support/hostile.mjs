// What is the same of all hostile inputs: they end in an answer or in an AdkMetricsError, never in anything else, and leave
// the engine in working order.

import assert from "node:assert/strict";
import { evalSetOf, turn } from "./conversations.mjs";
import { importEntry } from "./package.mjs";

const { AdkMetricsError, evaluate, rouge1 } = await importEntry();

export const SMALL = evalSetOf({ c: [turn("q", "a b", [["t", { x: [1, { y: "z" }] }]])] });
export const CRITERIA = { tool_trajectory_avg_score: 1, response_match_score: { threshold: 0.8 } };

/** The answer, written out, or the error, which must be the package's own. */
export async function settle(work, what) {
  try {
    return { value: JSON.stringify(await work()) };
  } catch (error) {
    assert.ok(error instanceof AdkMetricsError, `${what}: ${error?.stack ?? String(error)}`);
    assert.notEqual(error.code, "engine_crashed", `${what}: ${error.cause?.stack}`);
    assert.equal(typeof error.message, "string");
    return { error };
  } finally {
    assert.equal(rouge1("The weather in London is sunny", "It's sunny in London today").fmeasure, 0.5, what);
  }
}

/** As `settle`, where an error is expected. */
export async function refuse(work, expected, what) {
  const { error } = await settle(work, what);
  assert.ok(error !== undefined, `${what}: accepted`);
  for (const [key, value] of Object.entries(expected)) {
    if (value instanceof RegExp) assert.match(String(error[key]), value, what);
    else assert.equal(error[key], value, what);
  }
}

export const asEvalSet = (evalSet) => () => evaluate({ evalSet, actual: SMALL, criteria: CRITERIA });
export const asActual = (actual) => () => evaluate({ evalSet: SMALL, actual, criteria: CRITERIA });
export const asConfig = (config) => () => evaluate({ evalSet: SMALL, actual: SMALL, config });
export const everywhere = { evalSet: asEvalSet, actual: asActual, config: asConfig };

/** The paths of all nodes of a JSON value, the root first. */
export function* paths(value, path = []) {
  yield path;
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) yield* paths(value[key], [...path, key]);
}

/** A copy of a value with the node at a path replaced. */
export function replaced(value, path, node) {
  if (path.length === 0) return node;
  const copy = structuredClone(value);
  const parent = path.slice(0, -1).reduce((at, key) => at[key], copy);
  parent[path.at(-1)] = node;
  return copy;
}
