/** What happened in a turn between the user's words and the response: texts, tool calls and their outputs in order. */

import type { FunctionCall, FunctionResponse, Invocation } from "../types.js";
import { isRecord, shorten, valueText } from "./text.js";

/** Something that happened, and who did it. */
export type Happening = { author?: string | undefined } & (
  | { kind: "text" | "thought"; text: string }
  | { kind: "call"; call: FunctionCall }
  | { kind: "output"; output: FunctionResponse }
);

/** What happened, and whether the order is known: texts may be recorded apart from calls. */
export function happeningsOf(invocation: Invocation | undefined): { happenings: Happening[]; isOrdered: boolean } {
  const data: unknown = invocation?.intermediateData;
  if (!isRecord(data)) return { happenings: [], isOrdered: true };
  if (Array.isArray(data.invocationEvents)) {
    const happenings = data.invocationEvents
      .filter(isRecord)
      .flatMap(({ author, content }) => partsOf(isRecord(content) ? content.parts : undefined, author));
    return { happenings, isOrdered: true };
  }
  const calls = callsWithOutputs(records(data.toolUses), records(data.toolResponses));
  const texts = (Array.isArray(data.intermediateResponses) ? data.intermediateResponses : []).flatMap(
    (response: unknown) => (Array.isArray(response) ? partsOf(response[1], response[0]) : []),
  );
  return { happenings: [...calls, ...texts], isOrdered: calls.length === 0 || texts.length === 0 };
}

/** What each tool call gave, in the order of the calls; nothing for one that gave nothing. */
export function outputsOf(invocation: Invocation | undefined): (FunctionResponse | undefined)[] {
  const { happenings } = happeningsOf(invocation);
  const calls = happenings.flatMap((one) => (one.kind === "call" ? [one.call] : []));
  const outputs = happenings.flatMap((one) => (one.kind === "output" ? [one.output] : []));
  return answersOf(calls, outputs).answers;
}

/** `returned {"sky": "clear"}`, `failed: no such city`: what a tool gave, on one line. */
export function outputText({ response }: FunctionResponse, width = 200): string {
  const failure = failureOf(response);
  if (failure !== undefined) return `failed: ${shorten(failure, width)}`;
  return `returned ${shorten(valueText(response ?? null, width * 2), width)}`;
}

/** Whether a tool failed. */
export function isFailure({ response }: FunctionResponse): boolean {
  return failureOf(response) !== undefined;
}

/** Why a tool failed, in the forms that the libraries and MCP have; undefined if it did not. */
function failureOf(response: unknown): string | undefined {
  if (!isRecord(response)) return undefined;
  const { error, isError, status, error_message: snake, errorMessage = snake } = response;
  if (typeof error === "string" && error !== "") return error;
  if (isRecord(error)) return typeof error.message === "string" ? error.message : valueText(error);
  if (isError === true || error === true) return valueText(response.content ?? response);
  if (status === "error") return typeof errorMessage === "string" ? errorMessage : valueText(response);
  return undefined;
}

function records(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** What the parts of a content tell; parts of other kinds, such as images, are passed over. */
function partsOf(parts: unknown, by: unknown): Happening[] {
  const author = typeof by === "string" && by !== "" ? by : undefined;
  return records(parts).flatMap(({ text, thought, functionCall, functionResponse }): Happening[] => [
    ...(typeof text === "string" && text !== "" ? [{ kind: thought ? "thought" : "text", author, text } as const] : []),
    ...(isRecord(functionCall) ? [{ kind: "call", author, call: functionCall } as const] : []),
    ...(isRecord(functionResponse) ? [{ kind: "output", author, output: functionResponse } as const] : []),
  ]);
}
/** Each call with its output, then the outputs of no call. */
function callsWithOutputs(calls: readonly FunctionCall[], outputs: readonly FunctionResponse[]): Happening[] {
  const { answers, left } = answersOf(calls, outputs);
  const answered = calls.flatMap((call, at): Happening[] => {
    const output = answers[at];
    return [{ kind: "call", call }, ...(output ? [{ kind: "output", output } as const] : [])];
  });
  return [...answered, ...left.map((output): Happening => ({ kind: "output", output }))];
}

/** The outputs that no call has taken. */
class Open {
  readonly #outputs: readonly FunctionResponse[];
  /** The places of the outputs of each tool, and of each tool with an id, from the last to the first. */
  readonly #positions = new Map<string, number[]>();
  readonly #taken = new Set<number>();

  constructor(outputs: readonly FunctionResponse[]) {
    this.#outputs = outputs;
    for (let at = outputs.length - 1; at >= 0; at--) {
      const { name, id } = outputs[at] as FunctionResponse;
      for (const key of [[name], [name, id || null]]) {
        const positions = this.#positions.get(JSON.stringify(key));
        if (positions === undefined) this.#positions.set(JSON.stringify(key), [at]);
        else positions.push(at);
      }
    }
  }

  /** Takes the first that is left of a tool, or of a tool with an id; null stands for none. */
  take(name: string | null | undefined, ...id: (string | null)[]): FunctionResponse | undefined {
    const positions = this.#positions.get(JSON.stringify([name, ...id])) ?? [];
    for (let at = positions.pop(); at !== undefined; at = positions.pop()) {
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

/**
 * For each call the output of the same tool and id, or else the first of the same tool where one of them has no id; and
 * the outputs of no call. Linear.
 */
function answersOf(
  calls: readonly FunctionCall[],
  outputs: readonly FunctionResponse[],
): { answers: (FunctionResponse | undefined)[]; left: FunctionResponse[] } {
  const open = new Open(outputs);
  const answers = calls.map(({ name, id }) => (id ? (open.take(name, id) ?? open.take(name, null)) : open.take(name)));
  return { answers, left: open.left() };
}
