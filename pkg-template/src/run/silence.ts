/** The warning about an agent that neither said nor did anything, such as a function that returns nothing. */

import { finalText, toolCallsOf } from "../invocation.js";
import type { EvalSetResult, Mistake } from "../types.js";

/** What an agent that said nothing did not do. */
export interface Silence {
  /** How many turns there are, if none has text or a tool call. */
  turns: number;
  /** How many cases have no run of the agent, if none has one. */
  withoutRun: number | undefined;
}

/** How silent the agent was; undefined if it said anything. Looks no further than the first turn in which it did. */
export function silenceIn({ evalCaseResults }: EvalSetResult): Silence | undefined {
  const silence: Silence = { turns: 0, withoutRun: evalCaseResults.length };
  for (const { evalMetricResultPerInvocation, reason } of evalCaseResults) {
    if (reason?.startsWith("there is no actual conversation") !== true) silence.withoutRun = undefined;
    // The reason for a failed run is in its result.
    if (reason !== undefined) continue;
    for (const { actualInvocation } of evalMetricResultPerInvocation) {
      if (finalText(actualInvocation).trim() !== "" || toolCallsOf(actualInvocation).length > 0) return undefined;
      silence.turns += 1;
    }
  }
  return silence;
}

/** The silence of two parts together. */
export function bothSilent(one: Silence | undefined, other: Silence | undefined): Silence | undefined {
  if (one === undefined || other === undefined) return undefined;
  const hasRun = one.withoutRun === undefined || other.withoutRun === undefined;
  return {
    turns: one.turns + other.turns,
    withoutRun: hasRun ? undefined : (one.withoutRun ?? 0) + (other.withoutRun ?? 0),
  };
}

/** The warning about an agent that was silent in all turns, or has no run at all; none where there is no case. */
export function silenceWarnings({ turns, withoutRun = 0 }: Silence = { turns: 0, withoutRun: 0 }): Mistake[] {
  if (withoutRun > 0) {
    return [
      {
        code: "actual_missing",
        message: "no case has an actual conversation",
        path: "actual",
        help: "Check that what the agent did is not empty, and is of this evalset",
      },
    ];
  }
  if (turns === 0) return [];
  return [
    {
      code: "invalid_input",
      message: `the agent neither answered nor called a tool in ${turns === 1 ? "its only turn" : `any of ${turns} turns`}`,
      path: "actual",
      help: "A function has to return its answer as a string, or as events with `content` whose author is not `user`. An agent of a framework is silent if its model's reply is empty or an error",
    },
  ];
}
