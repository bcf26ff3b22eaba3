/** Turns: what happens inside of an outermost span of an agent; without one, inside of a trace. */

import { type Call, callsOf, DETAILS } from "./calls.js";
import { responsesAtEnd, wordsOf } from "./messages.js";
import type { Moment, Span, Telemetry } from "./otlp.js";
import { group, keyOf, type Node, treeOf } from "./tree.js";

/** What was done about one message of the user. */
export interface Turn {
  outer: Node | undefined;
  nodes: Node[];
  calls: Call[];
  time: number;
  end: number;
  traceId: string;
}

const CONVERSATION_KEYS = ["gen_ai.conversation.id", "gcp.vertex.agent.session_id", "adk.session_id", "session.id"];

/** The turns of each conversation, by its id, and the log records by the keys of their spans. */
export function conversationsOf({ spans, logs }: Telemetry): {
  conversations: Map<string, Turn[]>;
  moments: Map<string, Moment[]>;
} {
  const known = new Set(spans.map(keyOf));
  const orphans = logs.filter((log) => log.name === DETAILS && !known.has(keyOf(log)));
  const nodes = treeOf([...spans, ...orphans.map(spanOf)]);
  const moments = new Map<string, Moment[]>();
  for (const log of logs) group(moments, keyOf(log), log);
  const conversations = new Map<string, Turn[]>();
  for (const turn of turnsOf(nodes, moments)) {
    group(conversations, attributeOf(turn.nodes, CONVERSATION_KEYS) ?? turn.traceId, turn);
  }
  return { conversations, moments };
}

/** A model's call of which only the log record arrived. */
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
      before.calls.sort((a, b) => a.time - b.time);
      before.end = Math.max(before.end, turn.end);
      continue;
    }
    whole.push(turn);
    if (conversation !== undefined) last.set(conversation, turn);
  }
  return whole;
}
