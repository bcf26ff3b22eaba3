/** Why a case did not pass, in a line for each metric: what differs, and the score that it needs. */

import type { AlignmentEntry, EvalMetricResult } from "adk-metrics";
import { EvalStatus } from "../../enums.js";
import { count, head, scoreText } from "../../ui/format.js";
import { shownJson } from "../../ui/json.js";
import type { CaseContent, TurnContent } from "../../worker/protocol.js";

/** A metric that did not pass. */
export interface Why {
  metricName: string;
  status: EvalStatus;
  /** What differs, such as `get_weather: unit is "fahrenheit", expected "celsius"`; nothing if the score says it all. */
  what: string[];
  /** The turns that did not pass, from 1; empty where there is only one turn. */
  turns: number[];
  score?: number;
  threshold?: number;
}

/** How many differences a line names. */
const MOST = 3;

/** What a metric found in a turn. */
interface InTurn {
  index: number;
  metric: EvalMetricResult;
  content: TurnContent | undefined;
}

/** Why a case did not pass: its metrics that failed, then those without a verdict. */
export function whyOf({ result, turns: contents }: CaseContent): Why[] {
  const turns = result.evalMetricResultPerInvocation;
  const open = result.overallEvalMetricResults.filter(({ evalStatus }) => evalStatus === EvalStatus.NOT_EVALUATED);
  const failed = result.overallEvalMetricResults.filter(({ evalStatus }) => evalStatus === EvalStatus.FAILED);
  return [...failed, ...open].map((metric) => {
    const inTurns = turns.flatMap((turn, index) => {
      const found = turn.evalMetricResults.find(({ metricName }) => metricName === metric.metricName);
      return found !== undefined && found.evalStatus === metric.evalStatus
        ? [{ index, metric: found, content: contents[index] }]
        : [];
    });
    const { metricName, evalStatus: status, score, threshold } = metric;
    return {
      metricName,
      status,
      what: whatOf(metric, inTurns),
      turns: turns.length > 1 ? inTurns.map(({ index }) => index + 1) : [],
      ...(score === undefined ? {} : { score }),
      ...(threshold === undefined ? {} : { threshold }),
    };
  });
}

/** `needs 1, got 0`; nothing without a score. */
export function needs({ score, threshold }: Why): string | undefined {
  if (score === undefined || threshold === undefined) return undefined;
  return `needs ${threshold}, got ${scoreText(score, threshold)}`;
}

function whatOf(overall: EvalMetricResult, inTurns: readonly InTurn[]): string[] {
  if (overall.reason !== undefined) return [overall.reason];
  const reason = inTurns.find(({ metric }) => metric.reason !== undefined)?.metric.reason;
  if (overall.evalStatus === EvalStatus.NOT_EVALUATED) return reason === undefined ? [] : [reason];
  const found = [
    ...callsOf(inTurns),
    ...rubricsOf(overall, inTurns),
    ...sentencesOf(inTurns),
    ...wordsOf(inTurns),
    ...votesOf(inTurns),
  ];
  if (found.length <= MOST) return found;
  return [...found.slice(0, MOST), `${count(found.length - MOST, "more difference")}`];
}

/** What became of tool calls; the same difference of several calls is one. */
function callsOf(inTurns: readonly InTurn[]): string[] {
  const times = new Map<string, number>();
  const add = (text: string) => times.set(text, (times.get(text) ?? 0) + 1);
  for (const { metric, content } of inTurns) {
    const expected = content?.expected?.calls ?? [];
    const actual = content?.actual.calls ?? [];
    for (const entry of metric.explanation?.alignment ?? []) {
      const name = (expected[entry.expectedIndex ?? -1] ?? actual[entry.actualIndex ?? -1])?.name ?? "(unnamed)";
      for (const text of differencesOf(entry, name)) add(text);
    }
  }
  return [...times].map(([text, number]) => (number === 1 ? text : `${text} (${number} times)`));
}

function differencesOf({ kind, differences = [] }: AlignmentEntry, name: string): string[] {
  switch (kind) {
    case "missing":
      return [`${name} was not called`];
    case "extra":
      return [`${name} was called and not expected`];
    case "moved":
      return [`${name} was called in another place`];
    case "arguments":
      return differences.length === 0
        ? [`${name} has other arguments`]
        : differences.map(({ path, expected, actual }) => `${name}: ${valueChange(path, expected, actual)}`);
    default:
      return [];
  }
}

function valueChange(path: string, expected: unknown, actual: unknown): string {
  const of = path === "" ? "the argument list" : path;
  if (actual === undefined) return `${of} is missing, expected ${short(expected)}`;
  if (expected === undefined) return `${of} is ${short(actual)}, not expected`;
  return `${of} is ${short(actual)}, expected ${short(expected)}`;
}

function short(value: unknown): string {
  const text = shownJson(value) ?? "nothing";
  return text.length <= 60 ? text : `${head(text, 60)}…`;
}

/** The rubrics that are not met, by what they ask for. */
function rubricsOf(overall: EvalMetricResult, inTurns: readonly InTurn[]): string[] {
  const texts = new Map<string, string>();
  const unmet = new Set<string>();
  for (const { explanation, details } of [overall, ...inTurns.map(({ metric }) => metric)]) {
    for (const { rubricId, text } of explanation?.rubrics ?? []) if (text !== "") texts.set(rubricId, text);
    for (const { rubricId, score } of details?.rubricScores ?? []) {
      if (typeof score === "number" && score < 1) unmet.add(rubricId);
    }
  }
  return [...unmet].map((id) => `rubric not met: ${excerpt(texts.get(id) ?? id)}`);
}

/** The labels of sentences that count against a response. */
const AGAINST: readonly string[] = ["unsupported", "contradictory", "disputed"];

/** The sentences that count against the response. */
function sentencesOf(inTurns: readonly InTurn[]): string[] {
  return inTurns.flatMap(({ metric }) =>
    (metric.explanation?.sentences ?? [])
      .filter(({ label }) => AGAINST.includes(label))
      .map(({ label, text }) => `${label}: “${excerpt(text)}”`),
  );
}

/** How much of the words the texts share. */
function wordsOf(inTurns: readonly InTurn[]): string[] {
  const [first] = inTurns.flatMap(({ metric }) => metric.explanation?.tokens ?? []);
  if (first === undefined || inTurns.length !== 1) return [];
  const { precision, recall } = first;
  if (recall === 0) return ["the response has no word of what is expected"];
  const share = (of: number) => `${Math.round(of * 100)} %`;
  return [
    `the response has ${share(recall)} of the expected words, and ${share(precision)} of its words are expected ones`,
  ];
}

/** How the samples voted that judged a whole response. */
function votesOf(inTurns: readonly InTurn[]): string[] {
  const votes = inTurns
    .filter(({ metric: { explanation } }) => explanation?.rubrics === undefined)
    .flatMap(({ metric }) => metric.explanation?.samples?.votes ?? [])
    .filter(({ purpose }) => purpose === "verdict");
  const against = votes.filter(({ score }) => typeof score === "number" && score <= 0.5).length;
  return against === 0 ? [] : [`${against} of ${count(votes.length, "vote")} say${against === 1 ? "s" : ""} no`];
}

/** The beginning of a text, on one line. */
function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 90 ? line : `${head(line, 90).trimEnd()}…`;
}
