/**
 * One case of a run, evaluated again to see more of it: what judges were asked, and how its tool calls match in every way.
 * Nobody is asked: replies are those that the results hold. So a run need not keep prompts, which for many cases are
 * large, and they are there for replies from a cache or a recording too.
 */

import {
  type Dialect,
  type EvalCaseResult,
  evaluate,
  type EvaluateRequest,
  type Judge,
  type JudgeRequest,
  PrebuiltMetrics,
  TrajectoryEvaluator,
} from "adk-metrics/web";
import { serviceStub } from "./judges.js";
import type { Matching, Question } from "./protocol.js";

/** What a run was made of, without those who took part in it. */
export type Source = Pick<EvaluateRequest, "evalSet" | "evalSetName" | "actual" | "config" | "dialect" | "earlyStop">;

/** Keeps nothing, so that the judge is asked every question, equal ones too. */
const NO_CACHE: NonNullable<EvaluateRequest["cache"]> = { get: async () => undefined, set: async () => {} };

/**
 * What judges were asked about a case.
 *
 * @param isOnlyRun Whether it is the only run of the case. If not, the others must not be asked about.
 */
export async function questionsOf(source: Source, result: EvalCaseResult, isOnlyRun: boolean): Promise<Question[]> {
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
  const service = serviceQuestions(result);
  await evaluate({
    ...source,
    actual: isOnlyRun ? source.actual : evalSetOf(result),
    evalIds: [result.evalId],
    explain: "none",
    cache: NO_CACHE,
    retry: { attempts: 1 },
    judge,
    ...(service === undefined ? {} : { vertex: service.vertex, concurrency: 1 }),
  });
  return [...questions, ...(service?.questions() ?? [])];
}

/**
 * Notes what Vertex AI's evaluation service is asked: of each metric all turns in their order, or the conversation, of
 * which the last turn tells. None if it scored nothing of the case.
 */
function serviceQuestions({ evalMetricResultPerInvocation: turns }: EvalCaseResult) {
  const names = turns.flatMap(({ evalMetricResults }) =>
    evalMetricResults.flatMap(({ metricName, explanation }) =>
      explanation?.scoredBy === "vertex" ? [metricName] : [],
    ),
  );
  if (names.length === 0) return undefined;
  const asked = new Map<string, string[]>();
  const vertex = serviceStub((metric, body) => {
    // ADK-TS calls `safety_v1` only `safety`.
    const name = names.find((other) => metric.startsWith(other)) ?? metric;
    asked.set(name, [...(asked.get(name) ?? []), body]);
  });
  const questions = () =>
    [...asked].flatMap(([metricName, bodies]) =>
      bodies.map((body, index): Question => {
        const invocationIndex = turns.length - bodies.length + index;
        const prompt = JSON.stringify(JSON.parse(body), undefined, 2);
        return { metricName, purpose: "score", invocationIndex, stepIndex: 0, sampleIndex: 0, prompt };
      }),
    );
  return { vertex, questions };
}

/** The conversation of a result as an evalset of its own. */
function evalSetOf({ evalSetId, evalId, evalMetricResultPerInvocation: turns }: EvalCaseResult) {
  return { evalSetId, evalCases: [{ evalId, conversation: turns.map(({ actualInvocation }) => actualInvocation) }] };
}

/** Finds the replies in a result; throws where there is none. */
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
    // A question about the end of a conversation is told of in its last turn.
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

/** The tool calls of a case under every way of matching them; none where a turn has nothing to compare them with. */
export async function matchingsOf(dialect: Dialect, result: EvalCaseResult): Promise<Matching[]> {
  const turns = result.evalMetricResultPerInvocation;
  const actual = turns.map(({ actualInvocation }) => actualInvocation);
  const expected = turns.flatMap(({ expectedInvocation }) => expectedInvocation ?? []);
  if (turns.length === 0 || expected.length !== actual.length) return [];
  return Promise.all(
    MATCHING_MODES.map(async (mode) => {
      const evaluator = new TrajectoryEvaluator(
        { metricName: PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE, criterion: { threshold: 1, ...mode } },
        { dialect },
      );
      const { perInvocationResults } = await evaluator.evaluateInvocations(actual, expected);
      const turnResults = perInvocationResults.map(({ evalStatus, explanation }) => ({
        evalStatus,
        ...(explanation?.alignment === undefined ? {} : { alignment: explanation.alignment }),
      }));
      return { ...mode, turns: turnResults };
    }),
  );
}
