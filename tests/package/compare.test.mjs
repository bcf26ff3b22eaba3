// Two runs compared: what regressed, what is on one side only, and what makes them hard to compare.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";
import { caseOf, isOfComparison, metric, only, runOf, scored, setOf } from "./support/comparisons.mjs";

const { compareRuns, EvalStatus, withThresholds } = await importEntry();
const report = await importEntry("./report");
const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;

for (const [name, before, after, change] of [
  ["passed, now failed", 1, 0, "regressed"],
  ["passed, now without a score", 1, undefined, "regressed"],
  ["failed, now worse", 0.4, 0.2, "worse"],
  ["passed, now barely", 1, 0.6, "worse"],
  ["failed, now without a score", 0.2, undefined, "changed"],
  ["without a score, now failed", undefined, 0.2, "changed"],
  ["failed, now passed", 0.2, 0.9, "fixed"],
  ["without a score, now passed", undefined, 0.9, "fixed"],
  ["passed, now better", 0.6, 0.9, "better"],
  ["passed, now the same", 0.6, 0.6, "unchanged"],
  ["passed, now the same but for rounding", 0.1 + 0.2 + 0.3, 0.6, "unchanged"],
  ["without a score, now too", undefined, undefined, "unchanged"],
]) {
  test(`a case: ${name}`, () => {
    const comparison = compareRuns(runOf({ a: before }), runOf({ a: after }));
    assert.equal(comparison.cases[0].change, change);
    assert.equal(comparison.cases[0].metrics[0].change, change);
    assert.equal(comparison.counts[change], 1);
    assert.equal(comparison.hasRegressions, change === "regressed");
  });
}

test("regressions come first, then losses by size", () => {
  const before = { same: 1, rose: 0.6, fixed: 0, lost: 1, slight: 1, large: 1, dropped: 1, failed: 0.5, gone: 0.3 };
  const after = { same: 1, rose: 0.9, fixed: 1, slight: 0.9, large: 0.6, dropped: 0.1, failed: 0.4 };
  const { cases } = compareRuns(runOf(before), runOf({ ...after, lost: undefined, gone: undefined }));
  assert.deepEqual(
    cases.map(({ evalId }) => evalId),
    ["dropped", "failed", "lost", "large", "slight", "gone", "fixed", "rose", "same"],
  );
});

test("lower is better for a metric whose statuses all say so, and it is judged as one that passes or fails", () => {
  const lower = (...scores) => scores.map((score) => [score > 0.5 ? FAILED : PASSED, score]);
  const set = (scores) => scored(lower(...scores));
  const before = set([0.9, 0.8, 0.9, 0.8, 0.9, 0.8, 0.9]);
  const after = set([0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1]);
  for (const [baseline, current, change, of] of [
    [before, after, "better", { better: 7, worse: 0 }],
    [after, before, "worse", { better: 0, worse: 7 }],
  ]) {
    const comparison = compareRuns(baseline, current);
    const [{ better, worse, ...quality }] = comparison.metrics;
    assert.deepEqual([quality.goal, quality.change, { better, worse }], ["lower", change, of]);
    for (const render of Object.values(report).filter(isOfComparison)) {
      if (render === report.renderComparisonJson || render === report.renderComparisonCsv) continue;
      assert.match(render(comparison), new RegExp(`${change} \\(lower is better\\)`), render.name);
      assert.doesNotMatch(render(comparison), /Mean per turn/, render.name);
    }
  }
  const passing = compareRuns(set([0.4, 0.3]), set([0.4, 0.2]));
  assert.deepEqual(Object.fromEntries(passing.cases.map(({ evalId, change }) => [evalId, change])), {
    c0: "unchanged",
    c1: "better",
  });
  // Runs that disagree are decided by their mean.
  const flaky = (...scores) => setOf(lower(...scores).map((given) => caseOf("a", { quality: given })));
  const [{ baseline, current }] = compareRuns(flaky(0.1, 0.6), flaky(0.4, 0.9)).cases;
  assert.deepEqual([baseline.status, current.status], [PASSED, FAILED]);
  // The worst first.
  const { cases } = compareRuns(set([0.1, 0.1, 0.4]), set([0.2, 0.4, 0.3]));
  assert.deepEqual(
    cases.map(({ evalId }) => evalId),
    ["c1", "c0", "c2"],
  );
  // Statuses that do not agree say nothing.
  const mixed = compareRuns(set([0.9, 0.1]), runOf({ c0: 0.1, c1: 0.9 }));
  assert.equal(mixed.metrics[0].goal, "higher");
});

for (const [name, before, after, change] of [
  ["still fails while a metric is fixed", { one: 0, two: 0 }, { one: 1, two: 0 }, "better"],
  ["still fails while a metric regresses", { one: 1, two: 0 }, { one: 0, two: 0 }, "worse"],
  ["still fails while one metric is fixed and another regresses", { one: 1, two: 0 }, { one: 0, two: 1 }, "worse"],
  ["still fails while a metric lost its score", { one: 0, two: 0 }, { one: undefined, two: 0 }, "changed"],
  ["still passes while a metric is no longer evaluated", { one: 1, two: 1 }, { one: 1, two: undefined }, "worse"],
  ["now passes while a metric scores lower", { one: 0, two: 1 }, { one: 1, two: 0.6 }, "fixed"],
  ["now passes while a metric is no longer evaluated", { one: 0, two: 1 }, { one: 1, two: undefined }, "fixed"],
  ["now fails while a metric is fixed", { one: 1, two: undefined }, { one: 0, two: 1 }, "regressed"],
  ["no longer evaluated while it failed", { one: 0, two: undefined }, { one: undefined, two: undefined }, "changed"],
]) {
  test(`a case that ${name} is ${change}`, () => {
    const comparison = compareRuns(setOf([caseOf("a", before)]), setOf([caseOf("a", after)]));
    assert.equal(comparison.cases[0].change, change);
    assert.equal(comparison.hasRegressions, change === "regressed");
  });
}

test("that metrics no longer pass in cases with unchanged verdicts is noted, though no regression", () => {
  const before = setOf(["a", "b", "c"].map((evalId) => caseOf(evalId, { one: 1, two: 0 })));
  const after = setOf([
    caseOf("a", { one: 0, two: 0 }),
    caseOf("b", { one: undefined, two: 0 }),
    caseOf("c", { one: 1, two: 0 }),
  ]);
  assert.deepEqual(compareRuns(before, after).notes, [
    "in 2 cases with unchanged verdicts, a metric no longer passes, which is not a regression: a, b",
  ]);
  assert.deepEqual(compareRuns(after, before).notes, []);
});

test("a status of a case that its metrics contradict is noted, in either run", () => {
  const edited = (evalId, metrics, finalEvalStatus, more = {}) => caseOf(evalId, metrics, { finalEvalStatus, ...more });
  const sound = setOf(["a", "b", "c", "d", "e"].map((evalId) => caseOf(evalId, { one: 1, two: undefined })));
  const one = setOf([edited("a", { one: 1, two: undefined }, FAILED), ...sound.evalCaseResults.slice(1)]);
  const say = (where) =>
    `the status of 1 case in ${where} contradicts its metrics: a is failed, its metrics say passed`;
  for (const form of [(run) => run, JSON.stringify]) {
    assert.deepEqual(compareRuns(form(sound), form(sound)).notes, []);
    assert.deepEqual(compareRuns(form(sound), form(one)).notes, [say("the current run")]);
    assert.deepEqual(compareRuns(form(one), form(sound)).notes, [say("the baseline")]);
  }
  const all = setOf([
    edited("a", { one: 0 }, PASSED),
    edited("b", { one: undefined }, PASSED),
    edited("c", { one: 1 }, NOT_EVALUATED),
    edited("d", { one: [INFORMATIONAL, 3] }, FAILED),
    caseOf("e", { one: 1 }),
  ]);
  assert.ok(
    compareRuns(sound, all).notes.includes(
      "the status of 4 cases in the current run contradicts their metrics: a is passed, its metrics say failed; " +
        "b is passed, its metrics say not evaluated; c is not evaluated, its metrics say passed; …",
    ),
  );
  const withoutMetrics = setOf([
    edited("a", {}, FAILED),
    edited("b", { one: undefined }, FAILED, { reason: "no agent" }),
  ]);
  assert.ok(compareRuns(sound, withoutMetrics).notes.every((note) => !note.includes("contradict")));
});

test("reports show what became of the case, and beneath it what became of its metrics", () => {
  const comparison = compareRuns(
    setOf([caseOf("now_passes", { one: 0, two: 1 }), caseOf("still_fails", { one: 0, two: 0 })]),
    setOf([caseOf("now_passes", { one: 1, two: 0.6 }), caseOf("still_fails", { one: 1, two: 0 })]),
  );
  const table = report.renderComparisonTable(comparison);
  assert.match(table, /✓ now_passes +– +– +– +– +failed → passed\n +one .* failed → passed\n +two .* passed\n/);
  assert.match(table, /↑ still_fails +– +– +– +– +failed\n +one .* failed → passed\n/);
  const markdown = report.renderComparisonMarkdown(comparison);
  assert.match(markdown, /\| ✅ <code>now&#95;passes<\/code> \|  \|  \|  \|  \| failed → passed \|\n\|  \| <code>one/);
  assert.match(markdown, /\| 🔺 <code>still&#95;fails<\/code> \|  \|  \|  \|  \| failed \|\n/);
  const rows = report.renderComparisonCsv(comparison).split("\r\n");
  assert.equal(rows[1], "set,now_passes,,,fixed,,,,,,failed,passed");
});

test("verdicts are counted by what they were and are", () => {
  const before = { a: 1, b: 1, c: 0, d: 0, e: undefined, f: undefined, g: 1, h: 1 };
  const after = { a: 0, b: undefined, c: 1, d: undefined, e: 1, f: 0, g: 1, h: 0 };
  const found = only(compareRuns(runOf(before), runOf(after)));
  assert.deepEqual(found.verdicts, {
    passedToFailed: 2,
    passedToNotEvaluated: 1,
    failedToPassed: 1,
    failedToNotEvaluated: 1,
    notEvaluatedToPassed: 1,
    notEvaluatedToFailed: 1,
  });
  assert.deepEqual([found.compared, found.onlyBaseline, found.onlyCurrent], [4, 2, 2]);
  assert.deepEqual([found.better, found.worse, found.unchanged], [1, 2, 1]);
});

test("a case that can no longer be scored regresses, and its reason is kept", () => {
  const failed = { finalEvalStatus: FAILED, reason: "the agent did not answer" };
  const { cases, metrics } = compareRuns(
    setOf([caseOf("a", { quality: 1 }), caseOf("b", { quality: 1 })]),
    setOf([caseOf("a", {}, failed), caseOf("b", { quality: 1 })]),
  );
  const [first] = cases;
  assert.deepEqual([first.evalId, first.change, first.current.reason], ["a", "regressed", "the agent did not answer"]);
  assert.deepEqual(Object.keys(first.metrics[0]), ["metricName", "change", "baseline", "turns"]);
  assert.equal(metrics[0].verdicts.passedToNotEvaluated, 1);
});

test("less of what is only counted is better, and more of it is no regression", () => {
  const run = (tokens) =>
    setOf(
      Array.from({ length: 8 }, (_, at) => caseOf(`c${at}`, { quality: 1, token_usage_v1: [INFORMATIONAL, tokens] })),
    );
  const { metrics, counts, hasRegressions, cases } = compareRuns(run(100), run(250));
  assert.deepEqual([metrics[1].goal, metrics[1].change, metrics[1].worse], ["lower", "worse", 8]);
  assert.equal("verdicts" in metrics[1], false);
  assert.equal(metrics[1].difference, 150);
  assert.deepEqual([counts.unchanged, hasRegressions, cases[0].metrics[1].change], [8, false, "worse"]);
  assert.equal(compareRuns(run(250), run(100)).metrics[1].change, "better");
  const uncounted = setOf([caseOf("c0", { quality: 1, token_usage_v1: undefined })]);
  assert.equal(compareRuns(uncounted, uncounted).metrics[1].goal, "lower");
});

test("a metric that passes or fails anywhere is one of scores", () => {
  const run = (quality) => setOf([caseOf("a", { quality: [INFORMATIONAL, quality] }), caseOf("b", { quality })]);
  assert.equal(only(compareRuns(run(0.6), run(0.7))).goal, "higher");
});

test("of two results of one metric in a case the first counts", () => {
  const twice = setOf([caseOf("a", { safety: 1, safety_v1: 0 })]);
  const { metrics } = compareRuns(twice, twice);
  assert.deepEqual([metrics.length, metrics[0].baselineMean], [1, 1]);
});

test("turns that were scored differently are named", () => {
  const run = (turns) => setOf([caseOf("a", { quality: 0.5 }, { turns: turns.map((quality) => ({ quality })) })]);
  const { cases } = compareRuns(run([1, 1, 0.5]), run([1, 0, 0.5, 1]));
  assert.deepEqual(cases[0].metrics[0].turns, [
    {
      invocationIndex: 1,
      baseline: { score: 1, status: PASSED, threshold: 0.5 },
      current: { score: 0, status: FAILED, threshold: 0.5 },
      difference: -1,
    },
    { invocationIndex: 3, current: { score: 1, status: PASSED, threshold: 0.5 } },
  ]);
});

test("a case that was run repeatedly counts once, with the mean of its scores", () => {
  const before = setOf([1, 1, 0.4].map((quality) => caseOf("a", { quality }, { turns: [{ quality }] })));
  const after = setOf([0.2, 1, undefined].map((quality) => caseOf("a", { quality }, { turns: [{ quality }] })));
  const { cases, metrics, baseline, notes } = compareRuns(before, after);
  const [{ metrics: found, ...one }] = cases;
  assert.deepEqual(one, {
    evalId: "a",
    change: "worse",
    baseline: { status: PASSED, runs: 3, passedRuns: 2 },
    current: { status: PASSED, runs: 3, passedRuns: 1 },
  });
  assert.equal(found[0].baseline.score, (1 + 1 + 0.4) / 3);
  assert.deepEqual(found[0].current, { score: 0.6, status: PASSED, threshold: 0.5 });
  assert.equal(found[0].turns[0].difference, found[0].difference);
  assert.deepEqual([metrics[0].compared, baseline.runs, baseline.cases.total], [1, 3, 1]);
  assert.deepEqual(notes, [
    "some cases have several runs: a case's mean scores and the fraction of its runs that pass are compared",
  ]);
});

test("where runs disagree, the status is that of the mean", () => {
  const status = (...runs) => {
    const set = setOf(runs.map((one) => (Array.isArray(one) ? caseOf("a", {}, { finalEvalStatus: one[0] }) : one)));
    return compareRuns(set, set).cases[0].baseline.status;
  };
  const quality = (given) => caseOf("a", { quality: given });
  assert.equal(status(quality(1), quality(0)), PASSED);
  assert.equal(status(quality(0.9), quality(0)), FAILED);
  assert.equal(status(quality(1), quality(undefined)), PASSED);
  assert.equal(status(quality(0), quality(undefined)), FAILED);
  assert.equal(status(quality(1), quality(1), [FAILED]), FAILED);
  assert.equal(status([PASSED], [NOT_EVALUATED]), NOT_EVALUATED);
});

test("cases and metrics on one side are listed, not compared", () => {
  const before = setOf([caseOf("a", { one: 1, old: 1 }), caseOf("left", { one: 1 })]);
  const after = setOf([caseOf("a", { one: 1, fresh: 0.5 }), caseOf("came", { one: 0 })]);
  const comparison = compareRuns(before, after);
  assert.deepEqual(comparison.addedCases, ["came"]);
  assert.deepEqual(comparison.removedCases, ["left"]);
  assert.deepEqual(comparison.addedMetrics, ["fresh"]);
  assert.deepEqual(comparison.removedMetrics, ["old"]);
  assert.deepEqual([comparison.metrics.length, comparison.hasRegressions], [1, false]);
  assert.deepEqual(
    comparison.cases.map(({ evalId, metrics }) => [evalId, metrics.length]),
    [["a", 1]],
  );
});

test("other thresholds are reported", () => {
  const before = scored([0.6, 0.7]);
  const after = withThresholds(before, { quality: 0.65 });
  const comparison = compareRuns(before, after);
  assert.deepEqual(comparison.thresholdChanges, [{ metricName: "quality", baseline: 0.5, current: 0.65, cases: 2 }]);
  assert.deepEqual([comparison.counts.regressed, only(comparison).change], [1, "unchanged"]);
});

test("a threshold in the criterion alone is one", () => {
  const run = (threshold) => {
    const set = scored([0.6]);
    set.evalCaseResults[0].overallEvalMetricResults[0] = {
      ...metric("quality", 0.6),
      threshold: undefined,
      criterion: { threshold },
    };
    return set;
  };
  assert.deepEqual(compareRuns(run(0.5), run(0.6)).thresholdChanges, [
    { metricName: "quality", baseline: 0.5, current: 0.6, cases: 1 },
  ]);
});

test("old names of metrics stand for today's", () => {
  const before = setOf([caseOf("a", { response_match: 1 })]);
  const after = setOf([caseOf("a", { response_match_score: 0 })]);
  const { metrics, addedMetrics, removedMetrics } = compareRuns(before, after);
  assert.deepEqual([metrics[0].metricName, metrics[0].difference], ["response_match_score", -1]);
  assert.deepEqual([addedMetrics, removedMetrics], [[], []]);
});

test("says what makes runs hard to compare", () => {
  const stamp = (model, prompt) => ({
    metricName: "quality",
    scoredBy: "judge",
    model,
    prompts: { quality: prompt },
  });
  const before = { ...scored([1]), dialect: "adk-ts", referenceVersion: "2.13.0", judges: [stamp("a-1", "x")] };
  const after = {
    ...scored([1]),
    evalSetId: "other",
    dialect: "adk-python",
    referenceVersion: "2.14.0",
    judges: [stamp("a-2", "y")],
    cancelled: true,
  };
  const notes = [
    "the evalset differs: set in the baseline, other in the current run",
    "the dialect differs: adk-ts in the baseline, adk-python in the current run",
    "the version of google-adk differs: 2.13.0 in the baseline, 2.14.0 in the current run",
    "the judge of quality differs: a-1 in the baseline, a-2 in the current run",
    "the prompts of quality differ",
    "the current run was cancelled: some of its results are missing",
  ];
  assert.deepEqual(compareRuns(before, after).notes, notes);
  assert.deepEqual(compareRuns(JSON.stringify(before), JSON.stringify(after)).notes, notes);
});

test("metrics whose settings differ are noted, and which metrics are advisory", () => {
  const made = (criterion, advisory) => {
    const set = structuredClone(setOf([caseOf("a", { quality: 1 })]));
    const [metricResult] = set.evalCaseResults[0].overallEvalMetricResults;
    if (criterion !== undefined) metricResult.criterion = criterion;
    return { ...set, referenceVersion: "2.13.0", ...(advisory === undefined ? {} : { advisory }) };
  };
  const notesOf = (before, after) => compareRuns(before, after).notes.filter((note) => / differ(s:|:)/.test(note));
  const loose = { threshold: 1, match_type: "ANY_ORDER", ignore_args: true };
  assert.deepEqual(notesOf(made(), made(loose)), [
    'the settings of quality differ: none in the baseline, {"ignore_args":true,"match_type":"ANY_ORDER"} in the current run',
  ]);
  assert.deepEqual(notesOf(made(loose), made({ ignoreArgs: true, matchType: "ANY_ORDER", threshold: 0.5 })), []);
  assert.deepEqual(notesOf(made({ threshold: 1 }), made()), []);
  assert.deepEqual(notesOf(made(), made(undefined, ["quality"])), [
    "which metrics are advisory differs: none in the baseline, quality in the current run",
  ]);
  // google-adk writes every default out.
  const { referenceVersion: _, ...ofAdk } = made(loose);
  assert.deepEqual(notesOf(ofAdk, made()), []);
});

test("runs without a metric in common are told of, with what each has", () => {
  const named = (name) => setOf([caseOf("a", { [name]: 1 })]);
  const { notes, metrics } = compareRuns(named("quality"), named("politeness"));
  assert.equal(metrics.filter(({ goal }) => goal === "higher").length, 0);
  assert.deepEqual(notes, [
    "the two runs have no pass/fail metric in common, so only verdicts are compared; the baseline has quality; " +
      "the current run has politeness",
  ]);
  assert.match(
    report.renderComparisonTable(compareRuns(named("quality"), named("politeness"))),
    /no pass(?:\/|&#47;)fail metric in common/,
  );
});
