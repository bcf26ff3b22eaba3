/** Formats numbers, names and counts for display. */

/**
 * A score with three decimals, and more if it would otherwise look equal to a threshold that it differs from; an en dash
 * for no score.
 */
export function scoreText(score: number | undefined, threshold?: number): string {
  if (score === undefined || !Number.isFinite(score)) return "–";
  if (score !== 0 && Math.abs(score) < 5e-4) return score.toExponential(2);
  if (Math.abs(score) >= 1e12) return score.toPrecision(5);
  for (let digits = 3; digits < 17; digits += 1) {
    const text = score.toFixed(digits);
    if (score === threshold || Number(text) !== threshold) return text;
  }
  return String(score);
}

const integerFormat = new Intl.NumberFormat("en");
const decimalFormat = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const costFormat = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** An amount with thousands separators and at most three decimals: `12,345.5`. */
export function amountText(amount: number | undefined): string {
  return amount === undefined || !Number.isFinite(amount) ? "–" : decimalFormat.format(amount);
}

/** The currency of the prices that are entered here, and thus of what the runs of this page cost. */
export const CURRENCY = "USD";

/** What a run cost, with three digits. */
export function costText(cost: number): string {
  return cost > 0 && cost < 0.0001 ? "less than 0.0001" : costFormat.format(cost);
}

/** `1 case`, `2 cases`, `1,000 replies`. */
export function count(amount: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${integerFormat.format(amount)} ${amount === 1 ? noun : plural}`;
}

/** The first `length` UTF-16 code units, or one less if that would split a surrogate pair. */
export function head(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** A chance that may be far below one percent: `0.4%`. */
export function percentOf(chance: number): string {
  return chance < 0.0005 ? "less than 0.1%" : `${Number((100 * chance).toFixed(1))}%`;
}
