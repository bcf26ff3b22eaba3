// What stands under no name is told: it would count as if it were not there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { evaluate } = await importEntry();

const turn = { user_content: { parts: [{ text: "Hi" }] }, final_response: { parts: [{ text: "Hello" }] } };
const evalSet = (more) => ({ eval_set_id: "s", eval_cases: [{ eval_id: "c", conversation: [{ ...turn, ...more }] }] });
const criteria = { tool_trajectory_avg_score: 0 };
/** Text, of which all is read. */
const told = async (actual) => {
  const { warnings = [] } = await evaluate({ evalSet: evalSet(), actual: JSON.stringify(actual), criteria });
  return warnings.map(({ message, help }) => [message, help]);
};
const eventOf = (event) => evalSet({ intermediate_data: { invocation_events: [{ author: "a", ...event }] } });
const callOf = (function_call) => eventOf({ content: { parts: [{ function_call }] } });
const sessionOf = (event) => [
  {
    id: "c",
    events: [
      { author: "user", invocation_id: "1", content: { role: "user", parts: [{ text: "Hi" }] } },
      { author: "a", invocation_id: "1", content: { role: "model", parts: [{ text: "Hello" }] }, ...event },
    ],
  },
];

test("a tool call without a name is warned of, wherever it is", async () => {
  const nameless = [["a tool call has no name", undefined]];
  for (const call of [{ args: { a: 1 } }, {}, { id: "x" }, { name: null, args: {} }]) {
    assert.deepEqual(await told(callOf(call)), nameless);
    assert.deepEqual(await told(evalSet({ intermediate_data: { tool_uses: [call] } })), nameless);
    assert.deepEqual(await told(sessionOf({ content: { parts: [{ function_call: call }] } })), nameless);
  }
  for (const fine of [
    { name: "f" },
    { partial_args: [{ jsonPath: "$.a" }], will_continue: true },
    { willContinue: false },
  ]) {
    assert.ok((await told(callOf(fine))).every(([message]) => !message.includes("has no name")));
  }
});
