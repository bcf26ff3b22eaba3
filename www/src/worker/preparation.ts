/** What the worker does before a run: looks at files, metrics and configs, and counts what a run will ask. */

import { DEFAULT_METRIC_EVALUATOR_REGISTRY, evaluate } from "adk-metrics/web";
import { originsOf, serviceAnswering } from "./judges.js";
import { outcomeOf } from "./problems.js";
import type { ConfigFacts, Estimate, KnownMetric, Preparation } from "./protocol.js";
import { inspect, NOTHING, notAsked } from "./reading.js";
import { present } from "./runs.js";

let counting: AbortController | undefined;

/** @param ready When the engine is there. */
export const preparation = (ready: Promise<unknown>): Preparation => ({
  inspect: async (file) => {
    await ready;
    return inspect(file);
  },
  expectedOf: (results) => outcomeOf(async () => (await import("./expected.js")).expectedOf(results)),
  metrics: () => outcomeOf(() => ready.then(knownMetrics)),
  checkConfig: (config) => outcomeOf(() => ready.then(() => factsOfConfig(config))),
  originsOf: (judge, service) => outcomeOf(() => ready.then(() => originsOf(judge, service))),
  estimate: (job) =>
    outcomeOf(async (): Promise<Estimate> => {
      await ready;
      counting?.abort();
      const mine = new AbortController();
      counting = mine;
      const { estimateOf } = await import("./estimate.js");
      const estimate = await estimateOf(job, mine.signal);
      if (mine.signal.aborted) throw new RangeError("Another estimate was asked for.");
      return estimate;
    }),
});

async function knownMetrics(): Promise<KnownMetric[]> {
  const metrics = DEFAULT_METRIC_EVALUATOR_REGISTRY.getRegisteredMetrics();
  const criteria = Object.fromEntries(
    metrics.filter(({ requiresThreshold }) => requiresThreshold !== false).map(({ metricName }) => [metricName, 1]),
  );
  const { judges } = await factsOfConfig(JSON.stringify({ criteria }));
  const judged = new Set(judges.map(({ metricName }) => metricName));
  return metrics.map((metric) => ({ ...metric, judged: judged.has(metric.metricName) }));
}

/** @throws {AdkMetricsError} what is wrong with the config. */
async function factsOfConfig(config: string): Promise<ConfigFacts> {
  const request = { evalSet: NOTHING, actual: NOTHING, config, judge: notAsked };
  const { judges = [], warnings = [] } = await evaluate(request);
  const { judges: others = [] } = await evaluate({ ...request, vertex: serviceAnswering(() => {}) });
  const left = new Set(others.filter(({ scoredBy }) => scoredBy === "vertex").map(({ metricName }) => metricName));
  return {
    judges: judges.map(({ metricName, model }) => ({
      metricName,
      isLeftToVertex: left.has(metricName),
      ...present({ model }),
    })),
    // The evalset has no case on purpose.
    warnings: warnings
      .filter(({ path }) => path !== "evalSet")
      .map(({ code, message, path, line, help }) => ({ code, message, ...present({ path, line, help }) })),
  };
}
