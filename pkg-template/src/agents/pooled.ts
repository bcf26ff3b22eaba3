/**
 * How the runs of an evalset pass or fail: the scores of all runs of a case pooled by metric, as ADK's `AgentEvaluator` does.
 * The mean is the engine's. Whether a metric passes above its threshold or below follows from the statuses of its turns.
 */

import { numberOrNone } from "../engine/input.js";
import { withEngine } from "../engine/instance.js";
import { isLowerBetter } from "../engine/status.js";
import { EvalStatus } from "../enums.js";
import { definedProperties, group } from "../lists.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult, Invocation } from "../types.js";
import { caseName, runsName } from "../report/results.js";
import { renderTable } from "../report/table.js";
import { firstLine, scoreText } from "../report/text.js";
import type { EvaluationFailure } from "./results.js";

/** What a metric found in all turns of all runs of a case. */
interface Pool {
  evalId: string;
  metricName: string;
  turns: { actual: Invocation; expected: Invocation | undefined; result: EvalMetricResult }[];
  /** What it found in each run as a whole. */
  wholes: EvalMetricResult[];
  threshold: number | undefined;
  score: number | undefined;
  status: EvalStatus;
  /** Whether lower scores are the better ones; undefined if the statuses that it gave do not agree. */
  isLowerBetter: boolean | undefined;
  reason: string | undefined;
}

const NO_REASON = "no reason is known";

/** What did not pass. */
export function failuresOf(
  { evalSetId, evalCaseResults, advisory = [] }: EvalSetResult,
  agentName: string,
  resultIndex = 0,
): EvaluationFailure[] {
  const failures: EvaluationFailure[] = [];
  for (const [evalId, runs] of byCase(evalCaseResults)) {
    const reasons = new Map<string, number[]>();
    for (const [at, { reason = NO_REASON, finalEvalStatus, overallEvalMetricResults }] of runs.entries()) {
      if (finalEvalStatus === EvalStatus.PASSED || overallEvalMetricResults.length > 0) continue;
      const what = finalEvalStatus === EvalStatus.FAILED ? `${agentName} failed` : "nothing was evaluated";
      group(reasons, JSON.stringify([what, firstLine(reason)]), at + 1);
    }
    for (const [key, failed] of reasons) {
      const [what, reason] = JSON.parse(key) as [string, string];
      failures.push({
        evalSetId,
        resultIndex,
        evalId,
        message: `${what} in case ${runsName(evalId, failed, runs.length)}: ${reason}`,
      });
    }
    for (const pool of poolsOf(evalId, runs)) {
      const { metricName, threshold, score, status, reason } = pool;
      if (status === EvalStatus.PASSED || status === EvalStatus.INFORMATIONAL || advisory.includes(metricName))
        continue;
      const mean = runs.length === 1 ? "" : ` on average of ${runs.length} runs`;
      const message =
        score === undefined
          ? `${metricName} was not evaluated in case ${caseName(evalId)}: ${reason ?? NO_REASON}`
          : `${metricName} is ${scoreText(score, threshold)} in case ${caseName(evalId)}${mean}, threshold ${threshold}${directionOf(pool)}`;
      failures.push({
        evalSetId,
        resultIndex,
        evalId,
        metricName,
        ...definedProperties({ threshold, score }),
        message,
      });
    }
  }
  return failures;
}

/** How the score of a metric was compared with the threshold, if that is not as everybody expects. */
function directionOf({ isLowerBetter }: Pool): string {
  if (isLowerBetter === false) return "";
  return isLowerBetter === true
    ? " (lower scores are better, according to its evaluator's statuses)"
    : " (the mean decides, because its evaluator's statuses do not show whether higher or lower scores are better)";
}

/** Prints the report with every turn: its texts, calls and scores. */
export function printDetails(result: EvalSetResult): void {
  console.log(renderTable(result, { details: true }));
}

function byCase(results: readonly EvalCaseResult[]): Map<string, EvalCaseResult[]> {
  const cases = new Map<string, EvalCaseResult[]>();
  for (const result of results) group(cases, result.evalId, result);
  return cases;
}

function poolsOf(evalId: string, runs: readonly EvalCaseResult[]): Pool[] {
  const metrics = new Map<string, Pool>();
  const poolOf = ({ metricName, threshold }: EvalMetricResult) => {
    const known = metrics.get(metricName);
    if (known !== undefined) return known;
    const pool: Pool = {
      evalId,
      metricName,
      turns: [],
      wholes: [],
      threshold,
      score: undefined,
      status: EvalStatus.NOT_EVALUATED,
      isLowerBetter: false,
      reason: undefined,
    };
    metrics.set(metricName, pool);
    return pool;
  };
  for (const { evalMetricResultPerInvocation, overallEvalMetricResults } of runs) {
    for (const overall of overallEvalMetricResults) {
      const pool = poolOf(overall);
      pool.wholes.push(overall);
      pool.reason ??= overall.reason;
      if (overall.evalStatus === EvalStatus.INFORMATIONAL) pool.status = EvalStatus.INFORMATIONAL;
    }
    for (const { actualInvocation, expectedInvocation, evalMetricResults } of evalMetricResultPerInvocation) {
      for (const result of evalMetricResults) {
        poolOf(result).turns.push({ actual: actualInvocation, expected: expectedInvocation, result });
      }
    }
  }
  const pools = [...metrics.values()];
  for (const pool of pools) {
    const ofTurns = pool.turns.map(({ result }) => result).filter(({ score }) => score !== undefined);
    // A metric of one's own may score whole conversations only.
    const scored = ofTurns.length > 0 ? ofTurns : pool.wholes;
    const scores = Float64Array.from(scored.map(({ score }) => score).filter((score) => score !== undefined));
    pool.score = numberOrNone(withEngine((engine) => engine.exactMean(scores)));
    if (pool.status === EvalStatus.INFORMATIONAL || pool.score === undefined) continue;
    const { score, threshold = 0 } = pool;
    pool.isLowerBetter = isLowerBetter(scored, threshold);
    const passes = pool.isLowerBetter === true ? score <= threshold : score >= threshold;
    pool.status = passes ? EvalStatus.PASSED : EvalStatus.FAILED;
  }
  return pools;
}
