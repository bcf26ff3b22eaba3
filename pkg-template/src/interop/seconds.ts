/**
 * Where the time of a turn went, by its spans, as google-adk counts it: a model's time is that with a call in flight, a
 * tool's that inside a tool and not awaiting a model. Intervals overlap, so their unions are taken. O(n log n).
 *
 * ADK-TS and `@google/adk` leave the span of a model's call open while they run the tools that it asked for; what an
 * agent's tools take is therefore no time of its model.
 */

import type { Node } from "./tree.js";

type Interval = readonly [from: number, to: number];

/** Further up, agents are not looked for. */
const MAX_LEVELS = 64;

/** The milliseconds with a model's call in flight, and of the rest those inside a tool. */
export function timesOf(nodes: readonly Node[]): { modelMs: number; toolMs: number } {
  const models = new Map<Node | undefined, Interval[]>();
  const tools = new Map<Node | undefined, Interval[]>();
  const outerCalls = new Set(nodes.flatMap(({ kind, model }) => (kind === "model" ? (model ?? []) : [])));
  const inTools: Interval[] = [];
  const add = (to: Map<Node | undefined, Interval[]>, agent: Node | undefined, interval: Interval) => {
    const known = to.get(agent);
    if (known === undefined) to.set(agent, [interval]);
    else known.push(interval);
  };
  for (const node of nodes) {
    const { kind, span, tool } = node;
    const interval: Interval = [span.time, span.end];
    if (kind === "model" && !outerCalls.has(node)) add(models, node.agent, interval);
    if (kind !== "tool" || tool !== undefined) continue;
    inTools.push(interval);
    let { agent } = node;
    add(tools, agent, interval);
    for (let level = 0; level < MAX_LEVELS && agent?.parentAgent !== undefined; level += 1) {
      agent = agent.parentAgent;
      add(tools, agent, interval);
    }
  }
  const asking = [...models].flatMap(([agent, intervals]) => without(union(intervals), union(tools.get(agent) ?? [])));
  const modelMs = lengthOf(union(asking));
  return { modelMs, toolMs: lengthOf(union([...asking, ...inTools])) - modelMs };
}

/** Intervals in order, without overlaps. */
function union(intervals: readonly Interval[]): Interval[] {
  const joined: [number, number][] = [];
  for (const [from, to] of intervals.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/** What of some intervals is in none of others; both are unions. */
function without(intervals: readonly Interval[], others: readonly Interval[]): Interval[] {
  const rest: Interval[] = [];
  let at = 0;
  for (const [from, to] of intervals) {
    let begin = from;
    while (at < others.length && (others[at] as Interval)[1] <= begin) at += 1;
    for (let next = at; next < others.length && (others[next] as Interval)[0] < to; next += 1) {
      const [low, high] = others[next] as Interval;
      if (low > begin) rest.push([begin, low]);
      begin = Math.max(begin, high);
    }
    if (begin < to) rest.push([begin, to]);
  }
  return rest;
}

function lengthOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, [from, to]) => sum + to - from, 0);
}
