/** Turns: what happens inside of an outermost span of an agent; without one, inside of a trace. */

import { type Call, callsOf, DETAILS } from "./calls.js";
import { isMessage } from "./events.js";
import { conventional } from "./indexed.js";
import { isOfUser, responsesAtEnd, wordsIn } from "./messages.js";
import type { Content } from "../types.js";
import type { Moment, Span, Telemetry } from "./otlp.js";
import { wordsOf } from "./parts.js";
import { append, group } from "../lists.js";
import { keyOf, type Node, treeOf } from "./tree.js";
import { type Capture, placed } from "./unplaced.js";

/** What was done about one message of the user. */
export interface TraceTurn {
  outer: Node | undefined;
  nodes: Node[];
  calls: Call[];
  time: number;
  end: number;
  traceId: string;
  capture: Readonly<Capture>;
}

const CONVERSATION_KEYS = [
  "gen_ai.conversation.id",
  "gcp.vertex.agent.session_id",
  "adk.session_id",
  "session.id",
  "traceloop.association.properties.session_id",
  "traceloop.association.properties.thread_id",
];

/** The turns of each conversation, by its id, and the log records by the keys of their spans. */
export function conversationsOf({ spans, logs }: Telemetry): {
  conversations: Map<string, TraceTurn[]>;
  moments: Map<string, Moment[]>;
  capture: Readonly<Capture>;
} {
  const known = new Set(spans.map(keyOf));
  const orphans = logs.filter((log) => log.name === DETAILS && log.spanId !== "" && !known.has(keyOf(log)));
  const whole = scoped([...spans.map(conventional), ...orphans.map(spanOf)]);
  const inTree = treeOf(whole);
  const { records, alone, unplaced } = placed(inTree, logs);
  const nodes = alone.length === 0 ? inTree : treeOf(scoped([...whole, ...alone.map(spanOf)]));
  const moments = new Map<string, Moment[]>();
  for (const log of records) group(moments, keyOf(log), log);
  adopt(nodes, moments);
  const conversations = new Map<string, TraceTurn[]>();
  const ends = new Map<string, string>();
  const capture: Capture = { isOn: false, unplaced };
  for (const turn of turnsOf(nodes, moments, capture)) {
    capture.isOn ||= turn.calls.some(({ input, output }) => input.length > 0 || output !== undefined);
    const firstInput = turn.calls.find(({ input }) => input.length > 0)?.input ?? [];
    const id = attributeOf(turn.nodes, CONVERSATION_KEYS) ?? ends.get(beginningOf(firstInput)) ?? turn.traceId;
    const answer = turn.calls.at(-1)?.output;
    ends.set(endOf(answer === undefined ? firstInput : [...firstInput, answer]), id);
    group(conversations, id, turn);
  }
  return { conversations, moments, capture };
}

/** What was said before a turn, which is how the turn before it ended; traces without ids of conversations go together by it. */
function beginningOf(input: readonly Content[]): string {
  return endOf(input.slice(0, Math.max(0, input.findLastIndex(isOfUser))));
}

/** What the user said so far, and the last answer. */
function endOf(contents: readonly Content[]): string {
  const userTexts = contents.filter(isOfUser).map(wordsIn);
  return JSON.stringify([userTexts, wordsIn(contents.findLast(({ role }) => role === "model")).trim()]);
}

const SCOPES = { "gcp.vertex.agent": "gcp.vertex.agent.", "iqai-adk": "adk." };

/** Where an export leaves out scopes, ADK's spans are known by their attributes, which some of each trace have. */
function scoped(spans: Span[]): Span[] {
  if (spans.every(({ scope }) => scope !== "")) return spans;
  const scopes = new Map<string, string>();
  for (const { traceId, attributes } of spans) {
    if (scopes.has(traceId)) continue;
    for (const [scope, prefix] of Object.entries(SCOPES)) {
      if ([...attributes.keys()].some((key) => key.startsWith(prefix))) scopes.set(traceId, scope);
    }
  }
  return spans.map((span) => (span.scope === "" ? { ...span, scope: scopes.get(span.traceId) ?? "" } : span));
}

/**
 * Gives messages that were logged about a span around a model's call, as OpenLLMetry does, to that call, if there is one;
 * those that name a trace but no span to the call in progress.
 */
function adopt(nodes: readonly Node[], moments: Map<string, Moment[]>): void {
  const isOpen = (node: Node | undefined) => node?.kind === undefined && node !== undefined;
  const byKey = new Map(nodes.map((node) => [keyOf(node.span), node]));
  const inside = new Map<Node, Node[]>();
  const ofTrace = new Map<string, Node[]>();
  for (const node of nodes) {
    if (node.kind !== "model" || node.model !== undefined) continue;
    group(ofTrace, node.span.traceId, node);
    const { traceId, parentId } = node.span;
    const parent = byKey.get(keyOf({ traceId, spanId: parentId }));
    if (parent !== undefined && isOpen(parent)) group(inside, parent, node);
  }
  for (const [parent, [model, ...others]] of inside) {
    const own = moments.get(keyOf(parent.span));
    if (own === undefined || model === undefined || others.length > 0 || moments.has(keyOf(model.span))) continue;
    moments.set(keyOf(model.span), own.filter(isMessage));
  }
  for (const [traceId, models] of ofTrace) {
    models.sort((a, b) => a.span.time - b.span.time);
    for (const moment of moments.get(keyOf({ traceId, spanId: "" })) ?? []) {
      if (!isMessage(moment)) continue;
      const model = models[Math.max(0, countUntil(models, moment.time) - 1)];
      if (model !== undefined) group(moments, keyOf(model.span), moment);
    }
  }
}

/** How many of some nodes, which are in order of time, begin at a time or before. */
function countUntil(nodes: readonly Node[], time: number): number {
  let [low, high] = [0, nodes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((nodes[middle] as Node).span.time <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A model's call whose log record alone arrived. */
function spanOf(log: Moment): Span {
  const attributes = new Map([...log.attributes, ["gen_ai.operation.name", "chat"]]);
  return { ...log, attributes, end: log.time, parentId: "", name: "", scope: "", error: undefined, events: [] };
}

/** What the first of some spans that has it says. What happens inside of a tool is about another conversation. */
export function attributeOf(nodes: readonly Node[], keys: readonly string[]): string | undefined {
  for (const key of keys) {
    for (const { span, tool, kind } of nodes) {
      const value = kind === undefined || tool !== undefined ? undefined : wordsOf(span.attributes.get(key));
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

function turnsOf(
  nodes: readonly Node[],
  moments: ReadonlyMap<string, Moment[]>,
  capture: Readonly<Capture>,
): TraceTurn[] {
  const groups = new Map<Node | string, Node[]>();
  for (const node of nodes) if (node.kind !== undefined) group(groups, node.outer ?? node.span.traceId, node);
  // Tools by themselves, such as those of a server that has traces of its own, are not a turn.
  const whole = [...groups].filter(([key, own]) => typeof key !== "string" || own.some(({ kind }) => kind === "model"));
  const turns = whole.map(([key, own]): TraceTurn => {
    own.sort((a, b) => a.span.time - b.span.time);
    const first = own[0] as Node;
    return {
      outer: typeof key === "string" ? undefined : key,
      nodes: own,
      calls: callsOf(own, moments),
      time: first.span.time,
      end: own.reduce((end, { span }) => Math.max(end, span.end), 0),
      traceId: first.span.traceId,
      capture,
    };
  });
  turns.sort((a, b) => a.time - b.time);
  return joined(turns);
}

/** A call outside of any agent that is given the response of a tool goes on with the turn before it. */
function joined(turns: readonly TraceTurn[]): TraceTurn[] {
  const whole: TraceTurn[] = [];
  const last = new Map<string, TraceTurn>();
  const longer = new Set<TraceTurn>();
  for (const turn of turns) {
    const conversation = attributeOf(turn.nodes, CONVERSATION_KEYS);
    const before = conversation === undefined ? undefined : last.get(conversation);
    const goesOn = responsesAtEnd(turn.calls[0]?.input ?? []).length > 0;
    if (before !== undefined && before.outer === undefined && turn.outer === undefined && goesOn) {
      append(before.nodes, turn.nodes);
      append(before.calls, turn.calls);
      longer.add(before);
      before.end = Math.max(before.end, turn.end);
      continue;
    }
    whole.push(turn);
    if (conversation !== undefined) last.set(conversation, turn);
  }
  for (const { calls } of longer) calls.sort((a, b) => a.time - b.time);
  return whole;
}
