/**
 * What judges had a part in, as every report tells it: the votes of the samples, the verdicts on rubrics, the labels of
 * sentences, a judge's remark.
 */

import { OF_CONVERSATIONS, VOTE_WORDS } from "../generated/metrics.js";
import type {
  EvalMetricResult,
  EvalMetricResultPerInvocation,
  EvalSetResult,
  Explanation,
  RubricScore,
  RubricVotes,
  SampleVote,
  Sentence,
} from "../types.js";
import { isRecord } from "../lists.js";
import { asksFor, voteWords } from "../metric-names.js";
import { amountText, count, oneLine, scoreText, shorten } from "./text.js";

/** How a finding bears on the score: for it, against it, or not at all. */
export type Bearing = "for" | "against" | "none";

/** What a sample, a rubric or a sentence was found to be: one word or two, and how that bears on the score. */
export interface Finding {
  word: string;
  bearing: Bearing;
}

/** Whether google-adk leaves a metric to Vertex AI: what its judge says comes among the rubrics. */
function leavesRemarks(metricName: string): boolean {
  return asksFor(metricName, "score");
}

/** Whether a metric judges a conversation as a whole. */
export function isOfConversation({ metricName }: EvalMetricResult): boolean {
  return OF_CONVERSATIONS.includes(metricName);
}

export function isNumber(value: number | undefined | null): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isRemark(metric: EvalMetricResult, { rubricId, score }: RubricScore): boolean {
  return leavesRemarks(metric.metricName) && !isNumber(score) && (rubricId === "explanation" || rubricId === "error");
}

/** The rubrics of a result, in order. */
export function rubricsOf(metric: EvalMetricResult): RubricScore[] {
  return (metric.details?.rubricScores ?? []).filter((entry) => !isRemark(metric, entry));
}

/** What the judge remarked on a result: why it is as it is, or what went wrong if the reason does not say so already. */
export function remarksOf(metric: EvalMetricResult): { isError: boolean; text: string }[] {
  return (metric.details?.rubricScores ?? [])
    .filter((entry) => isRemark(metric, entry))
    .map(({ rubricId, rationale }) => ({ isError: rubricId === "error", text: rationale ?? "" }))
    .filter(({ text }) => text !== "" && text !== metric.reason);
}

/** Whether a judge had a part in a result, as far as the result tells. */
export function isJudged({ details, explanation }: EvalMetricResult): boolean {
  return Boolean(
    details?.rubricScores?.length || explanation?.samples || explanation?.sentences || explanation?.scoredBy,
  );
}

/** Whether judges had a part in some results, as far as these tell. */
export function anyJudged(results: readonly EvalSetResult[]): boolean {
  return results.some(
    (set) =>
      set.judges?.length ||
      set.judgeUsage ||
      set.evalCaseResults.some(
        (result) =>
          result.overallEvalMetricResults.some(isJudged) ||
          result.evalMetricResultPerInvocation.some((turn) => turn.evalMetricResults.some(isJudged)),
      ),
  );
}

/** Who scored a result; undefined where it does not say. */
export function scorerText({ explanation }: EvalMetricResult): string | undefined {
  if (explanation?.scoredBy === "vertex") return "scored by Vertex AI";
  return explanation?.scoredBy === "judge" ? "scored by a judge model" : undefined;
}

/** A sample with what it said and how it is named. */
export interface JudgedVote {
  vote: SampleVote;
  /** `sample 2`, or `step 1, sample 2` where a result has several steps. */
  name: string;
  finding: Finding;
  /** Whether it said one thing, and the majority made the score the other. */
  isOutvoted: boolean;
}

/** What each sample of a result said; linear in the samples. */
export function judgedVotes(metric: EvalMetricResult): JudgedVote[] {
  const votes = metric.explanation?.samples?.votes ?? [];
  const findingOf = voteReader(metric);
  const several = hasSteps(metric.explanation);
  const tied = isTied(metric);
  return votes.map((vote) => {
    const finding = findingOf(vote);
    const { bearing } = finding;
    return {
      vote,
      name: sampleName(vote, several),
      finding,
      isOutvoted: bearing === "against" ? metric.score === 1 : bearing === "for" && metric.score === 0 && !tied,
    };
  });
}

/** How the samples of a result are read. */
export function voteReader(metric: EvalMetricResult): (vote: SampleVote) => Finding {
  const ofRubrics = isOfRubrics(metric);
  const metFinding = metReader(metric);
  const known = voteWords(metric.metricName);
  return ({ purpose, score }) => {
    const words = purpose === "verdict" ? (known ?? VERDICT_WORDS) : known;
    if (isNumber(score)) {
      if (purpose === "verdict" && ofRubrics) return metFinding(score);
      if (words !== undefined) return yesOrNo(score > 0.5, ...words);
      const amount = amountText(score, 4);
      return { word: purpose === "validate" ? `labels ${amount}` : amount, bearing: "none" };
    }
    return { word: purpose === "segment" ? "sentences" : "unreadable", bearing: "none" };
  };
}

function yesOrNo(isYes: boolean, yes: string, no: string): Finding {
  return isYes ? { word: yes, bearing: "for" } : { word: no, bearing: "against" };
}

/** Whether the samples of a result are about rubrics. */
export function isOfRubrics({ metricName, explanation }: EvalMetricResult): boolean {
  return Boolean(explanation?.rubrics) || metricName.startsWith("rubric_based");
}

/**
 * How many rubrics a sample found met, from the mean of its verdicts. That tells how many only if every sample that
 * could be read has a verdict on every rubric.
 */
function metReader({ explanation }: EvalMetricResult): (mean: number) => Finding {
  const rubrics = explanation?.rubrics ?? [];
  const verdicts = rubrics.reduce((sum, { yes, no }) => sum + yes + no, 0);
  const read = (explanation?.samples?.votes ?? []).filter(({ score }) => isNumber(score)).length;
  const { length } = rubrics;
  if (length === 1) return (mean) => yesOrNo(mean === 1, "met", "not met");
  const isWhole = length > 0 && verdicts === read * length;
  return (mean) => ({
    word: isWhole ? `${Math.round(mean * length)} of ${length} met` : `mean ${amountText(mean, 4)}`,
    bearing: "none",
  });
}

/** The word for what a tie of the samples counts as; undefined where there is none, or where rubrics are voted on. */
function tieWord(metric: EvalMetricResult): string | undefined {
  if (metric.score !== 0 || isOfRubrics(metric) || !isVote(metric)) return undefined;
  const findings = (metric.explanation?.samples?.votes ?? []).map(voteReader(metric));
  const against = findings.filter(({ bearing }) => bearing === "against");
  const isTie = against.length === findings.filter(({ bearing }) => bearing === "for").length;
  return isTie ? against[0]?.word : undefined;
}

function isTied(metric: EvalMetricResult): boolean {
  const [rubric, ...others] = metric.explanation?.rubrics ?? [];
  return tieWord(metric) !== undefined || (rubric !== undefined && others.length === 0 && rubric.yes === rubric.no);
}

/** What votes are called of metrics that users derive. */
const VERDICT_WORDS = ["valid", "invalid"] as const;

const COUNTED: readonly string[] = [...new Set([...VERDICT_WORDS, ...Object.values(VOTE_WORDS).flat()]), "unreadable"];

/**
 * `4 of 5 samples asked: 2 valid, 1 invalid, 1 unreadable; early stopping saved 1`; undefined without samples, and for
 * a single one that was answered, which speaks for itself.
 */
export function samplesText(metric: EvalMetricResult): string | undefined {
  const samples = metric.explanation?.samples;
  if (!samples) return undefined;
  const { asked, of, votes, risk } = samples;
  if (of === 1 && votes.length === 1) return undefined;
  const findingOf = voteReader(metric);
  const words = votes.map((vote) => findingOf(vote).word);
  const parts = words.filter((word, at) => votes[at]?.purpose === "score" && !COUNTED.includes(word));
  for (const word of COUNTED) {
    const times = words.filter((one) => one === word).length;
    if (times > 0) parts.push(`${times} ${word}`);
  }
  const lost = asked - votes.length;
  if (lost > 0) parts.push(`${lost} without a reply`);
  const spared = of - asked;
  const tie = tieWord(metric);
  const head = asked === of ? `${count(of, "sample")} asked` : `${asked} of ${count(of, "sample")} asked`;
  return [
    ...disagreement(votes, words),
    parts.length > 0 ? `${head}: ${parts.join(", ")}` : head,
    ...(tie ? [`a tie counts as ${tie}`] : []),
    // Only votes stop early: a missing step or an unsettled vote was never asked for another reason.
    ...(spared > 0
      ? [isNumber(metric.score) && isVote(metric) ? `early stopping saved ${spared}` : `${spared} not asked`]
      : []),
    ...(isNumber(risk) ? [`risk that all samples would decide otherwise: ${percentOf(risk)}`] : []),
  ].join("; ");
}

/** `the panel disagrees (gpt-6-luna: valid, llama3.2: 2 invalid and 1 valid)`; nothing where most samples of each judge say the same. */
function disagreement(votes: readonly SampleVote[], words: readonly string[]): string[] {
  const said = new Map<string, string[]>();
  for (const [at, { judge }] of votes.entries()) {
    if (judge !== undefined) said.set(judge, [...(said.get(judge) ?? []), words[at] as string]);
  }
  const judges = [...said].map(([judge, all]) => ({ judge, tally: tallyOf(all).sort(([, a], [, b]) => b - a) }));
  const most = judges.map(({ tally }) => {
    const highest = Math.max(...tally.map(([, times]) => times));
    return tally
      .flatMap(([word, times]) => (times === highest ? [word] : []))
      .sort()
      .join();
  });
  if (new Set(most).size < 2) return [];
  const texts = judges.map(({ judge, tally }) => {
    const text = tally.length === 1 ? tally[0]?.[0] : tally.map(([word, times]) => `${times} ${word}`).join(" and ");
    return `${shorten(oneLine(judge), 60)}: ${text}`;
  });
  return [`the panel disagrees (${texts.join(", ")})`];
}

/** How often each word occurs. */
function tallyOf(words: readonly string[]): [word: string, times: number][] {
  return [...new Set(words)].map((word) => [word, words.filter((one) => one === word).length]);
}

/** Whether a result comes of several samples of one question. */
export function isVote({ explanation }: EvalMetricResult): boolean {
  const { of = 0, votes = [] } = explanation?.samples ?? {};
  return of > 1 && votes.every(({ purpose }) => purpose === "verdict" || purpose === "score");
}

/** Tokens of prompts and of replies. */
export interface Tokens {
  inputTokens: number;
  outputTokens: number;
}

/** The tokens of all replies about a result, cached ones aside; undefined where none are known. */
export function tokensOf(metric: EvalMetricResult): Tokens | undefined {
  const known = (metric.explanation?.samples?.votes ?? []).flatMap(({ usage, cached }) =>
    usage && !cached ? [usage] : [],
  );
  if (known.length === 0) return undefined;
  return {
    inputTokens: known.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: known.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}

/** Whether any are known: Vertex AI's evaluation service tells none. */
export function hasTokens({ inputTokens, outputTokens }: Tokens): boolean {
  return inputTokens + outputTokens > 0;
}

/** `1,204 tokens in, 96 out` */
export function tokensText({ inputTokens, outputTokens }: Tokens): string {
  return `${count(inputTokens, "token")} in, ${amountText(outputTokens)} out`;
}

/** `step 1, sample 2`: a sample by its place, steps only where a result has several. */
function sampleName({ sampleIndex, stepIndex, judge }: SampleVote, several: boolean): string {
  const by = judge === undefined ? "" : `, ${shorten(oneLine(judge), 60)}`;
  const name = several ? `step ${(stepIndex ?? 0) + 1}, sample ${sampleIndex + 1}` : `sample ${sampleIndex + 1}`;
  return `${name}${by}`;
}

/** Whether the samples of a result are about several steps of a turn. */
export function hasSteps(explanation: Explanation | undefined): boolean {
  return (explanation?.samples?.votes ?? []).some(({ stepIndex }) => (stepIndex ?? 0) > 0);
}

/** The verdict on a rubric: met or not in a turn, a share over several turns. */
export function rubricFinding({ score }: RubricScore): Finding {
  if (!isNumber(score)) return { word: "unscored", bearing: "none" };
  if (score === 1) return { word: "met", bearing: "for" };
  if (score === 0) return { word: "not met", bearing: "against" };
  return { word: `met ${scoreText(score)}`, bearing: "against" };
}

/** A rubric of a turn with all that is known of it. */
export interface JudgedRubric {
  rubricId: string;
  /** The property in words. */
  text?: string | undefined;
  finding: Finding;
  /** How the samples voted. */
  votes?: RubricVotes | undefined;
  rationale?: string | undefined;
}

/** The rubrics of a result: those with a verdict, then those that the samples were asked about in vain. */
export function judgedRubrics(
  turn: EvalMetricResultPerInvocation | undefined,
  metric: EvalMetricResult,
  overall: EvalMetricResult | undefined,
): JudgedRubric[] {
  const texts = wordsOfRubrics(turn, metric, overall);
  const votes = new Map((metric.explanation?.rubrics ?? []).map((rubric) => [rubric.rubricId, rubric]));
  const scores = rubricsOf(metric);
  const scored = new Set(scores.map(({ rubricId }) => rubricId));
  const inVain = [...votes.keys()].filter((rubricId) => !scored.has(rubricId)).map((rubricId) => ({ rubricId }));
  return [
    ...scores.map((rubric) => ({ ...rubric, finding: rubricFinding(rubric) })),
    ...inVain.map((rubric) => ({ ...rubric, finding: { word: "no verdict", bearing: "none" as const } })),
  ].map((rubric) => ({ ...rubric, text: texts.get(rubric.rubricId), votes: votes.get(rubric.rubricId) }));
}

/** `3 yes, 1 no`: how the samples voted on a rubric; undefined where one or none did. */
export function votesText({ yes, no, unscored }: RubricVotes): string | undefined {
  if (yes + no + unscored < 2) return undefined;
  const parts = [
    [yes, "yes"],
    [no, "no"],
    [unscored, "unscored"],
  ] as const;
  const text = parts
    .filter(([times]) => times > 0)
    .map(([times, word]) => `${times} ${word}`)
    .join(", ");
  return yes === no && yes > 0 ? `${text}; a tie counts as not met` : text;
}

/** The words of each rubric by its id, from what the votes, a turn and a metric's criterion say of them. */
export function wordsOfRubrics(
  turn: EvalMetricResultPerInvocation | undefined,
  ...metrics: (EvalMetricResult | undefined)[]
): Map<string, string> {
  const lists: unknown[] = [
    turn?.actualInvocation?.rubrics,
    turn?.expectedInvocation?.rubrics,
    ...metrics.map((metric) => metric?.criterion?.rubrics),
  ];
  const words = new Map<string, string>();
  for (const metric of metrics) {
    for (const { rubricId, text } of metric?.explanation?.rubrics ?? []) if (text !== "") words.set(rubricId, text);
  }
  for (const rubric of lists.flatMap((list) => (Array.isArray(list) ? list : []))) {
    if (!isRecord(rubric)) continue;
    const id = rubric.rubricId ?? rubric.rubric_id;
    const content = rubric.rubricContent ?? rubric.rubric_content;
    const text = isRecord(content) ? (content.textProperty ?? content.text_property) : content;
    if (typeof id === "string" && typeof text === "string" && text !== "" && !words.has(id)) words.set(id, text);
  }
  return words;
}

/** How a sentence's label counts. */
export function sentenceFinding({ label }: Sentence): Finding {
  const word = oneLine(shorten(label, 40)).replaceAll("_", " ") || "no label";
  if (label === "supported") return { word, bearing: "for" };
  return { word, bearing: ["unsupported", "contradictory", "disputed"].includes(label) ? "against" : "none" };
}

/** The sentences of one step of a turn. */
export interface SentenceGroup {
  /** The step, from 0; absent where there is one only. */
  step?: number;
  sentences: Sentence[];
}

/** The sentences of a result by step. */
export function sentenceGroups({ explanation }: EvalMetricResult): SentenceGroup[] {
  const sentences = explanation?.sentences ?? [];
  const steps = new Map<number, Sentence[]>();
  for (const sentence of sentences) {
    const step = sentence.stepIndex ?? 0;
    const group = steps.get(step);
    if (group) group.push(sentence);
    else steps.set(step, [sentence]);
  }
  const groups = [...steps].map(([step, sentences]) => ({ step, sentences }));
  return groups.length > 1 || hasSteps(explanation) ? groups : groups.map(({ sentences }) => ({ sentences }));
}

/** A chance that may be far below one per cent: `0.4%`. */
export function percentOf(chance: number): string {
  return chance < 0.0005 ? "less than 0.1%" : `${Number((100 * chance).toFixed(1))}%`;
}
