/**
 * How reports read results: what they take for results, statuses in words, counts, and names of runs.
 */

import { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult } from "../types.js";
import { count, isRecord } from "./text.js";

/** What every renderer takes: the results of one evalset or of several. */
export type Results = EvalSetResult | readonly EvalSetResult[];

/**
 * The results as a list. Looks at the sets and their cases, as deep as it takes to tell results from something else.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 */
export function listOf(results: Results): readonly EvalSetResult[] {
  const given: unknown = results;
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const wrong = list.findIndex((set) => !isEvalSetResult(set));
  if (wrong < 0) return list as readonly EvalSetResult[];
  const isPending = isRecord(list[wrong]) && typeof list[wrong].then === "function";
  throw new AdkMetricsError("invalid_input", "expected an EvalSetResult or a list of them, found something else", {
    path: Array.isArray(given) ? `results[${wrong}]` : "results",
    help: isPending ? "Await it first" : "Pass what evaluate() resolves to",
  });
}

function isEvalSetResult(value: unknown): value is EvalSetResult {
  if (!isRecord(value) || typeof value.evalSetId !== "string" || !Array.isArray(value.evalCaseResults)) return false;
  return value.evalCaseResults.every(
    (result: unknown) =>
      isRecord(result) &&
      typeof result.evalId === "string" &&
      Array.isArray(result.overallEvalMetricResults) &&
      Array.isArray(result.evalMetricResultPerInvocation),
  );
}

/** A status as people say it. */
export function statusWord(status: EvalStatus): string {
  switch (status) {
    case EvalStatus.PASSED:
      return "passed";
    case EvalStatus.FAILED:
      return "failed";
    case EvalStatus.INFORMATIONAL:
      return "informational";
    default:
      return "not evaluated";
  }
}

/** How many cases passed, failed, or were not evaluated. */
export interface StatusCounts {
  passed: number;
  failed: number;
  notEvaluated: number;
}

/** Counts by status; what is informational is not counted. */
export function countStatuses(statuses: Iterable<EvalStatus>): StatusCounts {
  const counts = { passed: 0, failed: 0, notEvaluated: 0 };
  for (const status of statuses) {
    if (status === EvalStatus.PASSED) counts.passed++;
    else if (status === EvalStatus.FAILED) counts.failed++;
    else if (status !== EvalStatus.INFORMATIONAL) counts.notEvaluated++;
  }
  return counts;
}

/** The final statuses of all cases of some sets, counted. */
export function countCases(results: readonly EvalSetResult[]): StatusCounts {
  return countStatuses(results.flatMap((set) => set.evalCaseResults.map((result) => result.finalEvalStatus)));
}

/** What was counted: `5 cases`, or `10 runs of 5 cases` where cases have several. */
export function casesText(sets: readonly EvalSetResult[]): string {
  let runs = 0;
  let cases = 0;
  for (const { evalCaseResults } of sets) {
    runs += evalCaseResults.length;
    cases += new Set(evalCaseResults.map(({ evalId }) => evalId)).size;
  }
  return runs === cases ? count(cases, "case") : `${count(runs, "run")} of ${count(cases, "case")}`;
}

/** `2 passed, 1 failed`: the counts in words, without those that are zero. */
export function countsText(counts: StatusCounts): string {
  const texts = [];
  if (counts.passed > 0) texts.push(`${counts.passed} passed`);
  if (counts.failed > 0) texts.push(`${counts.failed} failed`);
  if (counts.notEvaluated > 0) texts.push(`${counts.notEvaluated} not evaluated`);
  return texts.join(", ") || "none";
}

/** A case's result with the name it goes by. */
export interface NamedCase {
  /** The eval id; with ` (run 2)` and so on where the set holds several runs of the case. */
  name: string;
  result: EvalCaseResult;
}

/** The cases of a set in order, repeated runs of one told apart. */
export function namedCases(set: EvalSetResult): NamedCase[] {
  const runs = new Map<string, number>();
  for (const { evalId } of set.evalCaseResults) runs.set(evalId, (runs.get(evalId) ?? 0) + 1);
  const seen = new Map<string, number>();
  return set.evalCaseResults.map((result) => {
    const { evalId } = result;
    const run = (seen.get(evalId) ?? 0) + 1;
    seen.set(evalId, run);
    return { name: runs.get(evalId) === 1 ? evalId : `${evalId} (run ${run})`, result };
  });
}

/** The metrics that pass or fail. */
export function judgedMetrics(metrics: readonly EvalMetricResult[]): EvalMetricResult[] {
  return metrics.filter((metric) => metric.evalStatus !== EvalStatus.INFORMATIONAL);
}

/** The metrics that only inform: counts of calls, tokens, durations. */
export function informationalMetrics(metrics: readonly EvalMetricResult[]): EvalMetricResult[] {
  return metrics.filter((metric) => metric.evalStatus === EvalStatus.INFORMATIONAL);
}

/** What an informational metric is called where there is little room. */
export function informationalLabel(metricName: string): string {
  switch (metricName) {
    case "tool_call_count_v1":
      return "tool calls";
    case "inference_call_count_v1":
      return "model calls";
    case "token_usage_v1":
      return "tokens";
    case "invocation_duration_v1":
      return "seconds";
    default:
      return metricName;
  }
}

/** The names of the given results' metrics, each once, in order of appearance. */
export function metricNames(results: Iterable<readonly EvalMetricResult[]>): string[] {
  const names = new Set<string>();
  for (const metrics of results) for (const metric of metrics) names.add(metric.metricName);
  return [...names];
}

/** `adk-metrics 0.1.0, reference 2.13.0, dialect adk-python`: what made a result. */
export function stampText(set: EvalSetResult): string {
  return `adk-metrics ${set.engineVersion}, reference ${set.referenceVersion}, dialect ${set.dialect}`;
}

/** The second a result was made, `2026-03-14T09:30:00` in UTC; undefined if its timestamp is none. */
export function timestampText(set: EvalSetResult): string | undefined {
  const date = new Date(set.creationTimestamp * 1000);
  return set.creationTimestamp > 0 && !Number.isNaN(date.getTime()) ? date.toISOString().slice(0, 19) : undefined;
}

/** What a reader of a set's results has to know first. */
export interface Notice {
  message: string;
  /** Where in the input: a path, a line, or both. */
  place?: string;
  help?: string;
}

/** That a set's run was cancelled, and its warnings. */
export function noticesOf(set: EvalSetResult): Notice[] {
  const warnings = (set.warnings ?? []).map(({ message, path, line, help }): Notice => {
    const place = [path ?? "", line === undefined ? "" : `line ${line}`].filter((part) => part !== "").join(", ");
    return { message, ...(place === "" ? {} : { place }), ...(help ? { help } : {}) };
  });
  return set.cancelled ? [{ message: "The run was cancelled; some results are missing." }, ...warnings] : warnings;
}
