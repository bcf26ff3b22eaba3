/** What a tool returned, on one line. */

import { errorOf } from "../turn-events.js";
import type { FunctionResponse } from "../types.js";
import { shorten, valueText } from "./text.js";

/** `returned {"sky": "clear"}`, `failed: no such city`. */
export function outputText(output: FunctionResponse, width = 200): string {
  const error = errorOf(output);
  if (error !== undefined) return `failed: ${shorten(typeof error === "string" ? error : valueText(error), width)}`;
  return `returned ${shorten(valueText(output.response ?? null, width * 2), width)}`;
}
