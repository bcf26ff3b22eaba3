/** Whether two runs differ by more than chance. */

import { binomialAtMost, normalQuantile } from "./distributions.js";

/**
 * How likely chance alone gives a split as uneven as this, or more: the exact sign test, which for paired verdicts is Q.
 * McNemar's (1947). `better` and `worse` count the pairs that changed; those that did not say nothing.
 */
export function signTest(better: number, worse: number): number {
  return Math.min(1, 2 * binomialAtMost(Math.min(better, worse), better + worse, 0.5));
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
 * The smallest difference that a comparison with this standard error finds with a chance of `power`, at two-sided tests
 * with this confidence.
 */
export function detectableDifference(error: number, confidence: number, power: number): number {
  return (normalQuantile((1 + confidence) / 2) + normalQuantile(power)) * error;
}
