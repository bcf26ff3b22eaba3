// Evalsets and configs as objects that JSON cannot hold, that throw or answer once when they are read, or that are larger
// than what the engine reads.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evalSetOf, turn } from "./support/conversations.mjs";
import {
  asActual,
  asEvalSet,
  asJudged,
  CRITERIA,
  everywhere,
  paths,
  refuse,
  replaced,
  settle,
  SMALL,
} from "./support/hostile.mjs";
import { importEntry } from "./support/package.mjs";

const { evaluate } = await importEntry();

describe("objects", () => {
  const cycle = [];
  cycle.push({ cycle });
  const deep = Array.from({ length: 10_000 }).reduce((inner) => [inner], 1);
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const trap = () => {
    throw new Error("a trap");
  };
  const handler = new Proxy({}, { get: () => trap });
  /** What can be put in place of a value and cannot be written as JSON. */
  const unserializable = {
    NaN: [NaN, "JSON has no NaN"],
    Infinity: [Infinity, "JSON has no Infinity"],
    BigInt: [1n, "JSON has no BigInt"],
    "half of a pair": ["\ud800", /half of a surrogate pair/],
    "a cycle": [cycle, "the object contains itself"],
    "ten thousand levels": [deep, /nested more than 200 levels deep/],
    "a getter that throws": [
      {
        get x() {
          throw new TypeError("no x");
        },
      },
      /reading the property failed: TypeError: no x/,
    ],
    "a getter that throws no error": [
      {
        get x() {
          throw Object.create(null);
        },
      },
      /reading the property failed/,
    ],
    "a toJSON that throws": [
      {
        toJSON() {
          throw new RangeError("no JSON");
        },
      },
      /no JSON/,
    ],
    "a revoked proxy": [revoked, /./],
    "a proxy that throws": [new Proxy({}, handler), /a trap/],
  };

  test("that cannot be written as JSON are refused with the place, at any node", async () => {
    const nodes = [...paths(SMALL)].filter((path) => path.length > 0);
    for (const [what, [value, message]] of Object.entries(unserializable)) {
      for (const path of nodes) {
        const copy = structuredClone(SMALL);
        path.slice(0, -1).reduce((at, key) => at[key], copy)[path.at(-1)] = value;
        await refuse(
          asJudged(copy),
          { code: "unserializable", message, path: /^actual/, line: undefined },
          `${what} at ${path}`,
        );
      }
      if (typeof value === "object") await refuse(asEvalSet(value), { path: /^evalSet/ }, what);
    }
    const args = SMALL.evalCases[0].conversation[0].intermediateData.toolUses[0].args;
    assert.deepEqual(args, { x: [1, { y: "z" }] });
    const bad = structuredClone(SMALL);
    bad.evalCases[0].conversation[0].intermediateData.toolUses[0].args.x[1]["a key"] = NaN;
    await refuse(
      asActual(bad),
      { path: 'actual: evalCases[0].conversation[0].intermediateData.toolUses[0].args.x[1]["a key"]' },
      "path",
    );
  });

  test("are not looked at where no metric reads them", async () => {
    const scored = await evaluate({ evalSet: SMALL, actual: SMALL, criteria: CRITERIA });
    for (const [what, [value]] of Object.entries(unserializable)) {
      for (const key of ["invocationId", "appDetails", "creationTimestamp", "intermediateData.intermediateResponses"]) {
        const copy = structuredClone(SMALL);
        const [turn] = copy.evalCases[0].conversation;
        const [field, inner] = key.split(".");
        if (inner === undefined) turn[field] = value;
        else turn[field][inner] = value;
        const { evalCaseResults } = await asActual(copy)();
        const [result] = evalCaseResults;
        assert.deepEqual(result.overallEvalMetricResults, scored.evalCaseResults[0].overallEvalMetricResults, what);
        assert.ok(Object.hasOwn(result.evalMetricResultPerInvocation[0].actualInvocation, field), `${what} at ${key}`);
        await assert.rejects(evaluate({ evalSet: SMALL, actual: copy, criteria: CRITERIA, strict: true }), what);
      }
    }
  });

  test("with halves of surrogate pairs in keys are refused", async () => {
    const args = { ["\ud800"]: 1 };
    await refuse(asActual(evalSetOf({ c: [turn("q", "a", [["t", args]])] })), { path: /^actual/ }, "key");
  });

  test("with functions, symbols and undefined are read as JSON.stringify writes them", async () => {
    for (const value of [undefined, () => 1, Symbol("s"), class {}]) {
      for (const path of [...paths(SMALL)].slice(1)) await settle(asActual(replaced(SMALL, path, value)), `${path}`);
      const args = { kept: 1, dropped: value, list: [value] };
      const actual = evalSetOf({ c: [turn("q", "a", [["t", args]])] });
      const evalSet = evalSetOf({ c: [turn("q", "a", [["t", { kept: 1, list: [null] }]])] });
      const set = await evaluate({ evalSet, actual, criteria: CRITERIA });
      assert.equal(set.evalCaseResults[0].finalEvalStatus, 1);
    }
  });

  test("whose getters answer once are given back from what was read", async () => {
    let reads = 0;
    const actual = {
      evalSetId: "s",
      get evalCases() {
        reads += 1;
        if (reads > 2) throw new Error("not again");
        return SMALL.evalCases;
      },
    };
    const set = await evaluate({ evalSet: SMALL, actual, criteria: CRITERIA });
    assert.equal(
      set.evalCaseResults[0].evalMetricResultPerInvocation[0].actualInvocation.userContent.parts[0].text,
      "q",
    );
  });

  test("of classes, maps, dates and typed arrays in odd places are read or refused", async () => {
    const odd = [
      new Map([[1, 2]]),
      new Date(0),
      new Set([1]),
      /x/,
      new Float64Array(3),
      new Error("e"),
      new String("s"),
      new Number(1),
      Object.create(null),
      new Array(5),
      new WeakMap(),
      Promise.resolve(1),
    ];
    for (const value of odd) {
      for (const path of paths(SMALL)) {
        if (path.length > 0) {
          const copy = structuredClone(SMALL);
          path.slice(0, -1).reduce((at, key) => at[key], copy)[path.at(-1)] = value;
          await settle(asActual(copy), `${Object.prototype.toString.call(value)} at ${path}`);
        }
      }
      for (const given of Object.values(everywhere)) await settle(given(value), Object.prototype.toString.call(value));
    }
  });
});

describe("what toJSON gives", () => {
  const withArgs = (args) => evalSetOf({ c: [turn("q", "a", [["t", args]])] });

  test("is checked like what stands there itself", async () => {
    const given = {
      NaN: [() => ({ x: NaN }), "JSON has no NaN"],
      "a BigInt": [() => ({ x: [1n] }), "JSON has no BigInt"],
      "half of a pair": [() => "\udc00", /half of a surrogate pair/],
      "a number in a wrapper": [() => new Number(Infinity), "JSON has no Infinity"],
    };
    for (const [what, [toJSON, message]] of Object.entries(given)) {
      for (const value of [{ toJSON }, Object.assign(new Date(0), { toJSON }), Object.assign(() => 1, { toJSON })]) {
        await refuse(asActual(withArgs({ value })), { code: "unserializable", message, path: /args\.value/ }, what);
      }
    }
    await refuse(
      () => evaluate({ evalSet: SMALL, actual: { toJSON: () => ({ x: NaN }) } }),
      { path: "actual: x" },
      "x",
    );
  });

  test("is asked for with the key, and what it throws is told with the place", async () => {
    const keys = [];
    const value = { toJSON: (key) => (keys.push(key), key) };
    await evaluate({ evalSet: SMALL, actual: withArgs({ list: [value], value }), criteria: CRITERIA });
    assert.deepEqual([...new Set(keys)], ["0", "value"]);
    const cause = new RangeError("no date");
    const toJSON = () => {
      throw cause;
    };
    await refuse(
      asActual(withArgs({ at: { toJSON } })),
      { code: "unserializable", path: /args\.at$/, cause },
      "throws",
    );
    await refuse(asActual(withArgs({ n: new Number(NaN) })), { message: "JSON has no NaN" }, "a wrapper");
  });
});

describe("more than the engine reads", () => {
  test("is refused where parts are shared, instead of walked without end", { timeout: 60_000 }, async () => {
    const shared = Array.from({ length: 60 }).reduce((inner) => ({ a: inner, b: inner }), 1);
    await refuse(asActual(shared), { code: "limit_exceeded", path: "actual" }, "shared parts");
    const text = "x".repeat(2 ** 20);
    await refuse(asActual(new Array(300).fill(text)), { code: "limit_exceeded", path: "actual" }, "a shared text");
  });

  test("is refused by its length", { timeout: 5000 }, async () => {
    const sparse = new Array(2 ** 32 - 1);
    for (const given of Object.values(everywhere)) await refuse(given(sparse), { code: "limit_exceeded" }, "sparse");
    await refuse(asActual({ a: [sparse] }), { code: "limit_exceeded" }, "sparse inside");
    await refuse(asActual({ a: new Uint8Array(2 ** 27) }), { code: "limit_exceeded" }, "bytes inside");
    await refuse(() => evaluate({ evalSet: SMALL, actual: SMALL, evalIds: sparse }), { code: "limit_exceeded" }, "ids");
  });
});
