// What results say of the command around them: what is left of a budget, runs of another evalset, runs that were not done.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readSessions, readTraces } from "../../pkg/dist/esm/interop.js";
import { renderCsv, renderJUnit } from "../../pkg/dist/esm/report.js";
import { importEntry } from "./support/package.mjs";

const { AgentEvaluator, evaluate, LocalEvalService, MetricEvaluatorRegistry, resultsToAdkJson } = await importEntry();

const turn = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } };
const setOf = (evalSetId, ...ids) => ({
  evalSetId,
  evalCases: ids.map((evalId) => ({ evalId, conversation: [turn] })),
});
const valid = () => '{"reasoning": "", "is_the_agent_response_valid": "valid"}';
const criteria = { response_match_score: 0.5 };
const JUDGED = [{ metricName: "final_response_match_v2", threshold: 0.5, judgeModelOptions: { numSamples: 1 } }];

test("a budget that several evaluations share is named whole, with what was spent before", async () => {
  const service = new LocalEvalService(() => "Hello", 1, { judge: valid, budget: { calls: 3 } });
  const request = { evalSetId: "s", evalCases: [setOf("s", "a", "b"), setOf("t", "c", "d")] };
  const reasons = [];
  for await (const { evalCaseResults } of service.evaluateSession({
    ...request,
    evaluateConfig: { evalMetrics: JUDGED },
  })) {
    for (const { overallEvalMetricResults } of evalCaseResults) reasons.push(overallEvalMetricResults[0].reason);
  }
  const spent = "the budget of 3 calls for judges (3 spent before) is spent";
  assert.deepEqual(reasons, [undefined, undefined, undefined, spent]);
});

test("tokens and money are named whole too", async () => {
  const counted = async () => ({ text: valid(), usage: { inputTokens: 1000, outputTokens: 0 } });
  const prices = { "gemini-2.5-flash": { inputPerMillion: 1, outputPerMillion: 1 } };
  for (const [budget, reason] of [
    [
      { tokens: 2500 },
      /^one call would take about \d+ tokens, more than is left of the budget of 2500 tokens for judges \(\d+ spent before\): no/,
    ],
    [
      { cost: 0.0025, prices },
      /^one call would cost about [\d.]+, more than is left of the budget of 0\.0025 for judges \(0\.00\d+ spent before\): no/,
    ],
  ]) {
    const options = { judge: counted, budget };
    const service = new LocalEvalService(() => "Hello. ".repeat(800), 1, options);
    const request = { evalSetId: "s", evalCases: [setOf("s", "a", "b", "c")] };
    const reasons = [];
    for await (const { evalCaseResults } of service.evaluateSession({
      ...request,
      evaluateConfig: { evalMetrics: JUDGED },
    })) {
      reasons.push(evalCaseResults[0].overallEvalMetricResults[0].reason ?? "");
    }
    assert.ok(
      reasons.some((one) => reason.test(one)),
      reasons.join("; "),
    );
  }
});

test("runs that name another evalset are a warning, and an error with `strict`", async () => {
  const [evalSet, other] = [setOf("expected", "a"), setOf("other", "a")];
  const message = 'the actual runs are of the evalset "other", not of "expected"';
  const inferences = [{ evalSetId: "other", evalCaseId: "a", inferences: [turn] }];
  const results = await evaluate({ evalSet: other, actual: [{ evalCaseId: "a", inferences: [turn] }], criteria });
  // Keys may be in any order: files may be sorted.
  const { evalSetId: _, ...last } = { ...other, evalCases: [{ ...other.evalCases[0], padding: "x".repeat(9000) }] };
  for (const actual of [
    results,
    resultsToAdkJson(results),
    JSON.stringify(inferences),
    inferences,
    { inferenceResults: inferences },
    other,
    JSON.stringify(other),
    JSON.stringify({ ...last, evalSetId: "other" }),
  ]) {
    const { warnings } = await evaluate({ evalSet, actual, criteria });
    assert.deepEqual(warnings.filter((one) => one.message.includes("of the evalset")).length, 1);
    assert.ok(warnings.some((one) => one.message === message));
    const error = await evaluate({ evalSet, actual, criteria, strict: true }).then(assert.fail, (thrown) => thrown);
    assert.ok(
      error.cause.some((one) => one.message === message),
      error.message,
    );
    assert.ok(error.message.includes(message), error.message);
  }
  const same = [{ evalSetId: "expected", evalCaseId: "a", inferences: [turn] }];
  const unnamed = { ...other, evalSetId: "" };
  for (const actual of [unnamed, JSON.stringify(unnamed), same, [{ evalCaseId: "a", inferences: [turn] }]]) {
    assert.equal((await evaluate({ evalSet, actual, criteria })).warnings, undefined);
  }
  assert.equal((await evaluate({ evalSet: setOf("evalset", "a"), actual: other, criteria })).warnings, undefined);
  // A name so long that the id is cut off where the beginning of the text ends.
  const cutOff = (letter) =>
    JSON.stringify({ name: "n".repeat(4069), ...setOf("expected", "a"), description: letter.repeat(9000) });
  assert.equal((await evaluate({ evalSet: cutOff("a"), actual: cutOff("b"), criteria })).warnings, undefined);
  const old = [{ name: "a", data: [{ query: "Hi", reference: "Hello" }] }];
  assert.equal((await evaluate({ evalSet: old, actual: inferences, criteria })).warnings, undefined);
});

test("an eval id for a session or conversation that is not there is named", async () => {
  const events = [{ author: "agent", content: { parts: [{ text: "Hello" }] } }];
  const sessions = [
    { id: "s1", events },
    { id: "s2", events },
  ];
  assert.throws(() => readSessions(sessions, { evalIds: { s1: "paris", s3: "rome" } }), {
    code: "invalid_input",
    message: '`evalIds` has "s3", which no session has as its id',
    help: 'Not in it: "s2"',
    path: "evalIds",
  });
  // A map for more sessions than these is no mistake.
  assert.equal(readSessions(sessions[0], { evalIds: { s1: "paris", s3: "rome" } })[0].evalId, "paris");
  const message = JSON.stringify([{ role: "user", parts: [{ type: "text", content: "Hi" }] }]);
  const answer = JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: "Hello" }] }]);
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.conversation.id": "talk",
    "gen_ai.input.messages": message,
    "gen_ai.output.messages": answer,
  };
  const span = {
    traceId: "1".repeat(32),
    spanId: "1".repeat(16),
    name: "chat m",
    startTimeUnixNano: "1",
    endTimeUnixNano: "2",
    attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  };
  const traces = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  const warningsOf = (evalIds) => readTraces(traces, { evalIds })[0].warnings;
  assert.deepEqual(warningsOf({ tlak: "paris" }), [
    '`evalIds` has "tlak", which no conversation has as its id. Did you mean "talk"?',
  ]);
  assert.equal(warningsOf({ talk: "paris", other: "rome" }), undefined);
});

test("runs that were planned and not done are rows of CSV and skipped tests of JUnit", async () => {
  const controller = new AbortController();
  let runs = 0;
  const agent = () => {
    runs += 1;
    if (runs === 3) controller.abort();
    return runs === 3 ? new Promise(() => undefined) : "Hello";
  };
  const options = { parallelism: 1, signal: controller.signal };
  const work = AgentEvaluator.evaluateEvalSet(agent, setOf("s", "a", "b"), criteria, 2, false, options);
  const [result] = (await work.then(assert.fail, (error) => error)).results;
  assert.deepEqual(result.notRun, [
    { evalId: "a", runs: 1 },
    { evalId: "b", runs: 1 },
  ]);
  const [header, ...rows] = renderCsv(result).split("\r\n");
  const missing = rows.filter((row) => row.includes("not scored"));
  assert.deepEqual(
    missing.map((row) => row.split(",").slice(0, 9).join()),
    ["a", "b"].map((id) => `s,${id},2,,,,,not evaluated,not scored: the evaluation ended before`),
  );
  assert.ok(missing.every((row) => row.split(",").length === header.split(",").length));
  const junit = renderJUnit(result);
  assert.match(junit, /<testsuite name="s" tests="4" failures="0" errors="0" skipped="2"/);
  for (const id of ["a", "b"]) {
    const name = `<testcase classname="s" name="${id} \\(run 2\\)">`;
    assert.match(junit, new RegExp(`${name}[\\s\\S]*?<skipped message="not scored: the evaluation ended before"/>`));
  }
});

test("a metric that can score none of the cases is warned of once", async () => {
  const judge = ({ prompt }) => {
    if (prompt.includes("Hello")) throw new Error("no answer");
    return valid();
  };
  const rubric = "rubric_based_final_response_quality_v1";
  const both = { [rubric]: { threshold: 0.5, judge_model_options: { num_samples: 1 } }, safety_v1: 0.5 };
  for (const explain of ["all", "none"]) {
    const { warnings } = await evaluate({
      evalSet: setOf("s", "a"),
      actual: setOf("s", "a"),
      criteria: both,
      judge,
      explain,
    });
    const about = warnings.filter(({ message }) => message.includes(rubric));
    assert.equal(about.length, 1, JSON.stringify(about));
    assert.match(about[0].message, /can score none of the cases/);
  }
});

test("a metric of one's own without a score is told what it returned and what is expected", async () => {
  const reasonOf = async (work) => {
    const registry = new MetricEvaluatorRegistry();
    registry.registerEvaluator({ metricName: "own" }, work);
    const { evalCaseResults } = await evaluate({
      evalSet: setOf("s", "a"),
      actual: setOf("s", "a"),
      criteria: { own: 1 },
      registry,
    });
    return evalCaseResults[0].overallEvalMetricResults[0].reason;
  };
  assert.match(
    await reasonOf(() => ({ perInvocationResults: [{}] })),
    /^the metric gave no score: it returned an object with `perInvocationResults`\. Expected is a number as `overallScore`/,
  );
  class Own {
    evaluateInvocations() {
      return "good";
    }
  }
  assert.match(
    await reasonOf(Own),
    /^the metric returned no evaluation result: expected an object with `overallScore`, found "?/,
  );
});

test("samples of a case are not counted in JUnit where turns have no explanation", async () => {
  const talk = {
    evalSetId: "s",
    evalCases: [{ evalId: "a", conversation: [turn, { ...turn, userContent: { parts: [{ text: "Bye" }] } }] }],
  };
  const judge = ({ prompt }) => valid().replace('"valid"', prompt.includes("Bye") ? '"invalid"' : '"valid"');
  const request = {
    evalSet: talk,
    actual: talk,
    criteria: { final_response_match_v2: { threshold: 1, judge_model_options: { num_samples: 1 } } },
    judge,
  };
  const samples = async (explain) =>
    /name="samplesAsked" value="(\d+)"/.exec(renderJUnit(await evaluate({ ...request, explain })))?.[1];
  assert.equal(await samples("all"), "2");
  assert.equal(await samples("failures"), undefined);
});
