// Gates of `AgentEvaluator` and `toPassEvalSet`: what the runs of an agent have to reach, in place of every mean.

import assert from "node:assert/strict";
import test from "node:test";
import { AgentEvaluationError, AgentEvaluator } from "../../pkg/dist/esm/node.js";
import { evalSetOf } from "./evalsets.mjs";

// The matchers are for whoever has an `expect`.
globalThis.expect = { extend() {} };
const { adkMatchers } = await import("../../pkg/dist/esm/jest.js");

const CRITERIA = { response_match_score: 1 };
const turn = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "hello" }] } };
const SET = evalSetOf({ greets: { conversation: [turn] } });

/** An agent that is right in the first `right` of its runs. */
function agentOf(right) {
  let runs = 0;
  return () => (runs++ < right ? "hello" : "bye");
}
const evaluated = (right, gates, numRuns = 4, more = {}) =>
  AgentEvaluator.evaluateEvalSet(agentOf(right), SET, CRITERIA, numRuns, false, { gates, parallelism: 1, ...more });

test("an agent passes by the gates that are given, whatever its means are", async () => {
  await assert.rejects(evaluated(3, undefined), AgentEvaluationError);
  for (const gates of [{ minPassRate: 0.75 }, { minPassHat: { 2: 0.5 } }, { allowFlaky: true }]) {
    const { evalCaseResults } = await evaluated(3, gates);
    assert.equal(evalCaseResults.length, 4);
  }
});

test("an agent that misses a gate fails with what it missed, and what went wrong", async () => {
  for (const [right, gates, words] of [
    [2, { minPassRate: 0.75 }, /minPassRate: 2 of 4 runs passed \(50%\); 75% takes 3, 1 too few/],
    [3, { minPassHat: { 2: 0.6 } }, /minPassHat: pass\^2 is 0\.5; 0\.6 is needed/],
    [0, { allowFlaky: true }, /allowFlaky: 1 of 1 case never passed: greets/],
    [3, {}, /everyRun: 3 of 4 runs passed, and every run has to/],
  ]) {
    await assert.rejects(evaluated(right, gates), (error) => {
      assert.ok(error instanceof AgentEvaluationError);
      assert.match(error.message, words);
      assert.match(error.message, /response_match_score/);
      assert.equal(error.gates.passed, false);
      return true;
    });
  }
});

test("metrics that are advisory decide nothing", async () => {
  const criteria = { ...CRITERIA, tool_trajectory_avg_score: 1 };
  const options = { gates: { minPassRate: 1 }, advisory: ["response_match_score"] };
  const { advisory } = await AgentEvaluator.evaluateEvalSet(agentOf(0), SET, criteria, 2, false, options);
  assert.deepEqual(advisory, ["response_match_score"]);
});

test("toPassEvalSet takes gates", async () => {
  const expectTo = (right, gates) =>
    adkMatchers.toPassEvalSet.call({}, agentOf(right), SET, CRITERIA, { numRuns: 4, gates, parallelism: 1 });
  assert.equal((await expectTo(3, { minPassRate: 0.7 })).pass, true);
  const missed = await expectTo(2, { minPassRate: 0.7 });
  assert.equal(missed.pass, false);
  assert.match(missed.message(), /minPassRate: 2 of 4 runs passed/);
});

test("gates that cannot be are refused before the agent is run", async () => {
  const never = () => assert.fail("was run");
  for (const [gates, words] of [
    [{ minPassRate: 2 }, /a number from 0 to 1/],
    [{ minPass: 1 }, /there is no option `minPass`|minPassRate/],
    [{ minPassHat: { 5: 0.5 } }, /pass\^5 needs 5 runs of each case, but each is run 4 times/],
  ]) {
    await assert.rejects(
      AgentEvaluator.evaluateEvalSet(never, SET, CRITERIA, 4, false, { gates }),
      (error) => error.code === "invalid_input" && words.test(`${error.message} ${error.help}`),
    );
  }
  const gates = { minPassHat: { 2: 0.5 } };
  await assert.rejects(AgentEvaluator.evaluateEvalSet(never, SET, CRITERIA, 1, false, { gates }), {
    message: "pass^2 needs 2 runs of each case, but each is run once",
  });
});
