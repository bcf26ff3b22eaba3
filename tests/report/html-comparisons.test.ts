// Comparisons of runs, calibrations and comparisons of judges as HTML.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_FLAGS, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { resultsOf, RUBRICS } from "../calibration/results.mjs";
import { calibrate, compareJudges, renderCalibrationHtml } from "../../pkg-template/src/calibration/index.js";
import { compareRuns } from "../../pkg-template/src/compare/runs.js";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import { ESTIMATES_STYLE, ESTIMATES_STYLE_HASH } from "../../pkg-template/src/generated/styles.js";
import { renderComparisonHtml } from "../../pkg-template/src/report/index.js";
import type { EvalSetResult, RunComparison } from "../../pkg-template/src/types.js";
import { evalCase, evalSet, invocation, supportSet, travelSet, turn } from "./fixtures.js";
import { checkInert, checkNesting } from "./markup.js";

const HOSTILE = '</b><script>alert(1)</script>"\u202egpj';

/** A run of one metric: the score of each case, which passes from 0.5. */
function run(scores: Record<string, number>): EvalSetResult {
  return evalSet(
    "shop",
    Object.entries(scores).map(([evalId, score]) =>
      evalCase("shop", evalId, [
        turn(invocation("u", "a"), invocation("u", "a"), [
          {
            metricName: "response_match_score",
            threshold: 0.5,
            score,
            evalStatus: score >= 0.5 ? EvalStatus.PASSED : EvalStatus.FAILED,
          },
        ]),
      ]),
    ),
  );
}

const many = (score: (at: number) => number) =>
  run(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`case_${at}`, score(at)])));

const comparison = (): RunComparison =>
  compareRuns(
    many((at) => 0.7 + at / 100),
    many((at) => (at < 3 ? 0.2 : 0.6 + at / 100)),
  );

describe("a comparison of runs", () => {
  test("has what became of cases and metrics, regressions first", () => {
    const page = renderComparisonHtml(comparison());
    assert.match(page, /<title>Comparison with the baseline<\/title>/);
    assert.match(page, /<p class="sub">3 regressions in 20 cases<\/p>/);
    assert.match(page, /<dt>✗ Regressed<\/dt><dd class="tone">3</);
    assert.match(page, /response_<wbr>match_<wbr>score<\/th>[^]*data-label="Difference">-0\.\d{4}</);
    assert.match(page, /role="img" aria-label="-0\.\d{4} … -0\.\d{4}"/);
    assert.match(page, /class="change tone" data-label="Change">worse</);
    const signs = [...page.matchAll(/<span class="sign tone">(.)</g)].map(([, sign]) => sign);
    assert.deepEqual(signs, [..."✗✗✗", ...Array.from({ length: 17 }, () => "↓")]);
    assert.match(page, /<p class="lead">85% of cases pass, before 100%/);
  });

  test("says so where nothing changed, and takes several comparisons and a title", () => {
    const same = compareRuns(
      many(() => 0.7),
      many(() => 0.7),
    );
    const page = renderComparisonHtml([same, comparison()], { title: HOSTILE });
    assert.match(page, /<h3>No case changed<\/h3>/);
    assert.match(page, /3 regressions in 40 cases of 2 evalsets/);
    assert.match(page, /<title>&lt;\/b&gt;&lt;script&gt;/);
    checkNesting(page);
  });
});

/** Sixty cases with two rubrics, of which two people label the first forty; the judge errs in every sixth. */
function judged(every: number, model = "gpt-5") {
  const ids = Array.from({ length: 60 }, (_, at) => `case_${at}`);
  const votes = (at: number) => {
    const isGood = at % 3 > 0 !== (at % every === 0);
    return Array.from({ length: 5 }, (_, sample) => Number(sample === 4 && at % 4 === 0 ? !isGood : isGood));
  };
  const results = resultsOf(
    Object.fromEntries(ids.map((id, at) => [id, { polite: votes(at), brief: votes(at + 1) }])),
    {
      judges: [{ metricName: RUBRICS, scoredBy: "judge", model, prompts: {} }],
      judgeUsage: {
        calls: 300,
        retried: 0,
        cached: 0,
        saved: 0,
        lost: 0,
        inputTokens: 6000,
        outputTokens: 600,
        cost: 3,
      },
    },
  );
  const labels = ids.slice(0, 40).flatMap((evalId, at) =>
    ["ann", "bob"].flatMap((annotator) =>
      ["polite", "brief"].map((rubricId, more) => ({
        evalId,
        metricName: RUBRICS,
        rubricId,
        annotator,
        label: (at + more) % 3 > 0 !== (annotator === "bob" && at === 7),
      })),
    ),
  );
  return { results, labels };
}

describe("a calibration", () => {
  const { results, labels } = judged(6);
  const found = calibrate(results, [...labels, { evalId: HOSTILE, metricName: RUBRICS, label: "pass" }]);

  test("has the verdicts beside each other, every figure with its interval, the curve, and the disagreements", () => {
    const page = renderCalibrationHtml(found);
    const [together] = found.subjects;
    assert.match(page, /<title>Calibration of gpt-5<\/title>/);
    const { bothPass, onlyJudge } = together?.confusion ?? assert.fail();
    assert.match(page, new RegExp(`<b>${bothPass}</b>both pass, [^]*<b>${onlyJudge}</b>wrongly passed, `));
    for (const name of ["Agreement", "Sensitivity", "Specificity", "Cohen’s kappa", "Krippendorff’s alpha"]) {
      assert.match(page, new RegExp(`<th scope="row">${name}</th><td class="num">[^<]+</td>\\s<td class="wide"><svg`));
    }
    for (const name of ["Pass rate, corrected", "Pass rate, prediction-powered", "Pass rate by the labels"]) {
      assert.match(page, new RegExp(`<th scope="row">${name}</th>`));
    }
    assert.match(
      page,
      /<svg class="curve" [^>]* aria-label="Correct verdicts, by samples asked: 1: \d+%, 3: \d+%, 5: \d+%/,
    );
    assert.match(page, /<h3>By rubric<\/h3>[^]*polite[^]*brief/);
    assert.equal(page.split("the judge says ").length - 1, Math.min(20, found.disagreements.length));
    assert.match(page, /3 problems with labels/);
  });

  test("of two judges says first which is better, with what a verdict took", () => {
    const page = renderCalibrationHtml(compareJudges(results, judged(2, "small").results, labels));
    assert.match(page, /<b>A<\/b> gpt-5[^]*data-label="Calls per verdict">5<[^]*data-label="Cost per verdict">0\.05</);
    assert.match(page, /<p class="lead"><b>A is better\.<\/b> Only A is right in \d+, only B in \d+\./);
    assert.match(page, /A minus B/);
  });

  test("is refused where there is none", () => {
    for (const wrong of [null, 7, {}, results]) {
      assert.throws(() => renderCalibrationHtml(wrong as never), { code: "invalid_input", path: "calibration" });
    }
    assert.throws(() => renderCalibrationHtml(found, { titel: "x" } as never), { code: "invalid_input" });
  });
});

const pages = () => {
  const { results, labels } = judged(6);
  const hostile = { ...judged(6, HOSTILE).results };
  return [
    renderComparisonHtml(comparison()),
    renderComparisonHtml(compareRuns(supportSet(), supportSet())),
    renderComparisonHtml(compareRuns(travelSet(), travelSet())),
    renderComparisonHtml(compareRuns(run({ [HOSTILE]: 1 }), run({ [HOSTILE]: 0 }))),
    renderComparisonHtml([]),
    renderCalibrationHtml(calibrate(results, labels)),
    renderCalibrationHtml(calibrate(hostile, labels), { title: HOSTILE }),
    renderCalibrationHtml(calibrate(results, [...labels, { evalId: HOSTILE, metricName: RUBRICS, label: HOSTILE }])),
    renderCalibrationHtml(compareJudges(results, hostile, labels)),
  ];
};

test("the pages run nothing, ask for nothing, and hold no text of results that acts", () => {
  const hash = `sha256-${createHash("sha256").update(ESTIMATES_STYLE).digest("base64")}`;
  assert.equal(ESTIMATES_STYLE_HASH, hash);
  assert.doesNotMatch(ESTIMATES_STYLE, /url\(|@import/);
  for (const page of pages()) {
    assert.ok(page.includes(`'${hash}'; base-uri 'none'`));
    checkInert(page);
    checkNesting(page);
    assert.doesNotMatch(page.replace(/[\t\n]/g, ""), /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
  }
});

test("no page is wider than a phone, and the policy refuses nothing", { skip: NO_CHROMIUM ?? false }, async () => {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
  try {
    const tab = await browser.newPage({ viewport: { width: 390, height: 800 } });
    const said: string[] = [];
    tab.on("console", (message) => said.push(message.text()));
    for (const page of pages()) {
      await tab.setContent(page);
      const width = await tab.evaluate("document.documentElement.scrollWidth");
      assert.ok((width as number) <= 390, `${String(width)}: ${page.slice(0, 600)}`);
    }
    assert.deepEqual(said, []);
  } finally {
    await browser.close();
  }
});
