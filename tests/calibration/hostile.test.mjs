// Labels that anybody may have written: at worst an error that names its place, whatever stands where, in steps that grow with
// their size.

import assert from "node:assert/strict";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";

const { AdkMetricsError, evaluate } = await importEntry();
const {
  calibrate,
  withCalibration,
  readLabels,
  renderCalibrationHtml,
  renderCalibrationMarkdown,
  renderCalibrationTable,
} = await importEntry("./calibration");

const METRIC = "final_response_match_v2";
const ids = ["one", "two", "three"];
const evalSet = evalSetOf(Object.fromEntries(ids.map((id) => [id, [turn("q", id), turn("r", id)]])), "set");
const results = await evaluate({
  evalSet,
  actual: evalSet,
  criteria: { [METRIC]: { threshold: 0.5, judge_model_options: { num_samples: 1 } } },
  judge: ({ prompt }) => JSON.stringify({ is_the_agent_response_valid: prompt.includes("two") ? "invalid" : "valid" }),
});

const TEXTS = [
  ...["", "pass", "0,5", "1e308", "-1", "NaN", "__proto__", "constructor", "\u001b[2J", "\0", "=1+1", "ﬁ", "١"],
  ...['"', '""', "\r", "\n", ";", "\t", ",", "9007199254740993", "\ufeff", "##vso[task.x]", "x".repeat(5000)],
];
const VALUES = [null, true, 5, -1, 1e308, [], [[]], {}, { toString: 1 }, { toString: 1, valueOf: 1 }, ...TEXTS];
const GOOD = { case: "one", metric: METRIC, label: "pass", turn: "1", annotator: "ann" };
const KEYS = [...Object.keys(GOOD), "run", "rubric", "evalset", "chosen", "__proto__", "toString"];

/** Calibrates, and is told of labels that are none by an error of this package. */
function attempt(labels) {
  try {
    const found = calibrate([results], labels);
    for (const render of [renderCalibrationHtml, renderCalibrationMarkdown, renderCalibrationTable]) render(found);
  } catch (error) {
    assert.ok(error instanceof AdkMetricsError, `${JSON.stringify(labels).slice(0, 500)}: ${error?.stack}`);
  }
}

test("labels are read or refused, whatever stands in place of a value", () => {
  for (const key of KEYS) {
    for (const value of VALUES) {
      const label = Object.fromEntries([...Object.entries(GOOD), [key, value]]);
      for (const list of [[label], [GOOD, label, { ...GOOD, case: "two" }]]) {
        attempt(list);
        attempt(JSON.stringify(list));
        attempt(JSON.stringify({ labels: list }));
        attempt(list.map((one) => JSON.stringify(one)).join("\n"));
      }
    }
  }
});

test("so is CSV that is cut, quoted and separated in any way", () => {
  const rows = [Object.keys(GOOD), ...ids.map((id) => Object.values({ ...GOOD, case: id }))];
  for (const separator of [",", ";", "\t"]) {
    const text = rows.map((row) => row.join(separator)).join("\r\n");
    for (const other of TEXTS) {
      for (let at = 0; at < text.length; at += 7) attempt(text.slice(0, at) + other + text.slice(at + 3));
    }
  }
});

/** Results of one case with many rubrics, as a file may have them. */
function rubricResults(size) {
  const rubricScores = Array.from({ length: size }, (_, at) => ({ rubricId: `rubric ${at}`, score: at % 2 }));
  const metric = { metricName: RUBRICS, threshold: 1, score: 0.5, evalStatus: 2, details: { rubricScores } };
  const [first] = results.evalCaseResults;
  const [{ actualInvocation }] = first.evalMetricResultPerInvocation;
  const turns = [{ actualInvocation, evalMetricResults: [metric] }];
  const one = { ...first, overallEvalMetricResults: [metric], evalMetricResultPerInvocation: turns };
  return { ...results, evalCaseResults: [one], judges: [{ ...results.judges[0], metricName: RUBRICS }] };
}

const RUBRICS = "rubric_based_final_response_quality_v1";

/** How often anything looks at the text of an id or a label, and how much it says. */
function workOf(results, labels) {
  const { trim } = String.prototype;
  let looks = 0;
  String.prototype.trim = function () {
    looks += 1;
    return trim.call(this);
  };
  try {
    return { said: JSON.stringify(readLabels(results, labels)).length, looks };
  } catch (error) {
    return { said: error.message.length, looks };
  } finally {
    String.prototype.trim = trim;
  }
}

for (const [what, field] of Object.entries({
  "rubrics of one case": (at) => ({ rubric: `rubric ${at}` }),
  "rubrics that there are not": (at) => ({ rubric: `no rubric ${at}` }),
  "no rubric": () => ({}),
  "metrics that there are not": (at) => ({ metric: `no metric ${at}` }),
  "cases that there are not": (at) => ({ case: `no case ${at}` }),
})) {
  test(`work grows with the number of labels and verdicts: ${what}`, () => {
    const [small, large] = [50, 200].map((size) => {
      const labels = Array.from({ length: size }, (_, at) => ({
        ...{ case: "one", metric: RUBRICS, label: "pass" },
        ...field(at),
      }));
      // One label is right, so that the others are told of one by one.
      return workOf(rubricResults(size), [
        { case: "one", metric: RUBRICS, label: "pass", rubric: "rubric 1" },
        ...labels,
      ]);
    });
    assert.ok(large.looks < 8 * small.looks, `${small.looks} looks, then ${large.looks}`);
    assert.ok(large.said < 8 * small.said, `${small.said} characters, then ${large.said}`);
  });
}

/** How often something is read of what a function is given. */
function readsOf(call, ...given) {
  let reads = 0;
  const known = new WeakMap();
  const watched = (value) => {
    if (typeof value !== "object" || value === null) return value;
    if (!known.has(value)) {
      known.set(
        value,
        new Proxy(value, {
          get(target, key, receiver) {
            reads += 1;
            return watched(Reflect.get(target, key, receiver));
          },
        }),
      );
    }
    return known.get(value);
  };
  call(...given.map(watched));
  return reads;
}

const subjectOf = (metricName, more = {}) => ({ metricName, labelled: 9, agreement: { value: 0.9 }, ...more });
const list = (size, make) => Array.from({ length: size }, (_, at) => make(at));

for (const [what, make] of Object.entries({
  "many rubrics": (size) => ({
    subjects: list(size, (at) => subjectOf(RUBRICS, { rubricId: `rubric ${at}` })),
    judges: [{ metricName: RUBRICS, model: "model", prompts: Object.fromEntries(list(size, (at) => [at, "x"])) }],
    results: rubricResults(size),
  }),
  "rubrics that are taken together": (size) => ({
    subjects: [
      ...list(size, (at) => subjectOf(RUBRICS, { rubricId: `rubric ${at}` })),
      subjectOf(RUBRICS, { rubrics: size }),
    ],
    judges: [],
    results: rubricResults(size),
  }),
  "one metric again and again": (size) => ({
    subjects: list(size, () => subjectOf(METRIC)),
    judges: list(size, () => ({ metricName: METRIC, model: "model" })),
    results,
  }),
  "many metrics": (size) => ({
    subjects: list(size, (at) => subjectOf(`metric ${at}`)),
    judges: list(size, (at) => ({ metricName: `metric ${at}`, model: "model" })),
    results: { ...results, judges: list(size, (at) => ({ metricName: `metric ${at}`, model: "other" })) },
  }),
})) {
  test(`work grows with the size of a calibration and of results: ${what}`, () => {
    const [small, large] = [50, 200].map((size) => {
      const { subjects, judges, results } = make(size);
      const criteria = { [RUBRICS]: list(size, String) };
      const calibration = { subjects, judges, criteria, confidence: 0.95 };
      return readsOf(withCalibration, results, calibration);
    });
    assert.ok(large < 8 * small, `${small} reads, then ${large} for four times the size`);
  });
}
