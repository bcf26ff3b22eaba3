/** A comparison as GitHub-flavoured Markdown, in which no text of a result is markup; as `renderMarkdown`. */

import { checkOptions } from "../known-options.js";
import type { CaseComparison, MetricComparison, ResultChange, RunComparison } from "../types.js";
import {
  caseStatusText,
  changedMetrics,
  changesText,
  type Comparisons,
  comparisonPieces,
  detectableCell,
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
  remarksOf,
  runText,
  scoreChangeText,
  statusChangeText,
  verdictLine,
} from "./comparison.js";
import { bytes, code, type MarkdownOptions, prose } from "./markdown.js";
import { type At, caseName, joined } from "./results.js";
import { amountText, count, shorten } from "./text.js";

/**
 * Renders comparisons as Markdown, for the summary of a CI job or a comment on a pull request: for each a table of the
 * metrics, a table of the cases that changed, regressions first, and the turns of those that got worse, collapsed.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 *
 * @example
 * await appendFile(process.env.GITHUB_STEP_SUMMARY, renderComparisonMarkdown(compareRuns(baseline, current)));
 */
export function renderComparisonMarkdown(comparisons: Comparisons, options: MarkdownOptions = {}): string {
  checkOptions(options, ["maxBytes", "maxRows"]);
  return joined(comparisonPieces(comparisons, (list, at) => [markdownOf(list, options, at)]));
}

function markdownOf(list: readonly RunComparison[], options: MarkdownOptions, at: At): string {
  const { maxBytes = 1_000_000, maxRows = 200 } = options;
  const icon = list.some(({ hasRegressions }) => hasRegressions) ? "❌" : "✅";
  const title = `## ${icon} Comparison with the baseline: ${verdictLine(list)}`;
  const limit = maxBytes - bytes(title) - 200;
  const body: string[] = [];
  let used = 0;
  let leftOut = 0;
  const write = (block: string) => {
    const size = bytes(block);
    if (used + size > limit) leftOut += 1;
    else {
      body.push(block);
      used += size;
    }
  };
  for (const [index, comparison] of list.entries()) {
    at(index);
    const { baseline, current, metrics, cases } = comparison;
    write(`### ${code(current.evalSetId)} ${changesText(comparison)}`);
    write(prose(`Baseline: ${runText(baseline)}. Current: ${runText(current)}.`));
    for (const text of [passesText(comparison), detectableText(comparison)]) if (text !== "") write(prose(`${text}.`));
    for (const remark of remarksOf(comparison)) write(`> ${prose(shorten(remark, 2000))}`);
    if (metrics.some(isTelling)) write(metricsTable(comparison));
    const changed = cases.filter(({ change }) => change !== "unchanged");
    if (changed.length > 0) write(casesTable(changed, metrics, maxRows));
    for (const one of changed.slice(0, maxRows)) {
      if (one.change === "regressed" || one.change === "worse") write(detailsOf(one, metrics));
    }
  }
  if (leftOut > 0) body.push(`_${count(leftOut, "section")} left out to stay within ${amountText(maxBytes)} bytes._`);
  return `${[title, ...body].join("\n\n")}\n`;
}

function table(header: readonly string[], aligns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, aligns, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function metricsTable(comparison: RunComparison): string {
  return table(
    [
      "Metric",
      "Cases",
      "Baseline",
      "Current",
      "Difference",
      intervalLabel(comparison),
      "Would show",
      "Better",
      "Worse",
      "Change",
    ],
    [":---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:", ":---"],
    comparison.metrics.filter(isTelling).map((metric) => {
      const numbers = numbersOf(metric);
      const change = metricChangeText(metric);
      return [
        code(metric.metricName),
        amountText(metric.compared),
        numbers.value(metric.baselineMean),
        numbers.value(metric.currentMean),
        numbers.difference(metric.difference),
        intervalText(metric, numbers),
        detectableCell(metric, numbers),
        amountText(metric.better),
        amountText(metric.worse),
        metric.verdicts !== undefined && metric.change === "worse" ? `**${change}**` : change,
      ];
    }),
  );
}

const ICONS: Record<ResultChange, string> = {
  regressed: "❌",
  worse: "🔻",
  changed: "⚠️",
  fixed: "✅",
  better: "🔺",
  unchanged: "",
};

function casesTable(cases: readonly CaseComparison[], metrics: readonly MetricComparison[], maxRows: number): string {
  const rows = cases.slice(0, maxRows).flatMap((one) => {
    const changed = changedMetrics(one, metrics);
    const name = `${ICONS[one.change]} ${code(caseName(one.evalId))}`;
    const byMetric = isByMetric(one, changed);
    const ofMetrics = changed.map(({ metricName, baseline, current, difference }) => {
      return [
        byMetric ? name : "",
        code(metricName),
        SCORES.value(baseline?.score, baseline?.threshold),
        SCORES.value(current?.score, current?.threshold),
        SCORES.difference(difference),
        statusChangeText(baseline?.status, current?.status),
      ];
    });
    return byMetric ? ofMetrics : [[name, "", "", "", "", caseStatusText(one)], ...ofMetrics];
  });
  const more = cases.length - maxRows;
  const text = table(
    ["Case", "Metric", "Baseline", "Current", "Difference", "Status"],
    [":---", ":---", "---:", "---:", "---:", ":---"],
    rows,
  );
  return more > 0 ? `${text}\n\n… and ${count(more, "more case")}.` : text;
}

function detailsOf(one: CaseComparison, metrics: readonly MetricComparison[]): string {
  const reason = reasonOf(one);
  const blocks = changedMetrics(one, metrics).flatMap((metric) => {
    const why = reasonOf(metric);
    const turns = metric.turns.map((turn) => `- Turn ${turn.invocationIndex + 1}: ${scoreChangeText(turn)}`);
    return [
      `**${code(metric.metricName)}** ${scoreChangeText(metric)}${why === undefined ? "" : `: ${prose(shorten(why, 2000))}`}`,
      ...(turns.length > 0 ? [turns.join("\n")] : []),
    ];
  });
  return [
    `<details><summary>${ICONS[one.change]} ${code(caseName(one.evalId))} ${caseStatusText(one)}</summary>`,
    ...(reason === undefined ? [] : [prose(shorten(reason, 2000))]),
    ...blocks,
    "</details>",
  ].join("\n\n");
}
