/**
 * The criteria of the eval config, for forms. The config's text is the single source of truth: forms edit single values
 * in it, so that everything else, including comments and unknown keys, stays as it is.
 */

import { computed, signal } from "@preact/signals";
import { applyEdits, modify, parse } from "jsonc-parser";
import { engine } from "../worker/client.js";
import type { KnownMetric } from "../worker/protocol.js";
import { configText } from "./config.js";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The criteria, by the metrics' names as written in the text; empty if the text cannot be parsed. */
export const criteria = computed<Readonly<Record<string, Json>>>(() => {
  const config = parseTolerantly(configText.value);
  const value: unknown = isObject(config) ? config["criteria"] : undefined;
  return isObject(value) ? (value as Record<string, Json>) : {};
});

/** Parses as much of a config as possible; undefined if its nesting overflows the parser's stack. */
function parseTolerantly(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** All known metrics; empty until the engine is loaded. */
export const metrics = signal<readonly KnownMetric[]>([]);

void engine.metrics().then((value) => {
  if (value.ok) metrics.value = value.value;
});

/** Sets a value in the text; undefined removes it. */
export function setInConfig(path: readonly (string | number)[], value: Json | undefined): void {
  configText.value = withValue(configText.value, path, value);
}

function withValue(config: string, path: readonly (string | number)[], value: Json | undefined): string {
  const text = config.trim() === "" ? "{}" : config;
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: "\n" };
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }));
}

/** The config with other thresholds, by the names of metrics. */
export function configWith(thresholds: ReadonlyMap<string, number>): string {
  return [...thresholds].reduce((text, [metric, threshold]) => {
    const key = keyOf(metric) ?? metric;
    const path = isObject(criteria.value[key]) ? ["criteria", key, "threshold"] : ["criteria", key];
    return withValue(text, path, threshold);
  }, configText.value);
}

/** Puts thresholds into the config. */
export function moveThresholds(thresholds: ReadonlyMap<string, number>): void {
  configText.value = configWith(thresholds);
}

/** The key of a metric in the config: its name, or the upper-case spelling of ADK-TS's enum. */
export function keyOf(metric: string): string | undefined {
  const names = Object.keys(criteria.value);
  return names.find((name) => name === metric) ?? names.find((name) => name.toLowerCase() === metric);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
