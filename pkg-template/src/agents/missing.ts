/** What results say of cases and runs that were not done when the evaluation ended. */

import { amountText, count } from "../report/text.js";
import type { EvalSetResult, Mistake } from "../types.js";

/** How many of what is missing are named. */
const MOST_NAMES = 5;

/**
 * Marks results as cancelled and warns of the cases that have fewer runs than they should, if there are any.
 *
 * @param planned How many runs each case was to have.
 * @param what What happened, as the beginning of a sentence.
 */
export function noteMissingRuns(result: EvalSetResult, planned: ReadonlyMap<string, number>, what?: string): void {
  const left = new Map(planned);
  for (const { evalId } of result.evalCaseResults) left.set(evalId, (left.get(evalId) ?? 1) - 1);
  const notRun = [...left].flatMap(([evalId, runs]) => (runs > 0 ? [{ evalId, runs }] : []));
  if (notRun.length === 0) return;
  result.cancelled = true;
  result.notRun = notRun;
  const names = notRun.map(({ evalId }) => evalId);
  const total = [...planned.values()].reduce((sum, runs) => sum + runs, 0);
  const done = total - notRun.reduce((sum, { runs }) => sum + runs, 0);
  const of = total === planned.size ? "case" : "run";
  result.warnings = [missingWarning(done, total, { names, what, of }), ...(result.warnings ?? [])];
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
