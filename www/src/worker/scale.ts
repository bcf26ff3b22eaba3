/** The axis of a metric: its range, the step of its threshold, and the bins of its histogram. */

import { EvalStatus } from "../enums.js";
import type { RunSummary } from "./protocol.js";

/** The part of a run that determines the axes of its metrics. */
export type Columns = Pick<RunSummary, "metrics" | "scores">;

export interface Scale {
  min: number;
  max: number;
  /** How far an arrow key moves a threshold: 1, 2 or 5 times a power of ten, about a hundredth of the range. */
  step: number;
}

/** The number of bins of a histogram. */
export const BINS = 25;

/** The axis of a column: the metric's own range, extended to include all scores and the threshold. O(cases) */
export function scaleOf({ metrics, scores }: Columns, column: number): Scale {
  const { min: ownMin, max: ownMax, threshold } = metrics[column] ?? {};
  let min = ownMin ?? Infinity;
  let max = ownMax ?? -Infinity;
  const include = (value: number): void => {
    if (value < min) min = value;
    if (value > max) max = value;
  };
  for (let cell = column; cell < scores.length; cell += metrics.length) include(scores[cell] as number);
  if (threshold !== undefined) include(threshold);
  if (ownMin === undefined) include(0);
  if (!(max > min)) max = min + 1;
  return { min, max, step: stepOf((max - min) / 100) };
}

function stepOf(target: number): number {
  const power = 10 ** Math.floor(Math.log10(target));
  const factor = [5, 2, 1].find((each) => each * power <= target * 1.001) ?? 1;
  return factor * power;
}

/** The position of a value on the axis, from 0 to 1. */
export function shareOf({ min, max }: Scale, value: number): number {
  return Math.min(1, Math.max(0, (value - min) / (max - min)));
}

/** Clamps a value to the axis and rounds it to a multiple of the step, without floating-point noise. */
export function snapToStep({ min, max }: Scale, value: number, step: number): number {
  const digits = Math.min(15, Math.max(0, -Math.floor(Math.log10(step))));
  return Math.min(max, Math.max(min, Number((Math.round(value / step) * step).toFixed(digits))));
}

/** The bin of each case's score; -1 if it has none. */
export function binsOf({ metrics, scores }: Columns, column: number, scale: Scale): Int8Array {
  const bins = new Int8Array(scores.length / metrics.length).fill(-1);
  for (let row = 0; row < bins.length; row += 1) {
    const score = scores[row * metrics.length + column] ?? Number.NaN;
    if (!Number.isNaN(score)) bins[row] = Math.min(BINS - 1, Math.floor(shareOf(scale, score) * BINS));
  }
  return bins;
}

/** The histogram of a metric: the number of cases in each bin. */
export interface Spread {
  passed: number[];
  failed: number[];
  /** Cases whose score neither passes nor fails. */
  others: number[];
  /** Cases with a status but no score. */
  open: number;
}

/**
 * Counts the cases in each bin. O(cases)
 *
 * @param bins The bin of each case.
 * @param statuses The statuses of all `columnCount` metrics, case by case.
 */
export function spreadOf(bins: Int8Array, statuses: Uint8Array, columnCount: number, column: number): Spread {
  const [passed, failed, others] = [0, 0, 0].map(() => new Array<number>(BINS).fill(0)) as [
    number[],
    number[],
    number[],
  ];
  let open = 0;
  for (let row = 0; row < bins.length; row += 1) {
    const bin = bins[row] as number;
    const status = statuses[row * columnCount + column];
    if (bin < 0) {
      if (status !== 0) open += 1;
      continue;
    }
    const counts = status === EvalStatus.PASSED ? passed : status === EvalStatus.FAILED ? failed : others;
    counts[bin] = (counts[bin] as number) + 1;
  }
  return { passed, failed, others, open };
}

/** The number of cases by verdict. */
export interface Tally {
  passed: number;
  failed: number;
  open: number;
  pending: number;
}

/** Counts verdicts. O(cases) */
export function tallyOf(statuses: Uint8Array): Tally {
  const counts = { passed: 0, failed: 0, open: 0, pending: 0 };
  for (const status of statuses) {
    if (status === EvalStatus.PASSED) counts.passed += 1;
    else if (status === EvalStatus.FAILED) counts.failed += 1;
    else if (status === EvalStatus.NOT_EVALUATED) counts.open += 1;
    else counts.pending += 1;
  }
  return counts;
}
