// Traces of agents of google-adk, ADK-TS and @google/adk, compared with the sessions of the same runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, errorOf, evaluate, readTraces, told } from "./support.mjs";

const CITY = (city) => ({ city, day: { offset: 1, ratio: 0.5 } });

/** What is in each file, and what the library keeps of tokens and thoughts. */
const FILES = {
  "adk-python-spans.jsonl": { session: "adk-python", args: CITY },
  "adk-python-events.jsonl": { session: "adk-python", args: CITY },
  "adk-python-legacy.jsonl": { session: "adk-python", args: CITY },
  "adk-python-legacy-events.jsonl": { session: "adk-python", args: CITY },
  "adk-ts.json": { session: "adk-ts", args: (city) => ({ city }) },
  "google-adk-js.json": { session: "google-adk-js", args: (city) => ({ city }) },
};

for (const [name, { session, args }] of Object.entries(FILES)) {
  test(`${name} gives the turns, calls and answers of both conversations`, () => {
    const [paris, bill, ...others] = readTraces(bytesOf(name));
    assert.deepEqual(others, []);
    assert.deepEqual([paris.evalId, paris.sessionId, paris.status], ["paris", "paris", 1]);
    assert.deepEqual(
      paris.inferences.map(({ userContent }) => userContent),
      ["Weather in Paris?", "And in London and Oslo?"].map((words) => ({ role: "user", parts: [{ text: words }] })),
    );
    const [first, second] = paris.inferences.map(told);
    assert.deepEqual(first.calls, [["get_weather", args("Paris")]]);
    assert.equal(first.responses[0].sky, "sunny");
    assert.equal(first.answer, "It is sunny in Paris.");
    assert.deepEqual(second.calls, [
      ["get_weather", args("London")],
      ["get_weather", args("Oslo")],
    ]);
    assert.deepEqual(
      second.responses.map(({ sky }) => sky),
      ["grey", "grey"],
    );
    assert.equal(second.answer, "It is grey in London and grey in Oslo.");
    assert.equal(bill.evalId, "bill");
    assert.equal(bill.inferences.length, 1);
    assert.equal(told(bill.inferences[0]).calls[0][0], "transfer_to_agent");
    assert.equal(told(bill.inferences[0]).answer, "You owe 12 euros.");
    const authors = bill.inferences[0].intermediateData.invocationEvents.map(({ author }) => author);
    assert.deepEqual([authors[0], authors.at(-1)], ["weather", "billing"]);
    assert.deepEqual(Object.keys(bill.inferences[0].appDetails.agentDetails), ["weather", "billing"]);
  });

  test(`${name} knows how long turns, models and tools took`, () => {
    const [{ inferences }] = readTraces(bytesOf(name));
    for (const { duration, modelDuration, toolDuration } of inferences) {
      assert.ok(modelDuration >= 0.02 && toolDuration >= 0.02, `${modelDuration} ${toolDuration}`);
      assert.ok(duration >= modelDuration + toolDuration - 0.002, `${duration}`);
    }
  });

  test(`${name} is scored like the session that the library stored`, async () => {
    const expected = await conversationsOf(`${session}.session.json`);
    const { evalCaseResults } = await evaluate({
      evalSet: { evalSetId: "s", evalCases: expected },
      actual: readTraces(bytesOf(name)),
      criteria: { tool_trajectory_avg_score: 1, response_match_score: 1 },
    });
    assert.deepEqual(
      evalCaseResults.map(({ evalId, finalEvalStatus, reason }) => [evalId, finalEvalStatus, reason]),
      [
        ["paris", 1, undefined],
        ["bill", 1, undefined],
      ],
    );
  });
}

/** The conversations of a file of sessions, as the engine reads them, as cases. */
async function conversationsOf(name) {
  const { evalCaseResults } = await scoresOf(bytesOf(name));
  return evalCaseResults.map(({ evalId, evalMetricResultPerInvocation: turns }) => ({
    evalId,
    conversation: turns.map(({ actualInvocation }) => actualInvocation),
  }));
}

const CASES = [
  { evalId: "paris", conversation: [{ userContent: {} }, { userContent: {} }] },
  { evalId: "bill", conversation: [{ userContent: {} }] },
];

const scoresOf = (actual) =>
  evaluate({ evalSet: { evalSetId: "s", evalCases: CASES }, actual, criteria: { response_match_score: 0 } });

/** The value of a metric in each case. */
async function amountsOf(actual, metricName) {
  const { evalCaseResults } = await scoresOf(actual);
  return evalCaseResults.map(
    ({ overallEvalMetricResults }) => overallEvalMetricResults.find((one) => one.metricName === metricName).score,
  );
}

test("tokens and calls of models are those of the session", async () => {
  for (const name of ["adk-python-spans", "adk-python-events", "adk-python-legacy"]) {
    for (const metric of ["token_usage_v1", "inference_call_count_v1", "tool_call_count_v1"]) {
      const traced = await amountsOf(readTraces(bytesOf(`${name}.jsonl`)), metric);
      assert.deepEqual(traced, await amountsOf(bytesOf("adk-python.session.json"), metric), `${name} ${metric}`);
    }
  }
  const traced = await amountsOf(readTraces(bytesOf("google-adk-js.json")), "token_usage_v1");
  assert.deepEqual(traced, await amountsOf(bytesOf("google-adk-js.session.json"), "token_usage_v1"));
});

test("of ADK-TS's agents that asked their model several times, the tokens are not known rather than too few", async () => {
  const runs = readTraces(bytesOf("adk-ts.json"));
  assert.deepEqual(await amountsOf(runs, "token_usage_v1"), [undefined, 30]);
  assert.deepEqual(await amountsOf(runs, "inference_call_count_v1"), [2, 2]);
});

test("invocations keep their ids, users, instructions and tools", () => {
  const [paris] = readTraces(bytesOf("adk-python-events.jsonl"));
  assert.equal(paris.userId, "user");
  const [first, second] = paris.inferences;
  assert.match(first.invocationId, /^e-/);
  assert.notEqual(first.invocationId, second.invocationId);
  assert.ok(Math.abs(first.creationTimestamp - 1795257490) < 1e8);
  const { name, instructions, toolDeclarations } = first.appDetails.agentDetails.weather;
  assert.equal(name, "weather");
  assert.match(instructions, /^Tell the weather\./);
  assert.deepEqual(
    toolDeclarations[0].functionDeclarations.map((tool) => tool.name),
    ["transfer_to_agent", "get_weather"],
  );
});

test("calls and their responses have the id of the tool's span", () => {
  for (const name of Object.keys(FILES)) {
    const [{ inferences }] = readTraces(bytesOf(name));
    const parts = inferences[1].intermediateData.invocationEvents.flatMap(({ content }) => content?.parts ?? []);
    const calls = parts.flatMap(({ functionCall }) => functionCall?.id ?? []);
    assert.equal(new Set(calls).size, 2, name);
    assert.deepEqual(
      parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []),
      calls,
    );
  }
});

test("without messages the error says where and which setting captures them", () => {
  const settings = {
    "adk-python-no-content.jsonl": [1, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT"],
    "adk-python-legacy-no-content.jsonl": [1, "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"],
    "google-adk-js-no-content.json": [undefined, "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"],
  };
  for (const [name, [line, setting]] of Object.entries(settings)) {
    const error = errorOf(() => readTraces(bytesOf(name)));
    assert.equal(error.code, "invalid_input");
    assert.match(error.message, /^the traces contain no messages: capturing them is off/);
    assert.match(error.path, /^traces: resourceSpans\[0\]\.scopeSpans\[0\]\.spans\[\d+\]$/);
    assert.equal(error.line, line);
    assert.ok(error.help.includes(setting), error.help);
  }
});

test("the spans alone of a run whose messages went to log records are without messages", () => {
  const [spans, logs] = bytesOf("adk-python-events.jsonl").toString().split("\n");
  assert.match(
    errorOf(() => readTraces(spans)).help,
    /SPAN_AND_EVENT where the agent runs; with EVENT_ONLY, pass the log records too/,
  );
  const [legacy] = bytesOf("adk-python-legacy-events.jsonl").toString().split("\n");
  assert.match(
    errorOf(() => readTraces(legacy)).help,
    /IN_SPANS=true .*where the agent runs, or pass the log records too, if the messages are there/,
  );
  // The log records alone have everything but the durations and what only spans say.
  const [paris] = readTraces(logs);
  assert.deepEqual(told(paris.inferences[0]).calls, [["get_weather", CITY("Paris")]]);
  assert.equal(paris.inferences[0].duration, undefined);
});

test("bytes, text, an object and a list of requests are the same", () => {
  const bytes = bytesOf("adk-python-events.jsonl");
  const requests = bytes
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const runs = readTraces(bytes);
  for (const input of [bytes.toString(), requests, JSON.stringify(requests), new Uint8Array(bytes)]) {
    assert.deepEqual(readTraces(input), runs);
  }
  assert.deepEqual(readTraces([requests[1], requests[0], requests[0]]), runs, "in any order, sent twice");
});
