// Results to compare, and what stands in their comparisons.

import { importEntry } from "./package.mjs";

const { EvalStatus } = await importEntry();
const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;

/** A metric's result: a number is a score held against 0.5, undefined none, a list `[status, score]` is that. */
export function metric(metricName, given) {
  const [evalStatus, score] = Array.isArray(given)
    ? given
    : [given === undefined ? NOT_EVALUATED : given >= 0.5 ? PASSED : FAILED, given];
  return {
    metricName,
    evalStatus,
    ...(evalStatus === INFORMATIONAL ? {} : { threshold: 0.5 }),
    ...(score === undefined ? {} : { score }),
  };
}

export const list = (metrics) => Object.entries(metrics).map(([name, given]) => metric(name, given));

/** A run of a case: its metrics' results, then those of each turn. */
export function caseOf(evalId, metrics, { turns = [], ...more } = {}) {
  const overallEvalMetricResults = list(metrics);
  const statuses = overallEvalMetricResults.map(({ evalStatus }) => evalStatus);
  const invocation = { userContent: { parts: [{ text: "Hello" }] } };
  return {
    evalSetId: "set",
    evalId,
    finalEvalStatus: [FAILED, PASSED].find((status) => statuses.includes(status)) ?? NOT_EVALUATED,
    overallEvalMetricResults,
    evalMetricResultPerInvocation: turns.map((turn) => ({
      actualInvocation: invocation,
      evalMetricResults: list(turn),
    })),
    sessionId: "session",
    ...more,
  };
}

export const setOf = (evalCaseResults, more = {}) => ({
  evalSetResultId: "set_1",
  evalSetId: "set",
  evalCaseResults,
  creationTimestamp: 1.5,
  ...more,
});

/** A run of one-metric cases: eval id to what the metric found. */
export const runOf = (found) =>
  setOf(Object.entries(found).map(([evalId, given]) => caseOf(evalId, { quality: given })));

/** A run whose cases are named by number and scored so. */
export const scored = (scores) => runOf(Object.fromEntries(scores.map((score, at) => [`c${at}`, score])));

export const only = (comparison) => comparison.metrics[0];

export const isOfComparison = (render) => /^renderComparison/.test(render.name);
