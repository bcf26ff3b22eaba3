// Memory of WebAssembly never shrinks. After a large input the package gives it back, by an engine started afresh, as soon
// as nothing in the old one is needed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTUAL, EXPECTED, turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";

/** The memories of all engines that were started, the one in use last. */
const memories = [];
const { Instance } = WebAssembly;
let isFull = false;
WebAssembly.Instance = class extends Instance {
  constructor(...given) {
    if (isFull) throw new RangeError("WebAssembly.Instance(): Out of memory");
    super(...given);
    memories.push(this.exports.memory);
  }
};

const { evaluate, Evaluator, MetricEvaluatorRegistry, rouge1, RougeEvaluator } = await importEntry();

const MIB = 2 ** 20;
const inUse = () => memories.at(-1).buffer.byteLength / MIB;
const CRITERIA = { criteria: { response_match_score: 0.5, slow: 0.5 } };

/** So many turns whose answers take 2 MiB each: more than 4 are not compared. */
const longTurns = (count) => Array.from({ length: count }, () => turn("Q", "word ".repeat((2 * MIB) / 5)));

/** An evalset of one conversation whose answers take so many bytes. */
function large(bytes) {
  const evalSet = JSON.stringify({
    evalSetId: "large",
    evalCases: [{ evalId: "a", conversation: longTurns(bytes / (2 * MIB)) }],
  });
  return { evalSet, actual: evalSet, criteria: { response_match_score: 0.5 }, explain: "none" };
}

test("is given back after a large evaluation, and results are what they were", async () => {
  const small = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA.criteria, registry: slow() });
  const before = memories.length;
  const result = await evaluate(large(40 * MIB));
  assert.equal(memories.length, before + 1, "one engine was started in place of the large one");
  assert.ok(memories.at(-2).buffer.byteLength > 64 * MIB);
  assert.ok(inUse() < 8, `${inUse()} MiB`);
  assert.equal(result.evalCaseResults[0].overallEvalMetricResults[0].score, 1);
  const { actualInvocation } = result.evalCaseResults[0].evalMetricResultPerInvocation[0];
  assert.equal(actualInvocation.finalResponse.parts[0].text.length, Math.floor((2 * MIB) / 5) * 5);
  const again = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA.criteria, registry: slow() });
  assert.deepEqual(scoresOf(again), scoresOf(small));
  assert.equal(memories.length, before + 1, "a small input needs no other engine");
});

test("is given back after one pair of texts and one conversation", async () => {
  const text = "word ".repeat(16 * MIB);
  let before = memories.length;
  assert.equal(rouge1(text, "word").precision, 1);
  assert.equal(memories.length, before + 1);
  assert.ok(inUse() < 8);
  assert.equal(rouge1("a b", "b c").fmeasure, 0.5);

  before = memories.length;
  const invocations = longTurns(20);
  const evaluator = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.5 }, { explain: "none" });
  const { overallScore } = await evaluator.evaluateInvocations(invocations, invocations);
  assert.equal(overallScore, 1);
  assert.equal(memories.length, before + 1);
  assert.ok(inUse() < 8);
});

test("is wanted by the next call where there is none for another engine: what was found is not lost", (t) => {
  rouge1("warm", "up");
  const before = memories.length;
  t.after(() => (isFull = false));
  isFull = true;
  assert.equal(rouge1("word ".repeat(16 * MIB), "word").precision, 1);
  for (let call = 0; call < 2; call += 1) {
    assert.throws(() => rouge1("a", "b"), { name: "AdkMetricsError", code: "engine_unavailable" });
  }
  isFull = false;
  assert.equal(rouge1("a b", "b c").fmeasure, 0.5);
  assert.equal(memories.length, before + 1);
  assert.ok(inUse() < 8);
});

test("stays while another run is open, and is given back when that ends", async () => {
  let release;
  let begun;
  const hasBegun = new Promise((resolve) => (begun = resolve));
  const gate = new Promise((resolve) => (release = resolve));
  const registry = slow(() => {
    begun();
    return gate;
  });
  const waiting = evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA.criteria, registry });
  await hasBegun;
  const before = memories.length;
  const [first, second] = await Promise.all([evaluate(large(40 * MIB)), evaluate(large(30 * MIB))]);
  assert.equal(memories.length, before, "the open run has its input in this engine");
  assert.ok(inUse() > 64);
  release();
  const result = await waiting;
  assert.equal(memories.length, before + 1);
  assert.ok(inUse() < 8);
  for (const done of [first, second]) {
    assert.equal(done.evalCaseResults[0].overallEvalMetricResults[0].score, 1);
  }
  const alone = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA.criteria, registry: slow() });
  assert.deepEqual(scoresOf(result), scoresOf(alone));
});

/** A registry with a metric `slow` that waits for something. */
function slow(wait = async () => {}) {
  const registry = new MetricEvaluatorRegistry();
  class Slow extends Evaluator {
    async evaluateInvocations() {
      await wait();
      return { overallScore: 1, perInvocationResults: [] };
    }
  }
  registry.registerEvaluator({ metricName: "slow" }, Slow);
  return registry;
}

function scoresOf({ evalCaseResults }) {
  return evalCaseResults.map(({ evalId, overallEvalMetricResults }) => [
    evalId,
    ...overallEvalMetricResults.map(({ metricName, score }) => [metricName, score]),
  ]);
}
