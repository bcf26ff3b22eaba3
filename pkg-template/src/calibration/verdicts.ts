/** The verdicts that results hold: what a metric, or a rubric of one, says of a turn or of a conversation. */

import { parseJson } from "../engine/json.js";
import { isBytes, isObject, unexpected } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import { OF_CONVERSATIONS } from "../generated/metrics.js";
import { looksLike } from "../looks-like.js";
import { currentName } from "../metric-names.js";
import { checkedPieces, isResultLines, refuseHeadless, setsInLines } from "../result-lines.js";
import type { EvalCaseResult, JudgeStamp, JudgeUsage, JudgeVotes } from "../types.js";
import { judgeVotesOf } from "../votes.js";
import type { ResultsInput } from "./types.js";

/** What a metric found, as far as a label can be compared with it. */
export interface Verdict {
  evalSetId: string;
  evalId: string;
  /** Which run of the case, counted from 1, and how many there are. */
  run: number;
  runs: number;
  /** The turn, counted from 1, and how many there are; absent for a metric of whole conversations. */
  turn?: number;
  turns: number;
  metricName: string;
  rubricId?: string;
  /** Whether it passed, or the rubric was met. */
  passes: boolean;
  score?: number;
  threshold?: number;
  votes?: (number | null)[];
  /** How many samples might have been asked. */
  of?: number;
  rationale?: string;
  /** Who gave it, as far as the results say. */
  judge?: JudgeStamp;
  /** The metric's settings, as they were given. */
  criterion?: unknown;
  /** The turn with what was said, as it was given. */
  source: object;
}

/** What results hold. */
export interface Found {
  verdicts: Verdict[];
  judges: JudgeStamp[];
  usages: JudgeUsage[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads results.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything else.
 */
export function foundIn(results: ResultsInput | readonly ResultsInput[]): Found {
  const list: readonly unknown[] = Array.isArray(results) ? results : [results];
  const sets = list.flatMap((one, at) => setsOf(one, Array.isArray(results) ? `results[${at}]` : "results"));
  const stampsOf = (set: Fields) => listOf(set["judges"]) as unknown[] as JudgeStamp[];
  const cases = sets.flatMap(({ set, path }) => {
    const judges = new Map(stampsOf(set).map((stamp) => [stamp.metricName, stamp]));
    return listOf(valueOf(set, "evalCaseResults")).map((one, at) => ({
      ...caseOf(one, set, `${path}.evalCaseResults[${at}]`),
      judges,
    }));
  });
  const runs = new Map<string, number>();
  const numbered = cases.map((one) => {
    const run = (runs.get(one.key) ?? 0) + 1;
    runs.set(one.key, run);
    return { ...one, run };
  });
  return {
    verdicts: numbered.flatMap((one) => verdictsOf(one, runs.get(one.key) as number)),
    judges: sets.flatMap(({ set }) => stampsOf(set)),
    usages: sets.flatMap(({ set }) => (isObject(set["judgeUsage"]) ? [set["judgeUsage"] as JudgeUsage] : [])),
  };
}

function setsOf(given: unknown, path: string): { set: Fields; path: string }[] {
  if (isResultLines(given) || isPieces(given)) {
    const bytes = typeof given === "string" ? new TextEncoder().encode(given) : given;
    const sets = setsInLines(isBytes(bytes) ? bytes : checkedPieces(bytes, path), path, kept);
    if (sets.length > 0) return sets.map((set) => ({ set: set as unknown as Fields, path }));
  }
  let value = given;
  // Old versions of ADK stored JSON within a JSON string.
  for (let depth = 0; depth < 3 && (typeof value === "string" || isBytes(value)); depth += 1) {
    const text: string = typeof value === "string" ? value : new TextDecoder().decode(value);
    try {
      value = parseJson(text.replace(/^\uFEFF/, ""));
    } catch (cause) {
      refuseHeadless(given, path);
      throw new AdkMetricsError("invalid_json", `the results are not JSON: ${(cause as Error).message}`, {
        path,
        cause,
      });
    }
  }
  if (isObject(value) && Array.isArray(valueOf(value as Fields, "evalCaseResults")))
    return [{ set: value as Fields, path }];
  refuseHeadless(given, path);
  const help = "Pass the result of evaluate(), or what `eval --format json` or `jsonl` writes";
  throw unexpected("results of an evaluation", value, path, looksLike(value) + help);
}

/** Whether this is JSON lines in pieces, which a file that is too large for memory is read in. */
function isPieces(given: unknown): given is Iterable<unknown> {
  return isObject(given) && !isBytes(given) && Symbol.iterator in given;
}

/** What labels are compared with and what people are shown of a case, whose events and replies may be long. */
function kept(result: EvalCaseResult): EvalCaseResult {
  const { evalId, evalSetId, overallEvalMetricResults, evalMetricResultPerInvocation: turns, judgeVotes } = result;
  const said = (invocation: unknown) => {
    const valueIn = (key: string) => valueOf((invocation ?? {}) as Fields, key);
    return {
      userContent: valueIn("userContent"),
      finalResponse: valueIn("finalResponse"),
      rubrics: valueIn("rubrics"),
    };
  };
  const evalMetricResultPerInvocation = turns.map(({ actualInvocation, expectedInvocation, evalMetricResults }) => {
    return {
      evalMetricResults,
      actualInvocation: said(actualInvocation),
      expectedInvocation: said(expectedInvocation),
    };
  });
  return { evalId, evalSetId, overallEvalMetricResults, judgeVotes, evalMetricResultPerInvocation } as EvalCaseResult;
}

/** A value under its name in camelCase or snake_case. */
function valueOf(fields: Fields, camel: string): unknown {
  return fields[camel] ?? fields[camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] ?? undefined;
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((one): one is Fields => isObject(one)) : [];
}

interface Case {
  evalSetId: string;
  evalId: string;
  key: string;
  judges: ReadonlyMap<unknown, JudgeStamp>;
  fields: Fields;
}

function caseOf(fields: Fields, set: Fields, path: string): Omit<Case, "judges"> {
  const evalId = valueOf(fields, "evalId");
  if (typeof evalId !== "string") throw unexpected("a string", evalId, `${path}.evalId`);
  const evalSetId = String(valueOf(fields, "evalSetId") ?? valueOf(set, "evalSetId") ?? "");
  return { evalSetId, evalId, key: JSON.stringify([evalSetId, evalId]), fields };
}

function verdictsOf({ evalSetId, evalId, fields, run, judges }: Case & { run: number }, runs: number): Verdict[] {
  const turns = listOf(valueOf(fields, "evalMetricResultPerInvocation"));
  const kept = valueOf(fields, "judgeVotes");
  const votes = new Map<string, JudgeVotes>();
  const all = Array.isArray(kept)
    ? (kept as JudgeVotes[])
    : judgeVotesOf({ evalMetricResultPerInvocation: turns } as never);
  for (const one of all) {
    if (Array.isArray(one?.votes)) votes.set(voteKey(one.metricName, one.rubricId, one.invocationIndex), one);
  }
  const about = { evalSetId, evalId, run, runs, turns: turns.length };
  const ofTurns = turns.flatMap((turn, at) =>
    listOf(valueOf(turn, "evalMetricResults"))
      .filter((metric) => !OF_CONVERSATIONS.includes(nameOf(metric)))
      .flatMap((metric) => of(metric, { ...about, turn: at + 1, source: turn }, votes, at)),
  );
  const last = turns.at(-1) ?? fields;
  const ofConversation = listOf(valueOf(fields, "overallEvalMetricResults"))
    .filter((metric) => OF_CONVERSATIONS.includes(nameOf(metric)))
    .flatMap((metric) => of(metric, { ...about, source: last }, votes, turns.length - 1));
  return [...ofTurns, ...ofConversation].map((verdict) => {
    const judge = judges.get(verdict.metricName);
    return judge === undefined ? verdict : { ...verdict, judge };
  });
}

const nameOf = (metric: Fields): string => currentName(String(valueOf(metric, "metricName")));

function voteKey(metricName: string, rubricId: string | undefined, at: number): string {
  return JSON.stringify([currentName(metricName), rubricId ?? null, at]);
}

type About = Omit<Verdict, "metricName" | "passes">;

/** The verdict of a metric, and those of its rubrics. */
function of(metric: Fields, about: About, votes: ReadonlyMap<string, JudgeVotes>, at: number): Verdict[] {
  const metricName = nameOf(metric);
  const status = valueOf(metric, "evalStatus");
  const details = valueOf(metric, "details") as Fields | undefined;
  const entries = isObject(details) ? listOf(valueOf(details, "rubricScores")) : [];
  const criterion = metric["criterion"] as Fields | undefined;
  const threshold = numberOf(metric["threshold"]) ?? numberOf(isObject(criterion) ? criterion["threshold"] : undefined);
  const score = numberOf(metric["score"]);
  const remark = entries.find((entry) => numberOf(entry["score"]) === undefined)?.["rationale"];
  const found: Verdict[] = [];
  if (status === EvalStatus.PASSED || status === EvalStatus.FAILED) {
    found.push({
      ...about,
      criterion,
      metricName,
      passes: status === EvalStatus.PASSED,
      ...(score === undefined ? {} : { score }),
      ...(threshold === undefined ? {} : { threshold }),
      ...(typeof remark === "string" ? { rationale: remark } : {}),
      ...votesIn(votes.get(voteKey(metricName, undefined, at))),
    });
  }
  for (const entry of entries) {
    const rubricScore = numberOf(entry["score"]);
    const rubricId = valueOf(entry, "rubricId");
    if (rubricScore === undefined || typeof rubricId !== "string") continue;
    const rationale = entry["rationale"];
    found.push({
      ...about,
      criterion,
      metricName,
      rubricId,
      passes: rubricScore === 1,
      score: rubricScore,
      ...(typeof rationale === "string" && rationale !== "" ? { rationale } : {}),
      ...votesIn(votes.get(voteKey(metricName, rubricId, at))),
    });
  }
  return found;
}

function votesIn(found: JudgeVotes | undefined): Partial<Verdict> {
  if (found === undefined) return {};
  const { votes, of: most, rationale } = found;
  return {
    votes: votes.map((vote) => numberOf(vote) ?? null),
    of: Number.isSafeInteger(most) ? most : votes.length,
    ...(typeof rationale === "string" ? { rationale } : {}),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
