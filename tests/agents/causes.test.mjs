// Errors are told with what caused them, whoever throws: an agent, a judge, a metric, a function that makes an agent. Node's
// error of a host with two addresses has an empty message: what it says is in its code and in the errors that it is made of.

import assert from "node:assert/strict";
import test from "node:test";
import { evaluate, languageModelJudge, MetricEvaluatorRegistry } from "../../pkg/dist/esm/node.js";
import { evalSetOf, turn } from "./evalsets.mjs";
import { failing, HELLO } from "./greeting.mjs";

const ADDRESSES = ["::1:59998", "127.0.0.1:59998"];

function fetchFailed() {
  const refused = new AggregateError(
    ADDRESSES.map((address) => new Error(`connect ECONNREFUSED ${address}`)),
    "",
  );
  return new TypeError("fetch failed", { cause: Object.assign(refused, { code: "ECONNREFUSED" }) });
}

const fails = () => {
  throw fetchFailed();
};

const IN_ONE_LINE =
  /TypeError: fetch failed; caused by AggregateError \(ECONNREFUSED\); caused by Error: connect ECONNREFUSED ::1:59998 and Error: connect ECONNREFUSED 127\.0\.0\.1:59998/;

test("an agent's error is told with its causes and with the errors that it is made of", async () => {
  const { message } = await failing(fails);
  assert.match(message, /turn 1: TypeError: fetch failed\n +at /);
  assert.match(message, /\n +Caused by: AggregateError \(ECONNREFUSED\)\n +at /);
  for (const address of ADDRESSES) assert.ok(message.includes(`  Caused by: Error: connect ECONNREFUSED ${address}\n`));
  const all = await failing(() => {
    throw new AggregateError([new Error("one"), new RangeError("two")], "all failed");
  });
  assert.match(all.message, /AggregateError: all failed\n[^]*Caused by: Error: one\n[^]*Caused by: RangeError: two\n/);
});

test("causes that lead in a circle, throw when they are read or are many are no trouble", async () => {
  const circle = new Error("circle");
  circle.cause = circle;
  const unreadable = Object.defineProperty(new Error("unreadable"), "cause", { get: () => assert.fail() });
  const many = new AggregateError(
    Array.from({ length: 1e3 }, (_, at) => new Error(`number ${at}`)),
    "many",
  );
  for (const error of [circle, unreadable, many]) {
    const { message } = (await failing(() => Promise.reject(error))).failures[0];
    assert.ok(message.includes(error.message));
    assert.ok(message.length < 5000);
  }
});

const JUDGED = { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 1 } } };

/** What is said of an error of a judge, in one line. */
async function saidOf(judge) {
  const { message } = await failing(() => "hi", HELLO, JUDGED, 1, { judge });
  return /(?<=case results: )[^\n]*/.exec(message)?.[0] ?? message;
}

const saidOfCause = (cause) => saidOf(() => Promise.reject(new Error("no reply", { cause })));

test("so is that of a judge that is a function", async () => {
  assert.match(await saidOf(fails), IN_ONE_LINE);
});

test("no cause of a judge's error is a surprise", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const throwing = Object.defineProperty(new Error(), "message", { get: () => assert.fail() });
  const bare = Object.assign(Object.create(null), { code: "E_BARE" });
  const untold = [
    proxy,
    { message: Symbol("x") },
    { message: /x/ },
    { message: "" },
    Object.create(null),
    5,
    [],
    "",
    {},
  ];
  for (const cause of untold) assert.match(await saidOfCause(cause), /Error: no reply(?! ?;)/);
  assert.match(await saidOfCause(bare), /Error: no reply; caused by an error without a message/);
  assert.match(await saidOfCause(throwing), /Error: no reply; caused by an error without a message/);
  assert.match(await saidOfCause({ code: "E_PLAIN" }), /no reply; caused by E_PLAIN/);
  assert.match(await saidOfCause("a text"), /Error: no reply; caused by a text/);
  const many = new AggregateError(Array.from({ length: 1e6 }, (_, at) => at && new Error(`number ${at}`)));
  assert.ok((await saidOfCause(many)).length < 2000);
});

test("causes that are objects are not told whole, since they may hold keys", async () => {
  const request = { headers: { Authorization: "Bearer sk-1" } };
  for (const cause of [
    { request },
    { code: "E_KEY", request },
    { message: "refused", request },
    { cause: { request } },
  ]) {
    const { message } = await failing(() => Promise.reject(new Error("no reply", { cause })));
    for (const said of [message, await saidOfCause(cause)]) assert.doesNotMatch(said, /sk-1|object Object/);
  }
  assert.doesNotMatch(await saidOfCause(new Response("no")), /object Response/);
  assert.match(await saidOfCause({ cause: new Error("inner") }), /no reply; caused by Error: inner/);
});

test("a long error of a provider is told once", async () => {
  const model = { specificationVersion: "v2", provider: "a", modelId: "b" };
  for (const length of [390, 399, 600, 2000]) {
    const doGenerate = () => Promise.reject(new Error(`begins ${"x".repeat(length)}`));
    const said = await saidOf(languageModelJudge({ ...model, doGenerate }));
    assert.equal(said.split("begins").length, 2, said);
  }
});

test("so is that of a metric of one's own, with where it was thrown", async () => {
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "mine", metricValueInfo: {} }, function score() {
    throw fetchFailed();
  });
  const actual = evalSetOf({ hello: [turn("hello", "hi")] });
  const result = await evaluate({ evalSet: actual, actual, criteria: { mine: 0.5 }, registry });
  const [{ reason }] = result.evalCaseResults[0].overallEvalMetricResults;
  const [first, ...frames] = reason.split("\n");
  assert.match(first, IN_ONE_LINE);
  assert.ok(frames.some((frame) => /^ +at .*causes\.test\.mjs/.test(frame)));
  assert.doesNotMatch(reason, /pkg\/dist/);
  const { message } = result.warnings.find(({ code }) => code === "custom_metric_failed");
  assert.match(message, /in 1 of 1 case results, first in hello: TypeError: [^\n]*$/);
});
