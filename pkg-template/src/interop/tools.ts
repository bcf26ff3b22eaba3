/** The spans of tools: what each was given and gave, and which of them belongs to a call. O(n) in spans and calls. */

import type { FunctionCall } from "../types.js";
import { toolEvents } from "./events.js";
import { toolObject } from "./messages.js";
import { fieldsOf } from "./otlp.js";
import { resultOfBlocks, wordsOf } from "./parts.js";
import type { Node } from "./tree.js";

/** What a tool did, by its span. */
export interface ToolRun {
  node: Node;
  name: string;
  id: string | undefined;
  args: Record<string, unknown> | undefined;
  response: Record<string, unknown> | undefined;
}

const ARGUMENTS = ["gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "adk.tool_call_args"];
const RESULTS = ["gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "adk.tool_response"];

/** What a span of a tool tells. */
export function toolRunOf(node: Node): ToolRun {
  const { attributes, name, scope, events } = node.span;
  const first = (keys: readonly string[]) =>
    keys.map((key) => attributes.get(key)).find((value) => value !== undefined);
  const toolData = toolEvents(events);
  const gave = resultIn(first(RESULTS), scope);
  const response = toolObject(gave.response ?? toolData.response);
  return {
    node,
    name: wordsOf(attributes.get("gen_ai.tool.name")) ?? name.replace(/^execute_tool /, ""),
    id: wordsOf(attributes.get("gen_ai.tool.call.id")) ?? gave.id,
    args: argumentsIn(toolObject(first(ARGUMENTS) ?? toolData.args)),
    // A response that is `{}` may have been kept back; then the messages may still tell it.
    response: response !== undefined && Object.keys(response).length > 0 ? response : undefined,
  };
}

/** What a tool gave, out of what Strands and LangChain wrap around it. */
function resultIn(given: unknown, scope: string): { response: unknown; id?: string } {
  if (scope === "strands.telemetry.tracer") return { response: resultOfBlocks(toolObject(given)?.result) ?? given };
  const output = fieldsOf(toolObject(given)?.output);
  const kept = output?.lc === undefined ? undefined : fieldsOf(output.kwargs);
  if (kept === undefined) return { response: given };
  const id = wordsOf(kept.tool_call_id);
  return { response: kept.content, ...(id === undefined ? {} : { id }) };
}

/** What a tool was given; LangChain's callbacks write it among much else, as Python does. */
function argumentsIn(given: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  if (given === undefined || !("input_str" in given && "metadata" in given)) return given;
  return fieldsOf(given.inputs) as Record<string, unknown> | undefined;
}

/** Runs of tools in order of time, and how many of them are of no more use. */
interface Queue {
  runs: ToolRun[];
  past: number;
}

/** The runs of tools in a turn that no call of a model has taken yet. */
export class ToolRuns {
  readonly #all: readonly ToolRun[];
  readonly #taken = new Set<ToolRun>();
  readonly #queues = new Map<string, Queue>();
  readonly #agents = new Map<Node | undefined, number>();

  /** @param runs In order of time. */
  constructor(runs: readonly ToolRun[]) {
    this.#all = runs;
    for (const run of runs) {
      const args = JSON.stringify(run.args);
      if (run.id !== undefined) this.#add("id", run.name, run.id, run);
      for (const agent of [this.#numberOf(run.node.agent), undefined]) {
        this.#add("agent", run.name, agent, run);
        this.#add("args", run.name, agent, args, run);
      }
    }
  }

  /**
   * The run that a call belongs to, which no other call gets: by the id; else of those after the call and of the same agent
   * the first with the same arguments, or the first. Calls have to be asked about in order of time.
   */
  take({ name = "", id, args }: FunctionCall, time: number, by: Node | undefined): ToolRun | undefined {
    const agent = by === undefined ? undefined : this.#numberOf(by);
    const run =
      (id === undefined ? undefined : this.#next(-Infinity, "id", name, id)) ??
      this.#next(time, "args", name, agent, JSON.stringify(args)) ??
      this.#next(time, "agent", name, agent);
    if (run !== undefined) this.#taken.add(run);
    return run;
  }

  /** The runs that belong to no call yet. */
  left(): ToolRun[] {
    return this.#all.filter((run) => !this.#taken.has(run));
  }

  #numberOf(agent: Node | undefined): number {
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    this.#agents.set(agent, this.#agents.size);
    return this.#agents.size - 1;
  }

  #add(...key: [...(string | number | undefined)[], ToolRun]): void {
    const run = key.pop() as ToolRun;
    const queue = this.#queues.get(JSON.stringify(key));
    if (queue === undefined) this.#queues.set(JSON.stringify(key), { runs: [run], past: 0 });
    else queue.runs.push(run);
  }

  /** Time and what was taken only grow, so what is passed over once need not be looked at again. */
  #next(time: number, ...key: (string | number | undefined)[]): ToolRun | undefined {
    const queue = this.#queues.get(JSON.stringify(key));
    if (queue === undefined) return undefined;
    for (; queue.past < queue.runs.length; queue.past += 1) {
      const run = queue.runs[queue.past] as ToolRun;
      if (!this.#taken.has(run) && run.node.span.time >= time) return run;
    }
    return undefined;
  }
}
