import { withEngine } from "./engine/instance.js";
import { AdkMetricsError } from "./errors.js";
import type { MetricInfo } from "./types.js";

/** What the engine says of a metric. */
interface EngineMetricInfo {
  metricName: string;
  legacyNames: string[];
  description: string;
  interval?: { minValue: number; maxValue: number };
  requiresThreshold: boolean;
}

/** What is known of every metric of the engine, in the order of its registry. */
export function metricInfos(): MetricInfo[] {
  return engineInfos().map(toMetricInfo);
}

/** What is known of a metric of the engine. */
export function metricInfo(name: string): MetricInfo {
  const found = engineInfos().find(({ metricName, legacyNames }) => metricName === name || legacyNames.includes(name));
  if (found === undefined) throw new AdkMetricsError("unknown_metric", `there is no metric \`${name}\``);
  return toMetricInfo(found);
}

function engineInfos(): EngineMetricInfo[] {
  return withEngine((engine) => engine.metricInfos() as EngineMetricInfo[]);
}

function toMetricInfo({ metricName, description, interval, requiresThreshold }: EngineMetricInfo): MetricInfo {
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
