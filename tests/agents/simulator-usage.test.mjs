// What the simulated user takes: usage, budgets, and the models that are named and warned of.

import assert from "node:assert/strict";
import test from "node:test";
import { AgentEvaluator, geminiJudge, LocalEvalService, recordJudge, replayJudge } from "../../pkg/dist/esm/node.js";
import { renderHtml, renderJUnit, renderTable } from "../../pkg/dist/esm/report.js";
import { journalInMemory } from "../package/support/journals.mjs";
import { countingTurns, errorOf, evalSetOf, turn } from "./evalsets.mjs";
import { echo, playing, run, scenarioOf } from "./simulated.mjs";

/** A judge with a usage of 100 and 10 tokens a call, for the user and for metrics. */
const metered = (words) => {
  const judge = playing(words);
  return async (request) => ({ text: await judge(request), usage: { inputTokens: 100, outputTokens: 10 } });
};
const PRICES = { "gemini-2.5-flash": { inputPerMillion: 1, outputPerMillion: 10 } };

/** Criteria that ask no judge. */
const UNJUDGED = { turns: 0 };

test("the results warn of a model of the simulated user that its provider replaces", async () => {
  const judge = geminiJudge({
    apiKey: "key-4711",
    fetch: async () => Response.json({ candidates: [{ content: { parts: [{ text: "</finished>" }] } }] }),
  });
  const evaluated = AgentEvaluator.evaluateEvalSet(echo, scenarioOf(), UNJUDGED, 2, false, {
    userSimulator: { judge },
    registry: countingTurns(),
  });
  const { warnings } = await evaluated;
  const messages = warnings.map(({ message }) => message).filter((message) => / retire[sd] /.test(message));
  assert.equal(messages.length, 1);
  assert.match(messages[0], /gemini-2\.5-flash on 1 December 2026/);
});

test("calls of the simulated user count for the budget, and are told apart from those of judges", async () => {
  const options = { budget: { prices: PRICES }, retry: { initialDelayMs: 1 } };
  const { judgeUsage, simulatorUsage } = await run(echo, metered(["And in London?", "</finished>"]), options);
  assert.deepEqual([judgeUsage.calls, judgeUsage.inputTokens, judgeUsage.outputTokens], [5, 500, 50]);
  assert.deepEqual(simulatorUsage, {
    models: ["a function"],
    calls: 2,
    answered: 2,
    failed: 0,
    retried: 0,
    cached: 0,
    lost: 0,
    unreported: 0,
    inputTokens: 200,
    outputTokens: 20,
    cost: 0.0004,
  });
  assert.equal(judgeUsage.cost.toFixed(6), "0.001000");
  const unjudged = await AgentEvaluator.evaluateEvalSet(echo, scenarioOf(), UNJUDGED, 2, false, {
    judge: metered(["</finished>", "</finished>"]),
    registry: countingTurns(),
  });
  assert.deepEqual([unjudged.simulatorUsage.calls, unjudged.simulatorUsage.cost], [2, undefined]);
  assert.equal(unjudged.judgeUsage, undefined);
  const requests = [];
  const silent = await AgentEvaluator.evaluateEvalSet(echo, scenarioOf(), UNJUDGED, 1, false, {
    judge: playing(["</finished>"], requests),
    registry: countingTurns(),
  });
  const [{ prompt }] = requests;
  assert.deepEqual([silent.simulatorUsage.answered, silent.simulatorUsage.unreported], [1, 1]);
  assert.equal(silent.simulatorUsage.inputTokens, Math.floor(Buffer.byteLength(prompt) / 4), "an estimate");
});

test("a function that plays the user is named with the versions in its replies, not as the model it was asked for", async () => {
  const versions = ["house-2", "house-1"];
  async function play() {
    return { text: versions.length > 1 ? "And in London?" : "</finished>", modelVersion: versions.pop() };
  }
  const result = await run(echo, async () => '{"score": 1}', { userSimulator: { judge: play } });
  assert.deepEqual(result.simulatorUsage.models, ["the function play (house-1, house-2)"]);
  for (const text of [renderTable(result), renderHtml(result)]) {
    assert.match(text, /the function play \(house-1, house-2\)/);
    assert.doesNotMatch(text, /gemini-2\.5-flash/);
  }
  const judge = geminiJudge({
    apiKey: "key-4711",
    fetch: async () => Response.json({ candidates: [{ content: { parts: [{ text: "</finished>" }] } }] }),
  });
  const asked = await run(echo, async () => '{"score": 1}', { userSimulator: { judge } });
  assert.deepEqual(asked.simulatorUsage.models, ["gemini-2.5-flash"]);
});

test("LocalEvalService tells what users took, case by case, and warns of their settings", async () => {
  const talk = (evalId) => ({ ...scenarioOf().evalCases[0], evalId });
  const plain = evalSetOf({ plain: [turn("Hi", "Hello!")] }).evalCases[0];
  const evalSet = { evalSetId: "set", evalCases: [talk("one"), plain, talk("two")] };
  const words = { one: ["And in London?", "</finished>"], two: ["</finished>"] };
  const judge = async ({ evalId }) => {
    const text = words[evalId].shift();
    return text === "</finished>" ? text : { text, usage: { inputTokens: 100, outputTokens: 10 } };
  };
  const evaluateConfig = { evalMetrics: [{ metricName: "turns", threshold: 0 }] };
  const request = { evalSetId: "set", evalCases: [evalSet], evaluateConfig };
  const options = {
    judge,
    registry: countingTurns(),
    budget: { calls: 3, prices: PRICES },
  };
  const found = [];
  for await (const result of new LocalEvalService(echo, 1, options).evaluateSession(request)) found.push(result);
  assert.deepEqual(
    found.map(({ evalCaseResults: [{ evalId }], simulatorUsage: used }) => [
      evalId,
      used && [used.models, used.calls, used.answered, used.unreported, used.outputTokens, used.cost >= 0.0002],
    ]),
    [
      ["one", [["the function judge"], 2, 2, 1, 12, true]],
      ["plain", undefined],
      ["two", [["the function judge"], 1, 1, 1, 2, true]],
    ],
  );
  words.one = ["And in London?", "And in Rome?", "</finished>"];
  words.two = ["</finished>"];
  const short = [];
  for await (const result of new LocalEvalService(echo, 1, options).evaluateSession(request)) short.push(result);
  assert.match(short[2].evalCaseResults[0].reason, /the budget of 3 calls was spent/, "one budget holds for all cases");
  for (const [userSimulator, key, help] of [
    [{ maxInvocations: 3 }, "maxInvocations", "Did you mean `maxAllowedInvocations`?"],
    [{ mood: "curious" }, "mood", /^The keys are `judge`, `model`, .*`timeoutMs`$/],
  ]) {
    const refusal = { code: "invalid_input", message: `the user simulator has no setting \`${key}\``, help };
    assert.throws(() => new LocalEvalService(echo, 1, { ...options, userSimulator }), refusal);
  }
});

test("the budget ends the simulated user too, with the reason", async () => {
  for (const [budget, words] of [
    [{ calls: 1 }, /the budget of 1 call was spent/],
    [{ tokens: 100 }, /the budget of 100 tokens was spent/],
    [{ cost: 0.0001, prices: PRICES }, /the budget of 0\.0001 in money was spent/],
  ]) {
    const error = await errorOf(() => run(echo, metered(["a", "b", "</finished>"]), { budget }));
    assert.match(error.message, words);
    const [{ simulatorUsage, evalCaseResults }] = error.results;
    assert.equal(simulatorUsage.calls, 1);
    assert.match(evalCaseResults[0].reason, words);
  }
  const free = { criteria: UNJUDGED, registry: countingTurns() };
  const unpriced = await errorOf(() => run(echo, metered([]), { budget: { cost: 1, prices: {} }, ...free }));
  assert.match(
    String(unpriced),
    /no price for a function, which plays the user[^]*"gemini-2\.5-flash", the model that the function is asked for/,
  );
});

/** A recording of a conversation with two messages of a model, and of its verdict. */
async function recorded() {
  const lines = [];
  const judge = recordJudge(metered(["And in London?", "</finished>"]), (line) => lines.push(line));
  await run(echo, judge);
  return replayJudge(lines.join(""));
}

/** What a user takes whose messages are recorded. */
const REUSED = {
  models: ["a function"],
  calls: 0,
  answered: 0,
  failed: 0,
  retried: 0,
  cached: 2,
  lost: 0,
  unreported: 0,
  inputTokens: 0,
  outputTokens: 0,
};

test("recorded messages of a user cost nothing, take nothing from the budget, and are told as reused", async () => {
  const replay = await recorded();
  for (const budget of [{ calls: 1 }, { calls: 0 }, { tokens: 1 }, { cost: 0.00001, prices: {} }]) {
    const { judgeUsage, simulatorUsage, warnings } = await run(echo, replay, { budget });
    assert.deepEqual([judgeUsage.calls, judgeUsage.cached], [0, 5]);
    assert.deepEqual(simulatorUsage, REUSED);
    assert.equal(warnings, undefined);
  }
  const result = await run(echo, replay, { budget: { prices: PRICES } });
  assert.deepEqual(result.simulatorUsage, { ...REUSED, cost: 0 });
  assert.match(renderTable(result), /^simulated users, by a function: 0 calls, 2 replies reused, cost 0$/m);
  assert.match(renderHtml(result), /<dt>Replies reused for simulated users<\/dt><dd>2</);
  assert.match(renderJUnit(result), /<property name="simulatorRepliesReused" value="2"\/>/);
});

test("a function that hands recorded messages on is not paid either", async () => {
  const replay = await recorded();
  const handing = async (request, options) => replay(request, options);
  const judge = async () => '{"score": 1}';
  const { simulatorUsage } = await run(echo, judge, { userSimulator: { judge: handing }, budget: { calls: 6 } });
  assert.deepEqual(simulatorUsage, { ...REUSED, models: ["the function handing"] });
  const other = async (request, options) => replay({ ...request, prompt: `${request.prompt}!` }, options);
  const error = await errorOf(() => run(echo, judge, { userSimulator: { judge: other } }));
  assert.equal(error.results[0].simulatorUsage.calls, 0, "nobody was asked for what the recording lacks");
  assert.equal(error.results[0].simulatorUsage.lost, 1);
});

test("a resumed evaluation knows which messages were recorded", async () => {
  const replay = await recorded();
  const { entries, begin } = journalInMemory();
  const twice = [];
  for (let time = 0; time < 2; time += 1) {
    const { simulatorUsage } = await run(echo, replay, { journal: begin(), budget: { calls: 1 } });
    twice.push(simulatorUsage);
    // As if it had ended before the run of the case was over.
    entries.splice(0, Infinity, ...entries.filter(({ type }) => type !== "run" && type !== "case"));
  }
  assert.deepEqual(twice, [REUSED, REUSED]);
});
