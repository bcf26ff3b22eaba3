// Traces of anything that follows the semantic conventions, as they are today and as they were before messages had parts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { JsonLogsSerializer, JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { agent, chat, errorOf, evaluate, isTraces, log, message, readTraces, request, span } from "./support.mjs";
import { text, told, tool, tracesToJson } from "./support.mjs";

const ASK = message("user", text("Weather in Paris?"));
const CALL = { type: "tool_call", id: "c1", name: "get_weather", arguments: { city: "Paris" } };
const ANSWER = { ...message("assistant", text("Sunny.")), finish_reason: "stop" };
const ADK = { "gcp.vertex.agent.invocation_id": "e-1" };
const CONVERSATION = { "gen_ai.conversation.id": "s1" };

/** An agent that calls a tool and answers. */
const weather = (more = {}) => [
  span("a", undefined, [0, 1000], agent("weather", CONVERSATION)),
  span("b", "a", [0, 300], chat([ASK], [message("assistant", CALL)], more)),
  span(
    "c",
    "a",
    [300, 500],
    tool("get_weather", {
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.call.arguments": '{"city":"Paris"}',
      "gen_ai.tool.call.result": '{"sky":"sunny"}',
    }),
  ),
  span("d", "a", [500, 900], chat([ASK, message("assistant", CALL)], [ANSWER], more)),
];

test("an agent's span is a turn, what is inside of it what happened", () => {
  const [run, ...others] = readTraces(request(weather()));
  assert.deepEqual(others, []);
  assert.deepEqual([run.evalId, run.sessionId, run.status], ["s1", "s1", 1]);
  const [invocation] = run.inferences;
  assert.deepEqual(invocation.userContent, { role: "user", parts: [{ text: "Weather in Paris?" }] });
  assert.deepEqual(invocation.finalResponse, { role: "model", parts: [{ text: "Sunny." }] });
  assert.deepEqual(invocation.intermediateData.invocationEvents, [
    {
      author: "weather",
      content: {
        role: "model",
        parts: [{ functionCall: { id: "c1", name: "get_weather", args: { city: "Paris" } } }],
      },
      modelVersion: "m",
    },
    {
      author: "weather",
      content: {
        role: "user",
        parts: [{ functionResponse: { id: "c1", name: "get_weather", response: { sky: "sunny" } } }],
      },
    },
    { author: "weather", modelVersion: "m" },
  ]);
  const { duration, modelDuration, toolDuration, creationTimestamp } = invocation;
  assert.deepEqual([duration, modelDuration, toolDuration, creationTimestamp], [1, 0.7, 0.2, 1700000000]);
});

test("messages may be attributes of any form, or a log record's, or an event's of the span", () => {
  const spans = weather();
  const expected = readTraces(request(spans));
  const bare = spans.map((one) => ({
    ...one,
    attributes: one.attributes.filter(({ key }) => !key.endsWith(".messages")),
  }));
  const messages = [
    { "gen_ai.input.messages": [ASK], "gen_ai.output.messages": [message("assistant", CALL)] },
    { "gen_ai.input.messages": [ASK, message("assistant", CALL)], "gen_ai.output.messages": [ANSWER] },
  ];
  const name = "gen_ai.client.inference.operation.details";
  const logs = ["b", "d"].map((id, at) => log(id, name, messages[at]));
  assert.deepEqual(readTraces(request(bare, logs)), expected);
  const named = ["b", "d"].map((id, at) => log(id, undefined, { ...messages[at], "event.name": name }));
  assert.deepEqual(readTraces(request(bare, named)), expected);
  const events = bare.map((one) => {
    const at = ["b", "d"].indexOf(one.spanId);
    return at < 0 ? one : { ...one, events: [{ name, timeUnixNano: "0", attributes: logs[at].attributes }] };
  });
  assert.deepEqual(readTraces(request(events)), expected);
});

test("the events of messages that the conventions had before are read, from log records and spans", () => {
  const call = { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };
  const system = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" };
  const spans = [
    span("a", undefined, [0, 9], agent("weather", CONVERSATION)),
    span("b", "a", [1, 2], system),
    span("c", "a", [3, 4], system),
  ];
  const logs = [
    log("b", "gen_ai.system.message", {}, { content: "Tell the weather." }),
    log("b", "gen_ai.user.message", {}, { content: "Weather in Paris?" }),
    log("b", "gen_ai.choice", {}, { index: 0, message: { role: "assistant", tool_calls: [call] } }),
    log("c", "gen_ai.user.message", {}, { content: "Weather in Paris?" }),
    log("c", "gen_ai.assistant.message", {}, { tool_calls: [call] }),
    log("c", "gen_ai.tool.message", {}, { id: "c1", content: '{"sky":"sunny"}' }),
    log("c", "gen_ai.choice", {}, { index: 0, message: { content: "Sunny." } }),
  ];
  const [{ inferences }] = readTraces(request(spans, logs));
  assert.deepEqual(inferences[0].userContent, { parts: [{ text: "Weather in Paris?" }], role: "user" });
  assert.deepEqual(told(inferences[0]), {
    calls: [["get_weather", { city: "Paris" }]],
    responses: [{ sky: "sunny" }],
    answer: "Sunny.",
  });
  assert.equal(inferences[0].appDetails.agentDetails.weather.instructions, "Tell the weather.");
});

test("what OpenTelemetry's own SDK exports is read", async () => {
  const spans = new InMemorySpanExporter();
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer("mine");
  const logs = new InMemoryLogRecordExporter();
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter: logs })] });
  const outer = tracer.startSpan("invoke_agent weather", { attributes: agent("weather", CONVERSATION) });
  const inside = trace.setSpan(ROOT_CONTEXT, outer);
  const model = tracer.startSpan("chat m", { attributes: { "gen_ai.operation.name": "chat" } }, inside);
  provider.getLogger("mine").emit({
    eventName: "gen_ai.client.inference.operation.details",
    attributes: { "gen_ai.input.messages": [ASK], "gen_ai.output.messages": [ANSWER] },
    context: trace.setSpan(inside, model),
  });
  model.end();
  outer.end();
  await provider.forceFlush();
  const exported = [
    JsonTraceSerializer.serializeRequest(spans.getFinishedSpans()),
    JsonLogsSerializer.serializeRequest(logs.getFinishedLogRecords()),
  ].map((bytes) => new TextDecoder().decode(bytes));
  const [run] = readTraces(exported.join("\n"));
  assert.equal(run.sessionId, "s1");
  assert.deepEqual(run.inferences[0].userContent.parts, [{ text: "Weather in Paris?" }]);
  assert.equal(told(run.inferences[0]).answer, "Sunny.");
});

test("tokens are input and output, reasoning and cached ones apart", () => {
  const usage = {
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 25,
    "gen_ai.usage.reasoning.output_tokens": 5,
    "gen_ai.usage.cache_read.input_tokens": 40,
  };
  const [{ inferences }] = readTraces(request(weather(usage)));
  assert.deepEqual(inferences[0].intermediateData.invocationEvents[0].usageMetadata, {
    promptTokenCount: 100,
    cachedContentTokenCount: 40,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 5,
  });
});

test("a model's time leaves out the tools that run while its span is open, as ADK-TS and @google/adk have it", () => {
  const spans = weather();
  spans[1].endTimeUnixNano = spans[2].endTimeUnixNano;
  const [{ inferences }] = readTraces(request(spans));
  assert.deepEqual([inferences[0].modelDuration, inferences[0].toolDuration], [0.7, 0.2]);
});

test("tools that run at once count once, and an agent inside of a tool is no part of the conversation", () => {
  const inner = [ASK, message("assistant", text("Inner."))];
  const calls = [CALL, { ...CALL, id: "c2", name: "ask_other", arguments: {} }];
  const spans = [
    span("a", undefined, [0, 1000], agent("weather", CONVERSATION)),
    span("b", "a", [0, 100], chat([ASK], [message("assistant", ...calls)])),
    span("c", "a", [100, 500], tool("get_weather", { "gen_ai.tool.call.result": '"sunny"' })),
    span("e", "a", [100, 600], tool("ask_other", { "gen_ai.tool.call.result": "plain words" })),
    span("f", "e", [100, 600], agent("other", { "gen_ai.conversation.id": "inner" })),
    span("g", "f", [200, 300], chat(inner.slice(0, 1), inner.slice(1))),
    span("d", "a", [700, 900], chat([ASK], [ANSWER])),
  ];
  const [run, ...others] = readTraces(request(spans));
  assert.deepEqual([run.sessionId, others], ["s1", []]);
  const [{ intermediateData, modelDuration, toolDuration }] = run.inferences;
  assert.deepEqual(told(run.inferences[0]).responses, [{ result: "sunny" }, { result: "plain words" }]);
  assert.ok(intermediateData.invocationEvents.every(({ author }) => author === "weather"));
  assert.deepEqual([modelDuration, toolDuration], [0.4, 0.4]);
});

test("the turns of a conversation are those of its traces, in order of time", () => {
  const turn = (traceId, from, words) => {
    const more = { traceId };
    return [
      span("a", undefined, [from, from + 9], agent("weather", CONVERSATION), more),
      span("b", "a", [from, from + 9], chat([message("user", text(words))], [ANSWER]), more),
    ];
  };
  const [run] = readTraces(request([...turn("22", 5000, "Second"), ...turn("11", 1000, "First")]));
  assert.deepEqual(
    run.inferences.map(({ userContent }) => userContent.parts[0].text),
    ["First", "Second"],
  );
});

test("calls without an agent are turns of their conversation; one that brings a tool's response goes on", () => {
  const result = message("tool", { type: "tool_call_response", id: "c1", response: { sky: "sunny" } });
  const more = (traceId) => ({ traceId });
  const spans = [
    span("a", undefined, [0, 10], chat([ASK], [message("assistant", CALL)], CONVERSATION), more("11")),
    span("a", undefined, [20, 30], chat([ASK, message("assistant", CALL), result], [ANSWER], CONVERSATION), more("22")),
    span("a", undefined, [40, 50], chat([message("user", text("Thanks."))], [ANSWER], CONVERSATION), more("33")),
    span("a", undefined, [60, 70], chat([ASK], [ANSWER]), more("44")),
  ];
  const [run, other] = readTraces(request(spans));
  assert.deepEqual(run.inferences.map(told), [
    { calls: [["get_weather", { city: "Paris" }]], responses: [{ sky: "sunny" }], answer: "Sunny." },
    { calls: [], responses: [], answer: "Sunny." },
  ]);
  assert.equal(other.sessionId, "44", "without a conversation the trace is one");
});

test("where only tools and agents have spans, these are read", () => {
  const messages = {
    "gen_ai.input.messages": JSON.stringify([ASK]),
    "gen_ai.output.messages": JSON.stringify([ANSWER]),
  };
  const spans = [
    span("a", undefined, [0, 9], agent("weather", { ...CONVERSATION, ...messages })),
    span("b", "a", [1, 2], tool("get_weather", { "gen_ai.tool.call.arguments": { city: "Paris" } })),
  ];
  const [{ inferences }] = readTraces(request(spans));
  assert.deepEqual(told(inferences[0]), {
    calls: [["get_weather", { city: "Paris" }]],
    responses: [],
    answer: "Sunny.",
  });
  assert.deepEqual(inferences[0].userContent.parts, [{ text: "Weather in Paris?" }]);
  const [bare] = readTraces(request([span("a", undefined, [0, 9], agent("weather")), spans[1]]));
  assert.deepEqual(told(bare.inferences[0]).calls, [["get_weather", { city: "Paris" }]]);
});

test("a call of several of which the messages are lost is an error, since nobody knows what it asked for", () => {
  const lost = weather();
  lost[1].attributes = lost[1].attributes.filter(({ key }) => !key.endsWith(".messages"));
  const error = errorOf(() => readTraces(request(lost)));
  assert.equal(error.message, "a model call contains no messages, although others in the traces do");
  assert.match(error.path, /spans\[1\]$/);
});

test("a model that answered nothing, tools by themselves, and agents without a model do not pass for lost messages", () => {
  const silent = weather();
  silent[3] = span("d", "a", [500, 900], chat([ASK], [message("assistant")]));
  assert.equal(readTraces(request(silent))[0].inferences[0].finalResponse, undefined);
  const server = span("s", undefined, [0, 1], tool("get_weather"), { traceId: "99" });
  assert.equal(readTraces(request([...weather(), server])).length, 1);
  const error = errorOf(() => readTraces(request([span("a", undefined, [0, 1], agent("canned"))])));
  assert.equal(error.message, "a turn contains no messages: no model was called in it");
});

test("google-adk's pieces of a streamed answer are one, and the whole after them is not repeated", () => {
  const of = (...texts) => {
    const answers = texts.map((words) => message("assistant", text(words)));
    const [run] = readTraces(request([span("a", undefined, [0, 9], chat([ASK], answers, ADK))]));
    return run.inferences[0].finalResponse.parts;
  };
  assert.deepEqual(of("It is ", "sun", "ny."), [{ text: "It is sunny." }]);
  assert.deepEqual(of("It is ", "sunny.", "It is sunny."), [{ text: "It is sunny." }]);
  const calls = ["c1", "c2"].map((id) => message("assistant", { ...CALL, id }));
  const [both] = readTraces(request([span("a", undefined, [0, 9], chat([ASK], calls, ADK))]));
  assert.equal(told(both.inferences[0]).calls.length, 2);
  const alternatives = [message("assistant", text("One.")), message("assistant", text("Two."))];
  const [run] = readTraces(request([span("a", undefined, [0, 9], chat([ASK], alternatives))]));
  assert.deepEqual(run.inferences[0].finalResponse.parts, [{ text: "One." }], "elsewhere the first choice counts");
});

test("the events of a call are read in order of time", () => {
  const spans = [span("a", undefined, [0, 9], { "gen_ai.operation.name": "chat" })];
  const at = (time) => ({ timeUnixNano: String(time * 1e6) });
  const logs = [
    log("a", "gen_ai.choice", {}, { message: { content: "Sunny." } }, at(3)),
    log("a", "gen_ai.user.message", {}, { content: "Second" }, at(2)),
    log("a", "gen_ai.user.message", {}, { content: "First" }, at(1)),
  ];
  const [{ inferences }] = readTraces(request(spans, logs));
  assert.equal(inferences[0].userContent.parts[0].text, "Second");
});

test("a run whose last turn failed without an answer is a failed run", async () => {
  const failed = { status: { code: 2, message: "quota exceeded" } };
  const spans = [
    span("a", undefined, [0, 9], agent("weather", CONVERSATION), failed),
    span("b", "a", [1, 2], { ...chat([ASK], []), "gen_ai.output.messages": "[]" }, failed),
  ];
  const [run] = readTraces(request(spans));
  assert.deepEqual([run.status, run.errorMessage], [2, "quota exceeded"]);
  const evalSet = { evalSetId: "s", evalCases: [{ evalId: "s1", conversation: [{ userContent: {} }] }] };
  const { evalCaseResults } = await evaluate({ evalSet, actual: [run], criteria: { response_match_score: 0.5 } });
  assert.match(evalCaseResults[0].reason, /quota exceeded/);
});

test("cases are found by the id of the conversation, by a map, by a function, or by position", async () => {
  const traces = request(weather());
  assert.equal(readTraces(traces, { evalIds: { s1: "paris" } })[0].evalId, "paris");
  assert.equal(readTraces(traces, { evalIds: { other: "paris" } })[0].evalId, "s1");
  const seen = [];
  const evalIds = (conversation) => {
    seen.push(conversation);
    return "oslo";
  };
  assert.equal(readTraces(traces, { evalIds })[0].evalId, "oslo");
  assert.deepEqual(
    [seen[0].sessionId, seen[0].traceIds, seen[0].attributes["gen_ai.agent.name"]],
    ["s1", ["0af7651916cd43dd8448eb211c80319c"], "weather"],
  );
  const conversation = [{ userContent: {}, finalResponse: { parts: [{ text: "Sunny." }] } }];
  const evalSet = { evalSetId: "s", evalCases: [{ evalId: "first", conversation }] };
  const { evalCaseResults } = await evaluate({
    evalSet,
    actual: readTraces(traces),
    criteria: { response_match_score: 1 },
  });
  assert.deepEqual([evalCaseResults[0].evalId, evalCaseResults[0].finalEvalStatus], ["first", 1]);
});

test("integers of any size stay what they are in the JSON, and are rounded in objects", async () => {
  const big = "9007199254740993";
  const text = JSON.stringify(request(weather()))
    .replaceAll('\\"city\\":\\"Paris\\"', `\\"order\\":${big}`)
    .replaceAll('\\\\\\"city\\\\\\":\\\\\\"Paris\\\\\\"', `\\\\\\"order\\\\\\":${big}`);
  assert.ok(tracesToJson(text).includes(`{"order":${big}}`));
  assert.deepEqual(told(readTraces(text)[0].inferences[0]).calls, [["get_weather", { order: Number(big) }]]);
  const evalSet = (order) =>
    `{"eval_set_id": "s", "eval_cases": [{"eval_id": "s1", "conversation": [{"user_content": {},
      "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"order": ${order}}}]}}]}]}`;
  const scored = async (order) => {
    const criteria = { tool_trajectory_avg_score: 1 };
    const { evalCaseResults } = await evaluate({ evalSet: evalSet(order), actual: tracesToJson(text), criteria });
    return evalCaseResults[0].overallEvalMetricResults[0].score;
  };
  assert.deepEqual([await scored(big), await scored("9007199254740992")], [1, 0]);
});

test("traces are told from other files by how they begin", () => {
  for (const yes of [
    '{"resourceSpans":[]}',
    ' [ {"resourceLogs":[]}]',
    '\uFEFF{\n "resourceMetrics": []}',
    request([]),
  ]) {
    assert.equal(isTraces(yes), true, JSON.stringify(yes));
    if (typeof yes === "string") assert.equal(isTraces(new TextEncoder().encode(yes)), true);
  }
  for (const no of ['{"eval_set_id":"resourceSpans"}', "[]", "", {}, [], null, undefined, 7]) {
    assert.equal(isTraces(no), false, JSON.stringify(no));
  }
});

test("messages that were cut, and traces without agents, are errors that say what to do", () => {
  const cut = weather();
  cut[3].attributes.find(({ key }) => key === "gen_ai.output.messages").value.stringValue = '[{"role":"assi';
  const error = errorOf(() => readTraces(request(cut)));
  assert.equal(
    error.toString(),
    "the attribute `gen_ai.output.messages` is not JSON (at traces: resourceSpans[0].scopeSpans[0].spans[3]). " +
      "It may have been cut off: raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT where the agent runs",
  );
  const web = request([span("a", undefined, [0, 1], { "http.request.method": "GET" })]);
  assert.match(errorOf(() => readTraces(web)).message, /there are no spans of an agent or a model/);
  const elided = request([span("a", undefined, [0, 1], { "gen_ai.operation.name": "chat" })]);
  assert.match(errorOf(() => readTraces(elided)).help, /Let the instrumentation capture them/);
});
