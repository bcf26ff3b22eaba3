/** Limits of inputs, and texts that cannot be read. */

import { AdkMetricsError } from "../errors.js";
import { MAX_BYTES, MAX_VALUES } from "../generated/limits.js";

/**
 * Checked here too, since more might not even fit into the engine's memory.
 *
 * @throws {AdkMetricsError} `limit_exceeded` for more bytes than the engine reads.
 */
export function checkSize(bytes: number, name: string): void {
  if (bytes <= MAX_BYTES) return;
  const message = `the input has ${bytes} bytes or more; one JSON text may have ${MAX_BYTES} (${MAX_BYTES / 2 ** 20} MiB)`;
  throw new AdkMetricsError("limit_exceeded", message, { path: name, help: smallerHelp(name) });
}

/** What to do about an input that is too large. */
function smallerHelp(name: string): string {
  return name === "evalSet" || name === "actual"
    ? "Write it as JSON lines, one case per line: `eval` and `evaluateStream` score any number of lines"
    : "Split it into several files";
}

/**
 * A text without halves of surrogate pairs, which `TextEncoder` would turn into U+FFFD without a word.
 *
 * @throws {AdkMetricsError} `invalid_json`.
 */
export function wellFormed(text: string, name: string): string {
  if (isWellFormed(text)) return text;
  throw new AdkMetricsError("invalid_json", "the text contains half of a surrogate pair", {
    path: name,
    help: "The text was cut in the middle of a character",
  });
}

const nativeIsWellFormed: unknown = Reflect.get(String.prototype, "isWellFormed");

export function isWellFormed(text: string): boolean {
  return typeof nativeIsWellFormed === "function"
    ? Boolean(nativeIsWellFormed.call(text))
    : !/\p{Surrogate}/u.test(text);
}

/** @throws {AdkMetricsError} `limit_exceeded` for more values than the engine reads. */
export function checkCount(values: number, name: string): void {
  if (values <= MAX_VALUES) return;
  throw new AdkMetricsError("limit_exceeded", `the input has more than ${MAX_VALUES} values`, {
    path: name,
    help: smallerHelp(name),
  });
}
