// Evalsets for the tests: short to write, the shapes of ADK.

import assert from "node:assert/strict";
import { MetricEvaluatorRegistry } from "../../pkg/dist/esm/node.js";

/** A content with one text. */
export const said = (role, text) => ({ role, parts: [{ text }] });

/** A turn: what the user says, what is expected to be answered, and which tools to be called. */
export const turn = (user, answer, calls = []) => ({
  userContent: said("user", user),
  finalResponse: said("model", answer),
  intermediateData: { toolUses: calls.map(([name, args]) => ({ name, args })) },
});

/** An evalset from turns by the id of their case. */
export const evalSetOf = (cases) => ({
  evalSetId: "evalset",
  evalCases: Object.entries(cases).map(([evalId, given]) =>
    Array.isArray(given) ? { evalId, conversation: given } : { evalId, ...given },
  ),
});

export const CRITERIA = { tool_trajectory_avg_score: 1, response_match_score: 0.8 };

/** The score of a metric in a case result. */
export const scoreOf = (result, metricName) =>
  result.overallEvalMetricResults.find((metric) => metric.metricName === metricName)?.score;

/** What an agent did in the turns of a case result. */
export const actualOf = (result) =>
  result.evalMetricResultPerInvocation.map(({ actualInvocation }) => actualInvocation);

/** What happened in a turn, one line an event. */
export const eventsOf = ({ intermediateData }) =>
  intermediateData.invocationEvents.flatMap(({ author, content }) =>
    (content?.parts ?? []).map(({ text, functionCall, functionResponse }) => {
      if (functionCall) return `${author} calls ${functionCall.name} ${JSON.stringify(functionCall.args)}`;
      if (functionResponse) return `${author} gets ${JSON.stringify(functionResponse.response)}`;
      return `${author}: ${text}`;
    }),
  );

export const answerOf = ({ finalResponse }) => finalResponse?.parts.map(({ text }) => text).join("");

/** The error that work ends in. */
export async function errorOf(work) {
  try {
    await work();
  } catch (error) {
    return error;
  }
  assert.fail("nothing was thrown");
}

/** Metrics with one more, `turns`, which scores any conversation: with the number of its turns. */
export function countingTurns() {
  const registry = new MetricEvaluatorRegistry();
  const info = { metricName: "turns", metricValueInfo: { interval: { minValue: 0, maxValue: 1000 } } };
  registry.registerEvaluator(info, (_, actual) => actual.length);
  return registry;
}
