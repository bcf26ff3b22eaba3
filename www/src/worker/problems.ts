/** Errors as data, to be sent to the page. */

import { AdkMetricsError } from "adk-metrics/web";
import type { Outcome, Problem } from "./protocol.js";
import { definedProperties } from "./runs.js";

/** Runs a function and returns its result, or its error as data. */
export async function outcomeOf<T>(work: () => Promise<T> | T): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof AdkMetricsError) {
    const { code, message, path, line, help } = error;
    return { code, message, ...definedProperties({ path, line, help }) };
  }
  return { code: "unexpected", message: error instanceof Error ? error.message : String(error) };
}
