// Traces that agents of other frameworks left, and those of google-adk under other instrumentations: what each is read as.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, errorOf, evaluate, readTraces, told } from "./support.mjs";

const weather = (city, sky) => ({ city, sky });

/** Files with both turns of one conversation, and the tokens that each call of a model took. */
const WHOLE = {
  "strands.jsonl": 100,
  "strands-latest.jsonl": 100,
  "langchain.jsonl": 100,
  "langchain-events.jsonl": 100,
  "openinference-adk.jsonl": 100,
  "openinference-adk-captured.jsonl": 100,
  "agent-framework.jsonl": 100,
  "pydantic-ai.jsonl": undefined,
};

/** A turn that an evalset expects. */
const turn = (asked, cities, answer) => ({
  userContent: { parts: [{ text: asked }] },
  intermediateData: { toolUses: cities.map((city) => ({ name: "get_weather", args: { city } })) },
  finalResponse: { parts: [{ text: answer }] },
});

const EXPECTED = [
  turn("Weather in Paris?", ["Paris"], "It is sunny in Paris."),
  turn("And in London and Oslo?", ["London", "Oslo"], "It is grey in London and grey in Oslo."),
];

for (const [name, tokens] of Object.entries(WHOLE)) {
  test(`${name} gives both turns of the conversation, their calls, responses and answers`, async () => {
    const [run, ...others] = readTraces(bytesOf(name));
    assert.deepEqual(others, []);
    assert.deepEqual([run.status, run.warnings], [1, undefined]);
    assert.deepEqual(
      run.inferences.map(({ userContent }) => userContent.parts.map((part) => part.text).join()),
      ["Weather in Paris?", "And in London and Oslo?"],
    );
    assert.deepEqual(run.inferences.map(told), [
      {
        calls: [["get_weather", { city: "Paris" }]],
        responses: [weather("Paris", "sunny")],
        answer: "It is sunny in Paris.",
      },
      {
        calls: [
          ["get_weather", { city: "London" }],
          ["get_weather", { city: "Oslo" }],
        ],
        responses: [weather("London", "grey"), weather("Oslo", "grey")],
        answer: "It is grey in London and grey in Oslo.",
      },
    ]);
    for (const { intermediateData, appDetails } of run.inferences) {
      const used = intermediateData.invocationEvents.flatMap(({ usageMetadata }) => usageMetadata ?? []);
      assert.equal(used.length, 2);
      if (tokens !== undefined) assert.ok(used.every((usage) => usage.promptTokenCount === tokens));
      assert.deepEqual(Object.keys(appDetails.agentDetails), ["weather"]);
    }
    const { evalCaseResults } = await evaluate({
      evalSet: { evalSetId: "s", evalCases: [{ evalId: run.evalId, conversation: EXPECTED }] },
      actual: readTraces(bytesOf(name)),
      criteria: { tool_trajectory_avg_score: 1, response_match_score: 1 },
    });
    assert.equal(evalCaseResults[0].finalEvalStatus, 1);
  });
}

const WITHOUT_CONTENT = {
  "langchain-no-content.jsonl": "Do not set TRACELOOP_TRACE_CONTENT=false",
  "pydantic-ai-no-content.jsonl": "Do not set `include_content=False`",
};

for (const [name, help] of Object.entries(WITHOUT_CONTENT)) {
  test(`${name} is refused, with what captures messages there`, () => {
    const error = errorOf(() => readTraces(bytesOf(name)));
    assert.equal(error.message, "the traces hold no messages: their capture is off");
    assert.ok(error.help.startsWith(help), error.help);
  });
}

const byId = (runs) => Object.fromEntries(runs.map((run) => [run.sessionId, run]));

test("a turn that a callback answered is read from what the next turn was told", () => {
  for (const name of ["adk-callbacks.jsonl", "adk-callbacks-legacy.jsonl"]) {
    const { paris } = byId(readTraces(bytesOf(name)));
    assert.equal(paris.status, 1);
    assert.deepEqual(
      paris.inferences.map(({ userContent, finalResponse }) => [
        userContent.parts[0].text,
        finalResponse.parts[0].text,
      ]),
      [
        ["Hi", "Hello!"],
        ["Weather in Paris?", "It is lovely in Paris."],
        ["And in London and Oslo?", "It is grey in London and grey in Oslo."],
      ],
    );
  }
});

test("an answer that a callback changed is that which the next turn was told, with a warning", () => {
  const { paris } = byId(readTraces(bytesOf("adk-callbacks.jsonl")));
  assert.equal(paris.warnings.length, 1);
  assert.match(paris.warnings[0], /^"paris", turn 2: the next turn was told another answer/);
});

test("where nothing tells what a callback answered, that conversation fails with the reason, and others are read", () => {
  const { greeting, changed } = byId(readTraces(bytesOf("adk-callbacks.jsonl")));
  assert.equal(greeting.status, 2);
  assert.match(greeting.errorMessage, /^turn 1: it holds no messages, since no model was called in it; a callback/);
  assert.equal(told(changed.inferences[0]).calls.length, 1);
  // In google-adk 1's telemetry the callback's answer stands in the span of the call that it took the place of.
  assert.equal(told(byId(readTraces(bytesOf("adk-callbacks-legacy.jsonl"))).greeting.inferences[0]).answer, "Hello!");
});

test("a model that raises fails its conversation with its own error", async () => {
  for (const name of ["adk-raises.jsonl", "adk-raises-legacy.jsonl"]) {
    const runs = readTraces(bytesOf(name));
    const { raises, late } = byId(runs);
    for (const run of [raises, late]) {
      assert.deepEqual([run.status, run.errorMessage], [2, "RuntimeError: the quota is used up"], name);
    }
    assert.equal(told(late.inferences[0]).answer, "It is sunny in Paris.");
  }
});
