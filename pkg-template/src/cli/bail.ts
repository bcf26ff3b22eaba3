/** `--bail`: ends a run at the first case that does not pass. */

import { EvalStatus } from "../enums.js";
import type { EvalCaseResult, EvalSetResult, EvaluateRequest } from "../types.js";
import { api } from "./api.js";

/** The first result that did not pass. */
export function firstFailure(results: readonly EvalSetResult[]): EvalCaseResult | undefined {
  return results.flatMap((set) => set.evalCaseResults).find(isFailure);
}

function isFailure({ finalEvalStatus }: EvalCaseResult): boolean {
  return finalEvalStatus !== EvalStatus.PASSED;
}

/** Scores cases until one does not pass; the results are those of the cases that were done by then. */
export async function untilFailure(request: EvaluateRequest): Promise<EvalSetResult> {
  const { evaluateStream } = await api();
  const failed = new AbortController();
  const signals = [failed.signal, ...(request.signal === undefined ? [] : [request.signal])];
  const signal = AbortSignal.any(signals);
  const done = new Set<EvalCaseResult>();
  const stream = evaluateStream({ ...request, signal });
  for (;;) {
    const next = await stream.next();
    if (next.done === true) {
      const set = next.value;
      const results = set.evalCaseResults.filter((result) => done.has(result));
      return { ...set, evalCaseResults: results };
    }
    if (signal.aborted) continue;
    done.add(next.value);
    if (isFailure(next.value)) failed.abort();
  }
}

/** What `--bail` did, as the beginning of a warning of an evalset; undefined if every result passed. */
export function bailedText(results: readonly EvalSetResult[], ofEvalSet: string): string | undefined {
  const failure = firstFailure(results);
  if (failure === undefined) return undefined;
  const { evalId, evalSetId } = failure;
  return bailedAt(evalId, evalSetId === ofEvalSet ? "" : ` of ${JSON.stringify(evalSetId)}`);
}

/** @param more Where the case is, if that is not known. */
export function bailedAt(evalId: string | undefined, more = ""): string {
  return `--bail ended the run at the case ${JSON.stringify(evalId)}${more}, which did not pass`;
}
