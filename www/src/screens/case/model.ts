/** Reads the events of a case's turns. */

import type { EvalMetricResult, FunctionCall, FunctionResponse, Invocation, SampleVote } from "adk-metrics";
import { shownJson } from "../../ui/json.js";
import type { Question, TurnContent } from "../../worker/protocol.js";

/** An event in a turn between the user's message and the final response. */
export type TurnEvent = { author?: string; usage?: string } & (
  | { kind: "text" | "thought"; text: string; step?: number }
  | { kind: "call"; call: FunctionCall }
  | { kind: "output"; output: FunctionResponse }
  | { kind: "sources"; sources: unknown }
);

/** The events of a turn, and whether their order is known: old files store texts and calls separately. */
export function turnEventsOf(invocation: Invocation): { events: TurnEvent[]; isOrdered: boolean } {
  const data: unknown = invocation.intermediateData;
  if (!isRecord(data)) return { events: [], isOrdered: true };
  if (Array.isArray(data["invocationEvents"])) {
    const events = objectsIn(data["invocationEvents"]).flatMap((event): TurnEvent[] => {
      const parts = partsOf(isRecord(event["content"]) ? event["content"]["parts"] : undefined, event["author"]);
      const sources = event["groundingMetadata"];
      const usage = usageOf(event);
      const all = isRecord(sources) ? [...parts, { kind: "sources", sources } as const] : parts;
      return all.map((one, at) => (at === 0 && usage !== "" ? { ...one, usage } : one));
    });
    return { events, isOrdered: true };
  }
  const calls = pairOutputs(objectsIn(data["toolUses"]), objectsIn(data["toolResponses"]));
  const responses: unknown[] = Array.isArray(data["intermediateResponses"]) ? data["intermediateResponses"] : [];
  const texts = responses.flatMap((one) => (Array.isArray(one) ? partsOf(one[1], one[0]) : []));
  return { events: [...calls, ...texts], isOrdered: calls.length === 0 || texts.length === 0 };
}

/** The output of each tool call of a turn, in the order of its {@link TurnContent}; undefined if there is none. */
export function outputsOf(invocation: Invocation): (FunctionResponse | undefined)[] {
  const { events } = turnEventsOf(invocation);
  const calls = events.flatMap((one) => (one.kind === "call" ? [one.call] : []));
  const paired = pairOutputs(
    calls,
    events.flatMap((one) => (one.kind === "output" ? [one.output] : [])),
  );
  const byCall = new Map<FunctionCall, FunctionResponse>();
  for (const [at, one] of paired.entries()) {
    const before = paired[at - 1];
    if (one.kind === "output" && before?.kind === "call") byCall.set(before.call, one.output);
  }
  return calls.map((call) => byCall.get(call));
}

/** The error of a tool, in any of the formats of the agent libraries and MCP; undefined if it succeeded. */
export function failureOf({ response }: FunctionResponse): unknown {
  const fields: unknown = response;
  if (!isRecord(fields)) return undefined;
  const { error, isError, status, error_message: snake, errorMessage = snake } = fields;
  if (typeof error === "string" && error !== "") return error;
  if (isRecord(error)) return error["message"] ?? error;
  if (isError === true || error === true) return fields["content"] ?? fields;
  return status === "error" ? (errorMessage ?? fields) : undefined;
}

/** The tokens and the model of an event, in words. */
function usageOf({ usageMetadata, modelVersion }: Record<string, unknown>): string {
  const usage = isRecord(usageMetadata) ? usageMetadata : {};
  const part = (key: string, word: string): string[] => {
    const amount = usage[key];
    return typeof amount === "number" ? [`${amount.toLocaleString("en")} ${word}`] : [];
  };
  return [
    ...(typeof modelVersion === "string" ? [modelVersion] : []),
    ...part("promptTokenCount", "tokens in"),
    ...part("candidatesTokenCount", "out"),
    ...part("thoughtsTokenCount", "thought"),
    ...part("cachedContentTokenCount", "cached"),
  ].join(", ");
}

function partsOf(parts: unknown, by: unknown): TurnEvent[] {
  const author = typeof by === "string" && by !== "" ? { author: by } : {};
  return objectsIn(parts).flatMap(({ text, thought, functionCall, functionResponse }): TurnEvent[] => [
    ...(typeof text === "string" && text !== ""
      ? [{ kind: thought === true ? "thought" : "text", ...author, text } as const]
      : []),
    ...(isRecord(functionCall) ? [{ kind: "call", ...author, call: functionCall } as const] : []),
    ...(isRecord(functionResponse) ? [{ kind: "output", ...author, output: functionResponse } as const] : []),
  ]);
}

/** Each call followed by the output with its id, else by the first one with its name; then the remaining outputs. */
function pairOutputs(calls: readonly FunctionCall[], outputs: readonly FunctionResponse[]): TurnEvent[] {
  // Indices in descending order, so that the first output is popped from the end, in constant time.
  const indices = new Map<string, number[]>();
  for (let at = outputs.length - 1; at >= 0; at--) {
    const { id, name } = outputs[at] as FunctionResponse;
    for (const key of [["id", id], ["name", name], ...(id ? [] : [["bare", name]])].map((one) => JSON.stringify(one))) {
      const known = indices.get(key);
      if (known === undefined) indices.set(key, [at]);
      else known.push(at);
    }
  }
  const usedOutputs = new Set<number>();
  const take = (...key: (string | null | undefined)[]): TurnEvent[] => {
    const candidates = indices.get(JSON.stringify(key)) ?? [];
    for (let at = candidates.pop(); at !== undefined; at = candidates.pop()) {
      if (usedOutputs.has(at)) continue;
      usedOutputs.add(at);
      return [{ kind: "output", output: outputs[at] as FunctionResponse }];
    }
    return [];
  };
  const paired = calls.flatMap((call): TurnEvent[] => {
    const byId = call.id === undefined ? [] : take("id", call.id);
    const output = byId.length > 0 ? byId : take(call.id ? "bare" : "name", call.name);
    return [{ kind: "call", call }, ...output];
  });
  const unpaired = outputs.filter((_, at) => !usedOutputs.has(at));
  return [...paired, ...unpaired.map((output): TurnEvent => ({ kind: "output", output }))];
}

/** An agent of the app, with its instructions and tools. */
export interface AgentInfo {
  name: string;
  instructions: string;
  tools: unknown;
}

/** The agents of an invocation's app. Keys are in snake_case or camelCase. */
export function agentsOf({ appDetails }: Invocation): AgentInfo[] {
  const agents: unknown = appDetails?.["agentDetails"] ?? appDetails?.["agent_details"];
  if (!isRecord(agents)) return [];
  return Object.entries(agents).flatMap(([key, agent]) => {
    if (!isRecord(agent)) return [];
    const { name, instructions } = agent;
    const tools = agent["toolDeclarations"] ?? agent["tool_declarations"];
    return [
      {
        name: typeof name === "string" && name !== "" ? name : key,
        instructions: typeof instructions === "string" ? instructions : "",
        tools: Array.isArray(tools) && tools.length > 0 ? tools : undefined,
      },
    ];
  });
}

/** The question that a vote answers. */
export function questionOf(
  questions: readonly Question[],
  turn: number,
  turns: number,
  { metricName, explanation }: EvalMetricResult,
  { purpose, stepIndex = 0, sampleIndex }: SampleVote,
): Question | undefined {
  const at = (invocationIndex: number) =>
    questions.find(
      (one) =>
        one.metricName === metricName &&
        one.invocationIndex === invocationIndex &&
        one.purpose === purpose &&
        one.stepIndex === stepIndex &&
        one.sampleIndex === sampleIndex,
    );
  // If the vote on the end of the conversation replaces that on the last turn, a warning says so.
  const isOfEnd = turn === turns - 1 && explanation?.warnings !== undefined;
  return (isOfEnd ? at(turns) : undefined) ?? at(turn);
}

/** A value as JSON, on one line if it is short. */
export function jsonOf(value: unknown): string {
  const text = shownJson(value, 2) ?? "undefined";
  if (text.length > 200) return text;
  // Line breaks within strings are escaped, so every one here is formatting.
  const line = text
    .replace(/([[{])\n\s*/g, "$1")
    .replace(/\n *([\]}])/g, "$1")
    .replace(/\n\s*/g, " ");
  return line.length <= 80 ? line : text;
}

/** Whether to show an expected response: the turn has one, or a metric needs one. */
export function comparesTexts(expected: TurnContent["expected"], metrics: readonly EvalMetricResult[]): boolean {
  if (expected === undefined) return false;
  return expected.text !== "" || metrics.some(({ metricName }) => /response_match/.test(metricName));
}

/** Whether to compare tool calls: the turn has expected ones, or a metric compared with none. */
export function comparesCalls(expected: TurnContent["expected"], metrics: readonly EvalMetricResult[]): boolean {
  if (expected === undefined) return false;
  return expected.calls.length > 0 || metrics.some(({ explanation }) => explanation?.alignment !== undefined);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
