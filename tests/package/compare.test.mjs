// Two runs compared: what regressed, by how much means changed, how sure that is, and how it is shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry, root, testFile } from "./support/package.mjs";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const { AdkMetricsError, compareRuns, EvalStatus, evaluate, resultsToAdkJson, withThresholds } = await importEntry();
const report = await importEntry("./report");

const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;
const STATUSES = [PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL];

// ---- results to compare

/** A metric's result: a number is a score held against 0.5, undefined none, a list `[status, score]` is that. */
function metric(metricName, given) {
  const [evalStatus, score] = Array.isArray(given)
    ? given
    : [given === undefined ? NOT_EVALUATED : given >= 0.5 ? PASSED : FAILED, given];
  return {
    metricName,
    evalStatus,
    ...(evalStatus === INFORMATIONAL ? {} : { threshold: 0.5 }),
    ...(score === undefined ? {} : { score }),
  };
}

const list = (metrics) => Object.entries(metrics).map(([name, given]) => metric(name, given));

/** A run of a case: its metrics' results, then those of each turn. */
function caseOf(evalId, metrics, { turns = [], ...more } = {}) {
  const overallEvalMetricResults = list(metrics);
  const statuses = overallEvalMetricResults.map(({ evalStatus }) => evalStatus);
  const invocation = { userContent: { parts: [{ text: "Hello" }] } };
  return {
    evalSetId: "set",
    evalId,
    finalEvalStatus: [FAILED, PASSED].find((status) => statuses.includes(status)) ?? NOT_EVALUATED,
    overallEvalMetricResults,
    evalMetricResultPerInvocation: turns.map((turn) => ({
      actualInvocation: invocation,
      evalMetricResults: list(turn),
    })),
    sessionId: "session",
    ...more,
  };
}

const setOf = (evalCaseResults, more = {}) => ({
  evalSetResultId: "set_1",
  evalSetId: "set",
  evalCaseResults,
  creationTimestamp: 1.5,
  ...more,
});

/** A run of one-metric cases: eval id to what the metric found. */
const runOf = (found) => setOf(Object.entries(found).map(([evalId, given]) => caseOf(evalId, { quality: given })));

/** A run whose cases are named by number and scored so. */
const scored = (scores) => runOf(Object.fromEntries(scores.map((score, at) => [`c${at}`, score])));

const only = (comparison) => comparison.metrics[0];

/** Numbers from 0 up and below 1, the same in every run. */
function* numbers(seed) {
  for (let state = BigInt(seed); ;) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    yield Number(state >> 40n) / 2 ** 24;
  }
}

// ---- the interval, computed once more with big integers, one step after the other

const MASK = 0xffffffffn;
const rotated = (word, by) => ((word << by) | (word >> (32n - by))) & MASK;

function* xoshiro128ss(seed) {
  const whole = BigInt.asUintN(64, BigInt(seed));
  let state = (whole ^ BigInt(Math.floor(seed / 2 ** 32))) & MASK;
  const words = Array.from({ length: 4 }, () => {
    state = (state + 0x9e3779b9n) & MASK;
    let word = ((state ^ (state >> 16n)) * 0x21f0aaadn) & MASK;
    word = ((word ^ (word >> 15n)) * 0x735a2d97n) & MASK;
    return word ^ (word >> 15n);
  });
  for (;;) {
    yield (rotated((words[1] * 5n) & MASK, 7n) * 9n) & MASK;
    const shifted = (words[1] << 9n) & MASK;
    words[2] ^= words[0];
    words[3] ^= words[1];
    words[1] ^= words[2];
    words[0] ^= words[3];
    words[2] ^= shifted;
    words[3] = rotated(words[3], 11n);
  }
}

function slowInterval(differences, { resamples, seed, confidence }) {
  const n = BigInt(differences.length);
  const random = xoshiro128ss(seed);
  const means = [];
  for (let resample = 0; resample < resamples; resample += 1) {
    let sum = 0;
    for (let draw = 0n; draw < n; draw += 1n) sum += differences[Number((random.next().value * n) >> 32n)];
    means.push(sum / differences.length);
  }
  means.sort((one, other) => one - other);
  const k = Math.max(1, Math.floor(Number((((resamples + 1) * (1 - confidence)) / 2).toFixed(9))));
  return { low: means[k - 1] + 0, high: means[resamples - k] + 0 };
}

for (const [n, options] of [
  [2, { resamples: 100, seed: 0, confidence: 0.95 }],
  [3, { resamples: 777, seed: 1, confidence: 0.9 }],
  [30, { resamples: 999, seed: 1, confidence: 0.9 }],
  [12, { resamples: 1999, seed: -5, confidence: 0.99 }],
  [40, { resamples: 1000, seed: 2 ** 40 + 3, confidence: 0.5 }],
  [7, { resamples: 100, seed: Number.MIN_SAFE_INTEGER, confidence: 0.999999 }],
  [150, { resamples: 400, seed: 4294967296, confidence: 0.8 }],
]) {
  test(`the interval of ${n} cases is that of a slow bootstrap (${JSON.stringify(options)})`, () => {
    const random = numbers(n);
    const before = Array.from({ length: n }, () => random.next().value);
    const after = Array.from({ length: n }, () => random.next().value);
    const found = only(compareRuns(scored(before), scored(after), options));
    const differences = after.map((score, at) => score - before[at]);
    assert.deepEqual(found.interval, slowInterval(differences, options));
    assert.equal(found.compared, n);
  });
}

test("the interval of four cases of which one lost 0.4, by hand", () => {
  // A resample's mean is -0.1·K, K the draws of the one that changed: binomial, 4 draws of chance 1/4.
  // P(K = 4) = 1/256 < 2.5% < P(K ≥ 3) = 13/256, so the interval reaches from -0.3 to 0, as P(K = 0) = 81/256.
  const { interval, baselineMean, currentMean, difference } = only(
    compareRuns(scored([0.5, 0.5, 0.5, 0.5]), scored([0.1, 0.5, 0.5, 0.5])),
  );
  assert.ok(Math.abs(interval.low - -0.3) < 1e-12, String(interval.low));
  assert.equal(interval.high, 0);
  assert.equal(baselineMean, 0.5);
  assert.ok(Math.abs(currentMean - 0.4) < 1e-12 && Math.abs(difference - -0.1) < 1e-12);
});

test("the interval of many cases is that of the normal distribution", () => {
  const random = numbers(9);
  const n = 400;
  const after = Array.from({ length: n }, () => random.next().value);
  const { interval, difference } = only(compareRuns(scored(Array(n).fill(0)), scored(after)));
  const variance = after.reduce((sum, one) => sum + (one - difference) ** 2, 0) / n;
  const reach = 1.959964 * Math.sqrt(variance / n);
  for (const [found, wanted] of [
    [interval.low, difference - reach],
    [interval.high, difference + reach],
  ]) {
    assert.ok(Math.abs(found - wanted) < 0.06 * reach, `${found} is not about ${wanted}`);
  }
});

test("the interval holds the true mean about as often as it says", () => {
  const random = numbers(77);
  let held = 0;
  const rounds = 300;
  for (let round = 0; round < rounds; round += 1) {
    const after = Array.from({ length: 40 }, () => random.next().value);
    const { interval } = only(compareRuns(scored(Array(40).fill(0)), scored(after), { resamples: 400, seed: round }));
    if (interval.low <= 0.5 && 0.5 <= interval.high) held += 1;
  }
  assert.ok(held > 0.9 * rounds && held < 0.985 * rounds, `${held} of ${rounds}`);
});

test("one case has no interval, and two that changed alike have no width", () => {
  assert.equal("interval" in only(compareRuns(scored([0.5]), scored([1]))), false);
  assert.deepEqual(only(compareRuns(scored([0.25, 0.25]), scored([0.5, 0.5]))).interval, { low: 0.25, high: 0.25 });
});

test("a change is sure from six changed cases up, at 0.95", () => {
  const change = (count, to) =>
    only(compareRuns(scored(Array(20).fill(0.6)), scored([...Array(count).fill(to), ...Array(20 - count).fill(0.6)])))
      .change;
  assert.deepEqual(
    [0, 5, 6, 20].map((count) => change(count, 0.5)),
    ["unchanged", "unclear", "worse", "worse"],
  );
  assert.equal(change(6, 0.7), "better");
  const mixed = [...Array(10).fill(0.5), ...Array(10).fill(0.7)];
  assert.equal(only(compareRuns(scored(Array(20).fill(0.6)), scored(mixed))).change, "unclear");
  const four = (confidence) =>
    only(compareRuns(scored(Array(5).fill(0.6)), scored(Array(5).fill(0.5)), { confidence })).change;
  assert.deepEqual([0.9, 0.95].map(four), ["worse", "unclear"]);
});

test("an interval depends on the seed, and on nothing else of its making", () => {
  const random = numbers(3);
  const [before, after] = [0, 0].map(() => scored(Array.from({ length: 30 }, () => random.next().value)));
  assert.deepEqual(compareRuns(before, after), compareRuns(before, after));
  assert.deepEqual(compareRuns(before, after).bootstrap, { resamples: 10_000, seed: 0, confidence: 0.95 });
  const intervals = [1, 2].map((seed) => only(compareRuns(before, after, { seed })).interval);
  assert.notDeepEqual(intervals[0], intervals[1]);
});

// ---- properties

/** A run with some of six cases and three metrics, in some of which there is no score. */
function randomRun(random) {
  const chance = (share) => random.next().value < share;
  const score = () => (chance(0.2) ? undefined : Math.round(random.next().value * 8) / 8);
  const cases = [];
  for (let at = 0; at < 6; at += 1) {
    if (at > 0 && chance(0.2)) continue;
    const metrics = () => ({ quality: score(), tokens: [INFORMATIONAL, Math.round(random.next().value * 500)] });
    for (let run = chance(0.2) ? 2 : 1; run > 0; run -= 1) {
      cases.push(caseOf(`c${at}`, metrics(), { turns: Array.from({ length: chance(0.5) ? 1 : 2 }, metrics) }));
    }
  }
  return setOf(cases);
}

const MIRRORED = { regressed: "fixed", fixed: "regressed", worse: "better", better: "worse" };
const mirrored = (change) => MIRRORED[change] ?? change;
const negated = (value) => (value === undefined ? undefined : 0 - value);

test("swapping the runs turns every difference round", () => {
  const random = numbers(2026);
  for (let round = 0; round < 100; round += 1) {
    const [one, other] = [randomRun(random), randomRun(random)];
    const [there, back] = [compareRuns(one, other, { resamples: 200 }), compareRuns(other, one, { resamples: 200 })];
    assert.deepEqual([there.baseline, there.current], [back.current, back.baseline]);
    assert.deepEqual([there.addedCases, there.removedCases], [back.removedCases, back.addedCases]);
    const byId = new Map(back.cases.map((found) => [found.evalId, found]));
    for (const found of there.cases) {
      const opposite = byId.get(found.evalId);
      for (const [at, here] of found.metrics.entries()) {
        const their = opposite.metrics.find(({ metricName }) => metricName === here.metricName);
        assert.equal(mirrored(here.change), their.change);
        assert.equal(negated(here.difference), their.difference);
        assert.deepEqual([here.baseline, here.current], [their.current, their.baseline]);
        assert.deepEqual(
          here.turns.map(({ invocationIndex, difference }) => [invocationIndex, negated(difference)]),
          their.turns.map(({ invocationIndex, difference }) => [invocationIndex, difference]),
          `metric ${at}`,
        );
      }
    }
    // The order of the cases is that of the baseline, and it decides which draw is which.
    const inOrder = (run) => ({
      ...run,
      evalCaseResults: run.evalCaseResults.toSorted((a, b) => (a.evalId < b.evalId ? -1 : 1)),
    });
    const forth = compareRuns(inOrder(one), inOrder(other), { resamples: 200 });
    const reverse = compareRuns(inOrder(other), inOrder(one), { resamples: 200 });
    for (const here of forth.metrics) {
      const their = reverse.metrics.find(({ metricName }) => metricName === here.metricName);
      assert.equal(negated(here.difference), their.difference);
      assert.equal(negated(here.interval?.low), their.interval?.high);
      assert.equal(negated(here.interval?.high), their.interval?.low);
      assert.equal(mirrored(here.change), their.change);
      assert.deepEqual([here.better, here.worse, here.unchanged], [their.worse, their.better, their.unchanged]);
      assert.deepEqual([here.onlyBaseline, here.onlyCurrent], [their.onlyCurrent, their.onlyBaseline]);
    }
  }
});

test("a run compared with itself is unchanged", () => {
  const random = numbers(5);
  for (let round = 0; round < 50; round += 1) {
    const run = randomRun(random);
    const comparison = compareRuns(run, run, { resamples: 100 });
    assert.equal(comparison.hasRegressions, false);
    assert.equal(comparison.counts.unchanged, comparison.cases.length);
    assert.ok(comparison.cases.every(({ metrics }) => metrics.every(({ turns }) => turns.length === 0)));
    assert.ok(comparison.metrics.every(({ difference = 0 }) => difference === 0));
  }
});

test("the counts of a metric add up", () => {
  const random = numbers(8);
  for (let round = 0; round < 50; round += 1) {
    const comparison = compareRuns(randomRun(random), randomRun(random), { resamples: 100 });
    const sum = Object.values(comparison.counts).reduce((total, one) => total + one, 0);
    assert.equal(sum, comparison.cases.length);
    for (const { compared, better, worse, unchanged } of comparison.metrics) {
      assert.equal(better + worse + unchanged, compared);
    }
  }
});

/** Every number in a value. */
function* numbersIn(value) {
  if (typeof value === "number") yield value;
  else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) yield* numbersIn(part);
}

test("numbers are finite or absent, however large scores are", () => {
  const huge = Number.MAX_VALUE;
  const comparison = compareRuns(scored([huge, huge, -huge, 1]), scored([-huge, huge, huge, 1]));
  assert.ok([...numbersIn(comparison)].every(Number.isFinite));
  assert.equal("baselineMean" in only(comparison), true);
  assert.equal("difference" in comparison.cases[0].metrics[0], false);
  for (const text of Object.values(report).flatMap((render) => (isOfComparison(render) ? render(comparison) : []))) {
    assert.doesNotMatch(text, /NaN|Infinity/);
  }
});

const isOfComparison = (render) => /^renderComparison/.test(render.name);

// ---- verdicts

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
    "a metric no longer passes in 2 cases with unchanged verdicts, which are no regressions: a, b",
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

// ---- repeated runs

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
  assert.deepEqual(notes, ["some cases were run repeatedly: they are compared by the means of their scores"]);
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

// ---- what is on one side only, and what else differs

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
    "the version of the reference differs: 2.13.0 in the baseline, 2.14.0 in the current run",
    "who scored quality differs: a-1 in the baseline, a-2 in the current run",
    "the prompts of quality differ",
    "the current run was cancelled: some of its results are missing",
  ];
  assert.deepEqual(compareRuns(before, after).notes, notes);
  assert.deepEqual(compareRuns(JSON.stringify(before), JSON.stringify(after)).notes, notes);
});

// ---- shapes

const example = (name) => readFileSync(join(root, "examples/travel-concierge", name));

test("results are read in every shape", async () => {
  const request = {
    evalSet: example("travel-concierge.evalset.json"),
    criteria: { tool_trajectory_avg_score: 1, response_match_score: 0.5 },
  };
  const result = await evaluate({ ...request, actual: example("travel-concierge.evalset_result.json") });
  const base = withThresholds(result, { response_match_score: 0.9 });
  const snake = resultsToAdkJson(result);
  const expected = compareRuns(base, JSON.parse(snake));
  assert.ok(expected.counts.fixed > 0 || expected.thresholdChanges.length > 0);
  for (const shape of [
    snake,
    `\n ${snake}`,
    JSON.stringify(snake),
    new TextEncoder().encode(snake),
    new TextEncoder().encode(JSON.stringify(snake)),
    JSON.stringify(result),
    JSON.parse(JSON.stringify(result), (key, value) => (key === "reason" ? undefined : value)),
    { ...result, evalSetId: null, eval_set_id: result.evalSetId },
  ]) {
    if (typeof shape === "object" && "eval_set_id" in shape) delete shape.evalSetId;
    assert.deepEqual(compareRuns(base, shape), expected);
  }
});

test("files that google-adk reads are read, and what it refuses breaks nothing", () => {
  const { documents, edits } = JSON.parse(testFile("parity/vectors/shapes.json"));
  const camel = (key) => key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  let read = 0;
  for (const { document, path, edit, key, result } of edits) {
    if (document !== "eval_set_result" || edit === "wrong_type") continue;
    const edited = structuredClone(documents.eval_set_result);
    const target = path.reduce((value, step) => value[step], edited);
    if (edit === "extra") target[key] = "x";
    else if (edit === "null") target[key] = null;
    else {
      if (edit === "camel") target[camel(key)] = target[key];
      delete target[key];
    }
    for (const shape of [edited, JSON.stringify(edited)]) {
      try {
        assert.equal(compareRuns(shape, shape).hasRegressions, false);
        read += 1;
      } catch (error) {
        assert.ok(error instanceof AdkMetricsError, String(error?.stack));
        const isEmpty = error.message === "the two runs have no case in common";
        assert.ok(result === "refused" || isEmpty, `${edit} ${path.join(".")}.${key}: ${error}`);
      }
    }
  }
  assert.ok(read > 500, String(read));
});

test("invocations are not looked at, and nothing given is changed", () => {
  const set = setOf([caseOf("a", { quality: 1 }, { turns: [{ quality: 1 }] })]);
  for (const turn of set.evalCaseResults[0].evalMetricResultPerInvocation) {
    Object.defineProperty(turn, "actualInvocation", { get: () => assert.fail("looked at"), enumerable: true });
  }
  const freeze = (value) => {
    for (const [key, part] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
      if (key !== "actualInvocation" && typeof part.value === "object" && part.value !== null) freeze(part.value);
    }
    return Object.freeze(value);
  };
  assert.equal(compareRuns(freeze(set), set).counts.unchanged, 1);
});

test("names that objects have anyway are names of cases and metrics", () => {
  const run = setOf(
    ["__proto__", "constructor", ""].map((evalId) => caseOf(evalId, { ["__proto__"]: 1, toString: 1 })),
  );
  const { cases, metrics } = compareRuns(run, JSON.stringify(run));
  assert.equal(cases.length, 3);
  assert.ok(metrics.some(({ metricName }) => metricName === "toString"));
});

// ---- errors

for (const [name, args, wanted] of [
  ["nothing", [undefined, scored([1])], { code: "invalid_input", path: "baseline" }],
  ["a number", [scored([1]), 3], { code: "invalid_input", path: "current" }],
  ["a promise", [scored([1]), Promise.resolve()], { code: "invalid_input", path: "current", help: "Await it first" }],
  ["text that is no JSON", ["{", scored([1])], { code: "invalid_json", line: 1 }],
  ["JSON text that holds text", ['"no results"', scored([1])], { code: "invalid_json", line: 1 }],
  [
    "an evalset",
    [scored([1]), { eval_set_id: "s", eval_cases: [] }],
    { path: "current", help: /results of an evaluation/ },
  ],
  [
    "a status that is none",
    [scored([1]), runOf({ c0: [7, 1] })],
    { code: "invalid_input", path: "current: evalCaseResults[0].overallEvalMetricResults[0].evalStatus" },
  ],
  [
    "a score that is no number",
    [runOf({ c0: [1, NaN] }), scored([1])],
    {
      code: "unserializable",
      path: "baseline: evalCaseResults[0].overallEvalMetricResults[0].score",
      help: "Leave the value out or use null",
    },
  ],
  ["no case in common", [runOf({ a: 1 }), runOf({ b: 1 })], { path: "current", help: /The baseline has `a`; .* `b`$/ }],
  ["no case at all", [setOf([]), setOf([])], { message: "the two runs have no case in common", help: /has no case/ }],
  ["options that are none", [scored([1]), scored([1]), 3], { path: "options" }],
  ["a misspelt option", [scored([1]), scored([1]), { sead: 1 }], { help: "Did you mean `seed`?" }],
  ["an unknown option", [scored([1]), scored([1]), { alpha: 1 }], { path: "options: alpha", help: /^The options are/ }],
  ["too few resamples", [scored([1]), scored([1]), { resamples: 99 }], { path: "options: resamples" }],
  ["too many resamples", [scored([1]), scored([1]), { resamples: 1e7 }], { path: "options: resamples" }],
  ["a fractional seed", [scored([1]), scored([1]), { seed: 0.5 }], { path: "options: seed" }],
  ["a confidence of one", [scored([1]), scored([1]), { confidence: 1 }], { path: "options: confidence" }],
  [
    "a getter that throws",
    [scored([1]), Object.defineProperty(scored([1]), "evalCaseResults", { get: () => assert.fail() })],
    { code: "invalid_input", path: "current" },
  ],
]) {
  test(`is an error: ${name}`, () => {
    assert.throws(
      () => compareRuns(...args),
      (error) => {
        assert.ok(error instanceof AdkMetricsError, String(error?.stack));
        for (const [key, value] of Object.entries(wanted)) {
          if (value instanceof RegExp) assert.match(error[key], value);
          else assert.equal(error[key], value);
        }
        return true;
      },
    );
  });
}

// ---- reports

const sample = () =>
  compareRuns(
    setOf([
      caseOf("broken", { quality: 0.9, token_usage_v1: [INFORMATIONAL, 1200] }, { turns: [{ quality: 0.9 }] }),
      caseOf("fixed", { quality: 0.1, token_usage_v1: [INFORMATIONAL, 800] }),
      caseOf("steady", { quality: 0.7, token_usage_v1: [INFORMATIONAL, 900] }),
      caseOf("left", { quality: 1 }),
    ]),
    setOf([
      caseOf("broken", { quality: 0.2, token_usage_v1: [INFORMATIONAL, 1100] }, { turns: [{ quality: 0.2 }] }),
      caseOf("fixed", { quality: 1, token_usage_v1: [INFORMATIONAL, 800] }),
      caseOf("steady", { quality: 0.7, token_usage_v1: [INFORMATIONAL, 900] }),
    ]),
  );

test("a table shows metrics, then what changed, then where it got worse", () => {
  const table = report.renderComparisonTable(sample());
  assert.match(table, /^set {2}3 cases: 1 regressed, 1 fixed, 1 unchanged\n/);
  assert.match(table, /\n {2}note: cases in the baseline only: left\n/);
  assert.match(table, /\n {2}quality +3 +0\.5667 +0\.6333 +\+0\.0667 +-0\.\d{4} … \+0\.\d{4} +unclear\n/);
  assert.match(table, /\n {2}tokens +3 +966\.7 +933\.3 +-33\.3 +-100 … 0 +unclear\n/);
  assert.match(table, /\n {2}✗ broken +quality +0\.9000 +0\.2000 +-0\.7000 +passed → failed\n/);
  assert.match(table, /\n✗ broken\n {2}passed → failed\n {2}quality: 0\.9000 → 0\.2000, passed → failed\n {4}turn 1: /);
  assert.match(table, /\n1 regression in 3 cases\n$/);
  assert.doesNotMatch(table, /steady|\u001b/);
  assert.match(
    report.renderComparisonTable(sample(), { color: true }),
    /\u001b\[31;1m1 regression in 3 cases\u001b\[0m/,
  );
});

test("Markdown shows the same", () => {
  const markdown = report.renderComparisonMarkdown([sample(), sample()]);
  assert.match(markdown, /^## ❌ Comparison with the baseline: 2 regressions in 6 cases of 2 evalsets\n/);
  assert.match(
    markdown,
    /\n\| <code>quality<\/code> \| 3 \| 0\.5667 \| 0\.6333 \| \+0\.0667 \| .* \| 1 \| 1 \| unclear \|\n/,
  );
  assert.match(markdown, /<details><summary>❌ <code>broken<\/code> passed → failed<\/summary>/);
  assert.match(markdown, /\n- Turn 1: 0\.9000 → 0\.2000, passed → failed\n/);
  assert.match(
    report.renderComparisonMarkdown(compareRuns(scored([1]), scored([1]))),
    /^## ✅ .* no regression in 1 case\n/,
  );
});

test("Markdown keeps within its limits and says what it left out", () => {
  const [before, after] = [1, 0].map((score) => scored(Array(3000).fill(score)));
  const comparison = compareRuns(before, after, { resamples: 100 });
  const markdown = report.renderComparisonMarkdown(comparison, { maxBytes: 20_000 });
  assert.ok(Buffer.byteLength(markdown) <= 20_000);
  assert.match(markdown, /sections left out to keep within 20,000 bytes/);
  assert.match(report.renderComparisonMarkdown(comparison, { maxRows: 5 }), /… and 2,995 more cases\./);
});

test("CSV has a row for each case, metric and changed turn", () => {
  const [header, ...rows] = report.renderComparisonCsv(sample()).trimEnd().split("\r\n");
  assert.equal(
    header,
    "evalSetId,evalId,turn,metricName,change,baselineScore,currentScore,difference,baselineThreshold,currentThreshold,baselineStatus,currentStatus",
  );
  assert.equal(rows[0], "set,broken,,,regressed,,,,,,passed,failed");
  assert.equal(rows[2], "set,broken,1,quality,,0.9,0.2,-0.7,0.5,0.5,passed,failed");
  assert.equal(rows.length, 3 * 3 + 1);
});

test("JSON is the comparison itself", () => {
  assert.deepEqual(JSON.parse(report.renderComparisonJson(sample())), sample());
  assert.deepEqual(JSON.parse(report.renderComparisonJson([sample()])), [sample()]);
});

test("text of results is inert in every format", () => {
  const attack =
    '=1+1\u001b]0;owned\u0007\u009b31m\u202e</summary><script>alert(1)</script>|`*[a](javascript:b)`"\n# heading\r\n@cmd';
  const run = (score, more) => ({
    ...setOf(
      [
        caseOf(attack, { [attack]: score }, { turns: [{ [attack]: score }], reason: attack }),
        caseOf(`${attack}${more}`, { [attack]: 1, [`${attack}${more}`]: 1 }),
      ],
      { evalSetId: `${attack}${more}` },
    ),
    judges: [{ metricName: attack, scoredBy: "judge", model: `${attack}${more}` }],
  });
  const comparison = compareRuns(run(1, "a"), run(0, "b"));
  const table = report.renderComparisonTable(comparison, { details: true });
  assert.doesNotMatch(table, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.ok(table.split("\n").every((line) => [...line].length <= 100));
  const markdown = report.renderComparisonMarkdown(comparison);
  assert.doesNotMatch(
    markdown,
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e`]|<script|\n# |\]\(|javascript:/,
  );
  const tags = new Set([...markdown.matchAll(/<\/?[a-z]+/g)].map(([tag]) => tag.replace("/", "")));
  assert.deepEqual([...tags].sort(), ["<code", "<details", "<summary"]);
  const csv = report.renderComparisonCsv(comparison);
  assert.doesNotMatch(csv, /(?:^|,|\r\n)"?[=@+]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.ok(csv.includes("\"'=1+1"));
  const json = report.renderComparisonJson(comparison);
  assert.doesNotMatch(json, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.deepEqual(JSON.parse(json), comparison);
});

test("what is no comparison is an error", () => {
  for (const render of Object.values(report).filter(isOfComparison)) {
    for (const wrong of [undefined, 3, {}, scored([1]), [sample(), null]]) {
      assert.throws(() => render(wrong), { name: "AdkMetricsError", code: "invalid_input" });
    }
  }
});

test("every status is known to every format", () => {
  for (const before of STATUSES) {
    for (const after of STATUSES) {
      const [one, other] = [before, after].map((status) => setOf([caseOf("a", { m: [status, 1] })]));
      const comparison = compareRuns(one, other);
      for (const render of Object.values(report).filter(isOfComparison)) {
        assert.doesNotMatch(render(comparison), /undefined|NaN/);
      }
    }
  }
});

/** How often functions that are given to the methods of arrays are called, and maps are looked into. */
function workOf(act) {
  let number = 0;
  const counted = (owner, name, wrap) => {
    const own = owner[name];
    owner[name] = function (...given) {
      return own.apply(this, wrap(given));
    };
    return () => (owner[name] = own);
  };
  const callbacks = ([callback, ...rest]) => {
    if (typeof callback !== "function") return [callback, ...rest];
    const one = (...given) => {
      number += 1;
      return callback(...given);
    };
    return [one, ...rest];
  };
  const looks = (given) => {
    number += 1;
    return given;
  };
  const undo = ["sort", "filter", "find", "map", "flatMap", "some", "every", "reduce"].map((name) =>
    counted(Array.prototype, name, callbacks),
  );
  undo.push(counted(Map.prototype, "get", looks));
  try {
    act();
  } finally {
    for (const one of undo) one();
  }
  return number;
}

const GROWING = {
  "runs and turns of one case": (size) => {
    const turns = Array.from({ length: size }, () => ({}));
    return [caseOf("a", { quality: 1 }, { turns }), ...turns.map(() => caseOf("a", { quality: 1 }))];
  },
  "cases, each with a metric of its own": (size) =>
    Array.from({ length: size }, (_, at) => caseOf(`case ${at}`, { [`metric ${at}`]: 1 })),
  "runs that disagree, each with a metric of its own": (size) =>
    Array.from({ length: size }, (_, at) => caseOf("a", { [`metric ${at}`]: at % 2 })),
};

for (const [name, cases] of Object.entries(GROWING)) {
  test(`the work for ${name} grows with their number`, () => {
    const [some, twice] = [200, 400].map((size) => {
      const run = setOf(cases(size));
      return workOf(() => compareRuns(run, run, { resamples: 100 }));
    });
    assert.ok(twice < 2.5 * some, `${some}, then ${twice}`);
  });
}

test("the work for a report grows with the number of cases, each with a metric of its own", () => {
  for (const render of Object.values(report).filter(isOfComparison)) {
    const [some, twice] = [200, 400].map((size) => {
      const [before, after] = [1, 0].map((score) =>
        setOf(Array.from({ length: size }, (_, at) => caseOf(`case ${at}`, { [`metric ${at}`]: score }))),
      );
      const comparison = compareRuns(before, after, { resamples: 100 });
      return workOf(() => render(comparison));
    });
    assert.ok(twice < 2.5 * some, `${some}, then ${twice}`);
  }
});

test("150000 runs of one case are compared", () => {
  const run = setOf(Array.from({ length: 150_000 }, () => caseOf("a", { quality: 1 })));
  assert.equal(compareRuns(run, run).baseline.runs, 150_000);
});
