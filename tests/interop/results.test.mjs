// Results on their way to OpenTelemetry, autoevals, openevals and Mastra, and evaluators as their scorers.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { ExactMatch } from "autoevals";
import { exactMatch } from "openevals";
import { asAutoevalsScorer, asMastraStep, asOpenevalsEvaluator, emitEvaluationEvents, errorOf } from "./support.mjs";
import { evaluate, evaluationEvents, RougeEvaluator, toAutoevals, toMastra, toOpenevals } from "./support.mjs";
import { readSessions, TrajectoryEvaluator } from "./support.mjs";

const turn = (answer, ...calls) => ({
  invocationId: `i-${answer}`,
  userContent: { parts: [{ text: "Weather?" }] },
  finalResponse: { parts: [{ text: answer }] },
  intermediateData: { toolUses: calls.map((name) => ({ name, args: {} })) },
});
const setOf = (...conversation) => ({
  evalSetId: "weather",
  evalCases: [{ evalId: "paris", conversation, sessionInput: { sessionId: "s1" } }],
});

let results;

before(async () => {
  results = await evaluate({
    evalSet: setOf(turn("It is sunny", "get_weather"), turn("Yes")),
    actual: setOf(turn("It is sunny", "look_up"), turn("Yes")),
    criteria: { response_match_score: 1, tool_trajectory_avg_score: 1, tool_parameter_match: 1 },
  });
});

test("a logger of OpenTelemetry gets one event a metric for the case and for each turn", async () => {
  const exporter = new InMemoryLogRecordExporter();
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
  emitEvaluationEvents(results, provider.getLogger("evaluation"));
  await provider.forceFlush();
  const records = exporter.getFinishedLogRecords();
  assert.equal(records.length, 3 * 7);
  for (const { eventName, severityNumber } of records) {
    assert.deepEqual([eventName, severityNumber], ["gen_ai.evaluation.result", 9]);
  }
  const [first] = records;
  assert.deepEqual(first.attributes, {
    "gen_ai.evaluation.name": "response_match_score",
    "gen_ai.evaluation.score.value": 1,
    "gen_ai.evaluation.score.label": "pass",
    "gen_ai.conversation.id": "s1",
    "adk_metrics.eval_set_id": "weather",
    "adk_metrics.eval_id": "paris",
    "adk_metrics.threshold": 1,
  });
  assert.ok(Math.abs(first.hrTime[0] - results.creationTimestamp) <= 1);
});

test("a span of OpenTelemetry gets them as its events", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const span = provider.getTracer("evaluation").startSpan("invoke_agent weather");
  emitEvaluationEvents(results, span, { of: "cases" });
  span.end();
  const { events } = exporter.getFinishedSpans()[0];
  assert.equal(events.length, 7);
  assert.ok(events.every(({ name }) => name === "gen_ai.evaluation.result"));
  assert.equal(events[1].attributes["gen_ai.evaluation.score.label"], "fail");
});

const eventsOf = (options) => evaluationEvents(results, options).map(({ attributes }) => attributes);
const about = (events, name) => events.filter((one) => one["gen_ai.evaluation.name"] === name);

test("events say why a metric did not pass, or has no score, and about which turn", () => {
  const [ofCase] = about(eventsOf({ of: "cases" }), "tool_trajectory_avg_score");
  assert.equal(ofCase["gen_ai.evaluation.score.value"], 0.5);
  assert.match(ofCase["gen_ai.evaluation.explanation"], /^Turn 1\n[^]*get_weather/);
  const turns = eventsOf({ of: "turns", responseId: ({ invocationId }) => `r-${invocationId}` });
  const [first, second] = about(turns, "tool_trajectory_avg_score");
  assert.match(first["gen_ai.evaluation.explanation"], /get_weather/);
  assert.equal(second["gen_ai.evaluation.explanation"], undefined);
  assert.deepEqual([first["adk_metrics.turn"], second["adk_metrics.turn"]], [0, 1]);
  assert.deepEqual([second["gen_ai.response.id"], second["adk_metrics.invocation_id"]], ["r-i-Yes", "i-Yes"]);
  const [, unscored] = about(turns, "tool_parameter_match");
  assert.equal(unscored["error.type"], "not_evaluated");
  assert.equal(unscored["gen_ai.evaluation.score.label"], undefined);
  assert.match(unscored["gen_ai.evaluation.explanation"], /\w/);
});

test("what only informs has no label", () => {
  const [calls] = about(eventsOf({ of: "cases" }), "tool_call_count_v1");
  assert.deepEqual(
    [calls["gen_ai.evaluation.score.value"], calls["gen_ai.evaluation.score.label"], calls["error.type"]],
    [0.5, undefined, undefined],
  );
});

test("something else than results is an error", () => {
  assert.equal(errorOf(() => evaluationEvents({})).code, "invalid_input");
  assert.match(errorOf(() => eventsOf({ of: "case" })).message, /"cases", "turns" or "both", found "case"/);
});

test("a case becomes scores of autoevals, from 0 to 1 or null", async () => {
  const reference = await ExactMatch({ output: "a", expected: "a" });
  const scores = toAutoevals(results.evalCaseResults[0]);
  assert.deepEqual(Object.keys(scores[0]).sort(), ["metadata", "name", "score"]);
  assert.deepEqual([typeof reference.name, typeof reference.score], ["string", "number"]);
  const [rouge, trajectory] = scores;
  assert.deepEqual([rouge.name, rouge.score, rouge.metadata.status], ["response_match_score", 1, "PASSED"]);
  assert.deepEqual([trajectory.score, trajectory.metadata.status, trajectory.metadata.threshold], [0.5, "FAILED", 1]);
  assert.match(trajectory.metadata.reason, /get_weather/);
  const many = { ...results.evalCaseResults[0] };
  many.overallEvalMetricResults = [{ metricName: "tool_call_count_v1", score: 3, evalStatus: 4 }];
  assert.deepEqual([toAutoevals(many)[0].score, toAutoevals(many)[0].metadata.value], [null, 3]);
  for (const metricName of ["tool_call_count_v1", "response_evaluation_score"]) {
    many.overallEvalMetricResults = [{ metricName, score: 1, evalStatus: 4 }];
    assert.deepEqual([toAutoevals(many)[0].score, toAutoevals(many)[0].metadata.value], [null, 1], metricName);
  }
});

test("what is no result of a case, no session or no sink is an error that says what to pass", () => {
  for (const adapt of [toAutoevals, toOpenevals, toMastra]) {
    for (const given of [undefined, null, {}, results]) {
      assert.throws(() => adapt(given), { code: "invalid_input", path: "result" });
    }
  }
  assert.match(errorOf(() => toAutoevals(results)).help, /evalCaseResults/);
  for (const given of [undefined, null, "s1", [null]]) {
    assert.throws(() => readSessions(given), { code: "invalid_input", path: "sessions" });
  }
  for (const sink of [undefined, {}]) {
    assert.throws(() => emitEvaluationEvents(results, sink), { code: "invalid_input", path: "sink" });
  }
});

test("a case becomes results of openevals; what has no score is left out", async () => {
  const reference = await exactMatch({ outputs: "a", referenceOutputs: "a" });
  const found = toOpenevals(results.evalCaseResults[0]);
  for (const { key, score } of [reference, ...found]) {
    assert.deepEqual([typeof key, ["number", "boolean"].includes(typeof score)], ["string", true]);
  }
  const names = found.map(({ key }) => key);
  assert.ok(names.includes("tool_trajectory_avg_score") && !names.includes("token_usage_v1"));
  assert.match(found[1].comment, /get_weather/);
});

test("a case becomes results of Mastra's scorers; what has no score is not scorable", () => {
  const found = toMastra(results.evalCaseResults[0]);
  assert.deepEqual(found[0], { scorerId: "response_match_score", runId: "s1", score: 1 });
  const { score, notScorable } = found.find(({ scorerId }) => scorerId === "token_usage_v1");
  assert.equal(score, undefined);
  assert.deepEqual(notScorable, { step: "generateScore", reason: "no model call reported its tokens" });
});

const rouge = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.8 });
const trajectory = new TrajectoryEvaluator({ metricName: "tool_trajectory_avg_score", threshold: 1 });

test("an evaluator is a scorer of autoevals", async () => {
  const scorer = asAutoevalsScorer("rouge", rouge);
  assert.deepEqual(await scorer({ input: "Weather?", output: "It is sunny", expected: "It is sunny" }), {
    name: "rouge",
    score: 1,
    metadata: { status: "PASSED" },
  });
});

test("an evaluator is one of openevals, of conversations too", async () => {
  const tool = (name) => ({ id: "1", type: "function", function: { name, arguments: '{"city":"Paris"}' } });
  const conversation = (name) => [
    { role: "system", content: "Tell the weather." },
    { role: "user", content: "Weather in Paris?" },
    { role: "assistant", content: null, tool_calls: [tool(name)] },
    { role: "tool", tool_call_id: "1", content: "sunny" },
    { role: "assistant", content: "Sunny." },
    { role: "user", content: "Thanks." },
    { role: "assistant", content: "Welcome." },
  ];
  const evaluator = asOpenevalsEvaluator("trajectory", trajectory);
  const referenceOutputs = conversation("get_weather");
  const same = await evaluator({ outputs: { messages: referenceOutputs }, referenceOutputs });
  assert.deepEqual(same, { key: "trajectory", score: 1, metadata: { status: "PASSED" } });
  const other = await evaluator({ outputs: conversation("look_up"), reference_outputs: referenceOutputs });
  assert.equal(other.score, 0.5, "one turn of two");
});

test("an evaluator is the step of a scorer of Mastra", async () => {
  const step = asMastraStep(rouge);
  assert.equal(await step({ run: { input: "Weather?", output: "It is sunny", groundTruth: "It is" } }), 0.8);
  assert.equal(await step({ run: { output: [turn("Yes")], groundTruth: [turn("Yes")] } }), 1);
  // As ADK's files have it.
  const { userContent: user_content, finalResponse: final_response } = turn("Yes");
  assert.equal(await step({ run: { output: [turn("Yes")], groundTruth: [{ user_content, final_response }] } }), 1);
  assert.equal(await step({ run: { output: { user_content, final_response }, groundTruth: "Yes" } }), 1);
});

test("what is no conversation is an error with its place", async () => {
  const step = asMastraStep(rouge);
  for (const output of [7, [{ role: "assistant" }], [{}], null]) {
    const error = await step({ run: { output, groundTruth: "It is" } }).then(assert.fail, (thrown) => thrown);
    assert.deepEqual([error.code, error.path], ["invalid_input", "output[0]"]);
  }
});

test("an evaluator without a score is an error where the other side has no word for it", async () => {
  const silent = {
    evaluateInvocations: () => ({ overallEvalStatus: 3, perInvocationResults: [], reason: "the judge was silent" }),
  };
  const asked = asOpenevalsEvaluator("silent", silent)({ outputs: "Yes" });
  await assert.rejects(asked, /there is no score: the judge was silent/);
  const { score, metadata } = await asAutoevalsScorer("silent", silent)({ output: "Yes" });
  assert.deepEqual([score, metadata], [null, { status: "NOT_EVALUATED", reason: "the judge was silent" }]);
});
