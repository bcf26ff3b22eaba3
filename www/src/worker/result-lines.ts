/** Results as JSON lines, as `eval --format jsonl` and this page write them. */

import { AdkMetricsError, type EvalSetResult, readResults, resultsToAdkJson } from "adk-metrics/web";
import type { FileInfo } from "./protocol.js";

/** Whether a file contains results as JSON lines. */
export function isResultLines(bytes: Uint8Array): boolean {
  return /^\s*\{\s*"format":\s*"adk-metrics results"/.test(new TextDecoder().decode(bytes.subarray(0, 200)));
}

/** What is known of such a file. */
export function factsOfLines(bytes: Uint8Array): Omit<FileInfo, "kind" | "problem"> {
  const sets = readResults(bytes);
  const cases = sets.flatMap(({ evalCaseResults }) => evalCaseResults);
  const [only, ...others] = sets;
  return {
    ...(only === undefined || others.length > 0 ? {} : { evalSetId: only.evalSetId }),
    evalIds: cases.map(({ evalId }) => evalId),
    hasScores: cases.some(({ overallEvalMetricResults }) => overallEvalMetricResults.length > 0),
    turns: cases.reduce((sum, { evalMetricResultPerInvocation }) => sum + evalMetricResultPerInvocation.length, 0),
  };
}

/**
 * Converts results as JSON lines to ADK's schema, in which they can be scored again; other files are returned as they are.
 *
 * @throws {AdkMetricsError} for results of several evalsets.
 */
export function withoutLines(bytes: Uint8Array): Uint8Array {
  if (!isResultLines(bytes)) return bytes;
  const [only, ...others] = readResults(bytes) as [EvalSetResult, ...EvalSetResult[]];
  if (others.length > 0) {
    throw new AdkMetricsError("invalid_input", "results of several evalsets cannot be scored again from one file", {
      help: "Open them as they are, and export JSON, which is a file for each evalset",
    });
  }
  return new TextEncoder().encode(resultsToAdkJson(only));
}
