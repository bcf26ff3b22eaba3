// Agents of both libraries, run for real: what happened is recorded and scored.

import assert from "node:assert/strict";
import test from "node:test";
import { AgentEvaluator, LocalEvalService } from "../../pkg/dist/esm/node.js";
import { actualOf, answerOf, CRITERIA, errorOf, evalSetOf, eventsOf, scoreOf, turn } from "./evalsets.mjs";
import { call, LIBRARIES, MODEL_MS, say, sky, TOOL_MS, USAGE, weatherAgent } from "./libraries.mjs";

const PARIS = turn("Weather in Paris?", "It is sunny in Paris.", [["get_weather", { city: "Paris" }]]);
const LONDON = turn("And in London?", "It is grey in London.", [["get_weather", { city: "London" }]]);

for (const library of LIBRARIES) {
  test(`${library.name}: tool calls, responses, tokens and times of an agent are recorded`, async () => {
    const evalSet = evalSetOf({ paris: [PARIS] });
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(weatherAgent(library), evalSet, CRITERIA, 1);
    const [result] = evalCaseResults;
    const [actual] = actualOf(result);
    assert.deepEqual(eventsOf(actual), [
      'weather_agent calls get_weather {"city":"Paris"}',
      'weather_agent gets {"sky":"sunny"}',
    ]);
    assert.equal(answerOf(actual), "It is sunny in Paris.");
    const events = actual.intermediateData.invocationEvents;
    assert.equal(events.length, 3, "the final event keeps its tokens, without its text");
    assert.equal(events[2].content, undefined);
    assert.deepEqual([events[0].usageMetadata, events[2].usageMetadata], [USAGE, USAGE]);
    assert.deepEqual([events[0].modelVersion, events[1].modelVersion], ["scripted-1", undefined]);
    assert.equal(scoreOf(result, "tool_trajectory_avg_score"), 1);
    assert.equal(scoreOf(result, "response_match_score"), 1);
    assert.equal(scoreOf(result, "tool_call_count_v1"), 1);
    assert.equal(scoreOf(result, "inference_call_count_v1"), 2);
    assert.equal(scoreOf(result, "token_usage_v1"), 30);
    assert.ok(actual.modelDuration >= (2 * (MODEL_MS - 1)) / 1000, `${actual.modelDuration}`);
    assert.ok(actual.toolDuration >= (TOOL_MS - 1) / 1000, `${actual.toolDuration}`);
    assert.ok(actual.duration >= actual.modelDuration + actual.toolDuration - 0.002);
    const details = actual.appDetails.agentDetails.weather_agent;
    assert.match(details.instructions, /Tell the weather\./);
    assert.equal(details.toolDeclarations[0].functionDeclarations[0].name, "get_weather");
    assert.notEqual(result.sessionId, "");
  });

  test(`${library.name}: turns of a case share a session, cases and runs do not`, async () => {
    const counting = library.agent({
      name: "counting_agent",
      instruction: "Count.",
      script: ({ turns }) => say(`seen ${turns}`),
    });
    const evalSet = evalSetOf({
      one: [turn("a", "seen 1"), turn("b", "seen 3"), turn("c", "seen 5")],
      two: [turn("a", "seen 1")],
    });
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(counting, evalSet, CRITERIA, 2);
    assert.equal(evalCaseResults.length, 4);
    assert.equal(new Set(evalCaseResults.map(({ sessionId }) => sessionId)).size, 4);
    for (const result of evalCaseResults) assert.equal(scoreOf(result, "response_match_score"), 1);
  });

  test(`${library.name}: a transfer to a sub-agent is recorded, and the sub-agent goes on in the next turn`, async () => {
    const root = library.agent({
      name: "root_agent",
      instruction: "Hand over.",
      script: () =>
        call(["transfer_to_agent", { [library.name === "@iqai/adk" ? "agent_name" : "agentName"]: "weather_agent" }]),
      subAgents: [weatherAgent(library)],
    });
    const turns = library.subAgentsBeginTurns ? [PARIS, LONDON] : [PARIS];
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(
      root,
      evalSetOf({ both: turns }),
      { tool_trajectory_avg_score: { threshold: 1, match_type: "IN_ORDER" }, response_match_score: 1 },
      1,
    );
    const [first, second] = actualOf(evalCaseResults[0]);
    const authors = first.intermediateData.invocationEvents.map(({ author }) => author);
    assert.deepEqual(authors, ["root_agent", "root_agent", "weather_agent", "weather_agent", "weather_agent"]);
    assert.equal(answerOf(first), "It is sunny in Paris.");
    if (second !== undefined) {
      assert.deepEqual(eventsOf(second), [
        'weather_agent calls get_weather {"city":"London"}',
        'weather_agent gets {"sky":"grey"}',
      ]);
    }
    assert.deepEqual(Object.keys(first.appDetails.agentDetails), ["root_agent", "weather_agent"]);
  });

  test(`${library.name}: what agents say one after another is recorded in order`, async () => {
    const step = (name, text) => library.agent({ name, instruction: "Say it.", script: () => say(text) });
    const agent = library.sequential("pipeline", [step("drafter", "A draft."), step("editor", "The answer.")]);
    const evalSet = evalSetOf({ one: [turn("Write.", "The answer.")] });
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 1);
    const [actual] = actualOf(evalCaseResults[0]);
    assert.deepEqual(eventsOf(actual), ["drafter: A draft."]);
    assert.equal(answerOf(actual), "The answer.");
    assert.equal(scoreOf(evalCaseResults[0], "token_usage_v1"), 30);
  });

  test(`${library.name}: agents that run at once are all recorded`, async () => {
    const withTool = (name) =>
      library.agent({
        name,
        instruction: "Say it.",
        tools: [library.tool(`tool_of_${name}`, sky)],
        script: ({ responses }) =>
          responses.length === 0 ? call([`tool_of_${name}`, { city: name }]) : say(`${name} is done.`),
      });
    const agent = library.parallel("crowd", [withTool("left"), withTool("right")]);
    const calls = ["left", "right"].map((name) => [`tool_of_${name}`, { city: name }]);
    const evalSet = evalSetOf({ one: [turn("Go.", "right is done.", calls)] });
    const criteria = { tool_trajectory_avg_score: { threshold: 1, matchType: "ANY_ORDER" } };
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1);
    assert.equal(scoreOf(evalCaseResults[0], "token_usage_v1"), 60);
    const [{ duration, modelDuration, toolDuration }] = actualOf(evalCaseResults[0]);
    assert.ok(modelDuration >= (2 * (MODEL_MS - 1)) / 1000 && toolDuration >= 0);
    assert.ok(modelDuration + toolDuration <= duration + 0.002, "what happens at once is counted once");
  });

  test(`${library.name}: a loop of agents is recorded round by round`, async () => {
    let round = 0;
    const agent = library.loop(
      "again",
      [library.agent({ name: "worker", instruction: "Work.", script: () => say(`round ${(round += 1)}`) })],
      3,
    );
    const evalSet = evalSetOf({ one: [turn("Go.", "round 3")] });
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 1);
    assert.deepEqual(eventsOf(actualOf(evalCaseResults[0])[0]), ["worker: round 1", "worker: round 2"]);
  });

  test(`${library.name}: several tools called at once are recorded in order`, async () => {
    const cities = ["Paris", "London"];
    const agent = library.agent({
      name: "two_cities",
      instruction: "Compare.",
      tools: [library.tool("get_weather", sky)],
      script: ({ responses }) =>
        responses.length === 0
          ? call(...cities.map((city) => ["get_weather", { city }]))
          : say(responses.map(({ response }) => response.sky).join(" and ")),
    });
    const calls = cities.map((city) => ["get_weather", { city }]);
    const evalSet = evalSetOf({ one: [turn("Compare.", "sunny and grey", calls)] });
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, CRITERIA, 1);
    assert.equal(scoreOf(evalCaseResults[0], "tool_trajectory_avg_score"), 1);
    assert.equal(actualOf(evalCaseResults[0])[0].intermediateData.invocationEvents.length, 3);
  });

  test(`${library.name}: the session begins with the state of the case, and runs do not share it`, async () => {
    const seen = [];
    const counter = library.tool("count_up", (_, context) => {
      const count = (context.state.get?.("count") ?? context.state.count) + 1;
      seen.push(count);
      if (typeof context.state.set === "function") context.state.set("count", count);
      else context.state.count = count;
      return { count };
    });
    const agent = library.agent({
      name: "counter_agent",
      instruction: "Count for {customer}.",
      tools: [counter],
      script: ({ responses, system }) =>
        responses.length === 0
          ? call(["count_up", { city: "x" }])
          : say(`${/for (\w+)/.exec(system)?.[1]} ${responses[0].response.count}`),
    });
    const state = { count: 41, customer: "Ada" };
    const evalSet = evalSetOf({
      one: {
        conversation: [turn("Go.", "Ada 42"), turn("Go on.", "Ada 43")],
        sessionInput: { appName: "shop", userId: "ada", state },
      },
    });
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 2);
    assert.deepEqual(seen.sort(), [42, 42, 43, 43]);
    assert.deepEqual(state, { count: 41, customer: "Ada" });
    assert.equal(evalCaseResults[0].userId, "ada");
  });

  test(`${library.name}: a runner is run as it is, each case in a session of its own`, async () => {
    const runner = library.runner(weatherAgent(library));
    const evalSet = evalSetOf({ paris: [PARIS], london: [LONDON] });
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(runner, evalSet, CRITERIA, 2);
    assert.equal(new Set(evalCaseResults.map(({ sessionId }) => sessionId)).size, 4);
    assert.deepEqual(
      evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus),
      [1, 1, 1, 1],
    );
  });

  test(`${library.name}: a session id that a case pins is the first run's; the others get their own`, async () => {
    const runner = library.runner(weatherAgent(library));
    const sessionInput = { appName: "own_app", userId: "ada", sessionId: "pinned" };
    const evalSet = evalSetOf({ paris: { conversation: [PARIS], sessionInput } });
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(runner, evalSet, CRITERIA, 3);
    const ids = evalCaseResults.map(({ sessionId }) => sessionId);
    assert.equal(new Set(ids).size, 3);
    assert.ok(ids.includes("pinned"));
  });

  test(`${library.name}: a failing model fails its case with the reason, and the others go on`, async () => {
    const agent = weatherAgent(library, {
      script: ({ user, responses }) => {
        if (user.includes("London")) throw new Error("the model is on strike");
        return responses.length === 0 ? call(["get_weather", { city: "Paris" }]) : say("It is sunny in Paris.");
      },
    });
    const evalSet = evalSetOf({ paris: [PARIS], london: [LONDON] });
    const error = await errorOf(() => AgentEvaluator.evaluateEvalSet(agent, evalSet, CRITERIA, 1));
    assert.equal(error.name, "AgentEvaluationError");
    assert.equal(error.failures.length, 1);
    assert.match(error.failures[0].message, /^weather_agent failed in case london: .*the model is on strike/);
    const [paris, london] = error.results[0].evalCaseResults;
    assert.deepEqual([paris.evalId, paris.finalEvalStatus], ["paris", 1]);
    assert.deepEqual([london.evalId, london.finalEvalStatus], ["london", 2]);
    assert.match(london.reason, /the model is on strike/);
  });

  test(`${library.name}: an agent of one's own that throws, hangs or says nothing gives a clear result`, async () => {
    class Odd extends library.BaseAgent {
      constructor(run) {
        super({ name: "odd_agent", description: "Does not behave" });
        this.run = run;
      }
      async *runAsyncImpl(context) {
        yield* this.run(context);
      }
      async *runLiveImpl() {}
    }
    const evalSet = evalSetOf({ one: [turn("Go.", "Gone.")] });
    const failure = async (run, options) => {
      const agent = new Odd(run);
      return errorOf(() =>
        AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 1, false, options),
      );
    };
    const thrown = await failure(async function* () {
      throw new TypeError("no such thing");
    });
    assert.match(thrown.failures[0].message, /odd_agent failed in case one: .*no such thing/);
    const hung = await failure(
      async function* () {
        await new Promise(() => setTimeout(() => undefined, 1));
      },
      { turnTimeoutMs: 50 },
    );
    assert.match(hung.failures[0].message, /odd_agent failed in case one: .*did not finish turn 1 within 50 ms/);
    const silent = await failure(async function* () {});
    assert.match(silent.failures[0].message, /^response_match_score is 0\.0000 in case one/);
  });

  test(`${library.name}: LocalEvalService gives what was expected and what happened, then scores it`, async () => {
    const service = new LocalEvalService(weatherAgent(library));
    const request = { evalSetId: "evalset", evalCases: [evalSetOf({ paris: [PARIS], london: [LONDON] })] };
    const inferenceResults = [];
    for await (const invocations of service.performInference(request)) inferenceResults.push(invocations);
    assert.deepEqual(
      inferenceResults.map((invocations) => invocations.map(({ invocationId }) => invocationId)),
      [
        ["paris-expected-0", "paris-0"],
        ["london-expected-0", "london-0"],
      ],
    );
    const evaluateConfig = { evalMetrics: [{ metricName: "tool_trajectory_avg_score", threshold: 1 }] };
    const results = [];
    for await (const result of service.evaluate({ inferenceResults, evaluateConfig })) results.push(result);
    assert.deepEqual(
      results.map(({ evalSetId }) => evalSetId),
      ["evalset", "evalset"],
    );
    assert.deepEqual(
      results.map(({ evalCaseResults }) => evalCaseResults[0].evalId),
      ["paris", "london"],
    );
    for (const { evalCaseResults } of results)
      assert.equal(scoreOf(evalCaseResults[0], "tool_trajectory_avg_score"), 1);
  });

  test(`${library.name}: a tool that throws is seen as the library shows it, and its time counts`, async () => {
    const agent = library.agent({
      name: "clumsy_agent",
      instruction: "Try.",
      tools: [
        library.tool("break_down", () => {
          throw new Error("the tool is broken");
        }),
      ],
      script: ({ responses }) =>
        responses.length === 0 ? call(["break_down", { city: "x" }]) : say("It did not work."),
    });
    const evalSet = evalSetOf({ one: [turn("Go.", "It did not work.", [["break_down", { city: "x" }]])] });
    const result = await AgentEvaluator.evaluateEvalSet(agent, evalSet, CRITERIA, 1).catch((error) => error.results[0]);
    const [{ reason, evalMetricResultPerInvocation }] = result.evalCaseResults;
    if (reason !== undefined) assert.match(reason, /the tool is broken/);
    for (const { actualInvocation } of evalMetricResultPerInvocation) {
      assert.match(eventsOf(actualInvocation)[1], /the tool is broken/);
      assert.ok(actualInvocation.toolDuration >= (TOOL_MS - 1) / 1000);
    }
  });
}
