/** Comparisons of runs as one HTML page that needs nothing else; as `renderHtml`. */

import { optionsOf } from "../known-options.js";
import type { CaseComparison, CaseMetricComparison, MetricComparison, ResultChange, RunComparison } from "../types.js";
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
  isByMetric,
  isTelling,
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
import type { HtmlOptions } from "./html.js";
import { intervalBar } from "./html-charts.js";
import { breakable, capital, gridTable, html, type Markup, noticeBox } from "./html-markup.js";
import { pagePieces } from "./html-page.js";
import { ESTIMATES_STYLE, ESTIMATES_STYLE_HASH } from "../generated/styles.js";
import { type At, caseName, informationalLabel, joined } from "./results.js";
import { amountText, count, head } from "./text.js";

/**
 * Renders comparisons as one self-contained HTML page: for each the metrics with where their difference lies, and the cases that
 * changed, regressions first.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 *
 * @example
 * await writeFile("comparison.html", renderComparisonHtml(compareRuns(baseline, current)));
 */
export function renderComparisonHtml(comparisons: Comparisons, options: HtmlOptions = {}): string {
  return joined(comparisonHtmlChunks(comparisons, options));
}

/**
 * As {@link renderComparisonHtml}, piece by piece.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 */
export function comparisonHtmlChunks(comparisons: Comparisons, options: HtmlOptions = {}): Generator<string> {
  const { title = "Comparison with the baseline" } = optionsOf(options, ["title"]);
  return comparisonPieces(comparisons, (list, at) =>
    pagePieces({
      title,
      styles: [{ text: ESTIMATES_STYLE, hash: ESTIMATES_STYLE_HASH }],
      header: overview(list),
      main: sections(list, at),
      footer: [...new Set(list.map(methodText))],
    }),
  );
}

const CHANGES: readonly (readonly [ResultChange, sign: string, tone: string])[] = [
  ["regressed", "✗", "failed"],
  ["worse", "↓", "failed"],
  ["changed", "~", "unknown"],
  ["fixed", "✓", "passed"],
  ["better", "↑", "passed"],
  ["unchanged", "=", "same"],
];

const signOf = (change: ResultChange) => CHANGES.find(([name]) => name === change)?.[1] ?? "";
const toneOf = (change: ResultChange) => CHANGES.find(([name]) => name === change)?.[2] ?? "same";

function overview(list: readonly RunComparison[]): Markup {
  const figures = CHANGES.map(([change, sign, tone]) => {
    const amount = list.reduce((sum, { counts }) => sum + counts[change], 0);
    return html`<div class="${tone}${amount === 0 ? " zero" : ""}"><dt>${sign} ${capital(change)}</dt><dd class="tone">${amountText(amount)}</dd></div>`;
  });
  return html`<p class="sub">${capital(verdictLine(list))}</p>
<dl class="figures">${figures}</dl>`;
}

function methodText({ bootstrap: { confidence, resamples, seed } }: RunComparison): string {
  return `Intervals contain the true difference in ${Number((confidence * 100).toFixed(4))}% of such comparisons: paired bootstrap, ${count(resamples, "resample")}, seed ${seed}.`;
}

function* sections(list: readonly RunComparison[], at: At): Generator<string> {
  for (const [index, comparison] of list.entries()) {
    at(index);
    const { baseline, current, metrics, cases } = comparison;
    const id = `set-${index + 1}`;
    const said = [passesText(comparison), detectableText(comparison)].filter((text) => text !== "");
    yield html`<section class="page set" aria-labelledby="${id}">
<h2 id="${id}"><bdi>${head(current.evalSetId, 300)}</bdi></h2>
<p class="sub">${capital(changesText(comparison))}. Baseline: ${runText(baseline)}. Current: ${runText(current)}.</p>
${said.map((text) => html`<p class="lead">${capital(text)}.</p>`)}
${remarksOf(comparison).map((remark) => noticeBox(remark))}
${metrics.some(isTelling) ? metricsTable(comparison) : undefined}
`.text;
    const changed = cases.filter(({ change }) => change !== "unchanged");
    yield html`<h3>${changed.length === 0 ? "No case changed" : `${count(changed.length, "case")} changed`}</h3>`.text;
    if (changed.length > 0) yield casesTable(changed, metrics, at, index).text;
    yield "\n</section>";
  }
  at();
}

function metricsTable(comparison: RunComparison): Markup {
  const metrics = comparison.metrics.filter(isTelling);
  // Scores share a scale, so that their intervals can be compared; amounts have one each.
  const reach = widest(metrics.filter(({ verdicts }) => verdicts !== undefined));
  const rows = metrics.map((metric) => {
    const numbers = numbersOf(metric);
    const { difference, interval, verdicts, change } = metric;
    const scale = verdicts === undefined ? widest([metric]) : reach;
    const tone = verdicts === undefined || change === "unchanged" ? "same" : TONES[change];
    const name = verdicts === undefined ? informationalLabel(metric.metricName) : metric.metricName;
    const bar =
      difference === undefined
        ? undefined
        : intervalBar({ value: difference, ...interval }, [-scale, scale], 0, intervalText(metric, numbers));
    return html`<tr class="${tone}"><th scope="row">${breakable(name)}</th>
<td class="num" data-label="Cases">${amountText(metric.compared)}</td>
<td class="num" data-label="Baseline">${numbers.value(metric.baselineMean)}</td>
<td class="num" data-label="Current">${numbers.value(metric.currentMean)}</td>
<td class="num" data-label="Difference">${numbers.difference(difference)}</td>
<td class="wide">${bar}<div class="muted">${intervalText(metric, numbers)}</div></td>
<td class="num" data-label="Would show">${detectableCell(metric, numbers)}</td>
<td class="change tone" data-label="Change">${metricChangeText(metric)}</td></tr>`;
  });
  const headings = [
    { text: "Metric" },
    { text: "Cases", numeric: true },
    { text: "Baseline", numeric: true },
    { text: "Current", numeric: true },
    { text: "Difference", numeric: true },
    { text: intervalLabel(comparison) },
    { text: "Would show", numeric: true },
    { text: "Change" },
  ];
  return gridTable("Metrics", "stack", headings, rows);
}

const TONES = { better: "passed", worse: "failed", unclear: "unknown" } as const;

/** How far from 0 differences and their intervals reach. */
function widest(metrics: readonly MetricComparison[]): number {
  const ends = metrics.flatMap(({ difference = 0, interval }) => [difference, interval?.low ?? 0, interval?.high ?? 0]);
  return ends.reduce((most, end) => Math.max(most, Math.abs(end)), 0) || 1;
}

function casesTable(
  cases: readonly CaseComparison[],
  metrics: readonly MetricComparison[],
  at: At,
  index: number,
): Markup {
  const rows = cases.flatMap((one, position) => {
    at(index, position);
    const changed = changedMetrics(one, metrics);
    const name = html`<span class="sign tone">${signOf(one.change)}</span><b><bdi>${breakable(caseName(one.evalId))}</bdi></b>`;
    const byMetric = isByMetric(one, changed);
    const ofMetrics = changed.flatMap((metric) => {
      const { metricName, baseline, current, difference, change } = metric;
      const why = [...(byMetric ? [reasonOf(one)] : []), reasonOf(metric), ...turnTexts(metric)].filter(
        (text) => text !== undefined,
      );
      return [
        html`<tr class="${toneOf(change)}"><th scope="row">${byMetric ? name : undefined}</th><td data-label="Metric">${breakable(metricName)}</td>
<td class="num" data-label="Baseline">${SCORES.value(baseline?.score, baseline?.threshold)}</td>
<td class="num" data-label="Current">${SCORES.value(current?.score, current?.threshold)}</td>
<td class="num" data-label="Difference">${SCORES.difference(difference)}</td>
<td class="change tone" data-label="Status">${statusChangeText(baseline?.status, current?.status)}</td></tr>`,
        ...whyRow(why),
      ];
    });
    if (byMetric) return ofMetrics;
    const reason = reasonOf(one);
    return [
      html`<tr class="${toneOf(one.change)}"><th scope="row" colspan="5">${name}</th><td class="change tone" data-label="Status">${caseStatusText(one)}</td></tr>`,
      ...whyRow(reason === undefined ? [] : [reason]),
      ...ofMetrics,
    ];
  });
  const headings = [
    { text: "Case" },
    { text: "Metric" },
    { text: "Baseline", numeric: true },
    { text: "Current", numeric: true },
    { text: "Difference", numeric: true },
    { text: "Status" },
  ];
  return gridTable("Cases that changed", "stack", headings, rows);
}

/** The turns that were scored differently, unless the only one says what the case does. */
function turnTexts(metric: CaseMetricComparison): string[] {
  const { turns } = metric;
  if (turns.length === 1 && turns[0] !== undefined && scoreChangeText(turns[0]) === scoreChangeText(metric)) return [];
  return turns.map((turn) => `Turn ${turn.invocationIndex + 1}: ${scoreChangeText(turn)}`);
}

function whyRow(why: readonly string[]): Markup[] {
  if (why.length === 0) return [];
  const lines = [...new Set(why)].map((text) => html`<li>${head(text, 2000)}</li>`);
  return [html`<tr class="why"><td></td><td colspan="5"><ul>${lines}</ul></td></tr>`];
}
