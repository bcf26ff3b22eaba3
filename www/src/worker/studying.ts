/** What the results of a run tell as a whole, and search in their texts. */

import { type EvalCaseResult, type EvalSetResult, type Invocation, reliabilityOf } from "adk-metrics/web";
import { outcomeOf } from "./problems.js";
import type { RunReliability, Studying } from "./protocol-study.js";
import { definedProperties } from "./runs.js";

/** @param resultsOf The results of a run with the current thresholds. */
export function studying(resultsOf: (run: string) => readonly EvalSetResult[]): Studying {
  return {
    reliability: (run) => outcomeOf(() => reliability(resultsOf(run))),
    rowsWith: (run, words) =>
      outcomeOf(() => {
        const cases = resultsOf(run).flatMap(({ evalCaseResults }) => evalCaseResults);
        return cases.flatMap((result, row) => (hasWords(result, words) ? [row] : []));
      }),
  };
}

function reliability(results: readonly EvalSetResult[]): RunReliability {
  const { passRate, confidence, passHatK, cases, metrics } = reliabilityOf(results);
  const repeated = passHatK.findLast(({ k }) => k > 1);
  return {
    confidence,
    flaky: cases.filter(({ isFlaky }) => isFlaky).map(({ evalSetId, evalId }) => [evalSetId, evalId]),
    means: Object.fromEntries(
      metrics.flatMap(({ metricName, score }) => (score === undefined ? [] : [[metricName, score] as const])),
    ),
    ...definedProperties({ passRate, passHatK: repeated }),
  };
}

/** Whether the texts of a case contain all words, which are in lower case. */
function hasWords(result: EvalCaseResult, words: readonly string[]): boolean {
  const missing = new Set(words);
  for (const text of textsOf(result)) {
    const lower = text.toLowerCase();
    for (const word of missing) if (lower.includes(word)) missing.delete(word);
    if (missing.size === 0) return true;
  }
  return false;
}

/** The texts of a case that are searched. Results from elsewhere may lack any part. */
function* textsOf(result: EvalCaseResult): Generator<string> {
  yield result.evalId;
  if (result.reason !== undefined) yield result.reason;
  for (const { reason } of result.overallEvalMetricResults) if (reason !== undefined) yield reason;
  for (const { actualInvocation, expectedInvocation, evalMetricResults } of result.evalMetricResultPerInvocation) {
    yield* textsOfTurn(actualInvocation);
    yield* textsOfTurn(expectedInvocation);
    for (const { reason } of evalMetricResults) if (reason !== undefined) yield reason;
  }
}

function* textsOfTurn(turn: Invocation | undefined): Generator<string> {
  if (turn === undefined) return;
  for (const content of [turn.userContent, turn.finalResponse]) {
    for (const { text } of content?.parts ?? []) if (typeof text === "string") yield text;
  }
  // Tool calls and events, with the names of tools and their arguments.
  if (turn.intermediateData !== undefined) yield JSON.stringify(turn.intermediateData);
}
