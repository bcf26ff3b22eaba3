/**
 * What a file is, and what is wrong with it. The shape says which of the engine's readers it is for; whether it can be
 * read, that reader says.
 */

import { evaluate, readEvalSet, replayJudge } from "adk-metrics/web";
import { outcomeOf } from "./problems.js";
import type { FileFacts, FileKind, NamedFile, Problem } from "./protocol.js";
import { present } from "./runs.js";
import { factsOfTraces, isTraces } from "./traces.js";

type Bag = Readonly<Record<string, unknown>>;

/** An evalset without cases, where only the other inputs are looked at. */
export const NOTHING = { eval_set_id: "nothing", eval_cases: [] };

/** A judge where there is nothing to ask. */
export const notAsked = () => Promise.reject(new Error("nobody is asked"));

/** A recording says that it is one at its beginning. */
const LONGEST_MARK = 1000;

/** Looks at a file. */
export async function inspect({ name, bytes }: NamedFile): Promise<FileFacts> {
  const text = new TextDecoder().decode(bytes);
  if (/^[^\n]*"adk-metrics recording"/.test(text.slice(0, LONGEST_MARK))) return factsOfRecording(text);
  if (isTraces(bytes)) {
    const facts = await outcomeOf(() => factsOfTraces(bytes));
    return facts.ok
      ? { kind: "traces", ...facts.value }
      : { kind: "traces", evalIds: [], turns: 0, problem: facts.problem };
  }
  let json: unknown;
  try {
    json = unwrapped(JSON.parse(text));
  } catch {
    return {
      kind: kindByName(name),
      evalIds: [],
      turns: 0,
      ...present({ problem: await problemWith(() => readEvalSet(bytes)) }),
    };
  }
  const kind = kindOf(json, name);
  const counted = countsOf(json, kind);
  const problem = await problemWith(() => READERS[kind](bytes, name));
  return { kind, ...counted, ...present({ problem }) };
}

/** What an evalset in an old form is called, after its file. */
export function baseName(name: string): string {
  return (name.split("/").at(-1) ?? name).replace(/(\.evalset|\.test)?\.json$/i, "");
}

/** What the engine says of a file of each kind. */
const READERS: Readonly<Record<FileKind, (bytes: Uint8Array, name: string) => unknown>> = {
  evalset: (bytes, name) => readEvalSet(bytes, baseName(name)),
  results: readActual,
  inferences: readActual,
  session: readActual,
  config: (bytes) => evaluate({ evalSet: NOTHING, actual: NOTHING, config: bytes, judge: notAsked }),
  recording: (bytes) => replayJudge(bytes),
  traces: readActual,
  unknown: readActual,
};

function readActual(bytes: Uint8Array): unknown {
  return evaluate({ evalSet: NOTHING, actual: bytes, countOnly: true, criteria: {} });
}

async function problemWith(read: () => unknown): Promise<Problem | undefined> {
  const outcome = await outcomeOf(read);
  return outcome.ok ? undefined : outcome.problem;
}

async function factsOfRecording(text: string): Promise<FileFacts> {
  const problem = await problemWith(() => replayJudge(text));
  const turns = text.split("\n").filter((line) => line.includes('"request"')).length;
  return { kind: "recording", evalIds: [], turns, ...present({ problem }) };
}

/** Old files hold JSON inside a JSON string. */
function unwrapped(json: unknown): unknown {
  return typeof json === "string" ? (JSON.parse(json) as unknown) : json;
}

const KEYS: readonly (readonly [FileKind, readonly string[]])[] = [
  ["results", ["eval_case_results", "evalCaseResults"]],
  ["inferences", ["inference_results", "inferenceResults", "inferences", "eval_case_id", "evalCaseId"]],
  ["session", ["events"]],
  ["evalset", ["eval_cases", "evalCases", "query", "data"]],
  ["config", ["criteria", "custom_metrics", "customMetrics", "user_simulator_config", "userSimulatorConfig"]],
];

function kindOf(json: unknown, name: string): FileKind {
  const looked = Array.isArray(json) ? (json[0] as unknown) : json;
  if (!isBag(looked)) return kindByName(name);
  return KEYS.find(([, keys]) => keys.some((key) => key in looked))?.[0] ?? kindByName(name);
}

function kindByName(name: string): FileKind {
  const ending = /\.(evalset|test|evalset_result|inferences|session|actual)\.json$/i.exec(name)?.[1]?.toLowerCase();
  switch (ending) {
    case "evalset":
    case "test":
    case "actual":
      return "evalset";
    case "evalset_result":
      return "results";
    case "inferences":
      return "inferences";
    case "session":
      return "session";
    default:
      if (/config\.json$/i.test(name)) return "config";
      return /\.jsonl$/i.test(name) ? "recording" : "unknown";
  }
}

/** Which evalset and cases a file names, and how many turns it has. */
function countsOf(json: unknown, kind: FileKind): Pick<FileFacts, "evalSetId" | "evalIds" | "turns"> {
  const root = isBag(json) ? json : {};
  const list = Array.isArray(json) ? (json as unknown[]) : undefined;
  const evalSetId = textOf(root, "eval_set_id", "evalSetId");
  const found = (items: readonly unknown[], id: readonly string[], turns: readonly string[]) => {
    const bags = items.filter(isBag);
    return {
      evalIds: bags.flatMap((item) => textOf(item, ...id) ?? []),
      turns: bags.reduce((sum, item) => sum + (listOf(item, ...turns)?.length ?? 0), 0),
      ...present({ evalSetId: evalSetId ?? bags.flatMap((item) => textOf(item, "eval_set_id", "evalSetId") ?? [])[0] }),
    };
  };
  switch (kind) {
    case "evalset": {
      if (list?.some((row) => isBag(row) && "query" in row)) return { evalIds: [], turns: list.length };
      const cases = list ?? listOf(root, "eval_cases", "evalCases") ?? [];
      return found(cases, ["eval_id", "evalId", "name"], ["conversation", "data"]);
    }
    case "results":
      return found(
        listOf(root, "eval_case_results", "evalCaseResults") ?? [],
        ["eval_id", "evalId"],
        ["eval_metric_result_per_invocation", "evalMetricResultPerInvocation"],
      );
    case "inferences": {
      const results = list ?? listOf(root, "inference_results", "inferenceResults") ?? [root];
      return found(results, ["eval_case_id", "evalCaseId", "eval_id", "evalId"], ["inferences"]);
    }
    case "session":
      return { ...found(list ?? [root], ["eval_id", "evalId"], []), turns: 0 };
    default:
      return { evalIds: [], turns: 0 };
  }
}

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(bag: Bag, ...keys: string[]): string | undefined {
  const value = keys.map((key) => bag[key]).find((found) => found !== undefined);
  return typeof value === "string" ? value : undefined;
}

function listOf(bag: Bag, ...keys: string[]): readonly unknown[] | undefined {
  return keys.map((key) => bag[key]).find((found) => Array.isArray(found)) as readonly unknown[] | undefined;
}
