// Metrics of one's own, and what the tests of the package's contract evaluate.

import { ACTUAL, EXPECTED } from "./conversations.mjs";
import { importEntry } from "./package.mjs";

const adk = await importEntry();
const { evaluate, Evaluator, MetricEvaluatorRegistry } = adk;

export const CRITERIA = { tool_trajectory_avg_score: 1, response_match_score: 0.8 };

export const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));

/** A registry with one metric of the user's, `mine`, that answers with what `work` gives. */
export function registryWith(work, metricName = "mine") {
  const registry = new MetricEvaluatorRegistry();
  class Mine extends Evaluator {
    evaluateInvocations(...conversations) {
      return work.apply(this, conversations);
    }
    static getMetricInfo() {
      return { metricName };
    }
  }
  registry.registerEvaluator({ metricName }, Mine);
  return registry;
}

export const scored = (overallScore) => ({ overallScore, perInvocationResults: [] });

export const mineOf = (set, at = 0) => set.evalCaseResults[at].overallEvalMetricResults[0];

export const evaluateMine = (work, more = {}) =>
  evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: { mine: 0.5 }, registry: registryWith(work), ...more });

export const never = () => new Promise(() => {});
