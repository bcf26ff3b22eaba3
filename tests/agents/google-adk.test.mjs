// What only @google/adk has: workflows, apps, plugins, runners in memory.

import assert from "node:assert/strict";
import test from "node:test";
import * as google from "@google/adk";
import { AgentEvaluator } from "../../pkg/dist/esm/node.js";
import { actualOf, answerOf, CRITERIA, errorOf, evalSetOf, eventsOf, scoreOf, turn } from "./evalsets.mjs";
import { call, LIBRARIES, say, weatherAgent } from "./libraries.mjs";

const library = LIBRARIES.find(({ name }) => name === "@google/adk");
const PARIS = evalSetOf({
  paris: [turn("Weather in Paris?", "It is sunny in Paris.", [["get_weather", { city: "Paris" }]])],
});

test("a workflow is recorded node by node", async () => {
  const step = (name, text) => library.agent({ name, instruction: "Say it.", script: () => say(text) });
  const [first, second] = [step("first", "One."), step("second", "Two.")];
  const workflow = new google.Workflow({
    name: "flow",
    edges: [
      ["START", first],
      [first, second],
    ],
  });
  const evalSet = evalSetOf({ one: [turn("Go.", "Two.")] });
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(workflow, evalSet, { response_match_score: 1 }, 1);
  const [actual] = actualOf(evalCaseResults[0]);
  assert.deepEqual(eventsOf(actual), ["first: One."]);
  assert.equal(answerOf(actual), "Two.");
  assert.deepEqual(Object.keys(actual.appDetails.agentDetails), ["first", "second"]);
});

test("an app is run with its plugins, and a runner in memory as it is", async () => {
  let runs = 0;
  class Counting extends google.BasePlugin {
    async beforeRunCallback() {
      runs += 1;
    }
  }
  const agent = weatherAgent(library);
  const app = new google.App({ name: "weather_app", rootAgent: agent, plugins: [new Counting("counting")] });
  const runner = new google.InMemoryRunner({ agent, appName: "weather_app" });
  for (const given of [app, runner]) {
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(given, PARIS, CRITERIA, 2);
    assert.equal(evalCaseResults.length, 2);
    assert.equal(scoreOf(evalCaseResults[0], "token_usage_v1"), 30);
  }
  assert.equal(runs, 2);
});

test("an agent that is a tool of another counts as that tool's call", async () => {
  const agent = library.agent({
    name: "asker",
    instruction: "Ask the expert.",
    tools: [new google.AgentTool({ agent: weatherAgent(library, { name: "expert" }) })],
    script: ({ responses }) =>
      responses.length === 0 ? call(["expert", { request: "Weather in Paris?" }]) : say("The expert knows."),
  });
  const calls = [["expert", { request: "Weather in Paris?" }]];
  const evalSet = evalSetOf({ one: [turn("Weather?", "The expert knows.", calls)] });
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, CRITERIA, 1);
  assert.match(eventsOf(actualOf(evalCaseResults[0])[0])[1], /It is sunny in Paris\./);
});

test("a session that was prepared under the id that a case pins is gone on with", async () => {
  const sessionService = new google.InMemorySessionService();
  await sessionService.createSession({
    appName: "shop",
    userId: "ada",
    sessionId: "prepared",
    state: { city: "Paris" },
  });
  const agent = library.agent({
    name: "knows_state",
    instruction: "The city is {city}.",
    script: ({ system }) => say(/city is (\w+)/.exec(system)?.[1] ?? "unknown"),
  });
  const runner = new google.Runner({ appName: "shop", agent, sessionService });
  const evalSet = evalSetOf({
    one: {
      conversation: [turn("Which city?", "Paris")],
      sessionInput: { appName: "shop", userId: "ada", sessionId: "prepared" },
    },
  });
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(runner, evalSet, { response_match_score: 1 }, 1);
  assert.equal(evalCaseResults[0].sessionId, "prepared");
});

test("an agent that is out of time is told to stop by its signal", async () => {
  let aborted;
  const agent = library.agent({
    name: "slow_agent",
    instruction: "Wait.",
    beforeModelCallback: async ({ context }) => {
      const { abortSignal } = context.invocationContext;
      await new Promise((resolve) => abortSignal.addEventListener("abort", resolve));
      aborted = true;
      return { content: say("too late") };
    },
    script: () => say("never"),
  });
  const options = { turnTimeoutMs: 80 };
  const error = await errorOf(() => AgentEvaluator.evaluateEvalSet(agent, PARIS, CRITERIA, 1, false, options));
  assert.match(error.failures[0].message, /slow_agent failed in case paris: .*did not finish turn 1 within 80 ms/);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(aborted, true);
});

test("instructions other than text, which judges do not see, are warned of once", async () => {
  const image = { parts: [{ inlineData: { mimeType: "image/png", data: "" } }] };
  const drawing = {
    async *runAsync(_context, request) {
      request.config = { ...request.config, systemInstruction: image };
    },
  };
  const requestProcessors = [google.CONTENT_REQUEST_PROCESSOR, drawing];
  const agent = library.agent({ name: "painter", script: () => say("Yes."), requestProcessors });
  const evalSet = evalSetOf({ one: [turn("Go.", "Yes."), turn("On.", "Yes.")], two: [turn("Go.", "Yes.")] });
  const { warnings } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 2);
  assert.deepEqual(
    warnings?.map(({ message }) => message),
    ['the instructions of "painter" are something other than text, so judges do not see them'],
  );
});
