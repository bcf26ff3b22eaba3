// Inputs that nobody writes on purpose, and some that somebody does: each ends in an answer or in an AdkMetricsError,
// never in anything else, and leaves the engine in working order.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRandom } from "../adk-ts/random.mjs";
import { ACTUAL, EXPECTED, evalSetOf, turn } from "./support/conversations.mjs";
import { importEntry, testFile } from "./support/package.mjs";

const adk = await importEntry();
const { AdkMetricsError, evalSetToAdkJson, evaluate, readEvalSet, resultsToAdkJson, rouge1, RougeEvaluator } = adk;

const encoder = new TextEncoder();
const SMALL = evalSetOf({ c: [turn("q", "a b", [["t", { x: [1, { y: "z" }] }]])] });
const CRITERIA = { tool_trajectory_avg_score: 1, response_match_score: { threshold: 0.8 } };

/** The answer, written out, or the error, which must be the package's own. */
async function settle(work, what) {
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
async function refuse(work, expected, what) {
  const { error } = await settle(work, what);
  assert.ok(error !== undefined, `${what}: accepted`);
  for (const [key, value] of Object.entries(expected)) {
    if (value instanceof RegExp) assert.match(String(error[key]), value, what);
    else assert.equal(error[key], value, what);
  }
}

const asEvalSet = (evalSet) => () => evaluate({ evalSet, actual: SMALL, criteria: CRITERIA });
const asActual = (actual) => () => evaluate({ evalSet: SMALL, actual, criteria: CRITERIA });
const asConfig = (config) => () => evaluate({ evalSet: SMALL, actual: SMALL, config });
const everywhere = { evalSet: asEvalSet, actual: asActual, config: asConfig };

/** The paths of all nodes of a JSON value, the root first. */
function* paths(value, path = []) {
  yield path;
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) yield* paths(value[key], [...path, key]);
}

/** A copy of a value with the node at a path replaced. */
function replaced(value, path, node) {
  if (path.length === 0) return node;
  const copy = structuredClone(value);
  const parent = path.slice(0, -1).reduce((at, key) => at[key], copy);
  parent[path.at(-1)] = node;
  return copy;
}

describe("text", () => {
  test("cut off at any byte is refused, as text and as bytes", async () => {
    const text = JSON.stringify(SMALL);
    const bytes = encoder.encode(text);
    for (let length = 0; length < bytes.length; length += 1) {
      await refuse(
        asEvalSet(bytes.subarray(0, length)),
        { code: "invalid_json", path: "evalSet", line: 1 },
        `${length} bytes`,
      );
      await refuse(
        asActual(text.slice(0, length)),
        { code: "invalid_json", path: "actual", line: 1 },
        `${length} characters`,
      );
    }
  });

  test("that is empty or blank is refused", async () => {
    for (const empty of ["", " ", "\n\n", "\ufeff", new Uint8Array(), new ArrayBuffer(0)]) {
      for (const [name, given] of Object.entries(everywhere)) {
        await refuse(given(empty), { code: "invalid_json", path: name }, `an empty ${name}`);
      }
    }
  });

  test("nested ten thousand deep is refused", async () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ]) {
      for (const inner of ["1", ""]) {
        const text = open.repeat(10_000) + inner + close.repeat(inner === "" ? 0 : 10_000);
        for (const given of Object.values(everywhere)) await refuse(given(text), { code: "limit_exceeded" }, open);
      }
    }
  });

  test("with a key given twice is refused", async () => {
    for (const text of [
      '{"eval_set_id":"a","eval_set_id":"b","eval_cases":[]}',
      '{"eval_set_id":"a","eval_cases":[],"eval_\\u0063ases":[]}',
    ]) {
      await refuse(asEvalSet(text), { code: "invalid_json", message: /given twice/ }, text);
    }
  });

  test("that is not UTF-8, or holds half of a surrogate pair, is refused", async () => {
    const text = JSON.stringify(SMALL);
    const at = text.indexOf('"a b"') + 1;
    for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      const bytes = new Uint8Array([...encoder.encode(text.slice(0, at)), ...bad, ...encoder.encode(text.slice(at))]);
      await refuse(asEvalSet(bytes), { code: "invalid_json", path: "evalSet" }, `bytes ${bad}`);
    }
    for (const half of ["\ud800", "\udfff", "\\ud800", "\\udc00\\ud800", "\ude00\ud83d"]) {
      await refuse(
        asEvalSet(text.slice(0, at) + half + text.slice(at)),
        { code: "invalid_json", message: /surrogate/ },
        half,
      );
      await refuse(asEvalSet(text.replace('"x"', `"x${half}"`)), { code: "invalid_json", message: /surrogate/ }, half);
    }
  });

  test("with numbers of any size is read", async () => {
    for (const number of ["1e400", "-1e400", "1e-400", "-0", "-0.0", "9".repeat(400), "0.".padEnd(400, "1")]) {
      const text = JSON.stringify(SMALL).replace("[1,", `[${number},`);
      const { value } = await settle(() => evaluate({ evalSet: text, actual: text, criteria: CRITERIA }), number);
      assert.ok(value?.includes('"finalEvalStatus":1'), number);
    }
  });

  test("with keys of Object's prototype touches no prototype", async () => {
    const args = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":null}';
    const text = JSON.stringify(SMALL).replace(/"args":\{.*?\}\]\}/, `"args":${args}`);
    const set = await evaluate({ evalSet: text, actual: text, criteria: CRITERIA });
    const [{ actualInvocation }] = set.evalCaseResults[0].evalMetricResultPerInvocation;
    const read = actualInvocation.intermediateData.toolUses[0].args;
    assert.deepEqual(Object.keys(read), ["__proto__", "constructor", "toString"]);
    assert.equal({}.polluted, undefined);
    await settle(asConfig('{"criteria":{"__proto__":1,"constructor":{"threshold":1}},"__proto__":{"a":1}}'), "config");
    await settle(asEvalSet('{"__proto__":{"eval_set_id":"s"},"eval_cases":[]}'), "evalset");
  });

  test("of a hundred megabytes in one string is scored", async () => {
    const words = encoder.encode("word ".repeat(20_000_000));
    const [before, after] = JSON.stringify(evalSetOf({ c: [turn("q", "HERE")] }))
      .split("HERE")
      .map((part) => encoder.encode(part));
    const bytes = new Uint8Array(before.length + words.length + after.length);
    bytes.set(before);
    bytes.set(words, before.length);
    bytes.set(after, before.length + words.length);
    const small = evalSetOf({ c: [turn("q", "word other")] });
    const set = await evaluate({
      evalSet: bytes,
      actual: small,
      criteria: { response_match_score: 0 },
      explain: "none",
    });
    const score = set.evalCaseResults[0].overallEvalMetricResults[0].score;
    assert.ok(score > 0 && score < 1e-6);
  });

  test("of more than the engine reads is refused before it is copied", async () => {
    const tooMuch = new Uint8Array(256 * 1024 * 1024 + 1);
    for (const [name, given] of Object.entries(everywhere)) {
      await refuse(given(tooMuch), { code: "limit_exceeded", path: name }, name);
    }
    const long = "x".repeat(2 ** 28);
    await refuse(() => rouge1(long, long), { code: "limit_exceeded" }, "rouge1");
  });
});

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
          asActual(copy),
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

describe("bytes", () => {
  const bytes = encoder.encode(JSON.stringify(SMALL));

  test("whose buffer was transferred are refused", async () => {
    for (const viewOf of [(buffer) => buffer, (buffer) => new Uint8Array(buffer), (buffer) => new DataView(buffer)]) {
      const { buffer } = bytes.slice();
      const value = viewOf(buffer);
      structuredClone(buffer, { transfer: [buffer] });
      for (const [path, given] of Object.entries(everywhere)) {
        await refuse(given(value), { code: "invalid_input", path, message: /bytes are gone/ }, path);
      }
    }
  });

  test("of a subclass are read by their true length", async () => {
    class Liar extends Uint8Array {
      get length() {
        return 2 ** 40;
      }
      get byteLength() {
        return 1;
      }
      get buffer() {
        throw new Error("no buffer");
      }
    }
    const set = await evaluate({ evalSet: Liar.from(bytes), actual: new Liar(bytes), criteria: CRITERIA });
    assert.equal(set.evalCaseResults[0].finalEvalStatus, 1);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    assert.equal((await evaluate({ evalSet: view, actual: view })).evalCaseResults.length, 1);
  });
});

describe("objects of the caller's that throw when they are looked at", () => {
  const cause = new TypeError("do not look");
  const fail = () => {
    throw cause;
  };
  const failing = (key, more = {}) => Object.defineProperty({ ...more }, key, { get: fail, enumerable: true });
  const request = { evalSet: SMALL, actual: SMALL, criteria: CRITERIA };
  const metric = { metricName: "response_match_score", threshold: 1 };

  test("end in an error that has the cause", async () => {
    const set = await evaluate(request);
    const registry = new adk.MetricEvaluatorRegistry();
    class Custom extends adk.Evaluator {}
    const calls = {
      "an array of ids": () => evaluate({ ...request, evalIds: new Proxy(["c"], { get: fail }) }),
      "a registry": () => evaluate({ ...request, registry: { customMetricNames: fail } }),
      "a metric": () => registry.getEvaluator(failing("metricName")),
      "an info": () => registry.registerEvaluator(failing("metricName"), Custom),
      "an interval": () =>
        registry.registerEvaluator({ metricName: "m", metricValueInfo: { interval: failing("minValue") } }, Custom),
      "the options of rouge1": () => rouge1("a", "b", failing("dialect")),
      "a result": () => adk.withThresholds(failing("evalCaseResults"), {}),
      "a result's metric": () =>
        adk.withThresholds(
          {
            evalCaseResults: [{ overallEvalMetricResults: [failing("metricName")], evalMetricResultPerInvocation: [] }],
          },
          {},
        ),
      thresholds: () => adk.withThresholds(set, failing("response_match_score")),
      "a threshold": () => adk.withThresholds(set, { response_match_score: failing("threshold") }),
      "an evaluator's options": () =>
        new RougeEvaluator(metric, failing("explain")).evaluateInvocations([turn("q", "a")], [turn("q", "a")]),
      "a signal": () =>
        evaluate({ ...request, signal: { addEventListener: fail, removeEventListener() {}, aborted: false } }),
      "a signal's state": () =>
        evaluate({ ...request, signal: failing("aborted", { addEventListener() {}, removeEventListener() {} }) }),
      "a signal's end": () =>
        evaluate({ ...request, signal: { addEventListener() {}, removeEventListener: fail, aborted: false } }),
    };
    for (const key of ["evalSet", "actual", "criteria", "registry", "evalIds", "dialect", "signal", "onProgress"]) {
      calls[`request.${key}`] = () => evaluate(failing(key, request));
    }
    for (const [what, call] of Object.entries(calls)) await refuse(call, { code: "invalid_input", cause }, what);
    await refuse(() => evaluate({ ...request, criteria: failing("x") }), { code: "unserializable", cause }, "criteria");
  });

  test("are looked at once", async () => {
    let reads = 0;
    const once = new Proxy(["c"], {
      get: (target, key) => (key === "0" && ++reads > 1 ? fail() : Reflect.get(target, key)),
    });
    const names = new Map();
    const counted = new Proxy(request, {
      get: (target, key) => (names.set(key, (names.get(key) ?? 0) + 1), Reflect.get(target, key)),
    });
    assert.equal((await evaluate({ ...request, evalIds: once })).evalCaseResults.length, 1);
    await evaluate(counted);
    assert.deepEqual(new Set(names.values()), new Set([1]));
  });

  test("of which a signal needs both of its methods", async () => {
    const signal = { addEventListener() {}, aborted: false };
    await refuse(() => evaluate({ ...request, signal }), { code: "invalid_input", path: "signal" }, "half a signal");
  });

  test("do not hide what onProgress throws", async () => {
    await assert.rejects(evaluate({ ...request, onProgress: fail }), (error) => error === cause);
  });
});

test("results with holes are refused by withThresholds", async () => {
  const whole = { overallEvalMetricResults: [], evalMetricResultPerInvocation: [] };
  const holes = [
    null,
    { ...whole, overallEvalMetricResults: [null] },
    { ...whole, overallEvalMetricResults: [{}] },
    { ...whole, evalMetricResultPerInvocation: [null] },
    { ...whole, evalMetricResultPerInvocation: [{}] },
    { ...whole, evalMetricResultPerInvocation: [{ evalMetricResults: [undefined] }] },
  ];
  for (const hole of holes) {
    const expected = { code: "invalid_input", path: "result: evalCaseResults[1]" };
    await refuse(
      () => adk.withThresholds({ evalCaseResults: [whole, hole] }, { x: 1 }),
      expected,
      JSON.stringify(hole),
    );
  }
});

test("halves of surrogate pairs are refused by rouge1", async () => {
  for (const half of ["\ud800", "a\udfffb", "\ude00\ud83d"]) {
    const expected = { code: "invalid_json", message: /half of a surrogate pair/ };
    await refuse(() => rouge1(half, "a"), { ...expected, path: "reference" }, "reference");
    await refuse(() => rouge1("a", half, { dialect: "adk-ts" }), { ...expected, path: "candidate" }, "candidate");
  }
  assert.equal(rouge1("\u{1f600} a", "a \u{1f600}").fmeasure, 1);
});

test("Firefox's stack overflow inside the engine is a crash, after which it works again", () => {
  const { encodeInto } = TextEncoder.prototype;
  TextEncoder.prototype.encodeInto = () => {
    throw Object.assign(new Error("too much recursion"), { name: "InternalError" });
  };
  try {
    assert.throws(() => rouge1("a", "b"), { name: "AdkMetricsError", code: "engine_crashed" });
  } finally {
    TextEncoder.prototype.encodeInto = encodeInto;
  }
  assert.equal(rouge1("a", "a").fmeasure, 1);
});

describe("wrong types", () => {
  const WRONG = [null, true, 0, -1, 1.5, 1e300, "", "x", [], {}, [null], [[]], { a: 1 }, ["x"], { threshold: "x" }];

  test("at any node of an evalset, a config or results are read or refused, as object and as text", async () => {
    const { documents } = JSON.parse(testFile("parity/vectors/shapes.json"));
    const results = await evaluate({ evalSet: SMALL, actual: SMALL, criteria: CRITERIA });
    const config = {
      criteria: { tool_parameter_match: { threshold: 0.5, perArgStrategies: { x: "exact" } }, response_match_score: 1 },
    };
    const uses = [
      [SMALL, asEvalSet],
      [SMALL, asActual],
      [config, asConfig],
      // Results are objects only.
      [
        JSON.parse(JSON.stringify(results)),
        (value) => () => resultsToAdkJson(typeof value === "string" ? JSON.parse(value) : value),
      ],
      [documents.eval_set, (value) => () => evalSetToAdkJson(value)],
    ];
    let refused = 0;
    let accepted = 0;
    for (const [value, use] of uses) {
      for (const path of paths(value)) {
        for (const wrong of WRONG) {
          const edited = replaced(value, path, wrong);
          if (typeof edited !== "object" || edited === null) continue;
          const what = `${JSON.stringify(wrong)} at ${path.join(".")}`;
          const [ofObject, ofText] = [await settle(use(edited), what), await settle(use(JSON.stringify(edited)), what)];
          assert.equal(ofText.error?.code, ofObject.error?.code, what);
          assert.equal(ofText.error?.message, ofObject.error?.message, what);
          assert.equal(ofObject.error?.line, undefined, what);
          if (ofObject.error === undefined) accepted += 1;
          else refused += 1;
        }
      }
    }
    assert.ok(refused > 1000 && accepted > 500, `${refused} refused, ${accepted} accepted`);
  });

  test("of arguments are refused by every function that is exported", async () => {
    const turns = [turn("q", "a")];
    const metric = { metricName: "response_match_score", threshold: 1 };
    const set = await evaluate({ evalSet: SMALL, actual: SMALL });
    const Custom = class extends adk.Evaluator {};
    const given = [
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
    const calls = {
      evaluate: (value) => evaluate(value),
      evaluateStream: (value) => adk.evaluateStream(value).next(),
      "evaluate: evalSet": (value) => evaluate({ evalSet: value, actual: SMALL }),
      "evaluate: actual": (value) => evaluate({ evalSet: SMALL, actual: value }),
      "evaluate: config": (value) => evaluate({ evalSet: SMALL, actual: SMALL, config: value }),
      "evaluate: criteria": (value) => evaluate({ evalSet: SMALL, actual: SMALL, criteria: value }),
      "evaluate: registry": (value) => evaluate({ evalSet: SMALL, actual: SMALL, registry: value }),
      "evaluate: evalIds": (value) => evaluate({ evalSet: SMALL, actual: SMALL, evalIds: value }),
      "evaluate: evalSetName": (value) => evaluate({ evalSet: SMALL, actual: SMALL, evalSetName: value }),
      "evaluate: dialect": (value) => evaluate({ evalSet: SMALL, actual: SMALL, dialect: value }),
      "evaluate: explain": (value) => evaluate({ evalSet: SMALL, actual: SMALL, explain: value }),
      "evaluate: concurrency": (value) => evaluate({ evalSet: SMALL, actual: SMALL, concurrency: value }),
      "evaluate: timeoutMs": (value) => evaluate({ evalSet: SMALL, actual: SMALL, timeoutMs: value }),
      "evaluate: signal": (value) => evaluate({ evalSet: SMALL, actual: SMALL, signal: value }),
      rouge1: (value) => rouge1(value, value),
      "rouge1: candidate": (value) => rouge1("a", value),
      "rouge1: options": (value) => rouge1("a", "b", value),
      "rouge1: dialect": (value) => rouge1("a", "b", { dialect: value }),
      evalSetToAdkJson: (value) => evalSetToAdkJson(value),
      "evalSetToAdkJson: name": (value) => evalSetToAdkJson(SMALL, value),
      readEvalSet: (value) => readEvalSet(value),
      "readEvalSet: name": (value) => readEvalSet(SMALL, value),
      resultsToAdkJson: (value) => resultsToAdkJson(value),
      withThresholds: (value) => adk.withThresholds(value, {}),
      "withThresholds: results of a set": (value) => adk.withThresholds({ evalCaseResults: [value] }, { x: 1 }),
      "withThresholds: criteria": (value) => adk.withThresholds(set, value),
      "withThresholds: threshold": (value) => adk.withThresholds(set, { response_match_score: value }),
      "new Evaluator": (value) => new RougeEvaluator(value).evaluateInvocations(turns, turns),
      "new Evaluator: options": (value) => new RougeEvaluator(metric, value).evaluateInvocations(turns, turns),
      "evaluateInvocations: actual": (value) => new RougeEvaluator(metric).evaluateInvocations(value, turns),
      "evaluateInvocations: expected": (value) => new RougeEvaluator(metric).evaluateInvocations(turns, value),
      "evaluateInvocations: an actual turn": (value) => new RougeEvaluator(metric).evaluateInvocations([value], turns),
      getMetricInfo: (value) => RougeEvaluator.getMetricInfo(value),
      "new MetricEvaluatorRegistry": (value) =>
        new adk.MetricEvaluatorRegistry(value).getEvaluator(metric).evaluateInvocations(turns, turns),
      getEvaluator: (value) => adk.DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator(value) && undefined,
      "getEvaluator: metricName": (value) =>
        adk.DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator({ metricName: value }) && undefined,
      registerEvaluator: (value) => new adk.MetricEvaluatorRegistry().registerEvaluator(value, Custom),
      "registerEvaluator: evaluator": (value) =>
        new adk.MetricEvaluatorRegistry().registerEvaluator({ metricName: "x" }, value),
    };
    for (const [name, call] of Object.entries(calls)) {
      for (const value of given) {
        await settle(
          () => call(value),
          `${name} with ${typeof value} ${value === null || typeof value !== "object" ? String(value) : ""}`,
        );
      }
    }
  });
});

test("random changes of real files are read or refused", async () => {
  const { documents } = JSON.parse(testFile("parity/vectors/shapes.json"));
  const { files } = JSON.parse(testFile("parity/vectors/legacy.json"));
  const texts = [
    JSON.stringify(documents.eval_set),
    JSON.stringify(documents.eval_set_result),
    JSON.stringify(EXPECTED, null, 2),
    ...files.slice(0, 20).map(({ text }) => text),
  ];
  const random = createRandom(0xbad_f00d);
  const pieces = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "0",
    "-",
    "1e9",
    "\\u",
    "\\",
    "\n",
    "true",
    '"a":',
    "\u0000",
    "é",
  ];
  const changed = (text) => {
    let found = text;
    for (let edits = random.between(1, 3); edits > 0; edits -= 1) {
      const at = random.between(0, found.length);
      const length = random.chance(0.5) ? 0 : random.between(1, 12);
      const inserted = random.chance(0.3) ? found.slice(at, at + random.between(1, 60)) : random.pick(pieces);
      found = found.slice(0, at) + inserted + found.slice(at + length);
    }
    return found;
  };
  let refused = 0;
  for (let round = 0; round < 1500; round += 1) {
    const text = changed(random.pick(texts));
    const uses = [asEvalSet(text), asActual(text), () => evalSetToAdkJson(text), () => resultsToAdkJson(text)];
    const { error } = await settle(random.pick(uses), text);
    if (error !== undefined) refused += 1;
  }
  assert.ok(refused > 500 && refused < 1500, `${refused} refused`);
});

test("bytes that change after the evaluation end in an error where they are looked at", async () => {
  const bytes = encoder.encode(JSON.stringify(ACTUAL));
  const set = await evaluate({ evalSet: bytes, actual: bytes, criteria: CRITERIA });
  bytes.fill(0x20);
  const [entry] = set.evalCaseResults[0].evalMetricResultPerInvocation;
  await refuse(() => entry.actualInvocation, { code: "invalid_json" }, "changed bytes");
});

test("every function raises errors of this package only, whatever proxies it is given", async () => {
  const failing = (target, trap) =>
    new Proxy(target, {
      [trap]: () => {
        throw new TypeError("a trap");
      },
    });
  const revoked = (target) => {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  };
  const set = { evalSetId: "set", evalCases: [] };
  const made = [() => revoked({}), () => revoked([])].concat(
    ["get", "ownKeys", "has", "getOwnPropertyDescriptor"].flatMap((trap) => [
      () => failing({}, trap),
      () => failing([], trap),
    ]),
  );
  // What reads no more than a property of what it is given passes on what its getter throws.
  const plain = new Set(["finalText", "textOf", "toolCallsOf", "userText"]);
  for (const entry of [".", "./interop", "./report"]) {
    const exported = Object.entries(await importEntry(entry)).filter(([name]) => !plain.has(name));
    const functions = exported.flatMap(([name, value]) => {
      if (typeof value !== "function") return [];
      if (!/^class/.test(value)) return [[name, value]];
      const statics = Object.getOwnPropertyNames(value).filter((key) => typeof value[key] === "function");
      return statics.map((key) => [`${name}.${key}`, value[key].bind(value)]);
    });
    assert.ok(functions.length > 3, entry);
    for (const [name, work] of functions) {
      for (const make of made) {
        for (const given of [[make()], [set, make()], [set, set, make()]]) {
          try {
            const result = work(...given);
            if (typeof result?.[Symbol.asyncIterator] === "function") await result.next();
            else if (typeof result?.next === "function") result.next();
            else await result;
          } catch (error) {
            assert.equal(error.name, "AdkMetricsError", `${name} with ${given.length} arguments: ${error.stack}`);
          }
        }
      }
    }
  }
});
