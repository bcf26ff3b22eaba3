/**
 * The spans of agents, models and tools among all spans, and what each of them is inside of. A parent that is missing,
 * or that would close a circle, is none. O(spans).
 */

import type { Span, Telemetry } from "./otlp.js";

/** What a span is about: a whole turn, an agent's part in it, a model's call, or a tool's. */
export type NodeKind = "turn" | "agent" | "model" | "tool";

/** A span and what it is inside of; the nearest of its kind unless said otherwise. */
export interface Node {
  readonly span: Span;
  readonly kind: NodeKind | undefined;
  /** The outermost span of a turn or an agent; may be the node itself. */
  outer?: Node;
  /** The agent at work; may be the node itself. */
  agent?: Node;
  /** The agent that it works for. */
  parentAgent?: Node;
  /** OpenInference's outermost span of a run of google-adk, which has the last event; may be the node itself. */
  run?: Node;
  /** The tool at work; not the node itself. */
  tool?: Node;
  /** The outermost call of the same agent's model; not the node itself. */
  model?: Node;
}

const OPERATIONS: Readonly<Record<string, NodeKind>> = {
  invoke_workflow: "turn",
  invoke_agent: "agent",
  chat: "model",
  generate_content: "model",
  text_completion: "model",
  generate: "model",
  execute_tool: "tool",
};

/** Spans that say what they are by their names alone. */
const NAMES: readonly (readonly [RegExp, NodeKind])[] = [
  [/^invocation$/, "turn"],
  [/^(?:invoke_agent|agent_run)\b/, "agent"],
  [/^(?:call_llm$|llm_generate\b)/, "model"],
  [/^execute_tool\b/, "tool"],
];

/** ADK's span of the responses of several tools, which have their own spans as well. */
const MERGED = "(merged tools)";

function kindOf({ name, attributes, scope }: Span): NodeKind | undefined {
  if (attributes.get("gen_ai.tool.name") === MERGED) return undefined;
  const operation = attributes.get("gen_ai.operation.name");
  if (isLoop({ name, attributes })) return "agent";
  if (typeof operation === "string") return Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
  const isAdk = scope === "gcp.vertex.agent" || scope === "iqai-adk";
  return isAdk ? NAMES.find(([pattern]) => pattern.test(name))?.[1] : undefined;
}

/**
 * Whether a span holds all calls of google-adk's agent: OpenInference keeps google-adk from making a span of each, so that
 * they all write their attributes into that of the agent.
 */
export function isLoop({ name, attributes }: Pick<Span, "name" | "attributes">): boolean {
  return attributes.get("openinference.span.kind") === "LLM" && name.startsWith("invoke_agent");
}

/** What identifies a span. */
export function keyOf({ traceId, spanId }: { traceId: string; spanId: string }): string {
  return `${traceId} ${spanId}`;
}

/** The spans with what they are and what they are inside of, in the order given. */
export function treeOf(spans: Telemetry["spans"]): Node[] {
  const nodes = spans.map((span): Node => ({ span, kind: kindOf(span) }));
  const byKey = new Map(nodes.map((node) => [keyOf(node.span), node]));
  const states = new Map<Node, "open" | "done">();
  for (const node of nodes) {
    const path: Node[] = [];
    let parent: Node | undefined = node;
    while (parent !== undefined && !states.has(parent)) {
      states.set(parent, "open");
      path.push(parent);
      const { traceId, parentId } = parent.span;
      parent = byKey.get(keyOf({ traceId, spanId: parentId }));
    }
    if (parent !== undefined && states.get(parent) === "open") parent = undefined;
    for (const child of path.reverse()) {
      setParent(child, parent);
      states.set(child, "done");
      parent = child;
    }
  }
  return nodes;
}

function setParent(node: Node, parent: Node | undefined): void {
  const opens = node.kind === "turn" || node.kind === "agent";
  assign(node, "outer", parent?.outer ?? (opens ? node : undefined));
  assign(node, "run", parent?.run ?? (isRun(node.span) ? node : undefined));
  assign(node, "agent", node.kind === "agent" ? node : parent?.agent);
  assign(node, "parentAgent", node.kind === "agent" ? parent?.agent : parent?.parentAgent);
  assign(node, "tool", parent?.kind === "tool" ? parent : parent?.tool);
  assign(node, "model", opens ? undefined : (parent?.model ?? (parent?.kind === "model" ? parent : undefined)));
}

function isRun({ scope, name }: Span): boolean {
  return scope.startsWith("openinference.") && /^(?:invocation|agent_run) \[/.test(name);
}

function assign<Key extends "outer" | "run" | "agent" | "parentAgent" | "tool" | "model">(
  node: Node,
  key: Key,
  value: Node | undefined,
): void {
  if (value !== undefined) node[key] = value;
}
