/** Warnings about recordings that are scored as they are, but most likely are not as intended. */

import { isObject } from "../engine/values.js";
import type { EvalSetResult, Mistake } from "../types.js";

/** How large a recording may be that is searched for errors, and how many errors are named. */
const [MOST_BYTES, MOST_NAMED] = [2 ** 24, 3];

type Fields = Readonly<Record<string, unknown>>;

/** What was recorded, as text; empty if it is too large to be searched. */
export function recordedText(actual: Uint8Array): string {
  return actual.length > MOST_BYTES ? "" : new TextDecoder().decode(actual);
}

/** The warning about recorded amounts below 0, which google-adk counts too. */
export function negativeAmounts(text: string, { evalCaseResults }: EvalSetResult): Mistake[] {
  // Arguments of calls may have such names: whether it is an amount is looked at only if it may be one.
  if (!/"\w*(?:[tT]oken_?[cC]ount|[dD]uration)"\s*:\s*-/.test(text)) return [];
  for (const { evalId, evalMetricResultPerInvocation } of evalCaseResults) {
    for (const { actualInvocation: turn } of evalMetricResultPerInvocation) {
      const { duration, modelDuration, toolDuration, intermediateData: { invocationEvents = [] } = {} } = turn;
      const counts = invocationEvents.flatMap(({ usageMetadata }) => Object.values(usageMetadata ?? {}));
      if (![duration, modelDuration, toolDuration, ...counts].some((amount) => (amount as number) < 0)) continue;
      return [
        {
          code: "invalid_input",
          message: `a token count or duration below 0 was recorded in ${JSON.stringify(evalId)}, and counts as it is`,
          path: "actual",
          help: "Correct what records it",
        },
      ];
    }
  }
  return [];
}

/** The warnings about turns of sessions that ended in an error, which google-adk scores as turns without an answer. */
export function recordedErrors(text: string): Mistake[] {
  if (!/"(?:error_code|errorCode)"\s*:\s*"[^"]/.test(text) || !/"events"\s*:/.test(text)) return [];
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return [];
  }
  const sessions = (Array.isArray(given) ? given : [given]).filter(isObject) as Fields[];
  const found = sessions.flatMap((session) => errorsIn(session).map((error) => `${error} of ${nameOf(session)}`));
  if (found.length === 0) return [];
  const more = found.length > MOST_NAMED ? `; and ${found.length - MOST_NAMED} more` : "";
  return [
    {
      code: "invalid_input",
      message: `the agent failed with an error: ${found.slice(0, MOST_NAMED).join("; ")}${more}`,
      path: "actual",
      help: "A turn that ended in an error is scored as one without an answer, as google-adk does: run it again to score the agent",
    },
  ];
}

/** The error of each turn of a session that ended in one. */
function errorsIn({ events }: Fields): string[] {
  const errors = new Map<number, string>();
  let turn = 0;
  for (const event of (Array.isArray(events) ? events : []).filter(isObject) as Fields[]) {
    const { author, error_code, errorCode = error_code, error_message, errorMessage = error_message, content } = event;
    const { parts } = (isObject(content) ? content : {}) as Fields;
    const isSaid = Array.isArray(parts) && parts.some((part) => isObject(part) && "text" in part);
    if (typeof author === "string" && author.toLowerCase() === "user") turn += 1;
    else if (typeof errorCode === "string" && errorCode !== "") {
      const message = typeof errorMessage === "string" && errorMessage !== "" ? `: ${errorMessage.slice(0, 200)}` : "";
      errors.set(turn, `${errorCode.slice(0, 80)}${message} (turn ${turn})`);
    } else if (isSaid) errors.delete(turn);
  }
  return [...errors.values()];
}

function nameOf({ id, evalId, eval_id = evalId }: Fields): string {
  const name = eval_id ?? id;
  return typeof name === "string" && name !== "" ? JSON.stringify(name.slice(0, 80)) : "a session";
}
