/**
 * Messages as telemetry has them become contents of ADK: the `gen_ai` conventions of today (messages of parts) and
 * those before 1.37 (an event a message), and contents that ADK, ADK-TS and `@google/adk` write as they are.
 */

import { append } from "../lists.js";
import type { Content, FunctionResponse, InvocationEvent, Part } from "../types.js";
import { parseExactly } from "./integers.js";
import { type Fields, fieldsOf, type Item, wrong } from "./otlp.js";
import {
  callsIn,
  isBare,
  objectOf,
  partsOf,
  PLACEHOLDERS,
  REDACTED,
  responseOf,
  type Unread,
  wordsOf,
} from "./parts.js";

/**
 * An attribute that is JSON text, or a value where attributes may have any form.
 *
 * @throws {AdkMetricsError} `invalid_input` for a text that is not JSON.
 */
export function jsonOf(item: Item, key: string): unknown {
  const value = item.attributes.get(key);
  if (typeof value !== "string") return value ?? undefined;
  if (value === REDACTED || PLACEHOLDERS.includes(value)) return undefined;
  try {
    return parseExactly(value);
  } catch {
    const help = "It may have been cut off: raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT where the agent runs";
    throw wrong(item, `the attribute \`${key}\` is not JSON`, help);
  }
}

/** What a tool was given, or gave, by the attribute of its span. */
export function toolObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "string" && PLACEHOLDERS.includes(value) && value !== "{}" ? undefined : objectOf(value);
}

/** Messages' keys that hold what they say; text written as JSON that has one is a message. */
export const MESSAGE_KEYS = [
  "role",
  "content",
  "parts",
  "tool_calls",
  "toolCalls",
  "function_call",
  "reasoning_content",
  "refusal",
];

const ROLES: Readonly<Record<string, string>> = {
  assistant: "model",
  ai: "model",
  human: "user",
  tool: "user",
  function: "user",
  system: "system",
};

/** The content of a message in any of the forms; nothing if it holds nothing. `unread` is called with what has no known form. */
export function contentOf(given: unknown, role?: string, unread?: Unread): Content | undefined {
  const message = typeof given === "string" ? { content: given } : fieldsOf(given);
  if (message === undefined) {
    if (given !== null && given !== undefined) unread?.add("a message that is neither an object nor a string");
    return undefined;
  }
  const inner = fieldsOf(message.content);
  const spoken = [message.role, message.type].find((one) => typeof one === "string" && Object.hasOwn(ROLES, one));
  const own = typeof message.role === "string" ? message.role : ((spoken as string | undefined) ?? role);
  // google-adk puts a content of its own where the conventions have a text.
  if (inner?.parts !== undefined) return contentOf(inner, own, unread);
  const isItem =
    typeof message.type === "string" && MESSAGE_KEYS.every((key) => key === "content" || !(key in message));
  const parts = isItem && spoken === undefined ? partsOf(message, unread) : partsIn(message, own, unread);
  if (parts.length === 0) return undefined;
  const isOfModel = isItem && parts.some(({ functionCall, thought }) => functionCall !== undefined || thought);
  const isOfTool = isItem && parts.some(({ functionResponse }) => functionResponse !== undefined);
  const said = isOfModel ? "model" : isOfTool ? "user" : Object.hasOwn(ROLES, own ?? "") ? ROLES[own ?? ""] : own;
  return said === undefined || said === "" ? { parts } : { role: said, parts };
}

/** The parts of a message: a list, or the content and the calls of the protocol of chat completions. */
function partsIn(message: Fields, role: string | undefined, unread?: Unread): Part[] {
  const { content, tool_call_id: call, id, name } = message;
  const listed = message.parts ?? content ?? message.text;
  const list: unknown[] = Array.isArray(listed) ? listed : (wordsOf(listed) ?? fieldsOf(listed)) ? [listed] : [];
  const isResponse = (role === "tool" || role === "function" || call !== undefined) && !message.parts;
  const own: Unread = new Set();
  const parts = list.flatMap((one) => partsOf(one, own));
  const gave = content === undefined ? message.text : content;
  if (isResponse && gave !== undefined && !parts.some(({ functionResponse }) => functionResponse !== undefined)) {
    // That may be data of any form.
    return [responseOf(call ?? id, name, gave)];
  }
  for (const what of own) unread?.add(what);
  const thought = wordsOf(message.reasoning_content);
  const refusal = wordsOf(message.refusal);
  const all: Part[] = [
    ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
    ...parts,
    ...(refusal === undefined ? [] : [{ text: refusal }]),
    ...callsIn(message, unread),
  ];
  const keys = Object.keys(message).filter((key) => message[key] !== null && key !== "role");
  if (all.length === 0 && keys.length > 0 && !MESSAGE_KEYS.slice(1).some((key) => key in message)) {
    unread?.add(`a message with \`${keys.join("`, `").slice(0, 80)}\``);
  }
  return all;
}

/** Whether messages were left without what they say, as where content is not to be captured. */
export function isElided(given: unknown): boolean {
  return items(given).some((message) => items(message.parts).some(isBare));
}

function items(value: unknown): Fields[] {
  return Array.isArray(value) ? value.flatMap<Fields>((item) => fieldsOf(item) ?? []) : [];
}

/** Messages, or contents, in order; the items of OpenAI's responses, whose types are not roles, are parts of one. */
export function contentsOf(given: unknown, role?: string, unread?: Unread): Content[] {
  const contents: Content[] = [];
  let wasItem = false;
  for (const one of Array.isArray(given) ? (given as unknown[]) : [given]) {
    const content = contentOf(one, role, unread);
    if (content === undefined) continue;
    const type = fieldsOf(one)?.type;
    const isItem = typeof type === "string" && !Object.hasOwn(ROLES, type);
    const last = contents.at(-1);
    if (isItem && wasItem && last?.role === content.role) append(last?.parts ?? [], content.parts ?? []);
    else contents.push(content);
    wasItem = isItem;
  }
  return contents;
}

/** What ADK-TS tells a model that is to go on, and ADK tells a sub-agent of what others said. */
const NOT_THE_USER =
  /^(?:For context:|Handle the requests as specified in the System Instruction\.|Continue processing previous requests as instructed\.)/;

/** What the user said last in a model's input. */
export function userContentOf(input: readonly Content[]): Content | undefined {
  return input.findLast(isOfUser);
}

/** Whether the user said something. */
export function isOfUser({ role, parts = [] }: Content): boolean {
  if (role !== "user" || parts.some(({ functionResponse }) => functionResponse !== undefined)) return false;
  return parts.length > 0 && !NOT_THE_USER.test(parts[0]?.text ?? "");
}

/** The responses of tools that end a model's input, in order. */
export function responsesAtEnd(input: readonly Content[]): FunctionResponse[] {
  const last = input.findLastIndex(({ role }) => role === "model");
  return input
    .slice(last + 1)
    .flatMap(({ parts = [] }) => parts.flatMap<FunctionResponse>((part) => part.functionResponse ?? []));
}

/** The usage that a model reported itself, or the conventions' attributes, in ADK's words. */
export function usageOf(
  reported: unknown,
  attributes: ReadonlyMap<string, unknown>,
): InvocationEvent["usageMetadata"] | undefined {
  const own = fieldsOf(reported);
  if (own !== undefined) {
    const entries = Object.entries(own).filter(([, value]) => value !== null);
    return Object.fromEntries(entries.map(([key, value]) => [camelCased(key), value]));
  }
  const count = (key: string) => {
    const value = attributes.get(`gen_ai.usage.${key}`);
    return typeof value === "number" ? value : undefined;
  };
  // The second names are those that the conventions had before.
  const [input, output] = [
    count("input_tokens") ?? count("prompt_tokens"),
    count("output_tokens") ?? count("completion_tokens"),
  ];
  const cached = count("cache_read.input_tokens") ?? count("cache_read_input_tokens");
  const thoughts = count("reasoning.output_tokens") ?? count("details.reasoning_tokens");
  if (input === undefined && output === undefined) return undefined;
  return {
    ...(input === undefined ? {} : { promptTokenCount: input }),
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(output === undefined ? {} : { candidatesTokenCount: Math.max(0, output - (thoughts ?? 0)) }),
    ...(thoughts === undefined ? {} : { thoughtsTokenCount: thoughts }),
  };
}

/** `prompt_token_count` as `promptTokenCount`. */
function camelCased(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The text of a content, without thoughts. */
export function wordsIn(content: Content | undefined): string {
  return (content?.parts ?? []).map(({ text, thought }) => (thought === true ? "" : (text ?? ""))).join("");
}
