// Vectors, replayed through the package, and the differences that are meant.

import assert from "node:assert/strict";
import { importEntry } from "./package.mjs";

const { AdkMetricsError } = await importEntry();

/**
 * Fails for a deviation that no class covers, and for a class that covers another number of them than it states.
 * A class is `[reason, how many, covers(deviation)]`; the first that covers a deviation takes it.
 */
export function assertClassified(deviations, classes) {
  const found = classes.map(([reason]) => [reason, 0]);
  const unexplained = [];
  for (const deviation of deviations) {
    const place = classes.findIndex(([, , covers]) => covers(deviation));
    if (place === -1) unexplained.push(deviation);
    else found[place][1] += 1;
  }
  assert.deepEqual(unexplained.slice(0, 5), [], `${unexplained.length} unexplained deviations`);
  assert.deepEqual(
    found,
    classes.map(([reason, count]) => [reason, count]),
  );
}

/** How an answer deviates from the recorded one: undefined if it does not. An error answers an error. */
export function deviation(name, recordedError, found, differences) {
  if (recordedError !== undefined) return found.error === undefined ? { name, accepted: recordedError } : undefined;
  if (found.error !== undefined) return { name, refused: found.error };
  const how = differences(found.value);
  return how.length === 0 ? undefined : { name, how };
}

/** The value, or the error of the package; anything else that is thrown fails the test. */
export async function attempt(work) {
  try {
    return { value: await work() };
  } catch (error) {
    assert.ok(error instanceof AdkMetricsError, `${error?.stack}`);
    return { error };
  }
}

/** A recorded number: null stands for none, texts for what JSON cannot hold. */
const recordedNumber = (value) => (value === null || value === undefined ? undefined : Number(value));

export function compareNumber(what, recorded, found, differences) {
  const expected = recordedNumber(recorded);
  if (!Object.is(expected, found)) differences.push(`${what}: recorded ${expected}, found ${found}`);
}

/** What `evaluate` found for one metric of its only case, in the shape of an evaluator's answer. */
export function asEvaluation(result, metricName) {
  const place = result.overallEvalMetricResults.findIndex((metric) => metric.metricName === metricName);
  const overall = result.overallEvalMetricResults[place];
  return {
    overallScore: overall.score,
    overallEvalStatus: overall.evalStatus,
    overallTokenUsageDetails: overall.details?.tokenUsageDetails,
    overallDurationDetails: overall.details?.durationDetails,
    perInvocationResults: result.evalMetricResultPerInvocation.map(({ evalMetricResults }) => ({
      score: evalMetricResults[place].score,
      evalStatus: evalMetricResults[place].evalStatus,
      ...evalMetricResults[place].details,
    })),
  };
}

/**
 * The conversation of a case as an evalset. Without one it is a scenario; so it is for metrics that look at actual
 * turns only, since a case fails if its turns differ in number.
 */
export const evalSetText = (conversation, metricName) =>
  conversation === "null" || metricName.endsWith("_v1")
    ? '{"eval_set_id":"s","eval_cases":[{"eval_id":"c","conversation_scenario":{"starting_prompt":"","conversation_plan":""}}]}'
    : `{"eval_set_id":"s","eval_cases":[{"eval_id":"c","conversation":${conversation}}]}`;
