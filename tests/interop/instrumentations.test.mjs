// Traces that agents of other frameworks left, and those of google-adk under other instrumentations: what each is read as.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { bytesOf, errorOf, evaluate, file, readTraces, told, tracesToJson } from "./support.mjs";

const MAY_DIFFER =
  "a callback changed answers in these traces; they do not show whether it also changed the last answer of a conversation";

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
  "openai.jsonl": 100,
  "openai-legacy.jsonl": 100,
  "openai-v2.jsonl": 100,
  "openai-v2-latest.jsonl": 100,
  "openinference-openai.jsonl": 100,
  "openinference-langchain.jsonl": 100,
};

/** Files in which no agent has a name. */
const UNNAMED = /^(?:openai|openinference-openai)/;

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

for (const [file, tokens] of Object.entries(WHOLE)) {
  test(`${file} gives both turns of the conversation, their calls, responses and answers`, async () => {
    const [run, ...others] = readTraces(bytesOf(file));
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
      const name = UNNAMED.test(file) ? "agent" : "weather";
      assert.deepEqual(Object.keys(appDetails.agentDetails), [name]);
    }
    const { evalCaseResults } = await evaluate({
      evalSet: { evalSetId: "s", evalCases: [{ evalId: run.evalId, conversation: EXPECTED }] },
      actual: readTraces(bytesOf(file)),
      criteria: { tool_trajectory_avg_score: 1, response_match_score: 1 },
    });
    assert.equal(evalCaseResults[0].finalEvalStatus, 1);
  });
}

/** A file in which the log records name no span, or are changed otherwise. */
const withRecords = (file, change) =>
  bytesOf(file)
    .toString()
    .trim()
    .split("\n")
    .map((line) => {
      const request = JSON.parse(line);
      for (const { scopeLogs } of request.resourceLogs ?? []) {
        for (const one of scopeLogs) one.logRecords = one.logRecords.map(change);
      }
      return JSON.stringify(request);
    })
    .join("\n");

const withoutEvents = (one) => ({ ...one, attributes: one.attributes.filter(({ key }) => !key.endsWith(".event_id")) });

/** What may be missing of a record's context. */
const NAMELESS = {
  "the span": ({ spanId: _, ...one }) => one,
  "a span with a name": (one) => ({ ...one, spanId: "", timeUnixNano: "0" }),
  "the span and the event": ({ spanId: _, ...one }) => withoutEvents(one),
  "the trace": ({ spanId: _, traceId: __, ...one }) => one,
  "the trace and the event": ({ spanId: _, traceId: __, ...one }) => withoutEvents(one),
};

for (const [what, change] of Object.entries(NAMELESS)) {
  test(`log records without ${what} are read as those of the calls that they are about`, () => {
    for (const file of [
      "adk-python-spans",
      "adk-python-events",
      "adk-python-legacy-events",
      "adk-callbacks",
      "adk-raises",
      "langchain-events",
      "openai-v2",
      "openai-v2-latest",
      "openinference-adk",
      "openinference-adk-captured",
    ]) {
      assert.deepEqual(readTraces(withRecords(`${file}.jsonl`, change)), readTraces(bytesOf(`${file}.jsonl`)), file);
    }
  });
}

test("log records that name no span and no time of a call are not guessed at", () => {
  const lost = ({ spanId: _, ...one }) => withoutEvents({ ...one, observedTimeUnixNano: "1" });
  const error = errorOf(() => readTraces(withRecords("adk-python-events.jsonl", lost)));
  assert.match(error.message, /^a log record with messages has no span id, so it cannot be matched with a model call/);
  assert.equal(error.line, 2);
  assert.match(error.path, /logRecords\[0\]$/);
  // Where the spans hold the messages, nothing of the records is needed.
  const runs = readTraces(withRecords("adk-callbacks.jsonl", lost));
  assert.deepEqual(
    runs.map(({ inferences }) => inferences.map((one) => one.finalResponse)),
    readTraces(bytesOf("adk-callbacks.jsonl")).map(({ inferences }) => inferences.map((one) => one.finalResponse)),
  );
  const records = withRecords("adk-python-events.jsonl", ({ spanId: _, traceId: __, ...one }) => one).split("\n")[1];
  assert.match(
    errorOf(() => readTraces(records)).message,
    /^a log record with messages has no span id, so it cannot be matched with a model call/,
  );
});

const WITHOUT_CONTENT = {
  "langchain-no-content.jsonl": "Do not set TRACELOOP_TRACE_CONTENT=false",
  "openai-no-content.jsonl": "Do not set TRACELOOP_TRACE_CONTENT=false",
  "openinference-openai-no-content.jsonl": "Do not set OPENINFERENCE_HIDE_INPUTS",
  "pydantic-ai-no-content.jsonl": "Do not set `include_content=False`",
};

for (const [name, help] of Object.entries(WITHOUT_CONTENT)) {
  test(`${name} is refused, with what captures messages there`, () => {
    const error = errorOf(() => readTraces(bytesOf(name)));
    assert.equal(error.message, "the traces contain no messages: capturing them is off");
    assert.ok(error.help.startsWith(help), error.help);
  });
}

test("what captures messages is said for each of the forms in which OpenTelemetry's instrumentation writes", () => {
  for (const [name, value] of Object.entries({ "openai-v2": "true", "openai-v2-latest": "SPAN_AND_EVENT" })) {
    const [spans] = bytesOf(`${name}.jsonl`).toString().split("\n");
    const { help } = errorOf(() => readTraces(spans));
    assert.ok(help.startsWith(`Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=${value}, and if it`), help);
  }
});

const byId = (runs) => Object.fromEntries(runs.map((run) => [run.sessionId, run]));

test("a turn that a callback answered is read from what the next turn was given", () => {
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

test("an answer that a callback changed is that which the next turn was given, with a warning", () => {
  const { paris } = byId(readTraces(bytesOf("adk-callbacks.jsonl")));
  assert.match(paris.warnings[0], /^"paris", turn 2: the next turn was given a different answer/);
});

test("that a callback may have changed the last answer is said once, where one changed another answer", () => {
  const warned = (name) => readTraces(bytesOf(name)).flatMap(({ warnings = [] }) => warnings);
  assert.equal(warned("adk-callbacks.jsonl").filter((text) => text === MAY_DIFFER).length, 1);
  for (const name of ["adk-python-spans.jsonl", "adk-python-events.jsonl", "adk-python-legacy.jsonl", "adk-ts.json"]) {
    assert.ok(!warned(name).includes(MAY_DIFFER), name);
  }
});

test("what traces of google-adk 2 cannot show of the last answer is told, and is no warning", () => {
  for (const read of [readTraces, tracesToJson]) {
    for (const [name, times] of Object.entries({
      "adk-python-spans.jsonl": 1,
      "adk-python-events.jsonl": 1,
      // Where a callback changed an answer, that is a warning.
      "adk-callbacks.jsonl": 0,
      "openinference-adk.jsonl": 0,
      "adk-ts.json": 0,
    })) {
      const notices = [];
      read(bytesOf(name), { onNotice: (notice) => notices.push(notice) });
      assert.equal(notices.length, times, name);
      for (const notice of notices) assert.match(notice, /if an after_model_callback changed the last answer/);
    }
  }
  // Without it, a user is told once.
  const program = `
    import { readTraces, tracesToJson } from ${JSON.stringify(import.meta.resolve("../../pkg/dist/esm/interop.js"))};
    import { readFileSync } from "node:fs";
    const bytes = readFileSync(${JSON.stringify(file("adk-python-spans.jsonl"))});
    for (const read of [readTraces, readTraces, tracesToJson]) read(bytes);
  `;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  assert.match(stderr, /^adk-metrics: google-adk traces what the model answers: .*\n$/);
  assert.throws(() => readTraces(bytesOf("adk-ts.json"), { onNotice: true }), {
    code: "invalid_input",
    message: "expected a function, found true",
  });
});

test("OpenInference tells what a callback made of the last answer", () => {
  const lines = bytesOf("openinference-adk.jsonl")
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const spans = lines.flatMap(({ resourceSpans = [] }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans)),
  );
  for (const { attributes } of spans.filter(({ name }) => /^(?:invocation|agent_run) \[/.test(name))) {
    const { value } = attributes.find(({ key }) => key === "output.value");
    value.stringValue = value.stringValue.replace("It is grey in London and grey in Oslo.", "It is lovely.");
  }
  const changed = lines.map((line) => JSON.stringify(line)).join("\n");
  const [{ inferences, warnings }] = readTraces(changed);
  assert.equal(told(inferences[1]).answer, "It is lovely.");
  assert.deepEqual(warnings, [
    '"paris", turn 2: the turn ended with a different answer than this turn\'s model gave; the former is used, because a callback may have changed the answer',
  ]);
});

test("what traces leave open is among the warnings of the results, and `strict` refuses it", async () => {
  const [run] = readTraces(bytesOf("adk-callbacks.jsonl")).filter(({ warnings }) => warnings !== undefined);
  const conversation = run.inferences.map(({ userContent, finalResponse }) => ({ userContent, finalResponse }));
  const evalSet = { evalSetId: "s", evalCases: [{ evalId: run.evalId, conversation }] };
  const request = { evalSet, actual: [run], criteria: { response_match_score: 0 } };
  const { warnings } = await evaluate(request);
  const passedOn = run.warnings.map((message) => ({ code: "invalid_input", message, path: "actual" }));
  assert.deepEqual(warnings, passedOn);
  await assert.rejects(evaluate({ ...request, strict: true }), { message: /was given a different answer/ });
});

test("where nothing tells what a callback answered, that conversation fails with the reason, and others are read", () => {
  const { greeting, changed } = byId(readTraces(bytesOf("adk-callbacks.jsonl")));
  assert.equal(greeting.status, 2);
  assert.match(
    greeting.errorMessage,
    /^turn 1: it contains no messages, because no model was called in it; a callback/,
  );
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

test("instructions and tools that stand in attributes with numbers are read", () => {
  for (const name of ["openai-legacy.jsonl", "openinference-openai.jsonl"]) {
    const [{ inferences }] = readTraces(bytesOf(name));
    const { instructions, toolDeclarations } = inferences[0].appDetails.agentDetails.agent;
    assert.equal(instructions, "Tell the weather.", name);
    assert.deepEqual(
      toolDeclarations[0].functionDeclarations.map(({ name: tool, parameters }) => [tool, parameters.required]),
      [["get_weather", ["city"]]],
      name,
    );
  }
});

/** A span of a model with these attributes, in a trace of its own. */
const spanWith = (attributes) => ({
  resourceSpans: [
    {
      scopeSpans: [
        {
          scope: { name: "opentelemetry.instrumentation.openai.v1" },
          spans: [
            {
              traceId: "01".repeat(16),
              spanId: "02".repeat(8),
              name: "openai.chat",
              startTimeUnixNano: "1700000000000000000",
              endTimeUnixNano: "1700000001000000000",
              attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
            },
          ],
        },
      ],
    },
  ],
});

test("attributes with numbers are read in the order of the numbers, whatever else is there", () => {
  const prompts = Array.from({ length: 12 }, (_, at) => [
    [`gen_ai.prompt.${11 - at}.role`, (11 - at) % 2 === 0 ? "assistant" : "user"],
    [`gen_ai.prompt.${11 - at}.content`, `said ${11 - at}`],
  ]).flat();
  const parts = '[{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]';
  const odd = {
    "gen_ai.prompt.x.role": "user",
    "gen_ai.prompt.99999999999999.role": "user",
    "gen_ai.prompt.__proto__.role": "user",
  };
  const completion = { "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": parts };
  const [run] = readTraces(
    spanWith({ "llm.request.type": "chat", ...Object.fromEntries(prompts), ...odd, ...completion }),
  );
  const [{ userContent, finalResponse }] = run.inferences;
  assert.deepEqual(userContent.parts, [{ text: "said 11" }]);
  assert.deepEqual(finalResponse.parts, [{ text: "one" }, { text: "two" }]);
});
