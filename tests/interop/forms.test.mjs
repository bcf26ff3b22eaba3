// The forms in which events, messages and exports come, other than those that recordings hold.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, bytesOf, chat, errorOf, isTraces, log, message, readTraces, request, span } from "./support.mjs";
import { text, told, tool } from "./support.mjs";

const ASK = message("user", text("Weather in Paris?"));
const CALL = { type: "tool_call", id: "c1", name: "get_weather", arguments: { city: "Paris" } };
const ANSWER = message("assistant", text("Sunny."));
const CONVERSATION = { "gen_ai.conversation.id": "s1" };
const MODEL = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" };
const DETAILS = "gen_ai.client.inference.operation.details";
const EXPECTED = { calls: [["get_weather", { city: "Paris" }]], responses: [{ sky: "sunny" }], answer: "Sunny." };

const only = (traces) => {
  const [run, ...others] = readTraces(traces);
  assert.deepEqual(others, []);
  assert.equal(run.inferences.length, 1);
  return run.inferences[0];
};

/** Events of a span, with their attributes. */
const events = (...list) =>
  list.map(([name, attributes], at) => ({
    name,
    timeUnixNano: String(at),
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } })),
  }));

test("a message that is JSON in one attribute of an event is read", () => {
  const call = { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };
  const content = (value) => ({ "gen_ai.event.content": JSON.stringify(value) });
  const spans = [
    span("a", undefined, [0, 9], agent("weather", CONVERSATION)),
    span("b", "a", [1, 2], MODEL, {
      events: events(
        ["gen_ai.user.message", content({ role: "user", content: "Weather in Paris?" })],
        ["gen_ai.choice", content({ index: 0, message: { tool_calls: [call] } })],
      ),
    }),
    span("c", "a", [3, 4], MODEL, {
      events: events(
        ["gen_ai.user.message", content({ role: "user", content: "Weather in Paris?" })],
        ["gen_ai.assistant.message", content({ role: "assistant", tool_calls: [call] })],
        ["gen_ai.tool.message", content({ role: "tool", id: "c1", content: '{"sky":"sunny"}' })],
        ["gen_ai.choice", content({ index: 0, message: { content: "Sunny." } })],
      ),
    }),
  ];
  assert.deepEqual(told(only(request(spans))), EXPECTED);
});

test("a text that only looks like JSON stays a text", () => {
  for (const words of ["[1, 2]", '{"a": 1}', '{"answer":"yes","confidence":0.5}', "[not json", '[{"type": "text"}]']) {
    const of = events(["gen_ai.user.message", { content: "Go." }], ["gen_ai.choice", { message: words }]);
    const { finalResponse } = only(request([span("a", undefined, [0, 1], MODEL, { events: of })]));
    assert.deepEqual(finalResponse?.parts, [{ text: words }], words);
  }
});

test("calls that stand beside the message of a choice are read", () => {
  const call = { id: "c1", function: { name: "get_weather", arguments: { city: "Paris" } } };
  const logs = [
    log("b", "gen_ai.user.message", {}, { content: "Weather in Paris?" }),
    log("b", "gen_ai.choice", {}, { index: 0, message: { content: "I look." }, tool_calls: [call] }),
  ];
  const invocation = only(request([span("b", undefined, [0, 1], MODEL)], logs));
  assert.deepEqual(told(invocation).calls, EXPECTED.calls);
});

test("events are known by `event.name` and `otel.event.name`", () => {
  for (const key of ["event.name", "otel.event.name"]) {
    const details = {
      "gen_ai.input.messages": [ASK],
      "gen_ai.output.messages": [ANSWER],
      [key]: DETAILS,
    };
    assert.equal(
      told(only(request([span("b", undefined, [0, 1], MODEL)], [log("b", undefined, details)]))).answer,
      "Sunny.",
    );
  }
});

test("log records that name no span belong to the call under way, or are calls of their own", () => {
  const at = (ms) => ({ timeUnixNano: `${1700000000000 + ms}000000` });
  const spans = [
    span("a", undefined, [0, 90], agent("weather", CONVERSATION)),
    span("b", "a", [10, 20], MODEL),
    span("c", "a", [30, 40], MODEL),
  ];
  const call = { id: "c1", function: { name: "get_weather", arguments: { city: "Paris" } } };
  const logs = [
    log("", "gen_ai.user.message", {}, { content: "Weather in Paris?" }, at(11)),
    log("", "gen_ai.choice", {}, { message: { tool_calls: [call] } }, at(19)),
    log("", "gen_ai.tool.message", {}, { id: "c1", content: '{"sky":"sunny"}' }, at(31)),
    log("", "gen_ai.choice", {}, { message: { content: "Sunny." } }, at(39)),
  ];
  assert.deepEqual(told(only(request(spans, logs))), EXPECTED);
  const details = [
    log(
      "",
      DETAILS,
      { "gen_ai.input.messages": [ASK], "gen_ai.output.messages": [message("assistant", CALL)] },
      undefined,
      at(1),
    ),
    log(
      "",
      DETAILS,
      { "gen_ai.input.messages": [ASK, message("assistant", CALL)], "gen_ai.output.messages": [ANSWER] },
      undefined,
      at(2),
    ),
  ];
  assert.deepEqual(told(only(request([], details))).calls, EXPECTED.calls);
  assert.equal(told(only(request([], details))).answer, "Sunny.");
});

test("tokens by the names that the conventions had before are read", () => {
  const usage = { "gen_ai.usage.prompt_tokens": 10, "gen_ai.usage.completion_tokens": 3 };
  const { intermediateData } = only(request([span("b", undefined, [0, 1], chat([ASK], [ANSWER], usage))]));
  assert.deepEqual(intermediateData.invocationEvents[0].usageMetadata, {
    promptTokenCount: 10,
    candidatesTokenCount: 3,
  });
});

test("null and texts among the values of a list, and among parts, do not make a file unreadable", () => {
  const one = span("b", undefined, [0, 1], chat([ASK], [{ role: "assistant", parts: [null, "Sun", text("ny.")] }]));
  one.attributes.push({ key: "list", value: { arrayValue: { values: [null, {}, { stringValue: "x" }] } } });
  const given = [];
  const [run] = readTraces(request([one]), { evalIds: ({ attributes }) => void given.push(attributes.list) });
  assert.deepEqual(run.inferences[0].finalResponse.parts, [{ text: "Sun" }, { text: "ny." }]);
  assert.deepEqual(given, [[null, null, "x"]]);
});

test("the messages that an agent's span holds are what it did, in order", () => {
  const response = message("tool", { type: "tool_call_response", id: "c1", response: { sky: "sunny" } });
  const messages = {
    "gen_ai.input.messages": JSON.stringify([ASK]),
    "gen_ai.output.messages": JSON.stringify([message("assistant", CALL), response, ANSWER]),
  };
  const spans = [span("a", undefined, [0, 9], agent("weather", messages)), span("t", "a", [1, 2], tool("get_weather"))];
  assert.deepEqual(told(only(request(spans))), EXPECTED);
  assert.deepEqual(told(only(request(spans.slice(0, 1)))), EXPECTED);
});

test("tools that ran without being asked for are said", () => {
  const ran = (id) => span(id, "a", [2, 3], tool("lookup", { "gen_ai.tool.call.arguments": '{"q":1}' }));
  const spans = (output) => [
    span("a", undefined, [0, 9], agent("weather", CONVERSATION)),
    span("b", "a", [1, 2], chat([ASK], [output])),
    ran("t"),
    span("d", "a", [5, 6], chat([ASK], [ANSWER])),
  ];
  const [counted] = readTraces(request(spans(message("assistant", text("I look.")))));
  assert.deepEqual(told(counted.inferences[0]).calls, [["lookup", { q: 1 }]]);
  assert.deepEqual(counted.warnings, [
    '"s1", turn 1: some tools ran without a request of a traced model call: `lookup`; they count as calls',
  ]);
  const [left] = readTraces(request(spans(message("assistant", CALL))));
  assert.deepEqual(told(left.inferences[0]).calls, EXPECTED.calls);
  assert.match(left.warnings[0], /`lookup`; they are left out$/);
});

test("traces without the id of a conversation go together by what their models were told", () => {
  const turn = (traceId, from, input, answer) =>
    span("a", undefined, [from, from + 9], chat(input, [message("assistant", text(answer))]), { traceId });
  const first = [message("user", text("One?"))];
  const second = [...first, message("assistant", text("1.")), message("user", text("Two?"))];
  const runs = readTraces(
    request([
      turn("11", 0, first, "1."),
      turn("22", 20, second, "2."),
      turn("33", 40, [...second, message("assistant", text("2.")), message("user", text("Three?"))], "3."),
      turn("44", 60, first, "another 1."),
    ]),
  );
  assert.deepEqual(
    runs.map(({ sessionId, inferences }) => [sessionId, inferences.map((one) => told(one).answer)]),
    [
      ["11", ["1.", "2.", "3."]],
      ["44", ["another 1."]],
    ],
  );
  const [late] = readTraces(request([turn("22", 20, second, "2.")]));
  assert.deepEqual(late.warnings, [
    '"22": the messages of its first turn include an earlier turn that is not in these traces',
  ]);
});

/** A recording with something done to each export request of spans. */
const changed = (name, change) =>
  bytesOf(name)
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .map(change);

test("ADK's spans are known without the name of their instrumentation", () => {
  for (const name of ["adk-python-legacy.jsonl", "adk-python-spans.jsonl"]) {
    const without = changed(name, (one) => {
      for (const { scopeSpans } of one.resourceSpans ?? []) for (const scoped of scopeSpans) delete scoped.scope;
      return one;
    });
    assert.deepEqual(readTraces(without), readTraces(bytesOf(name)), name);
  }
});

const base64 = (hex) => Buffer.from(hex, "hex").toString("base64");

test("what Tempo answers is read: batches, ids in base 64, scopes by their old name", () => {
  const [spans] = changed("adk-python-legacy.jsonl", (one) => one);
  const expected = readTraces(JSON.stringify(spans));
  const batches = spans.resourceSpans.map(({ resource, scopeSpans }) => ({
    resource,
    instrumentationLibrarySpans: scopeSpans.map((scoped) => ({
      instrumentationLibrary: scoped.scope,
      spans: scoped.spans.map((one) => ({
        ...one,
        traceId: base64(one.traceId),
        spanId: base64(one.spanId),
        ...(one.parentSpanId === undefined ? {} : { parentSpanId: base64(one.parentSpanId) }),
      })),
    })),
  }));
  for (const answer of [{ batches }, { trace: { resourceSpans: spans.resourceSpans } }, { trace: { batches } }]) {
    assert.ok(isTraces(answer) && isTraces(JSON.stringify(answer)));
    assert.deepEqual(readTraces(answer), expected);
  }
});

/** What Jaeger's API makes of an attribute. */
const tagOf = ({ key, value }) => {
  const [[kind, inner]] = Object.entries(value);
  if (kind === "intValue") return { key, type: "int64", value: Number(inner) };
  if (kind === "boolValue") return { key, type: "bool", value: inner };
  if (kind === "doubleValue") return { key, type: "float64", value: inner };
  return { key, type: "string", value: kind === "stringValue" ? inner : JSON.stringify(inner) };
};

test("what Jaeger answers is read", () => {
  for (const name of ["adk-python-legacy.jsonl", "strands.jsonl"]) {
    const [spans] = changed(name, (one) => one);
    const expected = readTraces(JSON.stringify(spans));
    const micros = (nanos) => Number(BigInt(nanos) / 1000n);
    const all = spans.resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ scope, spans: own }) =>
        own.map((one) => ({
          traceID: one.traceId,
          spanID: one.spanId,
          operationName: one.name,
          references: one.parentSpanId ? [{ refType: "CHILD_OF", traceID: one.traceId, spanID: one.parentSpanId }] : [],
          startTime: micros(one.startTimeUnixNano),
          duration: micros(one.endTimeUnixNano) - micros(one.startTimeUnixNano),
          tags: [...(one.attributes ?? []).map(tagOf), { key: "otel.scope.name", type: "string", value: scope.name }],
          logs: (one.events ?? []).map((event) => ({
            timestamp: micros(event.timeUnixNano),
            fields: [{ key: "event", type: "string", value: event.name }, ...(event.attributes ?? []).map(tagOf)],
          })),
          processID: "p1",
        })),
      ),
    );
    const answer = { data: [{ traceID: all[0].traceID, spans: all, processes: { p1: { serviceName: "weather" } } }] };
    assert.ok(isTraces(answer) && isTraces(JSON.stringify(answer)));
    const times = ({ creationTimestamp: _1, duration: _2, modelDuration: _3, toolDuration: _4, ...turn }) => turn;
    const turns = (runs) => runs.map((run) => ({ ...run, inferences: run.inferences.map(times) }));
    assert.deepEqual(turns(readTraces(answer)), turns(expected), name);
  }
  const broken = { data: [{ traceID: "1", spans: [{ traceID: "1", spanID: "2", startTime: "soon" }] }] };
  assert.match(errorOf(() => readTraces(broken)).message, /expected microseconds/);
});

test("instructions without text are warned of, since no judge is shown them", () => {
  const image = { inline_data: { mime_type: "image/png", data: "" } };
  const warningsOf = (systemInstruction) => {
    const llmRequest = { config: { system_instruction: systemInstruction }, contents: [] };
    const attributes = { ...chat([ASK], [ANSWER]), "gcp.vertex.agent.llm_request": JSON.stringify(llmRequest) };
    return readTraces(
      request([span("a", undefined, [0, 9], agent("weather", CONVERSATION)), span("b", "a", [1, 2], attributes)]),
    )[0].warnings;
  };
  assert.deepEqual(warningsOf({ role: "user", parts: [image] }), [
    '"s1": the instructions of "weather" are something other than text, so judges do not see them',
  ]);
  assert.equal(warningsOf([image])?.length, 1);
  for (const fine of [
    undefined,
    "",
    { parts: [] },
    { parts: [{ text: "" }] },
    { parts: [{ text: "Be kind." }, image] },
  ]) {
    assert.equal(warningsOf(fine), undefined);
  }
});
