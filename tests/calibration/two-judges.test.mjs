// Which of two judges is better, by labels of verdicts that both gave.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { random as randomOf } from "../journal/journal.mjs";
import { importEntry } from "../package/support/package.mjs";
import { resultsOf, RUBRICS, SCORES, TWO } from "./results.mjs";

const { calibrate, compareJudges, renderCalibrationHtml, renderCalibrationMarkdown, renderCalibrationTable } =
  await importEntry("./calibration");

describe("two judges", () => {
  const ids = Array.from({ length: 20 }, (_, at) => `c${at}`);
  const judged = (isRight, more) =>
    resultsOf(Object.fromEntries(ids.map((id, at) => [id, { polite: isRight(at) ? [1] : [0] }])), more);
  const usage = { calls: 40, inputTokens: 1000, outputTokens: 200, cost: 0.5 };
  const labels = ids.map((evalId) => ({ evalId, metricName: RUBRICS, rubricId: "polite", label: 1 }));

  test("are compared by the verdicts that only one has right, at what price", () => {
    const found = compareJudges(
      judged((at) => at < 18, { judgeUsage: usage }),
      judged((at) => at < 10),
      labels,
    );
    const [{ bothRight, onlyFirst, onlySecond, bothWrong, pValue, better, difference }] = found.subjects;
    assert.deepEqual([bothRight, onlyFirst, onlySecond, bothWrong, better], [10, 8, 0, 2, "first"]);
    // scipy.stats.binomtest(8, 8).pvalue
    assert.equal(pValue.toFixed(5), "0.00781");
    assert.equal(difference.value, 0.4);
    assert.ok(difference.low > 0.1 && difference.high < 0.65);
    assert.deepEqual(found.first, {
      judges: ["gpt-5"],
      verdicts: 20,
      callsPerVerdict: 2,
      tokensPerVerdict: 60,
      costPerVerdict: 0.025,
    });
    assert.deepEqual(found.notes, []);
  });

  test("are compared by cases where verdicts of a case go together", () => {
    // Ten rubrics of a case are right or wrong together: three cases differ.
    const rubrics = Array.from({ length: 10 }, (_, at) => `r${at}`);
    const of = (isRight) =>
      resultsOf(
        Object.fromEntries(
          ids.map((id, at) => [id, Object.fromEntries(rubrics.map((rubric) => [rubric, isRight(at) ? [1] : [0]]))]),
        ),
      );
    const all = ids.flatMap((evalId) =>
      rubrics.map((rubricId) => ({ evalId, metricName: RUBRICS, rubricId, label: 1 })),
    );
    const [together] = compareJudges(
      of(() => true),
      of((at) => at > 2),
      all,
    ).subjects;
    assert.deepEqual([together.onlyFirst, together.onlySecond, together.better], [30, 0, "unclear"]);
    assert.equal(together.pValue.toFixed(9), "0.250000000");
    const [sure] = compareJudges(
      of(() => true),
      of((at) => at > 8),
      all,
    ).subjects;
    assert.equal(sure.better, "first");
  });

  test("are rarely told apart where they are equally good, whatever a case has of verdicts", () => {
    const random = randomOf(5);
    const many = Array.from({ length: 15 }, (_, at) => `m${at}`);
    const rubrics = ["a", "b", "c", "d"];
    const all = many.flatMap((evalId) =>
      rubrics.map((rubricId) => ({ evalId, metricName: RUBRICS, rubricId, label: 1 })),
    );
    const one = () =>
      resultsOf(
        Object.fromEntries(
          many.map((id) => {
            const isRight = random() < 0.7;
            return [id, Object.fromEntries(rubrics.map((rubric) => [rubric, random() < 0.1 !== isRight ? [1] : [0]]))];
          }),
        ),
      );
    const rounds = 200;
    const told = Array.from({ length: rounds }, () => compareJudges(one(), one(), all).subjects[0].better);
    const share = told.filter((better) => better !== "unclear").length / rounds;
    assert.ok(share <= 0.08, `${share} of the comparisons`);
  });

  test("are named by the verdicts that are compared, panels as such", () => {
    const panel = { metricName: RUBRICS, scoredBy: "judge", model: "gpt-5, llama", panel: ["gpt-5", "llama"] };
    const alone = { metricName: RUBRICS, scoredBy: "judge", model: "gpt-5" };
    const other = { metricName: SCORES, scoredBy: "judge", model: "gpt-6" };
    const [one, two] = [[panel, other], [alone]].map((judges) => judged((at) => at < 12, { judges }));
    const found = compareJudges(one, two, labels);
    assert.deepEqual([found.first.judges, found.second.judges], [["the panel gpt-5, llama"], ["gpt-5"]]);
    const elsewhere = judged((at) => at < 12, { judges: [alone], evalSetId: "museum" });
    const ofShop = labels.map((label) => ({ ...label, evalSetId: "shop" }));
    const both = calibrate([one, elsewhere], ofShop);
    assert.match(
      renderCalibrationTable(both),
      /^Calibration of the panel gpt-5, llama and gpt-5: 20 of 20 labels used\n/,
    );
  });

  test("are equally good where each is right as often, or always both", () => {
    const isRight = [(at) => at < 12, (at) => at >= 8, (at) => at < 12];
    const [one, other, same] = isRight.map((is) => judged(is));
    const tied = compareJudges(one, other, labels);
    assert.match(
      renderCalibrationTable(tied, { width: 200 }),
      /Only A is right in 8, only B in 8\.\n +Neither is better: they are right equally often\.\n/,
    );
    assert.match(
      renderCalibrationTable(compareJudges(one, same, labels)),
      /Both are right, or both wrong, about every labelled verdict\.\n +Neither is better\.\n/,
    );
    assert.match(
      renderCalibrationHtml(tied),
      /<b>Neither is better: they are right equally often\.<\/b> Only A is right/,
    );
  });

  test("may be one judge with other prompts, or other settings", () => {
    const [one, other] = [1, 2].map(() => judged((at) => at < 12));
    other.judges = other.judges.map((stamp) => ({ ...stamp, prompts: { [RUBRICS]: "00" } }));
    assert.deepEqual(compareJudges(one, other, labels).notes, [`the prompts of ${RUBRICS} differ`]);
    const [three, four] = [{ judge_model: "a" }, { num_samples: 3 }].map((judge_model_options) =>
      JSON.parse(
        JSON.stringify(one).replaceAll(
          '"criterion":{',
          `"criterion":{"judge_model_options":${JSON.stringify(judge_model_options)},`,
        ),
      ),
    );
    assert.deepEqual(compareJudges(three, four, labels).notes, [`the settings of ${RUBRICS} differ`]);
    // Models are named anyway, and what is not known is not said to differ.
    const five = JSON.parse(JSON.stringify(three).replaceAll('"judge_model":"a"', '"judge_model":"b"'));
    five.judges = five.judges.map(({ prompts: _, ...stamp }) => stamp);
    assert.deepEqual(compareJudges(three, five, labels).notes, []);
  });

  test("have no price where all replies were reused, and one of the calls made where some were", () => {
    const none = { calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 };
    const found = compareJudges(
      judged((at) => at < 18, { judgeUsage: { ...usage, ...none, cached: 40 } }),
      judged((at) => at < 10, { judgeUsage: { ...usage, cached: 1 } }),
      labels,
    );
    assert.deepEqual(found.first, { judges: ["gpt-5"], verdicts: 20 });
    assert.equal(found.second.callsPerVerdict, 2);
    const from = "reused from a cache, a recording or the same evaluation";
    assert.deepEqual(found.notes, [
      `the price of the first judge leaves out 40 replies that were ${from}`,
      `the price of the second judge leaves out 1 reply that was ${from}`,
    ]);
  });

  test("differ by chance where only few verdicts tell them apart", () => {
    const found = compareJudges(
      judged((at) => at < 12),
      judged((at) => at < 10),
      labels,
    );
    assert.deepEqual([found.subjects[0].better, found.subjects[0].pValue.toFixed(5)], ["unclear", "0.50000"]);
    assert.match(renderCalibrationTable(found), /It is unclear which is better: the difference may be chance\./);
    assert.match(renderCalibrationMarkdown(found), /## Comparison of judges/);
    for (const given of [undefined, null, [], {}, { subjects: 1 }, "text"]) {
      for (const render of [renderCalibrationTable, renderCalibrationMarkdown]) {
        assert.throws(() => render(given), { message: /^expected a calibration, or a comparison of judges, found/ });
      }
    }
  });

  test("of different answers or cases are noted", () => {
    const { notes } = compareJudges(
      judged(() => true),
      judged(() => true, { answer: "No." }),
      labels,
    );
    assert.match(notes[0], /in 20 of 20 labelled verdicts, the agent's answers differ/);
    assert.throws(
      () =>
        compareJudges(
          judged(() => true),
          resultsOf(TWO),
          labels,
        ),
      /the two judges have no labelled verdict in common/,
    );
  });
});
