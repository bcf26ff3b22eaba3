/** What happened in a turn between the user's words and the response: texts, tool calls and their outputs in order. */

import { isObject, reading, unexpected } from "./engine/values.js";
import { fieldOf } from "./invocation.js";
import { isRecord } from "./lists.js";
import type { FunctionCall, FunctionResponse, InvocationInput } from "./types.js";

/** Something that happened in a turn, and who did it. */
export type TurnEvent = {
  /** The agent, where it is recorded. */
  author?: string;
  /** The model that answered, on the first part of its answer. */
  modelVersion?: string;
  /** What that answer took of the model, as recorded. */
  usageMetadata?: Record<string, unknown>;
} & (
  | { kind: "text" | "thought"; text: string }
  | { kind: "call"; call: FunctionCall }
  | { kind: "output"; output: FunctionResponse }
  | { kind: "sources"; groundingMetadata: Record<string, unknown> }
);

/** What was said or done in a turn, without its sources. */
export type SaidOrDone = Exclude<TurnEvent, { kind: "sources" }>;

export function isNoSource(event: TurnEvent): event is SaidOrDone {
  return event.kind !== "sources";
}

/** The events of a turn. */
export interface TurnEvents {
  events: TurnEvent[];
  /** Whether their order is known: texts may be recorded apart from calls. */
  isOrdered: boolean;
}

/**
 * What happened in a turn. Calls and outputs are the objects of the invocation.
 *
 * @example
 * turnEventsOf({ userContent: {}, intermediateData: { toolUses: [{ name: "book" }] } }).events;
 * // [{ kind: "call", call: { name: "book" } }]
 *
 * @throws {AdkMetricsError} `invalid_input` if a getter or a proxy in it throws.
 */
export function turnEventsOf(invocation: InvocationInput | null | undefined): TurnEvents {
  return reading("invocation", () => eventsOf(invocation));
}

/** As {@link turnEventsOf}, for callers that say where the mistake is. */
export function eventsOf(invocation: InvocationInput | null | undefined): TurnEvents {
  const data = fieldOf(invocation, "intermediateData");
  const events = fieldOf(data, "invocationEvents");
  if (Array.isArray(events)) return { events: events.filter(isRecord).flatMap(partsOfEvent), isOrdered: true };
  const calls = callsWithOutputs(records(fieldOf(data, "toolUses")), records(fieldOf(data, "toolResponses")));
  const responses = fieldOf(data, "intermediateResponses");
  const texts = (Array.isArray(responses) ? responses : []).flatMap((response: unknown) =>
    Array.isArray(response) ? partsOf(response[1], response[0]) : [],
  );
  return { events: [...calls, ...texts], isOrdered: calls.length === 0 || texts.length === 0 };
}

/**
 * The output of each tool call of a turn, in the order of `toolCallsOf`; undefined for a call without one.
 *
 * @example
 * const intermediateData = { toolUses: [{ name: "book" }], toolResponses: [{ name: "book", response: { id: 7 } }] };
 * toolOutputsOf({ userContent: {}, intermediateData }); // [{ name: "book", response: { id: 7 } }]
 *
 * @throws {AdkMetricsError} `invalid_input` if a getter or a proxy in it throws.
 */
export function toolOutputsOf(invocation: InvocationInput | null | undefined): (FunctionResponse | undefined)[] {
  return reading("invocation", () => outputsOf(invocation));
}

/** As {@link toolOutputsOf}, for callers that say where the mistake is. */
export function outputsOf(invocation: InvocationInput | null | undefined): (FunctionResponse | undefined)[] {
  const { events } = eventsOf(invocation);
  const calls = events.flatMap((event) => (event.kind === "call" ? [event.call] : []));
  const outputs = events.flatMap((event) => (event.kind === "output" ? [event.output] : []));
  return pairOutputs(calls, outputs).outputs;
}

/**
 * The error that a tool returned, in any of the forms that agent libraries and MCP have; undefined if it succeeded.
 *
 * @example
 * toolErrorOf({ name: "book", response: { status: "error", error_message: "no rooms" } }); // "no rooms"
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but an object, or if a getter or a proxy in it throws.
 */
export function toolErrorOf(output: FunctionResponse): unknown {
  if (!isObject(output)) throw unexpected("a function response", output, "output");
  return reading("output", () => errorOf(output));
}

/** As {@link toolErrorOf}, for callers that say where the mistake is. */
export function errorOf({ response }: FunctionResponse): unknown {
  if (!isRecord(response)) return undefined;
  const { error, isError, status, error_message: snake, errorMessage = snake } = response;
  if (typeof error === "string" && error !== "") return error;
  if (isRecord(error)) return typeof error.message === "string" ? error.message : error;
  if (isError === true || error === true) return response.content ?? response;
  if (status === "error") return typeof errorMessage === "string" ? errorMessage : response;
  return undefined;
}

/** The parts of an event, then the sources of its answer. */
function partsOfEvent(event: Record<string, unknown>): TurnEvent[] {
  const parts = partsOf(fieldOf(event.content, "parts"), event.author);
  const groundingMetadata = fieldOf(event, "groundingMetadata");
  if (isRecord(groundingMetadata)) parts.push({ kind: "sources", groundingMetadata });
  const [first] = parts;
  if (first === undefined) return [];
  const modelVersion = fieldOf(event, "modelVersion");
  const usageMetadata = fieldOf(event, "usageMetadata");
  if (typeof modelVersion === "string") first.modelVersion = modelVersion;
  if (isRecord(usageMetadata)) first.usageMetadata = usageMetadata;
  return parts;
}

/** What the parts of a content say; parts of other kinds, such as images, are passed over. */
function partsOf(parts: unknown, by: unknown): TurnEvent[] {
  const author = typeof by === "string" && by !== "" ? { author: by } : {};
  return records(parts).flatMap((part): TurnEvent[] => {
    const { text, thought } = part;
    const call = fieldOf(part, "functionCall");
    const output = fieldOf(part, "functionResponse");
    return [
      ...(typeof text === "string" && text !== ""
        ? [{ kind: thought ? "thought" : "text", ...author, text } as const]
        : []),
      ...(isRecord(call) ? [{ kind: "call", ...author, call } as const] : []),
      ...(isRecord(output) ? [{ kind: "output", ...author, output } as const] : []),
    ];
  });
}

/** Each call followed by its output, then the outputs of no call. */
function callsWithOutputs(calls: readonly FunctionCall[], outputs: readonly FunctionResponse[]): TurnEvent[] {
  const paired = pairOutputs(calls, outputs);
  return [
    ...calls.flatMap((call, at): TurnEvent[] => {
      const output = paired.outputs[at];
      return [{ kind: "call", call }, ...(output ? [{ kind: "output", output } as const] : [])];
    }),
    ...paired.left.map((output): TurnEvent => ({ kind: "output", output })),
  ];
}

/**
 * The output of each call: the first one with its name and id, or else the first with its name where either has no id;
 * and the outputs of no call. Linear.
 *
 * Judges are shown outputs by `steps` in `src/metrics/transcript.rs`, which pairs a call and an output only if both have
 * an id or neither has. `tests/vectors/tool-outputs.json` holds both.
 */
function pairOutputs(
  calls: readonly FunctionCall[],
  outputs: readonly FunctionResponse[],
): { outputs: (FunctionResponse | undefined)[]; left: FunctionResponse[] } {
  const waiting = new WaitingOutputs(outputs);
  const ofCalls = calls.map(({ name, id }) =>
    id ? (waiting.take(name, id) ?? waiting.take(name, null)) : waiting.take(name),
  );
  return { outputs: ofCalls, left: waiting.left() };
}

/** The outputs that no call has taken. */
class WaitingOutputs {
  readonly #outputs: readonly FunctionResponse[];
  /** The indices of the outputs of each tool, and of each tool with an id, from the last to the first. */
  readonly #indices = new Map<string, number[]>();
  readonly #taken = new Set<number>();

  constructor(outputs: readonly FunctionResponse[]) {
    this.#outputs = outputs;
    for (let at = outputs.length - 1; at >= 0; at--) {
      const { name, id } = outputs[at] as FunctionResponse;
      for (const key of [[name], [name, id || null]]) {
        const indices = this.#indices.get(JSON.stringify(key));
        if (indices === undefined) this.#indices.set(JSON.stringify(key), [at]);
        else indices.push(at);
      }
    }
  }

  /** Takes the first that is left of a tool, or of a tool with an id; null means none. */
  take(name: string | null | undefined, ...id: (string | null)[]): FunctionResponse | undefined {
    const indices = this.#indices.get(JSON.stringify([name, ...id])) ?? [];
    for (let at = indices.pop(); at !== undefined; at = indices.pop()) {
      if (this.#taken.has(at)) continue;
      this.#taken.add(at);
      return this.#outputs[at];
    }
    return undefined;
  }

  left(): FunctionResponse[] {
    return this.#outputs.filter((_, at) => !this.#taken.has(at));
  }
}

function records(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
