/**
 * The criteria of the eval config, for forms. The config's text is the one source: forms change single values in it, so
 * that whatever else stands there, comments and keys that no form knows included, stays as it is.
 */

import { computed, signal } from "@preact/signals";
import { applyEdits, modify, parse } from "jsonc-parser";
import { engine } from "../worker/client.js";
import type { KnownMetric } from "../worker/protocol.js";
import { configText } from "./config.js";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The criteria by the names that the text has for the metrics; empty while the text cannot be read. */
export const criteria = computed<Readonly<Record<string, Json>>>(() => {
  const config = parseTolerantly(configText.value);
  const value: unknown = isObject(config) ? config["criteria"] : undefined;
  return isObject(value) ? (value as Record<string, Json>) : {};
});

/** What can be read of a config; nothing if it is nested so deeply that the parser has no stack left. */
function parseTolerantly(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Every metric there is; empty until the engine has said. */
export const metrics = signal<readonly KnownMetric[]>([]);

void engine.metrics().then((value) => {
  if (value.ok) metrics.value = value.value;
});

/** Sets a value in the text; undefined takes it out. */
export function setInConfig(path: readonly (string | number)[], value: Json | undefined): void {
  const text = configText.value.trim() === "" ? "{}" : configText.value;
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: "\n" };
  configText.value = applyEdits(text, modify(text, [...path], value, { formattingOptions }));
}

/** The key by which the config names a metric: its own name, or as ADK-TS's enum does. */
export function keyOf(metric: string): string | undefined {
  const names = Object.keys(criteria.value);
  return names.find((name) => name === metric) ?? names.find((name) => name.toLowerCase() === metric);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
