/** A case in the HTML report: its scores, its turns, and what judges found. */

import { answerText, userText } from "../invocation.js";
import { EvalStatus } from "../enums.js";
import type { EvalCaseResult, EvalMetricResult, EvalMetricResultPerInvocation, RubricScore } from "../types.js";
import { showsTexts, hasScore } from "./difference.js";
import { callsTable } from "./html-calls.js";
import { scoreBar } from "./html-charts.js";
import { eventsDetails } from "./html-events.js";
import { judgedBlock } from "./html-judged.js";
import { breakable, capital, clipped, gridTable, html, icon, Markup, marked, textBox, tone } from "./html-markup.js";
import { isJudged, isOfConversation, remarksOf, rubricFinding, rubricsOf } from "./judged.js";
import {
  firstByName,
  informationalLabel,
  informationalMetrics,
  judgedMetrics,
  type NamedCase,
  ofMetric,
  passedText,
  statusWord,
} from "./results.js";
import { amountText, count, firstLine, head, scoreText, shorten, thresholdText } from "./text.js";
import { reasonsOf } from "./why.js";
import { changedWords, type WordChanges } from "./word-changes.js";

/** The metrics that get a column of their own in the list of cases. */
const MOST_COLUMNS = 4;

/** The headings of the list of cases. */
export function columnsRow(names: readonly string[]): Markup {
  const cells =
    names.length > MOST_COLUMNS
      ? html`<span>Metrics</span>`
      : names.map((name) => html`<span>${breakable(name, 80)}</span>`);
  return html`<div class="columns" aria-hidden="true"><span>Case</span><span class="cells">${cells}</span><span class="turns">Turns</span></div>`;
}

/** Says that a metric decides nothing. */
export function advisoryMark(name: string, advisory?: readonly string[]): Markup | undefined {
  return ofMetric(advisory, name) === undefined ? undefined : html` <span class="muted">advisory</span>`;
}

/** A case of the list: its summary, and what unfolds below it. */
export function caseDetails(
  { name, result, id }: NamedCase & { id: string },
  names: readonly string[],
  advisory: readonly string[] | undefined,
): Markup {
  const metrics = result.overallEvalMetricResults;
  const turns = result.evalMetricResultPerInvocation.length;
  // Turns that passed are folded where others did not.
  const isFolding = result.evalMetricResultPerInvocation.some((turn) => !hasPassed(turn));
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
${whyList(result)}
${judged.length > 0 ? scoresTable(judged, result.evalMetricResultPerInvocation, advisory) : undefined}
${facts(informationalMetrics(metrics), turns > 1)}
${result.evalMetricResultPerInvocation.map((turn, at) => turnSection(turn, at, turns > 1, overall, isFolding && hasPassed(turn)))}${conversationSection(result, overall)}
<p class="link"><a href="#${id}">Link to this case</a></p>
</div></details>
`;
}

/** Whether every metric of a turn that has a verdict passed, and one has. */
function hasPassed({ evalMetricResults }: EvalMetricResultPerInvocation): boolean {
  const judged = judgedMetrics(evalMetricResults);
  return judged.length > 0 && judged.every(({ evalStatus }) => evalStatus === EvalStatus.PASSED);
}

/** Why a case did not pass: what differs for each metric, and the score that it needs. */
function whyList(result: EvalCaseResult): Markup | undefined {
  // A run that failed says so itself.
  const reasons = reasonsOf(result).filter(({ differences }) => differences.join() !== result.reason);
  if (reasons.length === 0) return undefined;
  const items = reasons.map(({ metricName, evalStatus, differences, turns, score, threshold }) => {
    const facts = [
      ...(score === undefined || threshold === undefined
        ? []
        : [`needs ${thresholdText(threshold)}, got ${scoreText(score, threshold)}`]),
      ...(turns.length === 0 ? [] : [turnsText(turns)]),
    ];
    return html`<li class="${tone(evalStatus)}">${icon(evalStatus)}<div><b>${breakable(metricName)}</b> <span class="muted">${facts.join(", ")}</span>${differences.map((text) => html`<p dir="auto">${clipped(text)}</p>`)}</div></li>`;
  });
  return html`<ul class="whys" aria-label="Why it did not pass">${items}</ul>`;
}

/** `in turns 1, 3` */
function turnsText(turns: readonly number[]): string {
  return turns.length > 5 ? `in ${turns.length} turns` : `in turn${turns.length === 1 ? "" : "s"} ${turns.join(", ")}`;
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

function scoresTable(
  metrics: readonly EvalMetricResult[],
  turns: readonly EvalMetricResultPerInvocation[],
  advisory: readonly string[] | undefined,
): Markup {
  const headings = [
    { text: "Metric" },
    { text: "Bar", hidden: true },
    { text: "Score", numeric: true },
    { text: "Threshold", numeric: true },
    { text: "Result" },
  ];
  const shown = shownInTurns(turns);
  const rows = metrics.flatMap((metric) => {
    const why = joined(warningsOf(metric), overTurns(metric, shown.get(metric.metricName), turns.length));
    const row = html`<tr class="${tone(metric.evalStatus)}"><th scope="row">${breakable(metric.metricName)}${advisoryMark(metric.metricName, advisory)}</th>
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
  // Unknown costs of a conversation are left out.
  const reason = metric.evalStatus === EvalStatus.INFORMATIONAL ? undefined : metric.reason;
  return joined(reason ? html`<p>${clipped(reason)}</p>` : undefined, warningsOf(metric));
}

function warningsOf({ explanation }: EvalMetricResult): Markup | undefined {
  const warnings = explanation?.warnings ?? [];
  if (warnings.length === 0) return undefined;
  return html`${warnings.map((warning) => html`<p>Note: ${clipped(warning)}</p>`)}`;
}

/** What the turns tell of the rubrics of a metric. */
interface ShownTurns {
  /** The results that tell something. */
  times: number;
  /** By rubric in how many turns it was met, and in how many it was scored. */
  rubrics: Map<string, { met: number; scored: number }>;
}

/** What the turns tell of the rubrics of each metric. */
function shownInTurns(turns: readonly EvalMetricResultPerInvocation[]): Map<string, ShownTurns> {
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
    const label = `${capital(name)}${areMeans && name !== metric.metricName ? " per turn" : ""}`;
    const value = amountText(metric.score, seconds ? 3 : 1);
    return html`<div><dt>${label}</dt><dd>${value}${made.length > 0 ? html` <small>(${made.join(", ")})</small>` : undefined}</dd></div>`;
  });
  return html`<dl class="facts">${items}</dl>`;
}

type ByName = ReadonlyMap<string, EvalMetricResult>;

/**
 * A turn.
 *
 * @param scored Whether its own scores are shown: there are other turns.
 * @param isFolded Whether it is behind its title.
 */
function turnSection(
  turn: EvalMetricResultPerInvocation,
  at: number,
  scored: boolean,
  overall: ByName,
  isFolded: boolean,
): Markup {
  const { actualInvocation: actual, expectedInvocation: expected } = turn;
  const metrics = turn.evalMetricResults.filter((metric) => !isOfConversation(metric));
  const tokens = metrics.find(({ explanation }) => explanation?.tokens)?.explanation?.tokens;
  const changes =
    expected !== undefined && showsTexts(turn) ? changedWords(answerText(expected), answerText(actual)) : undefined;
  const side = (title: string, text: string, spans: readonly (readonly [number, number])[] = []) =>
    html`<div class="said"><h5>${title}</h5>${
      text === "" ? html`<p class="muted">No text</p>` : textBox(title, marked(text, spans), text.length)
    }</div>`;
  const wanted = changes && side("Expected response", answerText(expected), changes.expected);
  const made = side(changes ? "Actual response" : "Response", answerText(actual), changes?.actual);
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
  const legend = [
    changes && changesLegend(changes),
    tokens && html`Precision ${scoreText(tokens.precision)}, recall ${scoreText(tokens.recall)}.`,
  ].filter((part) => part !== undefined);
  const content = html`<div class="said"><h5>User</h5>${textBox("User", clipped(said), said.length)}</div>
<div><div class="pair${changes ? "" : " alone"}">${wanted}${made}</div>${legend.length > 0 ? html`<p class="legend">${legend.map((part) => html`${part} `)}</p>` : undefined}</div>
${callsTable(turn)}${eventsDetails(actual)}
${whys}
${scored ? facts(informationalMetrics(metrics)) : undefined}
`;
  const title = html`<h4>Turn ${at + 1}</h4>`;
  const scores = scored ? html`<ul class="chips">${chips}</ul>` : undefined;
  return isFolded
    ? html`<details class="turn"><summary class="turn-head"><svg class="chevron" aria-hidden="true"><use href="#icon-chevron"/></svg>${title}${icon(EvalStatus.PASSED)}<span class="vh">passed</span> <span class="muted" dir="auto">${shorten(said, 90)}</span></summary><div class="turn-body">${scores}${content}</div></details>`
    : html`<section class="turn"><div class="turn-head">${title}${scores}</div>${content}</section>`;
}

/** What the marks of two texts say; nothing without marks. */
function changesLegend({ expected, actual, isExact }: WordChanges): Markup | undefined {
  if (expected.length + actual.length === 0) return undefined;
  return isExact
    ? html`<mark>Marked</mark> words differ.`
    : html`The texts differ too much to mark words: from the first difference to the last, all is <mark>marked</mark>.`;
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
