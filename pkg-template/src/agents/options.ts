/** How agents are evaluated. */

import { closest } from "../closest.js";
import { isObject, unexpected } from "../engine/input.js";
import { AdkMetricsError } from "../errors.js";
import type { Criterion, EvaluatorOptions, MetricRegistry } from "../types.js";
import type { AgentRunOptions } from "./run.js";

/** How to run an agent and evaluate it. */
export interface AgentEvaluationOptions extends EvaluatorOptions, AgentRunOptions {
  /** Where metrics of your own are found. Default: `DEFAULT_METRIC_EVALUATOR_REGISTRY`. */
  registry?: MetricRegistry;
}

/** What the score of each metric has to reach, or its settings. */
export type Criteria = Record<string, number | Criterion>;

/** ADK's criteria for evalsets without a config. */
export const DEFAULT_CRITERIA: Readonly<Criteria> = /* @__PURE__ */ Object.freeze({
  tool_trajectory_avg_score: 1,
  response_match_score: 0.8,
});

const RUN_OPTIONS = ["parallelism", "turnTimeoutMs", "userSimulator", "onAgentProgress"];

/**
 * Finds misspelt options of runs; `evaluate` finds those of its own.
 *
 * @throws {AdkMetricsError} `invalid_input` with a suggestion.
 */
export function checkRunOptions(options: AgentEvaluationOptions): void {
  if (!isObject(options)) throw unexpected("an object", options, "options");
  for (const key of Object.keys(options)) {
    const meant = RUN_OPTIONS.includes(key) ? undefined : closest(key, RUN_OPTIONS);
    if (meant === undefined) continue;
    const help = `Did you mean \`${meant}\`?`;
    throw new AdkMetricsError("invalid_input", `there is no option \`${key}\``, { path: `options: ${key}`, help });
  }
}
