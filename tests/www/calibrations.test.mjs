// What results tell of calibrations: how often the judge of a metric is right, by human labels.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scored, scoredExample, showing, turn } from "./scored.mjs";
import { playground, says, skip, violations } from "./support.mjs";

const at = (value, low, high) => ({ value, low, high });

describe("results", { skip }, () => {
  const site = playground();

  test("tell at a metric how often its judge is right, and that this may no longer hold", async () => {
    const results = await scoredExample("museum-guide");
    results.judgeCalibrations = [
      {
        metricName: "final_response_match_v2",
        labelled: 60,
        agreement: at(0.85, 0.74, 0.92),
        kappa: at(0.68, 0.5, 0.82),
        passRate: { judge: 0.5, corrected: at(0.47, 0.31, 0.62) },
      },
      {
        metricName: "final_response_match_v2",
        rubricId: "polite",
        labelled: 9,
        agreement: at(0.85, 0.74, 0.92),
        passRate: { judge: 0.5, corrected: at(0.47, 0.31, 0.62), isEarlier: true },
      },
      {
        metricName: "response_evaluation_score",
        labelled: 24,
        agreement: { value: 0.75 },
        stale: "the prompt, <b>the metric's settings</b>",
      },
    ];
    for (const options of [{}, { theme: "dark", width: 390 }]) {
      const page = await showing(site, results, options);
      if (options.width !== undefined) await page.getByText("Scores and thresholds", { exact: true }).click();
      const known = page.getByRole("region", { name: "Calibration of final_response_match_v2", exact: true });
      await says(
        page.getByRole("region", { name: "Calibration of final_response_match_v2, rubric polite" }),
        /^Checked against 9 human labels: rubric polite Agreement 85% .* Pass rate then, by the judge 50% /,
      );
      await says(
        known,
        /^Checked against 60 human labels Agreement 85% \(74 to 92%\) Kappa 0\.68 \(0\.50 to 0\.82\) Pass rate by the judge 50% Corrected for its errors 47% \(31 to 62%\)$/,
      );
      const old = page.getByRole("region", { name: "Calibration of response_evaluation_score" });
      await says(old, /Agreement 75% May no longer hold: the prompt, <b>the metric's settings<\/b>$/);
      assert.equal(await page.getByRole("region", { name: /^Calibration of/ }).count(), 3);
      assert.deepEqual(await violations(page), []);
      await site.done(page);
    }
  });

  test("of several evalsets tell the pass rate of each, and speak of no judge where there is none", async () => {
    const metricName = "response_match_score";
    const one = await scored({ one: [[turn("Hi", "Hello")], [turn("Hi", "Hello")]] }, { [metricName]: 0.5 });
    const checked = { metricName, labelled: 12, agreement: at(0.85, 0.74, 0.92) };
    const passRate = { judge: 0.5, corrected: at(0.47, 0.31, 0.62) };
    const page = await showing(site, [
      {
        ...one,
        judgeCalibrations: [
          { ...checked, passRate },
          { ...checked, labelled: 10, passRate: { ...passRate, isEarlier: true } },
          { ...checked, labelled: 3 },
        ],
      },
      {
        ...one,
        evalSetId: "evening",
        judgeCalibrations: [
          { ...checked, passRate: { ...passRate, judge: 0.7 } },
          { ...checked, labelled: 3 },
        ],
      },
    ]);
    const calibrations = page.getByRole("region", { name: /^Calibration of/ });
    const rest = (name) => calibrations.filter({ hasText: name });
    await says(
      rest("12 human labels").first(),
      /Agreement 85% \(74 to 92%\) Pass rate of made_here 50% Corrected for the metric’s errors 47% \(31 to 62%\)$/,
    );
    await says(rest("12 human labels").last(), /Pass rate of evening 70%/);
    await says(rest("10 human labels"), /Pass rate then 50% Corrected/);
    await says(rest("3 human labels"), /^Checked against 3 human labels Agreement 85% \(74 to 92%\)$/);
    assert.equal(await rest("3 human labels").getAttribute("aria-label"), `Calibration of ${metricName}`);
    assert.equal(await calibrations.count(), 4);
    await site.done(page);
  });
});
