/**
 * Messages that are events of their own, as the conventions had them before 1.37, in the forms that instrumentations give
 * them: a body, attributes, or one attribute that is JSON; with texts, or blocks as Bedrock and Strands write them.
 */

import type { Content, Part } from "../types.js";
import { parseExactly } from "./integers.js";
import { callOf, contentOf, responseOf, wordsOf } from "./messages.js";
import { type Fields, fieldsOf, type Moment } from "./otlp.js";

/** The role of the message that an event holds. */
const ROLES: Readonly<Record<string, string>> = {
  "gen_ai.user.message": "user",
  "gen_ai.assistant.message": "assistant",
  "gen_ai.tool.message": "tool",
};

const SYSTEM = "gen_ai.system.message";
const CHOICE = "gen_ai.choice";

/** Whether an event is a message, or something that a model answered. */
export function isMessage({ name }: Moment): boolean {
  return name === SYSTEM || name === CHOICE || Object.hasOwn(ROLES, name);
}

/** A model's input and output by its events. */
export function fromEvents(events: readonly Moment[]): { input: Content[]; output: Content[]; system: unknown } {
  const input: Content[] = [];
  const output: Content[] = [];
  let system: unknown;
  for (const event of events) {
    if (!isMessage(event)) continue;
    const fields = bagOfEvent(event);
    // google-adk puts a content of its own where the conventions have a text.
    const inner = fieldsOf(fields.content)?.parts === undefined ? undefined : fields.content;
    if (event.name === SYSTEM) system = inner ?? systemOf(fields.content);
    else if (event.name === CHOICE) {
      const content = inner === undefined ? choiceOf(fields) : contentOf(inner, "assistant");
      if (content !== undefined) output.push(content);
    } else {
      const role = ROLES[event.name] as string;
      const content = inner === undefined ? messageOf({ role, ...fields }) : contentOf(inner);
      if (content !== undefined) input.push(content);
    }
  }
  return { input, output, system };
}

/** What a tool was given and gave, by the events of its span, as Strands writes them. */
export function toolEvents(events: readonly Moment[]): { args: unknown; response: unknown } {
  const last = (name: string) => events.findLast((event) => event.name === name);
  const [given, gave] = [last("gen_ai.tool.message"), last(CHOICE)];
  return {
    args: given === undefined ? undefined : bagOfEvent(given).content,
    response: gave === undefined ? undefined : resultOfBlocks(jsonIn(bagOfEvent(gave).message)),
  };
}

function bagOfEvent({ body, attributes }: Moment): Fields {
  const own = fieldsOf(body);
  if (own !== undefined && Object.keys(own).length > 0) return own;
  const content = fieldsOf(jsonIn(attributes.get("gen_ai.event.content")));
  return { ...Object.fromEntries(attributes), ...content };
}

function systemOf(content: unknown): unknown {
  const blocks = blocksIn(content);
  return blocks === undefined ? wordsOf(content) : { parts: blocks };
}

/** Of which a message that was written as JSON has one. */
const MESSAGE_KEYS = ["role", "content", "parts", "tool_calls", "function_call", "reasoning_content", "refusal"];

/** What a model answered; its calls may stand beside the message. */
function choiceOf(fields: Fields): Content | undefined {
  const message = jsonIn(fields.message);
  const parts = blocksIn(message);
  if (parts !== undefined) return parts.length === 0 ? undefined : { role: "model", parts };
  const inside = fieldsOf(message);
  // A model may answer with an object of its own.
  const isText = typeof fields.message === "string" && !MESSAGE_KEYS.some((key) => inside?.[key] !== undefined);
  if (inside !== undefined && isText) return messageOf({ role: "assistant", ...fields, content: fields.message });
  if (inside === undefined) return contentOf(fields.message ?? fields, "assistant");
  return messageOf({ role: "assistant", tool_calls: fields.tool_calls, ...inside });
}

function messageOf(message: Fields): Content | undefined {
  const parts = blocksIn(message.content);
  if (parts === undefined) return contentOf(message);
  // Bedrock has tools' results in messages of the user.
  const role = message.role === "assistant" ? "model" : "user";
  return parts.length === 0 ? undefined : { role, parts };
}

/** JSON text that is an object or a list as what it holds; anything else as it is. */
function jsonIn(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseExactly(value);
  } catch {
    return value;
  }
}

/** What makes an object a block. */
const BLOCKS = ["text", "toolUse", "toolResult", "reasoningContent", "image", "document", "video", "cachePoint"];

/** Blocks, or JSON text that holds them, as parts; undefined for anything else. */
function blocksIn(value: unknown): Part[] | undefined {
  const blocks = jsonIn(value);
  if (!Array.isArray(blocks) || blocks.length === 0) return undefined;
  const bags = (blocks as unknown[]).flatMap<Fields>((block) => fieldsOf(block) ?? []);
  const areBlocks = bags.every((fields) => BLOCKS.some((key) => key in fields) && !("type" in fields));
  return areBlocks && bags.length === blocks.length ? bags.flatMap(partsOfBlock) : undefined;
}

function partsOfBlock({ text, toolUse, toolResult, reasoningContent }: Fields): Part[] {
  const [use, result] = [fieldsOf(toolUse), fieldsOf(toolResult)];
  const thought = fieldsOf(fieldsOf(reasoningContent)?.reasoningText)?.text;
  return [
    ...(typeof thought === "string" ? [{ text: thought, thought: true }] : []),
    ...(typeof text === "string" ? [{ text }] : []),
    ...(use === undefined ? [] : [callOf(use.toolUseId, use.name, use.input)]),
    ...(result === undefined ? [] : [responseOf(result.toolUseId, "", resultOfBlocks(result.content))]),
  ];
}

/** What a tool gave: what its one block holds, or all of them. */
export function resultOfBlocks(given: unknown): unknown {
  const [block, ...others] = Array.isArray(given) ? (given as unknown[]) : [];
  const only = others.length === 0 ? fieldsOf(block) : undefined;
  return only?.json ?? only?.text ?? given;
}
