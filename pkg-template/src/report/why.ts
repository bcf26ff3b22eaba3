/** Why a case did not pass, in a few words for each metric: what differs, and the score that it needs. */

import { reading } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { callsOf } from "../invocation.js";
import type { AlignmentEntry, EvalCaseResult, EvalMetricResult } from "../types.js";
import { type InTurn, sideText, turnsByMetric } from "./difference.js";
import { isOfRubrics, judgedRubrics, judgedVotes, sentenceFinding } from "./judged.js";
import { checkCase, judgedMetrics } from "./results.js";
import { count, oneLine, percent, shorten } from "./text.js";

/** Why a metric did not pass. */
export interface WhyNotPassed {
  metricName: string;
  evalStatus: EvalStatus;
  /** What differs, such as `get_weather: unit is "fahrenheit", expected "celsius"`; empty if the score says it all. */
  differences: string[];
  /** The turns that did not pass, from 1; empty where the case has one turn. */
  turns: number[];
  score?: number;
  threshold?: number;
}

/** How many differences are named; the others are counted. */
const MOST = 3;

/**
 * Why a case did not pass: its metrics that failed, then those without a verdict.
 *
 * @throws {AdkMetricsError} `invalid_input` if this is not the result of a case.
 */
export function whyNotPassed(result: EvalCaseResult): WhyNotPassed[] {
  return reading("result", () => {
    checkCase(result, "result");
    return reasonsOf(result);
  });
}

/** The same for what was checked. */
export function reasonsOf(result: EvalCaseResult): WhyNotPassed[] {
  const { evalMetricResultPerInvocation: turns, overallEvalMetricResults } = result;
  const found = turnsByMetric(result);
  const metrics = judgedMetrics(overallEvalMetricResults);
  const failed = metrics.filter(({ evalStatus }) => evalStatus === EvalStatus.FAILED);
  const open = metrics.filter(({ evalStatus }) => evalStatus === EvalStatus.NOT_EVALUATED);
  return [...failed, ...open].map((metric) => {
    const { metricName, evalStatus, score, threshold } = metric;
    const inTurns = (found.get(metricName) ?? []).filter(({ ofTurn }) => ofTurn.evalStatus === evalStatus);
    // What is named twice tells its turns once.
    found.delete(metricName);
    return {
      metricName,
      evalStatus,
      differences: differencesOf(metric, inTurns),
      turns: turns.length > 1 ? inTurns.map(({ index }) => index + 1) : [],
      ...(score === undefined ? {} : { score }),
      ...(threshold === undefined ? {} : { threshold }),
    };
  });
}

function differencesOf(overall: EvalMetricResult, inTurns: readonly InTurn[]): string[] {
  if (overall.reason !== undefined) return [overall.reason];
  if (overall.evalStatus === EvalStatus.NOT_EVALUATED) {
    const reason = inTurns.find(({ ofTurn }) => ofTurn.reason !== undefined)?.ofTurn.reason;
    return reason === undefined ? [] : [reason];
  }
  const found = [
    ...callDifferences(inTurns),
    ...unmetRubrics(overall, inTurns),
    ...sentencesAgainst(inTurns),
    ...sharedWords(inTurns),
    ...votesAgainst(inTurns),
  ];
  if (found.length <= MOST) return found;
  return [...found.slice(0, MOST), count(found.length - MOST, "more difference")];
}

/** The differences of tool calls, each once, with how often it comes. */
function callDifferences(inTurns: readonly InTurn[]): string[] {
  const times = new Map<string, number>();
  for (const { turn, ofTurn } of inTurns) {
    const expected = callsOf(turn.expectedInvocation);
    const actual = callsOf(turn.actualInvocation);
    for (const entry of ofTurn.explanation?.alignment ?? []) {
      const { name } = expected[entry.expectedIndex ?? -1] ?? actual[entry.actualIndex ?? -1] ?? {};
      for (const text of alignmentTexts(entry, shorten(name ?? "(unnamed)", 100))) {
        times.set(text, (times.get(text) ?? 0) + 1);
      }
    }
  }
  return [...times].map(([text, number]) => (number === 1 ? text : `${text} (${number} times)`));
}

function alignmentTexts({ kind, differences = [] }: AlignmentEntry, name: string): string[] {
  switch (kind) {
    case "missing":
      return [`${name} was not called`];
    case "extra":
      return [`${name} was called unexpectedly`];
    case "moved":
      return [`${name} was called in a different position`];
    case "arguments":
      return differences.length === 0
        ? [`${name} has other arguments`]
        : differences.map(({ path, expected, actual }) => `${name}: ${argumentText(path, expected, actual)}`);
    default:
      return [];
  }
}

function argumentText(path: string, expected: unknown, actual: unknown): string {
  const argument = oneLine(path) || "the argument list";
  const sides = [sideText(actual, expected), sideText(expected, actual)].map((side) => shorten(side, 60));
  if (actual === undefined) return `${argument} is missing, expected ${sides[1]}`;
  if (expected === undefined) return `${argument} is ${sides[0]}, not expected`;
  return `${argument} is ${sides[0]}, expected ${sides[1]}`;
}

/** The rubrics that are not met, by what they ask for. */
function unmetRubrics(overall: EvalMetricResult, inTurns: readonly InTurn[]): string[] {
  const texts = new Map<string, string | undefined>();
  for (const [turn, metric] of [
    [undefined, overall] as const,
    ...inTurns.map(({ turn, ofTurn }) => [turn, ofTurn] as const),
  ]) {
    for (const { rubricId, text, finding } of judgedRubrics(turn, metric, overall)) {
      if (finding.bearing === "against") texts.set(rubricId, text ?? texts.get(rubricId));
    }
  }
  return [...texts].map(([rubricId, text]) => `rubric not met: ${excerpt(text ?? rubricId)}`);
}

/** The sentences that count against the response. */
function sentencesAgainst(inTurns: readonly InTurn[]): string[] {
  return inTurns.flatMap(({ ofTurn }) =>
    (ofTurn.explanation?.sentences ?? [])
      .map((sentence) => ({ text: sentence.text, finding: sentenceFinding(sentence) }))
      .filter(({ finding }) => finding.bearing === "against")
      .map(({ text, finding }) => `${finding.word}: “${excerpt(text)}”`),
  );
}

/** How many words the response shares with what is expected, where one turn differs. */
function sharedWords(inTurns: readonly InTurn[]): string[] {
  const [only, ...others] = inTurns;
  const tokens = only?.ofTurn.explanation?.tokens;
  if (tokens === undefined || others.length > 0) return [];
  const { precision, recall } = tokens;
  if (recall === 0) return ["the response contains none of the expected words"];
  return [
    `the response contains ${percent(recall)} of the expected words, and ${percent(precision)} of its words are expected`,
  ];
}

/** How the samples voted that judged a whole response. */
function votesAgainst(inTurns: readonly InTurn[]): string[] {
  const votes = inTurns
    .filter(({ ofTurn }) => !isOfRubrics(ofTurn))
    .flatMap(({ ofTurn }) => judgedVotes(ofTurn))
    .filter(({ vote }) => vote.purpose === "verdict");
  const against = votes.filter(({ finding }) => finding.bearing === "against").length;
  return against === 0 ? [] : [`${against} of ${count(votes.length, "vote")} ${against === 1 ? "says" : "say"} no`];
}

/** The beginning of a text, its white space as single spaces. */
function excerpt(text: string): string {
  return shorten(text.slice(0, 1000).replace(/\s+/g, " ").trim(), 90);
}
