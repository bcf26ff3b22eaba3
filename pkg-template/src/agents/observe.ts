/**
 * What models and tools do while an agent runs: when, the requests of the models, and what they report. Both libraries show
 * it to callbacks of their agents; ours are called first, see, and change nothing.
 *
 * The times are google-adk's: a model's are those with at least one call in flight, a tool's are those inside a tool and
 * not awaiting a model. Intervals overlap, since sub-agents may run at once, so their unions are taken. O(n log n). An
 * agent that is a tool runs in an invocation of its own, so its model's time is the tool's.
 */

import { isObject } from "../engine/values.js";

/** What an event of ADK-TS lacks; its constructor drops all but the content. */
export interface ModelReport {
  usageMetadata?: unknown;
  modelVersion?: unknown;
  groundingMetadata?: unknown;
  errorCode?: unknown;
  errorMessage?: unknown;
}

type Interval = readonly [from: number, to: number];

/** What was seen of one invocation. */
export class Observation {
  /** By agent: since when its model is awaited. */
  readonly #awaited = new Map<string, number>();
  /** By the id of a call: since when the tool runs. */
  readonly #running = new Map<string, number>();
  readonly #model: Interval[] = [];
  readonly #tool: Interval[] = [];
  /** What the agents' models were told first, as `appDetails` keeps it. */
  readonly agentDetails: Record<string, unknown> = {};
  /** What judges are not shown of it. */
  readonly warnings: string[] = [];

  onModelRequest(agent: string, request: unknown, now: number): void {
    this.#awaited.set(agent, now);
    if (Object.hasOwn(this.agentDetails, agent)) return;
    this.agentDetails[agent] = detailsOf(agent, request);
    if (isTextless(request)) this.warnings.push(textlessWarning(agent));
  }

  /** A model answers, or a piece of its answer arrives. */
  onModelResponse(agent: string, now: number): void {
    const since = this.#awaited.get(agent);
    if (since !== undefined) this.#model.push([since, now]);
    this.#awaited.set(agent, now);
  }

  beginTool(call: string, now: number): void {
    this.#running.set(call, now);
  }

  /** A tool is done. That it failed is only seen by the event with its response. */
  endTool(call: string, now: number): void {
    const since = this.#running.get(call);
    if (since === undefined) return;
    this.#tool.push([since, now]);
    this.#running.delete(call);
  }

  /** Milliseconds with a model call in flight. */
  get modelMs(): number {
    return lengthOf(this.#model);
  }

  /** Milliseconds inside a tool that are not a model's. */
  get toolMs(): number {
    return lengthOf([...this.#model, ...this.#tool]) - lengthOf(this.#model);
  }
}

function lengthOf(intervals: readonly Interval[]): number {
  let total = 0;
  let end = -Infinity;
  for (const [from, to] of intervals.toSorted(([a], [b]) => a - b)) {
    if (to <= end) continue;
    total += to - Math.max(from, end);
    end = to;
  }
  return total;
}

/** What is going on, by the id of the invocation. */
const observations = new Map<string, Observation>();
const reports = new WeakMap<object, ModelReport>();

/** What was seen of an invocation, which is over then. */
export function takeObservation(invocationId: string): Observation | undefined {
  const found = observations.get(invocationId);
  observations.delete(invocationId);
  return found;
}

/** Notes that the event with a tool's response arrived. */
export function noteToolResponse(invocationId: string, call: string, now: number): void {
  observations.get(invocationId)?.endTool(call, now);
}

/** What a model reported with a content; nothing if it was not observed. */
export function modelReport(content: unknown): ModelReport | undefined {
  return typeof content === "object" && content !== null ? reports.get(content) : undefined;
}

/** What both libraries tell callbacks, ADK-TS by the first name and `@google/adk` by the second. */
interface CallbackArguments {
  callbackContext?: Context;
  context?: Context;
  llmRequest?: unknown;
  request?: unknown;
  llmResponse?: Response;
  response?: Response;
}

interface Context {
  invocationId?: unknown;
  agentName?: unknown;
  functionCallId?: unknown;
}

type Response = ModelReport & { content?: unknown };

function observationOf(context: Context | undefined): Observation | undefined {
  const id = context?.invocationId;
  if (typeof id !== "string") return undefined;
  const known = observations.get(id) ?? new Observation();
  observations.set(id, known);
  return known;
}

function beforeModel({
  callbackContext,
  context = callbackContext,
  llmRequest,
  request = llmRequest,
}: CallbackArguments): undefined {
  observationOf(context)?.onModelRequest(String(context?.agentName), request, performance.now());
}

function afterModel({
  callbackContext,
  context = callbackContext,
  llmResponse,
  response = llmResponse,
}: CallbackArguments): undefined {
  observationOf(context)?.onModelResponse(String(context?.agentName), performance.now());
  const { content, usageMetadata, modelVersion, groundingMetadata, errorCode, errorMessage } = response ?? {};
  if (typeof content !== "object" || content === null) return;
  reports.set(content, { usageMetadata, modelVersion, groundingMetadata, errorCode, errorMessage });
}

/** ADK-TS passes the tool, its arguments and the context one by one, `@google/adk` together. */
function toolContext(given: readonly unknown[]): Context | undefined {
  return (given.length === 1 ? (given[0] as CallbackArguments).context : given[2]) as Context | undefined;
}

function beforeTool(...given: unknown[]): undefined {
  const context = toolContext(given);
  observationOf(context)?.beginTool(String(context?.functionCallId), performance.now());
}

function afterTool(...given: unknown[]): undefined {
  const context = toolContext(given);
  observationOf(context)?.endTool(String(context?.functionCallId), performance.now());
}

const OURS = {
  beforeModelCallback: beforeModel,
  afterModelCallback: afterModel,
  beforeToolCallback: beforeTool,
  afterToolCallback: afterTool,
};

type CallbackName = keyof typeof OURS;

const NAMES = /* @__PURE__ */ Object.keys(OURS) as CallbackName[];

/** An agent of either library that asks a model. */
type LlmAgent = { [name in CallbackName]?: unknown };

/** The agents under observation: by how many evaluations, and which callbacks they had before. */
const observed = new Map<LlmAgent, { count: number; before: LlmAgent }>();

/** Observes an agent and its sub-agents until the function that it gives is called. */
export function observe(root: unknown): () => void {
  const agents = typeof root === "object" && root !== null ? llmAgents(root) : [];
  for (const agent of agents) {
    const state = observed.get(agent) ?? { count: 0, before: pick(agent) };
    state.count += 1;
    observed.set(agent, state);
    if (state.count > 1) continue;
    // `Reflect.set` leaves alone what cannot be written, where an assignment would throw.
    for (const name of NAMES) Reflect.set(agent, name, [OURS[name], ...callbacks(state.before[name])]);
  }
  return () => {
    for (const agent of agents) {
      const state = observed.get(agent);
      if (state === undefined) continue;
      state.count -= 1;
      if (state.count > 0) continue;
      for (const name of NAMES) Reflect.set(agent, name, state.before[name]);
      observed.delete(agent);
    }
    if (observed.size === 0) observations.clear();
  };
}

function pick(agent: LlmAgent): LlmAgent {
  return Object.fromEntries(NAMES.map((name) => [name, agent[name]]));
}

/** Where an agent's other agents are: its sub-agents, or the nodes of a workflow. */
interface Tree {
  subAgents?: unknown;
  graph?: { nodes?: unknown };
}

/** Those agents of a tree that ask models. */
function llmAgents(root: object): LlmAgent[] {
  const found = new Set([root]);
  // A set gives what is added while it is gone through, and nothing twice.
  for (const agent of found) {
    const { subAgents, graph } = agent as Tree;
    for (const child of [subAgents, graph?.nodes].flat()) {
      if (typeof child === "object" && child !== null) found.add(child);
    }
  }
  return [...found].filter((agent): agent is LlmAgent => "canonicalBeforeModelCallbacks" in agent);
}

function callbacks(given: unknown): unknown[] {
  if (Array.isArray(given)) return given as unknown[];
  return given === undefined || given === null ? [] : [given];
}

/** The part of a model's request that describes its agent. */
interface ModelRequest {
  config?: { systemInstruction?: unknown; tools?: unknown };
}

/** The description of an agent in a model's request: instructions and tools, as far as they are JSON. */
export function detailsOf(name: string, request: unknown): unknown {
  const { config } = (request ?? {}) as ModelRequest;
  return {
    name,
    instructions: instructionText(config?.systemInstruction),
    toolDeclarations: Array.isArray(config?.tools) ? config.tools.map(asJson).filter((tool) => tool !== undefined) : [],
  };
}

/** Whether an agent has instructions that judges do not see, since they are not text. */
export function isTextless(request: unknown): boolean {
  const instruction = ((request ?? {}) as ModelRequest).config?.systemInstruction;
  return instructionText(instruction).trim() === "" && hasMore(instruction);
}

/** What to say of an agent whose instructions are something other than text. */
export function textlessWarning(name: string): string {
  return `the instructions of ${JSON.stringify(name)} are something other than text, so judges do not see them`;
}

/** Whether an instruction without a text has something other: a file, or data. */
function hasMore(instruction: unknown): boolean {
  if (Array.isArray(instruction)) return instruction.some(hasMore);
  if (!isObject(instruction)) return false;
  const { role: _, parts, text: __, ...others } = instruction as Readonly<Record<string, unknown>>;
  return Object.values(others).some((value) => value !== undefined && value !== null) || hasMore(parts);
}

/** An instruction: a text, a content, or parts. */
function instructionText(instruction: unknown): string {
  if (typeof instruction === "string") return instruction;
  if (Array.isArray(instruction)) return instruction.map(instructionText).join("\n");
  const { parts, text } = (instruction ?? {}) as { parts?: unknown; text?: unknown };
  return typeof text === "string" ? text : Array.isArray(parts) ? instructionText(parts) : "";
}

function asJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    return undefined;
  }
}
