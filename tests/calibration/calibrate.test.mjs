// How often a judge is right, by labels of every form.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { csv, pairsOf, resultsOf, RUBRICS, SCORES, TWO } from "./results.mjs";

const { calibrate, labelSheet, renderCalibrationHtml, renderCalibrationMarkdown, renderCalibrationTable } =
  await importEntry("./calibration");

const rounded = (value) =>
  JSON.parse(JSON.stringify(value), (_, one) => (typeof one === "number" ? +one.toFixed(3) : one));

describe("a calibration says", () => {
  // Of 100: the judge passes 60 of which people pass 50, and fails 40 of which people fail 30.
  const { cases, labels } = pairsOf({ PP: 50, PF: 10, FP: 10, FF: 30 });
  const {
    subjects: [found],
    disagreements,
  } = calibrate(resultsOf(cases), labels);

  test("what the judge and people pass and fail", () => {
    assert.deepEqual(found.confusion, { bothPass: 50, onlyJudge: 10, onlyPeople: 10, bothFail: 30 });
    assert.deepEqual([found.verdicts, found.labelled, found.metricName, found.rubricId], [100, 100, RUBRICS, "polite"]);
  });

  test("how often they agree, by chance or not, and how the judge errs, each with an interval", () => {
    // By statsmodels: proportion_confint(..., method="wilson"), cohens_kappa with Fisher's transformation.
    assert.deepEqual(rounded(found.agreement), { value: 0.8, low: 0.711, high: 0.867 });
    assert.deepEqual(rounded(found.kappa), { value: 0.583, low: 0.398, high: 0.723 });
    assert.deepEqual(rounded(found.sensitivity), { value: 0.833, low: 0.72, high: 0.907 });
    assert.deepEqual(rounded(found.specificity), { value: 0.75, low: 0.598, high: 0.858 });
  });

  test("every disagreement, with why", () => {
    assert.equal(disagreements.length, 20);
    const [{ judge, people, severity, rationale, turn }] = disagreements;
    assert.deepEqual([judge.passes, people.passes, severity, turn], [true, false, 1, 1]);
    assert.equal(rationale, "because of polite");
  });

  test("the pass rate as people would find it", () => {
    const more = pairsOf({ PP: 25, PF: 10, FP: 5, FF: 20, "P-": 140, "F-": 60 });
    const { subjects } = calibrate(resultsOf(more.cases), more.labels);
    const { judge, people, corrected, powered } = subjects[0].passRate;
    assert.equal(rounded(judge), 0.673);
    assert.equal(people.value, 0.5);
    // (0.673 + 0.667 − 1) / (0.833 + 0.667 − 1)
    assert.equal(rounded(corrected.value), 0.679);
    assert.ok(corrected.low < 0.679 && corrected.high > 0.679);
    assert.ok(powered.low < powered.value && powered.value < powered.high && powered.weight > 0.3);
    assert.ok(powered.high - powered.low < people.high - people.low, "the judge's verdicts tell something");
  });

  test("nothing of a pass rate that labels cannot tell", () => {
    const allPass = pairsOf({ PP: 12, FP: 3 });
    const [{ passRate, specificity }] = calibrate(resultsOf(allPass.cases), allPass.labels).subjects;
    assert.match(passRate.reason, /^every labelled verdict passes, so/);
    assert.deepEqual([specificity, passRate.corrected, passRate.powered], [undefined, undefined, undefined]);
    const few = pairsOf({ PP: 4, FF: 30 });
    assert.match(calibrate(resultsOf(few.cases), few.labels).subjects[0].passRate.reason, /five that fail/);
    const guessing = pairsOf({ PP: 5, PF: 5, FP: 5, FF: 5 });
    const [guessed] = calibrate(resultsOf(guessing.cases), guessing.labels).subjects;
    assert.match(guessed.passRate.reason, /no better than chance/);
    assert.equal(rounded(guessed.kappa.value), 0);
  });
});

test("runs and turns of one case count as fewer than as many cases", () => {
  const rows = Array.from({ length: 30 }, (_, at) => ({
    id: `c${at % 10}`,
    turn: Math.floor(at / 10) + 1,
    isRight: at % 10 < 7,
  }));
  const cases = Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [`c${at}`, Array.from({ length: 3 }, () => ({ polite: [1, 1, 1] }))]),
  );
  const labels = csv(...rows.map(({ id, turn, isRight }) => `${id},${turn},polite,${isRight ? 1 : 0}`));
  const [{ agreement }] = calibrate(resultsOf(cases), labels).subjects;
  const alone = pairsOf({ PP: 21, PF: 9 });
  const [{ agreement: ofMany }] = calibrate(resultsOf(alone.cases), alone.labels).subjects;
  assert.equal(agreement.value, ofMany.value);
  assert.ok(agreement.high - agreement.low > 1.4 * (ofMany.high - ofMany.low));
});

describe("labels may be", () => {
  const expected = { bothPass: 1, onlyJudge: 0, onlyPeople: 1, bothFail: 0 };
  const objects = [
    { evalId: "open", metricName: RUBRICS, rubricId: "polite", label: true },
    { evalId: "closed", metricName: RUBRICS, rubricId: "polite", turn: 1, label: "yes" },
  ];
  for (const [what, labels] of Object.entries({
    "a list of objects": objects,
    JSON: JSON.stringify(objects),
    "JSON with a list under labels": JSON.stringify({ labels: objects }),
    "lines of JSON": objects.map((one) => JSON.stringify(one)).join("\n"),
    "JSON in snake_case": JSON.stringify(
      objects.map(({ evalId, metricName, rubricId, label }) => ({
        eval_id: evalId,
        metric_name: metricName,
        rubric_id: rubricId,
        label,
      })),
    ),
    CSV: csv("open,,polite,pass", "closed,1,polite,Passed"),
    "CSV with semicolons, quotes, a byte order mark and empty lines": `\uFEFFCase;Metric;Rubric;Label;note\r\n"open";${RUBRICS};polite;1;"a;b\r\n""c"""\r\n;;;;\r\nclosed;${RUBRICS};polite;1;\r\n`,
    "CSV with tabs": csv("open,,polite,TRUE", "closed,1,polite,valid").replaceAll(",", "\t"),
    bytes: new TextEncoder().encode(csv("open,,polite,met", "closed,1,polite,y")),
  })) {
    test(what, () => {
      const { subjects, labels: counts } = calibrate(resultsOf(TWO), labels);
      assert.deepEqual(subjects[0].confusion, expected);
      assert.deepEqual([counts.given, counts.used, counts.problems], [2, 2, []]);
    });
  }
});

test("scores from 1 to 5 have a weighted kappa, and pass by the threshold", () => {
  const scores = [1, 2, 3, 4, 5, 5, 4, 2, 3, 1];
  const people = [1, 2, 2, 4, 5, 4, 4, 1, 4, 5];
  const cases = Object.fromEntries(scores.map((score, at) => [`c${at}`, score]));
  const labels = people.map((label, at) => ({ evalId: `c${at}`, metricName: SCORES, label }));
  const { subjects, disagreements } = calibrate(resultsOf(cases), labels);
  const [{ scores: found, confusion }] = subjects;
  assert.deepEqual(confusion, { bothPass: 4, onlyJudge: 0, onlyPeople: 2, bothFail: 4 });
  // cohen_kappa_score(scores, people, weights="quadratic")
  assert.equal(rounded(found.weightedKappa.value), 0.524);
  assert.deepEqual(found.counts[0], [1, 0, 0, 0, 1]);
  assert.deepEqual(
    disagreements.map(({ evalId, severity }) => [evalId, severity]),
    [
      ["c9", 1],
      ["c8", 0.25],
    ],
  );
});

test("rubrics are told of together and each by itself", () => {
  const labels = csv("open,1,polite,1", "open,1,brief,1", "closed,1,polite,0", "closed,1,brief,1");
  const { subjects } = calibrate(resultsOf(TWO), labels);
  assert.deepEqual(
    subjects.map(({ rubricId, rubrics, labelled, agreement }) => [rubricId, rubrics, labelled, agreement.value]),
    [
      [undefined, 2, 4, 0.75],
      ["polite", undefined, 2, 1],
      ["brief", undefined, 2, 0.5],
    ],
  );
});

test("several annotators have Krippendorff's alpha", () => {
  const text = ["open,1,ann", "open,1,bob", "closed,0,ann", "closed,0,bob", "closed,0,cat"].map(
    (row) => `${row},${RUBRICS},polite`,
  );
  const { subjects, labels } = calibrate(resultsOf(TWO), ["case,label,annotator,metric,rubric", ...text].join("\n"));
  assert.deepEqual(subjects[0].alpha, { value: 1, verdicts: 2 });
  assert.equal(labels.annotators, 3);
});

test("Krippendorff's alpha counts verdicts that people disagree on, with an interval that is always the same", () => {
  const ids = Array.from({ length: 40 }, (_, at) => `case_${at}`);
  const results = resultsOf(Object.fromEntries(ids.map((id) => [id, { polite: [1, 1, 1] }])));
  // Two people, who disagree on every fourth case.
  const labels = ids.flatMap((evalId, at) =>
    ["ann", "bob"].map((annotator) => ({
      evalId,
      metricName: RUBRICS,
      rubricId: "polite",
      annotator,
      label: at % 2 === 0 && !(annotator === "bob" && at % 4 === 0),
    })),
  );
  const found = calibrate(results, labels);
  const [{ alpha, labelled }] = found.subjects;
  assert.equal(labelled, 30, "what is undecided does not count for the judge");
  assert.equal(alpha.verdicts, 40);
  assert.ok(
    0 < alpha.low && alpha.low < alpha.value && alpha.value < alpha.high && alpha.high < 1,
    JSON.stringify(alpha),
  );
  assert.ok(alpha.value < 0.6, JSON.stringify(alpha));
  assert.deepEqual(calibrate(results, labels).subjects[0].alpha, alpha);
  assert.match(renderCalibrationTable(found), /alpha 0\.\d\d \(0\.\d\d\s+to 0\.\d\d\)/);
});

test("votes that ended at a risk do not tell how far samples agree, and that is said", () => {
  const cases = { open: { polite: [1, 1], brief: [1, 0, 1] }, closed: { polite: [0, 0, 0], brief: [0, 1, 0] } };
  const labels = csv("open,1,polite,1", "closed,1,polite,0");
  const found = calibrate(resultsOf(cases, { judgeUsage: { calls: 11, verdictsAtRisk: 1 } }), labels);
  const [{ consistency, consistencyReason }] = found.subjects;
  assert.equal(consistency, undefined);
  assert.match(consistencyReason, /^some votes were stopped early at a risk/);
  assert.match(
    renderCalibrationTable(found, { width: 400 }),
    /How far samples agree is unknown: some votes were stopped early at a risk/,
  );
  assert.match(
    renderCalibrationHtml(found),
    /How far samples agree is unknown: some votes were stopped early at a risk/,
  );
  // A sample that failed ends no vote.
  assert.notEqual(calibrate(resultsOf(cases), labels).subjects[0].consistency, undefined);
});

test("votes tell how often samples agree, and what fewer would have given", () => {
  const { subjects } = calibrate(resultsOf(TWO), csv("open,1,brief,1", "closed,1,brief,0"));
  const [{ consistency }] = subjects;
  assert.deepEqual([consistency.questions, consistency.split, consistency.stoppedEarly], [2, 2, 2]);
  assert.equal(rounded(consistency.agreement), 0.333);
  // One of three votes drawn is right two times in three; a tie of two is a fail.
  assert.deepEqual(
    rounded(consistency.counts).map(({ samples, right, isForeseen }) => [samples, right, isForeseen]),
    [
      [1, 0.667, false],
      [2, 0.667, false],
      [3, 1, false],
      [4, 1, false],
      [5, 1, false],
    ],
  );
});

test("labels that were chosen because they look doubtful are left out of pass rates", () => {
  const { cases, labels } = pairsOf({ PP: 20, PF: 6, FP: 5, FF: 19, "P-": 10 });
  const chosen = labels
    .split("\n")
    .map((row, at) => `${row},${at === 0 ? "chosen" : "doubtful"}`)
    .join("\n");
  const [{ passRate, doubtful, agreement }] = calibrate(resultsOf(cases), chosen).subjects;
  assert.deepEqual([doubtful, agreement.value, passRate.people, passRate.corrected], [50, 0.78, undefined, undefined]);
  assert.match(passRate.reason, /chosen because they look doubtful/);
  const { problems } = calibrate(resultsOf(cases), chosen.replace("doubtful", "doubtfull")).labels;
  assert.equal(problems[0].message, '`chosen` cannot be "doubtfull"');
});

describe("a sheet of labels", () => {
  const cases = { sure: { polite: [1, 1, 1] }, split: { polite: [1, 0, 1, 0, 1] }, unread: { polite: [1, null] } };
  const rowsOf = (sheet) => sheet.trim().split("\r\n").slice(1);

  test("has the most doubtful verdicts first, with what is judged", () => {
    const sheet = labelSheet(resultsOf(cases));
    assert.deepEqual(
      rowsOf(sheet).map((row) => row.split(",")[1]),
      ["split", "unread", "sure"],
    );
    assert.match(rowsOf(sheet)[0], /,polite,,,doubtful,pass,because of polite,It is polite\.,Is it open\?,Yes\.,$/);
    assert.equal(rowsOf(labelSheet(resultsOf(cases), { count: 1 })).length, 1);
  });

  test("has scores that all samples agree on last, also one that is the least of the scale", () => {
    const sheet = labelSheet(resultsOf({ least: 1, near: 3, most: 5 }));
    assert.deepEqual(
      rowsOf(sheet).map((row) => row.split(",")[1]),
      ["near", "most", "least"],
    );
  });

  test("hides what the judge said", () => {
    const sheet = labelSheet(resultsOf(cases), { blind: true });
    assert.doesNotMatch(sheet, /judge|because|,pass,/);
  });

  test("is drawn anew by another seed, and the same by the same", () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`c${at}`, { polite: [1, 1] }]));
    const drawn = (seed) => labelSheet(resultsOf(many), { random: true, seed, count: 10 });
    assert.equal(drawn(1), drawn(1));
    assert.notEqual(drawn(1), drawn(2));
    assert.match(drawn(1), /,random,/);
  });

  test("is read when it is filled in, whatever the ids", () => {
    const odd = { "=1+1": { polite: [1] }, 'a "quoted", id': { polite: [0] }, "línea; dos": { polite: [1] } };
    const results = resultsOf(odd);
    const filled = labelSheet(results, { random: true }).replaceAll(`,polite,,`, ",polite,pass,");
    const { labels, subjects } = calibrate(results, filled);
    assert.deepEqual([labels.used, labels.problems, subjects[0].confusion.onlyPeople], [3, [], 1]);
    assert.throws(() => calibrate(results, labelSheet(results)), /no labels are filled in/);
  });

  test("names what there is to label where there is nothing", () => {
    assert.throws(() => labelSheet(resultsOf(cases), { metrics: ["safety_v1"] }), /there are no verdicts to label/);
    assert.throws(() => labelSheet(resultsOf(cases), { count: 0 }), /expected a whole number from 1 up, found 0/);
  });
});

test("what is no result is refused by name", () => {
  for (const [given, message] of [
    [{}, /expected results of an evaluation/],
    ["{", /the results are not JSON:/],
    [[resultsOf(TWO), 7], /expected results/],
  ]) {
    assert.throws(() => calibrate(given, csv("open,1,polite,1")), { name: "AdkMetricsError", message });
  }
  assert.throws(() => calibrate(resultsOf(TWO), csv("open,1,polite,1"), { confidence: 95 }), /above 0 and below 1/);
});

test("tables and Markdown say it in plain words, and hold nothing that acts", () => {
  const cases = { "\u001b[31mred | <b>": { polite: [1, 1, 0] } };
  const [evalId] = Object.keys(cases);
  const calibration = calibrate(resultsOf(cases), [{ evalId, metricName: RUBRICS, rubricId: "polite", label: 0 }]);
  const shown = renderCalibrationTable(calibration, { width: 200 });
  assert.match(shown, /^Calibration of gpt-5: 1 of 1 label used\n/);
  assert.match(
    shown,
    /The judge agrees with people in 0% \(95% interval 0 to 79%\) of 1 labelled verdict, out of 1 verdict\./,
  );
  assert.match(shown, /The judge's reason: because of polite/);
  assert.doesNotMatch(shown, /\u001b/);
  const rated = calibrate(resultsOf({ open: 5, closed: 1 }), [
    { evalId: "open", metricName: SCORES, label: 1 },
    { evalId: "closed", metricName: SCORES, label: "pass" },
  ]);
  assert.match(renderCalibrationTable(rated), /judge 5, people 1\n.*judge 1, people pass\n/, "a score of 1 is no word");
  const markdown = renderCalibrationMarkdown(calibration);
  assert.match(markdown, /\| the judge passes \| 0 \| 1 \|/);
  assert.doesNotMatch(markdown, /<b>|\u001b/);
});
