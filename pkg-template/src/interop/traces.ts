/**
 * What agents did, from their OpenTelemetry traces: the spans of google-adk, ADK-TS and `@google/adk`, and those of
 * anything else that follows the `gen_ai` semantic conventions. A turn is what happens inside of an outermost span of an
 * agent; without one, inside of a trace. Turns belong together by the id of their conversation. O(n log n).
 */

import { TurnRecorder } from "../agents/record.js";
import { detailsOf } from "../agents/observe.js";
import type { AdkMetricsError } from "../errors.js";
import type { Content, FunctionCall, FunctionResponse, Invocation, InvocationEvent, Part } from "../types.js";
import { contentOf, contentsOf, fromEvents, jsonOf, responseOf, responsesAtEnd, toolObject } from "./messages.js";
import { usageOf, userContentOf, wordsOf } from "./messages.js";
import { type Bag, bagOf, exactly, type Moment, readTelemetry, rounded, type Span, wrong } from "./otlp.js";
import { timesOf } from "./seconds.js";
import { keyOf, type Node, treeOf } from "./tree.js";

/** A conversation that was traced. */
export interface TracedConversation {
  /** Its id; that of the trace where the spans say none. */
  sessionId: string;
  /** The ids of its traces, in order. */
  traceIds: string[];
  /** The attributes of the outermost span of its first turn. */
  attributes: Record<string, unknown>;
}

/** How to read traces. */
export interface TraceOptions {
  /** Which case a conversation is a run of, by the conversation's id. Default: the case with the same id. */
  evalIds?: Readonly<Record<string, string>> | ((conversation: TracedConversation) => string | undefined);
}

/** What an agent did in one conversation: an inference result, as `evaluate` reads it. */
export interface TracedRun {
  /** The case; matched by position if no run of the input has the id of a case. */
  evalId: string;
  sessionId: string;
  userId?: string;
  /** The turns, in order. */
  inferences: Invocation[];
  /** 1 if the agent was run to the end, 2 if its last turn failed. */
  status: 1 | 2;
  /** Why it failed. */
  errorMessage?: string;
}

/**
 * What agents did, as `evaluate` takes it for `actual`. Integers beyond 2^53 are rounded; `tracesToJson` keeps them.
 *
 * @param traces OTLP in JSON: an export request of spans or log records, or a list of them, as an object, text, bytes, or
 *   lines of text as the collector's file exporter writes them.
 * @throws {AdkMetricsError} `invalid_json` or `invalid_input` with the place; also if the messages were not captured,
 *   with the setting that captures them.
 *
 * @example
 * await evaluate({ evalSet, actual: readTraces(await readFile("traces.jsonl")) });
 */
export function readTraces(traces: string | Uint8Array | object, options: TraceOptions = {}): TracedRun[] {
  return rounded(runsOf(traces, options));
}

/**
 * The same as JSON text, with integers of any size as they were.
 *
 * @throws {AdkMetricsError} as `readTraces`.
 */
export function tracesToJson(traces: string | Uint8Array | object, options: TraceOptions = {}): string {
  return exactly(runsOf(traces, options));
}

/** What the model was asked and what it answered. */
interface Call {
  /** The model's span, or the agent's where that holds the messages. */
  from: Node;
  /** Whether these are the first and the last messages of a turn, between which tools were called. */
  isWholeTurn?: boolean;
  time: number;
  input: Content[];
  output: Content | undefined;
  usage: InvocationEvent["usageMetadata"] | undefined;
  modelVersion: string | undefined;
  groundingMetadata: Bag | undefined;
  /** What the model was told of its task and its tools. */
  config: { systemInstruction: unknown; tools: unknown };
}

interface Turn {
  outer: Node | undefined;
  nodes: Node[];
  calls: Call[];
  time: number;
  end: number;
  traceId: string;
}

const DETAILS = "gen_ai.client.inference.operation.details";
const COMPLETION = "gen_ai.content.completion";
const CONVERSATION_KEYS = ["gen_ai.conversation.id", "gcp.vertex.agent.session_id", "adk.session_id", "session.id"];
const INVOCATION_KEYS = ["gcp.vertex.agent.invocation_id", "adk.invocation_id"];

function runsOf(traces: unknown, { evalIds = {} }: TraceOptions): TracedRun[] {
  const { spans, logs } = readTelemetry(traces);
  const known = new Set(spans.map(keyOf));
  const orphans = logs.filter((log) => log.name === DETAILS && !known.has(keyOf(log)));
  const nodes = treeOf([...spans, ...orphans.map(spanOf)]);
  const moments = new Map<string, Moment[]>();
  for (const log of logs) group(moments, keyOf(log), log);
  const turns = turnsOf(nodes, moments);
  if (turns.length === 0) {
    const help = "Export the spans of the agent: invoke_agent, chat or generate_content, and execute_tool";
    throw wrong({ path: "traces" }, "there is no span of an agent or a model", help);
  }
  const conversations = new Map<string, Turn[]>();
  for (const turn of turns) group(conversations, attributeOf(turn.nodes, CONVERSATION_KEYS) ?? turn.traceId, turn);
  return [...conversations].map(([sessionId, own]) => {
    const ofFirst = (own[0]?.outer ?? own[0]?.nodes[0])?.span.attributes ?? [];
    const conversation: TracedConversation = {
      sessionId,
      traceIds: [...new Set(own.map(({ traceId }) => traceId))],
      attributes: Object.fromEntries(ofFirst),
    };
    const mapped = typeof evalIds === "function" ? evalIds(conversation) : idOf(evalIds, sessionId);
    return runOf(mapped ?? sessionId, sessionId, own, moments);
  });
}

function idOf(ids: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(ids, key) ? ids[key] : undefined;
}

function group<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const known = groups.get(key);
  if (known === undefined) groups.set(key, [item]);
  else known.push(item);
}

/** A model's call of which only the log record arrived. */
function spanOf(log: Moment): Span {
  const attributes = new Map([...log.attributes, ["gen_ai.operation.name", "chat"]]);
  return { ...log, attributes, end: log.time, parentId: "", name: "", scope: "", error: undefined, events: [] };
}

/** What the first of some spans that has it says. What happens inside of a tool is about another conversation. */
function attributeOf(nodes: readonly Node[], keys: readonly string[]): string | undefined {
  for (const key of keys) {
    for (const { span, tool, kind } of nodes) {
      const value = kind === undefined || tool !== undefined ? undefined : wordsOf(span.attributes.get(key));
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

function turnsOf(nodes: readonly Node[], moments: ReadonlyMap<string, Moment[]>): Turn[] {
  const groups = new Map<Node | string, Node[]>();
  for (const node of nodes) if (node.kind !== undefined) group(groups, node.outer ?? node.span.traceId, node);
  // Tools by themselves, such as those of a server that has traces of its own, are no turn.
  const whole = [...groups].filter(([key, own]) => typeof key !== "string" || own.some(({ kind }) => kind === "model"));
  const turns = whole.map(([key, own]): Turn => {
    own.sort((a, b) => a.span.time - b.span.time);
    const first = own[0] as Node;
    return {
      outer: typeof key === "string" ? undefined : key,
      nodes: own,
      calls: callsOf(own, moments),
      time: first.span.time,
      end: own.reduce((end, { span }) => Math.max(end, span.end), 0),
      traceId: first.span.traceId,
    };
  });
  turns.sort((a, b) => a.time - b.time);
  return joined(turns);
}

/** A call outside of any agent that is given the response of a tool goes on with the turn before it. */
function joined(turns: readonly Turn[]): Turn[] {
  const whole: Turn[] = [];
  const last = new Map<string, Turn>();
  for (const turn of turns) {
    const conversation = attributeOf(turn.nodes, CONVERSATION_KEYS);
    const before = conversation === undefined ? undefined : last.get(conversation);
    const goesOn = responsesAtEnd(turn.calls[0]?.input ?? []).length > 0;
    if (before !== undefined && before.outer === undefined && turn.outer === undefined && goesOn) {
      before.nodes.push(...turn.nodes);
      before.calls.push(...turn.calls);
      before.end = Math.max(before.end, turn.end);
      continue;
    }
    whole.push(turn);
    if (conversation !== undefined) last.set(conversation, turn);
  }
  return whole;
}

/** The calls of models in a turn, in order; those inside of a tool are the tool's own affair. */
function callsOf(nodes: readonly Node[], moments: ReadonlyMap<string, Moment[]>): Call[] {
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
  if (calls.every(({ output }) => output === undefined)) {
    const holder = nodes.find(({ kind, span }) => kind !== "model" && span.attributes.has("gen_ai.output.messages"));
    if (holder !== undefined) return [{ ...callOf(holder, [holder], moments), isWholeTurn: true }];
  }
  return calls.sort((a, b) => a.time - b.time);
}

/** A call by its span, by those that belong to it, and by their log records and events. */
function callOf(node: Node, nodes: readonly Node[], moments: ReadonlyMap<string, Moment[]>): Call {
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
  const request = bagOf(read("gcp.vertex.agent.llm_request"));
  const response = bagOf(read("gcp.vertex.agent.llm_response")) ?? {};
  const old = fromEvents(events);
  const [input, output] = [contentsOf(read("gen_ai.input.messages")), contentsOf(read("gen_ai.output.messages"))];
  const config = bagOf(request?.config) ?? {};
  const answers = output.length > 0 ? output : [contentOf(response.content, "model") ?? old.output].flat();
  const reported = response.usage_metadata ?? response.usageMetadata;
  const counted = sources.find(({ attributes }) => usageOf(undefined, attributes) !== undefined)?.attributes;
  return {
    from: node,
    time: node.span.time,
    input: [input, contentsOf(request?.contents), old.input].find(({ length }) => length > 0) ?? [],
    output: isOfAdk(node.span) ? together(answers) : answers[0],
    usage: usageOf(reported, counted ?? node.span.attributes),
    modelVersion:
      wordsOf(response.model_version ?? response.modelVersion) ??
      word("gen_ai.response.model") ??
      word("gen_ai.request.model"),
    groundingMetadata: bagOf(response.grounding_metadata ?? response.groundingMetadata),
    config: {
      systemInstruction:
        instructionsOf(read("gen_ai.system_instructions")) ??
        config.system_instruction ??
        config.systemInstruction ??
        old.system,
      tools: toolsOf(read("gen_ai.tool.definitions")) ?? config.tools,
    },
  };
}

/** Whether google-adk or `@google/adk` had a hand in a span, which may be that of the Gemini SDK's own instrumentation. */
function isOfAdk({ scope, attributes }: Span): boolean {
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
  const read = (key: string) => bagOf(jsonOf(node.span, key));
  const [request, response] = [read("adk.llm_request"), read("adk.llm_response") ?? {}];
  const { systemInstruction, tools } = bagOf(request?.config) ?? {};
  return answers.map((answer, at): Call => {
    return {
      from: node,
      time: answer.time,
      input: at === answers.length - 1 || at === 0 ? contentsOf(request?.contents) : [],
      output: contentOf(jsonOf(answer, "gen_ai.completion"), "model"),
      usage: answers.length === 1 ? usageOf(response.usageMetadata, attributes) : undefined,
      modelVersion: wordsOf(response.modelVersion) ?? wordsOf(attributes.get("adk.request_model")),
      groundingMetadata: undefined,
      config: { systemInstruction, tools },
    };
  });
}

/** System instructions as parts of ADK's. */
function instructionsOf(given: unknown): unknown {
  return given === undefined ? undefined : contentOf({ parts: given });
}

/** Tool definitions as ADK declares tools. */
function toolsOf(given: unknown): unknown {
  if (!Array.isArray(given)) return undefined;
  const functions = given.flatMap((tool) => {
    const { type, ...declaration } = bagOf(tool) ?? {};
    return type === "function" ? declaration : [];
  });
  return [{ functionDeclarations: functions }];
}

function runOf(
  evalId: string,
  sessionId: string,
  turns: readonly Turn[],
  moments: ReadonlyMap<string, Moment[]>,
): TracedRun {
  const inferences = turns.map(invocationOf);
  const run: TracedRun = { evalId, sessionId, inferences, status: 1 };
  const all = turns.flatMap(({ nodes }) => nodes);
  const ofLogs = all.flatMap(({ span }) => moments.get(keyOf(span)) ?? []);
  const userId =
    attributeOf(all, ["user.id"]) ?? ofLogs.map(({ attributes }) => wordsOf(attributes.get("user.id"))).find(Boolean);
  if (userId !== undefined) run.userId = userId;
  const { outer, nodes } = turns.at(-1) as Turn;
  const error = (outer ?? nodes.at(-1))?.span.error;
  if (error !== undefined && inferences.at(-1)?.finalResponse === undefined) {
    run.status = 2;
    run.errorMessage = error;
  }
  return run;
}

/** Something that an agent said or did, and when. */
interface Happening {
  time: number;
  author: string;
  event: Omit<InvocationEvent, "author">;
}

function invocationOf(turn: Turn): Invocation {
  const { outer, nodes, calls, time, end } = turn;
  if (calls.some(isSilent)) throw noMessages(turn);
  const happenings = happeningsOf(turn);
  const asked = calls.find(({ input }) => input.length > 0)?.input ?? [];
  const ofOuter = outer === undefined ? undefined : jsonOf(outer.span, "gen_ai.input.messages");
  const userContent = userContentOf(contentsOf(ofOuter)) ?? userContentOf(asked);
  if (userContent === undefined && happenings.length === 0) throw noMessages(turn);
  const recorder = new TurnRecorder(userContent ?? {}, time);
  for (const { author, event } of happenings) recorder.add({ author, ...event }, end);
  const { creationTimestamp: _, duration, ...invocation } = recorder.finish(end);
  const invocationId = attributeOf(nodes, INVOCATION_KEYS);
  const agentDetails: Record<string, unknown> = {};
  for (const { from, config } of calls) {
    const name = nameOf(from);
    if (!Object.hasOwn(agentDetails, name)) define(agentDetails, name, detailsOf(name, { config }));
  }
  const { modelMs, toolMs } = timesOf(nodes);
  const isTimed = nodes.some(({ span }) => span.end > span.time) && duration !== undefined;
  return {
    ...(invocationId === undefined ? {} : { invocationId }),
    ...invocation,
    creationTimestamp: time / 1000,
    ...(isTimed ? { duration, modelDuration: seconds(modelMs), toolDuration: seconds(toolMs) } : {}),
    ...(calls.length === 0 ? {} : { appDetails: { agentDetails } }),
  };
}

/** Unlike an assignment this makes an own property of any key, `__proto__` included. */
function define(bag: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(bag, key, { value, enumerable: true, configurable: true, writable: true });
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** Whether a call holds none of its messages although it did not fail. A model may answer with nothing at all. */
function isSilent({ input, output, from }: Call): boolean {
  return output === undefined && input.length === 0 && from.span.error === undefined;
}

/** What happened in a turn, in order: each call's answer, and the responses of the tools that it asked for. */
function happeningsOf({ calls, nodes }: Turn): Happening[] {
  const tools = nodes.filter(({ kind, tool }) => kind === "tool" && tool === undefined);
  if (calls.every(({ output }) => output === undefined)) return happeningsOfTools(tools);
  const spans = new Map<string, Node[]>();
  for (const tool of tools) group(spans, toolName(tool), tool);
  const told = responsesTold(calls);
  const isWhole = calls.some(({ isWholeTurn, output }) => isWholeTurn === true && !asksTools(output));
  const happenings: Happening[] = isWhole ? happeningsOfTools(tools) : [];
  let waiting: Happening[] = [];
  const flush = (until: number) => {
    const due = waiting.filter(({ time }) => time <= until);
    if (due.length === 0) return;
    waiting = waiting.filter(({ time }) => time > until);
    happenings.push(...due.sort((a, b) => a.time - b.time));
  };
  for (const call of calls) {
    flush(call.time);
    const { output, usage, modelVersion, groundingMetadata } = call;
    if (output === undefined) continue;
    const author = nameOf(call.from);
    const event: Happening["event"] = { content: output };
    if (usage !== undefined) event.usageMetadata = usage;
    if (modelVersion !== undefined) event.modelVersion = modelVersion;
    if (groundingMetadata !== undefined) event.groundingMetadata = groundingMetadata;
    happenings.push({ time: call.time, author, event });
    const asked = output.parts?.flatMap<FunctionCall>(({ functionCall }) => functionCall ?? []) ?? [];
    let { time } = call;
    const parts = asked.flatMap<Part>((functionCall, at) => {
      const span = takeSpan(spans.get(functionCall.name ?? ""), functionCall, call);
      if (span !== undefined) time = Math.max(time, span.end);
      return responseFor(functionCall, span, told.get(call)?.[at]) ?? [];
    });
    if (parts.length > 0) waiting.push({ time, author, event: { content: { role: "user", parts } } });
  }
  flush(Infinity);
  return happenings;
}

function asksTools(content: Content | undefined): boolean {
  return content?.parts?.some(({ functionCall }) => functionCall !== undefined) === true;
}

/** The tools' calls and responses, where their spans alone tell of them; nothing if these were not captured. */
function happeningsOfTools(tools: readonly Node[]): Happening[] {
  const isCaptured = tools.some(({ span }) => argumentsOf(span) !== undefined || resultOf(span) !== undefined);
  return isCaptured ? tools.flatMap(happeningsOfTool) : [];
}

function happeningsOfTool(node: Node): Happening[] {
  const { time, end, attributes } = node.span;
  const [args, response] = [argumentsOf(node.span), resultOf(node.span)];
  const [name, author] = [toolName(node), nameOf(node)];
  const id = wordsOf(attributes.get("gen_ai.tool.call.id"));
  const functionCall: FunctionCall = {
    name,
    ...(args === undefined ? {} : { args }),
    ...(id === undefined ? {} : { id }),
  };
  const asked = { time, author, event: { content: { role: "model", parts: [{ functionCall }] } } };
  if (response === undefined) return [asked];
  const parts = [responseOf(id, name, response)];
  return [asked, { time: end, author, event: { content: { role: "user", parts } } }];
}

/** What each call's agent told its model next of the tools' responses. */
function responsesTold(calls: readonly Call[]): Map<Call, FunctionResponse[]> {
  const told = new Map<Call, FunctionResponse[]>();
  const next = new Map<Node | undefined, FunctionResponse[]>();
  for (const call of calls.toReversed()) {
    told.set(call, next.get(call.from.agent) ?? []);
    if (call.input.length > 0) next.set(call.from.agent, responsesAtEnd(call.input));
  }
  return told;
}

/**
 * The span of a tool's call, which is taken from among those of the tool: by the id; else of those after the call and of
 * the same agent the first with the same arguments, or the first.
 */
function takeSpan(spans: Node[] | undefined, { id, args }: FunctionCall, call: Call): Span | undefined {
  if (spans === undefined) return undefined;
  const ofCall = spans.filter(({ span, agent }) => span.time >= call.time && agent === (call.from.agent ?? agent));
  const given = JSON.stringify(args);
  const node =
    (id === undefined ? undefined : spans.find(({ span }) => span.attributes.get("gen_ai.tool.call.id") === id)) ??
    ofCall.find(({ span }) => JSON.stringify(argumentsOf(span)) === given) ??
    ofCall[0];
  if (node === undefined) return undefined;
  spans.splice(spans.indexOf(node), 1);
  return node.span;
}

/** A call's response, by its span or by what the model was told next; the call takes over the span's id. */
function responseFor(call: FunctionCall, span: Span | undefined, told: FunctionResponse | undefined) {
  const id = wordsOf(span?.attributes.get("gen_ai.tool.call.id")) ?? call.id;
  const response = (span === undefined ? undefined : resultOf(span)) ?? told?.response;
  if (id !== undefined) call.id = id;
  return response === undefined ? undefined : responseOf(id, call.name, response);
}

const ARGUMENTS = ["gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "adk.tool_call_args"];
const RESULTS = ["gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "adk.tool_response"];

function argumentsOf({ attributes }: Span): Record<string, unknown> | undefined {
  return toolObject(ARGUMENTS.map((key) => attributes.get(key)).find((value) => value !== undefined));
}

/** A response that is `{}` may have been kept back; then the messages may still tell it. */
function resultOf({ attributes }: Span): Record<string, unknown> | undefined {
  const result = toolObject(RESULTS.map((key) => attributes.get(key)).find((value) => value !== undefined));
  return result !== undefined && Object.keys(result).length > 0 ? result : undefined;
}

function toolName({ span }: Node): string {
  return wordsOf(span.attributes.get("gen_ai.tool.name")) ?? span.name.replace(/^execute_tool /, "");
}

/** The name of the agent at work. */
function nameOf({ span, agent }: Node): string {
  const key = "gen_ai.agent.name";
  const named = wordsOf(span.attributes.get(key)) ?? wordsOf(agent?.span.attributes.get(key));
  return named ?? /^(?:invoke_agent |agent_run\w* \[)([^\]]+)/.exec(agent?.span.name ?? "")?.[1] ?? "agent";
}

/** The error for a turn of which the messages were not captured. */
function noMessages({ calls, nodes }: Turn): AdkMetricsError {
  const { span } = calls.find(isSilent)?.from ?? (nodes[0] as Node);
  if (nodes.every(({ kind }) => kind !== "model")) {
    const help = "Leave it out, or have the agent's span hold gen_ai.input.messages and gen_ai.output.messages";
    return wrong(span, "a turn holds no messages: no model was called in it", help);
  }
  const spans = "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true";
  const capture = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
  const help = !isOfAdk(span)
    ? `Have the instrumentation capture them, many by ${capture}=true, and pass the log records as well if it writes them there`
    : span.attributes.has("gcp.vertex.agent.llm_request")
      ? `Set ${spans} where the agent runs`
      : `Set ${capture}=SPAN_AND_EVENT where the agent runs; with EVENT_ONLY pass the log records as well`;
  return wrong(span, "the traces hold no messages: their capture is off", help);
}
