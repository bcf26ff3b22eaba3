// What an agent did and nobody can read fails its case; what was done in the others is scored all the same.

import assert from "node:assert/strict";
import test from "node:test";
import { AgentEvaluator, LocalEvalService } from "../../pkg/dist/esm/node.js";
import { errorOf, evalSetOf, turn } from "./evalsets.mjs";

const TEXT = { content: { parts: [{ text: "Hello!" }] } };
const part = (value) => [{ content: { parts: [value] } }, TEXT];

const UNREADABLE = {
  "a part with a misspelt key": [
    part({ functioncall: { name: "greet" } }),
    /^turn 1: `functioncall` is not a key of a part \(at event: content\.parts\)\. Did you mean `functionCall`\?/,
  ],
  "a part with other keys alone": [
    part({ type: "tool_use", tool: "greet" }),
    /^turn 1: `type` is not a key of a part \(at event: content\.parts\)\. Its keys are text, functionCall and functionResponse/,
  ],
  "a thought under another key": [
    part({ thought: true, reasoning: "Well." }),
    /^turn 1: `reasoning` is not a key of a part/,
  ],
  "text for a part": [
    [{ content: { parts: ["Hello!"] } }, TEXT],
    /^turn 1: expected an object, found "Hello!" \(at event: content\.parts\)/,
  ],
  "a content under other keys": [[{ content: { text: "Hello!" } }, TEXT], /^turn 1: `text` is not a key of a content/],
  "parts for a content": [
    [{ content: [{ text: "Hello!" }] }, TEXT],
    /^turn 1: expected an object with `parts`, found an array \(at event: content\)/,
  ],
  "parts beside the content": [
    [{ author: "agent", parts: [{ functionCall: { name: "greet" } }] }, TEXT],
    /^turn 1: the agent emitted an event with `parts`, which is not read\. /,
  ],
  "text beside the content": [
    [{ author: "agent", text: "Hello!" }, TEXT],
    /^turn 1: the agent emitted an event with `text`, which is not read\. /,
  ],
  "a call beside the content": [
    [{ ...TEXT, function_call: { name: "greet" } }],
    /^turn 1: the agent emitted an event with `function_call`, which is not read\. /,
  ],
  "other text than the content's beside it": [
    [{ ...TEXT, text: "Hello! Ada." }],
    /^turn 1: the agent emitted an event with `text`, which is not read\. /,
  ],
  "arguments as text": [
    part({ functionCall: { name: "greet", args: '{"name":"Ada"}' } }),
    /^turn 1: expected an object, found the string .* \(at intermediateData\.\S*functionCall\.args\)/,
  ],
  "a name that is a number": [
    part({ functionCall: { name: 5 } }),
    /^turn 1: expected a string, found the number 5 \(at /,
  ],
  "an answer whose text is a number": [
    { parts: [{ text: 5 }] },
    /^turn 1: expected a string, found the number 5 \(at /,
  ],
  "calls beside the content": [
    [{ ...TEXT, toolCalls: [{ name: "greet" }] }],
    /^turn 1: the agent emitted an event with `toolCalls`, which is not read\. /,
  ],
  "an event with a misspelt key": [
    [{ author: "agent", contents: TEXT.content }],
    /^turn 1: `contents` is not a key of an event \(at event\)\. Did you mean `content`\?/,
  ],
  "one event with a misspelt key": [
    { Content: TEXT.content },
    /^turn 1: `Content` is not a key of an event \(at event\)\. Did you mean `content`\?/,
  ],
  "an error under a misspelt key": [
    [TEXT, { author: "agent", error_cod: "OVERLOADED" }],
    /^turn 1: `error_cod` is not a key of an event \(at event\)\. Did you mean `errorCode`\?/,
  ],
  "an event whose answer has another key": [
    [{ author: "agent", answer: "Hello!" }],
    /^turn 1: `answer` is not a key of an event \(at event\)\. An event is an object such as /,
  ],
  "an event whose content is undefined": [
    { content: undefined },
    /^turn 1: the agent returned an object whose `content` is undefined for "bad"\. Return the answer, or null for none/,
  ],
  "a content whose parts are undefined": [
    { parts: undefined },
    /^turn 1: the agent returned an object whose `parts` is undefined for "bad"\. Return the answer, or null for none/,
  ],
  "a list in a list": [[[TEXT]], /^turn 1: expected an event from the agent, found an array \(at event\)\. /],
  "a number in a list": [[5], /^turn 1: expected an event from the agent, found 5 \(at event\)\. /],
};

for (const [what, [answer, reason]] of Object.entries(UNREADABLE)) {
  test(`an agent that gives ${what} fails its case alone`, async () => {
    const agent = (message) => (message === "bad" ? answer : "Hello!");
    const evalSet = evalSetOf({ good: [turn("Hi", "Hello!")], bad: [turn("bad", "Hello!")] });
    const error = await errorOf(() => AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 1));
    assert.equal(error.name, "AgentEvaluationError", String(error));
    const [good, bad] = error.results[0].evalCaseResults;
    assert.deepEqual([good.finalEvalStatus, bad.finalEvalStatus], [1, 2]);
    assert.match(bad.reason.replace("the run failed: ", ""), reason);
    const service = new LocalEvalService(agent, 1);
    const found = [];
    for await (const inference of service.performInference({ evalSetId: "s", evalCases: [evalSet] })) {
      found.push(inference);
    }
    assert.equal(found.length, 2);
  });
}

test("the text of its content beside it is no mistake", async () => {
  for (const text of ["Hello!", " Hello!\n", ""]) {
    const evalSet = evalSetOf({ good: [turn("Hi", "Hello!")] });
    const agent = () => [{ ...TEXT, text }];
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 1);
    assert.equal(evalCaseResults[0].finalEvalStatus, 1);
  }
});

test("what the libraries' events have besides is no mistake", async () => {
  const others = [
    { author: "agent", id: "1", timestamp: 1, branch: "a.b", turnComplete: true, content: undefined },
    { author: "agent", id: "2", actions: { stateDelta: { a: 1 } }, nodeInfo: { path: "a" }, output: "Hello!" },
    { ...TEXT, context: "a key of the user's own", citationMetadata: {}, contents: null },
  ];
  const evalSet = evalSetOf({ good: [turn("Hi", "Hello!")] });
  await AgentEvaluator.evaluateEvalSet(() => others, evalSet, { response_match_score: 1 }, 1);
});

test("what google-adk's parts have besides calls and texts is no mistake", async () => {
  const others = [
    { executableCode: { code: "1" } },
    { thought: true },
    { thought_signature: "x" },
    {},
    { note: null },
    null,
  ];
  const agent = () => [{ author: "agent", content: { role: "model", parts: others } }, { author: "agent" }, TEXT];
  const evalSet = evalSetOf({ good: [turn("Hi", "Hello!")] });
  await AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 1 }, 1);
});
