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
import { answerText, userText } from "../invocation.js";
import { group } from "../lists.js";
import { EvalStatus } from "../enums.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult, RubricScore } from "../types.js";
import { comparesTexts, hasScore } from "./difference.js";
import { callsTable } from "./html-calls.js";
import { bins, scoreBar, share } from "./html-charts.js";
import { eventsDetails } from "./html-events.js";
import { judgedBlock, judgesSection } from "./html-judged.js";
import {
  breakable,
  capital,
  clipped,
  escaped,
  gridTable,
  type Heading,
  html,
  ICONS,
  icon,
  LONGEST_TEXT,
  Markup,
  marked,
  textBox,
  tone,
} from "./html-markup.js";
import { JUDGED_STYLE, JUDGED_STYLE_HASH, STYLE, STYLE_HASH } from "./html-style.js";
import { anyJudged, isJudged, isOfConversation, remarksOf, rubricFinding, rubricsOf } from "./judged.js";
import type { Estimate } from "../statistics/estimates.js";
import { meanOf } from "../statistics/reliability.js";
import { neededText, type ReliabilityTable, reliabilityTables, reliabilityText, repeatedOf } from "./reliability.js";
import {
  type At,
  casesText,
  countCases,
  countStatuses,
  countsText,
  firstByName,
  guarded,
  informationalLabel,
  informationalMetrics,
  joined as joinedPieces,
  judgedMetrics,
  listOf,
  metricNames,
  passedText,
  type NamedCase,
  type Notice,
  namedCases,
  noticesOf,
  type Results,
  type StatusCounts,
  stampText,
  statusWord,
  timestampText,
} from "./results.js";
import { amountText, count, firstLine, head, scoreText, shorten, thresholdText } from "./text.js";

/** How to render the page. */
export interface HtmlOptions {
  /** The title of the page, "Evaluation report" by default. */
  title?: string;
}

/** The metrics that get a column of their own in the list of cases. */
const MOST_COLUMNS = 4;

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
  return guarded(listOf(results), (sets, at) => pagePieces(sets, options, at));
}

function* pagePieces(sets: readonly EvalSetResult[], options: HtmlOptions, at: At): Generator<string> {
  const title = options.title ?? "Evaluation report";
  const counts = countCases(sets);
  const withJudged = anyJudged(sets);
  const styles = withJudged ? `'${STYLE_HASH}' '${JUDGED_STYLE_HASH}'` : `'${STYLE_HASH}'`;
  const policy = `default-src 'none'; style-src ${styles}; base-uri 'none'; form-action 'none'`;
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${new Markup(escaped(head(title, 200)))}</title>
<style>${new Markup(STYLE)}</style>${withJudged ? html`\n<style>${new Markup(JUDGED_STYLE)}</style>` : undefined}
</head>
<body>
${ICONS}
<header class="page">
<h1>${head(title, 200)}</h1>
${overview(sets, counts)}
</header>
<main>
${filter(counts)}
`.text;
  for (const [index, set] of sets.entries()) yield* sectionPieces(set, index, at);
  at();
  yield html`
</main>
<footer><div class="page">${[...new Set(sets.map(stampText))].map((stamp) => html`<p>${stamp}</p>`)}</div></footer>
</body>
</html>
`.text;
}

function overview(results: readonly EvalSetResult[], counts: StatusCounts): Markup {
  const newest = results.map(timestampText).sort().at(-1);
  const when =
    newest === undefined ? undefined : html`, <time datetime="${newest}Z">${newest.replace("T", " ")} UTC</time>`;
  const found = repeatedOf(results);
  const texts = [reliabilityText(results, found), found === undefined ? "" : neededText(found)];
  const figure = (label: string, amount: number, name: string) =>
    html`<div class="${name}${amount === 0 ? " zero" : ""}"><dt>${label}</dt><dd class="tone">${amountText(amount)}</dd></div>`;
  return html`<p class="sub">${casesText(results)} in ${count(results.length, "evalset")}${when}</p>${texts.map((text) => (text === "" ? undefined : html`<p class="sub">${capital(text)}</p>`))}
<dl class="figures">
${figure("Passed", counts.passed, "passed")}
${figure("Failed", counts.failed, "failed")}
${figure("Not evaluated", counts.notEvaluated, "unknown")}
</dl>
${share(counts)}
${found === undefined ? undefined : html`<details class="reliability"><summary>How reliable it is</summary>${reliabilityTables(found).map(reliabilityTable)}</details>`}
${results.length > 1 ? setsTable(results) : undefined}`;
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
${names.length > 0 ? metricsTable(names, cases) : undefined}
`.text;
  if (cases.length > 0) {
    yield html`<div class="cases">
${columnsRow(names)}
`.text;
    for (const one of cases) {
      at(index, one.position);
      yield caseDetails(one, names).text;
    }
    yield html`
${absences(counts)}
</div>`.text;
  }
  yield "\n</section>";
}

function notice({ message, place, help }: Notice): Markup {
  const more = [place, help].filter((part) => part !== undefined).join(". ");
  return html`<div class="notice"><p>${head(message, LONGEST_TEXT)}</p>${more === "" ? undefined : html`<p>${more}</p>`}</div>`;
}

/** What the filter shows in place of a list without such cases. */
function absences({ passed, failed, notEvaluated }: StatusCounts): (Markup | undefined)[] {
  return [
    failed === 0 ? html`<p class="none muted failed">No case failed here.</p>` : undefined,
    notEvaluated === 0 ? html`<p class="none muted unknown">Every case was evaluated here.</p>` : undefined,
    passed === 0 ? html`<p class="none muted passed">No case passed here.</p>` : undefined,
  ];
}

function metricsTable(names: readonly string[], cases: readonly NamedCase[]): Markup {
  const hasRange = new Set(cases.map(({ result }) => result.evalId)).size > 1;
  const headings = [
    { text: "Metric" },
    { text: "Distribution" },
    { text: hasRange ? "Mean, 95 % interval" : "Mean", numeric: true },
    { text: "Threshold", numeric: true },
    ...COUNT_HEADINGS,
  ];
  const byName = new Map<string, EvalMetricResult[]>(names.map((name) => [name, []]));
  const scoresByName = new Map<string, Map<string, number[]>>(names.map((name) => [name, new Map()]));
  for (const { result } of cases) {
    for (const metric of judgedMetrics(result.overallEvalMetricResults)) {
      byName.get(metric.metricName)?.push(metric);
      const ofCases = scoresByName.get(metric.metricName);
      if (ofCases !== undefined && hasScore(metric)) group(ofCases, result.evalId, metric.score ?? 0);
    }
  }
  const rows = [...byName].map(([name, results]) => {
    const scores = results.filter(hasScore).map(({ score }) => score ?? 0);
    const ofCases = [...(scoresByName.get(name)?.values() ?? [])];
    const mean = scores.length === 0 ? undefined : meanOf(name, ofCases, 0.95);
    const thresholds = [...new Set(results.map(({ threshold }) => threshold).filter((one) => one !== undefined))];
    return html`<tr><th scope="row">${breakable(name)}</th>
<td class="wide">${bins(results, thresholds.length === 1 ? thresholds[0] : undefined)}</td>
<td class="num" data-label="Mean">${scoreText(mean?.value)}${meanInterval(mean)}</td>
<td class="num" data-label="Threshold">${thresholds.length > 1 ? "several" : thresholdText(thresholds[0])}</td>
${countCells(countStatuses(results.map(({ evalStatus }) => evalStatus)))}</tr>`;
  });
  return gridTable("Metrics", "stack", headings, rows);
}

/** Where the mean of more such cases lies, by what these say. */
function meanInterval(mean: Estimate | undefined): Markup | undefined {
  if (mean?.low === undefined || mean.high === undefined || mean.low === mean.high) return undefined;
  return html`<div class="muted">${scoreText(mean.low)} to ${scoreText(mean.high)}</div>`;
}

function columnsRow(names: readonly string[]): Markup {
  const cells =
    names.length > MOST_COLUMNS
      ? html`<span>Metrics</span>`
      : names.map((name) => html`<span>${breakable(name, 80)}</span>`);
  return html`<div class="columns" aria-hidden="true"><span>Case</span><span class="cells">${cells}</span><span class="turns">Turns</span></div>`;
}

function caseDetails({ name, result, id }: NamedCase & { id: string }, names: readonly string[]): Markup {
  const metrics = result.overallEvalMetricResults;
  const turns = result.evalMetricResultPerInvocation.length;
  const judged = judgedMetrics(metrics);
  const judgedByName = firstByName(judged);
  const overall = firstByName(metrics);
  const why = judged.length === 0 && result.reason ? shorten(firstLine(result.reason), 90) : undefined;
  const cells =
    why !== undefined
      ? html`<span class="muted">${why}</span>`
      : names.length > MOST_COLUMNS
        ? html`<span>${passedText(judged)}</span>`
        : names.map((wanted) => summaryCell(judgedByName.get(wanted)));
  return html`<details class="case ${tone(result.finalEvalStatus)}"><summary>
<svg class="chevron" aria-hidden="true"><use href="#icon-chevron"/></svg>${icon(result.finalEvalStatus)}
<h3><span class="vh">${capital(statusWord(result.finalEvalStatus))}: </span><bdi>${shorten(name, 160)}</bdi></h3>
<span class="cells${why === undefined ? "" : " why"}">${cells}</span>
<span class="turns">${amountText(turns)}<span class="unit"> turn${turns === 1 ? "" : "s"}</span></span></summary>
<div class="panel" id="${id}">
${result.reason ? reasonBox(result.reason) : undefined}
${judged.length > 0 ? scoresTable(judged, result.evalMetricResultPerInvocation) : undefined}
${facts(informationalMetrics(metrics), turns > 1)}
${result.evalMetricResultPerInvocation.map((turn, at) => turnSection(turn, at, turns > 1, overall))}${conversationSection(result, overall)}
<p class="link"><a href="#${id}">Link to this case</a></p>
</div></details>
`;
}

/** Why a case could not be scored; a stack below it as it is. */
function reasonBox(reason: string): Markup {
  const first = firstLine(reason);
  const rest = reason.slice(first.length + 1);
  const stack = rest === "" ? undefined : textBox("Stack", clipped(rest), rest.length);
  return html`<p class="reason">${clipped(first)}</p>${stack}`;
}

function summaryCell(metric: EvalMetricResult | undefined): Markup {
  if (metric === undefined) return html`<span></span>`;
  const off = metric.evalStatus === EvalStatus.PASSED ? "" : ` class="off ${tone(metric.evalStatus)}"`;
  const word = off === "" ? undefined : html`<span class="vh"> ${statusWord(metric.evalStatus)}</span>`;
  return html`<span${new Markup(off)}><span class="metric">${breakable(metric.metricName, 80)} </span>${scoreText(metric.score, metric.threshold)}${word}</span>`;
}

function scoresTable(metrics: readonly EvalMetricResult[], turns: readonly Turn[]): Markup {
  const headings = [
    { text: "Metric" },
    { text: "Bar", hidden: true },
    { text: "Score", numeric: true },
    { text: "Threshold", numeric: true },
    { text: "Result" },
  ];
  const shown = shownInTurns(turns);
  const rows = metrics.flatMap((metric) => {
    const why = joined(whyOf(metric), overTurns(metric, shown.get(metric.metricName), turns.length));
    const row = html`<tr class="${tone(metric.evalStatus)}"><th scope="row">${breakable(metric.metricName)}</th>
<td class="wide">${scoreBar(metric)}</td>
<td class="num score" data-label="Score">${scoreText(metric.score, metric.threshold)}</td>
<td class="num" data-label="Threshold">${thresholdText(metric.threshold)}</td>
<td class="result">${icon(metric.evalStatus)} <span class="tone">${capital(statusWord(metric.evalStatus))}</span></td></tr>
`;
    return why === undefined ? [row] : [row, html`<tr class="why"><td colspan="5">${why}</td></tr>`];
  });
  return gridTable("Scores", "stack", headings, rows);
}

function joined(...parts: (Markup | undefined)[]): Markup | undefined {
  return parts.every((part) => part === undefined) ? undefined : html`${parts}`;
}

/** The reason and the warnings of a metric. */
function whyOf(metric: EvalMetricResult): Markup | undefined {
  const warnings = metric.explanation?.warnings ?? [];
  // What a conversation does not tell about its cost is no news.
  const reason = metric.evalStatus === EvalStatus.INFORMATIONAL ? undefined : metric.reason;
  if (!reason && warnings.length === 0) return undefined;
  return html`${reason ? html`<p>${clipped(reason)}</p>` : undefined}

${warnings.map((warning) => html`<p>Note: ${clipped(warning)}</p>`)}`;
}

/** What the turns tell of the rubrics of a metric. */
interface ShownTurns {
  /** The results that tell something. */
  times: number;
  /** By rubric in how many turns it was met, and in how many it was scored. */
  rubrics: Map<string, { met: number; scored: number }>;
}

/** What the turns tell of the rubrics of each metric. */
function shownInTurns(turns: readonly Turn[]): Map<string, ShownTurns> {
  const found = new Map<string, ShownTurns>();
  for (const metric of turns.flatMap((turn) => turn.evalMetricResults)) {
    if (!metric.details?.rubricScores) continue;
    const shown = found.get(metric.metricName) ?? { times: 0, rubrics: new Map() };
    found.set(metric.metricName, shown);
    shown.times += 1;
    for (const { rubricId, score } of rubricsOf(metric)) {
      if (typeof score !== "number") continue;
      const counts = shown.rubrics.get(rubricId) ?? { met: 0, scored: 0 };
      shown.rubrics.set(rubricId, counts);
      counts.scored += 1;
      if (score === 1) counts.met += 1;
    }
  }
  return found;
}

/** The rubrics of a metric over several turns, and what else its judge said of no turn in particular. */
function overTurns(metric: EvalMetricResult, shown: ShownTurns | undefined, turns: number): Markup | undefined {
  const isShownOnce = shown?.times === 1 && (turns === 1 || isOfConversation(metric));
  const rubrics = isShownOnce ? [] : rubricsOf(metric);
  const remarks = shown === undefined ? remarksOf(metric) : [];
  if (rubrics.length + remarks.length === 0) return undefined;
  const items = rubrics.map((rubric) => {
    const why = rubric.rationale && shown === undefined ? html`: <bdi>${clipped(rubric.rationale)}</bdi>` : undefined;
    return html`<li><b>${head(rubric.rubricId, 300)}</b> ${metIn(rubric, shown?.rubrics.get(rubric.rubricId))}${why}</li>`;
  });
  return html`${items.length > 0 ? html`<ul class="rubrics">${items}</ul>` : undefined}${remarks.map(({ text }) => html`<p>${clipped(text)}</p>`)}`;
}

/** In how many turns a rubric is met, or its share where the turns do not tell. */
function metIn(rubric: RubricScore, counts: { met: number; scored: number } | undefined): string {
  return counts === undefined ? rubricFinding(rubric).word : `met in ${counts.met} of ${count(counts.scored, "turn")}`;
}

/**
 * Informational values, with what they are made of; nothing where all are zero.
 *
 * @param areMeans Whether ADK's are means of several turns.
 */
function facts(metrics: readonly EvalMetricResult[], areMeans = false): Markup | undefined {
  const scored = metrics.filter(hasScore);
  if (scored.every(({ score }) => score === 0)) return undefined;
  const items = scored.map((metric) => {
    const seconds = metric.metricName === "invocation_duration_v1";
    const tokens = metric.details?.tokenUsageDetails;
    const times = metric.details?.durationDetails;
    const parts = [
      [tokens?.inputTokens, "in"],
      [tokens?.cachedTokens, "cached"],
      [tokens?.outputTokens, "out"],
      [tokens?.reasoningTokens, "reasoning"],
      [times?.modelSeconds, "model"],
      [times?.toolSeconds, "tools"],
      [times?.frameworkSeconds, "framework"],
    ] as const;
    const made = parts
      .filter(([amount]) => typeof amount === "number")
      .map(([amount, word]) => `${amountText(amount, seconds ? 3 : 0)} ${word}`);
    const name = informationalLabel(head(metric.metricName, 80));
    const label = `${capital(name)}${areMeans && name !== metric.metricName ? " a turn" : ""}`;
    const value = amountText(metric.score, seconds ? 3 : 1);
    return html`<div><dt>${label}</dt><dd>${value}${made.length > 0 ? html` <small>(${made.join(", ")})</small>` : undefined}</dd></div>`;
  });
  return html`<dl class="facts">${items}</dl>`;
}

type Turn = EvalCaseResult["evalMetricResultPerInvocation"][number];

type ByName = ReadonlyMap<string, EvalMetricResult>;

/**
 * A turn.
 *
 * @param scored Whether its own scores are told: there are other turns.
 */
function turnSection(turn: Turn, at: number, scored: boolean, overall: ByName): Markup {
  const { actualInvocation: actual, expectedInvocation: expected } = turn;
  const metrics = turn.evalMetricResults.filter((metric) => !isOfConversation(metric));
  const compared = expected !== undefined && comparesTexts(turn);
  const tokens = metrics.find(({ explanation }) => explanation?.tokens)?.explanation?.tokens;
  const side = (title: string, text: string, spans: readonly (readonly [number, number])[]) =>
    html`<div class="said"><h5>${title}</h5>${
      text === "" ? html`<p class="muted">No text</p>` : textBox(title, marked(text, spans), text.length)
    }</div>`;
  const wanted =
    compared && side("Expected response", answerText(expected), tokens?.matched.map((match) => match.expected) ?? []);
  const made = side(
    compared ? "Actual response" : "Response",
    answerText(actual),
    tokens?.matched.map((match) => match.actual) ?? [],
  );
  const said = userText(actual) || userText(expected) || "No text";
  const chips = judgedMetrics(metrics).map(
    (metric) => html`<li class="${tone(metric.evalStatus)}">${icon(metric.evalStatus)}
<span class="vh">${statusWord(metric.evalStatus)}</span> ${head(metric.metricName, 80)}
<span class="tone">${scoreText(metric.score, metric.threshold)}</span></li>`,
  );
  const whys = metrics.flatMap((metric) => {
    const why = scored || metric.explanation?.warnings ? whyOf(metric) : undefined;
    if (isJudged(metric)) return [judgedBlock(turn, metric, overall.get(metric.metricName), why)];
    return why === undefined
      ? []
      : [html`<div class="muted"><span class="label">${head(metric.metricName, 300)}</span>${why}</div>`];
  });
  const legend =
    tokens &&
    html`<p class="legend"><mark>Marked</mark> words are in both texts. Precision ${scoreText(tokens.precision)}, recall ${scoreText(tokens.recall)}.</p>`;
  return html`<section class="turn">
<div class="turn-head"><h4>Turn ${at + 1}</h4>${scored ? html`<ul class="chips">${chips}</ul>` : undefined}</div>
<div class="said"><h5>User</h5>${textBox("User", clipped(said), said.length)}</div>
<div><div class="pair${compared ? "" : " alone"}">${wanted || undefined}${made}</div>${legend}</div>
${callsTable(turn)}${eventsDetails(actual)}
${whys}
${scored ? facts(informationalMetrics(metrics)) : undefined}
</section>`;
}

/** What judges found of a conversation as a whole: the results of the last turn that are not about that turn. */
function conversationSection(result: EvalCaseResult, byName: ByName): Markup | undefined {
  const last = result.evalMetricResultPerInvocation.at(-1);
  const judged = last?.evalMetricResults.filter((metric) => isOfConversation(metric) && isJudged(metric)) ?? [];
  if (!last || judged.length === 0) return undefined;
  const blocks = judged.map((metric) => {
    const overall = byName.get(metric.metricName);
    const isSameReason = metric.reason === overall?.reason && !metric.explanation?.warnings;
    return judgedBlock(last, metric, overall, isSameReason ? undefined : whyOf(metric));
  });
  return html`<section class="turn"><h4>Whole conversation</h4>
${blocks}
</section>`;
}
