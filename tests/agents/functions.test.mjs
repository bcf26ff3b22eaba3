// Agents that are functions, and agents that do not behave: each gives a clear error or a clear result.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import {
  AdkMetricsError,
  AgentEvaluator,
  Evaluator,
  EvalStatus,
  LocalEvalService,
  MetricEvaluatorRegistry,
} from "../../pkg/dist/esm/node.js";
import { renderHtml, renderJUnit, renderMarkdown, renderTable } from "../../pkg/dist/esm/report.js";
import { actualOf, answerOf, errorOf, evalSetOf, eventsOf, said, scoreOf, turn } from "./evalsets.mjs";

const MATCH = { response_match_score: 1 };
const HELLO = evalSetOf({ hello: [turn("Hello?", "Hello!")] });

/** The case results of an agent that is a function. */
async function run(agent, evalSet = HELLO, criteria = MATCH, numRuns = 1, options = {}) {
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, numRuns, false, options);
  return evalCaseResults;
}

/** The error of an agent, which is ours if it could not be run, and a failed test otherwise. */
const failing = (agent, evalSet = HELLO, criteria = MATCH, numRuns = 1, options = {}) =>
  errorOf(() => run(agent, evalSet, criteria, numRuns, options));

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
  for (const agent of [() => undefined, () => null, () => [], () => "", async () => {}]) {
    const error = await failing(agent);
    assert.equal(error.failures[0].message, "response_match_score is 0.0000 in case hello, threshold 1");
    const [result] = error.results[0].evalCaseResults;
    assert.equal(result.finalEvalStatus, EvalStatus.FAILED);
  }
});

test("an agent that throws fails its case with its own words", async () => {
  const thrown = [
    [new Error("no network"), /failed in case hello: .*: turn 1: Error: no network$/],
    ["just a text", /failed in case hello: .*just a text/],
    [undefined, /failed in case hello: .*the agent threw no reason/],
    ["", /failed in case hello: .*the agent threw no reason/],
    [Object.create(null), /failed in case hello: .*has no words/],
    [{ message: "quota spent", code: 429 }, /failed in case hello: .*: quota spent$/],
    [{ error: { status: 500 } }, /failed in case hello: .*: \{"error":\{"status":500\}\}$/],
    [new RangeError("too far"), /failed in case hello: .*: turn 1: RangeError: too far$/],
    [new Error("long ".repeat(1e5)), /^[^]{1,3000}…$/],
    [{ long: "long ".repeat(1e5) }, /^[^]{1,3000}…$/],
    [new Proxy({}, { getPrototypeOf: () => assert.fail() }), /failed in case hello: .*has no words/],
  ];
  for (const [value, words] of thrown) {
    const error = await failing(() => {
      throw value;
    });
    assert.match(error.failures[0].message, words);
    assert.match((await failing(async () => Promise.reject(value))).failures[0].message, words);
  }
});

test("runs that throw alike are shown once, and an error has the name of its class", async () => {
  class NoSeat extends Error {}
  const agent = (message) => {
    if (message === "2") throw new NoSeat("row 3");
    return "one";
  };
  const evalSet = evalSetOf({ trip: [turn("1", "one"), turn("2", "two")], hop: [turn("1", "one"), turn("2", "two")] });
  const { message } = await failing(agent, evalSet, { response_match_score: 1 }, 3);
  assert.match(message, /\n✗ trip \(3 of 3 runs\)\n {2}the agent's run failed: turn 2: NoSeat: row 3\n {6}at agent /);
  assert.match(message, /\n✗ hop \(3 of 3 runs\)\n/);
  assert.doesNotMatch(message, /Promise\.all/);
});

test("what was done in a run that failed is in its result: the turns before, and the last as far as it came", async () => {
  const calls = (name) => ({ author: "a", content: { parts: [{ functionCall: { name, args: { n: 1 }, id: "c1" } }] } });
  const gave = (name, response) => ({
    author: "a",
    content: { parts: [{ functionResponse: { name, response, id: "c1" } }] },
  });
  const ends = {
    throw: () => {
      throw new TypeError("no such seat", { cause: new Error("sold out") });
    },
    timeout: () => new Promise(() => undefined),
    error: () => ({ author: "a", errorCode: "SAFETY", errorMessage: "blocked" }),
  };
  const words = {
    throw: /^the agent's run failed: turn 2: TypeError: no such seat\n    at [^]*\nCaused by: Error: sold out\n    at /,
    timeout: /did not finish turn 2 within 50 ms/,
    error: /^the agent's run failed: turn 2: SAFETY: blocked$/,
  };
  for (const [kind, end] of Object.entries(ends)) {
    const agent = async function* (message) {
      if (message === "1") return yield { content: said("model", "one") };
      yield calls("book");
      yield gave("book", { error: "the seat is taken" });
      yield await end();
    };
    const evalSet = evalSetOf({ trip: [turn("1", "one"), turn("2", "two"), turn("3", "three")] });
    const error = await failing(agent, evalSet, { response_match_score: 1 }, 3, { turnTimeoutMs: 50 });
    const { evalCaseResults } = error.results[0];
    assert.equal(evalCaseResults.length, 3);
    for (const result of evalCaseResults) {
      assert.equal(result.finalEvalStatus, EvalStatus.FAILED);
      assert.deepEqual(result.overallEvalMetricResults, []);
      assert.match(result.reason, words[kind]);
      assert.doesNotMatch(result.reason, /pkg\/dist\//, "frames of the package tell an agent's author nothing");
      const [first, second, ...others] = actualOf(result);
      assert.equal(answerOf(first), "one");
      assert.deepEqual(others, []);
      assert.equal(second.userContent.parts[0].text, "2");
      assert.equal(second.finalResponse, undefined);
      const parts = second.intermediateData.invocationEvents.flatMap(({ content }) => content.parts);
      assert.equal(parts[0].functionCall.name, "book");
      assert.deepEqual(parts[1].functionResponse.response, { error: "the seat is taken" });
      assert.deepEqual(result.evalMetricResultPerInvocation[1].evalMetricResults, []);
      assert.equal(answerOf(result.evalMetricResultPerInvocation[1].expectedInvocation), "two");
    }
    assert.match(
      error.message,
      /^1 of 1 case did not pass, each run 3 times\.\n\n✗ trip \(3 of 3 runs\)\n {2}the agent's run/,
    );
    assert.match(error.message, / {4}turn 2 {2}2\n {6}\+ book\(n: 1\)\n +failed: the seat is taken\n +no answer/);
    assert.equal(error.message.match(/✗/g).length, 1);
    for (const text of [renderTable(error.results), renderMarkdown(error.results), renderJUnit(error.results)]) {
      assert.match(text, /book\(n: 1\)/);
      assert.match(text, /failed: the seat is taken/);
    }
    assert.match(renderHtml(error.results), /the seat is taken/);
  }
});

test("without a criterion nothing is run, since any agent would pass", async () => {
  const agent = () => assert.fail("the agent was run");
  const error = await errorOf(() => AgentEvaluator.evaluateEvalSet(agent, evalSetOf({ a: [turn("hi", "hi")] }), {}));
  assert.equal(error.code, "invalid_input");
  assert.equal(error.path, "criteria");
  assert.match(error.help, /response_match_score/);
});

test("a turn that fails fails its case; what happened before is not scored", async () => {
  const agent = (message) => {
    if (message === "b") throw new Error("second turn");
    return "A";
  };
  const evalSet = evalSetOf({ broken: [turn("a", "A"), turn("b", "B")], fine: [turn("a", "A")] });
  const error = await failing(agent, evalSet);
  const [broken, fine] = error.results[0].evalCaseResults;
  assert.deepEqual([broken.finalEvalStatus, fine.finalEvalStatus], [EvalStatus.FAILED, EvalStatus.PASSED]);
  assert.match(broken.reason, /second turn/);
  assert.deepEqual(broken.overallEvalMetricResults, []);
  assert.equal(error.failures.length, 1);
});

test("an agent that hangs is given up after its time, and its signal aborts", async () => {
  let aborted = false;
  const agents = {
    hangs: (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => (aborted = true))),
    hangsInStream: async function* () {
      yield { content: said("model", "wait") };
      await new Promise(() => undefined);
    },
    neverEnds: async function* () {
      for (;;) yield { partial: true, content: said("model", "") };
    },
  };
  for (const [name, agent] of Object.entries(agents)) {
    const began = performance.now();
    const error = await failing(agent, HELLO, MATCH, 1, { turnTimeoutMs: 60 });
    assert.match(error.message, /did not finish turn 1 within 60 ms|more than 100000 events/, name);
    assert.ok(performance.now() - began < 3_000, name);
  }
  assert.ok(aborted);
});

test("what an agent did before it ran in a circle is kept whole", async () => {
  const call = { name: "get_weather", args: { city: "Oslo" }, id: "1" };
  const agent = async function* (message) {
    if (message === "a") return yield { content: said("model", "A") };
    yield { content: { role: "model", parts: [{ functionCall: call }] } };
    yield {
      content: { role: "user", parts: [{ functionResponse: { name: call.name, id: "1", response: { sky: "grey" } } }] },
    };
    for (;;) yield { content: said("model", "again") };
  };
  const error = await failing(agent, evalSetOf({ circle: [turn("a", "A"), turn("b", "B")] }), MATCH, 1);
  const [{ reason, evalMetricResultPerInvocation: turns }] = error.results[0].evalCaseResults;
  assert.match(reason, /turn 2: .*more than 100000 events in one turn/);
  assert.deepEqual(
    turns.map(({ actualInvocation: { userContent } }) => userContent.parts[0].text),
    ["a", "b"],
  );
  const [first, second, ...others] = turns[1].actualInvocation.intermediateData.invocationEvents;
  assert.deepEqual(first.content.parts[0].functionCall, call);
  assert.deepEqual(second.content.parts[0].functionResponse.response, { sky: "grey" });
  assert.ok(others.length > 99_000);
});

test("what is no event, or no JSON, fails the case and says what", async () => {
  const circle = {};
  circle.self = circle;
  const cases = [
    [() => 42, /gave a number where an event is expected/],
    [() => [null], /gave null where an event is expected/],
    [() => ({ text: "Hello!" }), /gave an object without `content` where an event is expected/],
    [() => ({ content: "Hello!" }), /expected an object with `parts`, found "Hello!"/],
    [() => ({ content: { parts: "Hello!" } }), /expected an array, found "Hello!"/],
    [() => ({ content: { parts: [{ functionCall: { name: "f", args: circle } }] } }), /event: content/],
    [() => ({ content: { parts: [{ functionCall: { name: "f", args: { n: 1n } } }] } }), /event: content/],
    [() => ({ errorCode: "SAFETY", errorMessage: "blocked" }), /SAFETY: blocked/],
  ];
  for (const [agent, words] of cases) assert.match((await failing(agent)).failures[0].message, words);
});

test("an error that an agent reports and gets over is no failure", async () => {
  const agent = () => [
    { author: "a", errorCode: "BUSY" },
    { author: "a", content: said("model", "Hello!") },
  ];
  assert.equal(scoreOf((await run(agent))[0], "response_match_score"), 1);
});

test("cases run in parallel, no more at a time than allowed, and results keep their order", async () => {
  let running = 0;
  let most = 0;
  const agent = async (message) => {
    most = Math.max(most, (running += 1));
    await wait(message === "0" ? 30 : 5);
    running -= 1;
    return message;
  };
  const ids = Array.from({ length: 12 }, (_, index) => String(index));
  const evalSet = evalSetOf(Object.fromEntries(ids.map((id) => [`case${id}`, [turn(id, id)]])));
  const results = await run(agent, evalSet, MATCH, 2, { parallelism: 3 });
  assert.equal(most, 3);
  assert.deepEqual(results.map(({ evalId }) => evalId).sort(), [...ids, ...ids].map((id) => `case${id}`).sort());
  for (const result of results) assert.equal(scoreOf(result, "response_match_score"), 1);
});

test("every run that is over is told of, and what is thrown there ends the evaluation", async () => {
  const seen = [];
  const agent = (message) => {
    if (message === "b") throw new Error("no");
    return "A";
  };
  const evalSet = evalSetOf({ a: [turn("a", "A")], b: [turn("b", "B")] });
  const onAgentProgress = (progress) => void seen.push(progress);
  await failing(agent, evalSet, MATCH, 2, { parallelism: 1, onAgentProgress });
  assert.deepEqual(
    seen.map(({ done, total, evalId, failed }) => [done, total, evalId, failed]),
    [
      [1, 4, "a", false],
      [2, 4, "b", true],
      [3, 4, "a", false],
      [4, 4, "b", true],
    ],
  );
  const thrown = new Error("enough");
  const error = await failing(agent, evalSet, MATCH, 2, {
    onAgentProgress: () => {
      throw thrown;
    },
  });
  assert.equal(error, thrown);
});

test("a cancelled evaluation ends, and says so", async () => {
  const controller = new AbortController();
  const agent = async () => {
    controller.abort();
    await new Promise(() => undefined);
  };
  const error = await failing(agent, HELLO, MATCH, 2, { signal: controller.signal });
  assert.match(
    error.failures[0].message,
    /^nothing was evaluated in case hello \((?:2 of 2 runs|run 1)\): .*cancelled/,
  );
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
    [{ build: () => undefined }, /expected what AgentBuilder's build\(\) gives, found nothing/],
    [{ build: async () => ({}) }, /expected what AgentBuilder's build\(\) gives, found an object/],
    [new Agent(), /@iqai\/adk, which this agent is made with, cannot be found/],
  ];
  for (const [agent, words] of refused) {
    const error = await failing(agent);
    assert.match(String(error.message), words);
    assert.ok(error instanceof AdkMetricsError);
    assert.equal(error.code, "invalid_input");
    assert.ok(error.help || error.cause);
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
    [evalSetOf({}), MATCH, 1, {}, /the evalset has no case/],
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

test("the scores of all turns of all runs are pooled, and the error says where and what differs", async () => {
  const answers = ["a b c d", "a b x y", "a b c d", "a x y z"];
  const my_agent = () => answers.shift();
  const evalSet = evalSetOf({ one: [turn("1", "a b c d"), turn("2", "a b c d")] });
  const error = await failing(my_agent, evalSet, { response_match_score: 0.8 }, 2, { parallelism: 1 });
  assert.equal(
    error.message,
    `1 of 1 case did not pass, each run 2 times.
  one: response_match_score is 0.6875 on average, threshold 0.8

✗ one (run 1)
  response_match_score: failed, score 0.7500, threshold 0.8
    turn 2, 0.5000  2
      - a b c d
      + a b x y
        precision 0.5000, recall 0.5000

✗ one (run 2)
  response_match_score: failed, score 0.6250, threshold 0.8
    turn 2, 0.2500  2
      - a b c d
      + a x y z
        precision 0.2500, recall 0.2500`,
  );
  assert.deepEqual(error.failures, [
    {
      evalSetId: "evalset",
      evalId: "one",
      metricName: "response_match_score",
      threshold: 0.8,
      score: 0.6875,
      message: "response_match_score is 0.6875 in case one on average of 2 runs, threshold 0.8",
    },
  ]);
});

test("a run that fails in one metric passes if the pooled mean reaches the threshold", async () => {
  const answers = ["a b c d", "a b x y"];
  const results = await run(
    () => answers.shift(),
    evalSetOf({ one: [turn("1", "a b c d")] }),
    { response_match_score: 0.75 },
    2,
  );
  assert.deepEqual(results.map(({ finalEvalStatus }) => finalEvalStatus).sort(), [
    EvalStatus.PASSED,
    EvalStatus.FAILED,
  ]);
});

test("a metric without a score fails, and the reason is said", async () => {
  const judge = async () => "no verdict at all";
  const error = await failing(() => "Hello!", HELLO, { final_response_match_v2: 0.5 }, 1, { judge });
  const [{ message }] = error.failures;
  assert.equal(
    message,
    "final_response_match_v2 was not evaluated in case hello: no reply of the judge could be read: expected " +
      '`{"is_the_agent_response_valid": "valid"}` or `"invalid"`, found "no verdict at all"',
  );
  assert.match(error.message, /found "no verdict at all"/);
});

test("metrics of one's own are found in the registry that is given", async () => {
  const registry = new MetricEvaluatorRegistry();
  class Exclaims extends Evaluator {
    async evaluateInvocations(actual) {
      const perInvocationResults = actual.map((actualInvocation) => ({
        actualInvocation,
        score: answerOf(actualInvocation).endsWith("!") ? 1 : 0,
        evalStatus: EvalStatus.PASSED,
      }));
      return { overallScore: 1, overallEvalStatus: EvalStatus.PASSED, perInvocationResults };
    }
    static getMetricInfo() {
      return { metricName: "exclaims" };
    }
  }
  registry.registerEvaluator({ metricName: "exclaims" }, Exclaims);
  const [result] = await run(() => "Hello!", HELLO, { exclaims: 1 }, 1, { registry });
  assert.equal(scoreOf(result, "exclaims"), 1);
});

test("the report with every turn is printed if asked for", async (context) => {
  const log = context.mock.method(console, "log", () => undefined);
  const result = await AgentEvaluator.evaluateEvalSet(() => "Hello!", HELLO, MATCH, 1, true);
  assert.deepEqual(
    log.mock.calls.map(({ arguments: [text] }) => text),
    [renderTable(result, { details: true })],
  );
  assert.match(log.mock.calls[0].arguments[0], /Details of hello\n {2}Turn 1\n {4}user +Hello\?\n/);
});

test("LocalEvalService scores both steps in one, and invocations from elsewhere by their ids", async () => {
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  const service = new LocalEvalService((message) => (message === "Hello?" ? "Hello!" : "What?"), 2);
  const session = { evalSetId: "set", evalCases: [HELLO], evaluateConfig };
  for await (const { evalCaseResults } of service.evaluateSession(session)) {
    assert.deepEqual([evalCaseResults.length, evalCaseResults[0].finalEvalStatus], [1, EvalStatus.PASSED]);
  }
  const [expected] = HELLO.evalCases[0].conversation;
  const foreign = [
    { ...expected, invocationId: "a-b-expected-0" },
    { ...expected, invocationId: "a-b-0" },
  ];
  for await (const { evalCaseResults } of service.evaluate({
    inferenceResults: [foreign, [...foreign]],
    evaluateConfig,
  })) {
    assert.deepEqual(
      evalCaseResults.map(({ evalId }) => evalId),
      ["a-b", "a-b"],
    );
    assert.equal(scoreOf(evalCaseResults[0], "response_match_score"), 1);
  }
});

test("what LocalEvalService cannot use is an error that says what and where", async () => {
  const service = new LocalEvalService(() => assert.fail("the agent was run"));
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  const evalCases = [HELLO];
  const mistakes = [
    ["performInference", undefined, "request"],
    ["performInference", { evalCases: HELLO }, "evalCases"],
    ["evaluateSession", undefined, "request"],
    ["evaluateSession", { evalCases }, "evaluateConfig"],
    ["evaluate", undefined, "request"],
    ["evaluate", { evaluateConfig }, "inferenceResults"],
    ["evaluate", { inferenceResults: [undefined], evaluateConfig }, "inferenceResults[0]"],
    ["evaluate", { inferenceResults: [[null]], evaluateConfig }, "inferenceResults[0][0]"],
    ["evaluate", { inferenceResults: [], evaluateConfig }, "inferenceResults"],
    ["evaluate", { inferenceResults: [[]] }, "evaluateConfig"],
    ["evaluate", { inferenceResults: [[]], evaluateConfig: {} }, "evaluateConfig.evalMetrics"],
    ["evaluate", { inferenceResults: [[]], evaluateConfig: { evalMetrics: [null] } }, "evaluateConfig.evalMetrics[0]"],
    ["evaluate", { inferenceResults: [[]], evaluateConfig: { evalMetrics: [{}] } }, "evaluateConfig.evalMetrics[0]"],
  ];
  for (const [method, given, path] of mistakes) {
    const error = await errorOf(async () => {
      for await (const _ of service[method](given));
    });
    assert.deepEqual([error.code, error.path], ["invalid_input", path], error.stack);
  }
});

test("a failed run stays failed through LocalEvalService", async () => {
  const service = new LocalEvalService(() => {
    throw new Error("out of order");
  });
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  for await (const { evalCaseResults } of service.evaluateSession({
    evalSetId: "s",
    evalCases: [HELLO],
    evaluateConfig,
  })) {
    assert.equal(evalCaseResults[0].finalEvalStatus, EvalStatus.FAILED);
    assert.match(evalCaseResults[0].reason, /out of order/);
  }
});

test("turns that are missing or too many fail their case, and the others go on", async () => {
  const service = new LocalEvalService(() => "Hello!");
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  const hello = (invocationId) => ({ ...HELLO.evalCases[0].conversation[0], invocationId });
  const inferenceResults = [
    [hello("short-expected-0"), hello("short-expected-1"), hello("short-0")],
    [hello("long-expected-0"), hello("long-0"), hello("long-1")],
    [hello("fine-expected-0"), hello("fine-0")],
  ];
  const found = [];
  for await (const { evalCaseResults } of service.evaluate({ inferenceResults, evaluateConfig })) {
    found.push(...evalCaseResults.map(({ evalId, finalEvalStatus, reason }) => [evalId, finalEvalStatus, reason]));
  }
  assert.deepEqual(
    found.map(([evalId, status]) => [evalId, status]),
    [
      ["short", EvalStatus.FAILED],
      ["long", EvalStatus.FAILED],
      ["fine", EvalStatus.PASSED],
    ],
  );
  assert.match(found[0][2], /turn/);
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
