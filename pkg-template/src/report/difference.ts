/**
 * Why a case did not pass, in lines that every text format shows in its own way: the calls of a
 * trajectory that are not as expected, the two texts of a response, how the judge's samples voted, the rubrics not
 * met, the sentences not supported, the reason a metric has no score.
 */

import { EvalStatus } from "../enums.js";
import { scoreIn } from "../metric-info.js";
import type {
  AlignmentEntry,
  EvalCaseResult,
  EvalMetricResult,
  EvalMetricResultPerInvocation,
  FunctionResponse,
  Invocation,
} from "../types.js";
import {
  isJudged,
  isOfConversation,
  isOfRubrics,
  isVote,
  judgedRubrics,
  judgedVotes,
  remarksOf,
  samplesText,
  scorerText,
  sentenceFinding,
  sentenceGroups,
  tokensOf,
  tokensText,
  votesText,
} from "./judged.js";
import { proseOf } from "../votes.js";
import { answerText, callsOf, userText } from "../invocation.js";
import { isNoSource, outputsOf, eventsOf } from "../turn-events.js";
import { outputText } from "./tool-output.js";
import { firstByName, judgedMetrics } from "./results.js";
import { callText, count, head, oneLine, scoreText, shorten, thresholdText, valueText } from "./text.js";

/** What a line of a difference says. */
export type Mark = "same" | "expected" | "actual" | "changed" | "moved" | "note";

/** A line of a difference: `text` is one line, already visible. */
export interface DifferenceLine {
  mark: Mark;
  text: string;
}

/** A turn in which a metric did not pass. */
export interface TurnFailure {
  /** The turn, from 1. */
  turn: number;
  user: string;
  metric: EvalMetricResult;
  lines: DifferenceLine[];
}

/** A metric that did not pass in a case. */
export interface MetricFailure {
  metric: EvalMetricResult;
  /** What concerns the whole conversation. */
  lines: DifferenceLine[];
  turns: TurnFailure[];
}

const TEXT_WIDTH = 600;

/** The metrics of a case that failed or were not evaluated, each with its turns that did. */
export function failuresOf(result: EvalCaseResult, options: FailureDetail = {}): MetricFailure[] {
  const found = turnsByMetric(result);
  return judgedMetrics(result.overallEvalMetricResults)
    .filter((metric) => metric.evalStatus !== EvalStatus.PASSED)
    .map((metric) => {
      const inTurns = found.get(metric.metricName) ?? [];
      // What is named twice tells its turns once.
      found.delete(metric.metricName);
      if (isOfConversation(metric)) {
        return { metric, lines: conversationLines(result, metric, inTurns.at(-1), options), turns: [] };
      }
      const turns = inTurns.flatMap(({ turn, index, ofTurn }) => {
        if (!tellsWhy(ofTurn, metric)) return [];
        return [
          {
            turn: index + 1,
            user: userText(turn.actualInvocation) || userText(turn.expectedInvocation),
            metric: ofTurn,
            lines: differenceLines(turn, ofTurn, { ...options, overall: metric }),
          },
        ];
      });
      return { metric, lines: turns.length === 0 ? judgedLines(undefined, metric) : [], turns };
    });
}

/** What a metric found in a turn: the first of its results there. */
export interface InTurn {
  turn: EvalMetricResultPerInvocation;
  index: number;
  ofTurn: EvalMetricResult;
}

/** What each metric found in the turns that have it. */
export function turnsByMetric({ evalMetricResultPerInvocation: turns }: EvalCaseResult): Map<string, InTurn[]> {
  const found = new Map<string, InTurn[]>();
  for (const [index, turn] of turns.entries()) {
    for (const [metricName, ofTurn] of firstByName(turn.evalMetricResults)) {
      const known = found.get(metricName);
      if (known === undefined) found.set(metricName, [{ turn, index, ofTurn }]);
      else known.push({ turn, index, ofTurn });
    }
  }
  return found;
}

/** What was found of a conversation as a whole: the result is that of the last turn. */
function conversationLines(
  { evalMetricResultPerInvocation: turns }: EvalCaseResult,
  metric: EvalMetricResult,
  last: InTurn | undefined,
  options: FailureDetail,
): DifferenceLine[] {
  return last?.index === turns.length - 1 && isJudged(last.ofTurn)
    ? differenceLines(last.turn, last.ofTurn, { ...options, overall: metric })
    : judgedLines(undefined, metric);
}

/** A turn without a score says nothing that the metric does not say, unless its reason is another or votes came in. */
function tellsWhy(ofTurn: EvalMetricResult, overall: EvalMetricResult): boolean {
  if (ofTurn.evalStatus === EvalStatus.FAILED) return true;
  if (ofTurn.evalStatus !== EvalStatus.NOT_EVALUATED) return false;
  if (ofTurn.explanation?.samples?.votes.length) return true;
  return ofTurn.reason !== undefined && ofTurn.reason !== overall.reason;
}

/** How much to report about a failure. */
export interface FailureDetail {
  /** What one of the samples that speak against said, where nothing else gives the reason. */
  dissent?: boolean;
}

/** What there is to know beside a turn's result. */
export interface DifferenceOptions extends FailureDetail {
  /** The metric's result for the whole conversation, whose criterion may hold the words of rubrics. */
  overall?: EvalMetricResult | undefined;
  /** Everything that the judge said, what speaks for the score too. */
  whole?: boolean;
}

/** What a metric found in a turn, line by line. */
export function differenceLines(
  turn: EvalMetricResultPerInvocation,
  metric: EvalMetricResult,
  options: DifferenceOptions = {},
): DifferenceLine[] {
  const { alignment, tokens, warnings } = metric.explanation ?? {};
  return [
    ...(alignment ? alignmentLines(turn, alignment) : []),
    ...(!alignment && isTrajectory(metric.metricName) ? callLines(turn) : []),
    ...(tokens ? overlapLines(turn, tokens) : []),
    ...(!tokens && isMatch(metric.metricName) ? textLines(turn) : []),
    ...judgedLines(turn, metric, options),
    ...(warnings ?? []).map((warning) => note(`warning: ${shorten(warning, TEXT_WIDTH)}`)),
  ];
}

function isTrajectory(metricName: string): boolean {
  return metricName.startsWith("tool_trajectory") || metricName === "tool_parameter_match";
}

function isMatch(metricName: string): boolean {
  return metricName.startsWith("response_match") || metricName === "final_response_match_v2";
}

/** Whether a turn has an expected response, or a metric that misses one. */
export function showsTexts({ expectedInvocation, evalMetricResults }: EvalMetricResultPerInvocation): boolean {
  if (!expectedInvocation) return false;
  return answerText(expectedInvocation) !== "" || evalMetricResults.some(({ metricName }) => isMatch(metricName));
}

/** Whether a turn has expected tool calls, or a metric for which none are expected. */
export function showsCalls({ expectedInvocation, evalMetricResults }: EvalMetricResultPerInvocation): boolean {
  if (!expectedInvocation) return false;
  return (
    callsOf(expectedInvocation).length > 0 ||
    evalMetricResults.some(({ metricName, explanation }) => isTrajectory(metricName) || explanation?.alignment)
  );
}

function note(text: string): DifferenceLine {
  return { mark: "note", text };
}

/** The calls of a turn as the alignment pairs them. */
function alignmentLines(turn: EvalMetricResultPerInvocation, alignment: readonly AlignmentEntry[]): DifferenceLine[] {
  const expected = callsOf(turn.expectedInvocation);
  const actual = callsOf(turn.actualInvocation);
  const outputs = outputsOf(turn.actualInvocation);
  if (alignment.length === 0) return [note("no tool calls were expected, and none were made")];
  return alignment.flatMap((entry): DifferenceLine[] => {
    const wanted = callText(expected[entry.expectedIndex ?? -1] ?? {});
    const made = callText(actual[entry.actualIndex ?? -1] ?? {});
    const gave = outputLines(outputs[entry.actualIndex ?? -1]);
    switch (entry.kind) {
      case "match":
        return [{ mark: "same", text: made }, ...gave];
      case "missing":
        return [{ mark: "expected", text: wanted }];
      case "extra":
        return [{ mark: "actual", text: made }, ...gave];
      case "moved":
        return [{ mark: "moved", text: `${made} ${placesText(entry)}` }, ...gave];
      default:
        return [
          { mark: "changed", text: made },
          ...gave,
          ...(entry.differences ?? []).map(({ path, expected, actual }): DifferenceLine => ({
            mark: "changed",
            text: `  ${oneLine(path) || "arguments"}: ${sideText(expected, actual)} → ${sideText(actual, expected)}`,
          })),
        ];
    }
  });
}

/** What a tool gave, below its call. */
export function outputLines(output: FunctionResponse | undefined): DifferenceLine[] {
  return output === undefined ? [] : [note(`  ${outputText(output)}`)];
}

/** What happened in a turn of a run without scores. */
export interface TurnTrace {
  /** The turn, from 1. */
  turn: number;
  user: string;
  lines: DifferenceLine[];
}

/** Lines of a turn that are shown of a run without scores. */
const MOST_TRACED = 60;

/** What was done in a run that could not be scored, turn by turn; nothing where metrics tell. */
export function traceOf(result: EvalCaseResult): TurnTrace[] {
  if (result.overallEvalMetricResults.length > 0) return [];
  return result.evalMetricResultPerInvocation.map(({ actualInvocation }, at) => {
    const events = eventsOf(actualInvocation).events.filter(isNoSource);
    const lines = events.slice(0, MOST_TRACED).map((event): DifferenceLine => {
      if (event.kind === "call") return { mark: "actual", text: callText(event.call) };
      if (event.kind === "output") return note(`  ${outputText(event.output, TEXT_WIDTH)}`);
      return note(`${event.kind === "thought" ? "thought: " : ""}${shorten(event.text, TEXT_WIDTH)}`);
    });
    const left = events.length - lines.length;
    const answer = answerText(actualInvocation);
    return {
      turn: at + 1,
      user: userText(actualInvocation),
      lines: [
        ...lines,
        ...(left > 0 ? [note(`… ${count(left, "more event")}`)] : []),
        note(answer === "" ? "no answer" : `answer: ${shorten(answer, TEXT_WIDTH)}`),
      ],
    };
  });
}

/** `(expected as call 1, made as call 3)` */
export function placesText({ expectedIndex, actualIndex }: AlignmentEntry): string {
  return `(expected as call ${(expectedIndex ?? 0) + 1}, made as call ${(actualIndex ?? 0) + 1})`;
}

/**
 * One side of a difference; nothing there is not null. An integer that JavaScript's numbers cannot hold comes as its
 * digits: opposite a number it is shown as the number that it is.
 */
export function sideText(value: unknown, opposite: unknown): string {
  if (value === undefined) return "(absent)";
  const isNumber = typeof opposite === "number" && typeof value === "string" && isUnsafeInteger(value);
  return isNumber ? value : valueText(value, 200);
}

function isUnsafeInteger(text: string): boolean {
  return /^-?[1-9]\d{15,199}$/.test(text) && !Number.isSafeInteger(Number(text));
}

/** Both lists of calls as they are, for results that came without an alignment. */
function callLines(turn: EvalMetricResultPerInvocation): DifferenceLine[] {
  const list = (title: string, invocation: Invocation | undefined) => {
    const calls = callsOf(invocation);
    const outputs = outputsOf(invocation);
    return [
      note(calls.length === 0 ? `${title}: none` : `${title}:`),
      ...calls.flatMap((call, at) => [note(`  ${callText(call)}`), ...outputLines(outputs[at])]),
    ];
  };
  return [...list("expected calls", turn.expectedInvocation), ...list("actual calls", turn.actualInvocation)];
}

/** The two texts of a response, shortened. */
function textLines(turn: EvalMetricResultPerInvocation): DifferenceLine[] {
  return [
    { mark: "expected", text: shorten(answerText(turn.expectedInvocation), TEXT_WIDTH) || "(no text)" },
    { mark: "actual", text: shorten(answerText(turn.actualInvocation), TEXT_WIDTH) || "(no text)" },
  ];
}

function overlapLines(
  turn: EvalMetricResultPerInvocation,
  tokens: { precision: number; recall: number },
): DifferenceLine[] {
  return [...textLines(turn), note(`precision ${scoreText(tokens.precision)}, recall ${scoreText(tokens.recall)}`)];
}

/** What the judge said: its votes and remarks, the rubrics not wholly met, the sentences not supported. */
function judgedLines(
  turn: EvalMetricResultPerInvocation | undefined,
  metric: EvalMetricResult,
  options: DifferenceOptions = {},
): DifferenceLine[] {
  const scorer = scorerText(metric);
  const tokens = options.whole ? tokensOf(metric) : undefined;
  const votes = [
    options.whole || isVote(metric) ? samplesText(metric) : undefined,
    tokens && tokensText(tokens),
  ].filter((part) => part !== undefined);
  return [
    ...(scorer ? [note(scorer)] : []),
    ...(votes.length > 0 ? [note(votes.join("; "))] : []),
    ...sampleLines(metric, options),
    ...remarksOf(metric).map(({ isError, text }) =>
      note(`${isError ? "the judge's error" : "the judge"}: ${shorten(text, TEXT_WIDTH)}`),
    ),
    ...rubricLines(turn, metric, options),
    ...sentenceLines(metric, options),
  ];
}

/**
 * What the samples of a vote said: each, or the first that speaks against. Other replies say what the rubrics or
 * sentences say, if they could be read.
 */
function sampleLines(metric: EvalMetricResult, { whole, dissent }: DifferenceOptions): DifferenceLine[] {
  const found = isVote(metric) ? judgedVotes(metric) : [];
  const against = dissent ? found.find(({ finding }) => finding.bearing === "against") : undefined;
  return (whole ? found : against ? [against] : []).flatMap(({ vote, name, finding: { word } }) => {
    if (isOfRubrics(metric) && word !== "unreadable") return [];
    const reply = head(proseOf(vote.reply) ?? vote.reply, 1000).replace(/\s+/g, " ");
    const replyText = shorten(reply, 160) || "(no text)";
    return [note(`  ${name}, ${word}${vote.cached ? ", reused reply" : ""}: ${replyText}`)];
  });
}

function rubricLines(
  turn: EvalMetricResultPerInvocation | undefined,
  metric: EvalMetricResult,
  { overall, whole }: DifferenceOptions,
): DifferenceLine[] {
  return judgedRubrics(turn, metric, overall)
    .filter(({ finding }) => whole || finding.bearing !== "for")
    .flatMap(({ rubricId, text, finding, votes, rationale }) => {
      const counts = votes && votesText(votes);
      const title = `rubric ${shorten(rubricId, 200)} ${finding.word}${counts ? ` (${counts})` : ""}`;
      const why = rationale ? shorten(rationale, TEXT_WIDTH) : undefined;
      if (text === undefined) return [note(why ? `${title}: ${why}` : title)];
      return [note(`${title}: ${shorten(text, TEXT_WIDTH)}`), ...(why ? [note(`  why: ${why}`)] : [])];
    });
}

function sentenceLines(metric: EvalMetricResult, { whole }: DifferenceOptions): DifferenceLine[] {
  return sentenceGroups(metric).flatMap(({ step, sentences }) =>
    sentences
      .map((sentence) => ({ sentence, finding: sentenceFinding(sentence) }))
      .filter(({ finding }) => whole || finding.bearing === "against")
      .flatMap(({ sentence, finding }) => {
        const below = [
          ["why: ", sentence.rationale],
          ["supported by: ", sentence.supportingExcerpt],
          ["contradicted by: ", sentence.contradictingExcerpt],
        ] as const;
        return [
          note(
            `${step === undefined ? "" : `step ${step + 1}, `}${finding.word}: ${shorten(sentence.text, TEXT_WIDTH)}`,
          ),
          ...below.flatMap(([title, text]) => (text ? [note(`  ${title}${shorten(text, TEXT_WIDTH)}`)] : [])),
        ];
      }),
  );
}

/** `score 0.65, threshold 0.8`; or that there is no score. */
export function verdictText(metric: EvalMetricResult): string {
  const score = hasScore(metric) ? `score ${scoreText(metric.score, metric.threshold)}` : "no score";
  return metric.threshold === undefined ? score : `${score}, threshold ${thresholdText(metric.threshold)}`;
}

/** Whether a metric has a score to show. */
export function hasScore(metric: EvalMetricResult): boolean {
  return scoreIn(metric) !== undefined;
}
