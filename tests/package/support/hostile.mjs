// What is the same of all hostile inputs: they end in an answer or in an AdkMetricsError, never in anything else, and leave
// the engine in working order.

import assert from "node:assert/strict";
import { evalSetOf, turn } from "./conversations.mjs";
import { importEntry } from "./package.mjs";

const { AdkMetricsError, evaluate, rouge1 } = await importEntry();

export const SMALL = evalSetOf({ c: [turn("q", "a b", [["t", { x: [1, { y: "z" }] }]])] });
export const CRITERIA = { tool_trajectory_avg_score: 1, response_match_score: { threshold: 0.8 } };

/** Values of every kind, which fit almost nowhere. */
export const WRONG = [
  undefined,
  null,
  true,
  7,
  NaN,
  1n,
  "x",
  Symbol("s"),
  () => 1,
  [],
  {},
  [1],
  new Date(),
  new Uint8Array(2),
  Object.create(null),
];

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
export const asJudgedSet = (evalSet) => () => evaluate({ evalSet, actual: SMALL, criteria: JUDGED, judge: () => "" });
/** A judge may be shown any field, so all are read. */
const JUDGED = { ...CRITERIA, final_response_match_v2: 0.5 };
export const asJudged = (actual) => () => evaluate({ evalSet: SMALL, actual, criteria: JUDGED, judge: () => "" });
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

/** Calls a function. What it throws has to be an error of the package. */
export async function onlyOwnErrors(name, work, given) {
  try {
    const result = work(...given);
    if (typeof result?.[Symbol.asyncIterator] === "function") await result.next();
    else if (typeof result?.next === "function") result.next();
    else await result;
  } catch (error) {
    assert.equal(error.name, "AdkMetricsError", `${name} with ${given.length} arguments: ${error.stack}`);
  }
}

const throwingAt = (target, trap) =>
  new Proxy(target, {
    [trap]: () => {
      throw new TypeError("a trap");
    },
  });

function revoked(target) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Make objects and arrays that throw when they are looked at. */
export const THROWING = [() => revoked({}), () => revoked([])].concat(
  ["get", "ownKeys", "has", "getOwnPropertyDescriptor"].flatMap((trap) => [
    () => throwingAt({}, trap),
    () => throwingAt([], trap),
  ]),
);

/** Which look at a value fails, in turn. */
export const LOOKS = [1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 50, 80, 130];

/** A view of a value in which the look with a number throws, at the value or at anything in it. */
export function failingAt(root, last) {
  let looks = 0;
  const viewOf = (target) => {
    if (typeof target !== "object" || target === null) return target;
    const look = (trap) =>
      function (...args) {
        looks += 1;
        if (looks === last) throw new TypeError(`look ${last}`);
        return trap === "get" ? viewOf(Reflect.get(args[0], args[1])) : Reflect[trap](...args);
      };
    const traps = ["get", "has", "ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf"];
    return new Proxy(target, Object.fromEntries(traps.map((trap) => [trap, look(trap)])));
  };
  return viewOf(root);
}
