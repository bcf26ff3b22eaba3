/** Estimates of what would be found if it was measured again and again, with confidence intervals. */

import { normalQuantile, studentQuantile } from "./distributions.js";

/** An estimate with its confidence interval. */
export interface Estimate {
  /** What was found. */
  value: number;
  /**
   * The ends of the interval. Both absent where nothing can be said: for a single group of cases, or where the mean scores of groups
   * do not differ.
   */
  low?: number;
  high?: number;
}

/**
 * How likely at least one of `k` runs passes, if `passed` of `runs` did: 1 − C(n − c, k) / C(n, k), which is unbiased
 * (M. Chen et al., Evaluating Large Language Models Trained on Code, arXiv 2107.03374).
 */
export function passAtK(passed: number, runs: number, k: number): number {
  return 1 - allOf(runs - passed, runs, k);
}

/**
 * How likely all of `k` runs pass, if `passed` of `runs` did: C(c, k) / C(n, k), which is unbiased (S. Yao et al.,
 * τ-bench, arXiv 2406.12045).
 */
export function passHatK(passed: number, runs: number, k: number): number {
  return allOf(passed, runs, k);
}

/** How likely all of `k` that are drawn from `all` are among `some` of them. */
function allOf(some: number, all: number, k: number): number {
  let chance = 1;
  for (let at = 0; at < k; at += 1) chance *= Math.max(0, some - at) / (all - at);
  return chance;
}

/** E. B. Wilson's interval of a share (1927). It holds for small counts and shares near 0 and 1 too. */
export function wilson(share: number, count: number, confidence: number): Estimate {
  const z2 = normalQuantile((1 + confidence) / 2) ** 2;
  const middle = (share + z2 / (2 * count)) / (1 + z2 / count);
  const half = Math.sqrt((z2 * share * (1 - share)) / count + (z2 / (2 * count)) ** 2) / (1 + z2 / count);
  return { value: share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** The mean of all values, where those of one group depend on each other, as the runs of a case do. */
export function mean(groups: readonly (readonly number[])[]): number {
  return sum(groups.map(sum)) / countIn(groups);
}

/**
 * The mean of all values with an interval that respects groups: with the cluster-robust standard error and Student's
 * distribution, whose degrees of freedom are fewer for groups of different sizes. Without an interval where the groups' means do not differ.
 */
export function clusteredMean(groups: readonly (readonly number[])[], confidence: number): Estimate {
  const value = mean(groups);
  if (groups.length < 2) return { value };
  const error = clusteredError(groups, value);
  if (isNone(error, value)) return { value };
  const half = studentQuantile((1 + confidence) / 2, freedomOf(groups)) * error;
  return { value, low: value - half, high: value + half };
}

/** Whether nothing varies between groups: what is left of a difference of equals is noise of the arithmetic. */
function isNone(error: number, value: number): boolean {
  return error <= 1e-12 * Math.abs(value);
}

/**
 * The cluster-robust standard error of a mean (CR2 of R. M. Bell and D. F. McCaffrey, Bias Reduction in Standard Errors, 2002):
 * K.-Y. Liang's and S. L. Zeger's (1986), without its bias for few groups. Of G groups of one size it is theirs times √(G/(G − 1)).
 */
export function clusteredError(groups: readonly (readonly number[])[], value: number): number {
  const count = countIn(groups);
  const squares = groups.map((group) => sum(group.map((one) => one - value)) ** 2 / (1 - group.length / count));
  return Math.sqrt(sum(squares)) / count;
}

/**
 * The degrees of freedom of this error, by F. E. Satterthwaite's approximation for values of equal variance (Bell and McCaffrey):
 * G − 1 for G groups of one size, fewer for others.
 */
function freedomOf(groups: readonly (readonly number[])[]): number {
  const count = countIn(groups);
  const shares = groups.map(({ length }) => length / count);
  const parts = shares.map((share) => share ** 2 / (1 - share));
  const squares = (values: readonly number[]): number => sum(values.map((value) => value * value));
  return 1 / (squares(shares) + sum(parts) ** 2 - squares(parts));
}

/**
 * A share of values that are 0 or 1, with Wilson's interval for as many values as there are in effect.
 *
 * @param most At most how many there are in effect, of values that are shares themselves.
 */
export function clusteredShare(groups: readonly (readonly number[])[], confidence: number, most?: number): Estimate {
  const value = mean(groups);
  const count = countIn(groups);
  if (groups.length < 2) return count === 1 ? wilson(value, 1, confidence) : { value };
  return wilson(value, effectiveCount(groups, confidence, most), confidence);
}

/**
 * How many values there are in effect where those of one group depend on each other: as many as would have the same standard
 * error if they did not (L. Kish's design effect, 1965), fewer if that has few degrees of freedom (E. L. Korn and B. I. Graubard,
 * Confidence Intervals for Proportions with Small Expected Number of Positive Counts, 1998). At least as many as there are
 * groups; groups of different sizes count for fewer, and at most all.
 */
function effectiveCount(groups: readonly (readonly number[])[], confidence: number, most = countIn(groups)): number {
  const share = mean(groups);
  const least = countIn(groups) ** 2 / sum(groups.map(({ length }) => length ** 2));
  const error = clusteredError(groups, share);
  if (isNone(error, share)) return least;
  const quantile = (freedom: number): number => studentQuantile((1 + confidence) / 2, freedom);
  // Of a confidence near 0 both are 0.
  const certainty = quantile(most - 1) / quantile(freedomOf(groups)) || 1;
  return Math.min(most, Math.max(least, (share * (1 - share)) / (error / certainty) ** 2));
}

/** Where values vary: between groups and within them. */
export interface Variance {
  between: number;
  within: number;
}

/**
 * The variance between groups and within them, by the analysis of variance with one random effect (S. R. Searle, Variance
 * Components, 1992, chapter 3). Undefined where no group has two values or there is only one group.
 */
export function varianceOf(groups: readonly (readonly number[])[]): Variance | undefined {
  const counts = groups.map(({ length }) => length);
  const count = sum(counts);
  if (groups.length < 2 || count === groups.length) return undefined;
  const value = mean(groups);
  const means = groups.map((group) => sum(group) / group.length);
  const within = sum(groups.map((group, at) => sum(group.map((one) => (one - (means[at] as number)) ** 2))));
  const between = sum(means.map((one, at) => (counts[at] as number) * (one - value) ** 2));
  const withinMean = within / (count - groups.length);
  const usual = (count - sum(counts.map((one) => one * one)) / count) / (groups.length - 1);
  const found = (between / (groups.length - 1) - withinMean) / usual;
  // What is left of a difference of equals is noise of the arithmetic.
  return { between: found > 1e-12 ? found : 0, within: withinMean };
}

/** How many cases, each run so often, give an interval that reaches this far to both sides of the mean. */
export function casesFor(reach: number, { between, within }: Variance, runs: number, confidence: number): number {
  const z = normalQuantile((1 + confidence) / 2);
  return Math.max(2, Math.ceil((z / reach) ** 2 * (between + within / runs)));
}

/** How many runs of each case give such an interval, by the number of cases; undefined if none do, since the cases differ too much. */
export function runsFor(reach: number, variance: Variance, cases: number, confidence: number): number | undefined {
  const z = normalQuantile((1 + confidence) / 2);
  const left = (cases * reach ** 2) / z ** 2 - variance.between;
  return left > 0 ? Math.max(1, Math.ceil(variance.within / left)) : undefined;
}

function countIn(groups: readonly (readonly number[])[]): number {
  return sum(groups.map(({ length }) => length));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
