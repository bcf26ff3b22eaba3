/**
 * Messages as telemetry has them become contents of ADK: the `gen_ai` conventions of today (messages of parts) and
 * those before 1.37 (an event a message), and contents that ADK, ADK-TS and `@google/adk` write as they are.
 */

import type { Content, FunctionResponse, InvocationEvent, Part } from "../types.js";
import { parseExactly } from "./integers.js";
import { type Fields, fieldsOf, type Item, wrong } from "./otlp.js";

/** What stands where an instrumentation kept something back. */
const PLACEHOLDERS = ["", "{}", "null", "<elided>", "<not specified>", "<not serializable>", "N/A"];

/**
 * An attribute that is JSON text, or a value where attributes may have any form.
 *
 * @throws {AdkMetricsError} `invalid_input` for a text that is not JSON.
 */
export function jsonOf(item: Item, key: string): unknown {
  const value = item.attributes.get(key);
  if (typeof value !== "string") return value ?? undefined;
  if (PLACEHOLDERS.includes(value)) return undefined;
  try {
    return parseExactly(value);
  } catch {
    const help = "It may have been cut off: raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT where the agent runs";
    throw wrong(item, `the attribute \`${key}\` is not JSON`, help);
  }
}

/** A text, unless it is a placeholder. */
export function wordsOf(value: unknown): string | undefined {
  return typeof value === "string" && !PLACEHOLDERS.includes(value) ? value : undefined;
}

function items(value: unknown): Fields[] {
  return Array.isArray(value) ? value.flatMap<Fields>((item) => fieldsOf(item) ?? []) : [];
}

/** Arguments and results: objects as they are, JSON text read, anything else under `result`. */
function objectOf(value: unknown): Record<string, unknown> | undefined {
  let given: unknown = value ?? undefined;
  for (let round = 0; round < 2 && typeof given === "string"; round += 1) {
    try {
      given = parseExactly(given);
    } catch {
      break;
    }
  }
  if (given === undefined) return undefined;
  return (fieldsOf(given) as Record<string, unknown> | undefined) ?? { result: given };
}

/** What a tool was given, or gave, by the attribute of its span. */
export function toolObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "string" && PLACEHOLDERS.includes(value) && value !== "{}" ? undefined : objectOf(value);
}

/** A call of a tool as a part. */
export function callOf(id: unknown, name: unknown, args: unknown): Part {
  const given = objectOf(args);
  return {
    functionCall: {
      ...(wordsOf(id) === undefined ? {} : { id: wordsOf(id) as string }),
      name: String(name ?? ""),
      ...(given === undefined ? {} : { args: given }),
    },
  };
}

/** A tool's response as a part. */
export function responseOf(id: unknown, name: unknown, response: unknown): Part {
  const given: FunctionResponse = { name: String(name ?? ""), response: objectOf(response) ?? {} };
  if (wordsOf(id) !== undefined) given.id = wordsOf(id) as string;
  return { functionResponse: given };
}

/** A part of today's conventions; nothing for kinds that ADK has no part for. */
function partOfMessage({ type, content, ...more }: Fields): Part | undefined {
  const mimeType = more.mime_type;
  switch (type) {
    case "text":
      return typeof content === "string" ? { text: content } : undefined;
    case "reasoning":
      return typeof content === "string" ? { text: content, thought: true } : undefined;
    case "tool_call":
      return callOf(more.id, more.name, more.arguments);
    case "tool_call_response":
      return responseOf(more.id, more.name, more.response ?? more.result);
    case "blob":
      return { inlineData: { mimeType, data: more.data ?? content } };
    case "uri":
    case "file_data":
      return { fileData: { mimeType, fileUri: more.uri } };
    default:
      return undefined;
  }
}

/** ADK's parts by both spellings. */
const KINDS = [
  ["text", "text"],
  ["thought", "thought"],
  ["functionCall", "function_call"],
  ["functionResponse", "function_response"],
  ["inlineData", "inline_data"],
  ["fileData", "file_data"],
  ["executableCode", "executable_code"],
  ["codeExecutionResult", "code_execution_result"],
] as const;

/** A part of ADK's without what is null in it. */
function partOfAdk(given: Fields): Part {
  const part: Record<string, unknown> = {};
  for (const [key, snake] of KINDS) {
    const value = given[key] ?? given[snake];
    const fields = fieldsOf(value);
    if (fields !== undefined)
      part[key] = Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== null));
    else if (value !== undefined && value !== null) part[key] = value;
  }
  return part;
}

/** The content of a message in any of the forms; nothing if it holds nothing. */
export function contentOf(given: unknown, role?: string): Content | undefined {
  if (typeof given === "string")
    return wordsOf(given) === undefined
      ? undefined
      : { parts: [{ text: given }], ...(role === undefined ? {} : { role }) };
  const message = fieldsOf(given);
  if (message === undefined) return undefined;
  const own = typeof message.role === "string" ? message.role : role;
  const listed = Array.isArray(message.parts) ? (message.parts as unknown[]) : [];
  const parts: Part[] = listed.flatMap<Part>((one) => {
    const part = typeof one === "string" ? { text: one } : fieldsOf(one);
    if (part === undefined) return [];
    return typeof part.type === "string" ? (partOfMessage(part) ?? []) : partOfAdk(part);
  });
  if (message.parts === undefined || message.parts === null) for (const part of partsOfChat(message)) parts.push(part);
  if (parts.length === 0) return undefined;
  const contentRole = own === "assistant" ? "model" : own === "tool" ? "user" : own;
  return contentRole === undefined || contentRole === "" ? { parts } : { role: contentRole, parts };
}

/** A message of the protocol of chat completions, which the conventions had before they had parts. */
function partsOfChat({ content, role, id, tool_calls: calls, tool_call_id: call }: Fields): Part[] {
  if (role === "tool" || call !== undefined) return content === undefined ? [] : [responseOf(call ?? id, "", content)];
  const texts: Part[] =
    typeof content === "string"
      ? wordsOf(content) === undefined
        ? []
        : [{ text: content }]
      : (Array.isArray(content) ? (content as unknown[]) : []).flatMap((part) => {
          const words = typeof part === "string" ? part : fieldsOf(part)?.text;
          return typeof words === "string" ? { text: words } : [];
        });
  const made = items(calls).map((one) => {
    const { name, arguments: args } = fieldsOf(one.function) ?? one;
    return callOf(one.id, name, args);
  });
  return [...texts, ...made];
}

/** Whether messages were left without what they say, as where content is not to be captured. */
export function isElided(given: unknown): boolean {
  const parts = items(given).flatMap((message) => items(message.parts));
  return parts.some((part) => part.type === "text" && !("content" in part));
}

/** Messages, or contents, in order. */
export function contentsOf(given: unknown): Content[] {
  return (Array.isArray(given) ? given : []).flatMap((message) => contentOf(message) ?? []);
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
