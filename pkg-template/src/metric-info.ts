import { withEngine } from "./engine/instance.js";
import { AdkMetricsError } from "./errors.js";
import type { KnownMetric } from "./generated/contract.js";
import { PrebuiltMetrics, UNITS } from "./generated/metrics.js";
import { canonicalName } from "./metric-names.js";
import type { MetricInfo } from "./types.js";

/** Whether the engine has a metric with this name. */
export function isPrebuilt(name: string): boolean {
  return Object.values<string>(PrebuiltMetrics).includes(canonicalName(name));
}

/** The least and the greatest score that a metric of the engine gives; undefined for amounts and other metrics. */
export function scoreRange(name: string): readonly [number, number] | undefined {
  if (!isPrebuilt(name) || Object.hasOwn(UNITS, name)) return undefined;
  return canonicalName(name) === "response_evaluation_score" ? [1, 5] : [0, 1];
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
