/** What is said of metrics of the user's own that failed: beside others that pass, a case passes without them. */

import { EvalStatus } from "../enums.js";
import type { EvalSetResult, Mistake } from "../types.js";
import type { RunPlan } from "./session.js";

/** In how many case results a metric could not be computed, and what happened first. */
export interface MetricFailures {
  cases: number;
  first: string;
}

/** What happened to metrics of the user's own that could not be computed somewhere, though they did not decline to. */
export function failuresIn(set: EvalSetResult, { registry, declined }: RunPlan): Map<string, MetricFailures> {
  const failed = new Map<string, MetricFailures>();
  const own = new Set(registry.customMetricNames().filter((name) => set.advisory?.includes(name) !== true));
  if (own.size === 0) return failed;
  for (const { evalId, overallEvalMetricResults } of set.evalCaseResults) {
    for (const { metricName, evalStatus, reason } of overallEvalMetricResults) {
      const isFailure = evalStatus === EvalStatus.NOT_EVALUATED && reason !== undefined && !declined?.has(reason);
      if (!own.has(metricName) || !isFailure) continue;
      const found = failed.get(metricName) ?? { cases: 0, first: `${evalId}: ${reason}` };
      found.cases += 1;
      failed.set(metricName, found);
    }
  }
  return failed;
}

/** A warning for each of these metrics. */
export function failureWarnings(failed: ReadonlyMap<string, MetricFailures>, results: number): Mistake[] {
  return [...failed].map(([metricName, { cases, first }]) => ({
    code: "custom_metric_failed",
    message: `\`${metricName}\` failed in ${cases} of ${results} case results. The first: ${first}`,
  }));
}
