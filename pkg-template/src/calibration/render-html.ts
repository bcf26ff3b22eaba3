/** Calibrations and comparisons of judges as one HTML page that needs nothing else; as `renderHtml`. */

import { reading } from "../engine/values.js";
import { optionsOf } from "../known-options.js";
import type { HtmlOptions } from "../report/html.js";
import { intervalBar, short } from "../report/html-charts.js";
import { breakable, capital, clipped, gridTable, html, type Markup } from "../report/html-markup.js";
import { pagePieces } from "../report/html-page.js";
import { ESTIMATES_STYLE, ESTIMATES_STYLE_HASH } from "../generated/styles.js";
import { joined } from "../report/results.js";
import { amountText, count, head, oneLine, percent } from "../report/text.js";
import type { Estimate } from "../statistics/estimates.js";
import type {
  Calibration,
  Consistency,
  Disagreement,
  JudgeComparison,
  JudgePrice,
  SubjectCalibration,
  SubjectComparison,
} from "./types.js";
import {
  cautionsOf,
  chanceSentences,
  disagreementsTitle,
  checkFound,
  consistencySentences,
  unknownAgreement,
  judgesText,
  labelsText,
  MOST_SHOWN,
  placeText,
  rubricRow,
  RUBRICS_HEADER,
  sectionsOf,
  subjectName,
  verdictWord,
} from "./words.js";

/**
 * Renders a calibration, or a comparison of judges, as one self-contained HTML page.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything else.
 *
 * @example
 * await writeFile("calibration.html", renderCalibrationHtml(calibrate(results, labels)));
 */
export function renderCalibrationHtml(found: Calibration | JudgeComparison, options: HtmlOptions = {}): string {
  const { title } = optionsOf(options, ["title"]);
  return reading("calibration", () => {
    checkFound(found);
    const isComparison = "first" in found;
    const { problems } = found.labels;
    const parts = isComparison ? comparisonParts(found) : calibrationParts(found);
    return joined(
      pagePieces({
        title: title ?? (isComparison ? "Comparison of judges" : judgesText(found)),
        styles: [{ text: ESTIMATES_STYLE, hash: ESTIMATES_STYLE_HASH }],
        header: html`<p class="sub">${capital(labelsText(found))}</p>${parts.header}`,
        main: [
          ...parts.sections.map(({ text }) => text),
          ...(problems.length === 0 ? [] : [problemsSection(found.labels).text]),
        ],
        footer: [`Intervals contain the true value in ${percent(found.confidence)} of such evaluations.`],
      }),
    );
  });
}

interface Parts {
  header: Markup | undefined;
  sections: Markup[];
}

function section(title: string, contents: Markup): Markup {
  return html`<section class="page set" aria-label="${title}"><h2>${breakable(title)}</h2>
${contents}</section>
`;
}

function calibrationParts(found: Calibration): Parts {
  const sections = sectionsOf(found).map(({ one, rubrics }) => section(subjectName(one), subjectMarkup(one, rubrics)));
  const { disagreements } = found;
  const more = disagreements.length - MOST_SHOWN;
  const list = html`<ul class="disagreements">${disagreements.slice(0, MOST_SHOWN).map(disagreementItem)}</ul>
${more > 0 ? html`<p class="muted">${amountText(more)} more ${more === 1 ? "is" : "are"} in the JSON output.</p>` : undefined}`;
  return {
    header: undefined,
    sections: [...sections, ...(disagreements.length === 0 ? [] : [section(disagreementsTitle(disagreements), list)])],
  };
}

function subjectMarkup(one: SubjectCalibration, rubrics: readonly SubjectCalibration[]): Markup {
  const { consistency, consistencyReason, passRate } = one;
  const notes = [
    ...(consistencyReason === undefined ? [] : [unknownAgreement(consistencyReason)]),
    ...(passRate.reason === undefined ? [] : [`The pass rate cannot be corrected: ${passRate.reason}.`]),
    ...cautionsOf(one),
  ];
  return html`<p class="sub">${count(one.labelled, "labelled verdict")} of ${amountText(one.verdicts)}</p>
${confusionTable(one)}
${estimatesTable(estimatesOf(one))}
${rubrics.length === 0 ? undefined : html`<h3>By rubric</h3>${rubricsTable(rubrics)}`}
${consistency === undefined ? undefined : html`<h3>Samples</h3>${curve(consistency)}<p class="lead">${consistencySentences(consistency)[0]}</p>`}
${notes.map((note) => html`<p class="lead">${note}</p>`)}`;
}

function confusionTable({ confusion, labelled }: SubjectCalibration): Markup {
  const { bothPass, onlyJudge, onlyPeople, bothFail } = confusion;
  const cell = (amount: number, tone: string, meaning: string) =>
    html`<td class="${amount === 0 ? "same" : tone}"><b>${amountText(amount)}</b>${meaning}, ${percent(amount / labelled)}</td>`;
  return html`<table class="confusion"><caption class="vh">Verdicts of the judge and of people</caption>
<thead><tr><td class="vh"></td><th scope="col">People pass</th><th scope="col">People fail</th></tr></thead>
<tbody><tr><th scope="row">The judge passes</th>${cell(bothPass, "passed", "both pass")}${cell(onlyJudge, "failed", "wrongly passed")}</tr>
<tr><th scope="row">The judge fails</th>${cell(onlyPeople, "failed", "wrongly failed")}${cell(bothFail, "passed", "both fail")}</tr></tbody></table>`;
}

/** A figure with its place on a scale, and what it means. */
interface Figure {
  name: string;
  estimate: Estimate | undefined;
  /** Whether it is a share; otherwise a number from −1 to 1. */
  isShare: boolean;
  /** How far its scale reaches to both sides of 0, if not to 1. */
  reach?: number;
  meaning: string;
}

function estimatesOf(one: SubjectCalibration): Figure[] {
  const { agreement, kappa, scores, sensitivity, specificity, alpha, passRate } = one;
  const isKnown = kappa !== undefined && (kappa.low !== undefined || kappa.value >= 1);
  const share = (name: string, estimate: Estimate | undefined, meaning: string): Figure[] =>
    estimate === undefined ? [] : [{ name, estimate, isShare: true, meaning }];
  return [
    ...share("Agreement", agreement, "how often the judge and people agree"),
    ...share("Sensitivity", sensitivity, "fraction of what people pass that the judge passes"),
    ...share("Specificity", specificity, "fraction of what people fail that the judge fails"),
    {
      name: "Cohen’s kappa",
      estimate: isKnown ? kappa : undefined,
      isShare: false,
      meaning: isKnown
        ? "agreement beyond chance: 1 is perfect, 0 is guessing"
        : "unknown: the judge or the people give everything the same label",
    },
    ...(scores?.weightedKappa === undefined
      ? []
      : [
          {
            name: "Weighted kappa",
            estimate: scores.weightedKappa,
            isShare: false,
            meaning: `the same for scores from ${scores.least} to ${scores.most}, where large differences count more`,
          },
        ]),
    ...(alpha === undefined
      ? []
      : [
          {
            name: "Krippendorff’s alpha",
            estimate: alpha,
            isShare: false,
            meaning: `how much people agree, over ${count(alpha.verdicts, "verdict")} with several labels; a judge cannot be expected to do better`,
          },
        ]),
    ...share("Pass rate by the judge", { value: passRate.judge }, "fraction of all verdicts that it passes"),
    ...share("Pass rate, corrected", passRate.corrected, "for the judge’s errors in both directions"),
    ...share(
      "Pass rate, prediction-powered",
      passRate.powered,
      "from the labels, and the judge’s verdicts where there are none",
    ),
    ...share("Pass rate by the labels", passRate.people, "fraction of the labelled verdicts that people pass"),
  ];
}

function estimatesTable(figures: readonly Figure[]): Markup {
  const rows = figures.map(({ name, estimate, isShare, meaning, reach = 1 }) => {
    const text = (value: number) => (isShare ? percent(value) : value.toFixed(2));
    const interval =
      estimate?.low === undefined || estimate.high === undefined
        ? ""
        : `${isShare ? Math.round(100 * estimate.low) : text(estimate.low)} to ${text(estimate.high)}`;
    const scale = isShare ? ([0, 1] as const) : ([-reach, reach] as const);
    const bar =
      estimate === undefined ? undefined : intervalBar(estimate, scale, 0, `${text(estimate.value)}, ${interval}`);
    return html`<tr><th scope="row">${name}</th><td class="num">${estimate === undefined ? "–" : text(estimate.value)}</td>
<td class="wide">${bar}</td><td class="muted num" data-label="Interval">${interval === "" ? "–" : interval}</td><td>${meaning}</td></tr>`;
  });
  const headings = [
    { text: "Figure" },
    { text: "Value", numeric: true },
    { text: "On a scale" },
    { text: "Interval", numeric: true },
    { text: "Meaning" },
  ];
  return gridTable("Figures", "stack estimates", headings, rows);
}

function rubricsTable(rubrics: readonly SubjectCalibration[]): Markup {
  const headings = RUBRICS_HEADER.map((text, at) => ({ text, numeric: at > 0 }));
  const rows = rubrics.map((one) => {
    const [name = "", ...cells] = rubricRow(one);
    const others = cells.map((cell, at) => html`<td class="num" data-label="${RUBRICS_HEADER[at + 1]}">${cell}</td>`);
    return html`<tr><th scope="row">${breakable(name)}</th>${others}</tr>`;
  });
  return gridTable("Rubrics", "stack", headings, rows);
}

/** How often verdicts would be right, or the same, by the samples asked. */
function curve({ counts }: Consistency): Markup | undefined {
  const points = counts.flatMap(({ samples, same, right, isForeseen }) => {
    const share = right ?? same;
    // An even number can end in a tie, which is a fail.
    return share === undefined || samples % 2 === 0 ? [] : [{ samples, share, isForeseen }];
  });
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 2) return undefined;
  const least = Math.floor(10 * Math.min(...points.map(({ share }) => share))) / 10;
  const floor = least >= 1 ? 0.9 : least;
  const x = (samples: number) => short(68 + (452 * (samples - first.samples)) / (last.samples - first.samples));
  const y = (share: number) => short(28 + (116 * (1 - share)) / (1 - floor));
  const path = (of: typeof points) =>
    of.map(({ samples, share }, at) => `${at === 0 ? "M" : "L"}${x(samples)} ${y(share)}`).join("");
  const counted = points.filter(({ isForeseen }) => !isForeseen);
  const foreseen = points.slice(Math.max(0, counted.length - 1));
  const isRight = counts.some(({ right }) => right !== undefined);
  const label = `${isRight ? "Correct verdicts" : "Same verdict as with all samples"}, by samples asked`;
  const said = points.map(({ samples, share }) => `${samples}: ${percent(share)}`).join(", ");
  return html`<svg class="curve" viewBox="0 0 560 172" role="img" aria-label="${label}: ${said}">
<text x="0" y="32">100%</text><text x="0" y="148">${percent(floor)}</text><path class="axis" d="M52 28h488M52 144h488"/>
<path class="line" d="${path(counted)}"/>${foreseen.length < 2 ? undefined : html`<path class="line foreseen" d="${path(foreseen)}"/>`}
${points.map(
  ({ samples, share, isForeseen }) =>
    html`<circle class="${isForeseen ? "foreseen" : "counted"}" cx="${x(samples)}" cy="${y(share)}" r="4"/><text x="${x(samples)}" y="${short(Number(y(share)) - 9)}" text-anchor="middle">${percent(share)}</text><text x="${x(samples)}" y="164" text-anchor="middle">${samples}</text>`,
)}</svg>
<p class="muted">${label}${foreseen.length < 2 ? "" : "; dashed is estimated"}.</p>`;
}

function disagreementItem(one: Disagreement): Markup {
  return html`<li><b>${placeText(one)}</b>: the judge says ${verdictWord(one, "judge")}, people ${verdictWord(one, "people")}
${one.rationale === undefined ? undefined : html`<p dir="auto">${clipped(head(one.rationale, 1000))}</p>`}</li>`;
}

function problemsSection({ problems }: Calibration["labels"]): Markup {
  const shown = problems.slice(0, MOST_SHOWN).map(({ line, label, message, help }) => {
    const place = line === undefined ? `Label ${label}` : `Line ${line}`;
    return html`<li>${place}: ${oneLine(message)}${help === undefined ? undefined : html`<p>${help}</p>`}</li>`;
  });
  const more = problems.length - MOST_SHOWN;
  return section(
    `${count(problems.length, "problem")} with labels`,
    html`<ul class="disagreements">${shown}</ul>${more > 0 ? html`<p class="muted">${amountText(more)} more ${more === 1 ? "is" : "are"} in the JSON output.</p>` : undefined}`,
  );
}

function comparisonParts(found: JudgeComparison): Parts {
  const { first, second, notes, subjects } = found;
  return {
    header: html`${notes.map((note) => html`<p class="sub">${capital(note)}.</p>`)}
${pricesTable([first, second])}`,
    sections: subjects.map((one) => section(subjectName(one), comparedMarkup(one))),
  };
}

const LETTERS = ["A", "B"] as const;

function pricesTable(judges: readonly JudgePrice[]): Markup {
  const rows = judges.map((one, at) => {
    const { judges: names, verdicts, callsPerVerdict, tokensPerVerdict, costPerVerdict } = one;
    const cost = costPerVerdict === undefined ? undefined : Number(costPerVerdict.toPrecision(3));
    return html`<tr><th scope="row"><b>${LETTERS[at]}</b> ${names.map(oneLine).join(" and ")}</th>
<td class="num" data-label="Verdicts">${amountText(verdicts)}</td>
<td class="num" data-label="Calls per verdict">${callsPerVerdict === undefined ? "–" : amountText(callsPerVerdict, 1)}</td>
<td class="num" data-label="Tokens per verdict">${tokensPerVerdict === undefined ? "–" : amountText(tokensPerVerdict)}</td>
<td class="num" data-label="Cost per verdict">${cost ?? "–"}</td></tr>`;
  });
  const headings = [
    { text: "Judge" },
    ...["Verdicts", "Calls per verdict", "Tokens per verdict", "Cost per verdict"].map((text) => ({
      text,
      numeric: true,
    })),
  ];
  return gridTable("Cost of verdicts", "sets stack", headings, rows);
}

function comparedMarkup(one: SubjectComparison): Markup {
  const { first, second, difference, labelled } = one;
  const reach = Math.max(0.1, ...[difference.value, difference.low ?? 0, difference.high ?? 0].map(Math.abs));
  const figures: Figure[] = [
    {
      name: "A agrees with people",
      estimate: first,
      isShare: true,
      meaning: `of ${count(labelled, "labelled verdict")}`,
    },
    { name: "B agrees with people", estimate: second, isShare: true, meaning: "of the same verdicts" },
    { name: "A minus B", estimate: difference, isShare: false, meaning: "above 0, A is better", reach },
  ];
  const [counted, verdict] = chanceSentences(one);
  return html`<p class="lead"><b>${verdict}</b> ${counted}</p>
${estimatesTable(figures)}`;
}
