// Why a case did not pass, in a line for each metric.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EvalMetricResult } from "adk-metrics";
import type { CaseContent } from "../../../www/src/worker/protocol.js";
import { needs, whyOf } from "../../../www/src/screens/case/why.js";

const metric = (given: Partial<EvalMetricResult>): EvalMetricResult =>
  ({ metricName: "m", evalStatus: 2, score: 0, threshold: 1, ...given }) as EvalMetricResult;

const side = { text: "", calls: [{ name: "look" }] };

function caseOf(turns: Partial<EvalMetricResult>[], overall: Partial<EvalMetricResult> = {}): CaseContent {
  const result = {
    evalId: "one",
    finalEvalStatus: 2,
    overallEvalMetricResults: [metric(overall)],
    evalMetricResultPerInvocation: turns.map((turn) => ({ actualInvocation: {}, evalMetricResults: [metric(turn)] })),
  };
  return {
    result: result as unknown as CaseContent["result"],
    turns: turns.map(() => ({ userText: "", actual: side, expected: side })),
  };
}

const changed = { kind: "arguments", expectedIndex: 0, actualIndex: 0 };

test("differences of calls are named once, with how often they come", () => {
  const differences = [{ path: "unit", expected: "celsius", actual: "fahrenheit" }];
  const explanation = { alignment: [{ ...changed, differences }] } as EvalMetricResult["explanation"];
  const [why] = whyOf(caseOf([{ explanation }, { explanation }, { evalStatus: 1 }]));
  assert.deepEqual(why?.what, ['look: unit is "fahrenheit", expected "celsius" (2 times)']);
  assert.deepEqual(why?.turns, [1, 2]);
  assert.equal(why && needs(why), "needs 1, got 0.000");
});

test("calls that are missing, unexpected or elsewhere are told apart, and more than three are counted", () => {
  const alignment = [
    { kind: "missing", expectedIndex: 0 },
    { kind: "extra", actualIndex: 0 },
    { kind: "moved", expectedIndex: 0, actualIndex: 0 },
    { ...changed, differences: [{ path: "a", expected: 1 }] },
    { ...changed, differences: [{ path: "b", actual: 2 }] },
  ];
  const [why] = whyOf(caseOf([{ explanation: { alignment } as EvalMetricResult["explanation"] }]));
  assert.deepEqual(why?.what, [
    "look was not called",
    "look was called and not expected",
    "look was called in another place",
    "2 more differences",
  ]);
  assert.deepEqual(why?.turns, []);
});

test("rubrics, sentences, words and votes say why", () => {
  const rubrics = [{ rubricId: "polite", text: "It is  polite", yes: 0, no: 3, unscored: 0 }];
  const [ofRubrics] = whyOf(
    caseOf([{ explanation: { rubrics }, details: { rubricScores: [{ rubricId: "polite", score: 0 }] } } as never]),
  );
  assert.deepEqual(ofRubrics?.what, ["rubric not met: It is polite"]);
  const sentences = [
    { text: "Made up.", label: "unsupported" },
    { text: "True.", label: "supported" },
    { text: "Hi.", label: "not_applicable" },
  ];
  assert.deepEqual(whyOf(caseOf([{ explanation: { sentences } } as never]))[0]?.what, ["unsupported: “Made up.”"]);
  const tokens = { precision: 0.25, recall: 0.5, matched: [] };
  assert.deepEqual(whyOf(caseOf([{ explanation: { tokens } } as never]))[0]?.what, [
    "the response has 50 % of the expected words, and 25 % of its words are expected ones",
  ]);
  const votes = [
    { purpose: "verdict", score: 0 },
    { purpose: "verdict", score: 1 },
  ];
  assert.deepEqual(whyOf(caseOf([{ explanation: { samples: { votes } } } as never]))[0]?.what, [
    "1 of 2 votes says no",
  ]);
});

test("a metric without a verdict gives its reason, and one that passed no line", () => {
  const open = { evalStatus: 3, reason: "no judge" } as Partial<EvalMetricResult>;
  assert.deepEqual(whyOf(caseOf([open], open))[0]?.what, ["no judge"]);
  assert.deepEqual(whyOf(caseOf([{ evalStatus: 1 }], { evalStatus: 1 })), []);
});
