// Functions of the package with arguments that they are not made for: wrong types, holes, getters and proxies that throw.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { turn } from "./support/conversations.mjs";
import {
  asJudged,
  asJudgedSet,
  asConfig,
  CRITERIA,
  failingAt,
  LOOKS,
  onlyOwnErrors,
  paths,
  refuse,
  replaced,
  settle,
  SMALL,
  THROWING,
} from "./support/hostile.mjs";
import { importEntry, testFile } from "./support/package.mjs";

const adk = await importEntry();
const { evalSetToAdkJson, evaluate, readEvalSet, resultsToAdkJson, rouge1, RougeEvaluator } = adk;

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
      [SMALL, asJudgedSet],
      [SMALL, asJudged],
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
      for (const value of WRONG) {
        await settle(
          () => call(value),
          `${name} with ${typeof value} ${value === null || typeof value !== "object" ? String(value) : ""}`,
        );
      }
    }
  });
});

/** The functions of the entries, the statics of classes, and their constructors, by name. */
async function* exportedFunctions() {
  for (const entry of [".", "./interop", "./report", "./calibration", "./queue"]) {
    let count = 0;
    for (const [name, value] of Object.entries(await importEntry(entry))) {
      // An error is what its caller says.
      if (typeof value !== "function" || name === "AdkMetricsError") continue;
      count += 1;
      if (!/^class/.test(value)) {
        yield [name, value];
        continue;
      }
      const statics = Object.getOwnPropertyNames(value).filter((key) => typeof value[key] === "function");
      for (const key of statics) yield [`${name}.${key}`, value[key].bind(value)];
      yield [`new ${name}`, (...given) => void new value(...given)];
    }
    assert.ok(count > 3, entry);
  }
}

test("every function raises errors of this package only, whatever proxies it is given", async () => {
  const set = { evalSetId: "set", evalCases: [] };
  for await (const [name, work] of exportedFunctions()) {
    for (const make of THROWING) {
      for (const given of [[make()], [set, make()], [set, set, make()]]) await onlyOwnErrors(name, work, given);
    }
  }
});

test("every function raises errors of this package only, wherever in its argument a look fails", async () => {
  const invocation = {
    ...turn("q", "a"),
    intermediateData: { invocationEvents: [{ content: { parts: [{ functionCall: { name: "t", args: { x: 1 } } }] } }] },
  };
  const values = [
    JSON.parse(JSON.stringify(await evaluate({ evalSet: SMALL, actual: SMALL, criteria: CRITERIA }))),
    { evalSet: SMALL, actual: SMALL, criteria: CRITERIA },
    { ...invocation, events: [{ author: "user", content: { parts: [{ text: "q" }] } }], id: "s" },
    { resourceSpans: [{ scopeSpans: [{ spans: [{ name: "call_llm", attributes: [] }] }] }] },
  ];
  for await (const [name, work] of exportedFunctions()) {
    for (const value of values) {
      for (const last of LOOKS) {
        await onlyOwnErrors(`${name}, look ${last}`, work, [failingAt(value, last)]);
        await onlyOwnErrors(`${name}, look ${last}`, work, [failingAt([value], last), value]);
        await onlyOwnErrors(`${name}, look ${last}`, work, [value, failingAt(value, last)]);
      }
    }
  }
});
