// Two runs compared: how much means changed and how sure that is, and what holds for any two runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";
import { caseOf, isOfComparison, only, scored, setOf } from "./support/comparisons.mjs";

const { compareRuns, EvalStatus } = await importEntry();
const report = await importEntry("./report");
const { INFORMATIONAL } = EvalStatus;

/** Numbers from 0 up and below 1, the same in every run. */
function* numbers(seed) {
  for (let state = BigInt(seed); ;) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    yield Number(state >> 40n) / 2 ** 24;
  }
}

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

/** The tails of the expanded percentile interval, by scipy: norm.cdf(-sqrt(n / (n - 1)) * t.ppf((1 + confidence) / 2, n - 1)). */
const TAILS = {
  "2, 0.95": 1.6952190726058738e-72,
  "3, 0.9": 0.0001742875871065282,
  "30, 0.9": 0.04197851349197925,
  "12, 0.99": 0.0005895068104319301,
  "40, 0.5": 0.24525247063723116,
  "7, 0.999999": 2.7767476525858172e-104,
  "150, 0.8": 0.09825277685898515,
};

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
  const k = Math.max(1, Math.floor((resamples + 1) * TAILS[`${differences.length}, ${confidence}`]));
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
  // The tail of four cases is 0.00012 < P(K = 4) = 1/256, so the interval reaches from -0.4 to 0, as P(K = 0) = 81/256.
  const { interval, baselineMean, currentMean, difference } = only(
    compareRuns(scored([0.5, 0.5, 0.5, 0.5]), scored([0.1, 0.5, 0.5, 0.5])),
  );
  assert.ok(Math.abs(interval.low - -0.4) < 1e-12, String(interval.low));
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

/** A run of cases, each with as many runs as letters: `p` passed, `f` failed, `n` was not evaluated. */
const runs = (...cases) =>
  setOf(
    cases.flatMap((letters, at) =>
      [...letters].map((letter) => caseOf(`c${at}`, { quality: { p: 1, f: 0, n: undefined }[letter] })),
    ),
  );

test("passes are compared over all runs, each case counting alike", () => {
  const { passes } = compareRuns(runs("pppp", "pp", "fp", "nn"), runs("ppff", "pn", "ff", "pp"));
  const { interval, detectable, chance, ...rest } = passes;
  assert.deepEqual(rest, {
    baseline: { runs: 8, passed: 7 },
    current: { runs: 7, passed: 3 },
    change: "unclear",
    compared: 3,
    better: 0,
    worse: 2,
    baselineRate: (1 + 1 + 0.5) / 3,
    currentRate: (0.5 + 1 + 0) / 3,
    difference: -1 / 3,
  });
  assert.ok(Math.abs(chance - 0.5) < 1e-12, String(chance));
  assert.deepEqual(interval, { low: -0.5, high: 0 });
  // Three cases with one sign are no news.
  assert.equal(detectable, undefined);
  const more = compareRuns(runs(...Array(10).fill("pp")), runs("pf", "ff", ...Array(8).fill("pp"))).passes;
  // Two cases get worse by different amounts, so Student's test decides: (2.262 + 0.883) times the standard error.
  assert.ok(Math.abs(more.detectable - 0.33569) < 1e-4, String(more.detectable));
  assert.equal(more.chance, 0.5, "two cases of one sign are no news");
});

test("passes and a metric that says the same change as surely, also over several runs", () => {
  const cases = ["ppp", "ppp", "ppp", "ppp", "ppp", "ppp", "ppp", "ppf", "ppf", "ppf"];
  const later = ["pff", "fff", "pff", "ppf", "pff", "ppp", "pff", "ppf", "fff", "ppp"];
  const scored = (list) =>
    setOf(list.flatMap((found, at) => [...found].map((one) => caseOf(`c${at}`, { quality: one === "p" ? 1 : 0 }))));
  const { passes, metrics } = compareRuns(scored(cases), scored(later));
  const [{ chance, detectable, change }] = metrics;
  assert.deepEqual([passes.chance, passes.detectable, passes.change], [chance, detectable, change]);
});

test("passes change for sure by the exact sign test", () => {
  const change = (failing) =>
    compareRuns(runs(...Array(10).fill("p")), runs(...Array(failing).fill("f"), ...Array(10 - failing).fill("p")))
      .passes.change;
  assert.deepEqual([0, 5, 6].map(change), ["unchanged", "unclear", "worse"]);
});

test("nothing is said of passes where nothing was evaluated", () => {
  const { passes } = compareRuns(runs("n"), runs("p"));
  assert.equal(passes.compared, 0);
  assert.equal("difference" in passes || "interval" in passes, false);
});

/** A run of ten cases whose metrics, named by letters, have these scores in the first `lost` of them and 0.9 in others. */
const lost = (losses) =>
  setOf(
    Array.from({ length: 10 }, (_, at) =>
      caseOf(`c${at}`, Object.fromEntries(losses.map((count, metric) => [`m${metric}`, at < count ? 0.7 : 0.9]))),
    ),
  );

test("a metric that changed for sure among few did not among many", () => {
  const alone = compareRuns(lost([0]), lost([6]));
  assert.deepEqual([only(alone).change, only(alone).chance], ["worse", only(alone).correctedChance]);
  assert.ok(Math.abs(only(alone).chance - 2 ** -5) < 1e-12);
  const losses = [6, 10, 1, 1, 1, 0];
  const among = compareRuns(lost(Array(6).fill(0)), lost(losses));
  assert.deepEqual(
    among.metrics.map(({ change }) => change),
    ["unclear", "worse", "unclear", "unclear", "unclear", "unchanged"],
  );
  // The metric without a change is none of those that may differ by chance: four others are left after the surest.
  assert.ok(Math.abs(among.metrics[0].correctedChance - 4 / 32) < 1e-12);
  assert.equal("correctedChance" in among.metrics[5], false);
  assert.deepEqual(among.notes, ["5 metrics changed; among so many, some differ by chance alone, perhaps also: m0"]);
  assert.deepEqual(alone.notes, []);
});

test("metrics that decide and informational ones are corrected apart", () => {
  const informing = (set) => {
    const all = structuredClone(set);
    for (const { overallEvalMetricResults } of all.evalCaseResults) {
      for (const result of overallEvalMetricResults) {
        if (["m2", "m3", "m4"].includes(result.metricName)) result.evalStatus = INFORMATIONAL;
      }
    }
    return all;
  };
  const { metrics, notes } = compareRuns(informing(lost([0, 0, 0, 0, 0])), informing(lost([6, 7, 6, 8, 10])));
  const near = (chance) => Number((chance * 512).toFixed(6));
  // Signs alike in m of ten cases are 2¹⁻ᵐ by chance. Two metrics decide: 2 · 2⁻⁶, which is also the least of the other, 2⁻⁵.
  assert.deepEqual(
    metrics.map(({ metricName, goal, chance, correctedChance, change }) => [
      `${metricName} ${goal}`,
      near(chance),
      near(correctedChance),
      change,
    ]),
    [
      ["m0 higher", 16, 16, "worse"],
      ["m1 higher", 8, 16, "worse"],
      ["m2 lower", 16, 16, "better"],
      ["m3 lower", 4, 8, "better"],
      ["m4 lower", 1, 3, "better"],
    ],
  );
  assert.deepEqual(notes, []);
});
