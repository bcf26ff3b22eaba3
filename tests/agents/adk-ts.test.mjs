// What only ADK-TS has: builders, built agents, graphs, copies of itself.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import test from "node:test";
import adkTs from "@iqai/adk";
import { AdkMetricsError, AgentEvaluator } from "../../pkg/dist/esm/node.js";
import { actualOf, answerOf, CRITERIA, errorOf, evalSetOf, eventsOf, scoreOf, turn } from "./evalsets.mjs";
import { call, LIBRARIES, say, sky, weatherAgent } from "./libraries.mjs";

const library = LIBRARIES.find(({ name }) => name === "@iqai/adk");
const { AgentBuilder } = adkTs;
const PARIS = turn("Weather in Paris?", "It is sunny in Paris.", [["get_weather", { city: "Paris" }]]);
const LONDON = turn("And in London?", "It is grey in London.", [["get_weather", { city: "London" }]]);
const BOTH = evalSetOf({ paris: [PARIS], both: [PARIS, LONDON] });

const builder = () => {
  const { model } = weatherAgent(library);
  return AgentBuilder.create("weather_agent")
    .withModel(model)
    .withInstruction("Tell the weather.")
    .withTools(library.tool("get_weather", sky));
};

test("a builder, what it builds, the promise of it, and its agent are run alike", async () => {
  const built = await builder().build();
  for (const agent of [builder(), built, builder().build(), built.agent]) {
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, BOTH, CRITERIA, 2);
    assert.equal(evalCaseResults.length, 4);
    assert.equal(new Set(evalCaseResults.map(({ sessionId }) => sessionId)).size, 4);
    for (const result of evalCaseResults) {
      assert.deepEqual([scoreOf(result, "tool_trajectory_avg_score"), scoreOf(result, "response_match_score")], [1, 1]);
      assert.equal(scoreOf(result, "token_usage_v1"), 30);
      assert.ok(actualOf(result)[0].toolDuration > 0);
    }
  }
});

test("a built agent keeps its own session, state and app untouched", async () => {
  const built = await builder()
    .withQuickSession({ appName: "shop", userId: "owner", state: { a: 1 } })
    .build();
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(built, BOTH, CRITERIA, 1);
  const { events, state } = await built.sessionService.getSession("shop", "owner", built.session.id);
  assert.deepEqual([events.length, state], [0, { a: 1 }]);
  const own = await built.sessionService.getSession("shop", "owner", evalCaseResults[0].sessionId);
  assert.equal(own.events.length, 4);
});

test("the runner that a builder makes cannot begin sessions, and the error says what to pass", async () => {
  const { runner } = await builder().build();
  const error = await errorOf(() => AgentEvaluator.evaluateEvalSet(runner, BOTH, CRITERIA, 1));
  assert.ok(error instanceof AdkMetricsError);
  assert.equal(
    error.toString(),
    "the runner has no session service, so cases cannot get their own sessions (at agent). " +
      "Pass everything that AgentBuilder's build() returns, or its agent",
  );
});

test("a graph of agents is recorded node by node; its own last words are the answer", async () => {
  const node = (name, text) => library.agent({ name, instruction: "Say it.", script: () => say(text) });
  const agent = new adkTs.LangGraphAgent({
    name: "graph",
    description: "A graph",
    rootNode: "first",
    nodes: [
      { name: "first", agent: node("first_agent", "One."), targets: ["second"] },
      { name: "second", agent: node("second_agent", "Two.") },
    ],
  });
  const evalSet = evalSetOf({ one: [turn("Go.", "Graph execution complete. Executed nodes: first → second")] });
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 1);
  assert.deepEqual(eventsOf(actualOf(evalCaseResults[0])[0]), ["first_agent: One.", "second_agent: Two."]);
});

test("callbacks of the agent run as ever, and it is left as it was", async () => {
  const seen = [];
  const callback = ({ llmResponse }) => void seen.push(llmResponse.content.parts[0].text ?? "call");
  for (const afterModelCallback of [undefined, callback, [callback]]) {
    const agent = weatherAgent(library, { afterModelCallback });
    const evaluations = [1, 2].map(() => AgentEvaluator.evaluateEvalSet(agent, BOTH, CRITERIA, 1));
    for (const { evalCaseResults } of await Promise.all(evaluations)) {
      assert.equal(scoreOf(evalCaseResults[0], "token_usage_v1"), 30);
    }
    assert.equal(agent.afterModelCallback, afterModelCallback);
  }
  assert.equal(seen.length, 2 * 2 * 6);
});

test("an agent that cannot be written to is run as it is", async () => {
  const agent = Object.freeze(weatherAgent(library));
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, BOTH, CRITERIA, 1);
  assert.equal(scoreOf(evalCaseResults[0], "tool_trajectory_avg_score"), 1);
  assert.equal(actualOf(evalCaseResults[0])[0].modelDuration, undefined);
});

test("a model's error that the library hides in a text fails the case", async () => {
  class Broken extends adkTs.BaseLlm {
    async *generateContentAsyncImpl() {
      yield adkTs.LlmResponse.fromError(new Error("quota exceeded"), { errorCode: "429", model: "broken" });
    }
  }
  const agent = new adkTs.LlmAgent({ name: "broken_agent", description: "Broken", model: new Broken("broken") });
  const error = await errorOf(() => AgentEvaluator.evaluateEvalSet(agent, BOTH, CRITERIA, 1));
  assert.match(
    error.failures[0].message,
    /broken_agent failed in case paris: .*429: LLM call failed for model broken: quota exceeded/,
  );
});

test("a model that streams is recorded once, with its tokens", async () => {
  class Streaming extends adkTs.BaseLlm {
    async *generateContentAsyncImpl(_, stream) {
      if (stream) {
        for (const text of ["It is ", "sunny."]) yield new adkTs.LlmResponse({ content: say(text), partial: true });
      }
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 2 };
      yield new adkTs.LlmResponse({ content: say("It is sunny."), usageMetadata, turnComplete: true });
    }
  }
  const built = await AgentBuilder.create("streaming_agent")
    .withModel(new Streaming("streaming"))
    .withRunConfig(new adkTs.RunConfig({ streamingMode: adkTs.StreamingMode.SSE }))
    .build();
  const evalSet = evalSetOf({ one: [turn("Weather?", "It is sunny.")] });
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(built, evalSet, { response_match_score: 1 }, 1);
  const [actual] = actualOf(evalCaseResults[0]);
  assert.equal(answerOf(actual), "It is sunny.");
  assert.deepEqual(eventsOf(actual), []);
  assert.equal(scoreOf(evalCaseResults[0], "token_usage_v1"), 3);
});

test("an agent that is a tool of another counts as that tool's call", async () => {
  const expert = weatherAgent(library, { name: "expert" });
  const agent = library.agent({
    name: "asker",
    instruction: "Ask the expert.",
    tools: [new adkTs.AgentTool({ name: "expert", description: "Knows the weather of cities", agent: expert })],
    script: ({ responses }) =>
      responses.length === 0 ? call(["expert", { input: "Weather in Paris?" }]) : say("The expert knows."),
  });
  const evalSet = evalSetOf({
    one: [turn("Weather?", "The expert knows.", [["expert", { input: "Weather in Paris?" }]])],
  });
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, CRITERIA, 1);
  assert.equal(scoreOf(evalCaseResults[0], "tool_trajectory_avg_score"), 1);
});

test("agents of a CommonJS program are run as well", () => {
  const program = `
    const { AgentEvaluator } = require(${JSON.stringify(fileURLToPath(new URL("../../pkg/dist/cjs/index.js", import.meta.url)))});
    const adk = require("@iqai/adk");
    class Model extends adk.BaseLlm {
      async *generateContentAsyncImpl() {
        yield new adk.LlmResponse({ content: { role: "model", parts: [{ text: "Hello!" }] }, turnComplete: true });
      }
    }
    const agent = new adk.LlmAgent({ name: "greeter", description: "Greets", model: new Model("m") });
    const said = (text) => ({ parts: [{ text }] });
    const conversation = [{ userContent: said("Hello?"), finalResponse: said("Hello!") }];
    AgentEvaluator.evaluateEvalSet(agent, { evalSetId: "s", evalCases: [{ evalId: "c", conversation }] }, { response_match_score: 1 })
      .then(({ evalCaseResults }) => console.log(evalCaseResults.length, "passed"));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    encoding: "utf8",
  });
  assert.equal(stdout.trim(), "2 passed", stderr);
});
