import { type NoOptions, refuseOptions } from "./known-options.js";
import { decidedStatus } from "./advisory.js";
import { closest } from "./closest.js";
import { isObject, reading, unexpected } from "./engine/values.js";
import { isLowerBetter, statusOfScore } from "./engine/status.js";
import { withMetricResults } from "./engine/turn.js";
import { EvalStatus } from "./enums.js";
import { AdkMetricsError } from "./errors.js";
import { group } from "./lists.js";
import { scoreRange } from "./metric-info.js";
import { canonicalName } from "./metric-names.js";
import type { Criteria, EvalCaseResult, EvalMetricResult, EvalSetResult, Mistake } from "./types.js";

/**
 * The same results under other thresholds: statuses are computed again, scores are not. Metrics that `criteria`
 * does not name, results without a score and informational metrics stay as they are. If all statuses of a metric of your
 * own say that lower scores are better, they still are. The result given is not changed.
 *
 * @param criteria Metric name to threshold. A metric is found by any of its names: today's, ADK-TS's old one, or the
 * enum's (`RESPONSE_MATCH_SCORE`).
 * @throws {AdkMetricsError} `invalid_input` for anything but a result and thresholds, `unknown_metric` for a metric that
 * no result has; where no metric has a result at all, any name is taken.
 */
export function withThresholds(result: EvalSetResult, criteria: Criteria, options?: NoOptions): EvalSetResult {
  refuseOptions(options);
  const thresholds = reading("criteria", () => new Thresholds(criteria));
  return reading("result", () => {
    if (!Array.isArray(result?.evalCaseResults)) {
      throw unexpected("the result of an evaluation", result?.evalCaseResults, "result: evalCaseResults");
    }
    result.evalCaseResults.forEach(checkCase);
    const lower = lowerBetter(result.evalCaseResults.flatMap((one) => one.overallEvalMetricResults));
    const turns = result.evalCaseResults.flatMap((one) => one.evalMetricResultPerInvocation);
    const lowerInTurns = lowerBetter(turns.flatMap(({ evalMetricResults }) => evalMetricResults));
    const evalCaseResults = result.evalCaseResults.map((one) => caseWith(one, thresholds, result, lower, lowerInTurns));
    thresholds.checkAllReached();
    const warnings = [...(result.warnings ?? []), ...thresholds.outsideRanges()];
    return { ...result, evalCaseResults, ...(warnings.length > 0 ? { warnings } : {}) };
  });
}

/** The thresholds of criteria, found by any name of a metric; its very name wins over the others. */
class Thresholds {
  readonly #thresholds: ReadonlyMap<string, number | undefined>;
  readonly #criteria: Criteria;
  /** The names that are given, by the one name that all names of a metric have. */
  readonly #canonical = new Map<string, string>();
  /** By the names that the results have. */
  readonly #found = new Map<string, number | null>();

  constructor(criteria: Criteria) {
    this.#thresholds = thresholdsOf(criteria);
    this.#criteria = criteria;
    for (const key of this.#thresholds.keys()) {
      const name = canonicalName(key);
      if (!this.#canonical.has(name)) this.#canonical.set(name, key);
    }
  }

  /**
   * The threshold of a metric; null if the criteria give none.
   *
   * @throws {AdkMetricsError} `invalid_input` for a setting that the metric was not scored with.
   */
  of({ metricName, criterion }: EvalMetricResult): number | null {
    const known = this.#found.get(metricName);
    if (known !== undefined) return known;
    const key = this.#thresholds.has(metricName) ? metricName : this.#canonical.get(canonicalName(metricName));
    if (key !== undefined) checkSettings(key, this.#criteria[key], criterion);
    const threshold = (key === undefined ? undefined : this.#thresholds.get(key)) ?? null;
    this.#found.set(metricName, threshold);
    return threshold;
  }

  /** The thresholds that every score or none reaches. Configs with them get a warning as well. */
  outsideRanges(): Mistake[] {
    return [...this.#thresholds].flatMap(([key, threshold = 0]) => {
      const [least, most] = scoreRange(key) ?? [-Infinity, Infinity];
      if (threshold === 0 || (threshold >= least && threshold <= most)) return [];
      const which = threshold < least ? "every" : "no";
      return {
        code: "invalid_input",
        message: `${which} score reaches the threshold ${threshold} of \`${key}\`, whose scores are from ${least} to ${most}`,
        path: `criteria: ${key}`,
        help: `Give it a threshold from ${least} to ${most}; with 0 it always passes`,
      };
    });
  }

  /** @throws {AdkMetricsError} `unknown_metric` for a criterion whose metric was not asked for while others were. */
  checkAllReached(): void {
    const names = [...this.#found.keys()];
    if (names.length === 0) return;
    const reached = new Set(names.map(canonicalName));
    for (const key of this.#thresholds.keys()) {
      if (reached.has(canonicalName(key))) continue;
      const meant = closest(key, names);
      throw new AdkMetricsError("unknown_metric", `no result has the metric \`${key}\``, {
        path: `criteria: ${key}`,
        help:
          meant !== undefined
            ? `Did you mean \`${meant}\`?`
            : `The results contain ${names.map((name) => `\`${name}\``).join(", ")}`,
      });
    }
  }
}

/** @throws {AdkMetricsError} `invalid_input` for a setting other than the threshold: only scoring again would heed it. */
function checkSettings(key: string, wanted: Criteria[string], scored: EvalMetricResult["criterion"]): void {
  if (typeof wanted !== "object" || wanted === null) return;
  for (const [name, value] of Object.entries(wanted)) {
    if (name === "threshold" || value === undefined) continue;
    const known = isObject(scored) ? (scored as Readonly<Record<string, unknown>>)[name] : undefined;
    if (JSON.stringify(value) === JSON.stringify(known)) continue;
    throw new AdkMetricsError("invalid_input", `\`${name}\` cannot be changed here: nothing is scored again`, {
      path: `criteria: ${key}: ${name}`,
      help: "Set only the threshold, or evaluate again",
    });
  }
}

/** The thresholds that criteria give; undefined for a criterion that gives none. */
function thresholdsOf(criteria: Criteria): ReadonlyMap<string, number | undefined> {
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

/** The metrics of which lower scores are better by all of their statuses. */
function lowerBetter(results: readonly EvalMetricResult[]): ReadonlySet<string> {
  const metrics = new Map<string, EvalMetricResult[]>();
  for (const one of results) group(metrics, one.metricName, one);
  return new Set([...metrics].flatMap(([name, all]) => (isLowerBetter(all) === true ? name : [])));
}

function caseWith(
  result: EvalCaseResult,
  thresholds: Thresholds,
  set: EvalSetResult,
  lower: ReadonlySet<string>,
  lowerInTurns: ReadonlySet<string>,
): EvalCaseResult {
  const overallEvalMetricResults = result.overallEvalMetricResults.map((one) => metricWith(one, thresholds, lower));
  return {
    ...result,
    overallEvalMetricResults,
    finalEvalStatus: decidedStatus({ ...result, overallEvalMetricResults }, set),
    evalMetricResultPerInvocation: result.evalMetricResultPerInvocation.map((turn) =>
      withMetricResults(
        turn,
        turn.evalMetricResults.map((one) => metricWith(one, thresholds, lowerInTurns)),
      ),
    ),
  };
}

function checkCase(result: EvalCaseResult, at: number): void {
  if (!Array.isArray(result?.overallEvalMetricResults) || !Array.isArray(result.evalMetricResultPerInvocation)) {
    throw unexpected("the result of a case", result, pathOf(at));
  }
  checkMetrics(result.overallEvalMetricResults, at);
  for (const turn of result.evalMetricResultPerInvocation) {
    if (!Array.isArray(turn?.evalMetricResults)) throw unexpected("the results of a turn", turn, pathOf(at));
    checkMetrics(turn.evalMetricResults, at);
  }
}

function checkMetrics(metrics: readonly (EvalMetricResult | null | undefined)[], at: number): void {
  for (const metric of metrics) {
    if (typeof metric?.metricName !== "string") throw unexpected("the result of a metric", metric, pathOf(at));
  }
}

function pathOf(at: number): string {
  return `result: evalCaseResults[${at}]`;
}

function metricWith(metric: EvalMetricResult, thresholds: Thresholds, lower: ReadonlySet<string>): EvalMetricResult {
  const threshold = thresholds.of(metric);
  if (threshold === null || metric.evalStatus === EvalStatus.INFORMATIONAL) return metric;
  const changed: EvalMetricResult = { ...metric, threshold };
  const { score } = metric;
  if (score !== undefined) {
    changed.evalStatus = lower.has(metric.metricName)
      ? statusOfScore(threshold, score)
      : statusOfScore(score, threshold);
  }
  const { criterion } = metric;
  if (typeof criterion === "object" && criterion !== null && "threshold" in criterion) {
    changed.criterion = { ...criterion, threshold };
  }
  return changed;
}
