/** Which turns of a case did not pass, and which are folded because they did. */

import type { EvalCaseResult } from "adk-metrics";
import type { Signal } from "@preact/signals";
import { EvalStatus } from "../../enums.js";

type Turns = EvalCaseResult["evalMetricResultPerInvocation"];

/** Whether every metric of a turn that has a verdict passed, and one has. */
function hasPassed({ evalMetricResults }: Turns[number]): boolean {
  const judged = evalMetricResults.filter(({ evalStatus }) => evalStatus !== EvalStatus.INFORMATIONAL);
  return judged.length > 0 && judged.every(({ evalStatus }) => evalStatus === EvalStatus.PASSED);
}

/** The turns that passed, if there are others. */
export function foldable(turns: Turns): ReadonlySet<number> {
  const passed = turns.flatMap((turn, index) => (hasPassed(turn) ? [index] : []));
  return new Set(passed.length < turns.length ? passed : []);
}

/** The turns in which a metric failed; where none did, those without a verdict. */
export function failedTurns(turns: Turns): readonly number[] {
  const withStatus = (status: EvalStatus) =>
    turns.flatMap(({ evalMetricResults }, index) =>
      evalMetricResults.some(({ evalStatus }) => evalStatus === status) ? [index] : [],
    );
  const failed = withStatus(EvalStatus.FAILED);
  return failed.length > 0 ? failed : withStatus(EvalStatus.NOT_EVALUATED);
}

export function toggle(folded: Signal<ReadonlySet<number>>, index: number, isFolded: boolean): void {
  const now = new Set(folded.value);
  if (isFolded) now.add(index);
  else now.delete(index);
  folded.value = now;
}
