/** Metrics of the user's own, which the engine asks for. */

import { type HostTask, taskInvocations } from "../engine/decode.js";
import { messageOf } from "../engine/values.js";
import { describe, isAdkMetricsError } from "../errors.js";
import type { CustomResult, RunHeader } from "../generated/contract.js";
import type { EvalCase, EvalMetric, EvaluationResult } from "../types.js";
import type { RunPlan } from "./session.js";

/** What came of a metric of the user's own: what it found, or why there is nothing. */
export type CustomAnswer = { found: CustomResult } | { failure: string };

export async function compute(
  task: HostTask,
  header: RunHeader,
  { registry, sources }: RunPlan,
): Promise<CustomAnswer> {
  try {
    const metric = header.metrics[task.metric] as EvalMetric;
    const actual = taskInvocations(task.actual, sources.actual, task.run ?? 0);
    const expected = task.expected === null ? undefined : taskInvocations(task.expected, sources.expected, task.case);
    const scenario = (task.scenario ?? undefined) as EvalCase["conversationScenario"];
    const evaluator = registry.getEvaluator(metric);
    const result: unknown = await evaluator.evaluateInvocations(actual, expected, scenario);
    if (typeof result !== "object" || result === null) return { failure: NO_RESULT };
    return { found: customResultOf(result as EvaluationResult) };
  } catch (error) {
    return { failure: isAdkMetricsError(error) ? describe(error) : messageOf(error) };
  }
}

const NO_RESULT = "the metric gave no evaluation result";

/** What the engine reads of an evaluation, in which anything may be: getters are read once, and nothing of it is kept. */
function customResultOf({
  overallScore,
  overallEvalStatus,
  reason,
  perInvocationResults,
}: EvaluationResult): CustomResult {
  return {
    overall: findingOf(overallScore, overallEvalStatus, reason),
    turns: Array.from(perInvocationResults ?? [], ({ score, evalStatus, reason }) =>
      findingOf(score, evalStatus, reason),
    ),
  };
}

function findingOf(score: unknown, status: unknown, reason: unknown): CustomResult["overall"] {
  return { score: primitive(score), status: primitive(status), reason: primitive(reason) };
}

/** A value that runs no code of the user's when the engine looks at it; it refuses the empty object in any field. */
function primitive(value: unknown): unknown {
  const isObject = typeof value === "function" || (typeof value === "object" && value !== null);
  return isObject ? {} : value;
}
