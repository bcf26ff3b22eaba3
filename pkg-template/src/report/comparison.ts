/** How reports put a comparison of two runs into words: scores, differences, intervals, how a status changed. */

import type { EvalStatus } from "../enums.js";
import { reading, unexpected } from "../engine/values.js";
import type {
  CaseComparison,
  CaseMetricComparison,
  ComparedCase,
  ComparedRun,
  MetricComparison,
  ResultChange,
  RunComparison,
  TurnComparison,
  VerdictChanges,
} from "../types.js";
import { type At, countsText, guarded, statusWord } from "./results.js";
import { isRecord } from "../lists.js";
import { amountText, count, percent, scoreText, thresholdText } from "./text.js";

/** What every renderer of comparisons takes: one, or several. */
export type Comparisons = RunComparison | readonly RunComparison[];

/** What the parts of comparisons are called where one cannot be rendered. */
const PATHS = ["comparisons", "cases"] as const;

/**
 * Pieces of a report of comparisons.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 */
export function comparisonPieces(
  comparisons: Comparisons,
  pieces: (list: readonly RunComparison[], at: At) => Iterable<string>,
): Generator<string> {
  return guarded(comparisonsOf(comparisons), pieces, PATHS);
}

/** The comparisons as a list. */
function comparisonsOf(comparisons: Comparisons): readonly RunComparison[] {
  const given: unknown = comparisons;
  return reading("comparisons", () => {
    const list: readonly unknown[] = Array.isArray(given) ? given : [given];
    const wrong = list.findIndex((one) => !isComparison(one));
    if (wrong < 0) return list as readonly RunComparison[];
    const path = Array.isArray(given) ? `comparisons[${wrong}]` : "comparisons";
    throw unexpected("a RunComparison or a list of them", list[wrong], path, "Pass what compareRuns() returns");
  });
}

function isComparison(value: unknown): value is RunComparison {
  return (
    isRecord(value) &&
    isRecord(value.baseline) &&
    isRecord(value.current) &&
    isRecord(value.counts) &&
    isRecord(value.passes) &&
    ["metrics", "cases", "notes", "thresholdChanges"].every((key) => Array.isArray(value[key])) &&
    ["addedCases", "removedCases", "addedMetrics", "removedMetrics"].every((key) => Array.isArray(value[key]))
  );
}

const CHANGES: readonly ResultChange[] = ["regressed", "worse", "changed", "fixed", "better", "unchanged"];

/** `1 regressed, 2 better, 9 unchanged`; what is zero is left out. */
export function changesText({ counts }: RunComparison): string {
  return CHANGES.flatMap((change) => (counts[change] > 0 ? `${amountText(counts[change])} ${change}` : [])).join(", ");
}

/** `no regression in 3 cases`, `1 regression in 3 cases`: all comparisons in a line. */
export function verdictLine(comparisons: readonly RunComparison[]): string {
  const regressed = comparisons.reduce((sum, { counts }) => sum + counts.regressed, 0);
  const cases = comparisons.reduce((sum, one) => sum + one.cases.length, 0);
  const regressions = regressed === 0 ? "no regression" : count(regressed, "regression");
  return `${regressions} in ${count(cases, "case")}${comparisons.length > 1 ? ` of ${comparisons.length} evalsets` : ""}`;
}

/** `12 cases in 36 runs: 11 passed, 1 failed`. */
export function runText({ cases, runs }: ComparedRun): string {
  const repeated = runs === cases.total ? "" : ` in ${count(runs, "run")}`;
  return `${count(cases.total, "case")}${repeated}: ${countsText(cases)}`;
}

/**
 * How often cases pass, in a sentence: `75% of runs pass, before 83% (8 points less; 95% interval from 20 points less to 4 points more); 1
 * case passes more often, 3 less often, which may be chance`. Empty where nothing can be compared.
 */
export function passesText({ passes, bootstrap, cases }: RunComparison): string {
  const { baseline, current, baselineRate, currentRate, difference, interval, better, worse, change } = passes;
  if (baselineRate === undefined || currentRate === undefined || difference === undefined) return "";
  const isRepeated = Math.max(baseline.runs, current.runs) > passes.compared;
  const [low, high] = interval === undefined ? [] : [points(interval.low), points(interval.high)];
  const range = low === high ? `: ${low}` : ` from ${low} to ${high}`;
  const reach = low === undefined ? "" : `; ${levelText(bootstrap)}${range}`;
  const left = cases.length - passes.compared;
  const all = `${percent(currentRate)} of ${isRepeated ? "runs" : "cases"} pass, before ${percent(baselineRate)}`;
  const rates =
    left === 0
      ? all
      : `${all}, leaving out ${left} of ${count(cases.length, "case")} without a verdict in one run or both`;
  if (better + worse === 0) {
    return `${rates}; ${left === 0 ? "every case" : "every other case"} passes as often as before`;
  }
  const verdict = change === "unclear" ? "which may be chance" : "which is unlikely to be chance";
  return `${rates} (${points(difference)}${reach}); ${count(better, "case")} ${better === 1 ? "passes" : "pass"} more often, ${worse} less often, ${verdict}`;
}

/** What a comparison of so few cases would have missed; empty where nothing can be said. */
export function detectableText({ passes: { detectable, change, compared } }: RunComparison): string {
  if (change !== "unclear") return "";
  const cases = count(compared, "case");
  if (detectable === undefined)
    return `${cases} like these ${compared === 1 ? "is" : "are"} too few to detect any difference with 80% probability`;
  return `with ${cases} like these, a difference of ${count(Math.ceil(100 * detectable), "point")} is detected with 80% probability, a smaller one less often`;
}

/** From which size on differences of metrics that are unclear would mostly have shown; empty where nothing can be said. */
export function wouldShowText(metrics: readonly MetricComparison[]): string {
  const sizes = metrics.flatMap((metric) => {
    if (metric.verdicts === undefined || metric.change !== "unclear" || metric.detectable === undefined) return [];
    return [`${metric.metricName} ${numbersOf(metric).value(metric.detectable)}`];
  });
  return sizes.length === 0
    ? ""
    : `"unclear" may be chance; smallest differences that are detected with 80% probability: ${sizes.join(", ")}`;
}

/** `17 points less`, `no change`, `3 points more`. */
function points(share: number): string {
  const amount = Math.round(100 * share);
  const size = Math.abs(amount);
  return amount === 0 ? "no change" : `${size} ${size === 1 ? "point" : "points"} ${amount < 0 ? "less" : "more"}`;
}

/** How runs of one case are compared: no reason to doubt a comparison. */
export const REPEATED =
  "some cases have several runs: a case's mean scores and the fraction of its runs that pass are compared";

/** Whether a remark is more than how scores of repeated runs are compared, which is nothing wrong. */
export function isWarning(remark: string): boolean {
  return remark !== REPEATED;
}

/** What a reader should know of a comparison before its numbers, a sentence each. */
export function remarksOf(comparison: RunComparison): string[] {
  const { notes, thresholdChanges, addedCases, removedCases, addedMetrics, removedMetrics } = comparison;
  const remarks = [...notes];
  for (const { metricName, baseline, current, cases } of thresholdChanges) {
    remarks.push(
      `the threshold of ${metricName} differs in ${count(cases, "case")}: ${thresholdText(baseline)} → ${thresholdText(current)}`,
    );
  }
  for (const { metricName, onlyBaseline, onlyCurrent } of comparison.metrics) {
    const scored = (cases: number, where: string) =>
      `${metricName} has a score only in ${where} for ${count(cases, "case")}, which are not in its means`;
    if (onlyBaseline > 0) remarks.push(scored(onlyBaseline, "the baseline"));
    if (onlyCurrent > 0) remarks.push(scored(onlyCurrent, "the current run"));
  }
  const lists: [string, readonly string[]][] = [
    ["cases in the baseline only", removedCases],
    ["cases in the current run only", addedCases],
    ["metrics in the baseline only", removedMetrics],
    ["metrics in the current run only", addedMetrics],
  ];
  for (const [what, names] of lists) if (names.length > 0) remarks.push(`${what}: ${namesText(names)}`);
  return remarks;
}

const MOST_NAMES = 20;

function namesText(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? `, and ${amountText(more)} more` : ""}`;
}

/** `passed → failed`, or the status alone where it is the same. */
export function statusChangeText(before: EvalStatus | undefined, after: EvalStatus | undefined): string {
  const word = (status: EvalStatus | undefined) => (status === undefined ? "no result" : statusWord(status));
  return before === after ? word(after) : `${word(before)} → ${word(after)}`;
}

/** As {@link caseStatusText}, for a narrow column: `failed 0/1 → passed 2/2`. */
export function shortStatusText({ baseline, current }: CaseComparison): string {
  if (baseline.runs === 1 && current.runs === 1) return statusChangeText(baseline.status, current.status);
  const side = ({ status, runs, passedRuns }: ComparedCase) =>
    `${statusWord(status)} ${amountText(passedRuns)}/${amountText(runs)}`;
  return `${side(baseline)} → ${side(current)}`;
}

/** As {@link statusChangeText}, with how many runs passed where there are several. */
export function caseStatusText({ baseline, current }: CaseComparison): string {
  if (baseline.runs === 1 && current.runs === 1) return statusChangeText(baseline.status, current.status);
  const side = ({ status, runs, passedRuns }: ComparedCase) =>
    `${statusWord(status)} (${passedRuns} of ${count(runs, "run")} passed)`;
  return `${side(baseline)} → ${side(current)}`;
}

/** How the numbers of a metric are written. */
export interface Numbers {
  value(value: number | undefined, threshold?: number): string;
  /** With its sign; `0` for none. */
  difference(difference: number | undefined): string;
}

/** How the numbers of a metric are written: scores to four digits, amounts as their kind needs. */
export function numbersOf({ metricName, verdicts }: Pick<MetricComparison, "metricName" | "verdicts">): Numbers {
  const digits = metricName === "invocation_duration_v1" ? 3 : 1;
  const value: Numbers["value"] =
    verdicts === undefined ? (amount) => amountText(amount, digits) : (score, threshold) => scoreText(score, threshold);
  return {
    value,
    difference: (difference) => {
      if (difference === undefined || !Number.isFinite(difference)) return "–";
      return difference === 0 ? "0" : `${difference < 0 ? "-" : "+"}${value(Math.abs(difference))}`;
    },
  };
}

/** How scores are written. */
export const SCORES: Numbers = /* @__PURE__ */ numbersOf({ metricName: "", verdicts: {} as VerdictChanges });

/** `-0.1200 … +0.0300`. */
export function intervalText({ interval }: MetricComparison, { difference }: Numbers): string {
  return interval === undefined ? "–" : `${difference(interval.low)} … ${difference(interval.high)}`;
}

/** `95% interval`. */
export function intervalLabel({ bootstrap }: RunComparison): string {
  return levelText(bootstrap);
}

function levelText({ confidence }: { confidence: number }): string {
  return `${Number((confidence * 100).toFixed(4))}% interval`;
}

/** The smallest difference that would have shown; a dash where nothing varies. */
export function detectableCell({ detectable }: MetricComparison, { value }: Numbers): string {
  return detectable === undefined ? "–" : value(detectable);
}

/** How a metric changed; an amount is `lower` or `higher`, since it passes no judgement. */
export function metricChangeText({ change, goal, verdicts }: MetricComparison): string {
  if (goal === "higher" || change === "unchanged" || change === "unclear") return change;
  if (verdicts !== undefined) return `${change} (lower is better)`;
  return change === "better" ? "lower" : "higher";
}

/** Whether a comparison has anything to say of a metric. */
export function isTelling({ compared, onlyBaseline, onlyCurrent, verdicts }: MetricComparison): boolean {
  return verdicts !== undefined || compared + onlyBaseline + onlyCurrent > 0;
}

/** The names of the metrics of a comparison that pass or fail; each of its cases asks for them. */
const SCORED = /* @__PURE__ */ new WeakMap<readonly MetricComparison[], ReadonlySet<string>>();

/** The metrics of a case that pass or fail and are not as they were. */
export function changedMetrics(one: CaseComparison, metrics: readonly MetricComparison[]): CaseMetricComparison[] {
  let scored = SCORED.get(metrics);
  if (scored === undefined) {
    scored = new Set(metrics.flatMap(({ verdicts, metricName }) => (verdicts === undefined ? [] : metricName)));
    SCORED.set(metrics, scored);
  }
  return one.metrics.filter(({ change, metricName }) => change !== "unchanged" && scored.has(metricName));
}

/** Whether one row says both how a case and its metric changed: only one changed, and with it the case. */
export function isByMetric(one: CaseComparison, changed: readonly CaseMetricComparison[]): boolean {
  const [only] = changed;
  return (
    changed.length === 1 &&
    one.baseline.runs === 1 &&
    one.current.runs === 1 &&
    only?.change === one.change &&
    only.baseline?.status === one.baseline.status &&
    only.current?.status === one.current.status
  );
}

/** `0.9000 → 0.4000, passed → failed`: the scores of a metric in a case or a turn, and its status. */
export function scoreChangeText({
  baseline,
  current,
}: Pick<CaseMetricComparison | TurnComparison, "baseline" | "current">): string {
  const scores = [baseline, current].map((side) => SCORES.value(side?.score, side?.threshold));
  return `${scores.join(" → ")}, ${statusChangeText(baseline?.status, current?.status)}`;
}

/** Why a result is missing now, or was missing before. */
export function reasonOf({ baseline, current }: CaseMetricComparison | CaseComparison): string | undefined {
  return current?.reason ?? (current?.status === baseline?.status ? undefined : baseline?.reason);
}
