/**
 * Results for people and their tools: a terminal, a CI server, a job summary, a spreadsheet, a browser.
 * Every renderer takes the results of one evalset or a list of them, or comparisons of two runs, and returns a string;
 * `…Chunks` give the same in pieces, for reports that are longer than a string can be.
 */

export type { Comparisons } from "./comparison.js";
export {
  comparisonCsvChunks,
  comparisonJsonChunks,
  renderComparisonCsv,
  renderComparisonJson,
} from "./comparison-data.js";
export { comparisonHtmlChunks, renderComparisonHtml } from "./comparison-html.js";
export { renderComparisonMarkdown } from "./comparison-markdown.js";
export { comparisonTableChunks, renderComparisonTable } from "./comparison-table.js";
export { csvChunks, renderCsv } from "./csv.js";
export { type FailureOptions, renderFailures } from "./failures.js";
export { REPORT_FORMATS, type ReportFormat, type ReportFormatInfo } from "./formats.js";
export { htmlChunks, type HtmlOptions, renderHtml } from "./html.js";
export { junitChunks, renderJUnit } from "./junit.js";
export { type MarkdownOptions, renderMarkdown } from "./markdown.js";
export type { Results } from "./results.js";
export type { NoOptions } from "../known-options.js";
export { type Paint, type Style } from "./page.js";
export { renderTable, tableChunks, type TableOptions } from "./table.js";
export { rationaleOf } from "../votes.js";
export { type WhyNotPassed, whyNotPassed } from "./why.js";
export { changedWords, type TextRange, type WordChanges } from "./word-changes.js";
export { comparesCalls, comparesTexts, rubricWords } from "./views.js";
