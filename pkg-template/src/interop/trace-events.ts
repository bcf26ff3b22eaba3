/** What happened in a turn, in order: what models answered, and the responses of the tools that they asked for. */

import type { FunctionCall, FunctionResponse, InvocationEvent, Part } from "../types.js";
import { asksTools, type Call, nameOf } from "./calls.js";
import { responsesAtEnd } from "./messages.js";
import { responseOf } from "./parts.js";
import { type ToolRun, toolRunOf, ToolRuns } from "./tools.js";
import { append } from "../lists.js";
import type { Node } from "./tree.js";
import type { TraceTurn } from "./turns.js";

/** Something that an agent said or did, and when. */
interface TraceEvent {
  time: number;
  author: string;
  event: Omit<InvocationEvent, "author">;
}

/** What happened in a turn, in order: each call's answer, and the responses of the tools that it asked for. */
export function traceEventsOf(turn: TraceTurn): TraceEvent[] {
  return read(turn).events;
}

/** The names of the tools that ran although no call of a model asked for them. */
export function unasked(turn: TraceTurn): string[] {
  if (turn.calls.some(({ isWholeTurn }) => isWholeTurn === true)) return [];
  return read(turn).left.map(({ name }) => name);
}

function read({ calls, nodes }: TraceTurn): { events: TraceEvent[]; left: ToolRun[] } {
  const tools = nodes.filter(({ kind, tool }) => kind === "tool" && tool === undefined).map(toolRunOf);
  if (calls.every(({ output }) => output === undefined)) return { events: eventsOfTools(tools), left: [] };
  const runs = new ToolRuns(tools);
  const responses = responsesByCall(calls);
  // Where no model asked for a tool that ran, it was asked for in a way that was not traced.
  const isWhole = !calls.some(({ output }) => asksTools(output));
  const events: TraceEvent[] = [];
  for (const call of calls) {
    const { output, usage, modelVersion, groundingMetadata } = call;
    if (output === undefined) continue;
    const author = nameOf(call.from);
    const event: TraceEvent["event"] = { content: output };
    if (usage !== undefined) event.usageMetadata = usage;
    if (modelVersion !== undefined) event.modelVersion = modelVersion;
    if (groundingMetadata !== undefined) event.groundingMetadata = groundingMetadata;
    events.push({ time: call.time, author, event });
    const functionCalls = output.parts?.flatMap<FunctionCall>(({ functionCall }) => functionCall ?? []) ?? [];
    let { time } = call;
    const parts = functionCalls.flatMap<Part>((functionCall, at) => {
      const run = runs.take(functionCall, call.time, call.from.agent);
      if (run !== undefined) time = Math.max(time, run.node.span.end);
      return responseFor(functionCall, run, responses.get(call)?.[at]) ?? [];
    });
    if (parts.length > 0) events.push({ time, author, event: { content: { role: "user", parts } } });
  }
  const isHeld = calls.some(({ isWholeTurn }) => isWholeTurn === true);
  if (isWhole && !isHeld) append(events, eventsOfTools(tools));
  // Of what happened at one time, what comes first stays first.
  events.sort((a, b) => a.time - b.time);
  return {
    events: isWhole && isHeld ? [...eventsOfTools(tools), ...events] : events,
    left: runs.left(),
  };
}

/** The tools' calls and responses, where their spans alone tell of them; nothing if these were not captured. */
function eventsOfTools(tools: readonly ToolRun[]): TraceEvent[] {
  const isCaptured = tools.some(({ args, response }) => args !== undefined || response !== undefined);
  return isCaptured ? tools.flatMap(eventsOfTool) : [];
}

function eventsOfTool({ node, name, id, args, response }: ToolRun): TraceEvent[] {
  const { time, end } = node.span;
  const author = nameOf(node);
  const functionCall: FunctionCall = {
    name,
    ...(args === undefined ? {} : { args }),
    ...(id === undefined ? {} : { id }),
  };
  const request = { time, author, event: { content: { role: "model", parts: [{ functionCall }] } } };
  if (response === undefined) return [request];
  const parts = [responseOf(id, name, response)];
  return [request, { time: end, author, event: { content: { role: "user", parts } } }];
}

/** What each call's agent told its model next of the tools' responses. */
function responsesByCall(calls: readonly Call[]): Map<Call, FunctionResponse[]> {
  const responses = new Map<Call, FunctionResponse[]>();
  const next = new Map<Node | undefined, FunctionResponse[]>();
  for (const call of calls.toReversed()) {
    responses.set(call, next.get(call.from.agent) ?? []);
    if (call.input.length > 0) next.set(call.from.agent, responsesAtEnd(call.input));
  }
  return responses;
}

/** A call's response, by its span or by what the model was told next; the call takes over the span's id. */
function responseFor(call: FunctionCall, run: ToolRun | undefined, nextResponse: FunctionResponse | undefined) {
  const id = run?.id ?? call.id;
  const response = run?.response ?? nextResponse?.response;
  if (id !== undefined) call.id = id;
  return response === undefined ? undefined : responseOf(id, call.name, response);
}
