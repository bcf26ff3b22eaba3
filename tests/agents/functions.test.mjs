// Agents that are functions: what they are told, what they may answer, and what is recorded of it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { EvalStatus, LocalEvalService, MetricEvaluatorRegistry } from "../../pkg/dist/esm/node.js";
import { actualOf, answerOf, evalSetOf, eventsOf, said, scoreOf, turn } from "./evalsets.mjs";
import { failing, HELLO, MATCH, run } from "./greeting.mjs";

test("a function may answer with a text, a content, an event, a list of events, or a generator of them", async () => {
  const event = { author: "greeter", content: said("model", "Hello!") };
  const answers = {
    text: () => "Hello!",
    later: async () => "Hello!",
    content: () => said("model", "Hello!"),
    event: () => event,
    list: () => [event],
    generator: function* () {
      yield event;
    },
    stream: async function* () {
      yield event;
    },
    pieces: async function* () {
      yield "Hel";
      yield "lo!";
    },
  };
  for (const [name, agent] of Object.entries(answers)) {
    const [result] = await run(agent);
    assert.equal(answerOf(actualOf(result)[0]), "Hello!", name);
    assert.equal(scoreOf(result, "response_match_score"), 1, name);
  }
});

test("a function is told the message, its session, its state and what was before", async () => {
  const seen = [];
  const agent = (message, { content, sessionId, userId, state, history, signal }) => {
    seen.push([message, content.parts.length, userId, (state.count += 1), history.length, signal.aborted]);
    assert.match(sessionId, /\w/);
    return answerOf(history.at(-1) ?? {}) ?? "first";
  };
  const evalSet = evalSetOf({
    case: {
      conversation: [turn("a", "first"), turn("b", "first")],
      sessionInput: { userId: "ada", state: { count: 0 } },
    },
  });
  await run(agent, evalSet, MATCH, 2, { parallelism: 1 });
  assert.deepEqual(seen, [
    ["a", 1, "ada", 1, 0, false],
    ["b", 1, "ada", 2, 1, false],
    ["a", 1, "ada", 1, 0, false],
    ["b", 1, "ada", 2, 1, false],
  ]);
});

test("events of a function are recorded with their tool calls, tokens and authors", async () => {
  const call = { id: "1", name: "search", args: { query: "x" } };
  const agent = () => [
    { author: "user", content: said("user", "not recorded") },
    { author: "searcher", content: { parts: [{ functionCall: call }] }, usageMetadata: { promptTokenCount: 3 } },
    {
      author: "searcher",
      content: { parts: [{ functionResponse: { id: "1", name: "search", response: { hits: 0 } } }] },
    },
    { author: "searcher", content: { parts: [{ text: "Let me think.", thought: true }, { text: "Nothing." }] } },
  ];
  const evalSet = evalSetOf({ one: [turn("Find x.", "Nothing.", [["search", { query: "x" }]])] });
  const [result] = await run(agent, evalSet, { tool_trajectory_avg_score: 1 });
  const [actual] = actualOf(result);
  assert.deepEqual(eventsOf(actual), ['searcher calls search {"query":"x"}', 'searcher gets {"hits":0}']);
  assert.deepEqual(actual.finalResponse.parts[0], { text: "Let me think.", thought: true });
  assert.equal(scoreOf(result, "token_usage_v1"), 3);
  assert.equal(actual.modelDuration, undefined, "where the time went cannot be told of a list");
  assert.ok(actual.duration >= 0);
});

test("events in google-adk's own spelling are recorded as well", async () => {
  const agent = () => [
    {
      author: "searcher",
      content: { parts: [{ function_call: { id: "1", name: "search", args: { max_hits: 2 } } }] },
      usage_metadata: { prompt_token_count: 3 },
      long_running_tool_ids: [],
    },
    { content: { parts: [{ function_response: { id: "1", name: "search", response: { hit_count: 0 } } }] } },
    { content: { parts: [{ text: "Nothing." }] } },
  ];
  const evalSet = evalSetOf({ one: [turn("Find x.", "Nothing.", [["search", { max_hits: 2 }]])] });
  const [result] = await run(agent, evalSet, { tool_trajectory_avg_score: 1 });
  const [actual] = actualOf(result);
  assert.deepEqual(eventsOf(actual), ['searcher calls search {"max_hits":2}', 'agent gets {"hit_count":0}']);
  assert.equal(answerOf(actual), "Nothing.");
  assert.equal(scoreOf(result, "token_usage_v1"), 3);
  const failed = await failing(() => ({ error_code: "SAFETY", error_message: "blocked" }));
  assert.match(failed.message, /SAFETY: blocked/);
});

test("pieces of a streamed answer are put together once, whether or not the whole follows", async () => {
  const piece = (text) => ({ author: "a", partial: true, content: said("model", text) });
  const whole = { author: "a", content: said("model", "Hello!") };
  const usage = { author: "a", content: { role: "model", parts: [] }, usageMetadata: { candidatesTokenCount: 2 } };
  for (const events of [
    [piece("Hel"), piece("lo!"), whole],
    [piece("Hel"), piece("lo!")],
    [piece("Hel"), piece("lo!"), usage],
  ]) {
    const [result] = await run(() => events);
    const [actual] = actualOf(result);
    assert.equal(answerOf(actual), "Hello!");
    assert.deepEqual(eventsOf(actual), []);
  }
});

test("the last final response with text is the answer", async () => {
  const event = (text, more = {}) => ({ author: "a", content: said("model", text), ...more });
  const empty = { author: "a", content: { parts: [{ inlineData: { mimeType: "image/png", data: "" } }] } };
  const [two] = await run(() => [event("Not this."), event("Hello!")]);
  assert.equal(answerOf(actualOf(two)[0]), "Hello!");
  assert.deepEqual(eventsOf(actualOf(two)[0]), ["a: Not this."]);
  const [last] = await run(() => [event("Hello!"), empty]);
  assert.equal(answerOf(actualOf(last)[0]), "Hello!");
});

test("a function that answers nothing has no answer, which scores 0", async () => {
  for (const agent of [() => null, () => [], () => "", async () => " ", function* () {}]) {
    const error = await failing(agent);
    assert.equal(error.failures[0].message, "response_match_score is 0.0000 in case hello, threshold 1");
    const [result] = error.results[0].evalCaseResults;
    assert.equal(result.finalEvalStatus, EvalStatus.FAILED);
    const said = "the agent neither answered nor called a tool in its only turn";
    assert.deepEqual(error.results[0].warnings, [
      {
        code: "invalid_input",
        message: said,
        path: "actual",
        help: "A function has to return its answer as a string, or as events with `content` whose author is not `user`. An agent of a framework is silent if its model's reply is empty or an error",
      },
    ]);
    assert.ok(error.message.includes(said));
  }
});

test("a function that returns undefined most likely forgot to return its answer", async () => {
  for (const agent of [() => undefined, async () => {}, () => {}]) {
    const { failures, results } = await failing(agent);
    const why = /turn 1: the agent returned undefined for "Hello\?"\. Return the answer, or null for none$/;
    assert.match(failures[0].message, why);
    assert.equal(results[0].warnings, undefined);
  }
  const { failures } = await failing(() => ({}));
  assert.match(failures[0].message, /an object without `content`/);
});

test("an agent that once says or calls something is not silent", async () => {
  const call = { content: { parts: [{ functionCall: { name: "search", args: {} } }] } };
  for (const agent of [(message) => (message === "a" ? "first" : ""), (message) => (message === "b" ? [call] : null)]) {
    const evalSet = evalSetOf({ case: { conversation: [turn("a", "first"), turn("b", "second")] } });
    const criteria = { tool_trajectory_avg_score: 1, response_match_score: 1 };
    const { results } = await failing(agent, evalSet, criteria);
    assert.equal(results[0].warnings, undefined);
  }
});

test("where there are no files, agents are evaluated with objects, and the errors say so", () => {
  // A process of its own: the entry for Node would lend its files to this one.
  const program = `
    import { AgentEvaluator } from ${JSON.stringify(new URL("../../pkg/dist/esm/inline.js", import.meta.url))};
    const hello = ${JSON.stringify(HELLO)};
    const criteria = { response_match_score: 1 };
    const [passed, noFiles, noRunner] = await Promise.allSettled([
      AgentEvaluator.evaluateEvalSet(() => "Hello!", hello, criteria, 1),
      AgentEvaluator.evaluate(() => "Hello!", "hello.test.json"),
      AgentEvaluator.evaluateEvalSet({ name: "bare", async *runAsync() {} }, hello, criteria, 1),
    ]);
    console.log(passed.value.evalCaseResults[0].finalEvalStatus);
    console.log(noFiles.reason.code, noFiles.reason.help);
    console.log(String(noRunner.reason));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  const [passed, noFiles, noRunner] = stdout.split("\n");
  assert.equal(passed, "1", stderr);
  assert.match(noFiles, /^engine_unavailable Use AgentEvaluator\.evaluateEvalSet with objects$/);
  assert.match(noRunner, /Pass a Runner of @iqai\/adk instead of its agent/);
});

test("what an agent did has its calls as toolUses beside the events, and JSON has the events alone", async () => {
  const call = { name: "greet", args: { user_name: "Ada" } };
  const agent = () => [
    { author: "greeter", content: { role: "model", parts: [{ functionCall: call }] } },
    { author: "greeter", content: said("model", "Hello!") },
  ];
  const service = new LocalEvalService(agent);
  for await (const invocations of service.performInference({ evalSetId: "e", evalCases: [HELLO] })) {
    const { intermediateData } = invocations.at(-1);
    assert.deepEqual(intermediateData.toolUses, [call]);
    assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(intermediateData))), ["invocationEvents"]);
  }
  let seen;
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "own" }, (_metric, [actual]) => {
    seen = actual.intermediateData.toolUses;
    return 1;
  });
  await run(agent, HELLO, { own: 1 }, 1, { registry });
  assert.deepEqual(seen, [call]);
});

test("tool calls that a model's server makes are none of the agent's, as in google-adk", async () => {
  const toolCall = { id: "1", toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["noon"] } };
  const toolResponse = { id: "1", toolType: "GOOGLE_SEARCH_WEB", response: {} };
  const event = (...parts) => ({ author: "greeter", content: { role: "model", parts } });
  const searching = [event({ toolCall }), event({ toolResponse }), event({ toolCall }, { text: "Hm." })];
  const [result] = await run(() => [...searching, event({ toolResponse }, { text: "Hello!" })]);
  const [actual] = actualOf(result);
  // google-adk 2.13.0 makes the same of these events.
  assert.deepEqual(actual.intermediateData.invocationEvents, [
    { author: "greeter", content: { role: "model", parts: [{ toolCall }, { text: "Hm." }] } },
    { author: "greeter" },
  ]);
  assert.deepEqual(actual.finalResponse.parts, [{ toolResponse }, { text: "Hello!" }]);
  assert.deepEqual(actual.intermediateData.toolUses, []);
  assert.equal(scoreOf(result, "tool_call_count_v1"), 0);
});

test("usage metadata that is no object is refused", async () => {
  const event = { author: "greeter", content: said("model", "Hello!"), usageMetadata: 12 };
  const [{ reason }] = await run(() => event).catch(({ results: [{ evalCaseResults }] }) => evalCaseResults);
  assert.match(reason, /expected an object, found 12/);
});
