/** Where a config has its criteria. */

import { isObject } from "./values.js";

/** The keys of a config that are no metrics. */
const CONFIG_KEYS = [
  "$schema",
  "criteria",
  "custom_metrics",
  "customMetrics",
  "user_simulator_config",
  "userSimulatorConfig",
  "live_model_config",
  "liveModelConfig",
];

/**
 * The criteria of a config: those in `criteria`, or where there are none what stands at its top, as ADK-TS's documentation
 * has it. The engine says what is wrong with them.
 */
export function criteriaIn(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { criteria } = config;
  if (isObject(criteria)) return criteria as Record<string, unknown>;
  if (criteria !== undefined && criteria !== null) return {};
  const isCriterion = ([key, value]: [string, unknown]) =>
    !CONFIG_KEYS.includes(key) && (typeof value === "number" || (isObject(value) && "threshold" in value));
  return Object.fromEntries(Object.entries(config).filter(isCriterion));
}
