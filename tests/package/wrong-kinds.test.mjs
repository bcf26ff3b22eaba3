// What is given is of another kind than what is wanted: each is refused by what it is, with what to give instead.

import assert from "node:assert/strict";
import { test } from "node:test";
import { evalSetOf, turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";

const { evaluate, MetricEvaluatorRegistry, openaiJudge, RougeEvaluator, setDefaultJudge, withThresholds } =
  await importEntry();
const { readSessions } = await importEntry("./interop");

const evalSet = evalSetOf({ one: [turn("When?", "At noon.", [["clock", { zone: "CET" }]])] });
const calling = (args) => evalSetOf({ one: [turn("When?", "At noon.", [["clock", args]])] });
const criteria = { tool_trajectory_avg_score: 1 };

test("collections, which JSON would write as {}, are refused with what to pass", async () => {
  for (const [args, what, help] of [
    [new Map([["zone", "CET"]]), "Map", "Pass an object: Object.fromEntries(map)"],
    [{ zone: new Set(["CET"]) }, "Set", "Pass an array: [...set]"],
  ]) {
    const actual = calling(args);
    const refusal = { code: "unserializable", message: `JSON has no ${what}: it would become {}`, help };
    await assert.rejects(evaluate({ evalSet, actual, criteria }), refusal);
    await assert.rejects(evaluate({ evalSet: actual, actual: evalSet, criteria }), refusal);
  }
  const dated = { zone: new Date(0) };
  const { evalCaseResults } = await evaluate({ evalSet: calling(dated), actual: calling(dated), criteria });
  assert.equal(evalCaseResults[0].overallEvalMetricResults[0].score, 1, "a date says itself how it is written");
});

test("an evaluator without its metric, and a class without its method, say what they lack", async () => {
  await assert.rejects(new RougeEvaluator().evaluateInvocations([], []), {
    code: "invalid_input",
    message: "expected a metric with its threshold, found nothing",
    help: 'new RougeEvaluator({ metricName: "response_match_score", threshold: 0.8 })',
  });
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "polite" }, class Polite {});
  const { evalCaseResults } = await evaluate({ evalSet, actual: evalSet, criteria: { polite: 1 }, registry });
  assert.match(evalCaseResults[0].overallEvalMetricResults[0].reason, /has no method `evaluateInvocations\(actual, /);
});

test("bytes of sessions are to be parsed first", () => {
  assert.throws(() => readSessions(Buffer.from("[]")), { help: "Parse text or bytes first, with JSON.parse" });
});

test("nothing but a threshold is changed afterwards", async () => {
  const given = { tool_trajectory_avg_score: { threshold: 1, match_type: "IN_ORDER" } };
  const result = await evaluate({ evalSet, actual: evalSet, criteria: given });
  const lower = withThresholds(result, {
    tool_trajectory_avg_score: { ...given.tool_trajectory_avg_score, threshold: 0.5 },
  });
  assert.equal(lower.evalCaseResults[0].overallEvalMetricResults[0].threshold, 0.5);
  for (const other of [{ match_type: "EXACT" }, { foo: 1 }]) {
    assert.throws(() => withThresholds(result, { tool_trajectory_avg_score: { threshold: 1, ...other } }), {
      code: "invalid_input",
      message: `\`${Object.keys(other)}\` cannot be changed here: nothing is scored again`,
      help: "Set only the threshold, or evaluate again",
    });
  }
});

test("countOnly scores nothing, and is warned of beside criteria", async () => {
  const { evalCaseResults } = await evaluate({ evalSet, actual: evalSet, countOnly: true });
  const names = evalCaseResults[0].overallEvalMetricResults.map(({ metricName }) => metricName);
  assert.ok(names.includes("tool_call_count_v1") && !names.includes("response_match_score"), names.join(", "));
  for (const more of [{ criteria }, { config: JSON.stringify({ criteria }) }]) {
    const { warnings } = await evaluate({ evalSet, actual: calling({ zone: "CET" }), countOnly: true, ...more });
    assert.deepEqual(
      warnings.map(({ message }) => message),
      ["`countOnly` has no effect: there are criteria, which are scored"],
    );
  }
});

test("the options of judges are named, and what may be secret is not repeated", async () => {
  for (const [judge, help] of [
    ["gemini", "geminiJudge({ apiKey })"],
    ["vertex", "vertexJudge({ project, location, accessToken })"],
    ["openai-responses", "openaiJudge({ model, apiKey })"],
    ["anthropic", "anthropicJudge({ apiKey })"],
    ["ollama", "ollamaJudge({ model })"],
  ]) {
    const refusal = { path: "judge", help: `Create a judge of this provider: ${help}` };
    await assert.rejects(evaluate({ evalSet, actual: evalSet, criteria, judge }), refusal);
    assert.throws(() => setDefaultJudge(judge), refusal);
  }
  for (const [vertex, path, message] of [
    [true, "vertex", "expected an object, found true"],
    [{ projet: "x" }, "vertex: projet", "there is no option `projet`"],
    [{ project: "a/b", accessToken: "t" }, "vertex: project", "`a/b` cannot be a project of Google Cloud"],
    [{ project: "p" }, "vertex", "expected either `project` and `accessToken`, or `apiKey`"],
    [{ project: "p", apiKey: "k" }, "vertex", "expected either `project` and `accessToken`, or `apiKey`"],
    [{ accessToken: 5 }, "vertex: accessToken", "expected a token or a function that returns one, found a number"],
    [{ accessToken: [] }, "vertex: accessToken", "expected a token or a function that returns one, found an array"],
  ]) {
    await assert.rejects(evaluate({ evalSet, actual: evalSet, criteria, vertex }), { path, message });
  }
  for (const [headers, found] of [
    ["x", "a string"],
    [null, "null"],
    [5, "a number"],
  ]) {
    const message = `expected an object of headers, found ${found}`;
    assert.throws(() => openaiJudge({ apiKey: "k", model: "a", headers }), { path: "options: headers", message });
  }
});
