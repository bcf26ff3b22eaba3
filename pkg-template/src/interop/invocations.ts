/** A run of an agent as an inference result: each turn as an invocation. */

import { detailsOf } from "../agents/observe.js";
import { TurnRecorder } from "../agents/record.js";
import type { AdkMetricsError } from "../errors.js";
import type { Invocation } from "../types.js";
import { isOfAdk, isSilent, nameOf } from "./calls.js";
import { happeningsOf } from "./happenings.js";
import { contentsOf, jsonOf, userContentOf, wordsOf } from "./messages.js";
import { type Moment, wrong } from "./otlp.js";
import { timesOf } from "./seconds.js";
import { keyOf, type Node } from "./tree.js";
import { attributeOf, type Turn } from "./turns.js";

const INVOCATION_KEYS = ["gcp.vertex.agent.invocation_id", "adk.invocation_id"];

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

/** A run of an agent by its turns. */
export function runOf(
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
