// What the playground shows below tool calls: what each returned, or why it failed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf, outputsOf } from "../../../www/src/screens/case/model.js";

const call = (name: string, id?: string) => ({ functionCall: { name, args: {}, ...(id ? { id } : {}) } });
const output = (name: string, response: object, id?: string) => ({
  functionResponse: { name, response, ...(id ? { id } : {}) },
});
const turn = (...parts: object[]) =>
  ({
    userContent: { parts: [{ text: "Hi" }] },
    intermediateData: { invocationEvents: parts.map((part) => ({ author: "a", content: { parts: [part] } })) },
  }) as never;

test("every call has what it gave, by its id or else by its name", () => {
  const shown = outputsOf(
    turn(call("a", "1"), call("a", "2"), call("b"), call("c"), output("a", { n: 2 }, "2"), output("b", { n: 3 })),
  );
  assert.deepEqual(
    shown.map((one) => one?.response),
    [undefined, { n: 2 }, { n: 3 }, undefined],
  );
});

test("a failure is told from what a tool returned", () => {
  for (const [response, failure] of [
    [{ sky: "clear" }, undefined],
    [{ error: "no such city" }, "no such city"],
    [{ error: { message: "no such city", code: 4 } }, "no such city"],
    [{ isError: true, content: [{ type: "text", text: "no" }] }, [{ type: "text", text: "no" }]],
    [{ status: "error", error_message: "no" }, "no"],
    [{ error: null }, undefined],
    [{ error: "" }, undefined],
  ] as const) {
    assert.deepEqual(failureOf({ name: "a", response } as never), failure);
  }
});
