/** Metrics that are reported and decide nothing. */

import { statusOfCase } from "./engine/status.js";
import { unexpected } from "./engine/values.js";
import { AdkMetricsError } from "./errors.js";
import { canonicalName } from "./metric-names.js";
import type { EvalCaseResult, EvalSetResult, Mistake } from "./types.js";

/** The names that a request gives. @throws {AdkMetricsError} `invalid_input` for anything but a list of names. */
export function checkAdvisory(advisory: unknown): void {
  if (advisory === undefined) return;
  if (Array.isArray(advisory) && Array.from(advisory).every((name) => typeof name === "string")) return;
  throw unexpected("an array of names of metrics", advisory, "advisory");
}

/**
 * Which metrics of an evaluation decide nothing, by the names that it has for them, and a warning of names that it has not.
 *
 * @throws {AdkMetricsError} `invalid_input` if no other metric is left.
 */
export function advisoryOf(
  wanted: readonly string[],
  metrics: readonly string[],
): { advisory: string[]; warnings: Mistake[] } {
  const names = new Set(wanted.map(canonicalName));
  const advisory = metrics.filter((name) => names.has(canonicalName(name)));
  if (advisory.length > 0 && advisory.length === metrics.length) {
    throw new AdkMetricsError("invalid_input", "all metrics are advisory, so nothing could pass or fail", {
      path: "advisory",
      help: "Leave at least one of them out of `advisory`",
    });
  }
  const found = new Set(advisory.map(canonicalName));
  const unknown = wanted.filter((name) => !found.has(canonicalName(name)));
  const warnings = unknown.map((name): Mistake => ({
    code: "invalid_input",
    message: `the advisory metric \`${name.slice(0, 80)}\` is not in the criteria`,
    path: "advisory",
    help: `The criteria contain ${metrics.map((one) => `\`${one}\``).join(", ")}`,
  }));
  return { advisory, warnings };
}

/** The status of a case by the metrics that decide; that of a case without metrics is its own. */
export function decidedStatus(
  { finalEvalStatus, overallEvalMetricResults }: EvalCaseResult,
  { advisory = [] }: Pick<EvalSetResult, "advisory">,
): EvalCaseResult["finalEvalStatus"] {
  if (overallEvalMetricResults.length === 0) return finalEvalStatus;
  const deciding = overallEvalMetricResults.filter(({ metricName }) => !advisory.includes(metricName));
  return statusOfCase(deciding.map(({ evalStatus }) => evalStatus));
}
