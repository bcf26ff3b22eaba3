// What the session services of both libraries hold, live and as JSON, is what the agent did.

import assert from "node:assert/strict";
import test from "node:test";
import { evaluate } from "../../pkg/dist/esm/node.js";
import { readSessions } from "../../pkg/dist/esm/interop.js";
import { evalSetOf, scoreOf, turn } from "./evalsets.mjs";
import { call, LIBRARIES, say, sky } from "./libraries.mjs";

const CITIES = ["Paris", "London"];
const EXPECTED = evalSetOf({
  both: [
    turn(
      "Weather in Paris and London?",
      "Sunny and grey.",
      CITIES.map((city) => ["get_weather", { city }]),
    ),
  ],
});
const CRITERIA = { tool_trajectory_avg_score: 1, response_match_score: 1 };

/** The session of a conversation of one turn, as the library's own session service gives it. */
async function sessionOf(library, agent) {
  const runner = library.runner(agent);
  const { sessionService } = runner;
  const isGoogle = library.name === "@google/adk";
  const key = { appName: "own_app", userId: "u", sessionId: "both" };
  if (isGoogle) await sessionService.createSession(key);
  else await sessionService.createSession("own_app", "u", {}, "both");
  const newMessage = { role: "user", parts: [{ text: "Weather in Paris and London?" }] };
  for await (const _ of runner.runAsync({ userId: "u", sessionId: "both", newMessage }));
  return isGoogle ? sessionService.getSession(key) : sessionService.getSession("own_app", "u", "both");
}

const weather = (library) =>
  library.agent({
    name: "weather",
    instruction: "Tell the weather.",
    tools: [library.tool("get_weather", sky)],
    script: ({ responses }) =>
      responses.length === 0 ? call(...CITIES.map((city) => ["get_weather", { city }])) : say("Sunny and grey."),
  });

for (const library of LIBRARIES) {
  test(`${library.name}: a session is scored live, as a list, as JSON, and by its id`, async () => {
    const session = await sessionOf(library, weather(library));
    const named = readSessions(session, { evalIds: { both: "both" } });
    assert.equal(named[0].evalId, "both");
    for (const actual of [session, [session], JSON.stringify([session]), readSessions([session]), named]) {
      const { evalCaseResults, warnings } = await evaluate({ evalSet: EXPECTED, actual, criteria: CRITERIA });
      assert.equal(evalCaseResults.length, 1);
      const [result] = evalCaseResults;
      assert.equal(result.reason, undefined);
      assert.deepEqual([scoreOf(result, "tool_trajectory_avg_score"), scoreOf(result, "response_match_score")], [1, 1]);
      assert.equal(scoreOf(result, "tool_call_count_v1"), 2);
      assert.equal(warnings, undefined);
      const [{ actualInvocation }] = result.evalMetricResultPerInvocation;
      assert.ok(Math.abs(actualInvocation.creationTimestamp - Date.now() / 1000) < 60, "in seconds");
    }
  });
}

test("a tool of ADK-TS that is still at work ends the turn only in a session that was read live", async () => {
  const library = LIBRARIES.find(({ name }) => name === "@iqai/adk");
  const session = await sessionOf(library, weather(library));
  const asks = session.events.find(({ longRunningToolIds }) => longRunningToolIds !== undefined);
  asks.longRunningToolIds = new Set(["1"]);
  asks.content.parts.push({ text: "I will tell you." });
  session.events.length = session.events.indexOf(asks) + 1;
  const answer = async (actual) => {
    const { evalCaseResults } = await evaluate({ evalSet: EXPECTED, actual, criteria: CRITERIA });
    return evalCaseResults[0].evalMetricResultPerInvocation[0].actualInvocation.finalResponse?.parts.at(-1).text;
  };
  assert.equal(await answer(readSessions(session)), "I will tell you.");
  assert.equal(await answer(JSON.stringify(session)), undefined);
});

test("sets, maps and dates of a session are lists, objects and seconds", () => {
  const session = {
    id: "s",
    state: new Map([["city", "Paris"]]),
    events: [{ timestamp: new Date(1_700_000_000_500), longRunningToolIds: new Set(["1"]) }],
  };
  assert.deepEqual(readSessions(session), [
    { id: "s", state: { city: "Paris" }, events: [{ timestamp: 1_700_000_000.5, longRunningToolIds: ["1"] }] },
  ]);
});
