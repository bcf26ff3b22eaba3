/** Whether what is scored answers the questions of the evalset: a recording from before it was edited answers others. */

import { call } from "../engine/call.js";
import type { Stretch } from "../engine/steps.js";
import type { EngineError } from "../generated/contract.js";
import { isOpen, type RunPlan, type Session } from "./session.js";

/** How much of a text is shown. */
const LONGEST = 60;

/**
 * A warning if users said something else than in the evalset. Leaves the thread to others on the way.
 *
 * @returns Nothing also if the engine was restarted or the run cancelled meanwhile.
 */
export async function otherQuestions(
  plan: RunPlan,
  session: Session,
  stretch: Stretch,
  isCancelled: () => boolean,
): Promise<EngineError | undefined> {
  const { run, header } = session;
  let count = 0;
  let first: readonly string[] = [];
  for (let next = 0; next < header.total;) {
    const [end, more, ...found] = call(plan, () => run.otherQuestions(next));
    next = Number(end);
    if (count === 0) first = found;
    count += Number(more);
    if (!stretch.isOver) continue;
    await stretch.leave();
    if (isCancelled() || !isOpen(session)) return undefined;
  }
  const [index = "0", turn = "", said = "", expected = ""] = first;
  if (count === 0) return undefined;
  const [only] = JSON.parse(call(plan, () => run.casesToJs(Number(index)))) as { evalId?: string }[];
  // An evaluator class is given one conversation, and what to compare it with.
  if (only?.evalId === undefined) return undefined;
  const [asked, meant] = excerpts(said, expected);
  const others = count === 1 ? "" : `; so it is in ${count} of ${header.total} runs`;
  return {
    code: "invalid_input",
    message: `in turn ${turn} of the case ${JSON.stringify(only.evalId)} the agent was asked ${asked}, but the evalset asks ${meant}${others}`,
    input: "actual",
    help: "If the evalset was edited after the agent was run, run it again: these are answers to other questions",
  };
}

/** Two texts in one line each, from shortly before the place where they begin to differ. */
function excerpts(...texts: [string, string]): [string, string] {
  const [a, b] = texts.map((text) => Array.from(text.replace(/\s+/gu, " ").trim())) as [string[], string[]];
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  const start = same < LONGEST / 2 ? 0 : same - LONGEST / 3;
  const shown = (text: string[]): string => {
    const end = start + LONGEST;
    const [before, after] = [start > 0 ? "…" : "", text.length > end ? "…" : ""];
    return JSON.stringify(`${before}${text.slice(start, end).join("")}${after}`);
  };
  return [shown(a), shown(b)];
}
