/**
 * Log records that name no span, as pipelines leave them that drop the context of records: which call of a model each is
 * about. That is the call with the same event of google-adk, else the only one in progress at that time. O(n log n).
 */

import { DETAILS } from "./calls.js";
import { isMessage } from "./events.js";
import type { Moment } from "./otlp.js";
import { wordsOf } from "./parts.js";
import { isLoop, type Node } from "./tree.js";

/** What is known of the messages of all traces. */
export interface Capture {
  /** Whether any call has messages. */
  isOn: boolean;
  /** For each trace, a record with messages of an unknown call; those of no known trace are under the empty name. */
  unplaced: ReadonlyMap<string, Moment>;
}

const EVENT_ID = "gcp.vertex.agent.event_id";
const AGENT_NAME = "gen_ai.agent.name";
const CONTENTS = ["gen_ai.input.messages", "gen_ai.output.messages"];
/** How many calls at a time are searched for that of the agent which the record names. */
const MOST_AT_ONCE = 32;

/** Records with the spans that they are about, and those that may be calls of their own. */
export function placed(
  nodes: readonly Node[],
  logs: readonly Moment[],
): { records: Moment[]; alone: Moment[]; unplaced: Map<string, Moment> } {
  const candidates = nodes.filter(({ kind, model, span }) => (kind === "model" && model === undefined) || isLoop(span));
  const traces = new Set(candidates.map(({ span }) => span.traceId));
  const openAt = underWay(candidates, logs.filter(isNameless));
  const byEvent = uniqueByEvent(candidates);
  const unplaced = new Map<string, Moment>();
  const alone: Moment[] = [];
  const records = logs.flatMap((log, at): Moment[] => {
    if (!isNameless(log)) return [log];
    if (log.traceId !== "" && !traces.has(log.traceId)) {
      if (log.name !== DETAILS) return [log];
      const own = { ...log, spanId: `#${at}` };
      alone.push(own);
      return [own];
    }
    const { isOpen, only } = openAt.get(log) ?? { isOpen: false };
    const found = byEvent.get(wordsOf(log.attributes.get(EVENT_ID)) ?? "") ?? only;
    const isOfTrace = found !== undefined && (log.traceId === "" || log.traceId === found.span.traceId);
    if (isOfTrace) return [{ ...log, traceId: found.span.traceId, spanId: found.span.spanId }];
    // A message between two calls goes to the one before.
    if (log.name !== DETAILS && log.traceId !== "" && !isOpen) return [log];
    const hasMessages = isMessage(log) || CONTENTS.some((key) => log.attributes.has(key));
    if (hasMessages && !unplaced.has(log.traceId)) unplaced.set(log.traceId, log);
    return [];
  });
  return { records, alone, unplaced };
}

function isNameless(log: Moment): boolean {
  return log.spanId === "" && (log.name === DETAILS || isMessage(log));
}

function uniqueByEvent(candidates: readonly Node[]): Map<string, Node | undefined> {
  const found = new Map<string, Node | undefined>();
  for (const node of candidates) {
    const id = wordsOf(node.span.attributes.get(EVENT_ID));
    if (id !== undefined) found.set(id, found.has(id) ? undefined : node);
  }
  return found;
}

/** Whether exactly one call was in progress at the time of each record, in its trace if it names one. */
function underWay(
  candidates: readonly Node[],
  records: readonly Moment[],
): Map<Moment, { isOpen: boolean; only?: Node | undefined }> {
  const starts = candidates.toSorted((a, b) => a.span.time - b.span.time);
  const ends = candidates.toSorted((a, b) => a.span.end - b.span.end);
  const open = new Map<string, Set<Node>>([["", new Set()]]);
  for (const { span } of candidates) open.set(span.traceId, new Set());
  const setsOf = ({ span }: Node) => [open.get(""), open.get(span.traceId)];
  const found = new Map<Moment, { isOpen: boolean; only?: Node | undefined }>();
  let [begun, ended] = [0, 0];
  for (const record of records.toSorted((a, b) => a.time - b.time)) {
    for (let node = starts[begun]; node !== undefined && node.span.time <= record.time; node = starts[++begun]) {
      for (const set of setsOf(node)) set?.add(node);
    }
    for (let node = ends[ended]; node !== undefined && node.span.end < record.time; node = ends[++ended]) {
      for (const set of setsOf(node)) set?.delete(node);
    }
    const all = open.get(record.traceId) ?? new Set();
    found.set(record, { isOpen: all.size > 0, only: onlyOf(all, record) });
  }
  return found;
}

function onlyOf(open: ReadonlySet<Node>, { attributes }: Moment): Node | undefined {
  if (open.size > MOST_AT_ONCE) return undefined;
  const name = wordsOf(attributes.get(AGENT_NAME));
  const agentOf = ({ span, agent }: Node) =>
    wordsOf(span.attributes.get(AGENT_NAME)) ?? wordsOf(agent?.span.attributes.get(AGENT_NAME));
  const all = [...open];
  const calls = all.length > 1 && name !== undefined ? all.filter((node) => agentOf(node) === name) : all;
  return calls.length === 1 ? calls[0] : undefined;
}
