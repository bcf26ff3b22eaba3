// What is read is read once: the engine's calls are counted.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { crashNext, seen } from "./support/crashes.mjs";
import { turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";

const { AgentEvaluator, evaluate, FinalResponseMatchV2Evaluator, LocalEvalService, rouge1, RougeEvaluator } =
  await importEntry();

/** How often functions of the engine are called by some work: those that read an evalset, a conversation or a turn of an agent. */
async function readings(work) {
  seen.calls = {};
  await work();
  const names = [
    ...["evalrunreader_new", "evalrunreader_fromInvocations", "evalSetToJs", "evalSetToAdk", "evalSetWarnings"],
    ...["keptmetric_fromMetric", "keptmetric_score"],
  ];
  return Object.fromEntries(names.flatMap((name) => (seen.calls[name] > 0 ? [[name, seen.calls[name]]] : [])));
}

const EVALSET = { evalSetId: "set", evalCases: [{ evalId: "case", conversation: [turn("Hello?", "Hello!")] }] };
const CRITERIA = { response_match_score: 1 };

test("a conversation is opened once, whether or not a judge is asked", async () => {
  const turns = [turn("Hello?", "Hello!")];
  const metric = { metricName: "m", threshold: 0.5 };
  const plain = new RougeEvaluator(metric);
  const once = await readings(() => plain.evaluateInvocations(turns, turns));
  assert.deepEqual(once, { keptmetric_fromMetric: 1, keptmetric_score: 1 });
  const judge = () => ({ text: '{"is_the_agent_response_valid": "valid"}' });
  const judged = new FinalResponseMatchV2Evaluator(metric, { judge });
  let result;
  const found = await readings(async () => (result = await judged.evaluateInvocations(turns, turns)));
  assert.deepEqual(found, { evalrunreader_fromInvocations: 1 });
  assert.equal(result.overallScore, 1);
});

test("an evaluator reads its settings at the first call, and the engine keeps them for all that are alike", async () => {
  const turns = [turn("Hello?", "Hello you!")];
  const expected = [turn("Hello?", "Hello!")];
  const reads = {};
  const counted = (target) =>
    new Proxy(target, { get: (object, key) => ((reads[key] = (reads[key] ?? 0) + 1), Reflect.get(object, key)) });
  const metric = { metricName: "m", threshold: 0.61, criterion: { threshold: 0.61 } };
  const options = { explain: "none", dialect: "adk-ts" };
  const evaluator = new RougeEvaluator(counted(metric), counted(options));
  assert.deepEqual(reads, {});
  const first = await evaluator.evaluateInvocations(turns, expected);
  const before = { ...reads };
  metric.threshold = metric.criterion.threshold = 0.99;
  options.explain = "all";
  const found = await readings(async () => {
    assert.deepEqual(await evaluator.evaluateInvocations(turns, expected), first);
    const alike = { metricName: "other", threshold: 0.61, criterion: { threshold: 0.61 } };
    const another = new RougeEvaluator(alike, { explain: "none", dialect: "adk-ts" });
    assert.deepEqual(await another.evaluateInvocations(turns, expected), first);
  });
  assert.deepEqual(found, { keptmetric_score: 2 });
  assert.deepEqual(reads, before);
  assert.equal(first.overallEvalStatus, 1);
  assert.equal(first.perInvocationResults[0].explanation, undefined);
});

test("a metric that asks no judge is computed before its promise is returned", async () => {
  const turns = [turn("Hello?", "Hello!")];
  const evaluator = new RougeEvaluator({ metricName: "m", threshold: 0.5 });
  seen.calls = {};
  const result = evaluator.evaluateInvocations(turns, turns);
  assert.equal(seen.calls.keptmetric_score, 1);
  turns[0].finalResponse.parts[0].text = "Goodbye!";
  assert.equal((await result).overallScore, 1);
});

test("an evalset is read once, to find mistakes, for an agent's run and for its scores", async () => {
  const found = await readings(() => AgentEvaluator.evaluateEvalSet(() => "Hello!", EVALSET, CRITERIA, 2));
  // Each of two runs has a turn, which is read when it is done.
  assert.deepEqual(found, { evalrunreader_new: 1, evalSetToJs: 2 });
  const file = join(mkdtempSync(join(tmpdir(), "once-")), "a.test.json");
  writeFileSync(file, JSON.stringify(EVALSET));
  const ofFile = await readings(() => AgentEvaluator.evaluate(() => "Hello!", file, 2));
  assert.deepEqual(ofFile, { evalrunreader_new: 1, evalSetToJs: 2 });
});

test("what is wrong with an evaluation is asked, not scored", async () => {
  let polls;
  const service = new LocalEvalService(() => "Hello!");
  await readings(async () => {
    const evaluateConfig = { evalMetrics: [{ metricName: "no_such_metric", threshold: 1 }] };
    const session = service.evaluateSession({ evalSetId: "set", evalCases: [EVALSET], evaluateConfig });
    await assert.rejects(async () => session.next(), { code: "unknown_metric" });
    polls = seen.calls.evalrun_poll ?? 0;
  });
  assert.equal(polls, 0);
  await readings(() => AgentEvaluator.evaluateEvalSet(() => "Hello!", EVALSET, CRITERIA, 1));
  assert.equal(seen.calls.evalrun_poll, 1);
});

test("the words of an error are those of a result's reason", async () => {
  const turns = [turn("Hello?", "Hello!")];
  const evaluator = new RougeEvaluator({ metricName: "m", threshold: 0.5 });
  const thrown = await evaluator.evaluateInvocations(turns, [...turns, ...turns]).catch((error) => error);
  const [{ conversation, ...evalCase }] = EVALSET.evalCases;
  const evalSet = { ...EVALSET, evalCases: [{ ...evalCase, conversation: [...conversation, ...conversation] }] };
  const { evalCaseResults } = await evaluate({ evalSet, actual: EVALSET, criteria: CRITERIA });
  assert.equal(thrown.code, "length_mismatch");
  assert.equal(evalCaseResults[0].reason, String(thrown));
});

test("every engine's run of an agent's evaluation is freed, also where a later file is refused", async () => {
  const open = () => (seen.calls.evalrunreader_step ?? 0) - (seen.calls.__wbg_evalrun_free ?? 0);
  await readings(() => AgentEvaluator.evaluateEvalSet(() => "Hello!", EVALSET, CRITERIA, 2));
  assert.equal(open(), 0);
  const folder = mkdtempSync(join(tmpdir(), "once-"));
  writeFileSync(join(folder, "a.test.json"), JSON.stringify(EVALSET));
  writeFileSync(join(folder, "b.test.json"), '{"eval_set_id": "s", "eval_cases": []}');
  await readings(() =>
    assert.rejects(
      AgentEvaluator.evaluate(() => "Hello!", folder, 2),
      { code: "invalid_input" },
    ),
  );
  assert.equal(open(), 0);
});

test("an engine that is started afresh while an agent is run reads the evalset again", async () => {
  const evalSet = structuredClone(EVALSET);
  const agent = async () => {
    crashNext("rougepairs_score");
    assert.throws(() => rouge1("a", "a"), { code: "engine_crashed" });
    return "Hello!";
  };
  let result;
  const found = await readings(async () => {
    result = await AgentEvaluator.evaluateEvalSet(agent, evalSet, CRITERIA, 1);
  });
  assert.deepEqual(found, { evalrunreader_new: 2, evalSetToJs: 1 });
  assert.equal(result.evalCaseResults[0].finalEvalStatus, 1);
});

test("the evalset of a service is read once for what its cases are, and each case once for its scores", async () => {
  const service = new LocalEvalService(() => "Hello!");
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 1 }] };
  const found = await readings(async () => {
    const session = service.evaluateSession({ evalSetId: "set", evalCases: [EVALSET], evaluateConfig });
    for await (const { evalCaseResults } of session) assert.equal(evalCaseResults.length, 1);
  });
  assert.deepEqual(found, { evalrunreader_new: 2, evalSetToJs: 1 });
});
