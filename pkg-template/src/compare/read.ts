/**
 * What a comparison needs of a run's results. Results as `evaluate` gives them are read where they are, without a look
 * at their invocations; the engine reads all else, in any spelling, and says what is wrong with it.
 */

import { withEngine } from "../engine/instance.js";
import { isObject, reading, toBytes } from "../engine/input.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError, isEngineMistake, ofMistake } from "../errors.js";
import { currentName } from "../metric-info.js";
import type { JudgeStamp } from "../types.js";

/** What a metric found, in one run of a case or in a turn of it. */
export interface StoredScore {
  score: number | undefined;
  status: EvalStatus;
  threshold: number | undefined;
  reason: string | undefined;
}

/** Results by the key of the metric, see {@link StoredRun.metricNames}. */
export type Scores = ReadonlyMap<string, StoredScore>;

/** One run of a case. */
export interface StoredCase {
  status: EvalStatus;
  reason: string | undefined;
  scores: Scores;
  turns: Scores[];
}

/** The results of a whole run. */
export interface StoredRun {
  evalSetId: string;
  evalSetResultId: string;
  creationTimestamp: number | undefined;
  stamps: { dialect?: string; referenceVersion?: string; judges: JudgeStamp[]; cancelled: boolean };
  /** The runs of each case, by eval id. */
  cases: ReadonlyMap<string, StoredCase[]>;
  /** The metrics' names by key, in order of appearance. The key is today's name, so that old and new results meet. */
  metricNames: ReadonlyMap<string, string>;
}

/**
 * Reads a run's results: an object, JSON text or bytes; also JSON within a JSON string, as old versions of ADK stored
 * it.
 *
 * @param input What the results are called in errors.
 * @throws {AdkMetricsError} if they are none.
 */
export function readRun(results: unknown, input: string): StoredRun {
  return reading(input, () => {
    if (isOwn(results)) return runOf(results, CAMEL);
    if (isObject(results) && typeof (results as { then?: unknown }).then === "function") {
      throw new AdkMetricsError("invalid_input", "expected results, found a promise of them", {
        path: input,
        help: "Await it first",
      });
    }
    return runOf(readByEngine(results, input), SNAKE);
  });
}

function readByEngine(results: unknown, input: string): Fields {
  const bytes = toBytes(unwrapped(toBytes(results, input)), input);
  try {
    return JSON.parse(withEngine((engine) => engine.resultsToAdk(bytes))) as Fields;
  } catch (error) {
    if (!isEngineMistake(error)) throw error;
    const isNone = error.code === "invalid_input" && error.path === "$";
    const help = error.help ?? (isNone ? WHAT_IT_TAKES : undefined);
    throw ofMistake({ ...error, input, ...(help === undefined ? {} : { help }) }, () => !isObject(results));
  }
}

const WHAT_IT_TAKES = "Pass the results of an evaluation, as `evaluate`, `eval --format json` or ADK give them";

const QUOTE = 0x22;

/** The JSON within, if the bytes are those of a JSON string. What cannot be read is left to the engine. */
function unwrapped(bytes: Uint8Array): Uint8Array | string {
  const first = bytes.find((byte) => byte > 0x20);
  if (first !== QUOTE) return bytes;
  try {
    const inner: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof inner === "string" ? inner : bytes;
  } catch {
    return bytes;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Where results keep what a comparison needs. */
const CAMEL = {
  evalSetId: "evalSetId",
  evalSetResultId: "evalSetResultId",
  creationTimestamp: "creationTimestamp",
  cases: "evalCaseResults",
  evalId: "evalId",
  finalStatus: "finalEvalStatus",
  overall: "overallEvalMetricResults",
  perTurn: "evalMetricResultPerInvocation",
  ofTurn: "evalMetricResults",
  metricName: "metricName",
  status: "evalStatus",
} as const;

type Keys = Readonly<Record<keyof typeof CAMEL, string>>;

const SNAKE = /* @__PURE__ */ inSnakeCase(CAMEL);

function inSnakeCase(keys: Keys): Keys {
  return Object.fromEntries(
    Object.entries(keys).map(([field, key]) => [field, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
  ) as Keys;
}

/** Whether a value is results as `evaluate` gives them, through and through. */
function isOwn(value: unknown): value is Fields {
  return (
    isFields(value) &&
    typeof value[CAMEL.evalSetId] === "string" &&
    isListOf(value[CAMEL.cases], isOwnCase) &&
    isOptional(value[CAMEL.creationTimestamp], Number.isFinite)
  );
}

function isOwnCase(value: unknown): boolean {
  return (
    isFields(value) &&
    typeof value[CAMEL.evalId] === "string" &&
    isStatus(value[CAMEL.finalStatus]) &&
    isListOf(value[CAMEL.overall], isOwnScore) &&
    isListOf(value[CAMEL.perTurn], (turn) => isFields(turn) && isListOf(turn[CAMEL.ofTurn], isOwnScore))
  );
}

function isOwnScore(value: unknown): boolean {
  return (
    isFields(value) &&
    typeof value[CAMEL.metricName] === "string" &&
    isStatus(value[CAMEL.status]) &&
    isOptional(value["score"], Number.isFinite) &&
    isOptional(value["threshold"], Number.isFinite)
  );
}

function isFields(value: unknown): value is Fields {
  return isObject(value) && !Array.isArray(value);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isOptional(value: unknown, isIt: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || isIt(value);
}

function isStatus(value: unknown): value is EvalStatus {
  return value === 1 || value === 2 || value === 3 || value === 4;
}

function runOf(set: Fields, keys: Keys): StoredRun {
  const cases = new Map<string, StoredCase[]>();
  const metricNames = new Map<string, string>();
  const scoresOf = (list: unknown): Scores => {
    const scores = new Map<string, StoredScore>();
    for (const one of list as readonly Fields[]) {
      const name = one[keys.metricName] as string;
      const key = currentName(name);
      if (!metricNames.has(key)) metricNames.set(key, name);
      if (!scores.has(key)) scores.set(key, scoreOf(one, keys));
    }
    return scores;
  };
  for (const one of (set[keys.cases] ?? []) as readonly Fields[]) {
    const evalId = textOf(one[keys.evalId]) ?? "";
    const run: StoredCase = {
      status: one[keys.finalStatus] as EvalStatus,
      reason: textOf(one["reason"]),
      scores: scoresOf(one[keys.overall] ?? []),
      turns: ((one[keys.perTurn] ?? []) as readonly Fields[]).map((turn) => scoresOf(turn[keys.ofTurn] ?? [])),
    };
    const known = cases.get(evalId);
    if (known === undefined) cases.set(evalId, [run]);
    else known.push(run);
  }
  return {
    evalSetId: textOf(set[keys.evalSetId]) ?? "",
    evalSetResultId: textOf(set[keys.evalSetResultId]) ?? "",
    creationTimestamp: numberOf(set[keys.creationTimestamp]),
    stamps: stampsOf(set),
    cases,
    metricNames,
  };
}

/** In google-adk's files a threshold may stand in the criterion alone. */
function scoreOf(result: Fields, keys: Keys): StoredScore {
  const criterion = result["criterion"];
  return {
    score: numberOf(result["score"]),
    status: result[keys.status] as EvalStatus,
    threshold: numberOf(result["threshold"]) ?? (isFields(criterion) ? numberOf(criterion["threshold"]) : undefined),
    reason: textOf(result["reason"]),
  };
}

/** What this package notes of how results were made. ADK's schema does not know it, so it may be anything. */
function stampsOf(set: Fields): StoredRun["stamps"] {
  const dialect = textOf(set["dialect"]);
  const referenceVersion = textOf(set["referenceVersion"]);
  const judges = Array.isArray(set["judges"]) ? set["judges"] : [];
  return {
    ...(dialect === undefined ? {} : { dialect }),
    ...(referenceVersion === undefined ? {} : { referenceVersion }),
    judges: judges.filter((stamp): stamp is JudgeStamp => isFields(stamp) && typeof stamp["metricName"] === "string"),
    cancelled: set["cancelled"] === true,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
