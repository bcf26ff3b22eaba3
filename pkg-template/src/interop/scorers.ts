/**
 * Evaluators of this package as scorers of others: functions that autoevals' and openevals' runners call, and a step of
 * a scorer of Mastra. What they are given may be a final response, a conversation of messages, or invocations.
 */

import { TurnRecorder } from "../agents/record.js";
import { isObject, reading, unexpected } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import { READS } from "../generated/reads.js";
import type { EvaluationResult, Invocation } from "../types.js";
import { contentOf } from "./messages.js";
import { fieldsOf } from "./otlp.js";
import type { Unread } from "./parts.js";
import { type AutoevalsScore, autoevalsScore, type OpenevalsResult } from "./scores.js";
import { definedProperties } from "../lists.js";

/** What is needed of an evaluator. */
export interface ScoringEvaluator {
  /** Scores one conversation. */
  evaluateInvocations(actual: Invocation[], expected?: Invocation[]): Promise<EvaluationResult> | EvaluationResult;
}

/**
 * An evaluator as a scorer of autoevals, for `Eval` of Braintrust too.
 *
 * @param name What the score is called.
 *
 * @example
 * const scorer = asAutoevalsScorer("rouge", new RougeEvaluator({ metricName: "response_match_score", threshold: 0.8 }));
 * await scorer({ input: "Weather in Paris?", output: "Sunny.", expected: "It is sunny." });
 */
export function asAutoevalsScorer(name: string, evaluator: ScoringEvaluator) {
  checkScorer(name, evaluator, "name");
  return async (run: { input?: unknown; output: unknown; expected?: unknown }): Promise<AutoevalsScore> => {
    const { overallScore, overallEvalStatus, reason } = await scored(evaluator, run.input, run.output, run.expected);
    const metadata = { status: EvalStatus[overallEvalStatus], ...definedProperties({ reason }) };
    const score = { metricName: name, ...(overallScore === undefined ? {} : { score: overallScore }) };
    const { engineMetric } = evaluator as { engineMetric?: unknown };
    return autoevalsScore(score, metadata, typeof engineMetric === "string" ? engineMetric : name);
  };
}

/**
 * An evaluator as one of openevals.
 *
 * @param key What the score is called.
 * @throws {AdkMetricsError} when it is called and there is no score: openevals has no word for that.
 */
export function asOpenevalsEvaluator(key: string, evaluator: ScoringEvaluator) {
  checkScorer(key, evaluator, "key");
  return async (run: {
    inputs?: unknown;
    outputs: unknown;
    referenceOutputs?: unknown;
    reference_outputs?: unknown;
  }): Promise<OpenevalsResult> => {
    const expected = run.referenceOutputs ?? run.reference_outputs;
    const result = await scored(evaluator, run.inputs, run.outputs, expected);
    return { key, score: scoreOf(result), metadata: { status: EvalStatus[result.overallEvalStatus] } };
  };
}

/**
 * An evaluator as the step `generateScore` of a scorer of Mastra; what is expected is the run's `groundTruth`.
 *
 * @throws {AdkMetricsError} when it is called and there is no score.
 *
 * @example
 * createScorer({ id: "rouge", description: "Words in common" }).generateScore(asMastraStep(evaluator));
 */
export function asMastraStep(evaluator: ScoringEvaluator) {
  checkScorer("", evaluator, "name");
  return async ({ run }: { run: { input?: unknown; output: unknown; groundTruth?: unknown } }): Promise<number> =>
    scoreOf(await scored(evaluator, run.input, run.output, run.groundTruth));
}

/** @throws {AdkMetricsError} `invalid_input` for anything but a name and an evaluator. */
function checkScorer(name: unknown, evaluator: unknown, path: string): void {
  if (typeof name !== "string") throw unexpected("a string", name, path);
  const method: unknown = reading("evaluator", () => (evaluator as ScoringEvaluator | undefined)?.evaluateInvocations);
  if (typeof method !== "function")
    throw unexpected("an evaluator, with `evaluateInvocations`", evaluator, "evaluator");
}

function scoreOf({ overallScore, reason }: EvaluationResult): number {
  if (overallScore !== undefined) return overallScore;
  throw new AdkMetricsError("invalid_input", `there is no score: ${reason ?? "the metric was not evaluated"}`);
}

/** Whether a metric reads tool calls and no responses: any two strings would be equal. */
function isOfCalls(metric: unknown): boolean {
  const reads = typeof metric === "string" ? READS[metric] : undefined;
  return reads !== undefined && reads.finalResponse === 0 && typeof reads.intermediateData === "object";
}

async function scored(evaluator: ScoringEvaluator, input: unknown, output: unknown, expected: unknown) {
  const { engineMetric } = evaluator as { engineMetric?: unknown };
  if (typeof output === "string" && typeof expected === "string" && isOfCalls(engineMetric)) {
    throw new AdkMetricsError(
      "invalid_input",
      `\`${String(engineMetric)}\` compares tool calls, which strings do not have`,
      {
        path: "output",
        help: "Pass messages with `tool_calls`, or invocations",
      },
    );
  }
  const actual = invocationsOf(output, input, "output");
  if (expected === undefined || expected === null) return evaluator.evaluateInvocations(actual);
  return evaluator.evaluateInvocations(actual, invocationsOf(expected, input, "expected"));
}

/** The turns in what a scorer is given. */
function invocationsOf(given: unknown, input: unknown, name: string): Invocation[] {
  const messages =
    typeof given === "string" ? [{ role: "assistant", content: given }] : (fieldsOf(given)?.messages ?? given);
  const list: unknown[] = Array.isArray(messages) ? messages : [messages];
  // Evaluators read both spellings.
  const isInvocation = (item: unknown) => isObject(item) && ("userContent" in item || "user_content" in item);
  if (list.length > 0 && list.every(isInvocation)) return list as Invocation[];
  const turns: TurnRecorder[] = [];
  const begin = (user: unknown) => {
    const turn = new TurnRecorder(contentOf(user, "user") ?? {}, 0);
    turns.push(turn);
    return turn;
  };
  for (const [at, message] of list.entries()) {
    const unread: Unread = new Set();
    const content = contentOf(message, undefined, unread);
    for (const what of unread)
      throw new AdkMetricsError("invalid_input", `${what} is not read`, { path: `${name}[${at}]` });
    const role = fieldsOf(message)?.role;
    if (content === undefined || typeof role !== "string") {
      throw unexpected("a string, messages with `role` and `content`, or invocations", message, `${name}[${at}]`);
    }
    const isToolResponse = content.parts?.some(({ functionResponse }) => functionResponse !== undefined) === true;
    if (role === "user" && !isToolResponse) begin(content);
    else if (role !== "system" && role !== "developer") (turns.at(-1) ?? begin(input)).add({ content }, 0);
  }
  return turns.map((turn) => {
    const { duration: _, creationTimestamp: __, ...invocation } = turn.finish(0);
    return invocation;
  });
}
