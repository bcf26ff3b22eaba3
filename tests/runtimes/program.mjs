// What every runtime does with the package; it imports nothing that a runtime could lack. Beside it in the project are
// sample.mjs of tests/browser and where.mjs, which says where the sample and the judge are.

import { scoresOf } from "./sample.mjs";
import { given, judge } from "./where.mjs";

/** The SHA-256 of the scores of the parity vectors, and what a judge on loopback thinks of two answers. */
export async function found(adk) {
  const response = await fetch(given);
  const scores = await scoresOf(adk, await response.json());
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(scores.join()));
  return {
    scores: scores.length,
    digest: Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join(""),
    judged: await judged(adk),
  };
}

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
