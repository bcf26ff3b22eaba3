/** The formats of reports: what the command line and others offer is made from this table. */

import type { EvaluatorOptions } from "../types.js";
import { csvChunks } from "./csv.js";
import { htmlChunks } from "./html.js";
import { junitChunks } from "./junit.js";
import { renderMarkdown } from "./markdown.js";
import type { Results } from "./results.js";
import { tableChunks, type TableOptions } from "./table.js";

/** What there is to know of a format. */
export interface FormatEntry {
  /** What it is, where its name does not say so. */
  readonly about?: string;
  /** The ending that files get where the user does not name them. */
  readonly ending: string;
  /** What files of it are called. */
  readonly names: RegExp;
  /** What reports of this program in it begin with. */
  readonly own: RegExp;
  /** For which results it shows why they came about. */
  readonly explains: NonNullable<EvaluatorOptions["explain"]>;
  /** Renders results. What is absent here has none of its own: ADK's schema is written by the engine. */
  readonly render?: (results: Results, options: TableOptions) => string | Iterable<string>;
}

export const REPORT_FORMATS = {
  table: {
    ending: ".txt",
    names: /\.txt$/i,
    own: /^(?=\S[^\n]*  \d)[^\n]* cases?: /,
    explains: "failures",
    render: tableChunks,
  },
  json: {
    about: "ADK's evalset results",
    ending: ".evalset_result.json",
    names: /\.json$/i,
    own: /"eval_set_result_id"/,
    explains: "none",
  },
  junit: {
    ending: ".xml",
    names: /\.xml$/i,
    own: /<testsuites name="adk-metrics"/,
    explains: "failures",
    render: junitChunks,
  },
  md: {
    ending: ".md",
    names: /\.(?:md|markdown)$/i,
    own: /^## Evaluation of /,
    explains: "failures",
    render: (results) => renderMarkdown(results),
  },
  csv: { ending: ".csv", names: /\.csv$/i, own: /^evalSetId,evalId,/, explains: "none", render: csvChunks },
  html: {
    ending: ".html",
    names: /\.html?$/i,
    own: /<title>Evaluation report<\/title>/,
    explains: "all",
    render: (results): Iterable<string> => htmlChunks(results),
  },
} as const satisfies Readonly<Record<string, FormatEntry>>;

/** The formats of a report; `json` is the results themselves, in ADK's schema. */
export type ReportFormat = keyof typeof REPORT_FORMATS;

/** The names of the formats, in the order in which they are listed to users. */
export const FORMATS = Object.keys(REPORT_FORMATS) as ReportFormat[];

/** What there is to know of a format. */
export function formatOf(format: ReportFormat): FormatEntry {
  return REPORT_FORMATS[format];
}

/** The endings of files by format, in a list for users: `.txt .json .xml`. */
export const SHORT_ENDINGS = FORMATS.map((format) => /\.\w+$/.exec(REPORT_FORMATS[format].ending)?.[0]).join(" ");
