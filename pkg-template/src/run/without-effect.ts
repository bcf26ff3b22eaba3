/** Settings and options that this run does not use. */

import type { EngineError, HeaderMetric } from "../generated/contract.js";
import { canonicalName } from "../metric-names.js";
import type { EvaluatorOptions } from "../types.js";

/** A metric of the header, which has no criterion where that is only a threshold. */
type Metric = Pick<HeaderMetric, "metricName" | "criterion">;

/** The warnings about prompts of metrics that are not evaluated, and about settings that the dialect does not read. */
export function withoutEffect({ prompts = {}, dialect }: EvaluatorOptions, metrics: readonly Metric[]): EngineError[] {
  // A run that only counts its cases has no metric.
  if (metrics.length === 0) return [];
  const names = metrics.map(({ metricName }) => canonicalName(metricName));
  const unused = Object.keys(prompts).filter((name) => !names.includes(canonicalName(name)));
  const warnings = unused.map((name): EngineError => ({
    code: "invalid_input",
    message: `there is a prompt for \`${name}\`, which is not in the criteria`,
    path: `prompts: ${name}`,
    help: `The criteria contain ${metrics.map(({ metricName }) => `\`${metricName}\``).join(", ")}`,
  }));
  if (dialect !== "adk-ts") return warnings;
  for (const { metricName, criterion } of metrics) {
    if (canonicalName(metricName) !== "tool_trajectory_avg_score") continue;
    const { matchType, match_type = matchType, ignoreArgs, ignore_args = ignoreArgs } = criterion ?? {};
    const isExact = [undefined, null, "EXACT", 0].includes(
      typeof match_type === "string" ? match_type.trim().toUpperCase() : (match_type as null),
    );
    const dropped = [...(isExact ? [] : ["`match_type`"]), ...(ignore_args ? ["`ignore_args`"] : [])];
    if (dropped.length === 0) continue;
    warnings.push({
      code: "invalid_input",
      message: `the dialect adk-ts ignores ${dropped.join(" and ")}: calls must match exactly, with their arguments`,
      input: "config",
      path: `criteria.${metricName}`,
      help: `Leave ${dropped.length === 1 ? "it" : "them"} out, or use the dialect adk-python`,
    });
  }
  return warnings;
}
