/** How calibrations and comparisons of judges are put into words. */

import { isObject, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { percentOf } from "../report/judged.js";
import { caseName } from "../report/results.js";
import { amountText, count, oneLine, percent } from "../report/text.js";
import type { Estimate } from "../statistics/estimates.js";
import { scaleOf } from "./matched.js";
import { judgeText } from "./subjects.js";
import type {
  Calibration,
  Consistency,
  Disagreement,
  JudgePrice,
  SubjectCalibration,
  SubjectComparison,
} from "./types.js";

/** @throws {AdkMetricsError} `invalid_input` for anything but a calibration or a comparison of judges. */
export function checkFound(given: unknown): void {
  if (isObject(given) && "subjects" in given && Array.isArray(given.subjects)) return;
  const { message, path = "" } = unexpected("a calibration, or a comparison of judges", given, "calibration");
  const help = "Pass the result of calibrate() or compareJudges()";
  throw new AdkMetricsError("invalid_input", message, { path, help });
}

/** `Calibration of gpt-6-luna`. */
export function judgesText({ judges }: Calibration): string {
  const who = [...new Set(judges.map(judgeText))].map(oneLine).join(" and ");
  return `Calibration${who === "" ? "" : ` of ${who}`}`;
}

/** `85% (95% interval: 71 to 93%)` */
export function shareText(estimate: Estimate | undefined, confidence: number): string {
  if (estimate === undefined) return "unknown";
  const { value, low, high } = estimate;
  if (low === undefined || high === undefined) return percent(value);
  return `${percent(value)} (${percent(confidence)} interval ${Math.round(low * 100)} to ${percent(high)})`;
}

export function numberText({ value, low, high }: Estimate): string {
  return low === undefined || high === undefined
    ? value.toFixed(2)
    : `${value.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

export function subjectName({
  metricName,
  rubricId,
  rubrics,
}: Pick<SubjectCalibration, "metricName" | "rubricId" | "rubrics">): string {
  if (rubricId !== undefined) return `${metricName}, rubric ${rubricId}`;
  return rubrics === undefined ? metricName : `${metricName}, all ${rubrics} rubrics`;
}

/** With fewer labels intervals are too wide to decide by. */
const FEW = 30;

/** Whether the judge, or the people, give everything the same label. */
function isOneSided({ confusion: { bothPass, onlyJudge, onlyPeople, bothFail } }: SubjectCalibration): boolean {
  const totals = [bothPass + onlyJudge, bothFail + onlyPeople, bothPass + onlyPeople, bothFail + onlyJudge];
  return totals.includes(0);
}

/** What is to be said of one subject, a sentence a line. */
export function sentencesOf(one: SubjectCalibration, confidence: number): string[] {
  const { agreement, kappa, scores, sensitivity, specificity, alpha, passRate, labelled, verdicts } = one;
  const passes =
    sensitivity === undefined ? undefined : `passes ${shareText(sensitivity, confidence)} of what people pass`;
  const fails =
    specificity === undefined ? undefined : `fails ${shareText(specificity, confidence)} of what people fail`;
  const both = [passes, fails].filter((part) => part !== undefined).join(", and ");
  return [
    `The judge agrees with people in ${shareText(agreement, confidence)} of ${count(labelled, "labelled verdict")}, out of ${count(verdicts, "verdict")}.`,
    ...(kappa === undefined || (isOneSided(one) && kappa.value < 1)
      ? ["Agreement beyond chance cannot be estimated, because the judge or the people give everything the same label."]
      : [`Agreement beyond chance: kappa ${numberText(kappa)}, where 1 is perfect and 0 is guessing.`]),
    ...(scores?.weightedKappa === undefined ||
    (scores.weightedKappa.value === 0 && scores.weightedKappa.low === undefined)
      ? []
      : [
          `For scores from ${scores.least} to ${scores.most}: weighted kappa ${numberText(scores.weightedKappa)}, where large differences count more.`,
        ]),
    ...(both === "" ? [] : [`It ${both}.`]),
    ...rateSentences(passRate, confidence),
    ...(alpha === undefined
      ? []
      : [
          `Agreement among people: Krippendorff's alpha ${numberText(alpha)}, where 1 is perfect, over ${count(alpha.verdicts, "verdict")} with several labels. A judge cannot be expected to do better.`,
        ]),
    ...(one.consistency === undefined ? [] : consistencySentences(one.consistency)),
    ...(one.consistencyReason === undefined ? [] : [unknownAgreement(one.consistencyReason)]),
    ...cautionsOf(one),
  ];
}

/** What to keep in mind. */
export function cautionsOf({ labelled, doubtful }: SubjectCalibration): string[] {
  return [
    ...(doubtful > 0 && doubtful < labelled
      ? [
          `${amountText(doubtful)} of the labels are of verdicts chosen as doubtful: agreement on the others is probably higher. Pass rates are estimated without them.`,
        ]
      : doubtful > 0
        ? ["All labels are of verdicts chosen as doubtful: agreement on the others is probably higher."]
        : []),
    ...(labelled < FEW ? [`There are few labels, so the intervals are wide: label at least ${FEW} verdicts.`] : []),
  ];
}

function rateSentences(
  { judge, people, corrected, powered, reason }: SubjectCalibration["passRate"],
  confidence: number,
): string[] {
  const parts = [
    `${percent(judge)} by the judge`,
    ...(corrected === undefined ? [] : [`${shareText(corrected, confidence)} corrected for its errors`]),
    ...(powered === undefined ? [] : [`${shareText(powered, confidence)} from the labels and the judge's verdicts`]),
    ...(people === undefined ? [] : [`${shareText(people, confidence)} from the labels alone`]),
  ];
  return [`Pass rate: ${parts.join("; ")}.`, ...(reason === undefined ? [] : [`It cannot be corrected: ${reason}.`])];
}

export function consistencySentences({ questions, agreement, split, stoppedEarly, counts }: Consistency): string[] {
  // An even number can end in a tie, which is a fail: one sample more costs little and is better.
  const odd = counts.filter(({ samples }) => samples % 2 === 1);
  const counted = odd.map(({ samples, same, right, isForeseen }) => {
    const share = right ?? same;
    return share === undefined ? "" : `${samples}: ${percent(share)}${isForeseen ? " (estimated)" : ""}`;
  });
  const isRight = counts.some(({ right }) => right !== undefined);
  return [
    `Two samples of the same question agree ${percent(agreement)} of the time; the samples of ${amountText(split)} of ${count(questions, "question")} disagree${stoppedEarly > 0 ? ` (early stopping left out samples of ${amountText(stoppedEarly)})` : ""}.`,
    ...(counted.length === 0
      ? []
      : [
          `${isRight ? "Correct verdicts" : "Same verdict as with all samples"}, by samples asked: ${counted.join(", ")}.`,
        ]),
  ];
}

export const unknownAgreement = (reason: string): string => `How far samples agree is unknown: ${reason}.`;

/** People's and the judge's verdicts beside each other. */
export function confusionRows({ confusion }: SubjectCalibration): [string, string, string][] {
  const { bothPass, onlyJudge, onlyPeople, bothFail } = confusion;
  return [
    ["the judge passes", amountText(bothPass), amountText(onlyJudge)],
    ["the judge fails", amountText(onlyPeople), amountText(bothFail)],
  ];
}

/** Metrics, and rubrics that are taken together with each of them in a row. */
export function sectionsOf({ subjects }: Calibration): { one: SubjectCalibration; rubrics: SubjectCalibration[] }[] {
  const together = new Set(subjects.flatMap(({ metricName, rubrics }) => (rubrics === undefined ? [] : metricName)));
  const isRow = ({ metricName, rubricId }: SubjectCalibration): boolean =>
    rubricId !== undefined && together.has(metricName);
  return subjects
    .filter((one) => !isRow(one))
    .map((one) => ({
      one,
      rubrics:
        one.rubrics === undefined ? [] : subjects.filter((row) => isRow(row) && row.metricName === one.metricName),
    }));
}

export const RUBRICS_HEADER = ["Rubric", "Labelled", "Same", "Kappa", "Passes of passes", "Fails of fails"] as const;

export function rubricRow({
  rubricId = "",
  labelled,
  agreement,
  kappa,
  sensitivity,
  specificity,
}: SubjectCalibration): string[] {
  const share = (estimate: Estimate | undefined): string => (estimate === undefined ? "–" : percent(estimate.value));
  return [
    rubricId,
    amountText(labelled),
    percent(agreement.value),
    kappa?.low === undefined ? "–" : kappa.value.toFixed(2),
    share(sensitivity),
    share(specificity),
  ];
}

export const CONFUSION_HEADER = ["", "people pass", "people fail"] as const;

export function placeText({ evalId, run, turn, metricName, rubricId }: Disagreement): string {
  const parts = [caseName(evalId), ...(run > 1 ? [`run ${run}`] : []), ...(turn === undefined ? [] : [`turn ${turn}`])];
  return `${parts.join(", ")}: ${rubricId === undefined ? metricName : `${metricName}, ${rubricId}`}`;
}

/** What a side says: a word, or the score of a metric that has a scale. */
export function verdictWord(about: Disagreement, side: "judge" | "people"): string {
  const { passes, score } = about[side];
  const isWord = score === undefined || (scaleOf(about) === undefined && (score === 0 || score === 1));
  return isWord ? (passes ? "pass" : "fail") : amountText(score, 2);
}

export function labelsText({ labels }: Pick<Calibration, "labels">): string {
  const { used, given, annotators, problems, empty } = labels;
  const parts = [
    `${amountText(used)} of ${count(given, "label")} used`,
    ...(annotators > 1 ? [`by ${annotators} people`] : []),
    ...(problems.length > 0 ? [`${count(problems.length, "problem")}`] : []),
    ...(empty > 0 ? [`${count(empty, "row")} without a label`] : []),
  ];
  return parts.join(", ");
}

export function priceText({ callsPerVerdict, tokensPerVerdict, costPerVerdict }: JudgePrice): string {
  const parts = [
    ...(callsPerVerdict === undefined ? [] : [callsText(callsPerVerdict)]),
    ...(tokensPerVerdict === undefined ? [] : [`${amountText(tokensPerVerdict)} tokens`]),
    ...(costPerVerdict === undefined ? [] : [`cost ${Number(costPerVerdict.toPrecision(3))}`]),
  ];
  return parts.length === 0
    ? "its results do not say how many calls and tokens it took"
    : `${parts.join(", ")} per verdict`;
}

export function nameOf({ judges }: JudgePrice, which: string): string {
  return judges.length === 0 ? which : `${which}: ${judges.map(oneLine).join(" and ")}`;
}

export function comparisonSentences(one: SubjectComparison, confidence: number): string[] {
  const { first, second, difference } = one;
  const { value, low, high } = difference;
  const points = (share: number): string => `${share < 0 ? "−" : ""}${Math.round(Math.abs(share) * 100)}`;
  const interval =
    low === undefined || high === undefined
      ? ""
      : ` (${percent(confidence)} interval ${points(low)} to ${points(high)})`;
  return [
    `A agrees with people in ${shareText(first, confidence)}, B in ${shareText(second, confidence)} of ${count(one.labelled, "labelled verdict")}: A minus B is ${points(value)} percentage ${points(value).replace("−", "") === "1" ? "point" : "points"}${interval}.`,
    ...chanceSentences(one),
  ];
}

/** How sure it is which of two judges is better: the counts, then the verdict. */
export function chanceSentences({ onlyFirst, onlySecond, pValue, better }: SubjectComparison): [string, string] {
  if (onlyFirst + onlySecond === 0)
    return ["Both are right, or both wrong, about every labelled verdict.", "Neither is better."];
  const counts = `Only A is right in ${amountText(onlyFirst)}, only B in ${amountText(onlySecond)}.`;
  if (onlyFirst === onlySecond) return [counts, "Neither is better: they are right equally often."];
  return [
    `${counts} Equally good judges would differ at least this much in ${percentOf(pValue)} of such comparisons.`,
    better === "unclear"
      ? "It is unclear which is better: the difference may be chance."
      : `${better === "first" ? "A" : "B"} is better.`,
  ];
}

const callsText = (calls: number): string => {
  const amount = amountText(calls, 1);
  return `${amount} ${amount === "1" ? "call" : "calls"}`;
};

/** `2 disagreements, starting with …` */
export function disagreementsTitle(all: readonly Disagreement[]): string {
  const order = all.length > 1 ? ", starting with those where the judge was most certain" : "";
  return count(all.length, "disagreement") + order;
}

/** The most disagreements that are shown; JSON has them all. */
export const MOST_SHOWN = 20;
