/** Settings and options that this run does not use. */

import type { EngineError, HeaderMetric, RunHeader } from "../generated/contract.js";
import { UNITS } from "../generated/metrics.js";
import { canonicalName } from "../metric-names.js";
import type { Budget, EvaluateRequest, EvaluatorOptions, Mistake } from "../types.js";

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
    help: `The criteria contain ${metrics.flatMap(({ metricName }) => (Object.hasOwn(UNITS, metricName) ? [] : `\`${metricName}\``)).join(", ")}`,
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

/** The options that are for metrics that ask judges alone. */
const FOR_JUDGES = ["judge", "vertex", "cache", "budget", "retry", "prompts", "batch"] as const;

/** The warning about options for judges where no judge is asked. */
export function unusedOptions(
  options: Omit<EvaluateRequest, "evalSet" | "actual">,
  metrics: RunHeader["metrics"],
): Mistake | undefined {
  const found = FOR_JUDGES.filter((name) => options[name] !== undefined && options[name] !== false);
  if (found.length === 0 || metrics.some(({ judge }) => judge !== undefined)) return undefined;
  const [names, verb] = [found.map((name) => `\`${name}\``).join(", "), found.length === 1 ? "has" : "have"];
  return { code: "invalid_input", message: `no metric asks a judge, so ${names} ${verb} no effect`, path: "options" };
}

/** The warning about prices of models that are not asked. @param priced The names whose prices count. */
export function unusedPrices({ prices }: Budget = {}, priced: readonly string[]): Mistake | undefined {
  const found = Object.keys(prices ?? {}).filter((name) => !priced.includes(name));
  if (found.length === 0) return undefined;
  const whose = found.length === 1 ? "its price in `budget.prices` has" : "their prices in `budget.prices` have";
  return {
    code: "invalid_input",
    message: `${found.map((name) => `\`${name}\``).join(", ")} ${found.length === 1 ? "is" : "are"} not asked, so ${whose} no effect`,
    path: "options",
    ...(priced.length === 0 ? {} : { help: `Asked: ${[...new Set(priced)].join(", ")}` }),
  };
}
