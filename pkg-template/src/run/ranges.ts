/** The ranges that custom metrics declare for their scores. */

import type { EngineError, HeaderMetric } from "../generated/contract.js";
import type { EvalSetResult, Interval, MetricInfo, Mistake } from "../types.js";

/** The range that google-adk takes for a metric that declares none; nothing is warned of because of it. */
export const ASSUMED: NonNullable<MetricInfo["metricValueInfo"]> = {
  interval: { minValue: 0, openAtMin: false, maxValue: 1, openAtMax: false },
};

/** By registry and name. */
const declared = /* @__PURE__ */ new WeakMap<object, Map<string, Interval>>();

/** Notes the range of a metric of a registry; undefined for one that declares none. */
export function declareRange(registry: object, name: string, interval: Interval | undefined): void {
  const ranges = declared.get(registry) ?? new Map<string, Interval>();
  declared.set(registry, ranges);
  if (interval === undefined) ranges.delete(name);
  else ranges.set(name, interval);
}

/** Gives a registry the ranges of another. */
export function copyRanges(from: object, to: object): void {
  declared.set(to, new Map(declared.get(from)));
}

/** The warnings about thresholds that every score or none reaches, in the words of the engine about its own metrics. */
export function thresholdWarnings(
  registry: object,
  metrics: readonly Pick<HeaderMetric, "metricName" | "threshold" | "criterion">[],
): EngineError[] {
  return metrics.flatMap(({ metricName, threshold = 0, criterion }): EngineError[] => {
    const range = declared.get(registry)?.get(metricName);
    if (range === undefined || threshold === 0 || isIn(range, threshold)) return [];
    const which = threshold <= range.minValue ? "every" : "no";
    const scores = rangeText(range);
    return [
      {
        code: "invalid_input",
        message: `${which} score reaches the threshold ${threshold} of \`${metricName}\`, whose scores are ${scores}`,
        input: "config",
        path: `criteria.${metricName}${criterion?.["threshold"] === undefined ? "" : ".threshold"}`,
        help: `Give it a threshold that is ${scores}, or correct the range that the metric declares`,
      },
    ];
  });
}

/** Notes each metric with scores outside the range that it declares. */
export function noteScores(set: EvalSetResult, registry: object): void {
  const ranges = declared.get(registry);
  if (ranges === undefined || ranges.size === 0) return;
  const found = new Map<string, Mistake>();
  for (const { evalId, overallEvalMetricResults, evalMetricResultPerInvocation } of set.evalCaseResults) {
    const turns = evalMetricResultPerInvocation.flatMap(({ evalMetricResults }) => evalMetricResults);
    for (const { metricName, score } of [...overallEvalMetricResults, ...turns]) {
      const range = ranges.get(metricName);
      if (range === undefined || score === undefined || found.has(metricName) || isIn(range, score)) continue;
      found.set(metricName, {
        code: "invalid_input",
        message: `\`${metricName}\` gave scores outside the range that it declares, ${rangeText(range)}`,
        help: `The first is ${score}, in ${evalId}`,
      });
    }
  }
  if (found.size > 0) set.warnings = [...(set.warnings ?? []), ...found.values()];
}

function isIn({ minValue, openAtMin, maxValue, openAtMax }: Interval, score: number): boolean {
  const isAbove = openAtMin ? score > minValue : score >= minValue;
  return isAbove && (openAtMax ? score < maxValue : score <= maxValue);
}

/** `from 0 to 1`; `at least 0 and below 1`; `above 0`. */
function rangeText({ minValue, openAtMin, maxValue, openAtMax }: Interval): string {
  const hasMin = Number.isFinite(minValue);
  const hasMax = Number.isFinite(maxValue);
  if (hasMin && hasMax && !openAtMin && !openAtMax) return `from ${minValue} to ${maxValue}`;
  const least = hasMin ? [`${openAtMin ? "above" : "at least"} ${minValue}`] : [];
  const most = hasMax ? [`${openAtMax ? "below" : "at most"} ${maxValue}`] : [];
  return [...least, ...most].join(" and ");
}
