/**
 * Messages that are events of their own, as the conventions had them before 1.37, in the forms that instrumentations give
 * them: a body, attributes, or one attribute that is JSON; with texts, or blocks as Bedrock and Strands write them.
 */

import type { Content } from "../types.js";
import { append } from "../lists.js";
import { contentsOf, MESSAGE_KEYS } from "./messages.js";
import { type Fields, fieldsOf, type Item, type Moment } from "./otlp.js";
import { isPart, jsonIn, resultOfBlocks, type Unread, wordsOf } from "./parts.js";

/** The role of the message that an event holds. */
const ROLES: Readonly<Record<string, string>> = {
  "gen_ai.user.message": "user",
  "gen_ai.assistant.message": "assistant",
  "gen_ai.tool.message": "tool",
  "gen_ai.system.message": "system",
  "gen_ai.choice": "assistant",
};

const CHOICE = "gen_ai.choice";

/** Whether an event is a message, or something that a model answered. */
export function isMessage({ name }: Moment): boolean {
  return Object.hasOwn(ROLES, name);
}

/** A model's input and output by its events, and by the attributes that all of its messages had before 1.28. */
export function fromEvents(
  events: readonly (Item & { name?: string; body?: unknown })[],
  unread: Unread,
): { input: Content[]; output: Content[]; system: Content | undefined } {
  const input: Content[] = [];
  const output: Content[] = [];
  const system: Content = { parts: [] };
  for (const { name = "", body, attributes } of events) {
    if (!Object.hasOwn(ROLES, name)) continue;
    const contents = messagesIn(bagOf(body, attributes), ROLES[name] as string, unread);
    if (name === "gen_ai.system.message")
      append(
        system.parts ?? [],
        contents.flatMap(({ parts = [] }) => parts),
      );
    else append(name === CHOICE ? output : input, contents);
  }
  // Several may have the same messages: a span, its events, and a span inside of it.
  for (const { attributes } of events) {
    if (input.length === 0) append(input, textsIn(attributes.get("gen_ai.prompt"), "user", unread));
    if (output.length === 0) append(output, textsIn(attributes.get("gen_ai.completion"), "assistant", unread));
  }
  const last = input.at(-1);
  // Azure's agents have no choices, but messages of the assistant.
  if (output.length === 0 && last?.role === "model") output.push(...input.splice(-1));
  return { input, output, system: system.parts?.length === 0 ? undefined : system };
}

/** Messages as JSON, or as OpenLIT writes them: a text, where each that a model was given begins with its role. */
function textsIn(given: unknown, role: string, unread: Unread): Content[] {
  const messages = jsonIn(given);
  if (typeof messages !== "string") return contentsOf(messages, role, unread);
  const contents = contentsOf(messages, role);
  if (role === "assistant") {
    if (contents.length > 0) unread.add("calls of tools, since `gen_ai.completion` is plain text");
    return contents;
  }
  const [first, ...others] = messages.split(/^(system|developer|user|assistant|tool): /m);
  if (first !== "") return contents;
  return others.flatMap((one, at) => (at % 2 === 0 ? contentsOf(others[at + 1]?.replace(/\n$/, ""), one) : []));
}

/** What a tool was given and gave, by the events of its span, as Strands writes them. */
export function toolEvents(events: readonly Moment[]): { args: unknown; response: unknown } {
  const last = (name: string) => events.findLast((event) => event.name === name);
  const [given, gave] = [last("gen_ai.tool.message"), last(CHOICE)];
  return {
    args: given === undefined ? undefined : bagOf(given.body, given.attributes).content,
    response: gave === undefined ? undefined : resultOfBlocks(jsonIn(bagOf(gave.body, gave.attributes).message)),
  };
}

function bagOf(body: unknown, attributes: ReadonlyMap<string, unknown>): Fields {
  const own = jsonIn(body);
  const isGiven = wordsOf(own) !== undefined || (typeof own === "object" && Object.keys(own ?? {}).length > 0);
  if (isGiven) return fieldsOf(own) ?? { message: own };
  const content = jsonIn(attributes.get("gen_ai.event.content"));
  return {
    ...Object.fromEntries(attributes),
    ...(fieldsOf(content) ?? (content === undefined ? {} : { message: content })),
  };
}

/** The message of an event, or several; calls may be beside it. */
function messagesIn({ message: given, ...beside }: Fields, role: string, unread: Unread): Content[] {
  const message = jsonIn(given);
  const isOfMessages = (one: unknown) => ["role", "parts"].some((key) => fieldsOf(one)?.[key] !== undefined);
  if (Array.isArray(message) && message.length > 0 && message.every(isOfMessages)) {
    return contentsOf(message, role, unread);
  }
  const inside = fieldsOf(message);
  // A model may answer with an object of its own.
  const isText = typeof given === "string" && !MESSAGE_KEYS.some((key) => inside?.[key] !== undefined);
  const own = inside !== undefined && !isText ? inside : given === undefined ? {} : { content: given };
  const whole: Fields = { role, ...beside, ...own };
  return contentsOf({ ...whole, content: blocksIn(whole.content) }, role, unread);
}

/** JSON text that holds blocks as these; anything else as it is. */
function blocksIn(value: unknown): unknown {
  const blocks = jsonIn(value);
  if (typeof value !== "string" || !Array.isArray(blocks)) return value;
  const areBlocks = blocks.every((one) => isPart(one) || typeof fieldsOf(one)?.type === "string");
  return areBlocks && blocks.some(isPart) ? blocks : value;
}
