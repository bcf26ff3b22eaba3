/** Warnings about custom metrics: those that failed, and those whose statuses contradict their scores. */

import { EvalStatus } from "../enums.js";
import type { EvalSetResult, Mistake } from "../types.js";
import type { RunPlan } from "./session.js";

/** In how many case results a metric could not be computed, and what happened first. */
export interface MetricFailures {
  cases: number;
  first: string;
}

/** What happened to custom metrics that could not be computed somewhere, though they did not decline to. */
export function failuresIn(set: EvalSetResult, { registry, declined }: RunPlan): Map<string, MetricFailures> {
  const failed = new Map<string, MetricFailures>();
  const own = new Set(registry.customMetricNames().filter((name) => set.advisory?.includes(name) !== true));
  if (own.size === 0) return failed;
  for (const { evalId, overallEvalMetricResults } of set.evalCaseResults) {
    for (const { metricName, evalStatus, reason } of overallEvalMetricResults) {
      const isFailure = evalStatus === EvalStatus.NOT_EVALUATED && reason !== undefined && !declined?.has(reason);
      if (!own.has(metricName) || !isFailure) continue;
      const found = failed.get(metricName) ?? { cases: 0, first: `${evalId}: ${reason.split("\n", 1)[0]}` };
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
    message: `\`${metricName}\` failed in ${cases} of ${results} case results, first in ${first}`,
  }));
}

/** A warning for each custom metric that passes below its threshold, or fails at or above it. */
export function contradictions(set: EvalSetResult, { registry }: RunPlan): Mistake[] {
  const own = new Set(registry.customMetricNames());
  if (own.size === 0) return [];
  const found = new Map<string, { cases: number; first: string }>();
  for (const { evalId, overallEvalMetricResults, evalMetricResultPerInvocation } of set.evalCaseResults) {
    const inCase = new Set<string>();
    const turns = evalMetricResultPerInvocation.flatMap(({ evalMetricResults }) => evalMetricResults);
    for (const { metricName, score, threshold, evalStatus } of [...overallEvalMetricResults, ...turns]) {
      if (!own.has(metricName) || inCase.has(metricName) || score === undefined || threshold === undefined) continue;
      if (evalStatus !== (score < threshold ? EvalStatus.PASSED : EvalStatus.FAILED)) continue;
      inCase.add(metricName);
      const first = `${evalId} has ${score} with a threshold of ${threshold}, and ${EvalStatus[evalStatus]}`;
      const known = found.get(metricName) ?? { cases: 0, first };
      known.cases += 1;
      found.set(metricName, known);
    }
  }
  return [...found].map(([metricName, { cases, first }]) => ({
    code: "custom_metric_failed",
    message: `the statuses of \`${metricName}\`'s evaluator contradict its scores in ${cases} of ${set.evalCaseResults.length} case results; the statuses count. The first: ${first}`,
    help: "If scores pass when they reach the threshold, leave out `overallEvalStatus` and `evalStatus`. AgentEvaluator and toPassEvalSet compare the mean score with the threshold; lower scores are better if all statuses say so",
  }));
}
