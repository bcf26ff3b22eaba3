/**
 * How far a judge agrees with people, and people with each other. Verdicts of one group depend on each other, as do the turns
 * of a case; intervals respect that.
 */

import { grouped } from "../lists.js";
import { percentiles, resampledSums } from "../statistics/bootstrap.js";
import { normalQuantile } from "../statistics/distributions.js";
import { clusteredShare, type Estimate } from "../statistics/estimates.js";
import type { Share } from "./corrected.js";
import { Passes } from "./passes.js";

/** A verdict that was labelled: what the judge and what people say, as categories from 0 up. */
export interface Pair {
  judge: number;
  people: number;
  /** What it depends on: its case. */
  group: string;
}

/** A share of pairs, with an interval that respects groups; undefined where there is none. */
export function shareOf<P extends { group: string }>(
  pairs: readonly P[],
  counts: (pair: P) => boolean,
  confidence: number,
): Estimate | undefined {
  if (pairs.length === 0) return undefined;
  const groups = grouped(pairs, ({ group }) => group);
  return clusteredShare(
    groups.map((members) => members.map((pair) => (counts(pair) ? 1 : 0))),
    confidence,
  );
}

/** A share of pairs, and as how many independent ones they count. */
export function shareIn<P extends { group: string }>(pairs: readonly P[], counts: (pair: P) => boolean): Share {
  const passes = new Passes();
  for (const members of grouped(pairs, ({ group }) => group)) {
    passes.add(
      (members[0] as P).group,
      members.map((pair) => ({ passes: counts(pair) })),
    );
  }
  return passes.share as Share;
}

/**
 * J. Cohen's kappa (1960; weighted 1968), with the interval of J. L. Fleiss, J. Cohen and B. S. Everitt (1969), whose variance
 * is that of each pair's influence, by R. A. Fisher's transformation; influences of one group are added up first. `squared` weighs a disagreement by the square of
 * its size. Undefined where chance alone would agree always; without an interval for perfect agreement or a single group.
 */
export function kappaOf(
  pairs: readonly Pair[],
  categories: number,
  squared: boolean,
  confidence: number,
): Estimate | undefined {
  const n = pairs.length;
  const weight = (a: number, b: number): number =>
    squared ? 1 - ((a - b) / Math.max(1, categories - 1)) ** 2 : a === b ? 1 : 0;
  const [rows, columns] = (["judge", "people"] as const).map((side) => {
    const counts = Array.from({ length: categories }, () => 0);
    for (const pair of pairs) counts[pair[side]] = (counts[pair[side]] as number) + 1 / n;
    return counts;
  }) as [number[], number[]];
  const ofRow = rows.map((_, a) => sum(columns.map((share, b) => share * weight(a, b))));
  const ofColumn = columns.map((_, b) => sum(rows.map((share, a) => share * weight(a, b))));
  const observed = sum(pairs.map(({ judge, people }) => weight(judge, people))) / n;
  const expected = sum(rows.map((share, a) => share * (ofRow[a] as number)));
  if (!(1 - expected > 1e-12)) return undefined;
  const value = (observed - expected) / (1 - expected);
  const middle = observed * expected - 2 * expected + observed;
  const influences = new Map<string, number>();
  for (const { judge, people, group } of pairs) {
    const own =
      weight(judge, people) * (1 - expected) -
      ((ofRow[judge] as number) + (ofColumn[people] as number)) * (1 - observed) -
      middle;
    influences.set(group, (influences.get(group) ?? 0) + own);
  }
  const error = Math.sqrt(sum([...influences.values()].map((one) => one * one))) / (n * (1 - expected) ** 2);
  if (!(error > 1e-12) || influences.size < 2) return { value };
  // R. A. Fisher's transformation: the error of a kappa near 1 is not the same to both sides.
  const half = (normalQuantile((1 + confidence) / 2) * error) / (1 - value * value);
  return { value, low: Math.tanh(Math.atanh(value) - half), high: Math.tanh(Math.atanh(value) + half) };
}

/** What several people say of one verdict, as categories from 0 up. */
export interface Unit {
  categories: readonly number[];
  /** What it depends on: its case. */
  group: string;
}

/**
 * K. Krippendorff's alpha: how far those agree who labelled the same (Content Analysis, 2004, chapter 11). 1 is perfect, 0 what
 * chance would give. Its interval is that of the bootstrap over groups, with draws that are always the same. Undefined where
 * nothing was labelled twice, or all labels are the same; without an interval for perfect agreement or a single group.
 *
 * @param ordinal Whether labels are ranks; otherwise any two that differ are as different as any other two.
 */
export function alphaOf(
  units: readonly Unit[],
  categories: number,
  ordinal: boolean,
  confidence: number,
): Estimate | undefined {
  const groups = grouped(
    units.filter((unit) => unit.categories.length > 1),
    ({ group }) => group,
  );
  const cells = Array.from({ length: categories }, (_, a) =>
    Array.from({ length: categories - a }, (_, more) => ({ a, b: a + more })),
  ).flat();
  const ofGroups = cells.map(({ a, b }) =>
    Float64Array.from(groups, (members) => sum(members.map((unit) => coincidences(unit.categories, a, b)))),
  );
  const alphaOfCounts = (countOf: (cell: number) => number): number => {
    const totals = Array.from({ length: categories }, () => 0);
    for (const [cell, { a, b }] of cells.entries()) {
      totals[a] = (totals[a] as number) + countOf(cell);
      if (a !== b) totals[b] = (totals[b] as number) + countOf(cell);
    }
    let [observed, expected] = [0, 0];
    for (const [cell, { a, b }] of cells.entries()) {
      if (a === b) continue;
      const [low, high] = [totals[a] as number, totals[b] as number];
      const distance = ordinal ? (sum(totals.slice(a, b + 1)) - (low + high) / 2) ** 2 : 1;
      observed += countOf(cell) * distance;
      expected += low * high * distance;
    }
    return expected > 1e-9 ? 1 - (observed * (sum(totals) - 1)) / expected : Number.NaN;
  };
  const value = alphaOfCounts((cell) => sum([...(ofGroups[cell] as Float64Array)]));
  if (Number.isNaN(value)) return undefined;
  if (value > 1 - 1e-12 || groups.length < 2) return { value };
  const drawn = ofGroups.map((counts) => resampledSums(counts, RESAMPLES, SEED));
  const alphas = Float64Array.from({ length: RESAMPLES }, (_, draw) => {
    const found = alphaOfCounts((cell) => drawn[cell]?.[draw] as number);
    // All that were drawn say the same.
    return Number.isNaN(found) ? 1 : found;
  });
  return { value, ...percentiles(alphas, groups.length, confidence) };
}

const RESAMPLES = 2000;
const SEED = 0;

/** How often two categories meet in the labels of one verdict, each label counting once in all. */
function coincidences(labels: readonly number[], a: number, b: number): number {
  const [ofA, ofB] = [a, b].map((category) => labels.filter((one) => one === category).length) as [number, number];
  return (a === b ? ofA * (ofA - 1) : ofA * ofB) / (labels.length - 1);
}

/**
 * The difference of two shares of the same verdicts, with the interval of A. Agresti and Y. Min (2005): one half is added to
 * each of the four counts, which makes it hold for few verdicts too. Groups add up their differences first.
 */
export function pairedDifference(
  pairs: readonly { first: boolean; second: boolean; group: string }[],
  confidence: number,
): Estimate {
  const n = pairs.length;
  const value = sum(pairs.map(difference)) / n;
  const groups = grouped(pairs, ({ group }) => group);
  if (groups.length < 2) return { value };
  const middle = sum(pairs.map(difference)) / (n + 2);
  const squares = groups.map((members) => sum(members.map((pair) => difference(pair) - middle)) ** 2);
  // Those that are added: a half each of 1, −1, 0 and 0.
  const added = ((1 - middle) ** 2 + (1 + middle) ** 2 + 2 * middle ** 2) / 2;
  const half = (normalQuantile((1 + confidence) / 2) * Math.sqrt(sum(squares) + added)) / (n + 2);
  return { value, low: Math.max(-1, middle - half), high: Math.min(1, middle + half) };
}

export const difference = ({ first, second }: { first: boolean; second: boolean }): number =>
  Number(first) - Number(second);

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
