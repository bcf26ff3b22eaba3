/** `--bail`: ends a run at the first case that does not pass. */

import { EvalStatus } from "../enums.js";
import { count } from "../report/text.js";
import type { EvalCaseResult, EvalSetResult, EvaluateRequest } from "../types.js";
import { selectedIds } from "./agent-runs.js";
import { api } from "./api.js";
import type { Input } from "./inputs.js";

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

/** A sentence about the cases that were left out, if there are any. */
export async function leftOutText(
  inputs: readonly Input[],
  results: readonly EvalSetResult[],
): Promise<string | undefined> {
  const failure = firstFailure(results);
  if (failure === undefined) return undefined;
  let left = 0;
  for (const [at, input] of inputs.entries()) {
    const done = new Set(results[at]?.evalCaseResults.map(({ evalId }) => evalId));
    left += (await selectedIds(input)).filter((id) => !done.has(id)).length;
  }
  if (left === 0) return undefined;
  return `--bail stopped at ${failure.evalId}, which did not pass; ${count(left, "case")} left out`;
}
