// A calibration that is kept, shown in later reports of the same judge.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { pairsOf, resultsOf, RUBRICS } from "./results.mjs";

const { calibrate, withCalibration } = await importEntry("./calibration");
const { renderCsv, renderHtml, renderJUnit, renderMarkdown, renderTable } = await importEntry("./report");

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

  test("is shown in reports of the same judge", () => {
    const { judgeCalibrations, warnings } = withCalibration(evaluated, kept);
    assert.deepEqual([judgeCalibrations[0].labelled, judgeCalibrations[0].stale, warnings], [12, undefined, undefined]);
    const said =
      /human labels agree with the judge: rubric_based_final_response_quality_v1 in 75% of 12 \(47 to 91%\)/i;
    assert.match(renderTable(withCalibration(evaluated, kept), { width: 200 }), said);
    const [{ kappa, passRate }] = judgeCalibrations;
    assert.deepEqual([kappa, passRate.judge], [calibrate(results, labels).subjects[0].kappa, 8 / 12]);
    assert.match(
      renderTable(withCalibration(evaluated, kept), { width: 400 }),
      /\(47 to 91%\), kappa 0\.47, pass rate there corrected to 58% \(0 to 100%\)\n/,
    );
    assert.match(renderHtml(withCalibration(evaluated, kept)), said);
    assert.match(renderMarkdown(withCalibration(evaluated, kept)), /75&#37; of 12/);
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
    assert.match(mixed.message, /may not hold: it is about several judges: gpt-5, gpt-6$/);
    const { judges: _, ...partly } = of(rest);
    const [half] = told([of(first, "gpt-5"), partly]);
    assert.match(half.message, /may not hold: it does not name its judge$/);
    assert.equal(told([of(first, "gpt-5"), of(rest, "gpt-5")]), undefined);

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
