/** The calls of models: what each was asked and what it answered, by its spans, their events and their log records. */

import type { Content, InvocationEvent, Part } from "../types.js";
import { fromEvents } from "./events.js";
import { contentOf, contentsOf, isElided, isOfUser, jsonOf, usageOf } from "./messages.js";
import { type Fields, fieldsOf, type Moment, type Span } from "./otlp.js";
import { append, group } from "../lists.js";
import { jsonIn, REDACTED, type Unread, wordsOf } from "./parts.js";
import { isLoop, keyOf, type Node } from "./tree.js";

/** What the model was asked and what it answered. */
export interface Call {
  /** The model's span, or the agent's where that holds the messages. */
  from: Node;
  /** Whether these are the first and the last messages of a turn, between which tools were called. */
  isWholeTurn?: boolean;
  time: number;
  input: Content[];
  output: Content | undefined;
  usage: InvocationEvent["usageMetadata"] | undefined;
  modelVersion: string | undefined;
  groundingMetadata: Fields | undefined;
  /** What the model was told of its task and its tools. */
  config: { systemInstruction: unknown; tools: unknown };
  /** What was not read of its messages, in words. */
  unread?: Unread;
  /** Other attributes of its answers. */
  notes?: string[];
}

/** The log record, or event, of one call with all of its messages. */
export const DETAILS = "gen_ai.client.inference.operation.details";
const COMPLETION = "gen_ai.content.completion";
const INSTRUCTIONS = "gen_ai.system_instructions";

/** The calls of models in a turn, in order; those inside of a tool are the tool's own affair. */
export function callsOf(nodes: readonly Node[], moments: ReadonlyMap<string, Moment[]>): Call[] {
  const parts = new Map<Node, Node[]>();
  for (const node of nodes) {
    if (node.kind !== "model" || node.tool !== undefined) continue;
    group(parts, node.model ?? node, node);
  }
  const answers = new Map<Node, Moment[]>();
  for (const node of nodes) {
    const own = node.kind === "agent" ? node.span.events.filter(({ name }) => name === COMPLETION) : [];
    if (own.length > 0 && node.tool === undefined) answers.set(node, own);
  }
  const calls = [...answers].flatMap(([node, own]) => callsOfAdkTs(node, own));
  for (const [node, own] of parts) {
    if (node.agent === undefined || !answers.has(node.agent)) calls.push(callOf(node, own, moments));
  }
  const tools = new Map<Node | undefined, Node[]>();
  for (const node of nodes) if (node.kind === "tool") group(tools, node.agent, node);
  for (const node of nodes) {
    if (isLoop(node.span) && node.tool === undefined) append(calls, callsOfLoop(node, tools.get(node.agent), moments));
  }
  if (calls.every(({ output }) => output === undefined)) {
    for (const holder of nodes) {
      if (holder.kind === "model" || holder.kind === "tool" || holder.tool !== undefined) continue;
      const { call, answers } = callIn(holder, [holder], moments);
      if (answers.length > 0) return callsOfSequence(call, answers, tools.get(holder.agent));
    }
  }
  return calls.sort((a, b) => a.time - b.time);
}

/** The call of a model by its span; of several answers the first, unless they are pieces of one. */
function callOf(node: Node, nodes: readonly Node[], moments: ReadonlyMap<string, Moment[]>): Call {
  const { call, answers, isHidden } = callIn(node, nodes, moments);
  const isJoined = isOfAdk(node.span);
  const notes = isHidden ? ["an answer of the model is missing or hidden"] : [];
  if (!isJoined && answers.length > 1)
    notes.push(`a model gave ${answers.length} answers to one call; the first is used`);
  return { ...call, notes, output: isJoined ? together(answers) : answers[0] };
}

/** The calls of an agent whose span holds what its models answered, and what tools gave, in order. */
function callsOfSequence(whole: Call, contents: readonly Content[], tools: readonly Node[] = []): Call[] {
  const calls: Call[] = [];
  // Each later call is given what came after the one before: all of it for each would be n² in memory.
  let input: Content[] = [...whole.input];
  let requested = 0;
  let done = 0;
  let { time } = whole;
  for (const content of contents) {
    if (content.role === "model") {
      calls.push({ ...whole, usage: undefined, time, input: input, output: content });
      input = [];
      // The next call comes after the tools that this one asked for.
      requested += content.parts?.filter(({ functionCall }) => functionCall !== undefined).length ?? 0;
      for (; done < Math.min(requested, tools.length); done += 1) time = Math.max(time, (tools[done] as Node).span.end);
    }
    input.push(content);
  }
  const [only, ...others] = calls;
  if (only !== undefined && others.length === 0) return [{ ...only, usage: whole.usage, isWholeTurn: true }];
  return calls;
}

/**
 * The calls of an agent whose span has the attributes of the last of them only: the others are in what that one was told.
 * Each left a log record of its own, with its tokens; without these, the tokens are those of the last and are left out.
 */
function callsOfLoop(node: Node, tools: readonly Node[] | undefined, moments: ReadonlyMap<string, Moment[]>): Call[] {
  const { call, answers } = callIn(node, [{ ...node, span: { ...node.span, spanId: "" } }], new Map());
  const turn = call.input.findLastIndex(isOfUser) + 1;
  const calls = callsOfSequence(
    { ...call, input: call.input.slice(0, turn) },
    [...call.input.slice(turn), ...answers],
    tools,
  );
  const logs = (moments.get(keyOf(node.span)) ?? []).filter(({ name }) => name === DETAILS);
  logs.sort((a, b) => a.time - b.time);
  if (logs.length === 0) return calls;
  const logged = logs.map((log) => {
    const of: Node = { ...node, span: { ...node.span, attributes: log.attributes, events: [], spanId: "" } };
    return { ...callOf(of, [of], new Map()), from: node, time: log.time };
  });
  if (logged.every(({ output }) => output !== undefined)) return logged;
  if (logged.length !== calls.length) return calls;
  return calls.map((one, at) => ({ ...one, usage: logged[at]?.usage, time: logged[at]?.time ?? one.time }));
}

/** A call by its span, by those that belong to it, and by their log records and events. */
function callIn(
  node: Node,
  nodes: readonly Node[],
  moments: ReadonlyMap<string, Moment[]>,
): { call: Call; answers: Content[]; isHidden: boolean } {
  const events = nodes.flatMap(({ span }) => [...span.events, ...(moments.get(keyOf(span)) ?? [])]);
  events.sort((a, b) => a.time - b.time);
  const sources = [...nodes.map(({ span }) => span), ...events.filter(({ name }) => name === DETAILS)];
  const read = (key: string): unknown => {
    for (const source of sources) {
      const value = jsonOf(source, key);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const word = (key: string) => sources.map(({ attributes }) => wordsOf(attributes.get(key))).find(Boolean);
  const isOpenInference = isLoop(node.span);
  const request = fieldsOf(read(isOpenInference ? "input.value" : "gcp.vertex.agent.llm_request"));
  const response = fieldsOf(read(isOpenInference ? "output.value" : "gcp.vertex.agent.llm_response")) ?? {};
  const unread: Unread = new Set();
  const old = fromEvents([...nodes.map(({ span: { name: _, ...span } }) => span), ...events], unread);
  const messages = [read("gen_ai.input.messages"), read("gen_ai.output.messages")] as const;
  const isCaptured = !messages.some(isElided);
  const inputs = [
    isCaptured ? contentsOf(messages[0], "user", unread) : [],
    contentsOf(request?.contents, "user", unread),
    old.input,
  ];
  const input = inputs.find(({ length }) => length > 0) ?? [];
  const output = isCaptured ? contentsOf(messages[1], "assistant", unread) : [];
  const config = fieldsOf(request?.config) ?? {};
  const answers = output.length > 0 ? output : [contentOf(response.content, "model", unread) ?? old.output].flat();
  const isGiven = messages[1] !== undefined || Object.keys(response).length > 0;
  const isHidden = !isGiven || JSON.stringify(messages[1] ?? "").includes(REDACTED);
  const reported = response.usage_metadata ?? response.usageMetadata;
  const counted = sources.find(({ attributes }) => usageOf(undefined, attributes) !== undefined)?.attributes;
  const call: Call = {
    from: node,
    time: node.span.time,
    input,
    output: undefined,
    usage: usageOf(reported, counted ?? node.span.attributes),
    modelVersion:
      wordsOf(response.model_version ?? response.modelVersion) ??
      word("gen_ai.response.model") ??
      word("gen_ai.request.model"),
    groundingMetadata: fieldsOf(response.grounding_metadata ?? response.groundingMetadata),
    config: {
      systemInstruction:
        instructionsOf(jsonIn(word(INSTRUCTIONS), /^\s*[[{"]/) ?? read(INSTRUCTIONS)) ??
        config.system_instruction ??
        config.systemInstruction ??
        old.system ??
        input.find(({ role }) => role === "system" || role === "developer"),
      tools: toolsOf(read("gen_ai.tool.definitions")) ?? config.tools,
    },
    unread,
  };
  const isLost = answers.length === 0 && call.input.length > 0 && node.span.error === undefined;
  return { call, answers, isHidden: isLost && isHidden };
}

/** Whether google-adk or `@google/adk` had a hand in a span, which may be that of the Gemini SDK's own instrumentation. */
export function isOfAdk({ scope, attributes }: Span): boolean {
  return scope === "gcp.vertex.agent" || attributes.has("gcp.vertex.agent.invocation_id");
}

/**
 * google-adk reports the pieces of a streamed answer as messages of their own, and after them the whole if its model
 * gives one; elsewhere several messages are alternatives.
 */
function together(answers: readonly Content[]): Content | undefined {
  const last = answers.at(-1);
  const pieces = answers.slice(0, -1);
  const isWhole = !pieces.some(asksTools) && textOf([last]).trim() === textOf(pieces).trim();
  if (pieces.length === 0 || isWhole) return last;
  const parts: Part[] = [];
  for (const part of answers.flatMap(({ parts: own = [] }) => own)) {
    const before = parts.at(-1);
    if (typeof part.text === "string" && typeof before?.text === "string" && before.thought === part.thought) {
      before.text += part.text;
    } else parts.push({ ...part });
  }
  return { role: "model", parts };
}

function textOf(contents: readonly (Content | undefined)[]): string {
  return contents.flatMap((content) => content?.parts?.map(({ text = "" }) => text) ?? []).join("");
}

/**
 * ADK-TS notes what its model answered as events of the agent's span, whose attributes are those of its last call. So
 * the tokens of an agent that asked several times are not known, which is not the same as those of its last call.
 */
function callsOfAdkTs(node: Node, answers: readonly Moment[]): Call[] {
  const { attributes } = node.span;
  const read = (key: string) => fieldsOf(jsonOf(node.span, key));
  const [request, response] = [read("adk.llm_request"), read("adk.llm_response") ?? {}];
  const { systemInstruction, tools } = fieldsOf(request?.config) ?? {};
  const unread: Unread = new Set();
  return answers.map((answer, at): Call => {
    return {
      from: node,
      time: answer.time,
      input: at === answers.length - 1 || at === 0 ? contentsOf(request?.contents, "user", unread) : [],
      output: contentOf(jsonOf(answer, "gen_ai.completion"), "model", unread),
      usage: answers.length === 1 ? usageOf(response.usageMetadata, attributes) : undefined,
      modelVersion: wordsOf(response.modelVersion) ?? wordsOf(attributes.get("adk.request_model")),
      groundingMetadata: undefined,
      config: { systemInstruction, tools },
      unread,
    };
  });
}

/** System instructions as parts of ADK's. */
function instructionsOf(given: unknown): unknown {
  return given === undefined ? undefined : contentOf(Array.isArray(given) ? { parts: given } : given);
}

/** Tool definitions as ADK declares tools. */
function toolsOf(given: unknown): unknown {
  if (!Array.isArray(given)) return undefined;
  const functions = given.flatMap((tool) => {
    const { type, ...declaration } = fieldsOf(tool) ?? {};
    return type === "function" ? declaration : [];
  });
  return [{ functionDeclarations: functions }];
}

/** The name of the agent at work. */
export function nameOf({ span, agent }: Node): string {
  const key = "gen_ai.agent.name";
  const named = wordsOf(span.attributes.get(key)) ?? wordsOf(agent?.span.attributes.get(key));
  return named ?? /^(?:invoke_agent |agent_run\w* \[)([^\]]+)/.exec(agent?.span.name ?? "")?.[1] ?? "agent";
}

/** Whether a call holds none of its messages although it did not fail. A model may answer with nothing at all. */
export function isSilent({ input, output, from }: Call): boolean {
  return output === undefined && input.length === 0 && from.span.error === undefined;
}

/** Whether a model asks for tools. */
export function asksTools(content: Content | undefined): boolean {
  return content?.parts?.some(({ functionCall }) => functionCall !== undefined) === true;
}
