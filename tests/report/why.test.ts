// Why a case did not pass, in a few words for each metric.

import assert from "node:assert/strict";
import { test } from "node:test";
import { comparesCalls, comparesTexts, rubricWords, whyNotPassed } from "../../pkg-template/src/report/index.js";
import type { EvalCaseResult, EvalMetricResult } from "../../pkg-template/src/types.js";

const metric = (given: object): EvalMetricResult =>
  ({ metricName: "m", evalStatus: 2, score: 0, threshold: 1, ...given }) as EvalMetricResult;

const invocation = { userContent: {}, intermediateData: { toolUses: [{ name: "look" }] } };

function caseOf(turns: object[], overall: object = {}): EvalCaseResult {
  const result = {
    evalId: "one",
    finalEvalStatus: 2,
    overallEvalMetricResults: [metric(overall)],
    evalMetricResultPerInvocation: turns.map((turn) => ({
      actualInvocation: invocation,
      expectedInvocation: invocation,
      evalMetricResults: [metric(turn)],
    })),
  };
  return result as unknown as EvalCaseResult;
}

const differencesOf = (turn: object, overall: object = {}) => whyNotPassed(caseOf([turn], overall))[0]?.differences;

const changed = { kind: "arguments", expectedIndex: 0, actualIndex: 0 };

test("differences of calls are named once, with how often they come", () => {
  const differences = [{ path: "unit", expected: "celsius", actual: "fahrenheit" }];
  const explanation = { alignment: [{ ...changed, differences }] };
  assert.deepEqual(whyNotPassed(caseOf([{ explanation }, { explanation }, { evalStatus: 1 }])), [
    {
      metricName: "m",
      evalStatus: 2,
      score: 0,
      threshold: 1,
      differences: ['look: unit is "fahrenheit", expected "celsius" (2 times)'],
      turns: [1, 2],
    },
  ]);
});

test("calls that are missing, unexpected or elsewhere are told apart, and more than three are counted", () => {
  const alignment = [
    { kind: "missing", expectedIndex: 0 },
    { kind: "extra", actualIndex: 0 },
    { kind: "moved", expectedIndex: 0, actualIndex: 0 },
    { ...changed, differences: [{ path: "a", expected: 1 }] },
    { ...changed, differences: [{ path: "b", actual: 2 }] },
  ];
  const [why] = whyNotPassed(caseOf([{ explanation: { alignment } }]));
  assert.deepEqual(why?.differences, [
    "look was not called",
    "look was called unexpectedly",
    "look was called in a different position",
    "2 more differences",
  ]);
  assert.deepEqual(why?.turns, []);
  assert.deepEqual(differencesOf({ explanation: { alignment: alignment.slice(3) } }), [
    "look: a is missing, expected 1",
    "look: b is 2, not expected",
  ]);
  const long = [{ path: "", expected: "x".repeat(99), actual: 9_007_199_254_740_993n }];
  assert.deepEqual(differencesOf({ explanation: { alignment: [{ ...changed, differences: long }] } }), [
    `look: the argument list is 9007199254740993, expected "${"x".repeat(58)}…`,
  ]);
});

test("rubrics, sentences, words and votes say why", () => {
  const rubrics = [{ rubricId: "polite", text: "It is  polite", yes: 0, no: 3, unscored: 0 }];
  const details = { rubricScores: [{ rubricId: "polite", score: 0 }] };
  assert.deepEqual(differencesOf({ explanation: { rubrics }, details }), ["rubric not met: It is polite"]);
  const criterion = { rubrics: [{ rubricId: "polite", rubricContent: { textProperty: "It is polite" } }] };
  assert.deepEqual(differencesOf({ details }, { criterion, details }), ["rubric not met: It is polite"]);
  const [why] = whyNotPassed(caseOf([{ explanation: { rubrics }, details }], { details }));
  assert.deepEqual(why?.differences, ["rubric not met: It is polite"]);
  const sentences = [
    { text: "Made up.", label: "unsupported" },
    { text: "True.", label: "supported" },
    { text: "Hi.", label: "not_applicable" },
  ];
  assert.deepEqual(differencesOf({ explanation: { sentences } }), ["unsupported: “Made up.”"]);
  const tokens = { precision: 0.25, recall: 0.5, matched: [] };
  assert.deepEqual(differencesOf({ explanation: { tokens } }), [
    "the response contains 50% of the expected words, and 25% of its words are expected",
  ]);
  const votes = [
    { purpose: "verdict", score: 0 },
    { purpose: "verdict", score: 1 },
  ];
  assert.deepEqual(differencesOf({ explanation: { samples: { votes } } }), ["1 of 2 votes says no"]);
});

test("a metric without a verdict gives its reason, and one that passed or only informs is left out", () => {
  const open = { evalStatus: 3, reason: "no judge" };
  assert.deepEqual(differencesOf(open, open), ["no judge"]);
  assert.deepEqual(differencesOf(open, { evalStatus: 3 }), ["no judge"]);
  assert.deepEqual(whyNotPassed(caseOf([{ evalStatus: 1 }], { evalStatus: 1 })), []);
  assert.deepEqual(whyNotPassed(caseOf([{ evalStatus: 4 }], { evalStatus: 4 })), []);
});

test("reports show what was expected where there is something, or a metric misses it", () => {
  const expects = (expected: object | undefined, metricName: string, given: object = {}) => {
    const [turn] = caseOf([{ metricName, ...given }]).evalMetricResultPerInvocation;
    const of = { ...turn, expectedInvocation: expected } as NonNullable<typeof turn>;
    return [comparesTexts(of), comparesCalls(of)];
  };
  const answered = { userContent: {}, finalResponse: { parts: [{ text: "Hello" }] } };
  const silent = { userContent: {} };
  assert.deepEqual(expects(undefined, "response_match_score"), [false, false]);
  assert.deepEqual(expects(answered, "m"), [true, false]);
  assert.deepEqual(expects(silent, "final_response_match_v2"), [true, false]);
  assert.deepEqual(expects(invocation, "m"), [false, true]);
  assert.deepEqual(expects(silent, "tool_trajectory_avg_score"), [false, true]);
  assert.deepEqual(expects(silent, "m", { explanation: { alignment: [] } }), [false, true]);
});

test("the words of rubrics are those of the votes, of the turn or of the criterion", () => {
  const [turn] = caseOf([{}]).evalMetricResultPerInvocation;
  const rubrics = [{ rubricId: "b", rubricContent: { textProperty: "Is brief" } }];
  const of = { ...turn, actualInvocation: { ...invocation, rubrics } } as unknown as NonNullable<typeof turn>;
  const overall = metric({ criterion: { rubrics: [{ rubric_id: "c", rubric_content: "Is correct" }] } });
  const voted = metric({ explanation: { rubrics: [{ rubricId: "a", text: "Is apt", yes: 1, no: 0, unscored: 0 }] } });
  assert.deepEqual(Object.fromEntries(rubricWords(of, voted, overall)), {
    a: "Is apt",
    b: "Is brief",
    c: "Is correct",
  });
});

test("what is no turn, and no result of a metric, is refused", () => {
  const refused = { name: "AdkMetricsError", code: "invalid_input" };
  for (const junk of [undefined, { expectedInvocation: {}, evalMetricResults: 5 }] as never[]) {
    assert.throws(() => comparesTexts(junk), refused);
    assert.throws(() => comparesCalls(junk), refused);
  }
  assert.throws(() => rubricWords(undefined, { explanation: { rubrics: 5 } } as never), refused);
});
