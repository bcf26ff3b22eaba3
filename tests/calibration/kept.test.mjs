// A calibration that is kept, shown in later reports of the same judge.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { pairsOf, resultsOf, RUBRICS } from "./results.mjs";

const { calibrate, tallyFor, withCalibration } = await importEntry("./calibration");
const { renderCsv, renderHtml, renderJUnit, renderMarkdown, renderTable } = await importEntry("./report");

/** The cases of results of files, as `evaluate` gives them. */
const casesOf = ({ eval_case_results: found }) =>
  JSON.parse(
    JSON.stringify(found).replace(/"([a-z]+(?:_[a-z]+)+)":/g, (key) =>
      key.replace(/_./g, ([, one]) => one.toUpperCase()),
    ),
  );

describe("a calibration that is kept", () => {
  const { cases, labels } = pairsOf({ PP: 6, PF: 2, FP: 1, FF: 3 });
  const results = resultsOf(cases);
  const kept = JSON.stringify(calibrate(results, labels));
  const evaluated = {
    evalSetId: "shop",
    evalSetResultId: "shop_2",
    engineVersion: "0.1.0",
    referenceVersion: "2.13.0",
    dialect: "adk-python",
    evalCaseResults: [
      {
        evalSetId: "shop",
        evalId: "new",
        finalEvalStatus: 1,
        sessionId: "",
        overallEvalMetricResults: [{ metricName: RUBRICS, evalStatus: 1, score: 1, threshold: 0.7 }],
        evalMetricResultPerInvocation: [
          {
            actualInvocation: {},
            evalMetricResults: [
              {
                metricName: RUBRICS,
                evalStatus: 1,
                score: 1,
                threshold: 0.7,
                criterion: {
                  threshold: 0.7,
                  rubrics: [{ rubricId: "polite", rubricContent: { textProperty: "It is polite." } }],
                },
              },
            ],
          },
        ],
      },
    ],
    judges: results.judges,
  };
  const changed = (change) => {
    const copy = structuredClone(evaluated);
    change(copy);
    return withCalibration(copy, kept);
  };

  test("is refused where what corrects pass rates is damaged", () => {
    for (const damage of [
      (one) => delete one.confidence,
      (one) => (one.confidence = 95),
      (one) => (one.subjects[0].passRate.judgedRight = null),
      (one) => (one.subjects[0].passRate.judgedRight = { ofPasses: { share: 0.9, count: 6 } }),
    ]) {
      const damaged = JSON.parse(kept);
      damaged.subjects[0].passRate.judgedRight = {
        ofPasses: { share: 0.9, count: 6 },
        ofFails: { share: 0.8, count: 6 },
      };
      assert.doesNotThrow(() => withCalibration(evaluated, JSON.stringify(damaged)));
      damage(damaged);
      assert.throws(() => withCalibration(evaluated, JSON.stringify(damaged)), {
        code: "invalid_input",
        path: "calibration",
      });
    }
  });

  test("is shown in reports of the same judge", () => {
    const { judgeCalibrations, warnings } = withCalibration(evaluated, kept);
    assert.deepEqual([judgeCalibrations[0].labelled, judgeCalibrations[0].stale, warnings], [12, undefined, undefined]);
    const said =
      /human labels agree with the judge: rubric_based_final_response_quality_v1, rubric polite in 75% of 12 \(47 to 91%\)/i;
    assert.match(renderTable(withCalibration(evaluated, kept), { width: 200 }), said);
    assert.deepEqual(judgeCalibrations[0].kappa, calibrate(results, labels).subjects[0].kappa);
    // These results do not say which rubrics were met.
    assert.match(
      renderTable(withCalibration(evaluated, kept), { width: 400 }),
      /\(47 to 91%\), kappa 0\.47, pass rate of the calibrated results corrected to 58% \(0 to 100%\)\n/,
    );
    assert.match(renderHtml(withCalibration(evaluated, kept)), said);
    assert.match(renderMarkdown(withCalibration(evaluated, kept)), /75&#37; of 12/);
  });

  test("corrects the pass rate of the results that it is shown in", () => {
    const [subject] = calibrate(results, labels).subjects;
    const rateIn = (given, calibration = kept) => withCalibration(given, calibration).judgeCalibrations[0].passRate;
    assert.deepEqual(rateIn(results), { judge: 8 / 12, corrected: subject.passRate.corrected });
    assert.match(
      renderTable(withCalibration({ ...evaluated, evalCaseResults: casesOf(results) }, kept), { width: 400 }),
      /kappa 0\.47, pass rate corrected from 67% to 58% \(0 to 100%\)\n/,
    );
    // The same judge passes fewer here: its errors are those of the calibration, its rate is not.
    const stricter = resultsOf(pairsOf({ "P-": 50, "F-": 50 }).cases);
    const { judge, corrected } = rateIn(stricter);
    const { judgedRight } = subject.passRate;
    const expected =
      (0.5 + judgedRight.ofFails.share - 1) / (judgedRight.ofPasses.share + judgedRight.ofFails.share - 1);
    assert.deepEqual([judge, corrected.value], [0.5, expected]);
    assert.ok(corrected.high < subject.passRate.corrected.high);

    // Streams have no cases: without a tally of them, the rate is that of the calibrated results.
    const stream = { ...evaluated, evalCaseResults: [] };
    const earlier = { judge: 8 / 12, corrected: subject.passRate.corrected, isEarlier: true };
    assert.deepEqual(rateIn(stream), earlier);
    assert.deepEqual(rateIn(stream, tallyFor(kept)), earlier);
    for (const given of [results, stricter]) {
      const all = casesOf(given);
      const [atOnce, oneByOne] = [tallyFor(kept), tallyFor(JSON.parse(kept))];
      atOnce.add(...all);
      for (const one of all) oneByOne.add(one);
      for (const tally of [atOnce, oneByOne]) assert.deepEqual(rateIn(stream, tally), rateIn(given));
    }
    assert.match(
      renderTable(withCalibration(stream, kept), { width: 400 }),
      /pass rate of the calibrated results corrected to 58% \(0 to 100%\)\n/,
    );
    const [{ stale }] = withCalibration(stream, kept).judgeCalibrations;
    assert.equal(stale, undefined);
    const both = [evaluated, { ...evaluated, evalSetId: "museum" }].map((set, at) =>
      withCalibration({ ...set, evalCaseResults: casesOf([results, stricter][at]) }, kept),
    );
    assert.match(
      renderTable(both, { width: 600 }),
      /kappa 0\.47, pass rate corrected from 67% to 58% \(0 to 100%\) in shop, from 50% to 22% \(.*\) in museum\n/,
    );
  });

  test("shows labels of a metric and of its rubrics side by side", () => {
    const all = { a: { polite: [1, 1], brief: [0, 0] }, b: { polite: [1, 1], brief: [1, 1] } };
    const rows = ["case,metric,rubric,label", `a,${RUBRICS},,pass`, `b,${RUBRICS},,pass`, `a,${RUBRICS},polite,pass`];
    const shownOf = (...more) => {
      const given = resultsOf(all);
      const found = withCalibration(given, calibrate(given, [...rows, ...more].join("\n")));
      return found.judgeCalibrations.map(({ rubricId, rubrics, labelled }) => ({ rubricId, rubrics, labelled }));
    };
    const whole = { rubricId: undefined, rubrics: undefined, labelled: 2 };
    assert.deepEqual(shownOf(), [whole, { rubricId: "polite", rubrics: undefined, labelled: 1 }]);
    assert.deepEqual(shownOf(`b,${RUBRICS},brief,pass`), [whole, { rubricId: undefined, rubrics: 2, labelled: 2 }]);
    const given = { ...evaluated, evalCaseResults: casesOf(resultsOf(all)) };
    const text = [...rows, `b,${RUBRICS},brief,pass`].join("\n");
    assert.match(
      renderTable(withCalibration(given, calibrate(resultsOf(all), text)), { width: 600 }),
      /quality_v1 in 50% of 2 \(.*\); rubric_based_final_response_quality_v1, all 2 rubrics in 100% of 2 \(/,
    );
  });

  test("is shown for metrics without a judge, too", () => {
    const { judges, ...plain } = results;
    const renamed = JSON.parse(JSON.stringify(plain).replaceAll(RUBRICS, "my_metric"));
    const given = { ...evaluated, judges: undefined, evalCaseResults: casesOf(renamed) };
    const own = structuredClone(calibrate(given, labels.replaceAll(RUBRICS, "my_metric")));
    assert.deepEqual([own.judges, own.withoutJudge], [[], undefined]);
    const found = withCalibration(given, own);
    assert.equal(found.warnings, undefined);
    assert.match(
      renderTable(found, { width: 400 }),
      /human labels agree with the verdicts: my_metric, rubric polite in 75% of 12 \(47 to 91%\)/i,
    );
    for (const one of given.evalCaseResults) {
      one.evalMetricResultPerInvocation[0].evalMetricResults[0].criterion.threshold = 0.9;
    }
    assert.match(withCalibration(given, own).warnings[0].message, /Changed since then: the metric's settings$/);
    assert.equal(withCalibration({ ...given, evalCaseResults: [] }, own).judgeCalibrations, undefined);
  });

  test("is about one judge: one that is about none, or about several, is told of", () => {
    const { judges, ...unnamed } = results;
    const told = (given, options) => withCalibration(evaluated, calibrate(given, labels, options)).warnings;
    const [none] = told(unnamed);
    assert.match(none.message, /^the calibration of `rubric_based_\w+` may not hold: it does not name its judge$/);
    assert.match(none.help, /--judge-model/);
    assert.equal(told(unnamed, { judgeModel: "gpt-5" }), undefined);
    const [other] = told(unnamed, { judgeModel: "gpt-4" });
    assert.match(other.message, /Changed since then: the judge \(gpt-4 before, gpt-5 now\)$/);

    const of = (ids, model, evalSetId) =>
      resultsOf(Object.fromEntries(ids.map((id) => [id, cases[id]])), {
        evalSetId,
        judges: model && judges.map((one) => ({ ...one, model })),
      });
    const ids = Object.keys(cases);
    const [first, rest] = [ids.slice(0, 4), ids.slice(4)];
    const [mixed] = told([of(first, "gpt-5"), of(rest, "gpt-6")]);
    assert.match(mixed.message, /may not hold: it is about several judges: gpt-5 and gpt-6$/);
    const { judges: _, ...partly } = of(rest);
    const [half] = told([of(first, "gpt-5"), partly]);
    assert.match(half.message, /may not hold: it does not name its judge$/);
    assert.equal(told([of(first, "gpt-5"), of(rest, "gpt-5")]), undefined);

    // A judge of other metrics, or of no verdict that is labelled, is none of them.
    const unlabelled = resultsOf({ other: 3 }, { judges: judges.map((one) => ({ ...one, model: "gpt-6" })) });
    assert.deepEqual(
      calibrate([results, unlabelled], labels).judges.map(({ metricName, model }) => [metricName, model]),
      [[RUBRICS, "gpt-5"]],
    );

    const refused = { code: "invalid_input", path: "judgeModel" };
    assert.throws(() => calibrate(results, labels, { judgeModel: "gpt-5" }), {
      ...refused,
      message: /already: gpt-5$/,
    });
    assert.throws(() => calibrate(unnamed, labels, { judgeModel: "" }), refused);
  });

  test("is in JUnit's properties, of the suite in words and of each test as numbers", () => {
    const xml = renderJUnit(changed((set) => (set.judges[0].model = "gpt-6")));
    const { value, low, high } = calibrate(results, labels).subjects[0].agreement;
    assert.match(
      xml,
      /<property name="judgeCalibration" value="human labels agree .* in 75% of 12 \(47 to 91%\), kappa 0\.47, .*, which may no longer hold/,
    );
    const properties = [...xml.matchAll(/<property name="(judge(?:Agreement|Labels|Changed)\w*)" value="([^"]*)"/g)];
    assert.deepEqual(
      properties.map(([, name, text]) => [name, text]),
      [
        ["judgeAgreement", String(value)],
        ["judgeAgreementLow", String(low)],
        ["judgeAgreementHigh", String(high)],
        ["judgeLabels", "12"],
        ["judgeChanged", "the judge (gpt-5 before, gpt-6 now)"],
      ],
    );
  });

  test("is in columns of CSV, which other results do not have", () => {
    const read = (text) => {
      const [header, ...rows] = text
        .trimEnd()
        .split("\r\n")
        .map((row) => row.split(","));
      return rows.map((cells) => Object.fromEntries(header.map((name, at) => [name, cells[at]])));
    };
    const rows = read(renderCsv(withCalibration(evaluated, kept)));
    assert.deepEqual(
      rows.map((row) => [row.metricName, row.judgeAgreement, row.judgeLabels, row.judgeChanged]),
      [
        [RUBRICS, "0.75", "12", ""],
        [RUBRICS, "0.75", "12", ""],
      ],
    );
    assert.ok(!("judgeAgreement" in read(renderCsv(evaluated))[0]));
  });

  for (const [what, change, said] of [
    [
      "the model",
      (set) => (set.judges[0].model = "gpt-6"),
      /Changed since then: the judge \(gpt-5 before, gpt-6 now\)/,
    ],
    ["the prompt", (set) => (set.judges[0].prompts[RUBRICS] = "00"), /Changed since then: the prompt$/],
    [
      "the metric",
      (set) => (set.evalCaseResults[0].evalMetricResultPerInvocation[0].evalMetricResults[0].criterion.rubrics = []),
      /Changed since then: the metric's settings$/,
    ],
  ]) {
    test(`warns where ${what} is another one since`, () => {
      const { judgeCalibrations, warnings } = changed(change);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0].message, said);
      assert.ok(warnings[0].message.endsWith(judgeCalibrations[0].stale));
    });
  }

  test("says nothing of a judge of other metrics, and what is none is an error", () => {
    const other = changed((set) => (set.judges = [{ metricName: "safety_v1", scoredBy: "judge", model: "gpt-5" }]));
    assert.deepEqual([other.judgeCalibrations, other.warnings], [undefined, undefined]);
    for (const wrong of ["{", "{}", 7, { subjects: [{}], judges: [], criteria: {} }]) {
      assert.throws(() => withCalibration(evaluated, wrong), { name: "AdkMetricsError", path: "calibration" });
    }
  });
});
