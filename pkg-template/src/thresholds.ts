import { unexpected } from "./engine/input.js";
import { EvalStatus, PrebuiltMetrics } from "./enums.js";
import type {
  Criterion,
  EvalCaseResult,
  EvalMetricResult,
  EvalMetricResultPerInvocation,
  EvalSetResult,
} from "./types.js";

/**
 * The same results under other thresholds: statuses are decided anew, nothing is scored again. Metrics that `criteria`
 * does not name, results without a score and informational metrics stay as they are. The result given is not changed.
 */
export function withThresholds(result: EvalSetResult, criteria: Record<string, number | Criterion>): EvalSetResult {
  if (!Array.isArray(result?.evalCaseResults)) {
    throw unexpected("the result of an evaluation", result?.evalCaseResults, "result: evalCaseResults");
  }
  if (typeof criteria !== "object" || criteria === null) throw unexpected("an object", criteria, "criteria");
  const thresholds = new Map<string, number>();
  for (const [key, criterion] of Object.entries(criteria)) {
    const threshold: unknown = typeof criterion === "object" && criterion !== null ? criterion.threshold : criterion;
    if (threshold === undefined) continue;
    if (typeof threshold !== "number" || !Number.isFinite(threshold)) {
      throw unexpected("a finite number", threshold, `criteria: ${key}`);
    }
    // A config may name metrics as the enum does.
    thresholds.set(
      Object.hasOwn(PrebuiltMetrics, key) ? PrebuiltMetrics[key as keyof typeof PrebuiltMetrics] : key,
      threshold,
    );
  }
  return { ...result, evalCaseResults: result.evalCaseResults.map((one) => caseWith(one, thresholds)) };
}

type Thresholds = ReadonlyMap<string, number>;

function caseWith(result: EvalCaseResult, thresholds: Thresholds): EvalCaseResult {
  if (!Array.isArray(result?.overallEvalMetricResults) || !Array.isArray(result.evalMetricResultPerInvocation)) {
    throw unexpected("the result of a case", result, "result: evalCaseResults");
  }
  const overallEvalMetricResults = result.overallEvalMetricResults.map((metric) => metricWith(metric, thresholds));
  return {
    ...result,
    overallEvalMetricResults,
    finalEvalStatus:
      overallEvalMetricResults.length === 0 ? result.finalEvalStatus : statusOfCase(overallEvalMetricResults),
    evalMetricResultPerInvocation: result.evalMetricResultPerInvocation.map((turn) => turnWith(turn, thresholds)),
  };
}

/** Invocations stay unparsed until they are looked at; whoever looks is passed on. */
function turnWith(turn: EvalMetricResultPerInvocation, thresholds: Thresholds): EvalMetricResultPerInvocation {
  const evalMetricResults = turn.evalMetricResults.map((metric) => metricWith(metric, thresholds));
  if (!("expectedInvocation" in turn)) {
    return {
      get actualInvocation() {
        return Reflect.get(turn, "actualInvocation", this) as typeof turn.actualInvocation;
      },
      evalMetricResults,
    };
  }
  return {
    get actualInvocation() {
      return Reflect.get(turn, "actualInvocation", this) as typeof turn.actualInvocation;
    },
    get expectedInvocation() {
      return Reflect.get(turn, "expectedInvocation", this) as typeof turn.actualInvocation;
    },
    evalMetricResults,
  };
}

function metricWith(metric: EvalMetricResult, thresholds: Thresholds): EvalMetricResult {
  const threshold = thresholds.get(metric.metricName);
  if (threshold === undefined || metric.evalStatus === EvalStatus.INFORMATIONAL) return metric;
  const changed: EvalMetricResult = { ...metric, threshold };
  if (metric.score !== undefined) {
    changed.evalStatus = metric.score >= threshold ? EvalStatus.PASSED : EvalStatus.FAILED;
  }
  const { criterion } = metric;
  if (typeof criterion === "object" && criterion !== null && "threshold" in criterion) {
    changed.criterion = { ...criterion, threshold };
  }
  return changed;
}

/** FAILED if a metric failed, else PASSED if one passed, else NOT_EVALUATED. */
function statusOfCase(metrics: readonly EvalMetricResult[]): EvalStatus {
  if (metrics.some((metric) => metric.evalStatus === EvalStatus.FAILED)) return EvalStatus.FAILED;
  if (metrics.some((metric) => metric.evalStatus === EvalStatus.PASSED)) return EvalStatus.PASSED;
  return EvalStatus.NOT_EVALUATED;
}
