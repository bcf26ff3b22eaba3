/** Reports of judged results, and finding something in them. */

import assert from "node:assert/strict";
import type { EvalMetricResult, EvalSetResult } from "../../pkg-template/src/types.js";

/** A case's result in a turn by the metric's name. */
export function ofTurn(set: EvalSetResult, evalId: string, at = 0, metricName?: string): EvalMetricResult {
  const metrics = set.evalCaseResults.find((one) => one.evalId === evalId)?.evalMetricResultPerInvocation[at]
    ?.evalMetricResults;
  const metric = metrics?.find((one) => metricName === undefined || one.metricName === metricName);
  assert.ok(metric);
  return metric;
}
