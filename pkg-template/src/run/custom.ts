/** Custom metrics, which the engine asks for. */

import { closest } from "../closest.js";
import { type HostTask, taskInvocations } from "../engine/decode.js";
import { framesOf } from "../engine/frames.js";
import { messageOf, unexpected } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import type { CustomResult, RunHeader } from "../generated/contract.js";
import type { EvalCase, EvalMetric, EvaluationResult } from "../types.js";
import type { JournalSection } from "../journal/section.js";
import { hashOf } from "../judges/recording.js";
import type { RunPlan } from "./session.js";

/** The outcome of a custom metric: what it found, or why there is nothing. */
export type CustomAnswer = { found: CustomResult } | { failure: string };

export async function compute(
  task: HostTask,
  header: RunHeader,
  plan: RunPlan,
  journal?: JournalSection,
): Promise<CustomAnswer> {
  const { registry, sources } = plan;
  try {
    const metric = header.metrics[task.metric] as EvalMetric;
    const actual = taskInvocations(task.actual, sources.actual, task.run ?? 0);
    const expected = task.expected === null ? undefined : taskInvocations(task.expected, sources.expected, task.case);
    const scenario = (task.scenario ?? undefined) as EvalCase["conversationScenario"];
    const key = journal && hashOf([JSON.stringify([metric, actual, expected, scenario])]);
    const kept = key === undefined ? undefined : journal?.answer(key);
    if (kept !== undefined) return { found: noted(kept as CustomResult, plan) };
    const evaluator = registry.getEvaluator(metric);
    const method: unknown = evaluator?.evaluateInvocations;
    if (typeof method !== "function") return { failure: NO_METHOD };
    const result: unknown = await evaluator.evaluateInvocations(actual, expected, scenario);
    if (typeof result !== "object" || result === null) {
      return { failure: `${NO_RESULT}: ${unexpected("an object with `overallScore`", result, "").message}` };
    }
    const found = noted(withReason(customResultOf(result as EvaluationResult), result), plan);
    // What JSON cannot hold is computed again instead.
    if (isPlain(found)) journal?.keep({ type: "metric", key, found });
    return { found };
  } catch (error) {
    return { failure: [messageOf(error), ...framesOf(error)].join("\n") };
  }
}

/** Notes why a metric says that it has no score, which is not a failure. */
function noted(found: CustomResult, plan: RunPlan): CustomResult {
  const { status, reason } = found.overall;
  if (status === EvalStatus.NOT_EVALUATED) {
    (plan.declined ??= new Set()).add(typeof reason === "string" ? reason : "the metric returned no score");
  }
  return found;
}

/** Says what a metric returned instead of a score, if it says neither that it has none nor why. */
function withReason(found: CustomResult, result: object): CustomResult {
  const { overall, turns } = found;
  if ([overall, ...turns].some(({ score, status, reason }) => (score ?? status ?? reason) !== undefined)) return found;
  const keys = Object.keys(result).map((key) => `\`${key}\``);
  const returned = keys.length === 0 ? "an empty object" : `an object with ${keys.slice(0, 10).join(", ")}`;
  const reason = `the metric gave no score: it returned ${returned}. Expected is a number as \`overallScore\`, or as \`score\` of turns in \`perInvocationResults\`; or a \`reason\` why there is none`;
  return { overall: { ...overall, reason }, turns };
}

function isPlain({ overall, turns }: CustomResult): boolean {
  const isKept = (value: unknown) =>
    value === undefined || typeof value === "string" || (Number.isFinite(value) && !Object.is(value, -0));
  return [overall, ...turns].every((finding) => Object.values(finding).every(isKept));
}

const NO_METHOD =
  "its evaluator has no method `evaluateInvocations(actual, expected, scenario)`: extend Evaluator, or register a function";

const NO_RESULT = "the metric returned no evaluation result";

const OF_ALL = ["overallRubricScores", "overallTokenUsageDetails", "overallDurationDetails", "warnings"];
const KEYS = ["overallScore", "overallEvalStatus", "reason", "perInvocationResults", ...OF_ALL];
const OF_TURNS = ["rubricScores", "tokenUsageDetails", "durationDetails", "explanation"];
const TURN_KEYS = ["actualInvocation", "expectedInvocation", "score", "evalStatus", "reason", ...OF_TURNS];

/**
 * Refuses misspelt keys, which would go unnoticed: a case could pass that the metric fails. Other keys are the user's.
 *
 * @throws {AdkMetricsError} `custom_metric_failed`
 */
function refuseMisspelt(found: object, known: readonly string[], place: string): void {
  for (const key of Object.keys(found)) {
    if (known.includes(key)) continue;
    const meant = place === "" && key === "evalStatus" ? "overallEvalStatus" : closest(key, known);
    if (meant === undefined) continue;
    throw new AdkMetricsError("custom_metric_failed", `${NO_RESULT}: \`${place}${key}\` is not a key of it`, {
      help: `Did you mean \`${meant}\`?`,
    });
  }
}

/** The part of an evaluation that the engine reads. It comes from the user: all is read once, and values are copied. */
function customResultOf(result: EvaluationResult): CustomResult {
  refuseMisspelt(result, KEYS, "");
  const { overallScore, overallEvalStatus, reason, perInvocationResults } = result;
  return {
    overall: {
      score: checked(overallScore, "number", "overallScore"),
      status: checked(statusIn(overallEvalStatus), "number", "overallEvalStatus"),
      reason: checked(reason, "string", "reason"),
    },
    turns: Array.from(perInvocationResults ?? [], (turn, at) => {
      const place = `perInvocationResults[${at}].`;
      refuseMisspelt(turn, TURN_KEYS, place);
      const { score, evalStatus, reason } = turn;
      return {
        score: checked(score, "number", `${place}score`),
        status: checked(statusIn(evalStatus), "number", `${place}evalStatus`),
        reason: checked(reason, "string", `${place}reason`),
      };
    }),
  };
}

/** A status that may be in words, as ADK writes it. */
function statusIn(given: unknown): unknown {
  if (typeof given !== "string") return given;
  return Object.hasOwn(EvalStatus, given) ? EvalStatus[given as keyof typeof EvalStatus] : given;
}

/** @throws {AdkMetricsError} `custom_metric_failed` that names the field, for a value of another type. */
function checked(value: unknown, type: "number" | "string", name: string): unknown {
  if (value === undefined || value === null || typeof value === type) return value;
  const what = name.endsWith("Status") ? "status" : type;
  throw new AdkMetricsError("custom_metric_failed", `${NO_RESULT}: \`${name}\` is not a ${what}`, {
    ...(what === "status" ? { help: "Use a value of EvalStatus or its name: PASSED, FAILED …" } : {}),
  });
}
