// Small conversations to evaluate, as objects in camelCase.

/** A turn: what the user says, what the agent answers, which tools it calls (`[name, args]`). */
export function turn(says, answers, calls = []) {
  return {
    invocationId: `turn-${says}`,
    userContent: { role: "user", parts: [{ text: says }] },
    finalResponse: { role: "model", parts: [{ text: answers }] },
    intermediateData: { toolUses: calls.map(([name, args]) => ({ name, args })), intermediateResponses: [] },
    creationTimestamp: 0,
  };
}

/** An evalset of conversations by eval id. */
export function evalSetOf(conversations, evalSetId = "set") {
  const evalCases = Object.entries(conversations).map(([evalId, conversation]) => ({ evalId, conversation }));
  return { evalSetId, evalCases };
}

/** An evalset of single-turn cases `case-0`, `case-1`, …, each with its own answer. */
export function manyCases(count, answer = (index) => `the answer is ${index}`) {
  const cases = Array.from({ length: count }, (_, index) => [
    `case-${index}`,
    [turn(`question ${index}`, answer(index))],
  ]);
  return evalSetOf(Object.fromEntries(cases));
}

/** The same object with the keys of ADK's own types in snake_case; arguments of tools are left alone. */
export function inSnakeCase(value) {
  if (Array.isArray(value)) return value.map(inSnakeCase);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    key === "args" ? inner : inSnakeCase(inner),
  ]);
  return Object.fromEntries(entries);
}

/** What was expected: one case passes, one fails, one has two turns. */
export const EXPECTED = evalSetOf({
  passes: [turn("Weather?", "The weather in London is sunny", [["get_weather", { city: "London", theUnit: "C" }]])],
  fails: [turn("Time?", "It is noon", [["get_time", { zone: "UTC" }]])],
  long: [turn("Hi", "Hello there"), turn("Bye", "Good bye")],
});

/** What the agent did. */
export const ACTUAL = evalSetOf({
  passes: [turn("Weather?", "The weather in London is sunny", [["get_weather", { city: "London", theUnit: "C" }]])],
  fails: [turn("Time?", "No idea", [["get_date", { zone: "UTC" }]])],
  long: [turn("Hi", "Hello there"), turn("Bye", "See you")],
});

/** Every value in a result, with its path. */
export function* walk(value, path = "") {
  yield [path, value];
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) yield* walk(value[key], `${path}.${key}`);
}
