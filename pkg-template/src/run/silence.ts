/** What is said of an agent that neither said nor did anything, such as a function that returns nothing. */

import { finalText, toolCallsOf } from "../invocation.js";
import type { EvalSetResult, Mistake } from "../types.js";

/** How many turns there are, if none has a text or a tool call; undefined if one has. Looks no further than the first that has. */
export function silentTurnsIn({ evalCaseResults }: EvalSetResult): number | undefined {
  let turns = 0;
  for (const { evalMetricResultPerInvocation, reason } of evalCaseResults) {
    // Why a run failed is said already.
    if (reason !== undefined) continue;
    for (const { actualInvocation } of evalMetricResultPerInvocation) {
      if (finalText(actualInvocation).trim() !== "" || toolCallsOf(actualInvocation).length > 0) return undefined;
      turns += 1;
    }
  }
  return turns;
}

/** The warning about an agent that was silent in all turns; none for one that had no turn. */
export function silenceWarnings(turns: number | undefined): Mistake[] {
  if (turns === undefined || turns === 0) return [];
  return [
    {
      code: "invalid_input",
      message: `the agent neither answered nor called a tool in ${turns === 1 ? "its only turn" : `any of ${turns} turns`}`,
      path: "actual",
      help: "A function has to return its answer as a string, or as events with `content` whose author is not `user`. An agent of a framework is silent if its model's reply is empty or an error",
    },
  ];
}
