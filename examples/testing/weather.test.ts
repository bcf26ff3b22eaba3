// An agent under test: `npm install --save-dev vitest adk-metrics`, then `npx vitest run`. docs/testing.md says more.

import { readFile } from "node:fs/promises";
import { type AgentFunction, evaluate } from "adk-metrics";
import "adk-metrics/vitest";
import { expect, test } from "vitest";

/** Beside it lies a test_config.json with the criteria. */
const evalSet = new URL("../weather/weather.evalset.json", import.meta.url);

const inCelsius = (city: string, day: string) => ({ name: "get_weather", args: { city, day, unit: "celsius" } });

/** What a model would call and say. */
const replies = [
  {
    to: /sunglasses in Oslo/,
    calls: [inCelsius("Oslo", "today")],
    text: "Yes, bring sunglasses: Oslo is sunny today with 21 degrees.",
  },
  {
    to: /Lisbon or in Porto/,
    calls: [inCelsius("Lisbon", "tomorrow"), inCelsius("Porto", "tomorrow")],
    text: "Lisbon is warmer tomorrow: it will be 27 degrees, and 22 in Porto.",
  },
  {
    to: /storm warning/,
    calls: [{ name: "get_warnings", args: { area: "Bergen" } }],
    text: "There is an orange storm warning for Bergen until nine this evening.",
  },
  {
    to: /snow in Geilo/,
    calls: [{ name: "get_snow_depth", args: { place: "Geilo" } }],
    text: "There are 85 centimetres of snow in Geilo.",
  },
  { to: /Thank you/, calls: [], text: "You are welcome. Enjoy the sun!" },
];

/** In its place there may be an agent or a runner of ADK-TS or `@google/adk`. */
const agent: AgentFunction = async function* (message) {
  const reply = replies.find(({ to }) => to.test(message));
  for (const functionCall of reply?.calls ?? []) yield { content: { parts: [{ functionCall }] } };
  yield reply?.text ?? "I do not know.";
};

test("the agent gives the weather", async ({ signal }) => {
  await expect(agent).toPassEvalSet(evalSet, undefined, { signal });
});

test("an agent that calls no tools fails, whatever it says", async () => {
  const talker: AgentFunction = (message) => replies.find(({ to }) => to.test(message))?.text;
  await expect(talker).toPassEvalSet(evalSet, { response_match_score: 0.8 });
  await expect(talker).not.toPassEvalSet(evalSet, { tool_trajectory_avg_score: 1 });
});

test("yesterday's conversations pass, as far as they did", async () => {
  const result = await evaluate({
    evalSet: await readFile(evalSet),
    actual: await readFile(new URL("../weather/weather.actual.json", import.meta.url)),
    evalIds: ["sunny_in_oslo", "small_talk"],
    criteria: { response_match_score: 0.8 },
  });
  expect(result).toPass();
});
