import { reading, unexpected } from "./engine/input.js";
import { EvalStatus } from "./enums.js";
import { AdkMetricsError } from "./errors.js";
import { canonicalName } from "./metric-info.js";
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
 *
 * @param criteria Metric name to threshold. A metric is found by any of its names: today's, ADK-TS's old one, or the
 * enum's (`RESPONSE_MATCH_SCORE`).
 * @throws {AdkMetricsError} `invalid_input` for what is no result or no threshold, `unknown_metric` for a metric that
 * no result has; where no metric has a result at all, any name is taken.
 */
export function withThresholds(result: EvalSetResult, criteria: Record<string, number | Criterion>): EvalSetResult {
  const given = reading("criteria", () => thresholdsOf(criteria));
  return reading("result", () => {
    checkResult(result);
    const thresholds = thresholdsByName(given, namesIn(result));
    return { ...result, evalCaseResults: result.evalCaseResults.map((one) => caseWith(one, thresholds)) };
  });
}

type Thresholds = ReadonlyMap<string, number>;

/** The thresholds that criteria give; undefined for a criterion that gives none. */
function thresholdsOf(criteria: Record<string, number | Criterion>): ReadonlyMap<string, number | undefined> {
  if (typeof criteria !== "object" || criteria === null) throw unexpected("an object", criteria, "criteria");
  const thresholds = new Map<string, number | undefined>();
  for (const [key, criterion] of Object.entries(criteria)) {
    const threshold: unknown = typeof criterion === "object" && criterion !== null ? criterion.threshold : criterion;
    if (threshold !== undefined && (typeof threshold !== "number" || !Number.isFinite(threshold))) {
      throw unexpected("a finite number", threshold, `criteria: ${key}`);
    }
    thresholds.set(key, threshold);
  }
  return thresholds;
}

/** The thresholds by the names that the results have. The very name of a metric wins over its other names. */
function thresholdsByName(given: ReadonlyMap<string, number | undefined>, names: ReadonlySet<string>): Thresholds {
  const byName = new Map<string, number>();
  const exact = new Map<string, number>();
  for (const [key, threshold] of given) {
    const reached = names.has(key) ? [key] : [...names].filter((name) => canonicalName(name) === canonicalName(key));
    if (reached.length === 0 && names.size > 0) {
      throw new AdkMetricsError("unknown_metric", `no result has the metric \`${key}\``, {
        path: `criteria: ${key}`,
        help: `There are ${[...names].map((name) => `\`${name}\``).join(", ")}`,
      });
    }
    if (threshold === undefined) continue;
    for (const name of reached) (name === key ? exact : byName).set(name, threshold);
  }
  return new Map([...byName, ...exact]);
}

function namesIn(result: EvalSetResult): Set<string> {
  const names = new Set<string>();
  for (const { overallEvalMetricResults, evalMetricResultPerInvocation } of result.evalCaseResults) {
    for (const { metricName } of overallEvalMetricResults) names.add(metricName);
    for (const turn of evalMetricResultPerInvocation) {
      for (const { metricName } of turn.evalMetricResults) names.add(metricName);
    }
  }
  return names;
}

function checkResult(result: EvalSetResult): void {
  if (!Array.isArray(result?.evalCaseResults)) {
    throw unexpected("the result of an evaluation", result?.evalCaseResults, "result: evalCaseResults");
  }
  for (const [at, one] of result.evalCaseResults.entries()) {
    const place = `result: evalCaseResults[${at}]`;
    if (!Array.isArray(one?.overallEvalMetricResults) || !Array.isArray(one.evalMetricResultPerInvocation)) {
      throw unexpected("the result of a case", one, place);
    }
    checkMetrics(one.overallEvalMetricResults, place);
    for (const turn of one.evalMetricResultPerInvocation) {
      if (!Array.isArray(turn?.evalMetricResults)) throw unexpected("the results of a turn", turn, place);
      checkMetrics(turn.evalMetricResults, place);
    }
  }
}

function checkMetrics(metrics: readonly (EvalMetricResult | null | undefined)[], place: string): void {
  for (const metric of metrics) {
    if (typeof metric?.metricName !== "string") throw unexpected("the result of a metric", metric, place);
  }
}

function caseWith(result: EvalCaseResult, thresholds: Thresholds): EvalCaseResult {
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
