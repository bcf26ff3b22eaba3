/**
 * What a comparison needs of a run's results. Results as `evaluate` gives them are read where they are, without a look
 * at their invocations; the engine reads all else, in any spelling, and says what is wrong with it.
 */

import { withEngine } from "../engine/instance.js";
import { checkSize, wellFormed } from "../engine/checks.js";
import { snakeOf } from "../engine/spelling.js";
import { isBytes, isObject, reading, unexpected } from "../engine/values.js";
import { stringify } from "../engine/writing.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError, isEngineError, errorOf } from "../errors.js";
import { scoreIn, reasonOf } from "../metric-info.js";
import { currentName } from "../metric-names.js";
import type { EvalSetResult, JudgeStamp } from "../types.js";
import {
  checkedPieces,
  concatenated,
  isFields,
  isResultLines,
  isResults,
  LARGE_BYTES,
  lookedAt,
  setsInLines,
} from "../result-lines.js";
import { readResults, readStored } from "../stored-results.js";
import { casesOf } from "./pieces.js";
import { definedProperties, group } from "../lists.js";

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
  stamps: {
    dialect?: string;
    referenceVersion?: string;
    judges: JudgeStamp[];
    cancelled: boolean;
    warnings: readonly string[];
    advisory: ReadonlySet<string>;
  };
  /** The runs of each case, by eval id. */
  cases: ReadonlyMap<string, StoredCase[]>;
  /** The metrics' names by key, in order of appearance. The key is today's name, so that old and new results meet. */
  metricNames: ReadonlyMap<string, string>;
  /** The settings of each metric besides its threshold, as JSON in `snake_case`; of the first result that has any. */
  settings: ReadonlyMap<string, string>;
}

/**
 * Reads a run's results: an object, JSON text or bytes, also in chunks; also JSON within a JSON string, as old versions
 * of ADK stored it. What is large is read case by case, so that there is no limit to it.
 *
 * @param input What the results are called in errors.
 * @throws {AdkMetricsError} if they are none.
 */
export function readRun(results: unknown, input: string): StoredRun {
  return reading(input, () => {
    if (isResults(results)) return runOf(results);
    if (isResultLines(results)) return runOf(onlyOne(readResults(results), input));
    if (isObject(results) && typeof (results as { then?: unknown }).then === "function") {
      throw new AdkMetricsError("invalid_input", "expected results, found a promise of them", {
        path: input,
        help: "Await it first",
      });
    }
    const chunks = chunksOf(results, input);
    if (chunks === undefined) return runOf(readStored(results, input));
    const { isLines, pieces } = lookedAt(chunks);
    return isLines ? readLines(pieces, input) : readInPieces(pieces, input);
  });
}

/** @throws {AdkMetricsError} unless there are results of one evalset. */
function onlyOne(sets: readonly EvalSetResult[], input: string): EvalSetResult {
  const [only, ...others] = sets;
  if (only !== undefined && others.length === 0) return only;
  throw new AdkMetricsError("invalid_input", `expected the results of one evalset, found those of ${sets.length}`, {
    path: input,
    help: "Read them with readResults(), and compare one at a time",
  });
}

const MANY_CASES = 20_000;
/** As many bytes of cases as go to the engine at once. */
const BATCH_BYTES = 4 * 1024 * 1024;

const encoder = /* @__PURE__ */ new TextEncoder();

/** The bytes of results that are to be read case by case; undefined for those that the engine reads as a whole. */
function chunksOf(results: unknown, input: string): Iterable<Uint8Array> | undefined {
  if (typeof results === "string") {
    return results.length > LARGE_BYTES ? [encoder.encode(wellFormed(results, input))] : undefined;
  }
  if (isBytes(results)) return results.length > LARGE_BYTES ? [results] : undefined;
  if (!isObject(results)) return undefined;
  if (isChunks(results)) return checkedPieces(results, input);
  const given = results as Fields;
  const key = ["evalCaseResults", "eval_case_results"].find((name) => Array.isArray(given[name]));
  return key !== undefined && (given[key] as unknown[]).length > MANY_CASES ? written(given, key, input) : undefined;
}

/** A list of bytes, or what gives them one after the other. */
function isChunks(value: object): value is Iterable<unknown> {
  if (Array.isArray(value)) return isBytes(value[0]);
  return typeof (value as { [Symbol.iterator]?: unknown })[Symbol.iterator] === "function";
}

/** An object as JSON, case by case. */
function* written(results: Fields, key: string, input: string): Generator<Uint8Array> {
  const { [key]: cases, ...rest } = results;
  const json = stringify(rest, input);
  yield encoder.encode(`${json.slice(0, -1)}${json === "{}" ? "" : ","}"${key}":[`);
  for (const [at, one] of (cases as readonly unknown[]).entries()) {
    if (!isObject(one)) throw unexpected("the results of a case", one, `${input}: ${key}[${at}]`);
    yield encoder.encode(`${at > 0 ? "," : ""}${stringify(one, `${input}: ${key}[${at}]`)}`);
  }
  yield encoder.encode("]}");
}

/** JSON lines of any size: of each case, only what is compared takes memory. */
function readLines(pieces: Iterable<Uint8Array>, input: string): StoredRun {
  const found = new FoundCases();
  const sets = setsInLines(pieces, input, (one) => {
    found.add([one]);
    return undefined;
  });
  return storedRun(onlyOne(sets, input) as object as Fields, found);
}

/** Results of any size: the engine gets some cases at a time, and then the rest. */
function readInPieces(chunks: Iterable<Uint8Array>, input: string): StoredRun {
  const found = new FoundCases();
  const rest: Uint8Array[] = [];
  let batch: Uint8Array[] = [];
  let size = 0;
  let before = 0;
  const readBatch = () => {
    if (batch.length === 0) return;
    const set = concatenated([HEAD, ...batch.flatMap((one, at) => (at === 0 ? [one] : [SEPARATOR, one])), TAIL]);
    found.add(parsedByEngine(set, input, before)["evalCaseResults"]);
    before += batch.length;
    batch = [];
    size = 0;
  };
  for (const one of casesOf(chunks, rest)) {
    batch.push(one);
    size += one.length;
    if (size >= BATCH_BYTES) readBatch();
  }
  readBatch();
  return storedRun(parsedByEngine(concatenated(rest), input), found);
}

const HEAD = /* @__PURE__ */ encoder.encode('{"eval_set_result_id":"","eval_set_id":"","eval_case_results":[');
const SEPARATOR = /* @__PURE__ */ encoder.encode(",");
const TAIL = /* @__PURE__ */ encoder.encode("]}");

/** Reads a part of results whose first case is the one at `first`; lines of a part say nothing of the whole. */
function parsedByEngine(bytes: Uint8Array, input: string, first = 0): Fields {
  checkSize(bytes.length, input);
  try {
    return JSON.parse(withEngine((engine) => engine.resultsToJs(bytes))) as Fields;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    const path = error.path?.replace(
      /^(eval_case_results|evalCaseResults)\[(\d+)\]/,
      (_, key: string, at: string) => `${key}[${Number(at) + first}]`,
    );
    throw errorOf({ ...error, ...definedProperties({ path }), input }, () => false);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function runOf(set: object): StoredRun {
  const found = new FoundCases();
  found.add((set as Fields)["evalCaseResults"]);
  return storedRun(set as Fields, found);
}

/** The cases found so far, and the metrics in them. */
class FoundCases {
  readonly cases = new Map<string, StoredCase[]>();
  readonly metricNames = new Map<string, string>();
  readonly settings = new Map<string, string>();

  add(list: unknown): void {
    for (const one of (list ?? []) as readonly Fields[]) {
      const evalId = textOf(one["evalId"]) ?? "";
      const turns = (one["evalMetricResultPerInvocation"] ?? []) as readonly Fields[];
      const run: StoredCase = {
        status: one["finalEvalStatus"] as EvalStatus,
        reason: textOf(one["reason"]),
        scores: this.#scoresOf(one["overallEvalMetricResults"]),
        turns: turns.map((turn) => this.#scoresOf(turn["evalMetricResults"])),
      };
      group(this.cases, evalId, run);
    }
  }

  #scoresOf(list: unknown): Scores {
    const scores = new Map<string, StoredScore>();
    for (const one of (list ?? []) as readonly Fields[]) {
      const name = one["metricName"] as string;
      const key = currentName(name);
      if (!this.metricNames.has(key)) this.metricNames.set(key, name);
      const { criterion } = one;
      if (isFields(criterion) && !this.settings.has(key)) this.settings.set(key, settingsText(criterion));
      if (!scores.has(key)) scores.set(key, scoreOf(one));
    }
    return scores;
  }
}

/** The settings of a criterion besides its threshold, in whatever order and spelling they were written; empty for none. */
function settingsText(criterion: Fields): string {
  const settings = Object.fromEntries(Object.entries(criterion).filter(([key]) => key !== "threshold"));
  const sorted = (value: unknown): unknown => {
    if (!isFields(value)) return value;
    const entries = Object.entries(value).map(([key, one]) => [snakeOf(key), one] as const);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return Object.keys(settings).length === 0 ? "" : JSON.stringify(settings, (_, value) => sorted(value));
}

function storedRun(set: Fields, { cases, metricNames, settings }: FoundCases): StoredRun {
  return {
    evalSetId: textOf(set["evalSetId"]) ?? "",
    evalSetResultId: textOf(set["evalSetResultId"]) ?? "",
    creationTimestamp: numberOf(set["creationTimestamp"]),
    stamps: stampsOf(set),
    cases,
    metricNames,
    settings,
  };
}

/** In google-adk's files, a threshold may be only in the criterion. */
function scoreOf(result: Fields): StoredScore {
  const scored = { metricName: String(result["metricName"]), score: result["score"] };
  const criterion = result["criterion"];
  return {
    score: scoreIn(scored),
    status: result["evalStatus"] as EvalStatus,
    threshold: numberOf(result["threshold"]) ?? (isFields(criterion) ? numberOf(criterion["threshold"]) : undefined),
    reason: textOf(result["reason"]) ?? reasonOf(scored),
  };
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What this package notes of how results were made. ADK's schema does not know it, so it may be anything. */
function stampsOf(set: Fields): StoredRun["stamps"] {
  const dialect = textOf(set["dialect"]);
  const referenceVersion = textOf(set["referenceVersion"]);
  return {
    ...definedProperties({ dialect, referenceVersion }),
    judges: listIn(set["judges"]).filter(
      (stamp): stamp is JudgeStamp => isFields(stamp) && typeof stamp["metricName"] === "string",
    ),
    cancelled: set["cancelled"] === true,
    warnings: listIn(set["warnings"]).flatMap((one) => (isFields(one) ? (textOf(one["message"]) ?? []) : [])),
    advisory: new Set(
      listIn(set["advisory"])
        .filter((name) => typeof name === "string")
        .map(currentName),
    ),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
