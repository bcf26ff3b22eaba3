// Judges and all that has to do with them, as the contract has them.

import {
  adkJudge,
  anthropicJudge,
  browserJudge,
  type EvalSetResult,
  evaluate,
  type EvaluatorOptions,
  FinalResponseMatchV2Evaluator,
  geminiJudge,
  HallucinationsV1Evaluator,
  indexedDbCache,
  type Judge,
  type JudgeReply,
  type JudgeRequest,
  languageModelJudge,
  memoryCache,
  ollamaJudge,
  openaiJudge,
  type Progress,
  recordJudge,
  replayJudge,
  SafetyEvaluatorV1,
  setDefaultJudge,
  vertexJudge,
} from "adk-metrics";

const apiKey = "key";
const mine: Judge = async ({ prompt, sampleIndex }: JudgeRequest, { signal }) =>
  signal.aborted ? "" : { text: `${prompt}${sampleIndex}`, usage: { inputTokens: 1, outputTokens: 2 } };
const inWords: Judge = async () => "valid";
const atOnce: Judge = () => ({ text: "valid" });

export const judges: Judge[] = [
  mine,
  atOnce,
  inWords,
  geminiJudge({ apiKey, model: "gemini-2.5-pro" }),
  vertexJudge({ project: "p", location: "us-central1", accessToken: async () => "token" }),
  openaiJudge({ apiKey, baseUrl: "https://example.com/v1", headers: { a: "b" }, fetch }),
  openaiJudge({ apiKey, api: "responses" }),
  anthropicJudge({ apiKey }),
  ollamaJudge(),
  browserJudge(),
  replayJudge("{}"),
  recordJudge(mine, (line: string) => void line),
];
export const ofLibraries = [languageModelJudge, adkJudge];
setDefaultJudge(mine);
setDefaultJudge(undefined);

export const options: EvaluatorOptions = {
  judge: mine,
  vertex: { project: "p", location: "us-central1", accessToken: "token" },
  dialect: "adk-python",
  earlyStop: false,
  explain: "failures",
  prompts: { safety_v1: "{{response}}", hallucinations_v1: { segment: "{{response}}" } },
  retry: { attempts: 3, initialDelayMs: 100, maxDelayMs: 1000, base: 2, jitter: 0.5 },
  timeoutMs: 1000,
  budget: { calls: 10, tokens: 1000, cost: 1, prices: { m: { inputPerMillion: 1, outputPerMillion: 2 } }, timeMs: 5 },
  concurrency: 4,
  seed: 7,
  signal: new AbortController().signal,
  onProgress: ({ done, total, judge }: Progress) => void [done, total, judge?.saved, judge?.leftMs],
  cache: memoryCache({ maxEntries: 10 }),
};
export const inBrowser: EvaluatorOptions = { cache: indexedDbCache() };

export async function judged(): Promise<EvalSetResult> {
  const metric = { metricName: "final_response_match_v2", threshold: 0.5, judgeModelOptions: { numSamples: 3 } };
  const evaluator = new FinalResponseMatchV2Evaluator(metric, options);
  const { overallRubricScores, perInvocationResults } = await evaluator.evaluateInvocations([], [], {
    startingPrompt: "Hi",
    conversationPlan: "Greet",
  });
  const [turn] = perInvocationResults;
  const replies: (string | undefined)[] = turn?.explanation?.samples?.votes.map(({ reply }) => reply) ?? [];
  const labels: string[] = turn?.explanation?.sentences?.map(({ label }) => label) ?? [];
  const scores: (number | undefined)[] = overallRubricScores?.map(({ score }) => score) ?? [];
  void [replies, labels, scores, SafetyEvaluatorV1.getMetricInfo(), HallucinationsV1Evaluator.getMetricInfo()];
  const set = await evaluate({ evalSet: "", actual: "", criteria: { safety_v1: 1 }, ...options });
  const calls: number | undefined = set.judgeUsage?.calls;
  const models: (string | undefined)[] = set.judges?.map(({ model }) => model) ?? [];
  void [calls, models];
  return set;
}

export const reply: JudgeReply = { text: "valid", modelVersion: "m-1" };

/** A cache that stores nothing, which answers at once. */
export const withoutCache: EvaluatorOptions = { cache: { get: () => undefined, set: () => {} } };
