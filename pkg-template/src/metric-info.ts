import { withEngine } from "./engine/instance.js";
import { AdkMetricsError } from "./errors.js";
import type { KnownMetric } from "./generated/contract.js";
import { PrebuiltMetrics, SCALES, UNITS } from "./generated/metrics.js";
import { canonicalName } from "./metric-names.js";
import type { EvalMetricResult, MetricInfo } from "./types.js";

/** Whether the engine has a metric with this name. */
export function isPrebuilt(name: string): boolean {
  return Object.values<string>(PrebuiltMetrics).includes(canonicalName(name));
}

/** The least and the greatest score that a metric of the engine gives; undefined for amounts and other metrics. */
export function scoreRange(name: string): readonly [number, number] | undefined {
  if (!isPrebuilt(name) || Object.hasOwn(UNITS, name)) return undefined;
  return SCALES[canonicalName(name)] ?? [0, 1];
}

type Scored = Pick<EvalMetricResult, "metricName"> & { score?: unknown };

/**
 * Whether no calls of a model were reported: what an agent did without saying is unknown, although google-adk's score for it
 * is 0.
 */
export function isUnreported({ metricName, score }: Scored): boolean {
  return metricName === "inference_call_count_v1" && score === 0;
}

/** The score of a metric, if it has one that is finite, unless it counts model calls and none was reported. */
export function scoreIn(metric: Scored): number | undefined {
  const { score } = metric;
  return typeof score === "number" && Number.isFinite(score) && !isUnreported(metric) ? score : undefined;
}

/** Why there is no score, if that is known. */
export function reasonOf(metric: Scored & { reason?: string }): string | undefined {
  return metric.reason ?? (isUnreported(metric) ? "no call of a model was reported" : undefined);
}

/** What is known of a metric of the engine. */
export function metricInfo(name: string): MetricInfo {
  const { metrics } = withEngine((engine) => engine.engineInfo());
  const found = metrics.find(({ metricName, legacyNames }) => metricName === name || legacyNames.includes(name));
  if (found === undefined) throw new AdkMetricsError("unknown_metric", `there is no metric \`${name}\``);
  return toMetricInfo(found);
}

function toMetricInfo({ metricName, description, interval, requiresThreshold }: KnownMetric): MetricInfo {
  return {
    metricName,
    description,
    metricValueInfo:
      interval === undefined
        ? {}
        : {
            interval: { minValue: interval.minValue, openAtMin: false, maxValue: interval.maxValue, openAtMax: false },
          },
    requiresThreshold,
  };
}
