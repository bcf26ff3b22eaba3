/** A comparison for a terminal: metrics, then the cases that changed, then where those that got worse did. */

import { checkOptions } from "../known-options.js";
import type { CaseComparison, MetricComparison, ResultChange, RunComparison } from "../types.js";
import {
  caseStatusText,
  changedMetrics,
  changesText,
  type Comparisons,
  comparisonPieces,
  detectableText,
  intervalLabel,
  intervalText,
  isTelling,
  isByMetric,
  metricChangeText,
  numbersOf,
  SCORES,
  passesText,
  reasonOf,
  isWarning,
  remarksOf,
  runText,
  shortStatusText,
  scoreChangeText,
  statusChangeText,
  verdictLine,
  wouldShowText,
} from "./comparison.js";
import { type At, caseName, informationalLabel, joined } from "./results.js";
import { type Cell, Page, type Style, widthOf, writeRows } from "./page.js";
import type { TableOptions } from "./table.js";
import { amountText, count, displayWidth, head, shorten } from "./text.js";

/**
 * Renders comparisons for a terminal, regressions first. No line is wider than `width`, and no text of a result can
 * control the terminal. With `details` every turn that was scored differently is shown, otherwise those of cases that
 * regressed or got worse.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 *
 * @example
 * console.log(renderComparisonTable(compareRuns(baseline, current), { width: process.stdout.columns }));
 */
export function renderComparisonTable(comparisons: Comparisons, options: TableOptions = {}): string {
  return joined(comparisonTableChunks(comparisons, options));
}

/**
 * As {@link renderComparisonTable}, piece by piece.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 */
export function comparisonTableChunks(comparisons: Comparisons, options: TableOptions = {}): Generator<string> {
  checkOptions(options, ["details", "color", "width"]);
  return comparisonPieces(comparisons, (list, at) => tablePieces(list, options, at));
}

function* tablePieces(list: readonly RunComparison[], options: TableOptions, at: At): Generator<string> {
  const page = new Page(widthOf(options), options.color ?? false);
  for (const [index, comparison] of list.entries()) {
    at(index);
    writeHeading(page, comparison);
    writeMetrics(page, comparison);
    writeCases(page, comparison);
    for (const [position, one] of comparison.cases.entries()) {
      at(index, position);
      const isWorse = one.change === "regressed" || one.change === "worse";
      if (isWorse || (options.details && one.change !== "unchanged")) writeCase(page, one, comparison.metrics);
      if (page.isLong) yield* page.taken();
    }
  }
  at();
  page.line(page.style(verdictLine(list), list.some(({ hasRegressions }) => hasRegressions) ? "red" : "green", "bold"));
  yield* page.taken();
}

function writeHeading(page: Page, comparison: RunComparison): void {
  const { baseline, current, cases } = comparison;
  const name = shorten(current.evalSetId, page.width);
  const counts = `${count(cases.length, "case")}: ${changesText(comparison)}`;
  if (displayWidth(name) + counts.length + 2 <= page.width) page.line(`${page.style(name, "bold")}  ${counts}`);
  else {
    page.line(page.style(name, "bold"));
    page.wrapped(counts, 2);
  }
  page.wrapped(`baseline: ${runText(baseline)}`, 2, 4, "dim");
  page.wrapped(`current:  ${runText(current)}`, 2, 4, "dim");
  for (const text of [passesText(comparison), detectableText(comparison)]) if (text !== "") page.wrapped(text, 2, 4);
  for (const remark of remarksOf(comparison)) {
    if (isWarning(remark)) page.wrapped(`warning: ${head(remark, 2000)}`, 2, 4, "yellow");
    else page.wrapped(`note: ${head(remark, 2000)}`, 2, 4);
  }
  page.line();
}

function metricStyles({ change, verdicts }: MetricComparison): Style[] {
  if (verdicts === undefined || change === "unchanged") return ["dim"];
  return change === "worse" ? ["red"] : change === "better" ? ["green"] : ["yellow"];
}

function writeMetrics(page: Page, comparison: RunComparison): void {
  for (const isScored of [true, false]) {
    const metrics = comparison.metrics.filter(
      (metric) => (metric.verdicts !== undefined) === isScored && isTelling(metric),
    );
    if (metrics.length === 0) continue;
    writeRows(
      page,
      [
        { header: isScored ? "Metric" : "Mean per turn", align: "left", narrowest: 8 },
        { header: "Cases", align: "right", narrowest: 5 },
        { header: "Baseline", align: "right", narrowest: 6 },
        { header: "Current", align: "right", narrowest: 6 },
        { header: "Difference", align: "right", narrowest: 6 },
        { header: intervalLabel(comparison), align: "right", narrowest: 6 },
        { header: "Change", align: "left", narrowest: 9 },
      ],
      metrics.map((metric): Cell[] => {
        const numbers = numbersOf(metric);
        return [
          { text: isScored ? metric.metricName : informationalLabel(metric.metricName) },
          { text: amountText(metric.compared) },
          { text: numbers.value(metric.baselineMean) },
          { text: numbers.value(metric.currentMean) },
          { text: numbers.difference(metric.difference) },
          { text: intervalText(metric, numbers) },
          { text: metricChangeText(metric), styles: metricStyles(metric) },
        ];
      }),
    );
    const would = wouldShowText(metrics);
    if (would !== "") page.wrapped(would, 2, 4, "dim");
    page.line();
  }
}

const CASE_STYLES: Record<ResultChange, Style> = {
  regressed: "red",
  worse: "yellow",
  changed: "yellow",
  fixed: "green",
  better: "green",
  unchanged: "dim",
};

const CASE_SIGNS: Record<ResultChange, string> = {
  regressed: "✗",
  worse: "↓",
  changed: "~",
  fixed: "✓",
  better: "↑",
  unchanged: "=",
};

/** What the columns beside the status take at least, with the space between them. */
const OTHER_COLUMNS = 8 + 8 + 6 + 6 + 6 + 6 * 2;

function writeCases(page: Page, { cases, metrics }: RunComparison): void {
  const changed = cases.filter(({ change }) => change !== "unchanged");
  if (changed.length === 0) return;
  const rows = changed.flatMap((one) => caseRows(one, metrics));
  // How a case changed is not cut off while there is room: names give way.
  const status = Math.max(...rows.map((row) => displayWidth(row.at(-1)?.text ?? "")));
  const narrowest = Math.max(15, Math.min(status, page.width - OTHER_COLUMNS));
  writeRows(
    page,
    [
      { header: "Case", align: "left", narrowest: 8 },
      { header: "Metric", align: "left", narrowest: 8 },
      { header: "Baseline", align: "right", narrowest: 6 },
      { header: "Current", align: "right", narrowest: 6 },
      { header: "Difference", align: "right", narrowest: 6 },
      { header: "Status", align: "left", narrowest },
    ],
    rows,
  );
  page.line();
}

function caseRows(one: CaseComparison, metrics: readonly MetricComparison[]): Cell[][] {
  const name: Cell = { text: `${CASE_SIGNS[one.change]} ${caseName(one.evalId)}`, styles: [CASE_STYLES[one.change]] };
  const changed = changedMetrics(one, metrics);
  const none = ["–", "–", "–", "–"].map((text): Cell => ({ text }));
  const ofCase: Cell[] = [name, ...none, { text: shortStatusText(one), styles: [CASE_STYLES[one.change]] }];
  const byMetric = isByMetric(one, changed);
  const rows = changed.map((metric): Cell[] => {
    const { baseline, current } = metric;
    return [
      byMetric ? name : { text: "" },
      { text: metric.metricName },
      { text: SCORES.value(baseline?.score, baseline?.threshold) },
      { text: SCORES.value(current?.score, current?.threshold) },
      { text: SCORES.difference(metric.difference) },
      { text: statusChangeText(baseline?.status, current?.status), styles: [CASE_STYLES[metric.change]] },
    ];
  });
  return byMetric ? rows : [ofCase, ...rows];
}

function writeCase(page: Page, one: CaseComparison, metrics: readonly MetricComparison[]): void {
  const style = CASE_STYLES[one.change];
  page.wrapped(`${CASE_SIGNS[one.change]} ${shorten(caseName(one.evalId), page.width - 2)}`, 0, 2, style, "bold");
  page.wrapped(caseStatusText(one), 2);
  const reason = reasonOf(one);
  if (reason !== undefined) page.wrapped(head(reason, 4000), 2);
  for (const metric of changedMetrics(one, metrics)) {
    page.wrapped(`${shorten(metric.metricName, page.width)}: ${scoreChangeText(metric)}`, 2, 4);
    const why = reasonOf(metric);
    if (why !== undefined) page.wrapped(head(why, 4000), 4);
    for (const turn of metric.turns) page.wrapped(`turn ${turn.invocationIndex + 1}: ${scoreChangeText(turn)}`, 4, 6);
  }
  page.line();
}
