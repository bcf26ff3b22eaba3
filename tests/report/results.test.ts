import assert from "node:assert/strict";
import { test } from "node:test";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import { finalText, toolCallsOf } from "../../pkg-template/src/invocation.js";
import { casesText, countCases, countsText, joined, namedCases } from "../../pkg-template/src/report/results.js";
import type { Invocation } from "../../pkg-template/src/types.js";
import { call, evalCase, evalSet, supportSet, travelSet } from "./fixtures.js";

/** An invocation as files hold it, with nulls for what is not there. */
const stored = (invocation: object) => ({ userContent: {}, ...invocation }) as Invocation;

test("tool calls come from toolUses", () => {
  const calls = [call("a", { x: 1 }), call("b")];
  assert.deepEqual(toolCallsOf({ userContent: {}, intermediateData: { toolUses: calls } }), calls);
});

test("tool calls come from every function call of every event, in order", () => {
  const event = (...names: string[]) => ({
    author: "agent",
    content: { parts: [{ text: "thinking" }, ...names.map((name) => ({ functionCall: { name } }))] },
  });
  const intermediateData = { invocationEvents: [event("a", "b"), { author: "user" }, event("c")] };
  assert.deepEqual(
    toolCallsOf({ userContent: {}, intermediateData }).map(({ name }) => name),
    ["a", "b", "c"],
  );
});

test("an invocation without intermediate data has no tool calls", () => {
  for (const intermediateData of [undefined, null, {}]) {
    assert.deepEqual(toolCallsOf(stored({ intermediateData })), []);
  }
  assert.deepEqual(toolCallsOf(undefined), []);
});

test("a final text joins the non-empty parts by line feeds", () => {
  const parts = [{ text: "one" }, { text: "" }, { text: null }, { functionCall: { name: "x" } }, { text: "two" }];
  assert.equal(finalText(stored({ finalResponse: { parts } })), "one\ntwo");
  assert.equal(finalText(stored({ finalResponse: null })), "");
});

test("cases are counted by their final status", () => {
  assert.deepEqual(countCases([travelSet(), supportSet()]), { passed: 6, failed: 5, notEvaluated: 1 });
  assert.equal(countsText({ passed: 6, failed: 0, notEvaluated: 1 }), "6 passed, 1 not evaluated");
  assert.equal(countsText({ passed: 0, failed: 0, notEvaluated: 0 }), "none scored");
});

test("runs are counted besides cases where a case has several", () => {
  const set = (...ids: string[]) =>
    evalSet(
      "s",
      ids.map((id) => evalCase("s", id, [])),
    );
  assert.equal(casesText([]), "0 cases");
  assert.equal(casesText([set("a"), set("a", "b")]), "3 cases");
  assert.equal(casesText([set("a", "a"), set("b")]), "3 runs of 2 cases");
});

test("runs of one case are told apart, other cases keep their id", () => {
  const set = evalSet(
    "s",
    ["a", "b", "a"].map((id) => ({ ...evalCase("s", id, []), finalEvalStatus: EvalStatus.PASSED })),
  );
  assert.deepEqual(
    namedCases(set).map(({ name }) => name),
    ["a (run 1)", "b", "a (run 2)"],
  );
});

test("a report that is longer than a string can be is an error that names the form in chunks", () => {
  const piece = "x".repeat(2 ** 28);
  assert.throws(() => joined([piece, piece, piece, piece]), {
    name: "AdkMetricsError",
    code: "limit_exceeded",
    help: /Write it in chunks: every renderer has a function for that, such as htmlChunks/,
  });
});
