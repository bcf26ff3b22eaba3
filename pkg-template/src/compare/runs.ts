/** How two runs of an evalset differ: case by case, turn by turn, and metric by metric over all cases. */

import { checkOptions } from "../known-options.js";
import { reading, unexpected } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import { UNITS } from "../generated/metrics.js";
import type {
  CaseComparison,
  CaseMetricComparison,
  ComparedCase,
  ComparedRun,
  ComparedScore,
  CompareOptions,
  EvalSetResult,
  Input,
  MetricChange,
  MetricComparison,
  PassComparison,
  PassCounts,
  ResultChange,
  RunComparison,
  ThresholdChange,
  TurnComparison,
  VerdictChanges,
} from "../types.js";
import { detectableDifference, holm, meanTest, signTest } from "../statistics/significance.js";
import { type Bootstrap, meanInterval } from "./bootstrap.js";
import { lostVerdicts, notesOf, tooMany } from "./notes.js";
import { readRun, type StoredCase, type StoredRun, type StoredScore } from "./read.js";

const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;

/**
 * Compares a run with a baseline: which cases regressed, by how much each metric's mean changed and whether that may be
 * chance.
 *
 * Cases belong together by eval id, metrics by name (ADK-TS's old names stand for today's). A case that was run
 * repeatedly counts once, with the mean of its scores. Scores that differ by less than a billionth of their size are
 * equal.
 *
 * The confidence interval of a metric's difference is a paired percentile bootstrap over the cases (Efron and
 * Tibshirani 1993, chapter 13): O(resamples · cases) time for each metric, about a second for 10,000 cases. Equal
 * inputs give equal results. A metric got better or worse if its interval leaves out 0 and chance makes such a difference
 * rarely enough among as many metrics as there are (`docs/statistics.md`).
 *
 * Informational metrics (calls, tokens, seconds) are compared as well, where less is better, but regress no case.
 * Cases and metrics that only one run has are listed and not compared.
 *
 * @param baseline The results to compare with: what `evaluate` resolves to, or ADK's evalset results in any spelling as
 * an object, JSON text or bytes; results of any size as chunks of bytes.
 * @param current The results to compare, likewise.
 * @throws {AdkMetricsError} for what is no result, options that cannot be, and runs without a case in common.
 *
 * @example
 * const { hasRegressions, cases } = compareRuns(await readFile("main.evalset_result.json"), await evaluate(request));
 * if (hasRegressions) console.error(cases.filter(({ change }) => change === "regressed").map(({ evalId }) => evalId));
 */
export function compareRuns(
  baseline: Input<EvalSetResult> | Iterable<Uint8Array>,
  current: Input<EvalSetResult> | Iterable<Uint8Array>,
  options: CompareOptions = {},
): RunComparison {
  const bootstrap = bootstrapOf(options);
  const [before, after] = [readRun(baseline, "baseline"), readRun(current, "current")];
  const evalIds = [...before.cases.keys()].filter((evalId) => after.cases.has(evalId));
  if (evalIds.length === 0) throw nothingInCommon(before, after);
  const metrics = commonMetrics(before, after);
  const order = new Map(metrics.map(({ key }, at) => [key, at]));
  const cases = evalIds.map((evalId) => caseComparison(evalId, before, after, metrics, order));
  const counts = { regressed: 0, worse: 0, changed: 0, fixed: 0, better: 0, unchanged: 0 };
  for (const { change } of cases) counts[change] += 1;
  const compared = metricComparisons(cases, metrics, bootstrap);
  return {
    baseline: comparedRun(before),
    current: comparedRun(after),
    hasRegressions: counts.regressed > 0,
    counts,
    passes: passComparison(before, after, evalIds, bootstrap),
    metrics: compared,
    cases: worstFirst(cases, metrics),
    addedCases: without(after.cases, before.cases),
    removedCases: without(before.cases, after.cases),
    addedMetrics: without(after.metricNames, before.metricNames).map((key) => after.metricNames.get(key) ?? key),
    removedMetrics: without(before.metricNames, after.metricNames).map((key) => before.metricNames.get(key) ?? key),
    thresholdChanges: thresholdChanges(cases),
    notes: [...notesOf(before, after), ...lostVerdicts(cases, metrics), ...tooMany(compared, bootstrap)],
    bootstrap,
  };
}

const OPTION_KEYS: Readonly<Record<keyof CompareOptions, true>> = { resamples: true, seed: true, confidence: true };

function bootstrapOf(options: CompareOptions): Bootstrap {
  checkOptions(options, Object.keys(OPTION_KEYS));
  return reading("options", () => {
    const { resamples = 10_000, seed = 0, confidence = 0.95 } = options;
    if (!Number.isSafeInteger(resamples) || resamples < 100 || resamples > 1_000_000) {
      throw unexpected("a whole number from 100 to 1,000,000", resamples, "options: resamples");
    }
    if (!Number.isSafeInteger(seed)) throw unexpected("a whole number", seed, "options: seed");
    if (typeof confidence !== "number" || !(confidence >= 0.5 && confidence < 1)) {
      throw unexpected("a number from 0.5 up and below 1", confidence, "options: confidence");
    }
    return { resamples, seed, confidence };
  });
}

function nothingInCommon(before: StoredRun, after: StoredRun): AdkMetricsError {
  const some = ({ cases }: StoredRun) => {
    if (cases.size === 0) return "no case";
    const first = [...cases.keys()].slice(0, 3).map((evalId) => `\`${evalId.slice(0, 80)}\``);
    return `${first.join(", ")}${cases.size > first.length ? ", …" : ""}`;
  };
  return new AdkMetricsError("invalid_input", "the two runs have no case in common", {
    path: "current",
    help: `Cases belong together by eval id. The baseline has ${some(before)}; the current run has ${some(after)}`,
  });
}

/** A metric that both runs have. */
export interface CommonMetric {
  key: string;
  metricName: string;
  isInformational: boolean;
}

function commonMetrics(before: StoredRun, after: StoredRun): CommonMetric[] {
  const informing = new Set<string>(Object.keys(UNITS));
  const judging = new Set<string>();
  for (const { cases } of [before, after]) {
    for (const runs of cases.values()) {
      for (const { scores } of runs) {
        for (const [key, { status }] of scores) {
          if (status === INFORMATIONAL) informing.add(key);
          else if (status !== NOT_EVALUATED) judging.add(key);
        }
      }
    }
  }
  return [...after.metricNames]
    .filter(([key]) => before.metricNames.has(key))
    .map(([key, metricName]) => ({ key, metricName, isInformational: informing.has(key) && !judging.has(key) }));
}

function comparedRun({ evalSetId, evalSetResultId, creationTimestamp, cases, stamps }: StoredRun): ComparedRun {
  const counts = { total: cases.size, passed: 0, failed: 0, notEvaluated: 0 };
  let runs = 0;
  for (const one of cases.values()) {
    const status = statusOfCase(one, stamps.advisory);
    if (status === PASSED) counts.passed += 1;
    else if (status === FAILED) counts.failed += 1;
    else counts.notEvaluated += 1;
    runs += one.length;
  }
  return {
    evalSetId,
    evalSetResultId,
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    cases: counts,
    runs,
  };
}

function without(these: ReadonlyMap<string, unknown>, those: ReadonlyMap<string, unknown>): string[] {
  return [...these.keys()].filter((key) => !those.has(key));
}

function caseComparison(
  evalId: string,
  before: StoredRun,
  after: StoredRun,
  metrics: readonly CommonMetric[],
  order: ReadonlyMap<string, number>,
): CaseComparison {
  const [old, now] = [before.cases.get(evalId) ?? [], after.cases.get(evalId) ?? []];
  const baseline = comparedCase(old, before.stamps.advisory);
  const current = comparedCase(now, after.stamps.advisory);
  const found = [foundIn(old), foundIn(now)] as const;
  const keys = new Set(found.flatMap((one) => [...one.keys()]));
  const positions = [...keys].flatMap((key) => order.get(key) ?? []).sort((a, b) => a - b);
  const changes = new Set<ResultChange>();
  const compared: CaseMetricComparison[] = [];
  for (const position of positions) {
    const metric = metrics[position] as CommonMetric;
    const one = metricInCase(found[0].get(metric.key), found[1].get(metric.key), metric);
    if (one === undefined) continue;
    compared.push(one);
    if (!metric.isInformational) changes.add(one.change);
  }
  const change =
    baseline.status === current.status ? changeWithin(changes) : changeOf(baseline.status, current.status, 0);
  return { evalId, change, baseline, current, metrics: compared };
}

/** What became of a case whose verdict is the same, from what became of its metrics: the worst of it. */
function changeWithin(changes: ReadonlySet<ResultChange>): ResultChange {
  if (changes.has("regressed") || changes.has("worse")) return "worse";
  if (changes.has("changed")) return "changed";
  return changes.has("fixed") || changes.has("better") ? "better" : "unchanged";
}

const WORST_FIRST: readonly ResultChange[] = ["regressed", "worse", "changed", "fixed", "better", "unchanged"];

/** What became of a result. `gain` is by how much it got better: the difference of scores, or less the amount grew. */
function changeOf(before: EvalStatus, after: EvalStatus, gain: number): ResultChange {
  if (before !== after) return before === PASSED ? "regressed" : after === PASSED ? "fixed" : "changed";
  return gain < 0 ? "worse" : gain > 0 ? "better" : "unchanged";
}

function comparedCase(runs: readonly StoredCase[], advisory: ReadonlySet<string>): ComparedCase {
  const reason = runs.find((run) => run.reason !== undefined)?.reason;
  return {
    status: statusOfCase(runs, advisory),
    runs: runs.length,
    passedRuns: runs.filter(({ status }) => status === PASSED).length,
    ...(reason === undefined ? {} : { reason }),
  };
}

/**
 * The status of a case over its runs. Where they disagree: FAILED if a run could not be scored or a metric failed by
 * the mean of its scores, else PASSED if one passed, else NOT_EVALUATED.
 */
function statusOfCase(runs: readonly StoredCase[], advisory: ReadonlySet<string>): EvalStatus {
  const first = runs[0]?.status ?? NOT_EVALUATED;
  if (runs.every(({ status }) => status === first)) return first;
  if (runs.some(({ status, scores }) => status === FAILED && scores.size === 0)) return FAILED;
  const statuses = [...foundIn(runs)].flatMap(([key, { scores }]) =>
    advisory.has(key) ? [] : comparedScore(scores)?.status,
  );
  if (statuses.includes(FAILED)) return FAILED;
  return statuses.includes(PASSED) ? PASSED : NOT_EVALUATED;
}

/** What a metric found in the runs of a case, in their order. */
interface Found {
  scores: StoredScore[];
  /** Those of turns that have a result, by their numbers. */
  turns: Map<number, StoredScore[]>;
}

/** What each metric found in the runs of a case. O(n) in the results. */
function foundIn(runs: readonly StoredCase[]): Map<string, Found> {
  const found = new Map<string, Found>();
  const of = (key: string) => {
    const known = found.get(key) ?? { scores: [], turns: new Map<number, StoredScore[]>() };
    found.set(key, known);
    return known;
  };
  for (const { scores, turns } of runs) {
    for (const [key, score] of scores) of(key).scores.push(score);
    for (const [at, turn] of turns.entries()) {
      for (const [key, score] of turn) {
        const ofTurns = of(key).turns;
        const known = ofTurns.get(at);
        if (known === undefined) ofTurns.set(at, [score]);
        else known.push(score);
      }
    }
  }
  return found;
}

/** What a metric found over several runs; undefined if none has a result. */
function comparedScore(found: readonly StoredScore[] = []): ComparedScore | undefined {
  const [first] = found;
  if (first === undefined) return undefined;
  const score = mean(found.flatMap((result) => result.score ?? []));
  const threshold = found.find((result) => result.threshold !== undefined)?.threshold;
  const reason = found.find((result) => result.reason !== undefined)?.reason;
  return {
    ...(score === undefined ? {} : { score }),
    status: found.every(({ status }) => status === first.status) ? first.status : jointStatus(found, score, threshold),
    ...(threshold === undefined ? {} : { threshold }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The status of runs that disagree: that of their mean; without a threshold the worst. */
function jointStatus(
  results: readonly StoredScore[],
  score: number | undefined,
  threshold: number | undefined,
): EvalStatus {
  if (score !== undefined && threshold !== undefined) return score >= threshold ? PASSED : FAILED;
  return [FAILED, NOT_EVALUATED, PASSED].find((one) => results.some(({ status }) => status === one)) ?? INFORMATIONAL;
}

/** The mean; undefined for no values and where the sum overflows. */
function mean(values: readonly number[]): number | undefined {
  const sum = values.reduce((total, value) => total + value, 0);
  return values.length > 0 && Number.isFinite(sum) ? sum / values.length : undefined;
}

/** Current minus baseline, without what rounding alone can make of means of other numbers of runs. */
function differenceOf(before: ComparedScore | undefined, after: ComparedScore | undefined): number | undefined {
  if (before?.score === undefined || after?.score === undefined) return undefined;
  const difference = after.score - before.score;
  const size = Math.max(1, Math.abs(before.score), Math.abs(after.score));
  if (!Number.isFinite(difference)) return undefined;
  return Math.abs(difference) <= 1e-9 * size ? 0 : difference;
}

function metricInCase(
  before: Found | undefined,
  after: Found | undefined,
  { metricName, isInformational }: CommonMetric,
): CaseMetricComparison | undefined {
  const baseline = comparedScore(before?.scores);
  const current = comparedScore(after?.scores);
  if (baseline === undefined && current === undefined) return undefined;
  const difference = differenceOf(baseline, current);
  const gain = (difference ?? 0) * (isInformational ? -1 : 1);
  return {
    metricName,
    change: changeOf(baseline?.status ?? NOT_EVALUATED, current?.status ?? NOT_EVALUATED, gain),
    ...(baseline === undefined ? {} : { baseline }),
    ...(current === undefined ? {} : { current }),
    ...(difference === undefined ? {} : { difference }),
    turns: changedTurns(before?.turns, after?.turns),
  };
}

function changedTurns(before: Found["turns"] = new Map(), after: Found["turns"] = new Map()): TurnComparison[] {
  const turns = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b);
  const changed: TurnComparison[] = [];
  for (const invocationIndex of turns) {
    const baseline = comparedScore(before.get(invocationIndex));
    const current = comparedScore(after.get(invocationIndex));
    const difference = differenceOf(baseline, current);
    if (baseline?.status === current?.status && (difference ?? 0) === 0) continue;
    changed.push({
      invocationIndex,
      ...(baseline === undefined ? {} : { baseline }),
      ...(current === undefined ? {} : { current }),
      ...(difference === undefined ? {} : { difference }),
    });
  }
  return changed;
}

/** How often cases pass, over all of their runs. */
function passComparison(
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
  const chance = signTest(better, worse);
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
    ...(baselineRate === undefined ? {} : { baselineRate }),
    ...(currentRate === undefined ? {} : { currentRate }),
    ...(difference === undefined ? {} : { difference }),
    ...(interval === undefined ? {} : { interval }),
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

function metricComparisons(
  cases: readonly CaseComparison[],
  metrics: readonly CommonMetric[],
  bootstrap: Bootstrap,
): MetricComparison[] {
  const byName = new Map<string, CaseMetricComparison[]>(metrics.map(({ metricName }) => [metricName, []]));
  for (const one of cases) for (const metric of one.metrics) byName.get(metric.metricName)?.push(metric);
  const compared = metrics.map((metric) => metricComparison(byName.get(metric.metricName) ?? [], metric, bootstrap));
  for (const goal of ["higher", "lower"])
    decide(
      compared.filter((metric) => metric.goal === goal),
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
  { metricName, isInformational }: CommonMetric,
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
  const detectable = interval === undefined ? undefined : detectableDifference(differences, bootstrap.confidence);
  const isScored = (one: ComparedScore | undefined, other: ComparedScore | undefined) =>
    one?.score !== undefined && other?.score === undefined;
  return {
    metricName,
    goal: isInformational ? "lower" : "higher",
    change: "unclear",
    compared: pairs.length,
    better: isInformational ? fell : rose,
    worse: isInformational ? rose : fell,
    unchanged: pairs.length - rose - fell,
    onlyBaseline: results.filter(({ baseline, current }) => isScored(baseline, current)).length,
    onlyCurrent: results.filter(({ baseline, current }) => isScored(current, baseline)).length,
    ...(baselineMean === undefined ? {} : { baselineMean }),
    ...(currentMean === undefined ? {} : { currentMean }),
    ...(difference === undefined ? {} : { difference }),
    ...(interval === undefined ? {} : { interval }),
    ...(chance === undefined ? {} : { chance }),
    ...(detectable === undefined ? {} : { detectable }),
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

function worstFirst(cases: readonly CaseComparison[], metrics: readonly CommonMetric[]): CaseComparison[] {
  const scored = new Set(metrics.flatMap(({ metricName, isInformational }) => (isInformational ? [] : metricName)));
  const largestLoss = ({ metrics: found }: CaseComparison) =>
    found.reduce(
      (least, { metricName, difference = 0 }) => (scored.has(metricName) ? Math.min(least, difference) : least),
      0,
    );
  return cases
    .map((one) => ({ one, rank: WORST_FIRST.indexOf(one.change), loss: largestLoss(one) }))
    .sort((a, b) => a.rank - b.rank || a.loss - b.loss)
    .map(({ one }) => one);
}

function thresholdChanges(cases: readonly CaseComparison[]): ThresholdChange[] {
  const changes = new Map<string, ThresholdChange>();
  for (const { metrics } of cases) {
    for (const { metricName, baseline, current } of metrics) {
      if (baseline === undefined || current === undefined || baseline.threshold === current.threshold) continue;
      const key = JSON.stringify([metricName, baseline.threshold, current.threshold]);
      const known = changes.get(key);
      if (known !== undefined) {
        known.cases += 1;
        continue;
      }
      changes.set(key, {
        metricName,
        ...(baseline.threshold === undefined ? {} : { baseline: baseline.threshold }),
        ...(current.threshold === undefined ? {} : { current: current.threshold }),
        cases: 1,
      });
    }
  }
  return [...changes.values()];
}
