/** What there is to read in an invocation, in either spelling: calls and texts, as the metrics see them. */

import { snakeOf } from "./engine/spelling.js";
import { reading } from "./engine/values.js";
import { isRecord } from "./lists.js";
import type { Content, FunctionCall, InvocationInput } from "./types.js";

/**
 * The tool calls of an invocation, in order: every function call of every event, or its `toolUses`.
 * The indices of `explanation.alignment` are indices into this list.
 *
 * @example
 * toolCallsOf({ userContent: {}, intermediateData: { toolUses: [{ name: "book", args: { nights: 2 } }] } });
 * // [{ name: "book", args: { nights: 2 } }]
 *
 * @throws {AdkMetricsError} `invalid_input` if a getter or a proxy in it throws.
 */
export function toolCallsOf(invocation: InvocationInput | null | undefined): FunctionCall[] {
  return reading("invocation", () => callsOf(invocation));
}

/** As {@link toolCallsOf}, for callers that say where the mistake is. */
export function callsOf(invocation: InvocationInput | null | undefined): FunctionCall[] {
  const data = fieldOf(invocation, "intermediateData");
  const events = fieldOf(data, "invocationEvents");
  if (!Array.isArray(events)) {
    const calls = fieldOf(data, "toolUses");
    return Array.isArray(calls) ? calls.filter(isRecord) : [];
  }
  return events
    .filter(isRecord)
    .map((event) => event.content)
    .flatMap((content) => (isRecord(content) && Array.isArray(content.parts) ? content.parts : []))
    .map((part: unknown) => fieldOf(part, "functionCall"))
    .filter(isRecord);
}

/** The text of a content as the metrics see it: its non-empty part texts joined by line feeds, `""` if there is none. */
export function textOf(content: Content | null | undefined): string {
  const texts: string[] = [];
  for (const part of content?.parts ?? []) if (part.text) texts.push(part.text);
  return texts.join("\n");
}

/** What the user said in an invocation. */
export function userText(invocation: InvocationInput | null | undefined): string {
  return textOf(fieldOf(invocation, "userContent") as Content | undefined);
}

/**
 * What the agent finally answered in an invocation; `""` if nothing. The offsets of `explanation.tokens` count in it.
 *
 * @example
 * finalText({ userContent: {}, finalResponse: { parts: [{ text: "Booked." }] } }); // "Booked."
 *
 * @throws {AdkMetricsError} `invalid_input` if a getter or a proxy in it throws, or if `parts` is not a list.
 */
export function finalText(invocation: InvocationInput | null | undefined): string {
  return reading("invocation", () => answerText(invocation));
}

/** As {@link finalText}, for callers that say where the mistake is. */
export function answerText(invocation: InvocationInput | null | undefined): string {
  return textOf(fieldOf(invocation, "finalResponse") as Content | undefined);
}

/** A field of a record in either spelling. camelCase counts where it has both, as in the engine. */
export function fieldOf(record: unknown, key: string): unknown {
  return isRecord(record) ? (record[key] ?? record[snakeOf(key)]) : undefined;
}
