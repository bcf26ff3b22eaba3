/** What the worker does before a run: inspects files, metrics and configs, and estimates the calls of a run. */

import { checkInputs, DEFAULT_METRIC_EVALUATOR_REGISTRY } from "adk-metrics/web";
import { originsOf } from "./judges.js";
import { outcomeOf } from "./problems.js";
import type { ConfigInfo, Estimate, KnownMetric, Preparation } from "./protocol.js";
import { inspect } from "./inspection.js";
import { definedProperties } from "./runs.js";

let activeEstimate: AbortController | undefined;

/** @param ready Resolves when the engine can be used. */
export const preparation = (ready: Promise<unknown>): Preparation => ({
  inspect: async (file) => {
    await ready;
    return inspect(file);
  },
  expectedOf: (results) => outcomeOf(async () => (await import("./expected.js")).expectedOf(results)),
  metrics: () => outcomeOf(() => ready.then(knownMetrics)),
  checkConfig: (config) => outcomeOf(() => ready.then(() => configInfoOf(config))),
  originsOf: (judge, service) => outcomeOf(() => ready.then(() => originsOf(judge, service))),
  estimate: (job) =>
    outcomeOf(async (): Promise<Estimate> => {
      await ready;
      activeEstimate?.abort();
      const controller = new AbortController();
      activeEstimate = controller;
      const { estimateOf } = await import("./estimate.js");
      const estimate = await estimateOf(job, controller.signal);
      if (controller.signal.aborted) throw new RangeError("Another estimate was asked for.");
      return estimate;
    }),
});

async function knownMetrics(): Promise<KnownMetric[]> {
  const metrics = DEFAULT_METRIC_EVALUATOR_REGISTRY.getRegisteredMetrics();
  const criteria = Object.fromEntries(
    metrics.filter(({ requiresThreshold }) => requiresThreshold !== false).map(({ metricName }) => [metricName, 1]),
  );
  const { judges } = await configInfoOf(JSON.stringify({ criteria }));
  const judged = new Set(judges.map(({ metricName }) => metricName));
  return metrics.map((metric) => ({ ...metric, isJudged: judged.has(metric.metricName) }));
}

/** @throws {AdkMetricsError} if the config is invalid. */
async function configInfoOf(config: string): Promise<ConfigInfo> {
  const { metrics, warnings } = await checkInputs({ config });
  // The service is not asked.
  const withService = await checkInputs({ config, vertex: { apiKey: "none" } });
  const leftToVertex = new Set(
    withService.metrics.filter(({ judge }) => judge?.scoredBy === "vertex").map(({ metricName }) => metricName),
  );
  return {
    judges: metrics.flatMap(({ metricName, judge }) =>
      judge === undefined
        ? []
        : [
            {
              metricName,
              isLeftToVertex: leftToVertex.has(metricName),
              ...definedProperties({ model: judge.model }),
            },
          ],
    ),
    warnings: warnings.map(({ code, message, path, line, help }) => ({
      code,
      message,
      ...definedProperties({ path, line, help }),
    })),
  };
}
