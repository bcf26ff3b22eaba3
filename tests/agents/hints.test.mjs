// Errors for what is often taken for an agent, a judge or a path say what to pass instead.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import * as api from "../../pkg/dist/esm/node.js";
import { errorOf, evalSetOf, turn } from "./evalsets.mjs";

const { AgentEvaluator, evaluate, fileJournal, FinalResponseMatchV2Evaluator, recordJudge } = api;
const SET = evalSetOf({ hi: [turn("Hi", "Hello")] });
const run = (agent, criteria = { response_match_score: 0.5 }, options = {}) =>
  AgentEvaluator.evaluateEvalSet(agent, SET, criteria, 1, false, options);
const judging = (judge, options = {}) =>
  evaluate({ evalSet: SET, actual: SET, criteria: { final_response_match_v2: 0.5 }, judge, ...options });
const adkAgent = { name: "a", runAsync: async function* () {} };

test("a function that makes an agent is told to be called", async () => {
  for (const agent of [() => adkAgent, async () => adkAgent]) {
    const { failures } = await errorOf(() => run(agent));
    assert.match(
      failures[0].message,
      /this function creates agents, and is not an agent itself.*Call it, and pass the agent/,
    );
  }
});

test("an evalset or a module in place of an agent", async () => {
  const evalSet = await errorOf(() => run(SET));
  assert.equal(evalSet.help, "This is an evalset. The agent comes first: evaluateEvalSet(agent, evalSet, criteria)");
  const folder = mkdtempSync(join(tmpdir(), "hints-"));
  try {
    writeFileSync(
      join(folder, "agent.mjs"),
      "export const agent = () => 'Hello'; export default agent; export const x = 1;",
    );
    const { help } = await errorOf(async () => run(await import(join(folder, "agent.mjs"))));
    assert.equal(help, "This is a module: pass one of its exports, `agent` or `default`");
  } finally {
    rmSync(folder, { recursive: true });
  }
  const path = await errorOf(() => AgentEvaluator.evaluate(() => "Hello", SET));
  assert.match(path.help, /evaluateEvalSet\(agent, evalSet, criteria\)/);
});

test("an agent that says nothing, whatever it is", async () => {
  const silent = [() => null, () => [{ author: "user", content: { parts: [{ text: "Hello" }] } }], adkAgentOf([])];
  for (const agent of silent) {
    const { results } = await errorOf(() => run(agent));
    const [{ help }] = results[0].warnings;
    assert.match(
      help,
      /A function has to return its answer as a string, or as events with `content` whose author is not `user`\. An agent of a framework is silent if its model's reply is empty or an error/,
    );
    assert.match(help, /its model's reply is empty or an error/);
  }
});

/** A runner of ADK-TS that gives these events. */
function adkAgentOf(events) {
  const sessionService = { createSession: async () => ({ id: "s", appName: "a", userId: "u" }) };
  return {
    appName: "a",
    agent: { name: "a" },
    sessionService,
    runAsync: async function* () {
      yield* events;
    },
  };
}

test("what is no judge", async () => {
  for (const [judge, help] of [
    [api.openaiJudge, /openaiJudge\(\{ model, apiKey \}\)/],
    [api.anthropicJudge, /anthropicJudge\(\{ apiKey \}\)/],
    [api.adkJudge, /adkJudge\(llm\)/],
    [api.replayJudge, /replayJudge\(recording\)/],
    [{ model: "m", generateContentAsync() {} }, /adkJudge\(llm\)/],
    [{ modelId: "m", doGenerate() {} }, /languageModelJudge\(model\)/],
    ["gpt-4.1-mini", /openaiJudge\(\{ model: "gpt-4.1-mini", apiKey \}\)/],
    [{}, /geminiJudge/],
  ]) {
    const error = await errorOf(() => judging(judge));
    assert.equal(error.code, "invalid_input");
    assert.match(error.help, help);
  }
  assert.equal((await errorOf(() => judging(Promise.resolve(async () => "valid")))).help, "Await it first");
  const sink = await errorOf(async () => recordJudge(async () => "valid", "judge.jsonl"));
  assert.equal(sink.help, "For a file, pass `createWriteStream(path)` of node:fs");
});

test("a judge that throws is what failed", async () => {
  const thrown = [
    () => {
      throw new Error("dead");
    },
    async () => Promise.reject("dead"),
  ];
  for (const judge of thrown) {
    const { evalCaseResults } = await judging(judge);
    assert.match(evalCaseResults[0].overallEvalMetricResults[0].reason, /^the judge failed: (?:Error: )?dead/);
  }
});

test("an evaluator without a judge is not told of a config", async () => {
  const evaluator = new FinalResponseMatchV2Evaluator({ metricName: "final_response_match_v2", threshold: 0.5 });
  const turns = SET.evalCases[0].conversation;
  const error = await errorOf(() => evaluator.evaluateInvocations(turns, turns));
  assert.deepEqual([error.code, error.path], ["judge_required", "options: judge"]);
});

test("a journal that this process writes is to be closed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hints-"));
  const file = join(folder, "runs.jsonl");
  const journal = fileJournal(file);
  try {
    await run(() => "Hello", undefined, { journal });
    const error = await errorOf(() => run(() => "Hello", undefined, { journal: fileJournal(file) }));
    assert.match(error.help, /`close\(\)`/);
  } finally {
    await journal.close();
    rmSync(folder, { recursive: true });
  }
});
