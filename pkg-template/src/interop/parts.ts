/** Parts of messages in the forms that instrumentations and providers give them, as parts of ADK. */

import type { FunctionResponse, Part } from "../types.js";
import { parseExactly } from "./integers.js";
import { type Fields, fieldsOf } from "./otlp.js";

/** The text that an instrumentation writes for what it withholds. */
export const PLACEHOLDERS = ["", "{}", "null", "<elided>", "<not specified>", "<not serializable>", "N/A"];
/** OpenInference's. */
export const REDACTED = "__REDACTED__";

/** A text, unless it is a placeholder. */
export function wordsOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== REDACTED && !PLACEHOLDERS.includes(value) ? value : undefined;
}

/** Whether a value is there and was not kept back. */
export function isGiven(value: unknown): boolean {
  return typeof value === "string" ? wordsOf(value) !== undefined : value !== undefined && value !== null;
}

/** JSON text that is an object or a list, or begins as given, as what it holds; anything else as it is. */
export function jsonIn(value: unknown, begins = /^\s*[[{]/): unknown {
  if (typeof value !== "string" || !begins.test(value)) return value;
  try {
    return parseExactly(value);
  } catch {
    return value;
  }
}

/** Arguments and results: objects as they are, JSON text read, anything else under `result`. */
export function objectOf(value: unknown): Record<string, unknown> | undefined {
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

/** A call of a tool as a part. What a custom tool is given is a text, even if it reads as JSON. */
function callOf(given: Fields): Part {
  const more = { ...given, ...fieldsOf(given.function ?? given.custom) };
  const input = more.arguments ?? more.input ?? more.args;
  const isText = typeof input === "string" && /^custom/.test(String(given.type));
  const [id, args] = [wordsOf(idOf(given)), isText ? { result: input } : objectOf(input)];
  return {
    functionCall: {
      ...(id === undefined ? {} : { id }),
      name: String(more.name ?? more.toolName ?? ""),
      ...(args === undefined ? {} : { args }),
    },
  };
}

function idOf({ call_id, tool_call_id, toolCallId, tool_use_id, toolUseId, id }: Fields): unknown {
  return call_id ?? tool_call_id ?? toolCallId ?? tool_use_id ?? toolUseId ?? id;
}

/** A tool's response as a part. */
export function responseOf(id: unknown, name: unknown, response: unknown): Part {
  const given: FunctionResponse = { name: String(name ?? ""), response: objectOf(response) ?? {} };
  if (wordsOf(id) !== undefined) given.id = wordsOf(id) as string;
  return { functionResponse: given };
}

/** What a tool gave: what its one block holds, or all of them. */
export function resultOfBlocks(given: unknown): unknown {
  const [block, ...others] = Array.isArray(given) ? (given as unknown[]) : [];
  const only = others.length === 0 ? fieldsOf(block) : undefined;
  return only?.json ?? only?.text ?? given;
}

function responseIn(given: Fields): Part {
  const { response, result, output, content, name, toolName } = given;
  const wrapped = fieldsOf(output);
  const isOfVercel = /^(?:(?:error-)?(?:text|json)|content)$/.test(String(wrapped?.type));
  const gave = isOfVercel && wrapped !== undefined && "value" in wrapped ? wrapped.value : (output ?? content);
  return responseOf(idOf(given), name ?? toolName, response ?? result ?? resultOfBlocks(gave));
}

/** Kinds of parts by how their types are spelt: of the conventions, OpenAI, Anthropic, Vercel's AI SDK. */
const TYPES = [
  ["text", /^(?:(?:in|out)put_)?text$|^refusal$/],
  ["thought", /^(?:reasoning|thinking|redacted)/],
  ["call", /^(?:function|(?:custom_)?tool)[_-]?(?:call|use)$/i],
  ["response", /^(?:function_call_output|custom_tool_call_output|tool[_-]?(?:call_)?(?:result|response))$/i],
  ["blob", /^blob$/],
  ["file", /^(?:uri|media|(?:input_)?(?:file|image|audio|video|document)(?:_data|_url)?)$/],
] as const;

/** What a part of a message is by its type. */
export function typeOf({ type }: Fields): (typeof TYPES)[number][0] | undefined {
  return typeof type === "string" ? TYPES.find(([, pattern]) => pattern.test(type))?.[0] : undefined;
}

/** ADK's parts by both spellings. */
const OF_ADK = [
  ["text", "text"],
  ["thought", "thought"],
  ["functionCall", "function_call"],
  ["functionResponse", "function_response"],
  ["inlineData", "inline_data"],
  ["fileData", "file_data"],
  ["executableCode", "executable_code"],
  ["codeExecutionResult", "code_execution_result"],
] as const;

/** Bedrock's blocks and ADK's parts that say nothing. */
const MUTE = /^(?:cachePoint|type|thought.?signature|(?:video|part).?metadata|media.?resolution)$/i;
const MEDIA = /^(?:image|document|video|audio)$/;

/** What parts of messages were not read, in words. */
export type Unread = Set<string>;

/** A part of a message, or of its content, as parts; `unread` is called with what has no known form. */
export function partsOf(given: unknown, unread?: Unread): Part[] {
  if (typeof given === "string") return [{ text: given }];
  const part = fieldsOf(given);
  if (part === undefined) {
    if (given !== null && given !== undefined)
      unread?.add(`a part that is a ${Array.isArray(given) ? "list" : typeof given}`);
    return [];
  }
  if (typeof part.type !== "string") return untyped(part, unread);
  const { content, data, uri, url } = part;
  const words = [content, part.text, part.refusal, part.thinking].map(textIn).find((text) => text !== undefined);
  const mimeType = part.mime_type ?? part.mimeType ?? part.media_type ?? part.mediaType;
  switch (typeOf(part)) {
    case "text":
      if (words !== undefined) return [{ text: words }];
      if (!isBare(part)) unread?.add("a part of type `text` without text");
      return [];
    case "thought":
      return words === undefined ? [] : [{ text: words, thought: true }];
    case "call":
      return [callOf(part)];
    case "response":
      return [responseIn(part)];
    case "blob":
      return [{ inlineData: { mimeType, data: data ?? content } }];
    case "file":
      return [{ fileData: { mimeType, fileUri: uri ?? url } }];
    default:
      unread?.add(`a part of type \`${part.type.slice(0, 80)}\``);
      return [];
  }
}

/** Whether nothing but its type is left of a part, as where content is not to be captured. */
export function isBare(part: Fields): boolean {
  return part.type === "text" && Object.keys(part).length === 1;
}

/** A text, also as Azure's agents write it. */
function textIn(value: unknown): string | undefined {
  const text = fieldsOf(value)?.value ?? value;
  return typeof text === "string" ? text : undefined;
}

/** A part of ADK's without what is null in it, or a block of Bedrock's. */
function untyped(given: Fields, unread?: Unread): Part[] {
  const part: Record<string, unknown> = {};
  for (const [key, snake] of OF_ADK) {
    const value = given[key] ?? given[snake];
    const fields = fieldsOf(value);
    const kept =
      fields === undefined
        ? value
        : key === "text"
          ? textIn(fields)
          : Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== null));
    if (kept !== undefined && kept !== null) part[key] = kept;
  }
  const parts: Part[] = Object.keys(part).length > 0 ? [part] : [];
  const [use, result, reasoning] = [given.toolUse, given.toolResult, given.reasoningContent].map(fieldsOf);
  const thought = fieldsOf(reasoning?.reasoningText)?.text;
  if (typeof thought === "string") parts.unshift({ text: thought, thought: true });
  if (use !== undefined) parts.push(callOf(use));
  if (result !== undefined) parts.push(responseIn(result));
  const keys = Object.keys(given).filter((key) => given[key] !== null && !MUTE.test(key));
  if (parts.length > 0 || reasoning !== undefined || keys.length === 0) return parts;
  if (keys.some((key) => MEDIA.test(key))) return [{ fileData: {} }];
  unread?.add(`a part with \`${keys.join("`, `").slice(0, 80)}\``);
  return [];
}

/** Whether a value that was JSON text is a part of a message, rather than what a model answered in JSON. */
export function isPart(value: unknown): boolean {
  const part = fieldsOf(value);
  if (part === undefined) return false;
  const unread: Unread = new Set();
  const parts = partsOf(part, unread);
  if (unread.size > 0) return false;
  return (
    typeof part.type !== "string" ||
    parts.some(({ text, functionCall: call, functionResponse: gave }) => text ?? call?.name ?? gave)
  );
}

/** The calls beside a message's content, in the spellings of OpenAI and Vercel's AI SDK. */
export function callsIn({ tool_calls, toolCalls, function_call }: Fields, unread?: Unread): Part[] {
  const calls = jsonIn(tool_calls ?? toolCalls) ?? [];
  return [...(Array.isArray(calls) ? (calls as unknown[]) : [calls]), jsonIn(function_call)].flatMap((call) => {
    const fields = fieldsOf(call);
    if (fields !== undefined) return [callOf(fields)];
    if (isGiven(call)) unread?.add("a tool call that is not an object");
    return [];
  });
}
