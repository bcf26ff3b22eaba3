// Every exported function and class, called with wrong kinds of arguments, says what is wrong: no raw error of the language.

import assert from "node:assert/strict";
import test from "node:test";
import { AdkMetricsError } from "../../pkg/dist/esm/node.js";

const ENTRIES = ["node", "report", "interop", "calibration", "queue"];

class Klass {}
const WRONG = {
  nothing: undefined,
  null: null,
  number: 7,
  string: "x",
  promise: Promise.resolve({}),
  function: () => undefined,
  class: Klass,
  buffer: Buffer.from("x"),
  map: new Map([["a", 1]]),
  symbol: Symbol("s"),
  list: [undefined],
  object: {},
};

/** Errors that users throw themselves, or read results of, and those that end a test. */
const NOT_CALLED = new Set(["AdkMetricsError", "AgentEvaluationError"]);

const isClass = (value) => /^class\b/.test(Function.prototype.toString.call(value));

/** What a call ends in; generators are read to their first value. */
async function outcomeOf(call) {
  try {
    const found = await call();
    const iterator =
      found?.[Symbol.asyncIterator]?.() ?? (typeof found === "object" ? found?.[Symbol.iterator]?.() : undefined);
    if (iterator !== undefined) await iterator.next();
    return undefined;
  } catch (error) {
    return error;
  }
}

for (const entry of ENTRIES) {
  test(`adk-metrics/${entry}`, { timeout: 120_000 }, async () => {
    const api = await import(`../../pkg/dist/esm/${entry}.js`);
    const raw = [];
    let calledAtAll = 0;
    for (const [name, value] of Object.entries(api)) {
      if (typeof value !== "function" || NOT_CALLED.has(name)) continue;
      for (const [kind, wrong] of Object.entries(WRONG)) {
        const calls = isClass(value)
          ? { [`new ${name}`]: () => new value(wrong, wrong) }
          : { [name]: () => value(wrong), [`${name} twice`]: () => value(wrong, wrong, wrong) };
        for (const method of isClass(value) ? Object.getOwnPropertyNames(value) : []) {
          if (typeof value[method] !== "function") continue;
          calls[`${name}.${method}`] = () => value[method](wrong, wrong, wrong);
        }
        for (const method of isClass(value) ? Object.getOwnPropertyNames(value.prototype) : []) {
          if (
            method === "constructor" ||
            typeof Object.getOwnPropertyDescriptor(value.prototype, method).value !== "function"
          )
            continue;
          calls[`new ${name}(…).${method}`] = () =>
            new value({ metricName: "m", threshold: 1 })[method](wrong, wrong, wrong);
        }
        for (const [called, call] of Object.entries(calls)) {
          const error = await outcomeOf(call);
          calledAtAll += 1;
          if (error === undefined) continue;
          if (error instanceof AdkMetricsError && !/TypeError|ReferenceError/.test(error.message)) continue;
          raw.push(
            `${called} with ${kind}: ${String(error?.stack ?? error)
              .split("\n")
              .slice(0, 2)
              .join(" ")}`,
          );
        }
      }
    }
    assert.ok(calledAtAll > 0);
    assert.deepEqual(raw, []);
  });
}
