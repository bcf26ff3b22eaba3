import { isObject, reading, unexpected } from "./engine/values.js";
import { scoreIn } from "./metric-info.js";
import type { EvalMetricResult } from "./types.js";

/**
 * The score of a metric, if it has one that is finite, unless it counts model calls and none was reported.
 *
 * @throws {AdkMetricsError} `invalid_input` if this is not a result of a metric.
 */
export function knownScore(metric: Pick<EvalMetricResult, "metricName" | "score">): number | undefined {
  if (!isObject(metric)) throw unexpected("the result of a metric", metric, "metric");
  return reading("metric", () => scoreIn(metric));
}
