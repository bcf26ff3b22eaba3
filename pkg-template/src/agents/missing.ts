/** What results say of cases and runs that were not done when the evaluation ended. */

import { amountText, count } from "../report/text.js";
import type { EvalSetResult, Mistake } from "../types.js";

/** How many of what is missing are named. */
const MOST_NAMES = 5;

/**
 * Marks results as cancelled and warns of the cases that have fewer runs than they should, if there are any.
 *
 * @param evalIds The cases that were to be run.
 * @param what What happened, as the beginning of a sentence.
 */
export function noteMissingRuns(
  result: EvalSetResult,
  evalIds: readonly string[],
  numRuns: number,
  what?: string,
): void {
  const runs = new Map<string, number>();
  for (const { evalId } of result.evalCaseResults) runs.set(evalId, (runs.get(evalId) ?? 0) + 1);
  const names = evalIds.filter((id) => (runs.get(id) ?? 0) < numRuns);
  if (names.length === 0) return;
  result.cancelled = true;
  result.notRun = names.map((evalId) => ({ evalId, runs: numRuns - (runs.get(evalId) ?? 0) }));
  const left = result.notRun.reduce((sum, { runs }) => sum + runs, 0);
  const warning =
    numRuns === 1
      ? missingWarning(evalIds.length - names.length, evalIds.length, { names, what })
      : missingWarning(evalIds.length * numRuns - left, evalIds.length * numRuns, { names, what, of: "run" });
  result.warnings = [warning, ...(result.warnings ?? [])];
}

/** The warning that not all cases, runs or evalsets are done. */
export function missingWarning(
  done: number,
  total: number,
  {
    what = "The run was cancelled",
    of = "case",
    names = [],
  }: { what?: string | undefined; of?: string; names?: readonly string[] },
): Mistake {
  const [one, several] = of === "evalset" ? ["was started", "were started"] : ["is done", "are done"];
  const message = `${what}: ${amountText(done)} of ${count(total, of)} ${done === 1 || total === 1 ? one : several}`;
  if (names.length === 0) return { code: "cancelled", message };
  const shown = names.slice(0, MOST_NAMES).map((name) => JSON.stringify(name));
  if (names.length > shown.length) shown.push(`${amountText(names.length - shown.length)} more`);
  return {
    code: "cancelled",
    message: `${message}; ${of === "run" ? "runs" : "results"} are missing for ${new Intl.ListFormat("en").format(shown)}`,
  };
}
