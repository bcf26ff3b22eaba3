/** Makes evalsets of what an agent did. */

import { AdkMetricsError, evaluate, evalSetToAdkJson, finalText, type Invocation, toolCallsOf } from "adk-metrics/web";
import { readableActual } from "./actual.js";
import { exactJson } from "./integers.js";
import { baseName, inspect } from "./inspection.js";
import { outcomeOf } from "./problems.js";
import type { Drafting, EvalSetDraft } from "./protocol-draft.js";
import type { NamedFile } from "./protocol.js";

/** A conversation of an agent. */
interface Recorded {
  evalId: string;
  turns: Invocation[];
}

export function drafting(ready: Promise<void>): Drafting {
  return {
    conversationsIn: (file) =>
      outcomeOf(async () => {
        await ready;
        return (await recordedIn(file)).map(({ evalId, turns }) => ({
          evalId,
          turns: turns.map((turn) => ({
            user: finalText({ ...turn, finalResponse: turn.userContent }),
            answer: finalText(turn),
            calls: toolCallsOf(turn).map(({ name }) => String(name ?? "")),
          })),
        }));
      }),

    evalSetFrom: (file, draft) =>
      outcomeOf(async () => {
        await ready;
        const text = evalSetToAdkJson(exactJson(evalSetOf(await recordedIn(file), draft), file.bytes));
        return { name: `${fileStem(file.name)}.evalset.json`, bytes: new TextEncoder().encode(text) };
      }),
  };
}

function fileStem(name: string): string {
  return baseName(name).replace(/[._-](session|actual|evalset_result|inferences|traces?)$|\.jsonl?$/i, "");
}

/**
 * The conversations in a file. The engine reads every form of what an agent did, for cases of the same ids; without metrics,
 * that is all that it does. A repeated id is another run of its case, and gets an id of its own.
 */
async function recordedIn({ name, bytes }: NamedFile): Promise<Recorded[]> {
  const evalIds = await idsIn({ name, bytes });
  if (evalIds.length === 0) {
    throw new AdkMetricsError("invalid_input", "the file has no conversation with an id", { path: name });
  }
  const question = { userContent: { parts: [{ text: "" }] } };
  const { evalCaseResults } = await evaluate({
    evalSet: {
      evalSetId: "draft",
      evalCases: [...new Set(evalIds)].map((evalId) => ({ evalId, conversation: [question] })),
    } as never,
    actual: await readableActual(bytes),
    criteria: {},
    countOnly: true,
    explain: "none",
  });
  const seen = new Map<string, number>();
  return evalCaseResults.flatMap(({ evalId, evalMetricResultPerInvocation: turns }) => {
    if (turns.length === 0) return [];
    const run = (seen.get(evalId) ?? 0) + 1;
    seen.set(evalId, run);
    const own = run === 1 ? evalId : `${evalId}-run-${run}`;
    return [{ evalId: own, turns: turns.map(({ actualInvocation }) => actualInvocation) }];
  });
}

/** The ids of the cases that a file has runs of: sessions that say none go by their own. */
async function idsIn(file: NamedFile): Promise<string[]> {
  const { kind, evalIds, problem } = await inspect(file);
  if (problem !== undefined && problem.code !== "unexpected") {
    throw new AdkMetricsError(problem.code, problem.message, { path: file.name });
  }
  if (kind !== "session") return evalIds;
  const json: unknown = JSON.parse(new TextDecoder().decode(file.bytes));
  const sessions = (Array.isArray(json) ? json : [json]) as Readonly<Record<string, unknown>>[];
  return sessions.flatMap((session) => {
    const id = session["eval_id"] ?? session["evalId"] ?? session["id"];
    return typeof id === "string" ? [id] : [];
  });
}

function evalSetOf(recorded: readonly Recorded[], draft: EvalSetDraft): object {
  const { evalSetId, cases, expectsAnswers, expectsCalls } = draft;
  const rubrics = draft.rubrics.map((text, index) => ({
    rubricId: `rubric_${index + 1}`,
    rubricContent: { textProperty: text },
    type: "FINAL_RESPONSE_QUALITY",
  }));
  return {
    evalSetId,
    evalCases: cases.flatMap(({ place, turns }) => {
      const one = recorded[place];
      if (one === undefined) return [];
      return [
        {
          evalId: one.evalId,
          conversation: turns.flatMap((at) => {
            const turn = one.turns[at];
            if (turn === undefined) return [];
            const calls = toolCallsOf(turn).map(({ name, args }) => ({ name, args }));
            return [
              {
                userContent: turn.userContent,
                ...(expectsAnswers && turn.finalResponse !== undefined ? { finalResponse: turn.finalResponse } : {}),
                ...(expectsCalls && calls.length > 0 ? { intermediateData: { toolUses: calls } } : {}),
              },
            ];
          }),
          ...(rubrics.length > 0 ? { rubrics } : {}),
        },
      ];
    }),
  };
}
