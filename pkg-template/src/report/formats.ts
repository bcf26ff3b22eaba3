/** The formats of reports. The command line and the playground offer these. */

import type { EvaluatorOptions } from "../types.js";
import type { Comparisons } from "./comparison.js";
import { COMPARISON_HEADER, comparisonCsvChunks, comparisonJsonChunks } from "./comparison-data.js";
import { comparisonHtmlChunks } from "./comparison-html.js";
import { renderComparisonMarkdown } from "./comparison-markdown.js";
import { comparisonTableChunks } from "./comparison-table.js";
import { csvChunks, isOwnCsv } from "./csv.js";
import { htmlChunks } from "./html.js";
import { junitChunks } from "./junit.js";
import { renderMarkdown } from "./markdown.js";
import type { Results } from "./results.js";
import { RESULT_LINES } from "../result-lines.js";
import { resultLines } from "../stored-results.js";
import { tableChunks, type TableOptions } from "./table.js";

/** A format of reports. */
export interface ReportFormatInfo {
  /** What it is called in a menu. */
  readonly label: string;
  /** What it is or what it is for, in a few words. */
  readonly about: string;
  /** The ending of its files, with the dot. */
  readonly ending: string;
  /** The media type of its files. */
  readonly mediaType: string;
  /** Matches the names of its files, as users may write them. */
  readonly fileNames: RegExp;
  /** Knows its reports by how they begin: no other file is overwritten unasked. */
  readonly signature: Pick<RegExp, "test">;
  /** For which results it shows why they came about. */
  readonly explains: NonNullable<EvaluatorOptions["explain"]>;
  /** Renders results. Absent for `json`, ADK's schema, which `resultsToAdkJson` writes. */
  readonly render?: (results: Results, options: TableOptions) => string | Iterable<string>;
  /** How it shows comparisons of runs, if it does. */
  readonly comparison?: {
    /** The ending of the files, where it is another one. */
    readonly ending?: string;
    /** Knows its comparisons, as `signature` does its reports. */
    readonly signature: Pick<RegExp, "test">;
    /** Renders comparisons. */
    readonly render: (comparisons: Comparisons, options: TableOptions) => string | Iterable<string>;
  };
}

/** `4 runs of 2 cases: 3 passed, 1 failed`, to the end of the line. */
const COUNTS = String.raw`(?:\d\S* runs? of )?\d\S* cases?: (?:none scored|(?:(?:, )?\d\S* (?:passed|failed|not evaluated))+)\n`;

/** What matches all of these. */
function allOf(...patterns: readonly RegExp[]): Pick<RegExp, "test"> {
  return { test: (head) => patterns.every((pattern) => pattern.test(head)) };
}

/** Results in ADK's schema whose id begins with that of the evalset: google-adk puts the name of the agent before it. */
function isOwnJson(head: string): boolean {
  const [, id = ""] = /^\{\s*"eval_set_result_id": "([^\n]*)",\n/.exec(head) ?? [];
  const [, ofSet] = /\n *"eval_set_id": "([^\n]*)",\n/.exec(head) ?? [];
  return ofSet !== undefined && id.slice(0, id.lastIndexOf("_")) === ofSet;
}

const FORMATS = {
  table: {
    label: "Table",
    about: "for a terminal",
    ending: ".txt",
    mediaType: "text/plain",
    fileNames: /\.txt$/i,
    signature: new RegExp(String.raw`^[^\n]*(?:\n  |  )${COUNTS}`),
    explains: "failures",
    render: tableChunks,
    comparison: {
      // The name and the counts, which long names push to the next line; then both runs.
      signature: allOf(/^[^\n]*(?:\n {2}| {2})\d\S* cases?: /, /\n {2}baseline: /, /\n {2}current: /),
      render: comparisonTableChunks,
    },
  },
  json: {
    label: "JSON",
    about: "ADK's evalset results",
    ending: ".evalset_result.json",
    mediaType: "application/json",
    fileNames: /\.json$/i,
    signature: { test: isOwnJson },
    explains: "none",
    comparison: {
      ending: ".json",
      signature: /^(?:\[\s*)?\{\s*"baseline": \{\s*"evalSetId": [^\n]*\n\s*"evalSetResultId": /,
      render: (comparisons): Iterable<string> => {
        const [only, ...others] = Array.isArray(comparisons) ? comparisons : [comparisons];
        return comparisonJsonChunks(only !== undefined && others.length === 0 ? only : comparisons);
      },
    },
  },
  jsonl: {
    label: "JSON lines",
    about: "everything, with votes and explanations, to open again",
    ending: ".results.jsonl",
    mediaType: "application/jsonl",
    fileNames: /\.jsonl$/i,
    signature: RESULT_LINES,
    explains: "all",
    render: (results): Iterable<string> => resultLines(results),
  },
  junit: {
    label: "JUnit",
    about: "for CI systems",
    ending: ".xml",
    mediaType: "application/xml",
    fileNames: /\.xml$/i,
    signature: /^<\?xml [^\n]*\n<testsuites name="adk-metrics"/,
    explains: "failures",
    render: (results): Iterable<string> => junitChunks(results),
  },
  md: {
    label: "Markdown",
    about: "for pull requests and job summaries",
    ending: ".md",
    mediaType: "text/markdown",
    fileNames: /\.(?:md|markdown)$/i,
    signature: new RegExp(`^## Evaluation of ${COUNTS}\\n### <code>`),
    explains: "failures",
    render: (results) => renderMarkdown(results),
    comparison: {
      signature: /^## [❌✅] Comparison with the baseline: [^\n]*\n\n### <code>/,
      render: (comparisons) => renderComparisonMarkdown(comparisons),
    },
  },
  csv: {
    label: "CSV",
    about: "for spreadsheets",
    ending: ".csv",
    mediaType: "text/csv",
    fileNames: /\.csv$/i,
    signature: { test: isOwnCsv },
    explains: "all",
    render: (results): Iterable<string> => csvChunks(results),
    comparison: {
      signature: { test: (head) => head.startsWith(`${COMPARISON_HEADER.join(",")}\r\n`) },
      render: (comparisons): Iterable<string> => comparisonCsvChunks(comparisons),
    },
  },
  html: {
    label: "HTML report",
    about: "a single page",
    ending: ".html",
    mediaType: "text/html",
    fileNames: /\.html?$/i,
    signature: /<meta name="generator" content="adk-metrics">\n<title>Evaluation report<\/title>/,
    explains: "all",
    render: (results): Iterable<string> => htmlChunks(results),
    comparison: {
      signature: /<meta name="generator" content="adk-metrics">\n<title>Comparison with the baseline<\/title>/,
      render: (comparisons): Iterable<string> => comparisonHtmlChunks(comparisons),
    },
  },
} satisfies Readonly<Record<string, ReportFormatInfo>>;

/** The name of a format of reports; `json` is the results themselves, in ADK's schema. */
export type ReportFormat = keyof typeof FORMATS;

/**
 * The formats of reports by name, in the order in which they are listed to users.
 *
 * ```ts
 * import { REPORT_FORMATS } from "adk-metrics/report";
 *
 * REPORT_FORMATS.junit.mediaType; // → "application/xml"
 * ```
 */
export const REPORT_FORMATS: Readonly<Record<ReportFormat, ReportFormatInfo>> = FORMATS;
