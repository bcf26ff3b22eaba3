/** Several runs side by side: the verdicts of all cases, and what was answered in one. */

import { type EvalCaseResult, type EvalSetResult, EvalStatus } from "adk-metrics/web";
import { outcomeOf } from "./problems.js";
import type { SideBySide } from "./protocol-matrix.js";
import { definedProperties, type Run } from "./runs.js";

/**
 * @param resultsOf The results of a run with the current thresholds.
 * @param runOf A run of this page.
 */
export function sideBySide(
  resultsOf: (run: string) => readonly EvalSetResult[],
  runOf: (run: string) => Run | undefined,
): SideBySide {
  return {
    matrix: (runs) =>
      outcomeOf(() => {
        const results = runs.map(resultsOf);
        const nameOf = nameOfSets(results);
        const places = new Map<string, number>();
        const [evalSetIds, evalIds]: [string[], string[]] = [[], []];
        for (const { evalSetId, result } of results.flatMap(casesOf)) {
          const key = keyOf(nameOf(evalSetId), result.evalId);
          if (places.has(key)) continue;
          places.set(key, evalIds.length);
          evalSetIds.push(nameOf(evalSetId));
          evalIds.push(result.evalId);
        }
        const counts = new Uint16Array(3 * evalIds.length * runs.length);
        for (const [run, sets] of results.entries()) {
          for (const { evalSetId, result } of casesOf(sets)) {
            const row = places.get(keyOf(nameOf(evalSetId), result.evalId)) ?? 0;
            const place = 3 * (row * runs.length + run) + offsetOf(result.finalEvalStatus);
            counts[place] = (counts[place] ?? 0) + 1;
          }
        }
        return { evalSetIds, evalIds, counts };
      }),

    caseIn: (runs, evalSetId, evalId) =>
      outcomeOf(() => {
        const results = runs.map(resultsOf);
        const nameOf = nameOfSets(results);
        return results.map((sets, at) => {
          const run = runOf(runs[at] ?? "");
          const rows = casesOf(sets).flatMap((one, row) =>
            one.result.evalId === evalId && nameOf(one.evalSetId) === evalSetId ? [row] : [],
          );
          return {
            repetitions: rows.flatMap((row) => {
              const content = run?.caseAt(row);
              if (content === undefined) return [];
              const { finalEvalStatus: evalStatus, reason, overallEvalMetricResults } = content.result;
              const metrics = overallEvalMetricResults
                .filter((metric) => metric.evalStatus !== EvalStatus.INFORMATIONAL)
                .map(({ metricName, evalStatus, score, threshold }) => ({
                  metricName,
                  evalStatus,
                  ...definedProperties({ score, threshold }),
                }));
              return [{ row, evalStatus, metrics, turns: content.turns, ...definedProperties({ reason }) }];
            }),
          };
        });
      }),
  };
}

function casesOf(sets: readonly EvalSetResult[]): { evalSetId: string; result: EvalCaseResult }[] {
  return sets.flatMap(({ evalSetId, evalCaseResults }) => evalCaseResults.map((result) => ({ evalSetId, result })));
}

/** Old files use different ids for an evalset: if each run has a single one, all of them are the same. */
function nameOfSets(results: readonly (readonly EvalSetResult[])[]): (evalSetId: string) => string {
  const isOneEach = results.every((sets) => sets.length === 1);
  const only = results[0]?.[0]?.evalSetId ?? "";
  return (evalSetId) => (isOneEach ? only : evalSetId);
}

function keyOf(evalSetId: string, evalId: string): string {
  return JSON.stringify([evalSetId, evalId]);
}

function offsetOf(status: EvalStatus): number {
  return status === EvalStatus.PASSED ? 0 : status === EvalStatus.FAILED ? 1 : 2;
}
