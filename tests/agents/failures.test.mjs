// Agents that throw, hang, run in a circle or give what is no event: each fails its case with the reason.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { inspect, promisify } from "node:util";
import { EvalStatus } from "../../pkg/dist/esm/node.js";
import { renderHtml, renderJUnit, renderMarkdown, renderTable } from "../../pkg/dist/esm/report.js";
import { actualOf, answerOf, evalSetOf, said, scoreOf, turn } from "./evalsets.mjs";
import { failing, HELLO, MATCH, run } from "./greeting.mjs";

test("an agent that throws fails its case with its own words", async () => {
  const thrown = [
    [new Error("no network"), /failed in case hello: .*: turn 1: Error: no network$/],
    ["just a text", /failed in case hello: .*just a text/],
    [undefined, /failed in case hello: .*the agent failed without an error/],
    ["", /failed in case hello: .*the agent failed without an error/],
    [Object.create(null), /failed in case hello: .*without a message/],
    [{ message: "quota spent", code: 429 }, /failed in case hello: .*: quota spent$/],
    [{ error: { status: 500 } }, /failed in case hello: .*: \{"error":\{"status":500\}\}$/],
    [new RangeError("too far"), /failed in case hello: .*: turn 1: RangeError: too far$/],
    [new Error("long ".repeat(1e5)), /^[^]{1,3000}…$/],
    [{ long: "long ".repeat(1e5) }, /^[^]{1,3000}…$/],
    [new Proxy({}, { getPrototypeOf: () => assert.fail() }), /failed in case hello: .*without a message/],
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
  assert.match(message, /\n✗ trip \(3 of 3 runs\)\n {2}the run failed: turn 2: NoSeat: row 3\n {6}at agent /);
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
    throw: /^the run failed: turn 2: TypeError: no such seat\n    at [^]*\nCaused by: Error: sold out\n    at /,
    timeout: /did not finish turn 2 within 1000 ms/,
    error: /^the run failed: turn 2: SAFETY: blocked$/,
  };
  for (const [kind, end] of Object.entries(ends)) {
    const agent = async function* (message) {
      if (message === "1") return yield { content: said("model", "one") };
      yield calls("book");
      yield gave("book", { error: "the seat is taken" });
      yield await end();
    };
    const evalSet = evalSetOf({ trip: [turn("1", "one"), turn("2", "two"), turn("3", "three")] });
    const error = await failing(agent, evalSet, { response_match_score: 1 }, 3, { turnTimeoutMs: 1000 });
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
      /^The only case did not pass, each run 3 times\.\n\n✗ trip \(3 of 3 runs\)\n {2}the run failed/,
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
    const error = await failing(agent, HELLO, MATCH, 1, { turnTimeoutMs: 60 });
    assert.match(error.message, /did not finish turn 1 within 60 ms|more than 100000 events/, name);
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
    [() => 42, /expected an event from the agent, found 42/],
    [() => [null], /expected an event from the agent, found null/],
    [() => ({ text: "Hello!" }), /expected an event from the agent, found an object without `content`/],
    [() => ({ content: "Hello!" }), /expected an object with `parts`, found "Hello!"/],
    [() => ({ content: { parts: "Hello!" } }), /expected an array, found "Hello!"/],
    [() => ({ content: { parts: [{ functionCall: { name: "f", args: circle } }] } }), /event: content/],
    [() => ({ content: { parts: [{ functionCall: { name: "f", args: { n: 1n } } }] } }), /event: content/],
    [() => ({ errorCode: "SAFETY", errorMessage: "blocked" }), /SAFETY: blocked/],
  ];
  for (const [agent, words] of cases) assert.match((await failing(agent)).failures[0].message, words);
});

test("Node prints an error that nobody catches as its message, without all results", async () => {
  const evalSet = evalSetOf({ greets: [turn("Hi", "Hello!")] });
  const error = await failing(() => "Go away", evalSet);
  assert.ok(error.results.length === 1 && error.failures.length === 1);
  assert.doesNotMatch(inspect(error), /results|evalCaseResults|gates/);
});

test("an error that an agent reports and gets over is no failure", async () => {
  const agent = () => [
    { author: "a", errorCode: "BUSY" },
    { author: "a", content: said("model", "Hello!") },
  ];
  assert.equal(scoreOf((await run(agent))[0], "response_match_score"), 1);
});

test("a cancelled evaluation ends, and says so", async () => {
  const controller = new AbortController();
  const agent = async () => {
    controller.abort();
    await new Promise(() => undefined);
  };
  const error = await failing(agent, HELLO, MATCH, 2, { signal: controller.signal });
  assert.match(error.message, /The run was cancelled: 0 of 2 runs are done; runs are missing for "hello"/);
});

test("with source maps too, no frame of this package is shown", async () => {
  const entry = new URL("../../pkg/dist/esm/node.js", import.meta.url).href;
  const program = `
    import { AgentEvaluator } from ${JSON.stringify(entry)};
    const turn = { userContent: { parts: [{ text: "hi" }] }, finalResponse: { parts: [{ text: "hi" }] } };
    const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [turn] }] };
    const agent = () => { throw new TypeError('boom'); };
    const evaluated = AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 1);
    console.log((await evaluated.catch((error) => error)).results[0].evalCaseResults[0].reason);
  `;
  const args = ["--enable-source-maps", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  assert.match(stdout, /TypeError: boom\n {4}at agent /);
  assert.doesNotMatch(stdout, /pkg-template|shared-|node\.js/);
});
