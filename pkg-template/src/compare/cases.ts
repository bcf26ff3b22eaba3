/** How a case differs between two runs: metric by metric, turn by turn. */

import { isLowerBetter } from "../engine/status.js";
import { EvalStatus } from "../enums.js";
import { scoreText, thresholdText } from "../report/text.js";
import type {
  CaseComparison,
  CaseMetricComparison,
  ComparedCase,
  ComparedScore,
  ResultChange,
  TurnComparison,
} from "../types.js";
import type { StoredCase, StoredRun, StoredScore } from "./read.js";

const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;

/** A metric that both runs have. */
export interface CommonMetric {
  key: string;
  metricName: string;
  isInformational: boolean;
  /** Whether lower scores are better. */
  isLower: boolean;
}

/** Whether all of these say, by score and status, that a lower score is the better one. */
export function isLowerIn(results: readonly StoredScore[]): boolean {
  return isLowerBetter(results.map(({ status, ...one }) => ({ ...one, evalStatus: status }))) === true;
}

export function caseComparison(
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
  if (baseline.status !== current.status) {
    explain(baseline, found[0], before, after, "the baseline");
    explain(current, found[1], after, before, "the current run");
  }
  const change =
    baseline.status === current.status ? changeWithin(changes) : changeOf(baseline.status, current.status, 0);
  return { evalId, change, baseline, current, metrics: compared };
}

/** Names the metrics by which a case did not pass that the other run does not have: no row of metrics tells of them. */
function explain(
  side: ComparedCase,
  found: ReadonlyMap<string, Found>,
  { metricNames, stamps }: StoredRun,
  other: StoredRun,
  where: string,
): void {
  if (side.status === PASSED || side.reason !== undefined) return;
  const own = [...found].flatMap(([key, { scores }]) => {
    if (other.metricNames.has(key) || stamps.advisory.has(key)) return [];
    const score = comparedScore(scores);
    if (score?.status !== FAILED) return [];
    const said = score.score === undefined ? "no score" : scoreText(score.score, score.threshold);
    const least = score.threshold === undefined ? "" : `, threshold ${thresholdText(score.threshold)}`;
    return `${metricNames.get(key) ?? key} (${said}${least})`;
  });
  if (own.length > 0) side.reason = `failed by ${own.join(" and ")}, which only ${where} has`;
}

/** How a case with an unchanged verdict changed: the worst change of its metrics. */
function changeWithin(changes: ReadonlySet<ResultChange>): ResultChange {
  if (changes.has("regressed") || changes.has("worse")) return "worse";
  if (changes.has("changed")) return "changed";
  return changes.has("fixed") || changes.has("better") ? "better" : "unchanged";
}

const WORST_FIRST: readonly ResultChange[] = ["regressed", "worse", "changed", "fixed", "better", "unchanged"];

/** How a result changed. `gain` is by how much it got better: the difference of scores, or less the amount grew. */
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
export function statusOfCase(runs: readonly StoredCase[], advisory: ReadonlySet<string>): EvalStatus {
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
  if (score !== undefined && threshold !== undefined) {
    return (isLowerIn(results) ? score <= threshold : score >= threshold) ? PASSED : FAILED;
  }
  return [FAILED, NOT_EVALUATED, PASSED].find((one) => results.some(({ status }) => status === one)) ?? INFORMATIONAL;
}

/** The mean; undefined for no values and where the sum overflows. */
export function mean(values: readonly number[]): number | undefined {
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
  { metricName, isLower }: CommonMetric,
): CaseMetricComparison | undefined {
  const baseline = comparedScore(before?.scores);
  const current = comparedScore(after?.scores);
  if (baseline === undefined && current === undefined) return undefined;
  const difference = differenceOf(baseline, current);
  const gain = (difference ?? 0) * (isLower ? -1 : 1);
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

export function worstFirst(cases: readonly CaseComparison[], metrics: readonly CommonMetric[]): CaseComparison[] {
  const signs = new Map(metrics.map((one) => [one.metricName, one.isInformational ? 0 : one.isLower ? -1 : 1]));
  const largestLoss = ({ metrics: found }: CaseComparison) =>
    found.reduce(
      (least, { metricName, difference = 0 }) => Math.min(least, difference * (signs.get(metricName) ?? 0)),
      0,
    );
  return cases
    .map((one) => ({ one, rank: WORST_FIRST.indexOf(one.change), loss: largestLoss(one) }))
    .sort((a, b) => a.rank - b.rank || a.loss - b.loss)
    .map(({ one }) => one);
}
