/** The axis of a metric: from where to where its scores go, in which steps a threshold moves, and how scores fall into bins. */

import type { RunSummary } from "../../worker/protocol.js";

export interface Scale {
  least: number;
  most: number;
  /** What one press of an arrow key moves a threshold by: 1, 2 or 5 times a power of ten, about a hundredth of the range. */
  step: number;
}

/** Bins of a histogram. */
export const BINS = 25;

/** The axis of a column: the metric's own range, and as much more as its scores and its threshold need. O(cases) */
export function scaleOf({ metrics, scores }: RunSummary, column: number): Scale {
  const { least: own, most: ownMost, threshold } = metrics[column] ?? {};
  let least = own ?? Infinity;
  let most = ownMost ?? -Infinity;
  const include = (value: number): void => {
    if (value < least) least = value;
    if (value > most) most = value;
  };
  for (let place = column; place < scores.length; place += metrics.length) include(scores[place] as number);
  if (threshold !== undefined) include(threshold);
  if (own === undefined) include(0);
  if (!(most > least)) most = least + 1;
  return { least, most, step: stepOf((most - least) / 100) };
}

function stepOf(about: number): number {
  const power = 10 ** Math.floor(Math.log10(about));
  const factor = [5, 2, 1].find((each) => each * power <= about * 1.001) ?? 1;
  return factor * power;
}

/** Where a value is on the axis, from 0 to 1. */
export function shareOf({ least, most }: Scale, value: number): number {
  return Math.min(1, Math.max(0, (value - least) / (most - least)));
}

/** A value that a user moved to: on the axis, and a multiple of a step without the noise of floating point. */
export function settled({ least, most }: Scale, value: number, step: number): number {
  const digits = Math.min(15, Math.max(0, -Math.floor(Math.log10(step))));
  return Math.min(most, Math.max(least, Number((Math.round(value / step) * step).toFixed(digits))));
}

/** The bin of each case's score; -1 where it has none. */
export function binsOf({ metrics, scores }: RunSummary, column: number, scale: Scale): Int8Array {
  const bins = new Int8Array(scores.length / metrics.length).fill(-1);
  for (let row = 0; row < bins.length; row += 1) {
    const score = scores[row * metrics.length + column] ?? Number.NaN;
    if (!Number.isNaN(score)) bins[row] = Math.min(BINS - 1, Math.floor(shareOf(scale, score) * BINS));
  }
  return bins;
}
