/**
 * How reports read results: what they take for results, statuses in words, counts, and names of runs.
 */

import { EvalStatus, PrebuiltMetrics } from "../enums.js";
import { messageOf, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { UNITS } from "../generated/metrics.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult } from "../types.js";
import { isOfConversation } from "./judged.js";
import { isLastOfSome } from "./page.js";
import { group, isRecord } from "../lists.js";
import { isUnreported } from "../metric-info.js";
import { amountText, count, defused, head, oneLine } from "./text.js";

/** What every renderer takes: the results of one evalset or of several. */
export type Results = EvalSetResult | readonly EvalSetResult[];

/**
 * The results as a list. Looks at sets, cases and what metrics found, but at no invocation.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 */
export function listOf(results: Results): readonly EvalSetResult[] {
  const given: unknown = results;
  indexes = new WeakMap();
  return reading("results", () => {
    const list: readonly unknown[] = Array.isArray(given) ? given : [given];
    for (const [at, set] of list.entries()) checkSet(set, Array.isArray(given) ? `results[${at}]` : "results");
    return list as readonly EvalSetResult[];
  });
}

type OfMetric = string | { readonly metricName: string };

/** By lists, until something else is rendered: who has the results may change them. */
let indexes = new WeakMap<object, Map<string, OfMetric>>();

/** What a list has about a metric, or its name: the first, if there are several. Each list is read once. */
export function ofMetric<T extends OfMetric>(list: readonly T[] | undefined, name = ""): T | undefined {
  if (!list) return undefined;
  const keyOf = (one: T) => (typeof one === "string" ? one : one.metricName);
  const index = indexes.get(list) ?? new Map([...list].reverse().map((one) => [keyOf(one), one]));
  indexes.set(list, index);
  return index.get(name) as T | undefined;
}

function checkSet(set: unknown, path: string): void {
  if (!isRecord(set) || typeof set.evalSetId !== "string" || !Array.isArray(set.evalCaseResults)) {
    const help = "Pass the result of evaluate() or of readResults()";
    throw unexpected("an EvalSetResult or a list of them", set, path, help);
  }
  optional(set.warnings, "a list", Array.isArray, `${path}.warnings`);
  for (const [at, warning] of ((set.warnings ?? []) as unknown[]).entries()) {
    const location = `${path}.warnings[${at}]`;
    const { message } = record(warning, "a warning", location);
    if (typeof message !== "string") throw unfit("a string", message, `${location}.message`);
  }
  for (const [at, one] of set.evalCaseResults.entries()) checkCase(one, `${path}.evalCaseResults[${at}]`);
}

/** @throws {AdkMetricsError} `invalid_input` for what is not the result of a case. */
export function checkCase(given: unknown, path: string): void {
  const result = record(given, "the result of a case", path);
  if (typeof result.evalId !== "string") throw unfit("a string", result.evalId, `${path}.evalId`);
  checkStatus(result.finalEvalStatus, `${path}.finalEvalStatus`);
  optional(result.reason, "a string", isString, `${path}.reason`);
  checkMetrics(result.overallEvalMetricResults, `${path}.overallEvalMetricResults`);
  const turns = result.evalMetricResultPerInvocation;
  const location = `${path}.evalMetricResultPerInvocation`;
  if (!Array.isArray(turns)) throw unfit("a list", turns, location);
  for (const [at, turn] of turns.entries()) {
    const { evalMetricResults } = record(turn, "the results of a turn", `${location}[${at}]`);
    checkMetrics(evalMetricResults, `${location}[${at}].evalMetricResults`);
  }
}

function checkMetrics(metrics: unknown, path: string): void {
  if (!Array.isArray(metrics)) throw unfit("a list", metrics, path);
  for (const [at, given] of metrics.entries()) {
    const location = `${path}[${at}]`;
    const metric = record(given, "the result of a metric", location);
    if (typeof metric.metricName !== "string") throw unfit("a string", metric.metricName, `${location}.metricName`);
    checkStatus(metric.evalStatus, `${location}.evalStatus`);
    for (const key of ["score", "threshold"] as const)
      optional(metric[key], "a number", isNumber, `${location}.${key}`);
    optional(metric.reason, "a string", isString, `${location}.reason`);
    for (const key of ["explanation", "details", "criterion"] as const) {
      optional(metric[key], "an object", isRecord, `${location}.${key}`);
    }
  }
}

function checkStatus(status: unknown, path: string): void {
  if (typeof status !== "number") throw unfit("a status", status, path);
}

function record(value: unknown, what: string, path: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw unfit(what, value, path);
}

function optional(value: unknown, what: string, isIt: (value: unknown) => boolean, path: string): void {
  if (value !== undefined && value !== null && !isIt(value)) throw unfit(what, value, path);
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}

function unfit(what: string, found: unknown, path: string): AdkMetricsError {
  const { message } = unexpected(what, found, path);
  return new AdkMetricsError("invalid_input", message, { path, help: "Pass the result of evaluate(), unchanged" });
}

/** Notes which set and which case is being rendered; without numbers, all of them. */
export type At = (index?: number, position?: number) => void;

/**
 * Pieces of a report of things that are only known to be what they seem. Whatever goes wrong with what is deeper inside
 * becomes an error that names the place.
 *
 * @param paths What the list and the parts of one of its things are called.
 */
export function* guarded<T>(
  list: readonly T[],
  pieces: (list: readonly T[], at: At) => Iterable<string>,
  paths: readonly [string, string] = ["results", "evalCaseResults"],
): Generator<string> {
  let path: string = paths[0];
  const at: At = (index, position) => {
    path = index === undefined ? paths[0] : `${paths[0]}[${index}]`;
    if (position !== undefined) path += `.${paths[1]}[${position}]`;
  };
  try {
    yield* pieces(list, at);
  } catch (cause) {
    throw unrenderable(cause, path);
  }
}

function unrenderable(cause: unknown, path: string): unknown {
  if (isAdkMetricsError(cause)) return cause;
  if (isTooLong(cause)) return tooLong(cause);
  return new AdkMetricsError("invalid_input", `this cannot be rendered: ${messageOf(cause)}`, {
    path,
    help: "Pass the result of evaluate() or compareRuns(), unchanged",
    cause,
  });
}

/**
 * The pieces as one string.
 *
 * @throws {AdkMetricsError} `limit_exceeded` if they are longer than a string can be.
 */
export function joined(pieces: Iterable<string>): string {
  const all = [...pieces];
  try {
    return all.join("");
  } catch (cause) {
    throw isTooLong(cause) ? tooLong(cause) : cause;
  }
}

/** Whether JavaScript has no string so long. */
function isTooLong(error: unknown): boolean {
  return error instanceof RangeError && /string length|allocation size|out of memory/i.test(error.message);
}

function tooLong(cause: unknown): AdkMetricsError {
  return new AdkMetricsError("limit_exceeded", "the report is too long for a string", {
    help: "Write it in chunks: every renderer has a function for that, such as htmlChunks",
    cause,
  });
}

/** A status as people say it. */
export function statusWord(status: EvalStatus): string {
  switch (status) {
    case EvalStatus.PASSED:
      return "passed";
    case EvalStatus.FAILED:
      return "failed";
    case EvalStatus.INFORMATIONAL:
      return "informational";
    default:
      return "not evaluated";
  }
}

/** How many cases passed, failed, or were not evaluated. */
export interface StatusCounts {
  passed: number;
  failed: number;
  notEvaluated: number;
}

/** Counts by status; what is informational is not counted. */
export function countStatuses(statuses: Iterable<EvalStatus>): StatusCounts {
  const counts = { passed: 0, failed: 0, notEvaluated: 0 };
  for (const status of statuses) {
    if (status === EvalStatus.PASSED) counts.passed++;
    else if (status === EvalStatus.FAILED) counts.failed++;
    else if (status !== EvalStatus.INFORMATIONAL) counts.notEvaluated++;
  }
  return counts;
}

/** The final statuses of all cases of some sets, counted. */
export function countCases(results: readonly EvalSetResult[]): StatusCounts {
  return countStatuses(results.flatMap((set) => set.evalCaseResults.map((result) => result.finalEvalStatus)));
}

/** What was counted: `5 cases`, or `10 runs of 5 cases` where cases have several. */
export function casesText(sets: readonly EvalSetResult[]): string {
  let runs = 0;
  let cases = 0;
  for (const { evalCaseResults } of sets) {
    runs += evalCaseResults.length;
    cases += new Set(evalCaseResults.map(({ evalId }) => evalId)).size;
  }
  return runs === cases ? count(cases, "case") : `${count(runs, "run")} of ${count(cases, "case")}`;
}

/** `2 passed, 1 failed`: the counts in words, without those that are zero. */
export function countsText(counts: StatusCounts): string {
  const texts = [];
  if (counts.passed > 0) texts.push(`${amountText(counts.passed)} passed`);
  if (counts.failed > 0) texts.push(`${amountText(counts.failed)} failed`);
  if (counts.notEvaluated > 0) texts.push(`${amountText(counts.notEvaluated)} not evaluated`);
  return texts.join(", ") || "none scored";
}

/** A case's result with its name in reports. */
export interface NamedCase {
  /** The eval id; with ` (run 2)` and so on where the case has several runs. */
  name: string;
  /** Which run of its case it is, from 1. */
  run: number;
  /** Where it is among the set's results, from 0. */
  position: number;
  result: EvalCaseResult;
}

/** The cases of a set in order, repeated runs of one told apart. */
export function namedCases(set: EvalSetResult): NamedCase[] {
  const runs = new Map<string, number>();
  for (const { evalId } of set.evalCaseResults) runs.set(evalId, (runs.get(evalId) ?? 0) + 1);
  for (const { evalId, runs: more } of set.notRun ?? []) runs.set(evalId, (runs.get(evalId) ?? 0) + more);
  const seen = new Map<string, number>();
  return set.evalCaseResults.map((result, position) => {
    const { evalId } = result;
    const run = (seen.get(evalId) ?? 0) + 1;
    seen.set(evalId, run);
    const name = caseName(evalId);
    return { name: runs.get(evalId) === 1 ? name : `${name} (run ${run})`, run, position, result };
  });
}

/** A run of a case that was planned and not done. */
export interface MissingRun {
  evalId: string;
  run: number;
  /** As {@link NamedCase} has it. */
  name: string;
}

/** The runs that were planned and not done, after those that were. */
export function missingRuns({ notRun = [], evalCaseResults }: EvalSetResult): MissingRun[] {
  const done = new Map<string, number>();
  for (const { evalId } of notRun.length === 0 ? [] : evalCaseResults) done.set(evalId, (done.get(evalId) ?? 0) + 1);
  return notRun.flatMap(({ evalId, runs }) => {
    const before = done.get(evalId) ?? 0;
    const isOnly = before + runs === 1;
    return Array.from({ length: runs }, (_, at) => {
      const run = before + at + 1;
      return { evalId, run, name: isOnly ? caseName(evalId) : `${caseName(evalId)} (run ${run})` };
    });
  });
}

/** The text about such a run. */
export const NOT_RUN = "not scored: the evaluation ended before";

/** Runs of a case that ended alike and share a text. */
export interface AlikeRuns {
  /** The eval id; with which of its runs they are, if it has several. */
  name: string;
  result: EvalCaseResult;
  text: string;
}

/**
 * The texts about the cases, in their order; runs of a case with the same text are together, where the first is.
 *
 * @param textOf The text about one, or undefined to leave it out.
 * @returns Nothing at times, where much is left out, so that the thread can be left.
 */
export function* alikeRuns(
  cases: readonly NamedCase[],
  textOf: (one: NamedCase) => string | undefined,
): Generator<AlikeRuns | undefined> {
  const totals = new Map<string, number>();
  const alike = new Map<string, NamedCase[]>();
  const keyOf = ({ evalId, finalEvalStatus }: EvalCaseResult) => JSON.stringify([evalId, finalEvalStatus]);
  for (const one of cases) {
    const key = keyOf(one.result);
    totals.set(one.result.evalId, (totals.get(one.result.evalId) ?? 0) + 1);
    group(alike, key, one);
  }
  for (const [index, { result }] of cases.entries()) {
    if (isLastOfSome(index)) yield;
    const key = keyOf(result);
    const groups = new Map<string, NamedCase[]>();
    for (const one of alike.get(key) ?? []) {
      const text = textOf(one);
      if (text !== undefined) group(groups, text, one);
    }
    alike.delete(key);
    for (const [text, same] of groups) {
      const runs = same.map(({ run }) => run);
      yield { name: runsName(result.evalId, runs, totals.get(result.evalId) ?? 1), result, text };
    }
  }
}

/** The names of the files of evalsets, beside their results. */
const fileNames = /* @__PURE__ */ new WeakMap<object, string>();

/** Notes the name of the file of an evalset: files may have evalsets of one id. */
export function nameSet(set: EvalSetResult, name: string): void {
  fileNames.set(set, name);
}

/** What tells an evalset from others. */
export function setName(set: Pick<EvalSetResult, "evalSetId">): string {
  return fileNames.get(set) ?? set.evalSetId;
}

/** The name of a case; a replacement for an id that would be invisible. */
export function caseName(evalId: string): string {
  return evalId.trim() === "" ? "(no id)" : evalId;
}

/** `storm_warning (run 2)`, `storm_warning (3 of 3 runs)`: which of the runs of a case are meant, if there are several. */
export function runsName(evalId: string, runs: readonly number[], total: number): string {
  const name = caseName(evalId);
  if (total === 1) return name;
  if (runs.length === total) return `${name} (${total} of ${total} runs)`;
  return `${name} (${runs.length === 1 ? "run" : "runs"} ${runs.join(", ")})`;
}

/** The metrics that pass or fail. */
export function judgedMetrics(metrics: readonly EvalMetricResult[]): EvalMetricResult[] {
  return metrics.filter((metric) => metric.evalStatus !== EvalStatus.INFORMATIONAL);
}

/** The metrics that only inform and that something is known of: counts of calls, tokens, durations. */
export function informationalMetrics(metrics: readonly EvalMetricResult[]): EvalMetricResult[] {
  return metrics.filter((metric) => metric.evalStatus === EvalStatus.INFORMATIONAL && !isUnreported(metric));
}

/** What an informational metric is called where there is little room. */
export function informationalLabel(metricName: string): string {
  return Object.hasOwn(UNITS, metricName) ? (UNITS[metricName] as string) : metricName;
}

/** `3 of 5 passed` */
export function passedText(metrics: readonly EvalMetricResult[]): string {
  return `${metrics.filter(({ evalStatus }) => evalStatus === EvalStatus.PASSED).length} of ${metrics.length} passed`;
}

/** The names of the given results' metrics, each once, in order of appearance. */
export function metricNames(results: Iterable<readonly EvalMetricResult[]>): string[] {
  const names = new Set<string>();
  for (const metrics of results) for (const metric of metrics) names.add(metric.metricName);
  return [...names];
}

/** The first result of each metric by its name. */
export function firstByName(metrics: readonly EvalMetricResult[]): Map<string, EvalMetricResult> {
  const first = new Map<string, EvalMetricResult>();
  for (const metric of metrics) if (!first.has(metric.metricName)) first.set(metric.metricName, metric);
  return first;
}

/** The most columns for metrics that a table has: a cell for each case and metric is more than there are results. */
export const MOST_METRIC_COLUMNS = 20;

/** `adk-metrics 0.1.0, reference 2.14.0, dialect adk-python`: what made a result. */
export function stampText(set: EvalSetResult): string {
  return `adk-metrics ${set.engineVersion}, reference ${set.referenceVersion}, dialect ${set.dialect}${advisoryText(set)}`;
}

function advisoryText({ advisory = [] }: EvalSetResult): string {
  return advisory.length === 0 ? "" : `; advisory, not counted: ${advisory.join(", ")}`;
}

/** The second a result was made, `2026-03-14T09:30:00` in UTC; undefined if its timestamp is none. */
export function timestampText(set: EvalSetResult): string | undefined {
  const date = new Date(set.creationTimestamp * 1000);
  return set.creationTimestamp > 0 && !Number.isNaN(date.getTime()) ? date.toISOString().slice(0, 19) : undefined;
}

/** What a reader of a set's results has to know first. */
export interface Notice {
  message: string;
  /** Where in the input: a path, a line, or both. */
  place?: string;
  help?: string;
}

/** A notice in a line: message, place, help. */
export function noticeText(notice: Notice): string {
  return `warning: ${noticeWords(notice)}`;
}

/** As {@link noticeText}, where it is plain that it is one. */
export function noticeWords({ message, place, help }: Notice): string {
  const where = place === undefined ? message : `${message} (${place})`;
  return oneLine(head(help === undefined ? where : `${where}. ${help}`, 4000));
}

/** The warnings of results in lines, each once. */
export function warningLines(sets: readonly EvalSetResult[]): string[] {
  const notices = sets.flatMap((set) => noticesOf({ ...set, cancelled: false }));
  return [...new Set(notices.map((notice) => defused(noticeText(notice))))];
}

/** What lacks in a score that there is: turns on which a judge was asked and gave no verdict. */
function missingVerdicts({ judges = [], evalCaseResults }: EvalSetResult): Notice[] {
  const judged = new Set(judges.map(({ metricName }) => metricName));
  if (judged.size === 0) return [];
  const found = new Map<string, { turns: number; first: { turn: string; reason: string } }>();
  for (const { evalId, overallEvalMetricResults, evalMetricResultPerInvocation: turns } of evalCaseResults) {
    const isScored = ({ metricName, evalStatus }: EvalMetricResult) =>
      judged.has(metricName) && evalStatus !== EvalStatus.NOT_EVALUATED;
    for (const overall of overallEvalMetricResults.filter((metric) => isScored(metric) && !isOfConversation(metric))) {
      for (const [index, { evalMetricResults }] of turns.entries()) {
        const ofTurn = ofMetric(evalMetricResults, overall.metricName);
        if (ofTurn?.evalStatus !== EvalStatus.NOT_EVALUATED || !ofTurn.explanation?.samples?.asked) continue;
        const first = {
          turn: `turn ${index + 1} of ${caseName(evalId)}`,
          reason: ofTurn.reason ?? "no reason is known",
        };
        const known = found.get(overall.metricName) ?? { turns: 0, first };
        known.turns += 1;
        found.set(overall.metricName, known);
      }
    }
  }
  return [...found].map(
    ([
      metricName,
      {
        turns,
        first: { turn, reason },
      },
    ]) => {
      // Its score is a share of all turns; the others are means of those that have a score.
      const isShare = metricName === PrebuiltMetrics.PER_TURN_USER_SIMULATOR_QUALITY_V1;
      const [effect, effects] = isShare
        ? ["counts as not passed", "count as not passed"]
        : ["does not count", "do not count"];
      const which = turns === 1 ? `${turn}, which ${effect}` : `${turns} turns, which ${effects}. The first is ${turn}`;
      return { message: `${metricName} has no verdict on ${which}: ${reason}` };
    },
  );
}

/** That a run was cancelled, unless a warning says so with the cases that are missing. */
export function cancelledNotice(sets: readonly EvalSetResult[]): string[] {
  const isUntold = sets.some(
    ({ cancelled, warnings = [] }) => cancelled && !warnings.some(({ code }) => code === "cancelled"),
  );
  return isUntold ? ["The run was cancelled; some results are missing."] : [];
}

/** That a set's run was cancelled, its warnings, and which turns no verdict was given on. */
export function noticesOf(set: EvalSetResult): Notice[] {
  const warnings = (set.warnings ?? []).map(({ message, path, line, help }): Notice => {
    const place = [path ?? "", line === undefined ? "" : `line ${line}`].filter((part) => part !== "").join(", ");
    return { message, ...(place === "" ? {} : { place }), ...(help ? { help } : {}) };
  });
  return [...cancelledNotice([set]).map((message) => ({ message })), ...warnings, ...missingVerdicts(set)];
}
