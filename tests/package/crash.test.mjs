// A crash of the engine is a bug of the package. It is reported as `engine_crashed`, and everything but the call that
// crashed goes on with a fresh engine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { crashNext, seen } from "./support/crashes.mjs";
import { ACTUAL, EXPECTED, manyCases, turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";

const {
  AdkMetricsError,
  evalSetToAdkJson,
  evaluate,
  evaluateStream,
  Evaluator,
  geminiJudge,
  MetricEvaluatorRegistry,
  rouge1,
  RougeEvaluator,
} = await importEntry();

const HELP =
  "This is a bug in adk-metrics; please report it with the input at https://github.com/adk-metrics/adk-metrics/issues. The engine was restarted";

/** Crashes the engine in a call of `work`, and checks the error and that the engine works again. */
async function crash(exported, work) {
  const before = seen.instances;
  crashNext(exported);
  const error = await Promise.resolve()
    .then(work)
    .then(
      () => assert.fail(`${exported} was not called`),
      (thrown) => thrown,
    );
  assert.ok(error instanceof AdkMetricsError, `${error?.stack}`);
  assert.equal(error.code, "engine_crashed");
  assert.match(error.message, /^the engine crashed: RuntimeError: /);
  assert.equal(error.help, HELP);
  assert.ok(error.cause instanceof WebAssembly.RuntimeError);
  assert.equal(seen.instances, before + 1);
  assert.deepEqual(seen.usesAfterCrash, []);
  assert.equal(rouge1("a b", "b c").fmeasure, 0.5);
}

const crashAnywhere = () => crash("rougepairs_score", () => rouge1("a", "b"));

/** A registry with a slow metric `slow`, and how often it was asked for each case. */
function slowMetric(milliseconds) {
  const asked = new Map();
  const registry = new MetricEvaluatorRegistry();
  class Slow extends Evaluator {
    async evaluateInvocations([{ userContent }]) {
      const [{ text }] = userContent.parts;
      asked.set(text, (asked.get(text) ?? 0) + 1);
      await sleep(milliseconds);
      return { overallScore: 1, perInvocationResults: [] };
    }
  }
  registry.registerEvaluator({ metricName: "slow" }, Slow);
  return { registry, asked };
}

const request = { evalSet: EXPECTED, actual: ACTUAL };

test("every call that crashes rejects with engine_crashed, and the engine works again", async () => {
  rouge1("warm", "up");
  const metric = { metricName: "response_match_score", threshold: 1 };
  const turns = [turn("q", "a")];
  await crashAnywhere();
  await crash("evalrun_poll", () => evaluate(request));
  await crash("evalrunreader_step", () => evaluate(request));
  await crash("evalrun_header", () => evaluate(request));
  const evaluator = new RougeEvaluator(metric);
  await crash("keptmetric_fromMetric", () => evaluator.evaluateInvocations(turns, turns));
  await evaluator.evaluateInvocations(turns, turns);
  await crash("keptmetric_score", () => evaluator.evaluateInvocations(turns, turns));
  await crash("rougepairs_reserve", () => rouge1("a", "b"));
});

test("a panic says what went wrong and where", () => {
  rouge1("warm", "up");
  // More memory than there are addresses.
  crashNext("rougepairs_reserve", ([object]) => [object, 0xffff_ffff]);
  assert.throws(
    () => rouge1("a", "b"),
    ({ code, message, help, cause }) => {
      assert.equal(code, "engine_crashed");
      assert.match(message, /^the engine crashed: panicked at .+\.rs:\d+:\d+:\ncapacity overflow$/);
      assert.equal(help, HELP);
      assert.ok(cause instanceof Error);
      return true;
    },
  );
  assert.deepEqual(seen.usesAfterCrash, []);
  assert.equal(rouge1("a b", "b c").fmeasure, 0.5);
});

test("a crash after which no engine can be started is told as one, and calls say so until one can", (t) => {
  t.after(() => (seen.isFull = false));
  seen.isFull = true;
  crashNext("rougepairs_score");
  assert.throws(() => rouge1("a", "b"), { name: "AdkMetricsError", code: "engine_crashed" });
  for (let call = 0; call < 2; call += 1) {
    assert.throws(() => rouge1("a", "b"), { name: "AdkMetricsError", code: "engine_unavailable" });
  }
  seen.isFull = false;
  assert.equal(rouge1("a b", "b c").fmeasure, 0.5);
  assert.deepEqual(seen.usesAfterCrash, []);
});

test("a run in progress goes on after a crash elsewhere, without asking a metric again", async () => {
  const { registry, asked } = slowMetric(40);
  const evalSet = manyCases(20);
  const text = JSON.stringify(evalSet);
  const stream = evaluateStream({
    evalSet: text,
    actual: text,
    criteria: { slow: 1, response_match_score: 1 },
    registry,
    concurrency: 5,
  });
  const given = [];
  for await (const result of stream) {
    given.push(result);
    if (given.length % 3 === 1) await crashAnywhere();
  }
  assert.deepEqual(given.map((one) => one.evalId).sort(), evalSet.evalCases.map((one) => one.evalId).sort());
  for (const {
    overallEvalMetricResults: [slow, match],
  } of given)
    assert.deepEqual([slow.score, match.score], [1, 1]);
  assert.deepEqual([...asked.values()], Array(20).fill(1));
});

test("a run that sleeps goes on after a crash elsewhere", { timeout: 10_000 }, async () => {
  const { registry, asked } = slowMetric(60);
  const running = evaluate({ ...request, criteria: { slow: 1 }, registry });
  await sleep(20);
  await crashAnywhere();
  const set = await running;
  assert.ok(set.evalCaseResults.every((one) => one.finalEvalStatus === 1));
  assert.deepEqual([...asked.values()], [1, 1, 1]);
});

test("a run goes on after a crash in a call of its own metric, also while judges answer", async () => {
  const registry = new MetricEvaluatorRegistry();
  let asked = 0;
  registry.registerEvaluator({ metricName: "own" }, async () => {
    asked += 1;
    if (asked % 10 === 0) {
      crashNext("rougepairs_score");
      assert.throws(() => rouge1("a", "b"), { code: "engine_crashed" });
    }
    await sleep(1);
    return 1;
  });
  const evalSet = manyCases(30);
  const criteria = { own: 1, final_response_match_v2: 1 };
  const judge = async () => '{"is_the_agent_response_valid": "valid"}';
  const set = await evaluate({ evalSet, actual: evalSet, criteria, registry, judge, concurrency: 4 });
  const scores = set.evalCaseResults.map(({ overallEvalMetricResults: [own, match] }) => [own.score, match.score]);
  assert.deepEqual(scores, Array(30).fill([1, 1]));
  assert.equal(asked, 30);
  assert.deepEqual(seen.usesAfterCrash, []);
});

test("a run that crashes itself rejects; others beside it do not notice", { timeout: 10_000 }, async () => {
  const slow = slowMetric(60);
  const quick = slowMetric(20);
  const other = evaluate({ ...request, criteria: { slow: 1 }, registry: slow.registry });
  const crashing = evaluate({ ...request, criteria: { slow: 1 }, registry: quick.registry });
  crashing.catch(() => {});
  await sleep(5);
  crashNext("evalrun_handleCustom");
  await assert.rejects(crashing, { code: "engine_crashed" });
  const set = await other;
  assert.ok(set.evalCaseResults.every((one) => one.finalEvalStatus === 1));
  assert.deepEqual([...slow.asked.values()], [1, 1, 1]);
  assert.deepEqual(seen.usesAfterCrash, []);
});

test("a run that crashes over a provider's answer rejects: it is asked for nothing again", async () => {
  let asked = 0;
  const fetch = async () => {
    asked += 1;
    if (asked === 1) crashNext("evalrun_handleAnswer");
    return Response.json({ candidates: [{ content: { parts: [{ text: "{}" }] } }] });
  };
  const judge = geminiJudge({ apiKey: "key", fetch });
  const criteria = { final_response_match_v2: 1 };
  await assert.rejects(evaluate({ ...request, criteria, judge, concurrency: 1 }), { code: "engine_crashed" });
  assert.equal(asked, 1);
  assert.deepEqual(seen.usesAfterCrash, []);
  assert.equal(rouge1("a b", "b c").fmeasure, 0.5);
});

test("a run that was cancelled stays cancelled over a crash", { timeout: 10_000 }, async () => {
  const controller = new AbortController();
  const { registry, asked } = slowMetric(5);
  const evalSet = manyCases(1500);
  const given = [];
  for await (const result of evaluateStream({
    evalSet,
    actual: evalSet,
    criteria: { slow: 1 },
    registry,
    concurrency: 1,
    signal: controller.signal,
  })) {
    given.push(result);
    if (given.length === 2) controller.abort();
    if (given.length === 2 || given.length === 4) await crashAnywhere();
  }
  assert.equal(given.length, 1500);
  assert.ok(asked.size <= 4);
});

test("a crash while the inputs of a run are read makes it read them again", { timeout: 10_000 }, async () => {
  const evalSet = JSON.stringify(manyCases(10_000));
  const pending = evaluate({ evalSet, actual: evalSet });
  // Reading takes longer than the thread is kept at once.
  await sleep(0);
  await crashAnywhere();
  const set = await pending;
  assert.equal(set.evalCaseResults.length, 10_000);
  assert.deepEqual(seen.usesAfterCrash, []);
});

test("a crash while a result's invocation is looked at leaves the result usable", async () => {
  const text = JSON.stringify(EXPECTED);
  const set = await evaluate({ evalSet: text, actual: text });
  const [entry] = set.evalCaseResults[0].evalMetricResultPerInvocation;
  await crash("rougepairs_score", () => rouge1("a", "b"));
  assert.equal(entry.actualInvocation.userContent.parts[0].text, "Weather?");
});

test("a thousand crashes leak no memory", { timeout: 60_000 }, async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const crashMany = async (count) => {
    for (let index = 0; index < count; index += 1) {
      await crashAnywhere();
      // Collections need a turn of the event loop.
      if (index % 50 === 0) await sleep(0);
    }
    for (let round = 0; round < 3; round += 1) {
      collect();
      await sleep(5);
    }
    return process.memoryUsage();
  };
  const before = await crashMany(100);
  const after = await crashMany(1000);
  const megabytes = (key) => Math.round((after[key] - before[key]) / 2 ** 20);
  assert.ok(megabytes("rss") < 60, `${megabytes("rss")} MB more resident`);
  assert.ok(megabytes("heapUsed") < 5, `${megabytes("heapUsed")} MB more of heap`);
  assert.ok(evalSetToAdkJson(EXPECTED).length > 0);
});
