// What looks like one form of messages and is another, and what would be lost without a word.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asAutoevalsScorer, asMastraStep, asOpenevalsEvaluator, chat, errorOf, message } from "./support.mjs";
import { readTraces, request, RougeEvaluator, span, text, told } from "./support.mjs";

const ASK = message("user", text("Hi."));
const YO = message("assistant", text("Yo."));
const RUN = { "gen_ai.conversation.id": "c1" };
const MODEL = { "gen_ai.operation.name": "chat", ...RUN };
const of = (...spans) => readTraces(request(spans))[0];
const answered = (output, more) => of(span("a", undefined, [0, 1], chat([ASK], output, { ...RUN, ...more })));
const old = (prompt, completion) => ({ "gen_ai.prompt": prompt, "gen_ai.completion": completion });
const legacy = (prompt, completion, more) =>
  of(span("a", undefined, [0, 1], { ...MODEL, ...old(prompt, completion) }, more));
const event = (name, attributes, at = 0) => ({
  name,
  timeUnixNano: String(at),
  attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
});

/** What a tool gave by the messages that the model was told next. */
function responsesOf(result) {
  const call = { role: "assistant", tool_calls: [{ id: "1", function: { name: "pay", arguments: "{}" } }] };
  const run = of(
    span("a", undefined, [0, 9], { "gen_ai.operation.name": "invoke_agent", ...RUN }),
    span("b", "a", [1, 2], chat([ASK], [call])),
    span("c", "a", [3, 4], chat([ASK, call, result], [YO])),
  );
  return { responses: told(run.inferences[0]).responses, warnings: run.warnings };
}

test("an answer as plain text keeps its lines that look like roles; so does a prompt that begins with none", () => {
  const words = "These:\nuser: can read\nassistant: can write";
  for (const answer of [words, "user: can read\nassistant: can write"]) {
    assert.equal(told(legacy("user: Hi.", answer).inferences[0]).answer, answer);
  }
  const { userContent } = legacy(words, "Yo.").inferences[0];
  assert.deepEqual(userContent, { role: "user", parts: [{ text: words }] });
});

test("messages that the conventions before 1.28 have in several places are read once", () => {
  const given = old(
    JSON.stringify([{ role: "user", content: "Hi." }]),
    JSON.stringify([{ role: "assistant", content: "Yo." }]),
  );
  const [prompt, completion] = Object.entries(given);
  const events = [
    event("gen_ai.content.prompt", Object.fromEntries([prompt])),
    event("gen_ai.content.completion", Object.fromEntries([completion]), 1),
  ];
  const ofMessages = [event("gen_ai.user.message", { content: "Hi." }), event("gen_ai.choice", { message: "Yo." }, 1)];
  for (const run of [
    legacy(prompt[1], completion[1], { events }),
    legacy(prompt[1], completion[1], { events: ofMessages }),
    of(span("a", undefined, [0, 9], { ...MODEL, ...given }), span("b", "a", [1, 2], { ...MODEL, ...given })),
  ]) {
    assert.deepEqual([run.warnings, told(run.inferences[0]).answer], [undefined, "Yo."]);
  }
});

test("an answer before 1.28 that was kept back is reported with the setting that captures it", () => {
  for (const kept of ["", "__REDACTED__", "<elided>"]) {
    const inEvent = { events: [event("gen_ai.content.completion", { "gen_ai.completion": kept })] };
    for (const run of [() => legacy("", kept), () => of(span("a", undefined, [0, 1], MODEL, inEvent))]) {
      const { message: said, help } = errorOf(run);
      assert.equal(said.split(": ").at(-1), "capturing them is off", kept);
      assert.match(help, /capture/);
    }
  }
});

test("results of tools that are data are read, and scorers accept them", async () => {
  const evaluator = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.8 });
  for (const [content, response] of [
    [{ temperature: 21 }, { temperature: 21 }],
    [[{ temperature: 21 }], { result: [{ temperature: 21 }] }],
    [[1, 2], { result: [1, 2] }],
    [{ type: "odd" }, { type: "odd" }],
  ]) {
    const result = { role: "tool", tool_call_id: "1", content };
    assert.deepEqual(responsesOf(result), { responses: [response], warnings: undefined });
    const output = [
      { role: "assistant", tool_calls: [{ id: "1", function: { name: "get", arguments: "{}" } }] },
      result,
      { role: "assistant", content: "Yo." },
    ];
    assert.equal((await asAutoevalsScorer("a", evaluator)({ input: "Hi.", output, expected: "Yo." })).score, 1);
    const outputs = { inputs: "Hi.", outputs: output, referenceOutputs: "Yo." };
    assert.equal((await asOpenevalsEvaluator("a", evaluator)(outputs)).score, 1);
    assert.equal(await asMastraStep(evaluator)({ run: { input: "Hi.", output, groundTruth: "Yo." } }), 1);
  }
});

test("instructions that only look like JSON are a text", () => {
  for (const words of [
    "[Role] Be kind.",
    "{name} is kind.",
    '"Kind" is what you are.',
    '  [{"type":"text","content":"Be',
  ]) {
    const { appDetails } = answered([YO], { "gen_ai.system_instructions": words }).inferences[0];
    assert.equal(appDetails.agentDetails.agent.instructions, words);
  }
});

test("what a tool gave is taken out of `value` only where Vercel's AI SDK put it there", () => {
  const responseTo = (output) =>
    responsesOf({ role: "tool", content: [{ type: "tool-result", toolCallId: "1", output }] }).responses[0];
  assert.deepEqual(responseTo({ value: 21, unit: "C" }), { value: 21, unit: "C" });
  assert.deepEqual(responseTo({ type: "celsius", value: 21 }), { type: "celsius", value: 21 });
  for (const type of ["json", "error-json"]) assert.deepEqual(responseTo({ type, value: { ok: 1 } }), { ok: 1 });
  for (const type of ["text", "error-text"]) assert.deepEqual(responseTo({ type, value: "Ok." }), { result: "Ok." });
  assert.deepEqual(responseTo({ type: "text", text: "Ok." }), { type: "text", text: "Ok." });
  assert.deepEqual(responseTo({ type: "json", value: null }), {});
  assert.deepEqual(responseTo({ type: "content", value: [{ type: "text", text: "Ok." }] }), { result: "Ok." });
});

test("messages with a type are apart, unless they are the items of one response", () => {
  const run = answered([
    { type: "ai", content: "Yo." },
    { type: "ai", content: "No." },
  ]);
  assert.equal(told(run.inferences[0]).answer, "Yo.");
  assert.deepEqual(run.warnings, ['"c1", turn 1: a model gave 2 answers to one call; the first is used']);
});

test("what is lost of messages is warned of", () => {
  const warned = (what) => [`"c1", turn 1: not read: ${what}`];
  const result = { type: "tool-result", toolCallId: "1", output: 1 };
  for (const [lost, what] of [
    [{ role: "tool", tool_call_id: "1", output: "Ok." }, "a message with `tool_call_id`, `output`"],
    [{ role: "tool", content: [result, { type: "odd" }] }, "a part of type `odd`"],
  ]) {
    assert.deepEqual(responsesOf(lost).warnings, warned(what));
  }
  for (const [lost, what] of [
    [{ type: "function", function: { name: "pay" } }, "a message with `type`, `function`"],
    [{ role: "assistant", content: "Yo.", tool_calls: ["pay", 7] }, "a tool call that is not an object"],
    [{ role: "assistant", content: "Yo.", function_call: "pay" }, "a tool call that is not an object"],
    [{ role: "assistant", content: [{ text: { annotations: [] } }] }, "a part with `text`"],
  ]) {
    const run = answered(lost.content === "Yo." ? [lost] : [YO, lost]);
    assert.deepEqual([run.warnings, told(run.inferences[0]).answer], [warned(what), "Yo."], what);
  }
  for (const none of [{ tool_calls: "" }, { tool_calls: null, function_call: null }, { tool_calls: [] }]) {
    assert.equal(answered([{ role: "assistant", content: "Yo.", ...none }]).warnings, undefined);
  }
});

test("what a tool gave as `text` is read, and a result that was not captured is no unknown form", () => {
  assert.deepEqual(responsesOf({ role: "tool", tool_call_id: "1", text: "Ok." }).responses, [{ result: "Ok." }]);
  const events = [event("gen_ai.tool.message", { id: "1" })];
  const { message: said } = errorOf(() => of(span("a", undefined, [0, 1], MODEL, { events })));
  assert.match(said, /capturing them is off$/);
});

test("the input of a custom tool stays the text that it is", () => {
  for (const input of ["42", '{"sum":7}', "null", "pay()"]) {
    for (const call of [
      { type: "custom_tool_call", call_id: "1", name: "run", input },
      { role: "assistant", tool_calls: [{ id: "1", type: "custom", custom: { name: "run", input } }] },
    ]) {
      assert.deepEqual(told(answered([call]).inferences[0]).calls, [["run", { result: input }]], input);
    }
  }
});
