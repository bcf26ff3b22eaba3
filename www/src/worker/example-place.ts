/** What a question of an example's recording is known by, without its words. */

import type { JudgeRequest } from "adk-metrics";

export function placeOf(request: JudgeRequest): string {
  const { metricName, purpose, evalId, invocationIndex, stepIndex, sampleIndex } = request;
  return JSON.stringify([metricName, purpose, evalId, invocationIndex, stepIndex, sampleIndex]);
}
