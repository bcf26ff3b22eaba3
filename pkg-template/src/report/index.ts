/**
 * Results for people and their tools: a terminal, a CI server, a job summary, a spreadsheet, a browser.
 * Every renderer takes the results of one evalset or a list of them, or comparisons of two runs, and returns a string.
 */

/** The formats of a report; `json` is the results themselves, in ADK's schema. */
export type ReportFormat = "table" | "json" | "junit" | "md" | "csv" | "html";

export type { Comparisons } from "./comparison.js";
export { renderComparisonCsv, renderComparisonJson } from "./comparison-data.js";
export { renderComparisonMarkdown } from "./comparison-markdown.js";
export { renderComparisonTable } from "./comparison-table.js";
export { renderCsv } from "./csv.js";
export { type FailureOptions, renderFailures } from "./failures.js";
export { type HtmlOptions, renderHtml } from "./html.js";
export { renderJUnit } from "./junit.js";
export { type MarkdownOptions, renderMarkdown } from "./markdown.js";
export type { Results } from "./results.js";
export { type Paint, renderTable, type Style, type TableOptions } from "./table.js";
