/**
 * Evaluates one case of a run again for its details: the prompts of its judges, and how its tool calls match in every
 * mode. No judge is called: the replies are taken from the results. So a run does not have to keep prompts, which are
 * large for many cases, and prompts are available for replies from a cache or a recording too.
 */

import {
  type Dialect,
  type EvalCaseResult,
  evaluate,
  type EvaluateRequest,
  type Judge,
  type JudgeRequest,
  EvalStatus,
  type Invocation,
  type JudgeStamp,
  PrebuiltMetrics,
  type VertexOptions,
} from "adk-metrics/web";
import { exactJson } from "../ui/json.js";
import type { Matching, Question } from "./protocol.js";

/** The inputs of a run, without its judges and callbacks. */
export type Source = Pick<EvaluateRequest, "evalSet" | "evalSetName" | "actual" | "config" | "dialect" | "earlyStop">;

/** Stores nothing, so that the judge is called for every question, also for identical ones. */
const NO_CACHE: NonNullable<EvaluateRequest["cache"]> = { get: async () => undefined, set: async () => {} };

/**
 * The questions that judges were asked about a run of a case.
 *
 * @param judges Who judged, and on what risk their votes ended.
 * @param isOnlyRun Whether the case has no other run. Otherwise only this run is evaluated.
 */
export async function questionsOf(
  source: Source,
  result: EvalCaseResult,
  judges: readonly JudgeStamp[],
  isOnlyRun: boolean,
): Promise<Question[]> {
  const { earlyStop, ...certain } = source;
  if (typeof earlyStop !== "object") return await questionsAsked(source, result, isOnlyRun);
  const questions = await questionsAsked(certain, result, isOnlyRun);
  // Where votes may end at a risk, later samples are asked about the rubrics alone that are not decided.
  for (const { metricName, earlyStop: taken } of judges) {
    const turns = narrowedTurns(result, metricName);
    if (taken === undefined || turns.size === 0) continue;
    const config = configOf(source.config, metricName);
    const asked = await questionsAsked({ ...source, config, earlyStop: taken }, result, isOnlyRun);
    const isNarrowed = (one: Question) => one.metricName === metricName && turns.has(one.invocationIndex);
    const others = questions.filter((one) => !isNarrowed(one));
    questions.splice(0, questions.length, ...others, ...asked.filter(isNarrowed));
  }
  return questions;
}

/** The turns of a case about which not every sample judged every rubric of a metric. */
function narrowedTurns({ evalMetricResultPerInvocation: turns }: EvalCaseResult, metricName: string): Set<number> {
  const isNarrowed = ({ evalMetricResults }: (typeof turns)[number]) =>
    evalMetricResults.some(({ metricName: name, explanation: { samples, rubrics = [] } = {} }) => {
      const votes = samples?.votes.length ?? 0;
      return name === metricName && rubrics.some(({ yes, no }) => yes + no < votes);
    });
  return new Set(turns.flatMap((turn, at) => (isNarrowed(turn) ? [at] : [])));
}

/** A config with one of its metrics, which it may call as the enum does. */
function configOf(config: Source["config"], metricName: string): string {
  const { criteria, ...rest } = JSON.parse(String(config)) as { criteria: Record<string, unknown> };
  const isMetric = (key: string) => [key, PrebuiltMetrics[key as keyof typeof PrebuiltMetrics]].includes(metricName);
  const kept = Object.entries(criteria).filter(([key]) => isMetric(key));
  return JSON.stringify({ ...rest, criteria: Object.fromEntries(kept) });
}

async function questionsAsked(source: Source, result: EvalCaseResult, isOnlyRun: boolean): Promise<Question[]> {
  const questions: Question[] = [];
  const reply = repliesOf(result);
  const judge: Judge = async (request) => {
    const { metricName, purpose, invocationIndex, stepIndex, sampleIndex, system, prompt } = request;
    questions.push({
      metricName,
      purpose,
      invocationIndex,
      stepIndex,
      sampleIndex,
      prompt,
      ...(system === undefined ? {} : { system }),
    });
    return reply(request);
  };
  const ofService = await serviceQuestions(source, result, isOnlyRun);
  // Without the service, its metrics would ask a judge.
  const vertex = ofService.length > 0 ? { vertex: requestsTo([]) } : {};
  await evaluate({ ...caseOf(source, result, isOnlyRun), judge, ...vertex });
  return [...questions, ...ofService];
}

/** What evaluates one case, explaining nothing and storing nothing. */
function caseOf(source: Source, result: EvalCaseResult, isOnlyRun: boolean): EvaluateRequest {
  return {
    ...source,
    actual: isOnlyRun ? source.actual : evalSetOf(result),
    evalIds: [result.evalId],
    explain: "none",
    cache: NO_CACHE,
    retry: { attempts: 1 },
  };
}

/**
 * The requests to Vertex AI's evaluation service: for each metric one per turn in order, or one for the whole conversation,
 * which is attributed to the last turn.
 */
async function serviceQuestions(source: Source, result: EvalCaseResult, isOnlyRun: boolean): Promise<Question[]> {
  const { evalMetricResultPerInvocation: turns } = result;
  const names = turns.flatMap(({ evalMetricResults }) =>
    evalMetricResults.flatMap(({ metricName, explanation }) =>
      explanation?.scoredBy === "vertex" ? [metricName] : [],
    ),
  );
  const questions: Question[] = [];
  for (const metricName of new Set(names)) {
    const bodies: string[] = [];
    const config = configOf(source.config, metricName);
    const vertex = requestsTo(bodies);
    await evaluate({ ...caseOf({ ...source, config }, result, isOnlyRun), vertex, concurrency: 1 });
    for (const [index, body] of bodies.entries()) {
      const invocationIndex = turns.length - bodies.length + index;
      const prompt = JSON.stringify(JSON.parse(body), undefined, 2);
      questions.push({ metricName, purpose: "score", invocationIndex, stepIndex: 0, sampleIndex: 0, prompt });
    }
  }
  return questions;
}

/** The evaluation service, which is not asked: what it would be sent is added to a list. */
function requestsTo(bodies: string[]): VertexOptions {
  return {
    apiKey: "none",
    fetch: async (_address, init) => {
      bodies.push(String(init?.body));
      throw new Error("Nothing is sent.");
    },
  };
}

/** An evalset with the conversation of a result as its only case. */
function evalSetOf({ evalSetId, evalId, evalMetricResultPerInvocation: turns }: EvalCaseResult) {
  return { evalSetId, evalCases: [{ evalId, conversation: turns.map(({ actualInvocation }) => actualInvocation) }] };
}

/** Looks up replies in a result; throws if there is none for a question. */
function repliesOf({ evalMetricResultPerInvocation: turns }: EvalCaseResult): (request: JudgeRequest) => string {
  const replies = new Map<string, string>();
  for (const [turn, { evalMetricResults }] of turns.entries()) {
    for (const { metricName, explanation } of evalMetricResults) {
      for (const { purpose, stepIndex = 0, sampleIndex, reply } of explanation?.samples?.votes ?? []) {
        replies.set(keyOf({ metricName, purpose, invocationIndex: turn, stepIndex, sampleIndex }), reply);
      }
    }
  }
  return (request) => {
    // The vote on a question about the end of a conversation is stored with the last turn.
    const invocationIndex = Math.min(request.invocationIndex, turns.length - 1);
    const reply = replies.get(keyOf({ ...request, invocationIndex }));
    if (reply === undefined) throw new Error("The results hold no reply to this question.");
    return reply;
  };
}

type QuestionKey = Omit<Question, "prompt" | "system" | "purpose"> & { purpose: string };

function keyOf({ metricName, purpose, invocationIndex, stepIndex, sampleIndex }: QuestionKey): string {
  return JSON.stringify([metricName, purpose, invocationIndex, stepIndex, sampleIndex]);
}

const MATCHING_MODES = (["EXACT", "IN_ORDER", "ANY_ORDER"] as const).flatMap((matchType) =>
  [false, true].map((ignoreArgs) => ({ matchType, ignoreArgs })),
);

/** The tool calls of a case, matched in every mode; empty if a turn has no expected calls. */
export async function matchingsOf(dialect: Dialect, result: EvalCaseResult): Promise<Matching[]> {
  const turns = result.evalMetricResultPerInvocation;
  const actual = turns.map(({ actualInvocation }) => actualInvocation);
  const expected = turns.flatMap(({ expectedInvocation }) => expectedInvocation ?? []);
  if (turns.length === 0 || expected.length !== actual.length) return [];
  return Promise.all(
    MATCHING_MODES.map(async (mode) => {
      const criterion = { threshold: 1, ...mode };
      const results = await evaluate({
        evalSet: conversationJson(expected),
        actual: conversationJson(actual),
        criteria: { [PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE]: criterion },
        dialect,
      });
      const matched = results.evalCaseResults[0]?.evalMetricResultPerInvocation ?? [];
      const turnResults = matched.map(({ evalMetricResults: [metric] }) => ({
        evalStatus: metric?.evalStatus ?? EvalStatus.NOT_EVALUATED,
        ...(metric?.explanation?.alignment === undefined ? {} : { alignment: metric.explanation.alignment }),
      }));
      return { ...mode, turns: turnResults };
    }),
  );
}

/** A conversation as an evalset of one case. It is text, since JavaScript's numbers round large integers. */
function conversationJson(turns: readonly Invocation[]): string {
  const conversation = turns.map(({ intermediateData }) => ({
    userContent: { parts: [{ text: "" }] },
    ...(intermediateData === undefined ? {} : { intermediateData }),
  }));
  return exactJson({ evalSetId: "case", evalCases: [{ evalId: "case", conversation }] }) ?? "";
}
