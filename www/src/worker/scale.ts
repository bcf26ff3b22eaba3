/** The axis of a metric: from where to where its scores go, in which steps a threshold moves, and how scores fall into bins. */

import { EvalStatus } from "../enums.js";
import type { RunSummary } from "./protocol.js";

/** What the axis of a metric depends on. */
export type Columns = Pick<RunSummary, "metrics" | "scores">;

export interface Scale {
  min: number;
  max: number;
  /** What one press of an arrow key moves a threshold by: 1, 2 or 5 times a power of ten, about a hundredth of the range. */
  step: number;
}

/** Bins of a histogram. */
export const BINS = 25;

/** The axis of a column: the metric's own range, and as much more as its scores and its threshold need. O(cases) */
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

/** Where a value is on the axis, from 0 to 1. */
export function shareOf({ min, max }: Scale, value: number): number {
  return Math.min(1, Math.max(0, (value - min) / (max - min)));
}

/** A value that a user moved to: on the axis, and a multiple of a step without the noise of floating point. */
export function snapToStep({ min, max }: Scale, value: number, step: number): number {
  const digits = Math.min(15, Math.max(0, -Math.floor(Math.log10(step))));
  return Math.min(max, Math.max(min, Number((Math.round(value / step) * step).toFixed(digits))));
}

/** The bin of each case's score; -1 where it has none. */
export function binsOf({ metrics, scores }: Columns, column: number, scale: Scale): Int8Array {
  const bins = new Int8Array(scores.length / metrics.length).fill(-1);
  for (let row = 0; row < bins.length; row += 1) {
    const score = scores[row * metrics.length + column] ?? Number.NaN;
    if (!Number.isNaN(score)) bins[row] = Math.min(BINS - 1, Math.floor(shareOf(scale, score) * BINS));
  }
  return bins;
}

/** How the scores of a metric are spread: cases in each bin. */
export interface Spread {
  passed: number[];
  failed: number[];
  /** Amounts that are only shown. */
  others: number[];
  /** Cases that have a status and no score. */
  open: number;
}

/**
 * Counts the cases in each bin. O(cases)
 *
 * @param bins The bin of each case.
 * @param statuses Of all metrics, `width` of them, in each case.
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

/** How many cases have which verdict. */
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
