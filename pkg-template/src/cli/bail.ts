/** `--bail`: ends a run at the first case that does not pass. */

import { append } from "../lists.js";
import { EvalStatus } from "../enums.js";
import { count } from "../report/text.js";
import type { EvalCaseResult, EvalSetResult, EvaluateRequest, JudgeStamp } from "../types.js";
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

/** The results of an evalset, from those of its parts. */
export function joined([first, ...others]: readonly EvalSetResult[]): EvalSetResult {
  const all = { ...(first as EvalSetResult) };
  all.evalCaseResults = [...all.evalCaseResults];
  const warnings = new Map(all.warnings?.map((warning) => [JSON.stringify(warning), warning]));
  for (const part of others) {
    append(all.evalCaseResults, part.evalCaseResults);
    if (part.cancelled === true) all.cancelled = true;
    for (const warning of part.warnings ?? []) {
      const key = JSON.stringify(warning);
      if (!warnings.has(key)) warnings.set(key, warning);
    }
    if (part.judges !== undefined) all.judges = stampsOf([...(all.judges ?? []), ...part.judges]);
    if (part.judgeUsage !== undefined) all.judgeUsage = sum(all.judgeUsage, part.judgeUsage);
    if (part.simulatorUsage !== undefined) {
      const models = new Set([...(all.simulatorUsage?.models ?? []), ...part.simulatorUsage.models]);
      all.simulatorUsage = { ...sum(all.simulatorUsage, part.simulatorUsage), models: [...models] };
    }
  }
  if (warnings.size > 0) all.warnings = [...warnings.values()];
  return all;
}

/** One stamp for each metric and judge, with the models that any of them names. */
function stampsOf(stamps: readonly JudgeStamp[]): JudgeStamp[] {
  const byJudge = new Map<string, JudgeStamp>();
  for (const stamp of stamps) {
    const key = JSON.stringify([stamp.metricName, stamp.scoredBy, stamp.model, stamp.function]);
    const versions = [...(byJudge.get(key)?.modelVersions ?? []), ...(stamp.modelVersions ?? [])];
    const modelVersions = [...new Set(versions)].sort().slice(0, 20);
    byJudge.set(key, {
      ...byJudge.get(key),
      ...stamp,
      ...(modelVersions.length === 0 ? {} : { modelVersions }),
    });
  }
  return [...byJudge.values()];
}

/** Adds up the numbers of two objects. */
function sum<T extends object>(a: T | undefined, b: T): T {
  const all: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const before = all[name];
    all[name] = typeof value === "number" && typeof before === "number" ? before + value : value;
  }
  return all as T;
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
