// What is right in another place is told so: configs and options where criteria belong, texts where paths do, and functions
// that make judges where judges do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentEvaluator, evaluate, geminiJudge } from "../../pkg/dist/esm/node.js";

const turns = [{ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } }];
const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: turns }] };
const agent = () => "Hello";
const run = (criteria) => AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1);

test("a config is told where criteria belong", async () => {
  const config = { criteria: { response_match_score: 0.5 } };
  for (const work of [() => run(config), () => evaluate({ evalSet, actual: evalSet, criteria: config })]) {
    await assert.rejects(work, (error) => {
      assert.equal(error.message, "expected criteria, found a config with `criteria`");
      assert.match(error.help, /Pass what stands under `criteria`/);
      return true;
    });
  }
});

test("options are told where criteria belong", async () => {
  for (const [key, value] of [
    ["numRuns", 2],
    ["turnTimeoutMs", 5],
    ["judge", async () => ""],
    ["budget", { calls: 1 }],
  ]) {
    await assert.rejects(run({ response_match_score: 1, [key]: value }), (error) => {
      assert.equal(error.message, `\`${key}\` is an option and no metric`);
      assert.match(error.help, /Options come after the criteria/);
      return true;
    });
  }
});

test("a text is told where a path belongs", async () => {
  for (const text of [JSON.stringify(evalSet), JSON.stringify(evalSet, null, 2), `\n[${" ".repeat(5000)}]`]) {
    await assert.rejects(AgentEvaluator.evaluate(agent, text), (error) => {
      assert.equal(error.message, "expected the path of an evalset, found the text of one");
      assert.match(error.help, /evaluateEvalSet/);
      return true;
    });
  }
  await assert.rejects(AgentEvaluator.evaluate(agent, "x".repeat(5000)), { code: "invalid_input" });
});

test("a function that makes a judge is told where a judge belongs", async () => {
  const request = { evalSet, actual: evalSet, criteria: { safety_v1: 1 }, judge: geminiJudge };
  const { evalCaseResults } = await evaluate(request);
  const [{ reason }] = evalCaseResults[0].overallEvalMetricResults;
  assert.match(reason, /this function makes a judge and is none itself.* Call it/);
});
