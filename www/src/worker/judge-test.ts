/** Asks a judge one question, to see whether a run would have replies. */

import { AdkMetricsError, evaluate, type Judge } from "adk-metrics/web";
import type { JudgeAnswer } from "./protocol-inputs.js";
import { definedProperties } from "./runs.js";

const METRIC = "final_response_match_v2";

const turn = (answer: string) => ({
  userContent: { role: "user", parts: [{ text: "What is the capital of France?" }] },
  finalResponse: { role: "model", parts: [{ text: answer }] },
});
const setOf = (answer: string) =>
  JSON.stringify({ evalSetId: "test", evalCases: [{ evalId: "test", conversation: [turn(answer)] }] });

/** How long the judge may take, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** @throws {AdkMetricsError} that says why there is no reply. */
export async function answerOf(judge: Judge | undefined, model: string | undefined): Promise<JudgeAnswer> {
  const began = performance.now();
  const { evalCaseResults, judges, judgeUsage } = await evaluate({
    evalSet: setOf("Paris"),
    actual: setOf("The capital of France is Paris."),
    criteria: {
      [METRIC]: {
        threshold: 0.5,
        judgeModelOptions: { numSamples: 1, ...definedProperties({ judgeModel: model }) },
      },
    },
    retry: { attempts: 1 },
    timeoutMs: TIMEOUT_MS,
    ...definedProperties({ judge }),
  });
  const ms = performance.now() - began;
  const metric = evalCaseResults[0]?.overallEvalMetricResults[0];
  const reason = metric?.reason ?? evalCaseResults[0]?.evalMetricResultPerInvocation[0]?.evalMetricResults[0]?.reason;
  if (metric?.score === undefined) throw new AdkMetricsError("judge_failed", reason ?? "the judge gave no reply");
  const [stamp] = judges ?? [];
  return {
    ms,
    isRight: metric.score === 1,
    ...definedProperties({
      model: stamp?.modelVersions?.[0] ?? stamp?.model,
      inputTokens: judgeUsage?.inputTokens,
      outputTokens: judgeUsage?.outputTokens,
    }),
  };
}
