/** How reliable an agent is: what past runs say about future ones. */

import { reading, unexpected } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { scoreIn, scoreRange } from "../metric-info.js";
import { optionsOf } from "../known-options.js";
import { definedProperties, grouped } from "../lists.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult } from "../types.js";
import {
  casesFor,
  clusteredMean,
  clusteredShare,
  type Estimate,
  mean,
  passAtK,
  passHatK,
  runsFor,
  type Variance,
  varianceOf,
  wilson,
} from "./estimates.js";

/** How {@link reliabilityOf} estimates. */
export interface ReliabilityOptions {
  /** How often intervals contain the true value, above 0 and below 1. Default: 0.95. */
  confidence?: number;
  /**
   * Names the group of a case: cases of one group depend on each other, such as those about one tool. Default: the `group` of
   * its result, if there are several; otherwise each case is a group of its own, that of its runs.
   */
  groupOf?(result: EvalCaseResult): string;
  /**
   * How far the interval of the pass rate is wanted to reach to either side, above 0 and up to 0.5. Default: the `precision` of
   * the results, or 0.05.
   */
  precision?: number;
}

/** Statistics of an agent's runs. Runs that were not evaluated only count in `notEvaluated`. */
export interface Reliability {
  /** How often the intervals contain the true value. */
  confidence: number;
  /** How far the interval of the pass rate is wanted to reach to either side. */
  precision: number;
  /** How many groups the cases are in, which all intervals respect. Absent if each case is a group of its own. */
  groups?: number;
  /** Whether only one case has verdicts. Intervals then come from its runs, and say nothing of other cases. */
  isOneCase?: true;
  /** Runs that passed or failed, those that passed, and those that were not evaluated. */
  runs: number;
  passed: number;
  notEvaluated: number;
  /** The share of runs that pass. Absent without a run that passed or failed. */
  passRate?: Estimate;
  /** How likely k runs of a case have at least one that passes, and have only such. From k = 1 to the most runs of a case. */
  passAtK: PassEstimate[];
  passHatK: PassEstimate[];
  /** How verdicts vary between cases and between the runs of one, as 0 and 1. Absent unless cases were run repeatedly. */
  variance?: Variance;
  /** What it takes for the interval of the pass rate to reach no farther than is wanted. Absent if it does not. */
  needed?: NeededRuns;
  /** In the order in which they come first. */
  metrics: MetricReliability[];
  cases: CaseReliability[];
  /** Why there is little to tell: no case at all, or several results without a case or metric in common. */
  notes?: string[];
}

/** What a wanted precision takes, about: one of the two. For the runs of a single case, see {@link Reliability.isOneCase}. */
export interface NeededRuns {
  /** How far the interval is wanted to reach to either side. */
  precision: number;
  /** So many cases in all, each run as often as now. */
  cases: number;
  /**
   * So many runs of each case that there is. Absent if no number of runs is enough, since the cases differ too much. Of a single
   * case, for the pass rate of this case alone.
   */
  runs?: number;
}

/** An estimate of pass@k or pass^k. */
export interface PassEstimate extends Estimate {
  k: number;
  /** How many cases have k runs or more; this is their mean. */
  cases: number;
}

/** What runs tell of one metric. */
export interface MetricReliability {
  metricName: string;
  runs: number;
  passed: number;
  notEvaluated: number;
  passRate?: Estimate;
  /** The mean of its scores; absent if it has none. */
  score?: Estimate;
  /** How scores vary between cases and between the runs of one. */
  variance?: Variance;
}

/** What the runs of one case tell. */
export interface CaseReliability {
  evalSetId: string;
  evalId: string;
  runs: number;
  passed: number;
  notEvaluated: number;
  /** Whether some of its runs passed and some failed. */
  isFlaky: boolean;
  /** How likely k runs have at least one that passes, and have only such; `[0]` is of one run. */
  passAtK: number[];
  passHatK: number[];
  metrics: CaseMetricReliability[];
}

/** What the runs of one case tell of one metric. */
export interface CaseMetricReliability {
  metricName: string;
  runs: number;
  passed: number;
  notEvaluated: number;
  isFlaky: boolean;
  /** How likely k runs have at least one that passes by this metric, and have only such; `[0]` is of one run. */
  passAtK: number[];
  passHatK: number[];
  /** Of the scores of all runs; absent if it has none. */
  scores?: {
    mean: number;
    least: number;
    most: number;
    /** The standard deviation of the sample; absent for one score. */
    deviation?: number;
  };
}

/**
 * What the runs of an agent say about future ones: pass rates with their intervals, pass@k and pass^k, which cases are flaky,
 * and how much scores vary. Results with the same ids of evalset and case are runs of one case, also in different files.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results, or options that are not what their types say.
 */
export function reliabilityOf(
  results: EvalSetResult | readonly EvalSetResult[],
  options: ReliabilityOptions = {},
): Reliability {
  return reading("results", () => {
    const given = optionsOf(options, ["confidence", "groupOf", "precision"]);
    const { confidence = 0.95, precision = precisionIn(results) ?? 0.05 } = given;
    if (!(typeof confidence === "number" && confidence > 0 && confidence < 1)) {
      throw unexpected("a number above 0 and below 1", confidence, "confidence");
    }
    if (!(typeof precision === "number" && precision > 0 && precision <= 0.5)) {
      throw unexpected("a number above 0 and up to 0.5", precision, "precision");
    }
    const all = caseResultsOf(results);
    const { groupOf = groupIn(all) } = given;
    if (typeof groupOf !== "function") throw unexpected("a function", groupOf, "groupOf");
    const notes = notesOf(all, Array.isArray(results) ? (results as readonly EvalSetResult[]) : []);
    const cases = grouped(all, keyOf);
    const groups = grouped(cases, ([first]) => String(groupOf(first as EvalCaseResult)));
    const described = cases.map(caseOf);
    const isOneCase = cases.filter((runs) => statusesOf(runs).some(isVerdict)).length === 1;
    // The runs of a case depend on each other by their case, which is the same for all of them then.
    const units = isOneCase ? all.map((run) => [[run]]) : groups;
    const { passRate } = shareOf(
      units.map((members) => members.flatMap((runs) => passesOf(statusesOf(runs)))),
      confidence,
    );
    const varying = varianceOf(cases.map((runs) => passesOf(statusesOf(runs))).filter(isFilled));
    const most = described.reduce((found, { runs }) => Math.max(found, runs), 0);
    const estimates = (
      of: (passed: number, runs: number, k: number) => number,
      ofRate: (rate: number, k: number) => number,
    ): PassEstimate[] =>
      Array.from({ length: most }, (_, at) => {
        const found = passEstimate(groups, of, at + 1, confidence);
        if (!isOneCase || passRate?.low === undefined || passRate.high === undefined) return found;
        const [low, high] = [ofRate(passRate.low, found.k), ofRate(passRate.high, found.k)];
        return { ...found, low: Math.min(low, found.value), high: Math.max(high, found.value) };
      });
    return {
      confidence,
      precision,
      ...(groups.length < cases.length ? { groups: groups.length } : {}),
      ...countsOf(statusesOf(all)),
      ...(isOneCase ? { isOneCase } : {}),
      ...definedProperties({ passRate }),
      passAtK: estimates(passAtK, (rate, k) => 1 - (1 - rate) ** k),
      passHatK: estimates(passHatK, (rate, k) => rate ** k),
      ...(varying === undefined ? {} : { variance: varying }),
      ...neededFor(described, passRate, varying, { precision, confidence }),
      metrics: metricNamesOf(all).map((name) => metricOf(name, cases, units, confidence)),
      cases: described,
      ...(notes.length === 0 ? {} : { notes }),
    };
  });
}

/** How precise the pass rate is wanted to be by results. */
function precisionIn(results: unknown): number | undefined {
  const sets = (Array.isArray(results) ? results : [results]) as (Partial<EvalSetResult> | null | undefined)[];
  return sets.find((set) => set?.precision !== undefined)?.precision;
}

/** What several results of one evalset have not in common: its cases, or what passes and fails in them. */
function notesOf(all: readonly EvalCaseResult[], sets: readonly EvalSetResult[]): string[] {
  if (all.length === 0) return ["the results contain no cases"];
  const notes: string[] = [];
  for (const ofSet of grouped(sets, ({ evalSetId }) => String(evalSetId))) {
    if (ofSet.length < 2) continue;
    const name = JSON.stringify(String(ofSet[0]?.evalSetId).slice(0, 80));
    const inAll = (namesOf: (set: EvalSetResult) => readonly string[]): boolean => {
      const [first = [], ...others] = ofSet.map((set) => [...new Set(namesOf(set))]);
      return first.some((one) => others.every((names) => names.includes(one)));
    };
    const isShared = inAll(({ evalCaseResults }) => evalCaseResults.map(({ evalId }) => evalId));
    if (!isShared) {
      notes.push(
        `the ${ofSet.length} results of ${name} have no case in common, so they are not runs of the same cases`,
      );
    }
    const isDeciding = ({ evalStatus }: EvalMetricResult) => evalStatus !== EvalStatus.INFORMATIONAL;
    const metricsOf = ({ evalCaseResults }: EvalSetResult) =>
      evalCaseResults.flatMap(({ overallEvalMetricResults }) =>
        overallEvalMetricResults.filter(isDeciding).map(({ metricName }) => metricName),
      );
    if (isShared && !inAll(metricsOf)) {
      notes.push(
        `the ${ofSet.length} results of ${name} have no metric in common, so their verdicts are not comparable`,
      );
    }
  }
  return notes;
}

/** The case results of one evalset's results or of several. */
export function caseResultsOf(results: EvalSetResult | readonly EvalSetResult[]): EvalCaseResult[] {
  const list: readonly unknown[] = Array.isArray(results) ? results : [results];
  return list.flatMap((set, at) => {
    const found: unknown = (set as Partial<EvalSetResult> | null | undefined)?.evalCaseResults;
    if (Array.isArray(found)) return found as EvalCaseResult[];
    const path = Array.isArray(results) ? `results[${at}]` : "results";
    const help = "Pass the result of evaluate() or of readResults()";
    throw unexpected("an EvalSetResult or a list of them", set, path, help);
  });
}

function keyOf({ evalSetId, evalId }: EvalCaseResult): string {
  return JSON.stringify([evalSetId, evalId]);
}

/**
 * How results name the groups of their cases. Of a single group nothing could be said but its mean: its cases count by
 * themselves then, as all do that have no group.
 */
export function groupIn(all: readonly EvalCaseResult[]): (result: EvalCaseResult) => string {
  const nameOf = (one: EvalCaseResult) => (typeof one.group === "string" ? JSON.stringify([one.group]) : keyOf(one));
  return new Set(all.map(nameOf)).size > 1 ? nameOf : keyOf;
}

const statusesOf = (runs: readonly EvalCaseResult[]): EvalStatus[] => runs.map((run) => run.finalEvalStatus);

/** Verdicts as numbers: 1 for a pass, 0 for a fail. */
function passesOf(statuses: readonly EvalStatus[]): number[] {
  return statuses.filter(isVerdict).map((status) => (status === EvalStatus.PASSED ? 1 : 0));
}

function isVerdict(status: EvalStatus): boolean {
  return status === EvalStatus.PASSED || status === EvalStatus.FAILED;
}

const isFilled = ({ length }: readonly unknown[]): boolean => length > 0;

function countsOf(statuses: readonly EvalStatus[]): { runs: number; passed: number; notEvaluated: number } {
  return {
    runs: statuses.filter(isVerdict).length,
    passed: statuses.filter((status) => status === EvalStatus.PASSED).length,
    notEvaluated: statuses.filter((status) => status === EvalStatus.NOT_EVALUATED).length,
  };
}

function shareOf(groups: readonly number[][], confidence: number): { passRate?: Estimate } {
  const filled = groups.filter(isFilled);
  return filled.length === 0 ? {} : { passRate: clusteredShare(filled, confidence) };
}

function neededFor(
  cases: readonly CaseReliability[],
  passRate: Estimate | undefined,
  variance: Variance | undefined,
  { precision, confidence }: { precision: number; confidence: number },
): { needed?: NeededRuns } {
  const counted = cases.filter(({ runs }) => runs > 0);
  if (passRate === undefined || counted.length === 0) return {};
  const { value, low = 0, high = 1 } = passRate;
  const isKnown = Math.max(value - low, high - value) <= precision;
  const isOneCase = counted.length === 1;
  if (isKnown && !isOneCase) return {};
  const runs = counted.reduce((sum, one) => sum + one.runs, 0) / counted.length;
  // Where nothing varied yet something may: the middle of Wilson's interval is a share that is never 0 nor 1.
  const { low: least = 0, high: most = 1 } = wilson(value, counted.length, confidence);
  const share = (least + most) / 2;
  const isVarying = variance !== undefined && variance.between + variance.within > 0;
  const assumed = isVarying ? bounded(variance) : { between: share * (1 - share), within: 0 };
  const more =
    isOneCase && !isKnown
      ? runsOfOne(value, runs, { precision, confidence })
      : isVarying
        ? runsFor(precision, assumed, counted.length, confidence)
        : undefined;
  const all = Math.max(casesFor(precision, assumed, runs, confidence), counted.length + 1);
  return { needed: { precision, cases: all, ...(more === undefined || more <= runs ? {} : { runs: more }) } };
}

/** How many runs tell the pass rate of their case so precisely. */
function runsOfOne(
  value: number,
  runs: number,
  { precision, confidence }: { precision: number; confidence: number },
): number {
  const { low = 0, high = 1 } = wilson(value, runs, confidence);
  const share = (low + high) / 2;
  return Math.max(runs + 1, casesFor(precision, { between: share * (1 - share), within: 0 }, 1, confidence));
}

/** A variance of verdicts, which is 1/4 at most: estimates from few runs may be larger. */
function bounded({ between, within }: Variance): Variance {
  const factor = Math.min(1, 0.25 / (between + within));
  return { between: between * factor, within: within * factor };
}

/**
 * The mean of an estimator over all cases that have enough runs; a share of cases, as it were, between 0 and 1. That of one
 * run is the pass rate, and has its interval. For more runs, an interval of as many runs would be too narrow: the estimates
 * of a case depend on each other.
 */
function passEstimate(
  groups: readonly (readonly EvalCaseResult[][])[],
  of: (passed: number, runs: number, k: number) => number,
  k: number,
  confidence: number,
): PassEstimate {
  const counts = groups.map((members) =>
    members.map((runs) => countsOf(statusesOf(runs))).filter(({ runs }) => runs >= k),
  );
  const filled = counts.filter(isFilled);
  const estimates = filled.map((members) => members.map(({ passed, runs }) => of(passed, runs, k)));
  const runs = filled.flat().reduce((all, one) => all + one.runs, 0);
  return { k, cases: filled.flat().length, ...clusteredShare(estimates, confidence, k === 1 ? runs : undefined) };
}

function metricNamesOf(all: readonly EvalCaseResult[]): string[] {
  return [...new Set(all.flatMap((run) => run.overallEvalMetricResults.map(({ metricName }) => metricName)))];
}

function resultsOf(name: string, runs: readonly EvalCaseResult[]): EvalMetricResult[] {
  return runs.flatMap((run) => run.overallEvalMetricResults.filter(({ metricName }) => metricName === name));
}

const scoresOf = (found: readonly EvalMetricResult[]): number[] => found.flatMap((metric) => scoreIn(metric) ?? []);

function metricOf(
  metricName: string,
  cases: readonly EvalCaseResult[][],
  groups: readonly (readonly EvalCaseResult[][])[],
  confidence: number,
): MetricReliability {
  const found = groups.map((members) => members.flatMap((runs) => resultsOf(metricName, runs)));
  const statuses = found.map((results) => results.map(({ evalStatus }) => evalStatus));
  const scores = found.map(scoresOf).filter(isFilled);
  const variance = varianceOf(cases.map((runs) => scoresOf(resultsOf(metricName, runs))).filter(isFilled));
  return {
    metricName,
    ...countsOf(statuses.flat()),
    ...shareOf(statuses.map(passesOf), confidence),
    ...(scores.length === 0 ? {} : { score: meanOf(metricName, scores, confidence) }),
    ...(variance === undefined ? {} : { variance }),
  };
}

/**
 * The mean of a metric's scores, whose interval stays within the values that the metric can have. Of scores from 0 to 1 that
 * are all one or the other, it is a share.
 */
export function meanOf(metricName: string, groups: readonly (readonly number[])[], confidence: number): Estimate {
  const range = scoreRange(metricName);
  const isShare = range?.[0] === 0 && range[1] === 1 && groups.flat().every((score) => score === 0 || score === 1);
  if (isShare) return clusteredShare(groups, confidence);
  const found = clusteredMean(groups, confidence);
  const { value, low, high } = found;
  if (low === undefined || high === undefined || range === undefined) return found;
  const [least, most] = range;
  return { value, low: Math.max(low, Math.min(least, value)), high: Math.min(high, Math.max(most, value)) };
}

function caseOf(all: readonly EvalCaseResult[]): CaseReliability {
  const { evalSetId, evalId } = all[0] as EvalCaseResult;
  const counts = countsOf(statusesOf(all));
  return {
    evalSetId,
    evalId,
    ...counts,
    isFlaky: isFlaky(counts),
    ...chancesOf(counts),
    metrics: metricNamesOf(all).map((name) => caseMetricOf(name, resultsOf(name, all))),
  };
}

/** pass@k and pass^k for each number of runs that there were. */
function chancesOf({ runs, passed }: { runs: number; passed: number }): { passAtK: number[]; passHatK: number[] } {
  const ks = Array.from({ length: runs }, (_, at) => at + 1);
  return { passAtK: ks.map((k) => passAtK(passed, runs, k)), passHatK: ks.map((k) => passHatK(passed, runs, k)) };
}

function caseMetricOf(metricName: string, found: readonly EvalMetricResult[]): CaseMetricReliability {
  const counts = countsOf(found.map(({ evalStatus }) => evalStatus));
  const scores = scoresOf(found);
  const about = { metricName, ...counts, isFlaky: isFlaky(counts), ...chancesOf(counts) };
  return scores.length === 0 ? about : { ...about, scores: spreadOf(scores) };
}

function spreadOf(scores: readonly number[]): NonNullable<CaseMetricReliability["scores"]> {
  const middle = mean([scores]);
  const sorted = scores.toSorted((a, b) => a - b);
  const spread = { mean: middle, least: sorted[0] as number, most: sorted.at(-1) as number };
  if (scores.length === 1) return spread;
  const squares = scores.reduce((total, score) => total + (score - middle) ** 2, 0);
  return { ...spread, deviation: Math.sqrt(squares / (scores.length - 1)) };
}

function isFlaky({ runs, passed }: { runs: number; passed: number }): boolean {
  return passed > 0 && passed < runs;
}
