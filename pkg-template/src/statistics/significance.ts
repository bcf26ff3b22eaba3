/** Whether two runs differ by more than chance. Values are the differences of pairs, such as of cases in two runs. */

import { binomialAtMost, studentBeyond, studentQuantile } from "./distributions.js";
import { clusteredError } from "./estimates.js";

/** The chance that {@link detectableDifference} is about, as is usual. */
const POWER = 0.8;

/**
 * How likely chance alone gives a split as uneven as this, or more: the exact sign test, which for paired verdicts is Q.
 * McNemar's (1947). `better` and `worse` count the pairs that changed; those that did not say nothing.
 */
export function signTest(better: number, worse: number): number {
  return Math.min(1, 2 * binomialAtMost(Math.min(better, worse), better + worse, 0.5));
}

/**
 * How likely chance alone makes the mean of differences as far from 0 as this, or farther. Where all that are not 0 are
 * equally large, as those of verdicts are, by the exact sign test; otherwise by Student's test of pairs, but at least
 * 2¹⁻ᵐ for m that are not 0: the chance that all have one sign. O(n).
 */
export function meanTest(differences: readonly number[]): number {
  const rose = differences.filter((one) => one > 0).length;
  const fell = differences.filter((one) => one < 0).length;
  const sizes = differences.flatMap((one) => (one === 0 ? [] : Math.abs(one)));
  const largest = sizes.reduce((most, one) => Math.max(most, one), 0);
  if (sizes.every((size) => largest - size <= 1e-9 * largest)) return signTest(rose, fell);
  const mean = meanOf(differences);
  const t = mean / errorOf(differences, mean);
  return Math.max(studentBeyond(t, differences.length - 1), 2 ** (1 - sizes.length));
}

/**
 * S. Holm's correction for several tests (1979): the same chances, raised so that with as many tests as these the chance of
 * even one false alarm stays at what is asked. In the order they are given in.
 */
export function holm(chances: readonly number[]): number[] {
  const order = chances.map((_, at) => at).sort((a, b) => (chances[a] as number) - (chances[b] as number));
  const corrected: number[] = [];
  let most = 0;
  for (const [rank, at] of order.entries()) {
    most = Math.max(most, Math.min(1, (chances.length - rank) * (chances[at] as number)));
    corrected[at] = most;
  }
  return corrected;
}

/**
 * The smallest true difference that a comparison which varies like this one finds in four of five repetitions: the quantiles
 * of Student's distribution for the confidence and for 0.8, times the standard error (J. Cohen, Statistical Power Analysis,
 * 1988, approximately: within 3 % of the noncentral distribution from five pairs up). Undefined where nothing varies.
 */
export function detectableDifference(differences: readonly number[], confidence: number): number | undefined {
  const freedom = differences.length - 1;
  if (freedom < 1) return undefined;
  const error = errorOf(differences, meanOf(differences));
  if (!(error > 0 && Number.isFinite(error))) return undefined;
  return (studentQuantile((1 + confidence) / 2, freedom) + studentQuantile(POWER, freedom)) * error;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

/** The standard error of the mean of values that do not depend on each other. */
function errorOf(values: readonly number[], mean: number): number {
  return clusteredError(
    values.map((value) => [value]),
    mean,
  );
}
