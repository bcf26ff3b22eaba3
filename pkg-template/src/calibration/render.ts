/** What calibrations and comparisons of judges say, in words and tables. */

import { checkOptions, type NoOptions, refuseOptions } from "../known-options.js";
import { prose } from "../report/markdown.js";
import { joined } from "../report/results.js";
import { type Cell, Page, widthOf, writeRows } from "../report/page.js";
import { amountText, oneLine } from "../report/text.js";
import { reading } from "../engine/values.js";
import type { Calibration, CalibrationTableOptions, Disagreement, JudgeComparison } from "./types.js";
import {
  checkFound,
  comparisonSentences,
  CONFUSION_HEADER,
  confusionRows,
  disagreementsTitle,
  judgesText,
  labelsText,
  MOST_SHOWN,
  nameOf,
  placeText,
  priceText,
  rubricRow,
  RUBRICS_HEADER,
  sectionsOf,
  sentencesOf,
  subjectName,
  verdictWord,
} from "./words.js";

/** A part of what is shown. */
interface Section {
  title: string;
  tables?: (readonly (readonly string[])[])[];
  lines: string[];
  /** Whether its lines quote results. */
  quotes?: boolean;
}

/** All that is shown, whatever the format. */
function sheetOf(found: Calibration | JudgeComparison): Section[] {
  checkFound(found);
  if ("first" in found) {
    const { first, second, notes, subjects, confidence } = found;
    const prices = [`${nameOf(first, "A")}: ${priceText(first)}`, `${nameOf(second, "B")}: ${priceText(second)}`];
    return [
      {
        title: `Comparison of judges: ${labelsText(found)}`,
        lines: [...prices, ...notes.map((note) => `note: ${note}`)],
        quotes: true,
      },
      ...subjects.map((one) => ({ title: subjectName(one), lines: comparisonSentences(one, confidence) })),
    ];
  }
  const { disagreements, confidence } = found;
  const more = disagreements.length - MOST_SHOWN;
  return [
    { title: `${judgesText(found)}: ${labelsText(found)}`, lines: [] },
    ...sectionsOf(found).map(({ one, rubrics }) => ({
      title: subjectName(one),
      tables: [
        [CONFUSION_HEADER, ...confusionRows(one)],
        ...(rubrics.length === 0 ? [] : [[RUBRICS_HEADER, ...rubrics.map(rubricRow)]]),
      ],
      lines: sentencesOf(one, confidence),
    })),
    ...(disagreements.length === 0
      ? []
      : [
          {
            title: disagreementsTitle(disagreements),
            lines: [
              ...disagreements.slice(0, MOST_SHOWN).map(disagreementText),
              ...(more > 0 ? [`… and ${amountText(more)} more; the JSON output has all`] : []),
            ],
            quotes: true,
          },
        ]),
  ];
}

function disagreementText(one: Disagreement): string {
  const because = one.rationale === undefined ? "" : `. The judge's reason: ${oneLine(one.rationale.slice(0, 1000))}`;
  return `${placeText(one)}: judge ${verdictWord(one, "judge")}, people ${verdictWord(one, "people")}${because}`;
}

/**
 * Renders a calibration, or a comparison of judges, for a terminal.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything else.
 */
export function renderCalibrationTable(
  found: Calibration | JudgeComparison,
  options: CalibrationTableOptions = {},
): string {
  checkOptions(options, ["color", "width"]);
  return reading("calibration", () => {
    const page = new Page(widthOf(options), options.color ?? false);
    for (const [at, { title, tables = [], lines }] of sheetOf(found).entries()) {
      if (at > 0) page.line();
      page.wrapped(title, 0, 2, "bold");
      for (const [header = [], ...rows] of tables) {
        writeRows(
          page,
          header.map((text, column) => ({ header: text, align: column === 0 ? "left" : "right", narrowest: 8 })),
          rows.map((row) => row.map((text): Cell => ({ text }))),
        );
        if (tables.length > 1) page.line();
      }
      for (const line of lines) page.wrapped(line, 2, 4);
    }
    return joined(page.taken());
  });
}

/**
 * Renders a calibration, or a comparison of judges, as GitHub-flavoured Markdown, in which no text of results or labels is
 * markup.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything else.
 */
export function renderCalibrationMarkdown(found: Calibration | JudgeComparison, options?: NoOptions): string {
  refuseOptions(options);
  return reading("calibration", () => {
    const blocks = sheetOf(found).flatMap(({ title, tables = [], lines, quotes = false }, at) => [
      at === 0 ? `## ${prose(title)}` : `### ${prose(title)}`,
      ...tables.map(([header = [], ...rows]) =>
        [header, header.map((_, column) => (column === 0 ? ":---" : "---:")), ...rows.map((row) => row.map(prose))]
          .map((cells) => `| ${cells.join(" | ")} |`)
          .join("\n"),
      ),
      ...(lines.length === 0 ? [] : [lines.map((line) => `- ${quotes ? prose(line) : line}`).join("\n")]),
    ]);
    return `${blocks.join("\n\n")}\n`;
  });
}
