// What every runtime does with the package; it imports nothing that a runtime could lack. Beside it in the project are
// sample.mjs of tests/browser and where.mjs, which says where the samples and the judge are.

import { scoresOf } from "./sample.mjs";
import { judge, small } from "./where.mjs";

/** Hashes of the scores of the parity vectors, and what a judge on loopback thinks of two answers. */
export async function found(adk, address = small) {
  const { vectors, ...sample } = await (await fetch(address)).json();
  return {
    sample: await hashed(await scoresOf(adk, sample)),
    vectors: await hashed(await replayed(adk, vectors)),
    judged: await judged(adk),
  };
}

async function hashed(texts) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(texts.join()));
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return { count: texts.length, digest: hex.join("") };
}

/** Scores and statuses of every metric by its evaluator, given the replies that were recorded for its judge. */
async function replayed({ DEFAULT_METRIC_EVALUATOR_REGISTRY }, vectors) {
  // Turns that are alike have replies of their own.
  const cache = { get: async () => undefined, set: async () => {} };
  const texts = [];
  for (const { metric, actual, expected, scenario, replies } of vectors) {
    const { metric_name: metricName, ...settings } = metric;
    const judge = async ({ invocationIndex, stepIndex, purpose, sampleIndex }) => {
      const reply = replies[`${invocationIndex}/${stepIndex}/${purpose}/${sampleIndex}`];
      if (reply === null) throw new Error("the call failed");
      return reply;
    };
    const { constructor: Evaluator } = DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator({ metricName });
    try {
      const evaluator = new Evaluator({ metricName, ...settings }, { judge, cache, explain: "none" });
      const result = await evaluator.evaluateInvocations(actual, expected ?? undefined, scenario ?? undefined);
      const turns = result.perInvocationResults.map(({ score, evalStatus }) => [bitsOf(score), evalStatus]);
      texts.push(metricName, bitsOf(result.overallScore), result.overallEvalStatus, ...turns);
    } catch ({ code }) {
      texts.push(metricName, String(code));
    }
  }
  return texts;
}

/** A double without loss. */
const bitsOf = (score) =>
  score === undefined ? "-" : new BigUint64Array(Float64Array.of(score).buffer)[0].toString(16);

async function judged({ evaluate, openaiJudge }) {
  const turn = (text) => [
    {
      userContent: { role: "user", parts: [{ text: "How is the weather in Zürich?" }] },
      finalResponse: { role: "model", parts: [{ text }] },
    },
  ];
  const setOf = (...answers) => ({
    evalSetId: "weather",
    evalCases: answers.map((answer, index) => ({ evalId: `case ${index}`, conversation: turn(answer) })),
  });
  const result = await evaluate({
    evalSet: setOf("It is sunny.", "It is sunny."),
    actual: setOf("The sun shines.", "It pours, 雨."),
    criteria: { final_response_match_v2: { threshold: 0.5, judgeModelOptions: { numSamples: 3 } } },
    judge: openaiJudge({ apiKey: "key", baseUrl: judge, model: "judge" }),
  });
  return result.evalCaseResults.map(({ finalEvalStatus, overallEvalMetricResults: [{ score, reason = "" }] }) => ({
    finalEvalStatus,
    score,
    reason,
  }));
}
