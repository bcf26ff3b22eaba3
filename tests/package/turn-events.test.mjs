// What happened in a turn: texts, calls with their outputs, sources. Calls and outputs are paired twice, here and for
// judges in the engine; `src/metrics/transcript.rs` reads the same list of pairs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { toolErrorOf, toolOutputsOf, turnEventsOf } from "../../pkg-template/src/turn-events.ts";

const named = (text) => {
  const [name, id] = text.split("#");
  return { name, ...(id ? { id } : {}) };
};

test("every call has the output of its name and id, in either form of a turn", () => {
  const rows = JSON.parse(readFileSync(new URL("../vectors/tool-outputs.json", import.meta.url), "utf8"));
  for (const row of rows) {
    const toolUses = row.calls.map(named);
    const toolResponses = row.outputs.map((output, index) => ({ ...named(output), response: { index } }));
    const parts = [
      ...toolUses.map((functionCall) => ({ functionCall })),
      ...toolResponses.map((functionResponse) => ({ functionResponse })),
    ];
    const invocationEvents = parts.map((part) => ({ author: "a", content: { parts: [part] } }));
    for (const intermediateData of [{ toolUses, toolResponses }, { invocationEvents }]) {
      const outputs = toolOutputsOf({ userContent: {}, intermediateData });
      const pairs = outputs.map((output) => output?.response.index ?? null);
      assert.deepEqual(pairs, row.pairs, JSON.stringify(row));
    }
  }
});

test("events are in order, with their author, the model and its tokens once an event, and the sources", () => {
  const usageMetadata = { promptTokenCount: 7 };
  const content = { parts: [{ text: "Hm", thought: true }, { text: "" }, { functionCall: { name: "look" } }] };
  const { events, isOrdered } = turnEventsOf({
    userContent: {},
    intermediateData: {
      invocationEvents: [
        { author: "guide", content, modelVersion: "m-1", usageMetadata, groundingMetadata: { webSearchQueries: [] } },
        { author: "", content: { parts: [{ text: "Found", thought: false }, { inlineData: {} }] } },
      ],
    },
  });
  assert.equal(isOrdered, true);
  assert.deepEqual(events, [
    { kind: "thought", author: "guide", text: "Hm", modelVersion: "m-1", usageMetadata },
    { kind: "call", author: "guide", call: { name: "look" } },
    { kind: "sources", groundingMetadata: { webSearchQueries: [] } },
    { kind: "text", text: "Found" },
  ]);
});

test("ADK's files are read as they are, and what cannot be read is a mistake in the invocation", () => {
  const intermediate_data = {
    invocation_events: [{ content: { parts: [{ function_call: { name: "look" } }] }, model_version: "m-1" }],
  };
  const { events } = turnEventsOf({ user_content: {}, intermediate_data });
  assert.deepEqual(events, [{ kind: "call", call: { name: "look" }, modelVersion: "m-1" }]);
  const broken = {
    userContent: {},
    get intermediateData() {
      throw new Error("no");
    },
  };
  for (const read of [turnEventsOf, toolOutputsOf]) assert.throws(() => read(broken), { code: "invalid_input" });
});

test("texts that were recorded apart from calls have no order, and outputs of no call come last", () => {
  const { events, isOrdered } = turnEventsOf({
    userContent: {},
    intermediateData: {
      toolUses: [{ name: "look" }],
      toolResponses: [{ name: "other" }, { name: "look" }],
      intermediateResponses: [["guide", [{ text: "Found" }]]],
    },
  });
  assert.equal(isOrdered, false);
  assert.deepEqual(events, [
    { kind: "call", call: { name: "look" } },
    { kind: "output", output: { name: "look" } },
    { kind: "output", output: { name: "other" } },
    { kind: "text", author: "guide", text: "Found" },
  ]);
  for (const nothing of [undefined, null, { userContent: {} }, { intermediateData: "no" }]) {
    assert.deepEqual(turnEventsOf(nothing), { events: [], isOrdered: true });
  }
});

test("an error is told from what a tool returned", () => {
  const content = [{ type: "text", text: "no" }];
  for (const [response, error] of [
    [{ sky: "clear" }, undefined],
    [undefined, undefined],
    [{ error: "no such city" }, "no such city"],
    [{ error: { message: "no such city", code: 4 } }, "no such city"],
    [{ error: { code: 4 } }, { code: 4 }],
    [{ isError: true, content }, content],
    [{ status: "error", error_message: "no" }, "no"],
    [{ status: "error" }, { status: "error" }],
    [{ error: null }, undefined],
    [{ error: "" }, undefined],
  ]) {
    assert.deepEqual(toolErrorOf({ name: "a", response }), error);
  }
});
