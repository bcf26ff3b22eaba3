// What is no agent, and mistakes in evalsets, criteria and options, are found before anything is run.

import assert from "node:assert/strict";
import test from "node:test";
import { AdkMetricsError, AgentEvaluator } from "../../pkg/dist/esm/node.js";
import { errorOf, evalSetOf, turn } from "./evalsets.mjs";
import { failing, HELLO, MATCH } from "./greeting.mjs";

test("without a criterion nothing is run, since any agent would pass", async () => {
  const agent = () => assert.fail("the agent was run");
  const error = await errorOf(() => AgentEvaluator.evaluateEvalSet(agent, evalSetOf({ a: [turn("hi", "hi")] }), {}));
  assert.equal(error.code, "invalid_input");
  assert.equal(error.path, "criteria");
  assert.match(error.help, /response_match_score/);
});

test("what is no agent is refused before anything is run, and the error says what fits", async () => {
  class Agent {
    name = "a";
    async *runAsync() {}
  }
  const refused = [
    [undefined, /expected an agent, found nothing/],
    [null, /expected an agent, found null/],
    ["weather_agent", /expected an agent, found "weather_agent"/],
    [{}, /expected an agent, found an object/],
    [{ name: "x" }, /expected an agent, found an object/],
    [Agent, /expected an agent, found a class/],
    [{ ask: async () => "x", runAsync: async function* () {} }, /no session service/],
    [
      new Proxy({}, { get: (_, key) => assert.fail(`no ${String(key)} for you`) }),
      /reading it failed: AssertionError.*for you/,
    ],
    [{ build: () => undefined }, /expected the result of AgentBuilder's build\(\), found nothing/],
    [{ build: async () => ({}) }, /expected the result of AgentBuilder's build\(\), found an object/],
    [new Agent(), /@iqai\/adk, which this agent was created with, cannot be found/],
  ];
  for (const [agent, words] of refused) {
    const error = await failing(agent);
    assert.match(String(error.message), words);
    assert.ok(error instanceof AdkMetricsError);
    assert.equal(error.code, "invalid_input");
    assert.ok(error.help || error.cause);
  }
});

test("options in the place of another argument are told to go last, and words are no yes", async () => {
  const agent = () => assert.fail("the agent was run");
  const ofSets = (...args) => AgentEvaluator.evaluateEvalSet(agent, HELLO, MATCH, ...args);
  const ofFiles = (...args) => AgentEvaluator.evaluate(agent, "hello.test.json", ...args);
  for (const [work, path, help] of [
    [
      () => ofSets(1, { turnTimeoutMs: 5 }),
      "printDetailedResults",
      /^Options are the sixth argument: evaluateEvalSet\(/,
    ],
    [() => ofSets(1, "no"), "printDetailedResults", /sixth/],
    [() => ofSets({ turnTimeoutMs: 5 }), "numRuns", /sixth/],
    [() => ofFiles({ turnTimeoutMs: 5 }), "numRuns", /^Options are the fifth argument: evaluate\(/],
    [() => ofFiles(1, { turnTimeoutMs: 5 }), "initialSessionFile", /fifth/],
    [() => ofFiles(1, undefined, { printDetailedResults: "no" }), "printDetailedResults", /^$/],
  ]) {
    const error = await errorOf(work);
    assert.match(String(error.message), /^expected (true or false|a number|a path), found/);
    assert.deepEqual([error.code, error.path], ["invalid_input", path]);
    assert.match(error.help ?? "", help);
  }
});

test("mistakes in the evalset, the metrics and the numbers are found before the agent is run", async () => {
  const agent = () => assert.fail("the agent was run");
  const mistakes = [
    [HELLO, { respons_match_score: 1 }, 1, {}, /respons_match_score/],
    [HELLO, { response_match_score: "high" }, 1, {}, /response_match_score/],
    [HELLO, undefined, 1, {}, /./],
    [{ evalSetId: "x" }, MATCH, 1, {}, /./],
    [undefined, MATCH, 1, {}, /evalSet/],
    [HELLO, MATCH, 0, {}, /expected a whole number from 1 up, found 0/],
    [HELLO, MATCH, "2", {}, /expected a whole number from 1 up, found "2"/],
    [evalSetOf({}), MATCH, 1, {}, /the evalset has no cases/],
    [HELLO, MATCH, 1.5, {}, /expected a whole number from 1 up, found 1\.5/],
    [HELLO, MATCH, 1, { parallelism: 0 }, /expected a whole number from 1 up, found 0/],
    [HELLO, MATCH, 1, { turnTimeoutMs: -1 }, /turnTimeoutMs/],
    [HELLO, MATCH, 1, { turnTimeoutms: 5 }, /turnTimeoutms/],
  ];
  for (const [evalSet, criteria, numRuns, options, words] of mistakes) {
    const error = await errorOf(() =>
      AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, numRuns, false, options),
    );
    assert.ok(error instanceof AdkMetricsError, String(error.stack));
    assert.match(error.toString(), words);
  }
});
