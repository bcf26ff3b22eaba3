/**
 * Finds out what a file contains and whether it is valid. Its keys decide which of the engine's readers it is for; that
 * reader validates it.
 */

import { checkInputs, readEvalSet, replayJudge } from "adk-metrics/web";
import { hasRepeatedRuns } from "../state/matching.js";
import { outcomeOf } from "./problems.js";
import type { FileInfo, FileKind, NamedFile, Problem } from "./protocol.js";
import { definedProperties } from "./runs.js";
import { factsOfLines, isResultLines } from "./result-lines.js";
import { tracesInfo, isTraces } from "./traces.js";

type JsonObject = Readonly<Record<string, unknown>>;

/** How many characters are searched for the header of a recording. */
const HEADER_LENGTH = 1000;

const NO_FACTS = { evalIds: [], turns: 0 };

/** Inspects a file. */
export async function inspect({ name, bytes }: NamedFile): Promise<FileInfo> {
  const text = new TextDecoder().decode(bytes);
  if (/^[^\n]*"adk-metrics recording"/.test(text.slice(0, HEADER_LENGTH))) return recordingInfo(text);
  if (isResultLines(bytes)) {
    const facts = await outcomeOf(() => factsOfLines(bytes));
    return facts.ok ? { kind: "results", ...facts.value } : { ...NO_FACTS, kind: "results", problem: facts.problem };
  }
  if (isTraces(bytes)) {
    const facts = await outcomeOf(() => tracesInfo(bytes));
    return facts.ok ? { kind: "traces", ...facts.value } : { ...NO_FACTS, kind: "traces", problem: facts.problem };
  }
  let json: unknown;
  try {
    json = unwrap(JSON.parse(text));
  } catch {
    return {
      ...NO_FACTS,
      kind: kindByName(name),
      ...definedProperties({ problem: await problemOf(() => readEvalSet(bytes)) }),
    };
  }
  const kind = kindOf(json, name);
  const counts = countsOf(json, kind);
  const read = kind === "evalset" && hasRepeatedRuns(counts, name) ? readActual : READERS[kind];
  const problem = await problemOf(() => read(bytes, name));
  return { kind, ...counts, ...definedProperties({ problem }) };
}

/** The name of an evalset in an old format, which is derived from its file's name. */
export function baseName(name: string): string {
  return (name.split("/").at(-1) ?? name).replace(/(\.evalset|\.test)?\.json$/i, "");
}

/** Validates a file of each kind with the engine. */
const READERS: Readonly<Record<FileKind, (bytes: Uint8Array, name: string) => unknown>> = {
  evalset: (bytes, name) => readEvalSet(bytes, baseName(name)),
  results: readActual,
  inferences: readActual,
  session: readActual,
  config: (bytes) => checkInputs({ config: bytes }),
  recording: (bytes) => replayJudge(bytes),
  traces: readActual,
  unknown: readActual,
};

function readActual(bytes: Uint8Array): unknown {
  return checkInputs({ actual: bytes });
}

async function problemOf(read: () => unknown): Promise<Problem | undefined> {
  const outcome = await outcomeOf(read);
  return outcome.ok ? undefined : outcome.problem;
}

async function recordingInfo(text: string): Promise<FileInfo> {
  const problem = await problemOf(() => replayJudge(text));
  const turns = text.split("\n").filter((line) => line.includes('"request"')).length;
  return { kind: "recording", evalIds: [], turns, ...definedProperties({ problem }) };
}

/** Old files contain JSON inside a JSON string. */
function unwrap(json: unknown): unknown {
  return typeof json === "string" ? (JSON.parse(json) as unknown) : json;
}

const KEYS_BY_KIND: readonly (readonly [FileKind, readonly string[]])[] = [
  ["results", ["eval_case_results", "evalCaseResults"]],
  ["inferences", ["inference_results", "inferenceResults", "inferences", "eval_case_id", "evalCaseId"]],
  ["session", ["events"]],
  ["evalset", ["eval_cases", "evalCases", "query", "data"]],
  ["config", ["criteria", "custom_metrics", "customMetrics", "user_simulator_config", "userSimulatorConfig"]],
];

function kindOf(json: unknown, name: string): FileKind {
  const sample = Array.isArray(json) ? (json[0] as unknown) : json;
  if (!isObject(sample)) return kindByName(name);
  return KEYS_BY_KIND.find(([, keys]) => keys.some((key) => key in sample))?.[0] ?? kindByName(name);
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
      // But not tsconfig.json and the like.
      if (/(?:^|[._-])config\.json$/i.test(name)) return "config";
      return /\.jsonl$/i.test(name) ? "recording" : "unknown";
  }
}

/** The ids of the evalset and the cases in a file, and the number of its turns. */
function countsOf(json: unknown, kind: FileKind): Omit<FileInfo, "kind" | "problem"> {
  const root = isObject(json) ? json : {};
  const list = Array.isArray(json) ? (json as unknown[]) : undefined;
  const evalSetId = textOf(root, "eval_set_id", "evalSetId");
  const countItems = (items: readonly unknown[], id: readonly string[], turns: readonly string[]) => {
    const objects = items.filter(isObject);
    return {
      evalIds: objects.flatMap((item) => textOf(item, ...id) ?? []),
      turns: objects.reduce((sum, item) => sum + (listOf(item, ...turns)?.length ?? 0), 0),
      ...definedProperties({
        evalSetId: evalSetId ?? objects.flatMap((item) => textOf(item, "eval_set_id", "evalSetId") ?? [])[0],
      }),
    };
  };
  switch (kind) {
    case "evalset": {
      if (list?.some((row) => isObject(row) && "query" in row)) return { evalIds: [], turns: list.length, isOld: true };
      const cases = list ?? listOf(root, "eval_cases", "evalCases") ?? [];
      const counts = countItems(cases, ["eval_id", "evalId", "name"], ["conversation", "data"]);
      return list?.some((one) => isObject(one) && "data" in one) ? { ...counts, isOld: true } : counts;
    }
    case "results": {
      const cases = listOf(root, "eval_case_results", "evalCaseResults") ?? [];
      const turns = ["eval_metric_result_per_invocation", "evalMetricResultPerInvocation"];
      const hasScores = cases
        .filter(isObject)
        .some((one) => (listOf(one, "overall_eval_metric_results", "overallEvalMetricResults")?.length ?? 0) > 0);
      const madeAt = root["creation_timestamp"] ?? root["creationTimestamp"];
      return {
        ...countItems(cases, ["eval_id", "evalId"], turns),
        hasScores,
        ...(typeof madeAt === "number" ? { madeAt } : {}),
      };
    }
    case "inferences": {
      const results = list ?? listOf(root, "inference_results", "inferenceResults") ?? [root];
      return countItems(results, ["eval_case_id", "evalCaseId", "eval_id", "evalId"], ["inferences"]);
    }
    case "session":
      return { ...countItems(list ?? [root], ["eval_id", "evalId"], []), turns: 0 };
    default:
      return { evalIds: [], turns: 0 };
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(object: JsonObject, ...keys: string[]): string | undefined {
  const value = keys.map((key) => object[key]).find((found) => found !== undefined);
  return typeof value === "string" ? value : undefined;
}

function listOf(object: JsonObject, ...keys: string[]): readonly unknown[] | undefined {
  return keys.map((key) => object[key]).find((found) => Array.isArray(found)) as readonly unknown[] | undefined;
}
