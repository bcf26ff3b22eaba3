// A misspelt key that tells what a file is: the key is named, not what the file might be instead.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readTraces } from "../../pkg/dist/esm/interop.js";
import { calibrate } from "../../pkg/dist/esm/calibration.js";
import { importEntry } from "./support/package.mjs";

const { evaluate } = await importEntry();

const turn = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } };
const evalSet = { evalSetId: "s", evalCases: [{ evalId: "a", conversation: [turn] }] };
const events = [{ author: "user", invocationId: "1", content: { parts: [{ text: "Hi" }] } }];
const criteria = { response_match_score: 0.5 };

/** The misspelt key, what it is no key of, the key that is meant, and what has it. */
const MISSPELT = [
  ["inference", "an inference result", "inferences", [{ inference: [turn] }]],
  ["inference", "an inference result", "inferences", [{ evalCaseId: "a", inference: [turn] }]],
  ["inference", "an inference result", "inferences", { evalCaseId: "a", inference: [turn] }],
  ["infrences", "an inference result", "inferences", { infrences: [turn] }],
  ["inferences_", "an inference result", "inferences", [{ evalCaseId: "a" }, { evalCaseId: "b", inferences_: [] }]],
  ["evalCaseID", "an inference result", "evalCaseId", [{ evalCaseID: "a", inference: [turn] }]],
  ["inference_result", "a list of inference results", "inference_results", { inference_result: [] }],
  ["inferenceResult", "a list of inference results", "inferenceResults", { inferenceResult: [] }],
  ["event", "a session", "events", [{ event: [] }]],
  ["event", "a session", "events", { id: "a", event: events }],
  ["evnts", "a session", "events", [{ id: "a", evnts: events }]],
  [
    "event",
    "a session",
    "events",
    [
      { id: "a", events },
      { id: "b", event: events },
    ],
  ],
  ["autor", "an event", "author", [{ autor: "user", content: { parts: [{ text: "Hi" }] } }]],
  ["eval_case", "an evalset", "eval_cases", { eval_set_id: "s", eval_case: [] }],
  ["evalCase", "an evalset", "evalCases", { evalSetId: "s", evalCase: [] }],
  ["evalCaseResult", "evalset results", "evalCaseResults", { evalSetId: "s", evalCaseResult: [] }],
  ["eval_case_result", "evalset results", "eval_case_results", [{ eval_set_id: "s", eval_case_result: [] }]],
  ["qury", "a turn of an old evalset", "query", [{ qury: "Hi", reference: "Hello" }]],
  ...["tool_use", "tool_uses", "tools", "tool_calls", "expected_tool_calls", "toolUses", "tool_trajectory"].map(
    (key) => [
      key,
      "a turn of an old evalset",
      "expected_tool_use",
      [{ query: "Hi", [key]: [{ tool_name: "delete_account" }], reference: "Hello" }],
    ],
  ),
  ["dat", "a case of an old evalset", "data", [{ name: "a", dat: [{ query: "Hi" }] }]],
];

for (const [found, what, meant, actual] of MISSPELT) {
  test(`\`${found}\` is named: ${JSON.stringify(actual).slice(0, 60)}`, async () => {
    for (const given of [actual, JSON.stringify(actual)]) {
      await assert.rejects(evaluate({ evalSet, actual: given, criteria }), (error) => {
        assert.equal(error.message, `\`${found}\` is not a key of ${what}`);
        assert.equal(error.help, `Did you mean \`${meant}\`?`);
        assert.ok(error.path.endsWith(found), error.path);
        return true;
      });
    }
  });
}

test("an evalset whose key is misspelt is told so as well, and another file what it is", async () => {
  const rejected = (given, fields) => assert.rejects(evaluate({ evalSet: given, actual: evalSet, criteria }), fields);
  const noKey = (key, what) => ({ message: `\`${key}\` is not a key of ${what}` });
  await rejected({ event: events }, noKey("event", "a session"));
  await rejected([{ name: "a", dat: [] }], noKey("dat", "a case of an old evalset"));
  for (const other of [[{ evalCaseId: "a", inference: [turn] }], { evalCaseId: "a", inference: [turn] }]) {
    await rejected(other, { message: /^expected an evalset: /, help: /^This looks like results/ });
  }
});

test("what resembles no key is refused with all that the input may be", async () => {
  for (const actual of [{}, [{}], [{ date: "today" }], { cases: 1 }]) {
    await assert.rejects(evaluate({ evalSet, actual, criteria }), {
      message: /^expected what the agent did: an evalset, evalset results, inference results or a session, found/,
    });
  }
});

test("a misspelt key of OTLP is named: nothing under it would be read", () => {
  const span = { traceId: "1".repeat(32), spanId: "1".repeat(16), startTimeUnixNano: "1", name: "chat" };
  for (const [found, meant, traces] of [
    ["resourceSpan", "resourceSpans", { resourceSpan: [{ scopeSpans: [{ spans: [span] }] }] }],
    ["resource_spans", "resourceSpans", { resource_spans: [] }],
    ["resourceLog", "resourceLogs", { resourceSpans: [], resourceLog: [] }],
    ["scopeSpan", "scopeSpans", { resourceSpans: [{ scopeSpan: [{ spans: [span] }] }] }],
    ["span", "spans", { resourceSpans: [{ scopeSpans: [{ span: [span] }] }] }],
    ["scope_logs", "scopeLogs", { resourceSpans: [], resourceLogs: [{ scope_logs: [] }] }],
    ["logRecord", "logRecords", { resourceSpans: [], resourceLogs: [{ scopeLogs: [{ logRecord: [] }] }] }],
  ]) {
    assert.throws(() => readTraces(traces), {
      code: "invalid_input",
      message: `\`${found}\` is not a key of OTLP`,
      help: `Did you mean \`${meant}\`?`,
    });
  }
});

test("a misspelt column of labels is named, also where a label can do without it", async () => {
  const results = await evaluate({ evalSet, actual: evalSet, criteria });
  for (const [found, meant] of [
    ["turns", "turn"],
    ["runs", "run"],
    ["rubrics", "rubric"],
    ["anotator", "annotator"],
    ["metrics", "metric"],
    ["cases", "case"],
  ]) {
    const columns = ["case", "metric", "label"].filter((name) => name !== meant);
    const labels = `${[...columns, found].join()}\n${[...columns, found].map(() => "1").join()}`;
    const what = {
      message: new RegExp(`no column \`${meant}\``),
      help: `Did you mean \`${meant}\` instead of \`${found}\`?`,
    };
    assert.throws(() => calibrate(results, labels), what);
  }
  const labels = "case,metric,label,note,reason\na,response_match_score,1,clear,it greets";
  assert.equal(calibrate(results, labels).subjects.length, 1);
});
