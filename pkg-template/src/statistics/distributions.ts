/**
 * The distributions that intervals and tests are made of. Written here since the libraries that have them would make the
 * package larger by 180 kB, for these three functions; `tests/statistics` holds them against scipy.
 */

/** Coefficients of C. Lanczos' series for the gamma function, as P. Godfrey computed them for g = 7. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** The logarithm of the gamma function of a number above 0. */
function logGamma(x: number): number {
  const [first, ...others] = LANCZOS;
  const sum = others.reduce<number>((total, coefficient, at) => total + coefficient / (x + at), first);
  const t = x + 6.5;
  return Math.log(Math.sqrt(2 * Math.PI) * sum) + (x - 0.5) * Math.log(t) - t;
}

/**
 * The regularized incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22) as W. J. Lentz evaluates
 * one. Its relative error is below 10⁻¹² for a and b up to 10⁴.
 */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on this side of the mean; the other one is its mirror image.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const logFactor = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  const tiny = 1e-300;
  const away = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 10_000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return (Math.exp(logFactor) * fraction) / a;
}

/** How likely at most `successes` of some trials succeed, each with a chance. */
export function binomialAtMost(successes: number, trials: number, chance: number): number {
  return successes >= trials ? 1 : incompleteBeta(1 - chance, trials - successes, successes + 1);
}

/** Where a standard normal variable lies below with a chance of 0.5 to 1. */
export function normalQuantile(chance: number): number {
  return zeroOf((x) => normalBelow(x) - chance);
}

/** How likely a standard normal variable lies below a number from 0 to 30. */
export function normalBelow(x: number): number {
  // erf by its series of positive terms (DLMF 7.6.2), which needs some 100 of them at 6.
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * 1e-17; n += 1) {
    term *= (x * x) / (2 * n + 1);
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/** Where a variable with Student's distribution lies below with a chance of 0.5 to 1. */
export function studentQuantile(chance: number, freedom: number): number {
  return zeroOf((t) => 1 - studentBeyond(t, freedom) / 2 - chance);
}

/** How likely a variable with Student's distribution is at least this far from 0, to whichever side. */
export function studentBeyond(t: number, freedom: number): number {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/** Where a function that grows from at most 0 at 0 is 0, to the last digits: by false position (the Illinois algorithm). */
function zeroOf(f: (x: number) => number): number {
  let [low, high, below, above] = [0, 1, f(0), f(1)];
  if (below === 0) return low;
  while (above < 0 && high < 2 ** 60) [low, below, high, above] = [high, above, 2 * high, f(2 * high)];
  let x = low;
  for (let round = 0, moved = 0; round < 100; round += 1) {
    const next = (low * above - high * below) / (above - below);
    if (Math.abs(next - x) <= Number.EPSILON * next) return next;
    x = next;
    const y = f(x);
    // The end that stays where it is for a second time counts for half, or the other one would creep towards the zero.
    if (y < 0) {
      [low, below] = [x, y];
      if (moved === -1) above /= 2;
      moved = -1;
    } else {
      [high, above] = [x, y];
      if (moved === 1) below /= 2;
      moved = 1;
    }
  }
  return x;
}
