/**
 * Results as one HTML file that needs nothing else: no script, no request, no server.
 *
 * The page opens from a disk or as a CI artefact. Cases are `<details>`, the filter is radio buttons
 * and CSS, bars are SVG; so the content security policy can forbid everything but the page's own
 * stylesheets: one of every page, one more where judges had a part. Text of results goes only between tags, through {@link html}, which escapes it.
 *
 * Size is linear in the results: texts are cut at {@link LONGEST_TEXT} with a note of what is left
 * out, and cases outside the view are not laid out (`content-visibility`).
 */

import { checkOptions } from "../known-options.js";
import { group } from "../lists.js";
import { EvalStatus } from "../enums.js";
import type { EvalMetricResult, EvalSetResult } from "../types.js";
import { hasScore } from "./difference.js";
import { bins, share } from "./html-charts.js";
import { judgesSection } from "./html-judged.js";
import { breakable, capital, gridTable, type Heading, html, type Markup, noticeBox } from "./html-markup.js";
import { pagePieces } from "./html-page.js";
import { JUDGED_STYLE, JUDGED_STYLE_HASH } from "../generated/styles.js";
import { anyJudged } from "./judged.js";
import type { Estimate } from "../statistics/estimates.js";
import { groupIn, meanOf } from "../statistics/reliability.js";
import {
  reliabilityNotes,
  type ReliabilityTable,
  reliabilityTables,
  reliabilityText,
  repeatedOf,
} from "./reliability.js";
import {
  type At,
  casesText,
  countCases,
  countStatuses,
  countsText,
  guarded,
  joined as joinedPieces,
  judgedMetrics,
  listOf,
  metricNames,
  type NamedCase,
  namedCases,
  type Notice,
  noticesOf,
  ofMetric,
  type Results,
  stampText,
  type StatusCounts,
  timestampText,
} from "./results.js";
import { amountText, count, head, scoreText, thresholdText } from "./text.js";
import { advisoryMark, caseDetails, columnsRow } from "./html-case.js";

/** How to render the page. */
export interface HtmlOptions {
  /** The title of the page, "Evaluation report" by default. */
  title?: string;
}

/**
 * Renders results as one self-contained HTML page.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * await writeFile("report.html", renderHtml([result], { title: "Nightly evaluation" }));
 */
export function renderHtml(results: Results, options: HtmlOptions = {}): string {
  return joinedPieces(htmlChunks(results, options));
}

/**
 * As {@link renderHtml}, piece by piece: for results whose page is longer than a string can be.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 */
export function htmlChunks(results: Results, options: HtmlOptions = {}): Generator<string> {
  checkOptions(options, ["title"]);
  return guarded(listOf(results), (sets, at) => reportPieces(sets, options, at));
}

function reportPieces(sets: readonly EvalSetResult[], options: HtmlOptions, at: At): Generator<string> {
  const counts = countCases(sets);
  return pagePieces({
    title: options.title ?? "Evaluation report",
    styles: anyJudged(sets) ? [{ text: JUDGED_STYLE, hash: JUDGED_STYLE_HASH }] : [],
    header: overview(sets, counts),
    main: mainPieces(sets, counts, at),
    footer: [...new Set(sets.map(stampText))],
  });
}

function* mainPieces(sets: readonly EvalSetResult[], counts: StatusCounts, at: At): Generator<string> {
  yield `${filter(counts).text}\n`;
  for (const [index, set] of sets.entries()) yield* sectionPieces(set, index, at);
  at();
}

function overview(results: readonly EvalSetResult[], counts: StatusCounts): Markup {
  const newest = results.map(timestampText).sort().at(-1);
  const when =
    newest === undefined ? undefined : html`, <time datetime="${newest}Z">${newest.replace("T", " ")} UTC</time>`;
  const found = repeatedOf(results);
  const texts = [reliabilityText(results, found), ...reliabilityNotes(found)];
  const incomplete = incompletePasses(results);
  const figure = (label: string, amount: number, name: string) =>
    html`<div class="${name}${amount === 0 ? " zero" : ""}"><dt>${label}</dt><dd class="tone">${amountText(amount)}</dd></div>`;
  return html`<p class="sub">${casesText(results)} in ${count(results.length, "evalset")}${when}</p>${texts.map((text) => (text === "" ? undefined : html`<p class="sub">${capital(text)}</p>`))}
<dl class="figures">
${figure("Passed", counts.passed, "passed")}
${figure("Failed", counts.failed, "failed")}
${figure("Not evaluated", counts.notEvaluated, "unknown")}
</dl>
${
  incomplete > 0
    ? html`${noticeBox(`In ${amountText(incomplete)} of the ${count(counts.passed, "case")} that passed, a metric was not evaluated.`, "")}
`
    : undefined
}${share({ ...counts, passed: counts.passed - incomplete, notEvaluated: counts.notEvaluated + incomplete })}
${found === undefined ? undefined : html`<details class="reliability"><summary>How reliable it is</summary>${reliabilityTables(found).map(reliabilityTable)}</details>`}
${results.length > 1 ? setsTable(results) : undefined}`;
}

/** How many cases passed although a metric that decides was not evaluated in them. */
function incompletePasses(results: readonly EvalSetResult[]): number {
  const isOpen = ({ evalStatus }: EvalMetricResult) => evalStatus === EvalStatus.NOT_EVALUATED;
  return results.reduce((sum, { evalCaseResults, advisory }) => {
    const open = evalCaseResults.filter(
      ({ finalEvalStatus, overallEvalMetricResults }) =>
        finalEvalStatus === EvalStatus.PASSED &&
        overallEvalMetricResults.some(
          (metric) => isOpen(metric) && ofMetric(advisory, metric.metricName) === undefined,
        ),
    );
    return sum + open.length;
  }, 0);
}

const COUNT_HEADINGS: readonly Heading[] = [
  { text: "Passed", numeric: true },
  { text: "Failed", numeric: true },
  { text: "Not evaluated", numeric: true },
];

/** The cells below {@link COUNT_HEADINGS}. */
function countCells({ passed, failed, notEvaluated }: StatusCounts): Markup[] {
  const cell = (label: string, name: string, amount: number) =>
    html`<td class="num ${amount === 0 ? "muted" : name}" data-label="${label}"><span class="tone">${amountText(amount)}</span></td>`;
  return [
    cell("Passed", "passed", passed),
    cell("Failed", "failed", failed),
    cell("Not evaluated", "unknown", notEvaluated),
  ];
}

function reliabilityTable({ title, columns, rows }: ReliabilityTable): Markup {
  const lines = rows.map(([name, ...cells]) => {
    const others = cells.map((cell, at) => html`<td data-label="${columns[at]}">${cell}</td>`);
    return html`<tr><th scope="row"><bdi>${name}</bdi></th>${others}</tr>`;
  });
  const headings = [title, ...columns].map((text) => ({ text }));
  return gridTable(title, "stack", headings, lines);
}

function setsTable(results: readonly EvalSetResult[]): Markup {
  const headings = [{ text: "Evalset" }, { text: "Cases", numeric: true }, ...COUNT_HEADINGS];
  const rows = results.map((set, at) => {
    const name = html`<a href="#set-${at + 1}"><bdi>${head(set.evalSetId, 300)}</bdi></a>`;
    const cases = amountText(set.evalCaseResults.length);
    return html`<tr><th scope="row">${name}</th><td class="num">${cases}</td>${countCells(countCases([set]))}</tr>`;
  });
  return gridTable("Evalsets", "sets", headings, rows);
}

function filter({ passed, failed, notEvaluated }: StatusCounts): Markup {
  const choice = (id: string, label: string, amount: number, checked = "") =>
    html`<label><input type="radio" name="show" id="show-${id}"${checked}>${label} <b>${amountText(amount)}</b></label>`;
  return html`<div class="filter"><div class="page"><fieldset><legend class="vh">Show cases</legend>
${choice("all", "All", passed + failed + notEvaluated, " checked")}
${choice("failed", "Failed", failed)}
${choice("unknown", "Not evaluated", notEvaluated)}
${choice("passed", "Passed", passed)}
</fieldset></div></div>`;
}

const ORDER: readonly EvalStatus[] = [EvalStatus.FAILED, EvalStatus.NOT_EVALUATED, EvalStatus.PASSED];

function* sectionPieces(set: EvalSetResult, index: number, at: At): Generator<string> {
  at(index);
  const id = `set-${index + 1}`;
  const cases = namedCases(set)
    .map((one, position) => ({ ...one, position, id: `${id}-case-${position + 1}` }))
    .sort((a, b) => ORDER.indexOf(a.result.finalEvalStatus) - ORDER.indexOf(b.result.finalEvalStatus));
  const counts = countCases([set]);
  const names = metricNames(cases.map(({ result }) => judgedMetrics(result.overallEvalMetricResults)));
  yield html`<section class="page set" aria-labelledby="${id}">
<h2 id="${id}" tabindex="-1"><bdi>${head(set.evalSetId, 300)}</bdi></h2>
<p class="sub">${casesText([set])}${cases.length > 0 ? `: ${countsText(counts)}` : ""}</p>
${[...noticesOf(set).map(notice), judgesSection(set)]}
${names.length > 0 ? metricsTable(names, cases, set.advisory) : undefined}
`.text;
  if (cases.length > 0) {
    yield html`<div class="cases">
${columnsRow(names)}
`.text;
    for (const one of cases) {
      at(index, one.position);
      yield caseDetails(one, names, set.advisory).text;
    }
    yield html`
${absences(counts)}
</div>`.text;
  }
  yield "\n</section>";
}

function notice({ message, place, help }: Notice): Markup {
  return noticeBox(message, [place, help].filter((part) => part !== undefined).join(". "));
}

/** What the filter shows instead of a list without such cases. */
function absences({ passed, failed, notEvaluated }: StatusCounts): (Markup | undefined)[] {
  return [
    failed === 0 ? html`<p class="none muted failed">No case failed here.</p>` : undefined,
    notEvaluated === 0 ? html`<p class="none muted unknown">Every case was evaluated here.</p>` : undefined,
    passed === 0 ? html`<p class="none muted passed">No case passed here.</p>` : undefined,
  ];
}

function metricsTable(names: readonly string[], cases: readonly NamedCase[], advisory?: readonly string[]): Markup {
  const hasRange = new Set(cases.map(({ result }) => result.evalId)).size > 1;
  const headings = [
    { text: "Metric" },
    { text: "Distribution" },
    { text: hasRange ? "Mean, 95% interval" : "Mean", numeric: true },
    { text: "Threshold", numeric: true },
    ...COUNT_HEADINGS,
  ];
  const byName = new Map<string, EvalMetricResult[]>(names.map((name) => [name, []]));
  const scoresByName = new Map<string, Map<string, number[]>>(names.map((name) => [name, new Map()]));
  const groupOf = groupIn(cases.map(({ result }) => result));
  for (const { result } of cases) {
    for (const metric of judgedMetrics(result.overallEvalMetricResults)) {
      byName.get(metric.metricName)?.push(metric);
      const ofCases = scoresByName.get(metric.metricName);
      if (ofCases !== undefined && hasScore(metric)) group(ofCases, groupOf(result), metric.score ?? 0);
    }
  }
  const rows = [...byName].map(([name, results]) => {
    const scores = results.filter(hasScore).map(({ score }) => score ?? 0);
    const ofCases = [...(scoresByName.get(name)?.values() ?? [])];
    const mean = scores.length === 0 ? undefined : meanOf(name, ofCases, 0.95);
    const thresholds = [...new Set(results.map(({ threshold }) => threshold).filter((one) => one !== undefined))];
    return html`<tr><th scope="row">${breakable(name)}${advisoryMark(name, advisory)}</th>
<td class="wide">${bins(results, thresholds.length === 1 ? thresholds[0] : undefined)}</td>
<td class="num" data-label="Mean">${scoreText(mean?.value)}${meanInterval(mean)}</td>
<td class="num" data-label="Threshold">${thresholds.length > 1 ? "several" : thresholdText(thresholds[0])}</td>
${countCells(countStatuses(results.map(({ evalStatus }) => evalStatus)))}</tr>`;
  });
  return gridTable("Metrics", "stack", headings, rows);
}

/** Where the mean of more such cases lies, by what these say. */
function meanInterval(mean: Estimate | undefined): Markup | undefined {
  if (mean?.low === undefined || mean.high === undefined) return undefined;
  return html`<div class="muted">${scoreText(mean.low)} to ${scoreText(mean.high)}</div>`;
}
