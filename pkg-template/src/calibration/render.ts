/** What calibrations and comparisons of judges say, in words and tables. */

import { checkOptions } from "../known-options.js";
import { judgeName } from "../judges/stamp.js";
import { code, prose } from "../report/markdown.js";
import { caseName, joined } from "../report/results.js";
import { type Cell, Page, type TableOptions, widthOf, writeRows } from "../report/table.js";
import { amountText, count, oneLine, percent } from "../report/text.js";
import type { Estimate } from "../statistics/estimates.js";
import type { Calibration, Disagreement, SubjectCalibration } from "./calibrate.js";
import type { JudgeComparison, JudgePrice, SubjectComparison } from "./compare.js";
import type { Consistency } from "./consistency.js";
import { reading } from "../engine/values.js";

/** Options of the renderers of calibrations. */
export type CalibrationTableOptions = Pick<TableOptions, "color" | "width">;

/** `85 % (95 % interval: 71 to 93 %)` */
function shareText(estimate: Estimate | undefined, confidence: number): string {
  if (estimate === undefined) return "unknown";
  const { value, low, high } = estimate;
  if (low === undefined || high === undefined) return percent(value);
  return `${percent(value)} (${percent(confidence)} interval ${Math.round(low * 100)} to ${percent(high)})`;
}

function numberText({ value, low, high }: Estimate): string {
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

/** What is to be said of one subject, a sentence a line. */
function sentencesOf(one: SubjectCalibration, confidence: number): string[] {
  const { agreement, kappa, scores, sensitivity, specificity, alpha, passRate, labelled, verdicts, doubtful } = one;
  const passes =
    sensitivity === undefined ? undefined : `passes ${shareText(sensitivity, confidence)} of what people pass`;
  const fails =
    specificity === undefined ? undefined : `fails ${shareText(specificity, confidence)} of what people fail`;
  const both = [passes, fails].filter((part) => part !== undefined).join(", and ");
  return [
    `The judge and people say the same in ${shareText(agreement, confidence)} of ${count(labelled, "labelled verdict")}, of ${amountText(verdicts)} in all.`,
    ...(kappa === undefined
      ? ["How much of that is more than chance cannot be said: the judge and people all say the same of everything."]
      : [`Beyond chance: kappa ${numberText(kappa)}, where 1 is perfect and 0 is what guessing gives.`]),
    ...(scores?.weightedKappa === undefined
      ? []
      : [
          `By scores from ${scores.least} to ${scores.most}: weighted kappa ${numberText(scores.weightedKappa)}; being far off counts more.`,
        ]),
    ...(both === "" ? [] : [`It ${both}.`]),
    ...rateSentences(passRate, confidence),
    ...(alpha === undefined
      ? []
      : [
          `People agree with each other: Krippendorff's alpha ${alpha.value.toFixed(2)} of 1, over ${count(alpha.verdicts, "verdict")} with several labels. A judge cannot be held to more.`,
        ]),
    ...(one.consistency === undefined ? [] : consistencySentences(one.consistency)),
    ...(doubtful > 0 && doubtful < labelled
      ? [
          `${amountText(doubtful)} of the labels are of verdicts that were chosen as doubtful: agreement is likely higher elsewhere. Pass rates are made without them.`,
        ]
      : doubtful > 0
        ? ["All labels are of verdicts that were chosen as doubtful: agreement is likely higher elsewhere."]
        : []),
    ...(labelled < FEW ? [`These are few labels, so the intervals are wide: label ${FEW} or more.`] : []),
  ];
}

function rateSentences(
  { judge, people, corrected, powered, reason }: SubjectCalibration["passRate"],
  confidence: number,
): string[] {
  const parts = [
    `${percent(judge)} by the judge`,
    ...(corrected === undefined ? [] : [`${shareText(corrected, confidence)} when corrected for its errors`]),
    ...(powered === undefined ? [] : [`${shareText(powered, confidence)} from the labels with the judge's help`]),
    ...(people === undefined ? [] : [`${shareText(people, confidence)} from the labels alone`]),
  ];
  return [`Pass rate: ${parts.join("; ")}.`, ...(reason === undefined ? [] : [`It cannot be corrected: ${reason}.`])];
}

function consistencySentences({ questions, agreement, split, stoppedEarly, counts }: Consistency): string[] {
  // An even number can end in a tie, which is a fail: one sample more costs little and is better.
  const odd = counts.filter(({ samples }) => samples % 2 === 1);
  const counted = odd.map(({ samples, same, right, isForeseen }) => {
    const share = right ?? same;
    return share === undefined ? "" : `${samples}: ${percent(share)}${isForeseen ? " (foreseen)" : ""}`;
  });
  const isRight = counts.some(({ right }) => right !== undefined);
  return [
    `Two samples of one question agree in ${percent(agreement)}; the samples of ${amountText(split)} of ${count(questions, "question")} disagree${stoppedEarly > 0 ? ` (early stopping left samples out in ${amountText(stoppedEarly)})` : ""}.`,
    ...(counted.length === 0
      ? []
      : [`${isRight ? "Right" : "Same verdict as with all samples"}, by samples asked: ${counted.join(", ")}.`]),
  ];
}

/** People's and the judge's verdicts beside each other. */
function confusionRows({ confusion }: SubjectCalibration): [string, string, string][] {
  const { bothPass, onlyJudge, onlyPeople, bothFail } = confusion;
  return [
    ["the judge passes", amountText(bothPass), amountText(onlyJudge)],
    ["the judge fails", amountText(onlyPeople), amountText(bothFail)],
  ];
}

/** Metrics, and rubrics that are taken together with each of them in a row. */
function sectionsOf({ subjects }: Calibration): { one: SubjectCalibration; rubrics: SubjectCalibration[] }[] {
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

const RUBRICS_HEADER = ["Rubric", "Labelled", "Same", "Kappa", "Passes of passes", "Fails of fails"] as const;

function rubricRow({
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

const CONFUSION_HEADER = ["", "people pass", "people fail"] as const;

function placeText({ evalId, run, turn, metricName, rubricId }: Disagreement): string {
  const parts = [caseName(evalId), ...(run > 1 ? [`run ${run}`] : []), ...(turn === undefined ? [] : [`turn ${turn}`])];
  return `${parts.join(", ")}: ${rubricId === undefined ? metricName : `${metricName}, ${rubricId}`}`;
}

function verdictWord({ passes, score }: Disagreement["judge"]): string {
  return score === undefined || score === 0 || score === 1 ? (passes ? "pass" : "fail") : amountText(score, 2);
}

function disagreementText(one: Disagreement): string {
  return `judge ${verdictWord(one.judge)}, people ${verdictWord(one.people)}`;
}

const judgesText = ({ judges }: Calibration): string => [...new Set(judges.map(judgeName))].map(oneLine).join(", ");

function labelsText({ labels }: Pick<Calibration, "labels">): string {
  const { used, given, annotators, problems, empty } = labels;
  const parts = [
    `${amountText(used)} of ${count(given, "label")} used`,
    ...(annotators > 1 ? [`by ${annotators} people`] : []),
    ...(problems.length > 0 ? [`${count(problems.length, "problem")}`] : []),
    ...(empty > 0 ? [`${count(empty, "row")} without a label`] : []),
  ];
  return parts.join(", ");
}

/** The most disagreements that are shown; JSON has them all. */
const MOST_SHOWN = 20;

/**
 * Renders a calibration for a terminal.
 *
 * @throws {AdkMetricsError} `invalid_input` for what is no calibration.
 */
export function renderCalibrationTable(calibration: Calibration, options: CalibrationTableOptions = {}): string {
  checkOptions(options, ["color", "width"]);
  return reading("calibration", () => {
    const page = new Page(widthOf(options), options.color ?? false);
    const who = judgesText(calibration);
    page.wrapped(`${who === "" ? "Calibration" : `Calibration of ${who}`}: ${labelsText(calibration)}`, 0, 2, "bold");
    const write = (header: readonly string[], rows: readonly (readonly string[])[]): void =>
      writeRows(
        page,
        header.map((text, at) => ({ header: text, align: at === 0 ? "left" : "right", narrowest: 8 })),
        rows.map((row) => row.map((text): Cell => ({ text }))),
      );
    for (const { one, rubrics } of sectionsOf(calibration)) {
      page.line();
      page.wrapped(subjectName(one), 0, 2, "bold");
      write(CONFUSION_HEADER, confusionRows(one));
      for (const sentence of sentencesOf(one, calibration.confidence)) page.wrapped(sentence, 2, 4);
      if (rubrics.length === 0) continue;
      page.line();
      write(RUBRICS_HEADER, rubrics.map(rubricRow));
    }
    const { disagreements } = calibration;
    if (disagreements.length > 0) {
      page.line();
      page.line(
        page.style(`${count(disagreements.length, "disagreement")}, those first of which the judge was surest`, "bold"),
      );
      for (const one of disagreements.slice(0, MOST_SHOWN)) {
        page.wrapped(`${placeText(one)}: ${disagreementText(one)}`, 2, 4);
        if (one.rationale !== undefined) page.wrapped(`because: ${one.rationale.slice(0, 1000)}`, 4);
      }
      const more = disagreements.length - MOST_SHOWN;
      if (more > 0) page.line(`  … and ${amountText(more)} more; --format json has them all`);
    }
    return joined(page.taken());
  });
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const aligns = header.map((_, at) => (at === 0 ? ":---" : "---:"));
  return [header, aligns, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/**
 * Renders a calibration as GitHub-flavoured Markdown, in which no text of results or labels is markup.
 *
 * @throws {AdkMetricsError} `invalid_input` for what is no calibration.
 */
export function renderCalibrationMarkdown(calibration: Calibration): string {
  return reading("calibration", () => {
    const who = judgesText(calibration);
    const blocks = [
      `## Calibration${who === "" ? "" : ` of ${code(who)}`}: ${labelsText(calibration)}`,
      ...sectionsOf(calibration).flatMap(({ one, rubrics }) => [
        `### ${code(subjectName(one))}`,
        table(CONFUSION_HEADER, confusionRows(one)),
        sentencesOf(one, calibration.confidence)
          .map((sentence) => `- ${sentence}`)
          .join("\n"),
        ...(rubrics.length === 0
          ? []
          : [
              table(
                RUBRICS_HEADER,
                rubrics.map(rubricRow).map(([name = "", ...rest]) => [code(name), ...rest]),
              ),
            ]),
      ]),
    ];
    const { disagreements } = calibration;
    if (disagreements.length > 0) {
      const shown = disagreements.slice(0, MOST_SHOWN);
      const rows = shown.map((one) => [
        code(placeText(one)),
        disagreementText(one),
        prose(one.rationale?.slice(0, 1000) ?? ""),
      ]);
      blocks.push(`### ${count(disagreements.length, "disagreement")}, those first of which the judge was surest`);
      blocks.push(table(["Verdict", "Said", "Because"], rows));
    }
    return `${blocks.join("\n\n")}\n`;
  });
}

function priceText({ callsPerVerdict, tokensPerVerdict, costPerVerdict }: JudgePrice): string {
  const parts = [
    ...(callsPerVerdict === undefined ? [] : [`${amountText(callsPerVerdict, 1)} calls`]),
    ...(tokensPerVerdict === undefined ? [] : [`${amountText(tokensPerVerdict)} tokens`]),
    ...(costPerVerdict === undefined ? [] : [`cost ${Number(costPerVerdict.toPrecision(3))}`]),
  ];
  return parts.length === 0 ? "its results do not say what it took" : `${parts.join(", ")} a verdict`;
}

function nameOf({ judges }: JudgePrice, which: string): string {
  return judges.length === 0 ? which : `${which}: ${judges.map(oneLine).join(", ")}`;
}

function comparisonSentences(one: SubjectComparison, confidence: number): string[] {
  const { first, second, difference, onlyFirst, onlySecond, pValue, better } = one;
  const { value, low, high } = difference;
  const points = (share: number): string => `${share < 0 ? "−" : ""}${Math.round(Math.abs(share) * 100)}`;
  const interval =
    low === undefined || high === undefined
      ? ""
      : ` (${percent(confidence)} interval ${points(low)} to ${points(high)})`;
  const chance = pValue < 0.001 ? "less than 0.1 %" : `${(pValue * 100).toFixed(1)} %`;
  return [
    `A agrees with people in ${shareText(first, confidence)}, B in ${shareText(second, confidence)} of ${count(one.labelled, "labelled verdict")}: ${points(value)} points more for A${interval}.`,
    `Only A is right in ${amountText(onlyFirst)}, only B in ${amountText(onlySecond)}. Judges that are equally good would differ so much in ${chance} of such comparisons.`,
    better === "unclear"
      ? "Which is better cannot be said: the difference may be chance."
      : `${better === "first" ? "A" : "B"} is better.`,
  ];
}

/**
 * Renders a comparison of judges for a terminal.
 *
 * @throws {AdkMetricsError} `invalid_input` for what is none.
 */
export function renderJudgesTable(comparison: JudgeComparison, options: CalibrationTableOptions = {}): string {
  checkOptions(options, ["color", "width"]);
  return reading("comparison", () => {
    const page = new Page(widthOf(options), options.color ?? false);
    page.wrapped(`Comparison of judges: ${labelsText(comparison)}`, 0, 2, "bold");
    page.wrapped(`${nameOf(comparison.first, "A")}: ${priceText(comparison.first)}`, 2, 4);
    page.wrapped(`${nameOf(comparison.second, "B")}: ${priceText(comparison.second)}`, 2, 4);
    for (const note of comparison.notes) page.wrapped(`note: ${note}`, 2, 4, "yellow");
    for (const one of comparison.subjects) {
      page.line();
      page.wrapped(subjectName(one), 0, 2, "bold");
      for (const sentence of comparisonSentences(one, comparison.confidence)) page.wrapped(sentence, 2, 4);
    }
    return joined(page.taken());
  });
}

/**
 * Renders a comparison of judges as GitHub-flavoured Markdown.
 *
 * @throws {AdkMetricsError} `invalid_input` for what is none.
 */
export function renderJudgesMarkdown(comparison: JudgeComparison): string {
  return reading("comparison", () => {
    const { first, second, notes, subjects, confidence } = comparison;
    const blocks = [
      `## Comparison of judges: ${labelsText(comparison)}`,
      [...[`${nameOf(first, "A")}: ${priceText(first)}`, `${nameOf(second, "B")}: ${priceText(second)}`], ...notes]
        .map((line) => `- ${prose(line)}`)
        .join("\n"),
      ...subjects.flatMap((one) => [
        `### ${code(subjectName(one))}`,
        comparisonSentences(one, confidence)
          .map((sentence) => `- ${sentence}`)
          .join("\n"),
      ]),
    ];
    return `${blocks.join("\n\n")}\n`;
  });
}
