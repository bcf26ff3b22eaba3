// Cases with a conversation scenario: a model plays the user, until its stop signal or a limit, and sees what
// it is meant to see of a turn.

import assert from "node:assert/strict";
import test from "node:test";
import { adkJudge, AgentEvaluator, recordJudge, replayJudge, setDefaultJudge } from "../../pkg/dist/esm/node.js";
import { actualOf, answerOf, errorOf } from "./evalsets.mjs";
import { call, LIBRARIES, say, weatherAgent } from "./libraries.mjs";
import { CRITERIA, echo, PLAN, playing, run, scenarioOf, usersOf } from "./simulated.mjs";

for (const library of LIBRARIES) {
  test(`${library.name}: the user says the starting prompt, then what the model says, until the stop signal`, async () => {
    const requests = [];
    const judge = playing(["And in London?", "Thanks! </FINISHED>"], requests);
    const { evalCaseResults } = await run(weatherAgent(library), judge);
    const [result] = evalCaseResults;
    assert.deepEqual(usersOf(result), ["Weather in Paris?", "And in London?"]);
    assert.deepEqual(actualOf(result).map(answerOf), ["It is sunny in Paris.", "It is grey in London."]);
    assert.deepEqual(
      requests.map(({ invocationIndex, evalId }) => [invocationIndex, evalId]),
      [
        [1, "trip"],
        [2, "trip"],
      ],
    );
    const [first, second] = requests;
    assert.equal(first.model, "gemini-2.5-flash");
    assert.ok(first.prompt.includes(PLAN));
    assert.match(first.prompt, /\nuser: "Weather in Paris\?"\nagent: "It is sunny in Paris\."\n/);
    assert.ok(!first.prompt.includes("get_weather"), "tools are not the user's business");
    assert.match(second.prompt, /\nuser: "And in London\?"\n/);
  });
}

test("the conversation ends at the limit of turns, the starting prompt included", async () => {
  const limits = [
    [1, ["Weather in Paris?"]],
    [3, ["Weather in Paris?", "a", "b"]],
    [-1, ["Weather in Paris?", "a", "b", "c"]],
  ];
  for (const [maxAllowedInvocations, users] of limits) {
    const judge = playing(["a", "b", "c", "</finished>"]);
    const { evalCaseResults, warnings = [] } = await run(echo, judge, { userSimulator: { maxAllowedInvocations } });
    assert.deepEqual(usersOf(evalCaseResults[0]), users);
    const cut = warnings.filter(({ message }) => message.includes("were cut off"));
    const turns = maxAllowedInvocations === 1 ? "1 turn" : "3 turns";
    assert.equal(cut.length, maxAllowedInvocations < 0 ? 0 : 1);
    for (const { message } of cut)
      assert.match(message, new RegExp(`limit of ${turns} .*: conversations with ${turns} were cut off$`));
  }
  await assert.rejects(
    run(echo, playing([]), { userSimulator: { maxAllowedInvocations: 0 } }),
    /warning: no conversation was begun, since `max_allowed_invocations` is 0/,
  );
  const endless = async ({ metricName }) => (metricName === "user_simulator" ? "more" : '{"score": 1}');
  const { evalCaseResults } = await run(echo, endless);
  assert.equal(usersOf(evalCaseResults[0]).length, 20);
});

test("what the model says is sent as it is, as google-adk sends it, also if it is white space", async () => {
  const { evalCaseResults } = await run(echo, playing(["  ", " And then?\n", "</finished>"]));
  assert.deepEqual(usersOf(evalCaseResults[0]), ["Weather in Paris?", "  ", " And then?\n"]);
});

test("tool calls are shown if asked for, thoughts never", async () => {
  const agent = () => [
    { author: "a", content: call(["search", { q: "x" }]) },
    { author: "a", content: { parts: [{ functionResponse: { name: "search", response: { hits: 3 } } }] } },
    { author: "b", content: say("On the way.") },
    { author: "b", content: { parts: [{ text: "secret", thought: true }, { text: "Done." }] } },
  ];
  const requests = [];
  await run(agent, playing(["</finished>"], requests), { userSimulator: { includeFunctionCalls: true } });
  await run(agent, playing(["</finished>"], requests));
  assert.match(
    requests[0].prompt,
    /a called search with \{"q":"x"\}\nsearch returned \{"hits":3\}\nb: "On the way\."\nagent: "Done\."/,
  );
  assert.ok(!requests[1].prompt.includes("search"));
  for (const { prompt } of requests) assert.ok(!prompt.includes("secret"));
});

test("a simulator that fails, says nothing or is not there fails the case with the reason", async () => {
  const transient = Object.assign(new Error("busy"), { retryable: true });
  const retry = { initialDelayMs: 1, attempts: 3 };
  const failures = [
    [playing([new Error("no quota")]), /the user simulator's model failed: .*no quota/],
    [playing([""]), /the user simulator's model gave an empty reply/],
    [playing([transient, transient, transient]), /the user simulator's model failed: .*busy/],
    [playing([undefined]), /the judge returned no reply/],
  ];
  for (const [judge, words] of failures)
    assert.match((await errorOf(() => run(echo, judge, { retry }))).message, words);
  const again = await run(echo, playing([transient, transient, "</finished>"]), { retry });
  assert.equal(again.evalCaseResults[0].finalEvalStatus, 1);
});

test("the simulator has a judge of its own if given one, else the evaluation's, else the default", async (context) => {
  const played = [];
  const own = playing(["</finished>"], played);
  await run(echo, async () => '{"score": 1}', { userSimulator: { judge: own } });
  assert.equal(played.length, 1);
  setDefaultJudge(playing(["</finished>"], played));
  context.after(() => setDefaultJudge(undefined));
  await AgentEvaluator.evaluateEvalSet(echo, scenarioOf(), CRITERIA, 1);
  assert.equal(played.length, 2);
});

test("the simulated user is judged by per_turn_user_simulator_quality_v1", async () => {
  const judge = async ({ metricName, prompt }) => {
    if (metricName === "user_simulator")
      return prompt.includes('user: "And in London?"') ? "</finished>" : "And in London?";
    return '{"is_valid": "valid"}';
  };
  const criteria = { per_turn_user_simulator_quality_v1: 1 };
  const { evalCaseResults } = await run(echo, judge, { criteria, numRuns: 2 });
  assert.deepEqual(
    evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus),
    [1, 1],
  );
});

test("the requests of each run differ in their sample, so that recordings keep them apart", async () => {
  const requests = [];
  const judge = playing(["</finished>", "</finished>"], requests);
  await run(echo, judge, { numRuns: 2, parallelism: 1 });
  assert.deepEqual(
    requests.map(({ id, sampleIndex }) => [id, sampleIndex]),
    [
      ["user_simulator/trip/0/1", 0],
      ["user_simulator/trip/1/1", 1],
    ],
  );
});

test("a whole evaluation with a simulated user is recorded and replayed", async () => {
  const lines = [];
  const judge = recordJudge(
    playing(["And in London?", "</finished>", "Why?", "</finished>"]),
    (line) => void lines.push(line),
  );
  const recorded = await run(echo, judge, { numRuns: 2, parallelism: 1 });
  const replayed = await run(echo, replayJudge(lines), { numRuns: 2, parallelism: 2 });
  assert.deepEqual(replayed.evalCaseResults.map(usersOf), recorded.evalCaseResults.map(usersOf));
  assert.deepEqual(recorded.evalCaseResults.map(usersOf)[1], ["Weather in Paris?", "Why?"]);
});

for (const library of LIBRARIES) {
  test(`${library.name}: a model of the library plays the user and judges`, async () => {
    const { model } = library.agent({
      name: "unused",
      instruction: "",
      script: ({ user }) => {
        if (user.includes("You play the user"))
          return say(user.includes('user: "And in London?"') ? "</finished>" : "And in London?");
        return say('{"score": 1, "explanation": "fine"}');
      },
    });
    const { evalCaseResults } = await run(weatherAgent(library), adkJudge(model));
    assert.deepEqual(usersOf(evalCaseResults[0]), ["Weather in Paris?", "And in London?"]);
  });
}
