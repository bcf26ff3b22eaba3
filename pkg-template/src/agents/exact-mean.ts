/**
 * The mean of numbers as a rational number, rounded once: Python's `statistics.mean`. The mean of 0.1, 0.1 and 0.1 is 0.1.
 * Sums in integers of 2⁻¹⁰⁷⁴, the smallest of all doubles. O(n) steps on integers of at most 2,200 bits.
 */
export function exactMean(numbers: readonly number[]): number | undefined {
  if (numbers.length === 0) return undefined;
  const sum = numbers.reduce((total, number) => total + inSmallest(number), 0n);
  return nearest(sum, BigInt(numbers.length));
}

const view = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(8));

/** A finite double as a multiple of 2⁻¹⁰⁷⁴. */
function inSmallest(number: number): bigint {
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const magnitude = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return number < 0 ? -magnitude : magnitude;
}

/** The double next to `numerator / denominator` multiples of 2⁻¹⁰⁷⁴; of two that are as near, the even one. */
function nearest(numerator: bigint, denominator: bigint): number {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const bits = (magnitude / denominator).toString(2).length;
  const shift = BigInt(Math.max(bits - 53, 0));
  const unit = denominator << shift;
  let quotient = magnitude / unit;
  const twice = (magnitude % unit) * 2n;
  if (twice > unit || (twice === unit && (quotient & 1n) === 1n)) quotient += 1n;
  if (quotient === 1n << 53n) return withSign(numerator, bitsToDouble(1n << 52n, shift + 1n));
  return withSign(numerator, bitsToDouble(quotient, shift));
}

/** `significand · 2^(shift − 1074)` for a significand of at most 53 bits, which has all 53 if it is shifted. */
function bitsToDouble(significand: bigint, shift: bigint): number {
  const isNormal = significand >> 52n === 1n;
  view.setBigUint64(0, isNormal ? ((shift + 1n) << 52n) | (significand & 0xf_ffff_ffff_ffffn) : significand);
  return view.getFloat64(0);
}

function withSign(sign: bigint, magnitude: number): number {
  return sign < 0n ? -magnitude : magnitude;
}
