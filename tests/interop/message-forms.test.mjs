// What messages hold in the forms of instrumentations and providers: read, refused with the reason, or warned of.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asOpenevalsEvaluator, chat, errorOf, message, readTraces, request, RougeEvaluator } from "./support.mjs";
import { span, text, told } from "./support.mjs";

const ASK = message("user", text("Hi."));
const CALL = [["pay", { sum: 7 }]];
const RUN = { "gen_ai.conversation.id": "c1" };
const MODEL = { "gen_ai.operation.name": "chat", ...RUN };
const of = (...spans) => readTraces(request(spans))[0];
const answered = (output) => of(span("a", undefined, [0, 1], chat([ASK], output, RUN)));
const events = (...list) =>
  list.map(([name, attributes], at) => ({
    name,
    timeUnixNano: String(at),
    attributes: Object.entries(attributes).map(([key, value]) => ({
      key,
      value: { stringValue: typeof value === "string" ? value : JSON.stringify(value) },
    })),
  }));
const withEvents = (...list) => of(span("a", undefined, [0, 1], MODEL, { events: events(...list) }));

/** That a run asked for `pay`, answered "Yo." and warns of nothing. */
function assertRead(run, what, { calls = [], answer = "Yo." } = {}) {
  const { calls: made, answer: said } = told(run.inferences[0]);
  assert.deepEqual([made, said, run.warnings], [calls, answer, undefined], what);
}

const CALLS = {
  "the conventions": { type: "tool_call", id: "1", name: "pay", arguments: { sum: 7 } },
  Anthropic: { type: "tool_use", id: "1", name: "pay", input: { sum: 7 } },
  "OpenAI's responses": { type: "function_call", call_id: "1", name: "pay", arguments: '{"sum":7}' },
  "Vercel's AI SDK 4": { type: "tool-call", toolCallId: "1", toolName: "pay", args: { sum: 7 } },
  "Vercel's AI SDK 5": { type: "tool-call", toolCallId: "1", toolName: "pay", input: { sum: 7 } },
  Bedrock: { toolUse: { toolUseId: "1", name: "pay", input: { sum: 7 } } },
  Gemini: { functionCall: { id: "1", name: "pay", args: { sum: 7 } } },
};

for (const [whose, call] of Object.entries(CALLS)) {
  test(`a call of a tool as ${whose} writes it is read as a part and as a block of a content`, () => {
    for (const key of ["parts", "content"]) {
      const asked = { role: "assistant", [key]: [{ type: "text", text: "I pay." }, call] };
      const run = of(
        span("a", undefined, [0, 9], { "gen_ai.operation.name": "invoke_agent" }),
        span("b", "a", [1, 2], chat([ASK], [asked])),
        span("c", "a", [3, 4], chat([ASK], [message("assistant", text("Yo."))])),
      );
      assertRead(run, key, { calls: CALL });
      assert.deepEqual(told(answered([asked]).inferences[0]).calls, CALL);
    }
    assert.deepEqual(told(withEvents(["gen_ai.choice", { message: [call] }]).inferences[0]).calls, CALL);
  });
}

test("calls beside a content are read, however they are spelt", () => {
  const fn = { name: "pay", arguments: '{"sum":7}' };
  for (const beside of [
    { tool_calls: [{ id: "1", type: "function", function: fn }] },
    { tool_calls: JSON.stringify([{ id: "1", function: fn }]) },
    { toolCalls: [{ toolCallId: "1", toolName: "pay", args: { sum: 7 } }] },
    { toolCalls: [{ id: "1", type: "function", function: fn }] },
    { function_call: fn },
  ]) {
    const what = JSON.stringify(beside);
    assert.deepEqual(told(answered([{ role: "assistant", content: null, ...beside }]).inferences[0]).calls, CALL, what);
    const run = withEvents(["gen_ai.choice", { message: "I pay.", ...beside }]);
    assert.deepEqual(told(run.inferences[0]).calls, CALL, what);
  }
});

test("results of tools are read in the forms of providers", () => {
  const call = { role: "assistant", tool_calls: [{ id: "1", function: { name: "pay", arguments: '{"sum":7}' } }] };
  for (const result of [
    { role: "tool", tool_call_id: "1", content: '{"ok":1}' },
    { role: "function", name: "pay", content: '{"ok":1}' },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: '{"ok":1}' }] }],
    },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "1", output: { type: "json", value: { ok: 1 } } }] },
    { type: "function_call_output", call_id: "1", output: '{"ok":1}' },
    { role: "user", content: [{ toolResult: { toolUseId: "1", content: [{ json: { ok: 1 } }] } }] },
  ]) {
    const run = of(
      span("a", undefined, [0, 9], { "gen_ai.operation.name": "invoke_agent" }),
      span("b", "a", [1, 2], chat([ASK], [call])),
      span("c", "a", [3, 4], chat([ASK, call, result], [message("assistant", text("Yo."))])),
    );
    assertRead(run, JSON.stringify(result), { calls: CALL });
    assert.deepEqual(told(run.inferences[0]).responses, [{ ok: 1 }], JSON.stringify(result));
  }
});

test("texts are read in the forms of providers", () => {
  for (const output of [
    [message("assistant", { type: "text", text: "Yo." })],
    [message("assistant", { type: "output_text", text: "Yo." })],
    [message("assistant", { type: "text", text: { value: "Yo.", annotations: [] } })],
    [message("assistant", { type: "refusal", refusal: "Yo." })],
    [{ role: "assistant", content: null, refusal: "Yo." }],
    [{ role: "assistant", content: "Yo.", refusal: null }],
    [{ role: "assistant", content: { text: { value: "Yo." } } }],
    [
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm." },
          { type: "text", text: "Yo." },
        ],
      },
    ],
    [{ role: "assistant", text: "Yo." }],
    [{ type: "ai", content: "Yo." }],
    [{ type: "text", content: "Yo." }],
    { role: "assistant", content: "Yo." },
    ["Yo."],
    "Yo.",
  ]) {
    const [answer, ...others] = answered(output).inferences[0].finalResponse.parts.filter(({ thought }) => !thought);
    assert.deepEqual([answer, others], [{ text: "Yo." }, []], JSON.stringify(output));
    assert.equal(answered(output).warnings, undefined, JSON.stringify(output));
  }
});

test("the items of OpenAI's responses are one message", () => {
  const { type, call_id, name, arguments: args } = CALLS["OpenAI's responses"];
  const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "I pay." }] };
  const run = answered([{ type: "reasoning", summary: [] }, said, { type, call_id, name, arguments: args }]);
  assert.deepEqual([told(run.inferences[0]).calls, run.warnings], [CALL, undefined]);
});

test("messages in events are read: lists, Azure's contents, and texts of any form", () => {
  const content = (value) => ({ "gen_ai.event.content": value });
  const ask = ["gen_ai.user.message", content({ content: "Hi.", role: "user" })];
  for (const event of [
    ["gen_ai.choice", { message: [{ type: "text", text: "Yo." }] }],
    ["gen_ai.choice", { message: [{ role: "assistant", content: "Yo." }] }],
    ["gen_ai.choice", { message: { role: "assistant", parts: [text("Yo.")] } }],
    ["gen_ai.choice", content([{ role: "assistant", parts: [text("Yo.")] }])],
    ["gen_ai.choice", content("Yo.")],
    ["gen_ai.assistant.message", content({ content: { text: { value: "Yo." } }, role: "assistant" })],
    ["gen_ai.assistant.message", content([{ role: "assistant", parts: [text("Yo.")] }])],
  ]) {
    const run = withEvents(ask, event);
    assertRead(run, JSON.stringify(event));
    assert.deepEqual(run.inferences[0].userContent, { role: "user", parts: [{ text: "Hi." }] });
  }
});

test("messages as the conventions had them before 1.28 are read from events and attributes", () => {
  const prompt = [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hi." },
  ];
  const completion = [{ role: "assistant", content: "Yo." }];
  const old = { "gen_ai.prompt": JSON.stringify(prompt), "gen_ai.completion": JSON.stringify(completion) };
  const listed = withEvents(["gen_ai.content.prompt", old], ["gen_ai.content.completion", {}]);
  for (const run of [listed, of(span("a", undefined, [0, 1], { ...MODEL, ...old }))]) {
    assertRead(run);
    assert.deepEqual(run.inferences[0].userContent.parts, [{ text: "Hi." }]);
    assert.equal(run.inferences[0].appDetails.agentDetails.agent.instructions, "Be kind.");
  }
  const lit = withEvents(
    ["gen_ai.content.prompt", { "gen_ai.prompt": "system: Be kind.\nuser: Hi.\nThere." }],
    ["gen_ai.content.completion", { "gen_ai.completion": "Yo." }],
  );
  assert.deepEqual(lit.inferences[0].userContent.parts, [{ text: "Hi.\nThere." }]);
  assert.equal(told(lit.inferences[0]).answer, "Yo.");
  assert.deepEqual(lit.warnings, ['"c1", turn 1: not read: calls of tools, since `gen_ai.completion` is plain text']);
});

test("a user who sends only media says something", () => {
  for (const block of [
    { type: "image_url", image_url: { url: "https://example.com/a.png" } },
    { type: "image", source: { type: "base64", media_type: "image/png", data: "" } },
    { type: "input_audio", input_audio: { data: "", format: "wav" } },
    { image: { format: "png", source: {} } },
  ]) {
    const input = [{ role: "user", content: [block] }];
    const run = of(span("a", undefined, [0, 1], chat(input, [message("assistant", text("Yo."))])));
    assert.equal(run.inferences[0].userContent.parts.length, 1, JSON.stringify(block));
    assert.equal(run.warnings, undefined, JSON.stringify(block));
  }
});

test("what is of no known form is warned of, once for a conversation", () => {
  const yo = text("Yo.");
  for (const [output, what] of [
    [[message("assistant", { type: "server_tool_use", name: "x" }, yo)], "a part of type `server_tool_use`"],
    [[{ role: "assistant", content: [{ type: "web_search_call" }, yo] }], "a part of type `web_search_call`"],
    [[message("assistant", { weird: 1 }, yo)], "a part with `weird`"],
    [[message("assistant", 7, yo)], "a part that is a number"],
    [[message("assistant", { type: "text", value: "Yo." }, yo)], "a part of type `text` without text"],
    [[message("assistant", yo), { role: "assistant", words: "Yo." }], "a message with `words`"],
  ]) {
    const run = answered(output);
    assert.equal(told(run.inferences[0]).answer, "Yo.");
    assert.deepEqual(run.warnings, [`"c1", turn 1: not read: ${what}`]);
  }
  const many = Array.from({ length: 100 }, (_, at) => ({ type: `${at}${"x".repeat(1000)}` }));
  const { warnings } = answered([message("assistant", ...many, yo)]);
  assert.ok(warnings.length === 20 && warnings.every(({ length }) => length < 150));
  const odd = message("user", { type: "odd" }, text("Hi."));
  const turn = (id, at, input) => ({
    ...span(id, undefined, [at, at + 1], chat(input, [message("assistant", yo)], RUN)),
    traceId: id,
  });
  const two = of(turn("1", 0, [odd]), turn("2", 5, [odd, message("assistant", yo), ASK]));
  assert.deepEqual(two.warnings, ['"c1", turn 1: not read: a part of type `odd`']);
});

test("an answer that is missing or hidden is warned of; a model that says nothing is not", () => {
  const input = { "gen_ai.input.messages": JSON.stringify([ASK]) };
  const hidden = [{ role: "assistant", content: "__REDACTED__" }];
  for (const attributes of [{ ...MODEL, ...input }, chat([ASK], hidden, RUN)]) {
    const { warnings, inferences } = of(span("a", undefined, [0, 1], attributes));
    assert.deepEqual(warnings, ['"c1", turn 1: an answer of the model is missing or hidden']);
    assert.equal(inferences[0].finalResponse, undefined);
  }
  for (const output of [[], [message("assistant")], [{ role: "assistant", content: "" }]]) {
    assert.equal(answered(output).warnings, undefined);
  }
});

test("messages of which nothing can be read are refused with what they are, not for want of capture", () => {
  const cases = [
    [chat([message("user", { type: "odd" })], [message("assistant", { type: "text", value: "Yo." })]), /type `odd`/],
    [{ ...MODEL, "llm.prompts": "Hi.", "output.value": "Yo." }, /not read: `llm\.prompts`, `output\.value`$/],
  ];
  for (const [attributes, reason] of cases) {
    const error = errorOf(() => of(span("a", undefined, [0, 1], attributes)));
    assert.match(error.message, /^the messages of a model call have a form that is not read: /);
    assert.match(error.message, reason);
  }
  const of2 = { events: events(["gen_ai.content.prompt", { text: "Hi." }]) };
  const error = errorOf(() => of(span("a", undefined, [0, 1], MODEL, of2)));
  assert.match(error.message, /not read: `gen_ai\.content\.prompt`$/);
});

test("attributes of OpenInference and OpenLLMetry that tell of calls of old, and of media, are read", () => {
  const input = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.contents.0.message_content.type": "image",
    "llm.input_messages.0.message.contents.0.message_content.image.image.url": "https://example.com/a.png",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.function_call_name": "pay",
    "llm.output_messages.0.message.function_call_arguments_json": '{"sum":7}',
  };
  const { inferences, warnings } = of(span("a", undefined, [0, 1], input));
  assert.deepEqual(told(inferences[0]).calls, CALL);
  assert.deepEqual([inferences[0].userContent.parts.length, warnings], [1, undefined]);
  const legacy = {
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "Hi.",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.function_call.name": "pay",
    "gen_ai.completion.0.function_call.arguments": '{"sum":7}',
  };
  assert.deepEqual(told(of(span("a", undefined, [0, 1], legacy)).inferences[0]).calls, CALL);
});

test("instructions are read as a text and from among the messages", () => {
  const instructed = (input, more) =>
    of(span("a", undefined, [0, 1], chat(input, [message("assistant", text("Yo."))], more))).inferences[0].appDetails
      .agentDetails.agent.instructions;
  assert.equal(instructed([ASK], { "gen_ai.system_instructions": "Be kind." }), "Be kind.");
  assert.equal(instructed([ASK], { "gen_ai.system_instructions": '"Be kind."' }), "Be kind.");
  assert.equal(instructed([message("system", text("Be kind.")), ASK], {}), "Be kind.");
  assert.equal(instructed([{ type: "system", content: "Be kind." }, ASK], {}), "Be kind.");
});

test("scorers of others refuse messages with what they do not read", async () => {
  const rouge = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.8 });
  const evaluator = asOpenevalsEvaluator("rouge", rouge);
  const outputs = [{ role: "assistant", content: [{ type: "odd" }, { type: "text", text: "Yo." }] }];
  await assert.rejects(
    async () => evaluator({ inputs: "Hi.", outputs, referenceOutputs: "Yo." }),
    /a part of type `odd`/,
  );
});
