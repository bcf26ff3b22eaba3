/** What is said of metrics of the user's own that failed: beside others that pass, a case passes without them. */

import { EvalStatus } from "../enums.js";
import type { EvalSetResult, Mistake } from "../types.js";
import type { RunPlan } from "./session.js";

/** A warning for each metric of the user's own that could not be computed somewhere, though it did not decline to. */
export function failedMetrics(set: EvalSetResult, { registry, declined }: RunPlan): Mistake[] {
  const own = new Set(registry.customMetricNames().filter((name) => set.advisory?.includes(name) !== true));
  if (own.size === 0 || set.cancelled === true) return [];
  const failed = new Map<string, { cases: number; first: string }>();
  for (const { evalId, overallEvalMetricResults } of set.evalCaseResults) {
    for (const { metricName, evalStatus, reason } of overallEvalMetricResults) {
      const isFailure = evalStatus === EvalStatus.NOT_EVALUATED && reason !== undefined && !declined?.has(reason);
      if (!own.has(metricName) || !isFailure) continue;
      const found = failed.get(metricName) ?? { cases: 0, first: `${evalId}: ${reason}` };
      found.cases += 1;
      failed.set(metricName, found);
    }
  }
  return [...failed].map(([metricName, { cases, first }]) => ({
    code: "custom_metric_failed",
    message: `\`${metricName}\` failed in ${cases} of ${set.evalCaseResults.length} case results. The first: ${first}`,
  }));
}
