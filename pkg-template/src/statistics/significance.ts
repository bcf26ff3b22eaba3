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
  const { rose, fell, sizes, areEqual } = changesIn(differences);
  if (areEqual) return signTest(rose, fell);
  const mean = meanOf(differences);
  const t = mean / errorOf(differences, mean);
  return Math.max(studentBeyond(t, differences.length - 1), 2 ** (1 - sizes.length));
}

/** How many differences are above and below 0, how large these are, and whether all are equally large. */
function changesIn(differences: readonly number[]) {
  const rose = differences.filter((one) => one > 0).length;
  const fell = differences.filter((one) => one < 0).length;
  const sizes = differences.flatMap((one) => (one === 0 ? [] : Math.abs(one)));
  const largest = sizes.reduce((most, one) => Math.max(most, one), 0);
  return { rose, fell, sizes, areEqual: sizes.every((size) => largest - size <= 1e-9 * largest) };
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
 * The smallest true difference that a comparison which varies like this one finds in four of five repetitions, by the test
 * that it is put to. Undefined where nothing varies, and where not even the largest difference would be found so often.
 *
 * For the sign test, by its exact power: as many pairs as now change against the difference, so many more change with it
 * that the split is uneven enough, each by as much as those that changed now. For Student's test: the quantiles of his distribution for the
 * confidence and for 0.8, times the standard error (J. Cohen, Statistical Power Analysis, 1988, approximately: within 3%
 * of the noncentral distribution from five pairs up).
 */
export function detectableDifference(differences: readonly number[], confidence: number): number | undefined {
  const { rose, fell, sizes, areEqual } = changesIn(differences);
  const pairs = differences.length;
  // Below six pairs, at 95%, not even one sign for all of them is less likely by chance.
  if (sizes.length === 0 || signTest(pairs, 0) > atMost(confidence)) return undefined;
  if (areEqual) {
    const share = detectableShare(Math.min(rose, fell) / pairs, pairs, confidence);
    return share === undefined ? undefined : share * meanOf(sizes);
  }
  const error = errorOf(differences, meanOf(differences));
  const freedom = pairs - 1;
  return (studentQuantile((1 + confidence) / 2, freedom) + studentQuantile(POWER, freedom)) * error;
}

/** The chance that is small enough, in spite of rounding. */
const atMost = (confidence: number): number => 1 - confidence + 1e-12;

/** The share of pairs that have to change for the better beyond those that get worse, so that the sign test finds it. */
function detectableShare(against: number, pairs: number, confidence: number): number | undefined {
  let [low, high] = [against, 1 - against];
  if (signPower(high, against, pairs, confidence) < POWER) return undefined;
  while (high - low > 1e-5) {
    const middle = (low + high) / 2;
    if (signPower(middle, against, pairs, confidence) < POWER) low = middle;
    else high = middle;
  }
  return high - against;
}

/** How often the sign test is sure of a change, if pairs change with it and against it with these chances. */
function signPower(along: number, against: number, pairs: number, confidence: number): number {
  const chance = Math.min(1, along + against);
  // How many change is more than six standard deviations from its mean once in 10⁸ times.
  const reach = 6 * Math.sqrt(pairs * chance * (1 - chance)) + 1;
  const least = Math.max(0, Math.floor(pairs * chance - reach));
  const most = Math.min(pairs, Math.ceil(pairs * chance + reach));
  let power = 0;
  let below = least === 0 ? 0 : binomialAtMost(least - 1, pairs, chance);
  let needed = 0;
  for (let changed = least; changed <= most; changed += 1) {
    const upTo = binomialAtMost(changed, pairs, chance);
    // Of so many that changed, so many have to be along with it.
    needed = Math.max(needed, Math.ceil(changed / 2));
    while (needed <= changed && signTest(needed, changed - needed) > atMost(confidence)) needed += 1;
    if (upTo > below && needed <= changed) {
      power += (upTo - below) * (needed === 0 ? 1 : 1 - binomialAtMost(needed - 1, changed, along / chance));
    }
    below = upTo;
  }
  return power;
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
