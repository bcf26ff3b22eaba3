/** How passes and metrics differ over all cases, and whether that may be chance. */

import { EvalStatus } from "../enums.js";
import { scoreRange } from "../metric-info.js";
import { detectableDifference, holm, meanTest } from "../statistics/significance.js";
import type {
  CaseComparison,
  CaseMetricComparison,
  ComparedScore,
  MetricChange,
  MetricComparison,
  PassComparison,
  PassCounts,
  VerdictChanges,
} from "../types.js";
import { type Bootstrap, meanInterval } from "../statistics/bootstrap.js";
import { type CommonMetric, mean } from "./cases.js";
import type { StoredCase, StoredRun } from "./read.js";
import { definedProperties } from "../lists.js";

const { PASSED, FAILED, NOT_EVALUATED } = EvalStatus;

/** How often cases pass, over all of their runs. */
export function passComparison(
  before: StoredRun,
  after: StoredRun,
  evalIds: readonly string[],
  bootstrap: Bootstrap,
): PassComparison {
  const pairs = evalIds
    .map(
      (evalId) => [before, after].map(({ cases }) => passCounts(cases.get(evalId) ?? [])) as [PassCounts, PassCounts],
    )
    .filter((sides) => sides.every(({ runs }) => runs > 0));
  const rates = pairs.map((sides) => sides.map(({ passed, runs }) => passed / runs) as [number, number]);
  const differences = rates.map(([old, now]) => now - old);
  const better = differences.filter((one) => one > 0).length;
  const worse = differences.filter((one) => one < 0).length;
  const interval = meanInterval(Float64Array.from(differences), bootstrap);
  const chance = meanTest(differences);
  const detectable = detectableDifference(differences, bootstrap.confidence);
  const [baselineRate, currentRate, difference] = [
    mean(rates.map(([old]) => old)),
    mean(rates.map(([, now]) => now)),
    mean(differences),
  ];
  return {
    baseline: sumOf(pairs.map(([old]) => old)),
    current: sumOf(pairs.map(([, now]) => now)),
    change: changeOverCases(better + worse, pairs.length, interval, chance, bootstrap),
    compared: pairs.length,
    better,
    worse,
    ...definedProperties({ baselineRate, currentRate, difference, interval }),
    chance,
    ...(detectable === undefined ? {} : { detectable }),
  };
}

function passCounts(runs: readonly StoredCase[]): PassCounts {
  const passed = runs.filter(({ status }) => status === PASSED).length;
  return { runs: passed + runs.filter(({ status }) => status === FAILED).length, passed };
}

function sumOf(counts: readonly PassCounts[]): PassCounts {
  const all = { runs: 0, passed: 0 };
  for (const { runs, passed } of counts) {
    all.runs += runs;
    all.passed += passed;
  }
  return all;
}

export function metricComparisons(
  cases: readonly CaseComparison[],
  metrics: readonly CommonMetric[],
  bootstrap: Bootstrap,
): MetricComparison[] {
  const byName = new Map<string, CaseMetricComparison[]>(metrics.map(({ metricName }) => [metricName, []]));
  for (const one of cases) for (const metric of one.metrics) byName.get(metric.metricName)?.push(metric);
  const compared = metrics.map((metric) => metricComparison(byName.get(metric.metricName) ?? [], metric, bootstrap));
  // Whether the agent is better and whether it is cheaper are two questions, each with a family of tests of its own.
  for (const isScored of [true, false])
    decide(
      compared.filter(({ verdicts }) => (verdicts !== undefined) === isScored),
      bootstrap,
    );
  return compared;
}

/**
 * Says which of several metrics changed for sure. Where no case changed there is nothing to test, so that such a metric does
 * not count among those that may differ by chance (R. E. Tarone, 1990).
 */
function decide(metrics: readonly MetricComparison[], bootstrap: Bootstrap): void {
  const tested = metrics.filter(({ chance, better, worse }) => chance !== undefined && better + worse > 0);
  const corrected = holm(tested.map(({ chance = 1 }) => chance));
  for (const [at, metric] of tested.entries()) metric.correctedChance = corrected[at] as number;
  for (const metric of metrics) {
    const { better, worse, compared, interval, correctedChance, goal } = metric;
    const change = changeOverCases(better + worse, compared, interval, correctedChance, bootstrap);
    metric.change = goal === "higher" ? change : (OPPOSITE[change] ?? change);
  }
}

const OPPOSITE: Partial<Record<MetricChange, MetricChange>> = { better: "worse", worse: "better" };

function metricComparison(
  results: readonly CaseMetricComparison[],
  { metricName, isInformational, isLower }: CommonMetric,
  bootstrap: Bootstrap,
): MetricComparison {
  const pairs = results.filter(({ difference }) => difference !== undefined);
  const differences = pairs.map(({ difference }) => difference ?? 0);
  const rose = differences.filter((one) => one > 0).length;
  const fell = differences.filter((one) => one < 0).length;
  const interval = meanInterval(Float64Array.from(differences), bootstrap);
  const baselineMean = mean(pairs.map(({ baseline }) => baseline?.score ?? 0));
  const currentMean = mean(pairs.map(({ current }) => current?.score ?? 0));
  const difference = mean(differences);
  const chance = interval === undefined ? undefined : meanTest(differences);
  const size = interval === undefined ? undefined : detectableDifference(differences, bootstrap.confidence);
  const [least, most] = scoreRange(metricName) ?? [0, Infinity];
  // None that the metric's scale has no room for.
  const detectable = size !== undefined && size <= most - least ? size : undefined;
  const isScored = (one: ComparedScore | undefined, other: ComparedScore | undefined) =>
    one?.score !== undefined && other?.score === undefined;
  return {
    metricName,
    goal: isLower ? "lower" : "higher",
    change: "unclear",
    compared: pairs.length,
    better: isLower ? fell : rose,
    worse: isLower ? rose : fell,
    unchanged: pairs.length - rose - fell,
    onlyBaseline: results.filter(({ baseline, current }) => isScored(baseline, current)).length,
    onlyCurrent: results.filter(({ baseline, current }) => isScored(current, baseline)).length,
    ...definedProperties({ baselineMean, currentMean, difference, interval, chance, detectable }),
    ...(isInformational ? {} : { verdicts: verdictChanges(results) }),
  };
}

/**
 * Whether what rises got better for sure, over all cases. An interval without 0 is not enough: the bootstrap takes a handful
 * of values for all there is, and is too sure of them.
 */
function changeOverCases(
  changed: number,
  compared: number,
  interval: MetricComparison["interval"],
  chance: number | undefined,
  { confidence }: Bootstrap,
): MetricChange {
  if (compared > 0 && changed === 0) return "unchanged";
  if (interval === undefined || chance === undefined || chance > 1 - confidence + 1e-12) return "unclear";
  if (interval.low > 0) return "better";
  return interval.high < 0 ? "worse" : "unclear";
}

function verdictChanges(results: readonly CaseMetricComparison[]): VerdictChanges {
  const times = (from: EvalStatus, to: EvalStatus) =>
    results.filter(
      ({ baseline, current }) =>
        (baseline?.status ?? NOT_EVALUATED) === from && (current?.status ?? NOT_EVALUATED) === to,
    ).length;
  return {
    passedToFailed: times(PASSED, FAILED),
    passedToNotEvaluated: times(PASSED, NOT_EVALUATED),
    failedToPassed: times(FAILED, PASSED),
    failedToNotEvaluated: times(FAILED, NOT_EVALUATED),
    notEvaluatedToPassed: times(NOT_EVALUATED, PASSED),
    notEvaluatedToFailed: times(NOT_EVALUATED, FAILED),
  };
}
