/** Scores and counts as drawings: how they are spread, and one beside its threshold. */

import { EvalStatus } from "../enums.js";
import { scoreRange } from "../metric-info.js";
import type { EvalMetricResult } from "../types.js";
import { hasScore } from "./difference.js";
import { html, type Markup, tone } from "./html-markup.js";
import type { StatusCounts } from "./results.js";
import { scoreText } from "./text.js";

/** The counts as one bar; it says nothing that is not said in words beside it. */
export function share({ passed, failed, notEvaluated }: StatusCounts): Markup {
  const all = Math.max(passed + failed + notEvaluated, 1);
  let x = 0;
  const parts = (
    [
      ["passed", passed],
      ["failed", failed],
      ["unknown", notEvaluated],
    ] as const
  ).map(([name, amount]) => {
    const width = (1000 * amount) / all;
    const part =
      amount === 0 ? undefined : html`<rect class="${name}" x="${short(x)}" y="0" width="${short(width)}" height="8"/>`;
    x += width;
    return part;
  });
  return html`<svg class="share" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

/** The greatest score a metric can give. */
function scaleOf(metricName: string): number {
  return scoreRange(metricName)?.[1] ?? 1;
}

const BINS = 20;

/** How many cases have which score, failed below passed, with a line at the threshold. */
export function bins(results: readonly EvalMetricResult[], threshold: number | undefined): Markup {
  const scored = results.filter(hasScore);
  if (scored.length === 0) return html`<span class="muted">no scores</span>`;
  const scores = scored.map(({ score }) => score ?? 0).sort((a, b) => a - b);
  const scale = scored.reduce(
    (most, { metricName, score, threshold }) => Math.max(most, scaleOf(metricName), score ?? 0, threshold ?? 0),
    0,
  );
  const counts = Array.from({ length: BINS }, () => ({ passed: 0, failed: 0 }));
  for (const { score = 0, evalStatus } of scored) {
    const bin = counts[Math.min(BINS - 1, Math.max(0, Math.floor((score / scale) * BINS)))];
    if (bin) bin[evalStatus === EvalStatus.PASSED ? "passed" : "failed"]++;
  }
  const highest = counts.reduce((most, { passed, failed }) => Math.max(most, passed + failed), 1);
  const bars = counts.map(({ passed, failed }, at) => {
    const [up, down] = [(24 * passed) / highest, (24 * failed) / highest];
    const rect = (name: string, y: number, height: number) =>
      height === 0
        ? undefined
        : html`<rect class="${name}" x="${at * 8 + 1}" y="${short(y)}" width="6" height="${short(Math.max(height, 1.5))}"/>`;
    return [rect("failed", 26 - down, down), rect("passed", 26 - down - up, up)];
  });
  const line =
    threshold === undefined
      ? undefined
      : html`<path class="threshold" d="M${short(thresholdAt(threshold, scale, 160))} 1v26"/>`;
  const middle = scores[Math.floor(scores.length / 2)];
  return html`<svg class="bins" viewBox="0 0 160 28" role="img" aria-label="From ${scoreText(scores[0])} to ${scoreText(scores.at(-1))}, median ${scoreText(middle)}"><path class="axis" d="M0 26.5h160"/>${bars}${line}</svg>`;
}

/** Where an estimate lies: its value as a dot, its interval as a bar, on a scale whose middle or beginning is marked. */
export function intervalBar(
  { value, low, high }: { value: number; low?: number | undefined; high?: number | undefined },
  [least, most]: readonly [number, number],
  zero: number,
  label: string,
): Markup {
  const at = (one: number) => short(4 + (152 * (Math.min(most, Math.max(least, one)) - least)) / (most - least));
  const reach =
    low === undefined || high === undefined
      ? undefined
      : html`<path class="reach" d="M${at(low)} 8H${at(high)}M${at(low)} 4v8M${at(high)} 4v8"/>`;
  return html`<svg class="interval" viewBox="0 0 160 16" role="img" aria-label="${label}"><path class="axis" d="M4 8h152"/><path class="zero" d="M${at(zero)} 0v16"/>${reach}<circle cx="${at(value)}" cy="8" r="3.5"/></svg>`;
}

/** The position of a threshold's line, wholly inside the drawing. */
function thresholdAt(threshold: number, scale: number, width: number): number {
  return Math.min(width - 1, Math.max(1, (threshold / scale) * width));
}

/** A score as a bar, with a line at the threshold. */
export function scoreBar(metric: EvalMetricResult): Markup | undefined {
  if (!hasScore(metric)) return undefined;
  const { score = 0, threshold } = metric;
  const scale = Math.max(scaleOf(metric.metricName), score, threshold ?? 0);
  const line =
    threshold === undefined
      ? undefined
      : html`<path class="threshold" d="M${short(thresholdAt(threshold, scale, 128))} 0v8"/>`;
  const value = Math.max(0, (score / scale) * 128);
  return html`<svg class="bar ${tone(metric.evalStatus)}" viewBox="0 0 128 8" aria-hidden="true"><rect class="track" y="2" width="128" height="4" rx="2"/><rect class="value" y="2" width="${short(value)}" height="4" rx="2"/>${line}</svg>`;
}

/** A length without needless digits. */
export function short(length: number): string {
  return String(Math.round(length * 100) / 100);
}
