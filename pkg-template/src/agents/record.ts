/**
 * What an agent did in one turn, made of its events as google-adk makes it: the last final response is the answer (one
 * with text wins over one without), and what is not repeated there stays in `intermediateData.invocationEvents`.
 * O(events) in time and space.
 */

import { withToolUses } from "../engine/hosted.js";
import { snakeOf } from "../engine/spelling.js";
import { isObject, unexpected } from "../engine/values.js";
import { stringify } from "../engine/writing.js";
import { closest } from "../closest.js";
import { AdkMetricsError } from "../errors.js";
import type { Content, Dialect, FunctionResponse, Invocation, InvocationEvent, Part } from "../types.js";
import type { AgentEvent } from "./agent.js";
import { modelReport, noteToolResponse, takeObservation } from "./observe.js";

/** More events in one turn than any agent has a use for: it runs in a circle. */
const MAX_EVENTS = 100_000;

/** The author of what a function says without naming one. */
const DEFAULT_AUTHOR = "agent";

/** An error that an agent reported as an event. */
interface ReportedError {
  code: string;
  message: string | undefined;
}

/** Records one turn. */
export class TurnRecorder {
  readonly #userContent: Content;
  readonly #began: number;
  readonly #timestamp = Date.now() / 1000;
  readonly #events: InvocationEvent[] = [];
  /** Pieces of streamed answers by author, until the whole arrives. */
  readonly #pieces = new Map<string, Part[]>();
  #count = 0;
  #final: { content: Content; event: InvocationEvent } | undefined;
  #error: ReportedError | undefined;
  #invocationId: string | undefined;
  /** What to say of the turn once it is finished. */
  warnings: readonly string[] = [];

  /**
   * @param began When the turn began, in milliseconds of `performance.now()`.
   */
  constructor(userContent: Content, began: number) {
    this.#userContent = userContent;
    this.#began = began;
  }

  /**
   * Adds what happened.
   *
   * @throws {AdkMetricsError} `invalid_input` if it is not an event, `unserializable` if it holds what JSON has no place for.
   */
  add(given: unknown, now: number): void {
    this.#count += 1;
    if (this.#count > MAX_EVENTS) {
      throw new AdkMetricsError("limit_exceeded", `the agent emitted more than ${MAX_EVENTS} events in one turn`);
    }
    const event = typeof given === "string" ? pieceOf(given) : eventOf(given);
    this.#invocationId ??= event.invocationId;
    const author = event.author ?? DEFAULT_AUTHOR;
    if (author.toLowerCase() === "user") return;
    if (event.partial === true) {
      this.#addPiece(author, event);
      return;
    }
    for (const { functionResponse } of event.content?.parts ?? []) {
      if (this.#invocationId === undefined || typeof functionResponse?.id !== "string") continue;
      noteToolResponse(this.#invocationId, functionResponse.id, now);
    }
    if (event.errorCode !== undefined) {
      this.#error = { code: event.errorCode, message: event.errorMessage };
      this.#pieces.delete(author);
      return;
    }
    this.#addWhole(author, event);
  }

  /**
   * The turn.
   *
   * @throws {AgentError} if the agent reported an error and gave no final response after it.
   */
  finish(now: number): Invocation {
    this.#joinPieces();
    if (this.#error !== undefined) throw new AgentError(this.#error);
    return this.#invocation(now);
  }

  /** The turn as far as it came before it failed. */
  partial(now: number): Invocation {
    this.#joinPieces();
    return this.#invocation(now);
  }

  #joinPieces(): void {
    for (const [author, parts] of this.#pieces)
      this.#addWhole(author, { content: { role: "model", parts: joined(parts) } });
    this.#pieces.clear();
  }

  #invocation(now: number): Invocation {
    const invocation: Invocation = {
      userContent: this.#userContent,
      intermediateData: withToolUses({ invocationEvents: this.#events }),
      creationTimestamp: this.#timestamp,
      duration: seconds(now - this.#began),
    };
    if (this.#invocationId !== undefined) invocation.invocationId = this.#invocationId;
    if (this.#final !== undefined) {
      const { content, event } = this.#final;
      invocation.finalResponse = content;
      if (!hasPart(content, "functionCall")) delete event.content;
    }
    const observation = this.#invocationId === undefined ? undefined : takeObservation(this.#invocationId);
    if (observation !== undefined) {
      invocation.modelDuration = seconds(observation.modelMs);
      invocation.toolDuration = seconds(observation.toolMs);
      invocation.appDetails = { agentDetails: observation.agentDetails };
      this.warnings = observation.warnings;
    }
    return invocation;
  }

  #addPiece(author: string, event: AgentEvent): void {
    const parts = this.#pieces.get(author) ?? [];
    for (const part of event.content?.parts ?? []) if (typeof part.text === "string") parts.push(part);
    this.#pieces.set(author, parts);
  }

  #addWhole(author: string, event: AgentEvent): void {
    const content = this.#contentOf(author, event);
    const parts = content?.parts ?? [];
    const recorded: InvocationEvent = { author };
    if (content !== undefined) recorded.content = content;
    if (event.groundingMetadata !== undefined)
      recorded.groundingMetadata = event.groundingMetadata as Record<string, unknown>;
    if (event.usageMetadata !== undefined) recorded.usageMetadata = event.usageMetadata as Record<string, unknown>;
    if (event.modelVersion !== undefined) recorded.modelVersion = event.modelVersion;
    if (content !== undefined && parts.length > 0 && isFinal(event, content)) {
      const hadText = this.#final !== undefined && hasText(this.#final.content);
      if (!hadText || hasText(content)) this.#final = { content, event: recorded };
      this.#error = undefined;
    }
    const says = parts.some(
      (part) => isSet(part.text) || isSet(part.functionCall) || isSet(part.functionResponse) || isSet(part.inlineData),
    );
    if (says || recorded.groundingMetadata !== undefined) this.#events.push(recorded);
  }

  /** The content of a whole event; one that has none is what the pieces before it make together. */
  #contentOf(author: string, { content }: AgentEvent): Content | undefined {
    const pieces = this.#pieces.get(author);
    if (pieces === undefined) return content;
    const parts = content?.parts ?? [];
    const isWhole = parts.some((part) => isSet(part.text) || isSet(part.functionResponse));
    this.#pieces.delete(author);
    return isWhole ? content : { role: content?.role ?? "model", parts: [...joined(pieces), ...parts] };
  }
}

/**
 * Runs as ADK-TS records them, for its dialect: every turn has `toolUses`, which is empty if no tool was called. In google-adk's
 * form, which has events instead, no call would count.
 */
export function recordedFor<T extends { inferences: Invocation[] }>(runs: readonly T[], dialect?: Dialect): T[] {
  if (dialect !== "adk-ts") return [...runs];
  return runs.map((run) => ({ ...run, inferences: run.inferences.map(withSummary) }));
}

function withSummary(turn: Invocation): Invocation {
  const { intermediateData } = turn;
  if (intermediateData !== undefined && !("invocationEvents" in intermediateData)) return turn;
  const events = intermediateData?.invocationEvents ?? [];
  const parts = events.flatMap(({ content }) => content?.parts ?? []);
  const said = events.flatMap(({ author, content }): [string, Part[]][] => {
    const texts = (content?.parts ?? []).filter(({ text }) => isSet(text));
    return texts.length === 0 ? [] : [[author ?? DEFAULT_AUTHOR, texts]];
  });
  return {
    ...turn,
    intermediateData: {
      toolUses: parts.flatMap(({ functionCall }) => functionCall ?? []),
      toolResponses: parts.flatMap(({ functionResponse }): FunctionResponse[] =>
        functionResponse ? [functionResponse as FunctionResponse] : [],
      ),
      intermediateResponses: said,
    },
  };
}

/** The error of an agent that reported one instead of an answer. */
export class AgentError extends Error {
  // Only what the agent reported is shown: neither a class nor a stack.
  override readonly name = "";
  override readonly stack = "";
  constructor({ code, message }: ReportedError) {
    super(message === undefined || message === "" ? code : `${code}: ${message}`);
  }
}

function pieceOf(text: string): AgentEvent {
  return { partial: true, content: { role: "model", parts: [{ text }] } };
}

/** What an event says. */
const SAYING_KEYS = ["content", "errorCode", "usageMetadata", "groundingMetadata", "actions"];

/** What makes an object an event. */
const EVENT_KEYS = [...SAYING_KEYS, "author", "invocationId"];

/** These, what else is read of events, and what those of the libraries have although they say nothing. */
const KNOWN_KEYS = [
  ...[...EVENT_KEYS, "partial", "modelVersion", "errorMessage", "longRunningToolIds"],
  ...["id", "timestamp", "branch", "turnComplete", "interrupted"],
];

/** Where other libraries have tool calls, which events of ADK have among the parts of their content. */
const CALLS_BESIDE = ["toolCalls", "tool_calls", "toolUses", "tool_uses", "functionCalls", "function_calls"];

/** What belongs into the parts of a content. */
const SAID_BESIDE = ["parts", "functionCall", "function_call", "functionResponse", "function_response"];

/** The value of a key in either spelling. */
function read(fields: Readonly<Record<string, unknown>>, key: string): unknown {
  return fields[key] ?? fields[snakeOf(key)];
}

/** What parts hold. A part with nothing of it says nothing, so that its event is not recorded. */
const PART_KEYS = ["text", "functionCall", "functionResponse", "inlineData", "fileData", "codeExecutionResult"];

/** The other fields of google-adk's parts that may stand alone in one. */
const PART_EXTRAS = [
  ...["executableCode", "thought", "thoughtSignature", "videoMetadata", "mediaResolution", "toolCall", "toolResponse"],
  ...["partMetadata", "audioTranscription", "mediaProcessing", "speechMetadata"],
];

/**
 * A part whose kind is spelt as JavaScript does.
 *
 * @throws {AdkMetricsError} `invalid_input` for a misspelt one, and for a part with other keys alone: it would count as none.
 */
function partOf(part: unknown): Part {
  if (!isObject(part) || Array.isArray(part)) throw unexpected("an object", part, PARTS_PATH);
  const keys = Object.entries(part).map(([key, value]) => ({ key, name: camel(key), value: value as unknown }));
  for (const { key } of keys) refuseMisspelt(key, PART_KEYS, "a part", PARTS_PATH);
  const set = keys.filter(({ value }) => value !== null);
  const isKnown = ({ name }: { name: string }) => PART_KEYS.includes(name) || PART_EXTRAS.includes(name);
  const other = set.find((one) => !isKnown(one));
  if (other !== undefined && !set.some((one) => one.name !== "thought" && isKnown(one))) {
    throw notRead(other.key, "a part", "Its keys are text, functionCall and functionResponse", PARTS_PATH);
  }
  return Object.fromEntries(keys.map(({ name, value }) => [name, value])) as Part;
}

const PARTS_PATH = "event: content.parts";

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** @throws {AdkMetricsError} `invalid_input` for a key that resembles one that is read. */
function refuseMisspelt(key: string, known: readonly string[], what: string, path: string): void {
  const meant = known.includes(camel(key)) ? undefined : closest(key, known);
  if (meant !== undefined) throw notRead(key, what, `Did you mean \`${meant}\`?`, path);
}

function notRead(key: string, what: string, help: string, path: string): AdkMetricsError {
  return new AdkMetricsError("invalid_input", `\`${key}\` is not a key of ${what}`, { path, help });
}

/** @throws {AdkMetricsError} `invalid_input` for anything but an event, and for keys that would be lost. */
function checkEvent(event: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(event).filter((key) => isSet(event[key]) && !KNOWN_KEYS.includes(camel(key)));
  const unset = unknown.length === 0 ? [] : KNOWN_KEYS.filter((key) => !isSet(read(event, key)));
  for (const key of unknown) refuseMisspelt(key, unset, "an event", "event");
  if (!EVENT_KEYS.some((key) => key in event || snakeOf(key) in event)) {
    throw new AdkMetricsError("invalid_input", "expected an event from the agent, found an object without `content`", {
      help: EVENT_HELP,
    });
  }
  const beside = besideContent(event);
  if (beside !== undefined) {
    throw new AdkMetricsError("invalid_input", `the agent emitted an event with \`${beside}\`, which is not read`, {
      help: EVENT_HELP,
    });
  }
  const [other] = unknown;
  if (other !== undefined && !SAYING_KEYS.some((key) => isSet(read(event, key)))) {
    throw notRead(other, "an event", EVENT_HELP, "event");
  }
}

/** A copy of what is read of an event, as JSON has it. */
function eventOf(given: unknown): AgentEvent {
  if (!isObject(given) || Array.isArray(given)) {
    throw unexpected("an event from the agent", given, "event", EVENT_HELP);
  }
  const own = given as Record<string, unknown>;
  checkEvent(own);
  const report = modelReport(own.content) as Record<string, unknown> | undefined;
  const fields = report === undefined ? own : merged(own, report);
  const event: AgentEvent = {};
  for (const key of ["author", "modelVersion", "errorCode", "errorMessage", "invocationId"] as const) {
    const value = read(fields, key);
    if (typeof value === "string" && value !== "") event[key] = value;
  }
  for (const key of ["groundingMetadata", "usageMetadata"] as const) {
    const value = read(fields, key);
    if (value === undefined || value === null) continue;
    if (!isObject(value)) throw unexpected("an object", value, `event: ${key}`);
    event[key] = JSON.parse(stringify(value, `event: ${key}`)) as object;
  }
  const content = contentOf(fields.content);
  if (content !== undefined) event.content = content;
  if (fields.partial === true) event.partial = true;
  const { actions } = fields;
  if (isObject(actions) && read(actions as Record<string, unknown>, "skipSummarization") === true) {
    event.actions = { skipSummarization: true };
  }
  const longRunningToolIds = read(fields, "longRunningToolIds");
  if (isObject(longRunningToolIds) && Symbol.iterator in longRunningToolIds) {
    event.longRunningToolIds = [...(longRunningToolIds as Iterable<string>)];
  }
  return event;
}

/** A key beside an event's content that has a value but is not read. */
function besideContent(event: Readonly<Record<string, unknown>>): string | undefined {
  const { content, text, message } = event;
  const called = CALLS_BESIDE.find((key) => Array.isArray(event[key]) && event[key].length > 0);
  const said = called ?? SAID_BESIDE.find((key) => isSet(event[key]));
  if (said !== undefined) return said;
  // ADK-TS repeats the text of the content.
  if (isSet(text) && !says(content, text)) return "text";
  return isSet(message) && !isSet(content) ? "message" : undefined;
}

/** Whether a text is made of texts of a content's parts, in their order. */
function says(content: unknown, text: unknown): boolean {
  if (typeof text !== "string") return false;
  const parts: unknown = isObject(content) ? (content as Record<string, unknown>)["parts"] : undefined;
  let rest = text.trim();
  for (const part of Array.isArray(parts) ? (parts as unknown[]) : []) {
    const own = isObject(part) ? (part as Record<string, unknown>)["text"] : undefined;
    if (typeof own === "string" && rest.startsWith(own.trim())) rest = rest.slice(own.trim().length).trimStart();
  }
  return rest === "";
}

const EVENT_HELP =
  "An event is an object such as { author, content: { parts: [{ text }, { functionCall: { name, args } }] } }";

function contentOf(given: unknown): Content | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given) || Array.isArray(given)) throw unexpected("an object with `parts`", given, "event: content");
  const { parts, ...content } = JSON.parse(stringify(given, "event: content")) as Content;
  if (parts === undefined || parts === null) {
    const other = Object.keys(content).find(
      (key) => key !== "role" && isSet((content as Record<string, unknown>)[key]),
    );
    if (other !== undefined) throw notRead(other, "a content", "Its keys are role and parts", "event: content");
    return content;
  }
  if (!Array.isArray(parts)) throw unexpected("an array", parts, PARTS_PATH);
  // `null` and `false`, as in `false && part`, are not parts.
  return { ...content, parts: (parts as unknown[]).filter((part) => part !== null && part !== false).map(partOf) };
}

/** What is read of an event, with what its model reported where the event itself says nothing. */
function merged(event: Record<string, unknown>, report: Record<string, unknown>): Record<string, unknown> {
  const { author, content, partial, actions, longRunningToolIds, invocationId } = event;
  const fields: Record<string, unknown> = { author, content, partial, actions, longRunningToolIds, invocationId };
  for (const [key, value] of Object.entries(report)) fields[key] = event[key] ?? value;
  return fields;
}

/** Whether an event ends a turn: it waits for nothing, or for something that takes longer than the turn. */
function isFinal({ actions, longRunningToolIds = [] }: AgentEvent, content: Content): boolean {
  if (actions?.skipSummarization === true || [...longRunningToolIds].length > 0) return true;
  const endsInCode = isSet(content.parts?.at(-1)?.["codeExecutionResult"]);
  return !hasPart(content, "functionCall") && !hasPart(content, "functionResponse") && !endsInCode;
}

function hasPart(content: Content | undefined, kind: "functionCall" | "functionResponse"): boolean {
  return content?.parts?.some((part) => isSet(part[kind])) === true;
}

function hasText({ parts = [] }: Content): boolean {
  return parts.some(({ text }) => typeof text === "string" && text !== "");
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Pieces of text put together, thoughts apart from answers. */
function joined(pieces: readonly Part[]): Part[] {
  const parts: Part[] = [];
  for (const { text = "", thought } of pieces) {
    const last = parts.at(-1);
    if (last !== undefined && (last.thought === true) === (thought === true)) last.text = `${last.text}${text}`;
    else parts.push(thought === true ? { text, thought } : { text });
  }
  return parts;
}

/** Milliseconds as seconds with three digits, as google-adk keeps them. */
function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
