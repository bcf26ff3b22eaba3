// What is wrong with labels: told of with its place, while the others count; an error only where none can be used.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { csv, resultsOf, RUBRICS, SCORES, TWO } from "./results.mjs";

const { calibrate } = await importEntry("./calibration");

describe("a bad label is told of with its line, and the rest counts:", () => {
  const results = resultsOf({
    ...TWO,
    twice: { runs: [{ polite: [1] }, { polite: [0] }] },
    long: [{ polite: [1] }, { polite: [1] }],
    rated: 4,
  });
  const GOOD = "open,1,polite,pass";
  for (const [what, row, message, help] of [
    ["an unknown case", "opne,1,polite,pass", /^there is no case `opne` in the results$/, "Did you mean open?"],
    ["an unknown rubric", "open,1,polit,pass", /^there is no rubric `polit`/, "Did you mean polite?"],
    [
      "no rubric where there are some",
      "rated,1,polite,pass",
      /^there is no verdict of the metric/,
      /response_evaluation_score/,
    ],
    ["a turn that is not there", "open,3,polite,pass", /^there is no verdict of turn 3$/, /the case has 1 turn$/],
    [
      "no turn where there are several",
      "long,,polite,pass",
      /^the case has 2 turns, and the label does not say/,
      /column turn/,
    ],
    ["no run where there are several", "twice,1,polite,pass", /^the case has 2 runs, and the label/, /column run/],
    [
      "a label outside the scale",
      "open,1,polite,7",
      /^the label `7` is not on the scale of a rubric \(1 or 0, pass or fail\)$/,
      undefined,
    ],
    [
      "a share where there is no scale",
      "open,1,polite,0.7",
      /^the label `0.7` is not on the scale of a rubric \(1 or 0, pass or fail\)$/,
      undefined,
    ],
    ["a label that is no label", "open,1,polite,perhaps", /^the label `perhaps` is not on the scale/, undefined],
  ]) {
    test(what, () => {
      const { labels, subjects } = calibrate(results, csv(row, GOOD));
      assert.deepEqual([labels.given, labels.used, subjects[0].labelled], [2, 1, 1]);
      const [problem, ...others] = labels.problems;
      assert.deepEqual([problem.line, problem.label, others], [2, 1, []]);
      assert.match(problem.message, message);
      if (help !== undefined)
        assert.match(problem.help, help instanceof RegExp ? help : new RegExp(`^${help.replace("?", "\\?")}$`));
    });
  }

  test("ids in another Unicode form than in the results, which count", () => {
    const [composed, taken] = ["caf\u00e9", "cafe\u0301"];
    const given = resultsOf({ [composed]: { [composed]: [1] }, tea: { [composed]: [1] } }, { evalSetId: composed });
    const rows = [
      [composed, composed, composed, "Ren\u00e9"],
      [composed, taken, taken, "Rene\u0301"],
      [taken, "tea", composed, ""],
    ];
    const text = [
      "evalset,case,rubric,annotator,label,metric",
      ...rows.map((row) => [...row, "pass", RUBRICS].join(",")),
    ].join("\n");
    const { labels, subjects } = calibrate(given, text);
    assert.equal(subjects[0].labelled, 2);
    const [note, twice, ...others] = labels.problems;
    assert.deepEqual([note.line, twice.line, others], [3, 3, []]);
    assert.match(
      note.message,
      /^this label and 1 other have ids in another Unicode form \(NFC or NFD\) than the results; they count$/,
    );
    assert.match(twice.message, /^this verdict is labelled twice, also in line 2/);
    // Ids that differ in nothing else are two cases, each with its own labels.
    const both = resultsOf({ [composed]: { polite: [1] }, [taken]: { polite: [0] } });
    const own = calibrate(both, csv(`${composed},1,polite,pass`, `${taken},1,polite,fail`));
    assert.deepEqual([own.labels.problems, own.subjects[0].confusion.bothFail], [[], 1]);
  });

  test("the name of a metric that a sheet escapes, which is in no other form", () => {
    const named = JSON.parse(JSON.stringify(resultsOf({ tea: { polite: [1] } })).replaceAll(RUBRICS, "=mine"));
    const { labels } = calibrate(named, "case,rubric,label,metric\ntea,polite,pass,'=mine");
    assert.deepEqual([labels.used, labels.problems], [1, []]);
  });

  test("an unknown metric", () => {
    const labels = `case,metric,label\nopen,rubric_based_final_response_qualty_v1,pass\nrated,${SCORES},4`;
    const [{ message, help, line }] = calibrate(results, labels).labels.problems;
    assert.match(message, /^there is no verdict of the metric `rubric_based_final_response_qualty_v1`/);
    assert.deepEqual([help, line], [`Did you mean ${RUBRICS}?`, 2]);
  });

  test("a score outside of the metric's range", () => {
    const labels = `case,metric,label\nrated,${SCORES},6\nrated,${SCORES},5`;
    const { problems, used } = calibrate(results, labels).labels;
    assert.match(
      problems[0].message,
      /^the label `6` is not on the scale of response_evaluation_score \(1 to 5, or pass or fail\)$/,
    );
    assert.equal(used, 1);
  });

  test("the same label twice, which counts once", () => {
    const { labels } = calibrate(results, csv(GOOD, GOOD));
    assert.deepEqual([labels.given, labels.used, labels.problems[0].line], [2, 1, 3]);
    assert.match(labels.problems[0].message, /^this verdict is labelled twice, also in line 2; it counts once$/);
    assert.match(labels.problems[0].help, /column annotator/);
  });

  test("two labels of one person that differ, neither of which counts", () => {
    const { labels, subjects } = calibrate(results, csv(GOOD, "open,1,polite,fail", "closed,1,polite,fail"));
    assert.deepEqual([labels.used, subjects[0].labelled, labels.problems[0].line], [1, 1, 3]);
    assert.match(labels.problems[0].message, /labelled differently in line 2; neither counts/);
  });

  test("annotators that disagree, as many for as against", () => {
    const rows = ["open,polite,pass,ann", "open,polite,fail,bob", "closed,polite,fail,ann", "closed,polite,fail,bob"];
    const text = ["case,rubric,label,annotator,metric", ...rows.map((row) => `${row},${RUBRICS}`)].join("\n");
    const { labels, subjects } = calibrate(results, text);
    assert.deepEqual([labels.used, labels.annotators, subjects[0].labelled], [2, 2, 1]);
    assert.match(labels.problems[0].message, /^annotators disagree, .*: ann passes it, bob fails it$/);
    // The majority of three stands, and is no problem.
    const third = calibrate(results, `${text}\nopen,polite,pass,cat,${RUBRICS}`);
    assert.deepEqual([third.labels.problems, third.subjects[0].labelled], [[], 2]);
  });

  test("annotators on both sides of the threshold, whose median counts", () => {
    const labels = [1, 5].map((label, at) => ({
      ...{ evalId: "rated", metricName: SCORES, label, annotator: ["ann", "bob"][at] },
    }));
    const { labels: counts } = calibrate(results, labels);
    assert.equal(counts.used, 2);
    assert.match(counts.problems[0].message, /^annotators disagree, .*: ann fails it \(1\), bob passes it \(5\)$/);
    assert.match(counts.problems[0].help, /^Their median, 3, counts\./);
  });

  const good = { evalId: "open", metricName: RUBRICS, rubricId: "polite", label: 1 };
  for (const [what, bad, message] of [
    ["an object without a metric", { evalId: "open", label: 1 }, /^the label has no key `metric`$/],
    ["a misspelt key", { evalId: "open", metricName: RUBRICS, lable: 1 }, /^the label has no key `label`$/],
    ["what is no object", null, /^expected a label, which is an object, found null$/],
  ]) {
    test(`${what}, in a list and in lines`, () => {
      const lines = [good, bad].map((one) => JSON.stringify(one)).join("\n");
      for (const [input, line] of [
        [[good, bad], undefined],
        [lines, 2],
      ]) {
        const { labels } = calibrate(results, input);
        assert.deepEqual([labels.given, labels.used, labels.problems.length], [2, 1, 1]);
        assert.deepEqual([labels.problems[0].line, labels.problems[0].label], [line, 2]);
        assert.match(labels.problems[0].message, message);
      }
    });
  }

  test("a line that is no JSON", () => {
    const { labels } = calibrate(results, `${JSON.stringify(good)}\n{"evalId": "open`);
    assert.deepEqual([labels.given, labels.used, labels.problems[0].line], [2, 1, 2]);
    assert.match(labels.problems[0].message, /^the labels are not JSON:/);
  });

  test("but an object without a label is one that nobody has labelled yet", () => {
    const { labels } = calibrate(results, [good, { ...good, evalId: "closed", label: undefined }]);
    assert.deepEqual([labels.given, labels.used, labels.empty, labels.problems], [1, 1, 1, []]);
    const { label: _, ...without } = good;
    assert.equal(calibrate(results, [good, { ...without, evalId: "closed" }]).labels.empty, 1);
  });

  test("an id in two evalsets, unless the label says which", () => {
    const both = [resultsOf(TWO), resultsOf(TWO, { evalSetId: "bank" })];
    const label = { evalId: "open", metricName: RUBRICS, rubricId: "polite", label: 1 };
    const { labels } = calibrate(both, [label, { ...label, evalSetId: "bank" }]);
    assert.equal(labels.used, 1);
    assert.match(labels.problems[0].message, /^several evalsets have a case `open`: shop, bank$/);
  });

  for (const [what, text, message, help] of [
    ["an empty file", "\n", /^there are no labels: the file is empty$/, /columns case, turn, metric, rubric and label/],
    [
      "a file with a header alone",
      "case,metric,label\n",
      /there are no labels: the file contains only the column names$/,
      /columns/,
    ],
    [
      "a column that is missing",
      "case,metric,lable\nopen,x,1",
      /^the labels have no column `label`$/,
      /^Did you mean `label` instead of `lable`\?$/,
    ],
    [
      "columns of something else",
      "name,age\nann,7",
      /^the labels have no column `case`$/,
      /The columns are name, age$/,
    ],
    ["lines that are no JSON", '{"evalId"\n{"evalId"', /^the labels are not JSON:/, /./],
    ["a key that is missing", [{ evalId: "open", label: 1 }], /^the label has no key `metric`$/, /./],
    [
      "a quote that is not closed",
      csv("open,1,polite,pass", 'closed,1,polite,"fail', "rated,1,polite,pass"),
      /^a cell begins with a quote that does not end it/,
      /write a quote inside it twice/,
    ],
    [
      "a quote in the middle of a row that closes another",
      csv('open,1,polite,pass,"Hi', 'closed,1,polite,fail,he said "yes"'),
      /^a cell begins with a quote that does not end it/,
      /./,
    ],
    ["no label filled in", csv("open,1,polite,"), /^no labels are filled in$/, /column label/],
    ["no label that can be used", csv("x,1,polite,1"), /^none of the labels can be used: there is no case `x`/, /./],
  ]) {
    test(`${what} is an error`, () => {
      assert.throws(
        () => calibrate(results, text),
        (error) => {
          assert.deepEqual([error.name, error.path], ["AdkMetricsError", "labels"]);
          assert.match(error.message, message);
          assert.match(error.help, help);
          return true;
        },
      );
    });
  }
});
