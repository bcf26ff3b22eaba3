// An evaluation of the trip, and a judge that counts what it is asked.

import { setTimeout as sleep } from "node:timers/promises";
import { ACTUAL, criteriaOf, EVAL_SET, fair } from "./trip.mjs";

export const all = { evalSet: EVAL_SET, actual: ACTUAL, criteria: criteriaOf() };
export const few = { ...all, evalIds: ["flight"], criteria: criteriaOf(["final_response_match_v2"]) };

/** A fair judge that counts how often it is asked each sample of each question. */
export function countingJudge(delay = 0) {
  const asked = new Map();
  const judge = async (request) => {
    const { metricName, purpose, evalId, invocationIndex, stepIndex, sampleIndex } = request;
    const place = [metricName, purpose, evalId, invocationIndex, stepIndex, sampleIndex].join(" ");
    asked.set(place, (asked.get(place) ?? 0) + 1);
    if (delay > 0) await sleep(delay);
    return { text: fair(request), usage: { inputTokens: 5, outputTokens: 2 } };
  };
  return { judge, asked };
}
