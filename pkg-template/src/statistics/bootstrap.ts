/**
 * The percentile bootstrap (B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13): a figure is
 * computed for many samples of the same size drawn from the data with replacement, and the interval is what lies between the
 * tails of these figures. For paired data the values are the differences of the pairs.
 *
 * O(resamples · n) time, O(resamples) space. Deterministic: the draws depend on the seed and on n alone, so the
 * interval of the negated values is the negated interval.
 */

import { normalBelow, studentQuantile } from "./distributions.js";

/** A confidence interval. */
export interface Interval {
  low: number;
  high: number;
}

/** How an interval is made. */
export interface Bootstrap {
  resamples: number;
  seed: number;
  confidence: number;
}

/**
 * The confidence interval of the mean of values.
 *
 * @returns undefined for fewer than two values, which say nothing of how values vary, and where a sum overflows.
 */
export function meanInterval(values: Float64Array, { resamples, seed, confidence }: Bootstrap): Interval | undefined {
  const [first] = values;
  if (first === undefined || values.length < 2) return undefined;
  if (values.every((value) => value === first)) return { low: first, high: first };
  const sums = percentiles(resampledSums(values, resamples, seed), values.length, confidence);
  const [low, high] = [sums.low / values.length, sums.high / values.length];
  return Number.isFinite(low) && Number.isFinite(high) ? { low: low + 0, high: high + 0 } : undefined;
}

/**
 * What lies between the tails of the figures of resamples of n data. With B resamples and k = ⌊(B + 1)·tail⌋ it reaches from
 * the kth smallest to the kth largest (p. 160), from the smallest to the largest if k is 0. Figures of resamples of n data vary
 * less than figures of n new data do: the tail is that of T. C. Hesterberg's expanded percentile interval (What Teachers
 * Should Know about the Bootstrap, 2015, section 3.3), which is somewhat smaller than (1 − confidence)/2 for few data.
 */
export function percentiles(figures: Float64Array, n: number, confidence: number): Interval {
  const sorted = figures.sort();
  // What rounding takes away must not move k.
  const k = Math.max(1, Math.floor((sorted.length + 1) * tailOf(n, confidence) + 1e-9));
  return { low: sorted[k - 1] as number, high: sorted[sorted.length - k] as number };
}

/** Which share of the resamples lies beyond either end of an interval, by the number of values. */
function tailOf(count: number, confidence: number): number {
  const reach = Math.sqrt(count / (count - 1)) * studentQuantile((1 + confidence) / 2, count - 1);
  return 1 - normalBelow(Math.min(reach, 30));
}

/**
 * The sum of each resample. The same data are drawn for values of the same number and seed, so that several columns can be
 * summed one after the other. Indices are words of xoshiro128** (D. Blackman and S. Vigna, 2018) scaled to n, whose bias,
 * n/2³² at most, is far below what resampling can show. Its state stays in local variables: this is the one loop here
 * that takes time.
 */
export function resampledSums(values: Float64Array, resamples: number, seed: number): Float64Array {
  const n = values.length;
  const scale = n / 2 ** 32;
  const sums = new Float64Array(resamples);
  let [a, b, c, d] = stateOf(seed);
  for (let resample = 0; resample < resamples; resample += 1) {
    let sum = 0;
    for (let draw = 0; draw < n; draw += 1) {
      const scrambled = Math.imul(b, 5);
      const random = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
      const shifted = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = (d << 11) | (d >>> 21);
      sum += values[Math.floor(random * scale)] as number;
    }
    sums[resample] = sum;
  }
  return sums;
}

/** Four words from a seed by SplitMix32, as the authors of xoshiro advise; never all zero. */
function stateOf(seed: number): [number, number, number, number] {
  let state = (seed ^ Math.floor(seed / 2 ** 32)) | 0;
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    let word = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return word ^ (word >>> 15);
  };
  return [next(), next(), next(), next()];
}
