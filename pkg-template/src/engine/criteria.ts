/** Where a config has its criteria. */

import { AdkMetricsError } from "../errors.js";
import { fieldOf } from "../invocation.js";
import { parseJson } from "./json.js";
import { isObject } from "./values.js";

/** The keys of a config that are not metrics. */
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
 * The criteria of a config: those in `criteria`, or where there are none the entries at its top, as ADK-TS's documentation
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

/** The entries of `custom_metrics`, which say where custom metrics are. */
export function customMetricsIn(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = fieldOf(config, "customMetrics");
  return isObject(entries) ? (entries as Record<string, unknown>) : {};
}

/** Options that are not criteria, whatever their values; and those whose names a custom metric may have. */
const OPTIONS = ["numRuns", "parallelism", "turnTimeoutMs", "timeoutMs", "concurrency", "printDetailedResults"];
const OTHER_OPTIONS = ["judge", "userSimulator", "budget", "cache", "signal", "registry", "strict", "retry", "prompts"];

/** @throws {AdkMetricsError} `invalid_input` for a config, or options, where criteria belong. */
export function checkMisplaced(criteria: unknown, path: string): void {
  if (!isObject(criteria)) return;
  const fields = criteria as Readonly<Record<string, unknown>>;
  if (isObject(fields["criteria"])) {
    throw new AdkMetricsError("invalid_input", "expected criteria, found a config with `criteria`", {
      path,
      help: "Pass only the value of `criteria`; `evaluate` takes the whole object as `config`",
    });
  }
  const isCriterion = (value: unknown) => typeof value === "number" || (isObject(value) && "threshold" in value);
  const key =
    OPTIONS.find((name) => fields[name] !== undefined) ??
    OTHER_OPTIONS.find((name) => fields[name] !== undefined && !isCriterion(fields[name]));
  if (key === undefined) return;
  throw new AdkMetricsError("invalid_input", `\`${key}\` is an option, not a metric`, {
    path: `${path}: ${key}`,
    help: "Pass options as a separate argument after the criteria; for the default criteria, pass undefined",
  });
}

/** A config as an object; scoring reports what is wrong with it. */
export function recordOf(config: Uint8Array | undefined): Record<string, unknown> {
  try {
    const value: unknown = parseJson(new TextDecoder().decode(config));
    return isObject(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
