/** Results for a terminal: aligned columns, then why what did not pass did not. */

import { checkOptions } from "../known-options.js";
import { answerText, callsOf, userText } from "../invocation.js";
import { EvalStatus } from "../enums.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult, Invocation } from "../types.js";
import {
  showsCalls,
  showsTexts,
  type DifferenceLine,
  differenceLines,
  failuresOf,
  hasScore,
  type Mark,
  type MetricFailure,
  outputLines,
  traceOf,
  verdictText,
} from "./difference.js";
import { outputsOf } from "../turn-events.js";
import { isNumber, isOfConversation } from "./judged.js";
import { calibrationsText, judgesText, simulatorText } from "./usage.js";
import { reliabilityNotes, reliabilityTables, reliabilityText, repeatedOf } from "./reliability.js";
import {
  alikeRuns,
  type At,
  casesText,
  countCases,
  countsText,
  firstByName,
  guarded,
  informationalLabel,
  informationalMetrics,
  joined,
  judgedMetrics,
  listOf,
  MOST_METRIC_COLUMNS,
  type NamedCase,
  namedCases,
  noticesOf,
  type Results,
  stampText,
  statusWord,
} from "./results.js";
import {
  amountText,
  callText,
  count,
  displayWidth,
  head,
  oneLine,
  pad,
  scoreText,
  shorten,
  thresholdText,
  wrap,
} from "./text.js";
import { type Cell, type Column, isLastOfSome, Page, rowsInSteps, type Style, widthOf, writeRows } from "./page.js";

/** How to lay out a table. */
export interface TableOptions {
  /** Shows every turn with its texts, calls and scores. */
  details?: boolean;
  /** Colours by ANSI escape sequences. */
  color?: boolean;
  /** The columns of the terminal, 100 by default, at least 60. */
  width?: number;
}

/**
 * Renders results for a terminal. No line is wider than `width`, however wide its characters are,
 * and no text of a result can control the terminal.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * console.log(renderTable([result], { color: process.stdout.isTTY, width: process.stdout.columns }));
 */
export function renderTable(results: Results, options: TableOptions = {}): string {
  return joined(tableChunks(results, options));
}

/**
 * As {@link renderTable}, piece by piece: for results whose table is longer than a string can be. Pieces are empty while its
 * columns are measured.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results, when they are asked for.
 */
export function tableChunks(results: Results, options: TableOptions = {}): Generator<string> {
  checkOptions(options, ["details", "color", "width"]);
  return guarded(listOf(results), (sets, at) => tablePieces(sets, options, at));
}

function* tablePieces(sets: readonly EvalSetResult[], options: TableOptions, at: At): Generator<string> {
  const page = new Page(widthOf(options), options.color ?? false);
  for (const [index, set] of sets.entries()) {
    at(index);
    const cases = namedCases(set);
    writeSetHeading(page, set);
    yield* inPieces(page, scoresInSteps(page, cases, set.advisory));
    yield* inPieces(page, informationalInSteps(page, cases));
    const failures = alikeRuns(cases, (one) => {
      at(index, one.position);
      return failureText(page, one.result);
    });
    for (const group of failures) {
      if (group === undefined) yield "";
      else {
        writeCaseHeading(page, group.name, group.result.finalEvalStatus);
        page.written(group.text);
        page.line();
      }
      if (page.isLong) yield* page.taken();
    }
    for (const one of options.details ? cases : []) {
      at(index, one.position);
      writeDetails(page, one);
      if (page.isLong) yield* page.taken();
    }
  }
  at();
  writeReliability(page, sets);
  writeSummary(page, sets);
  yield* page.taken();
}

/** What is written by the steps, a piece for each of them. */
function* inPieces(page: Page, steps: Iterable<undefined>): Generator<string> {
  for (const _ of steps) {
    if (page.isLong) yield* page.taken();
    else yield "";
  }
}

function statusStyle(status: EvalStatus): Style {
  if (status === EvalStatus.PASSED) return "green";
  if (status === EvalStatus.FAILED) return "red";
  return status === EvalStatus.INFORMATIONAL ? "dim" : "yellow";
}

function statusSign(status: EvalStatus): string {
  if (status === EvalStatus.PASSED) return "✓";
  return status === EvalStatus.FAILED ? "✗" : "?";
}

function statusCell(status: EvalStatus, isAdvisory = false): Cell {
  const text = `${statusSign(status)} ${statusWord(status)}${isAdvisory ? ", advisory" : ""}`;
  return { text, styles: [statusStyle(status)] };
}

function writeSetHeading(page: Page, set: EvalSetResult): void {
  const counts = `${casesText([set])}: ${countsText(countCases([set]))}`;
  const name = shorten(set.evalSetId, page.width);
  if (displayWidth(name) + counts.length + 2 <= page.width) page.line(`${page.style(name, "bold")}  ${counts}`);
  else {
    page.line(page.style(name, "bold"));
    page.wrapped(counts, 2);
  }
  for (const { message, place, help } of noticesOf(set)) {
    page.wrapped(`warning: ${head(message, 2000)}${place ? ` (${place})` : ""}`, 2, 4, "yellow");
    if (help) page.wrapped(head(help, 2000), 4);
  }
  page.line();
}

function* scoresInSteps(
  page: Page,
  cases: readonly NamedCase[],
  advisory: readonly string[] = [],
): Generator<undefined> {
  const rows: Cell[][] = [];
  for (const [index, { name, result }] of cases.entries()) {
    if (isLastOfSome(index)) yield;
    const metrics = judgedMetrics(result.overallEvalMetricResults);
    if (metrics.length === 0) {
      rows.push([{ text: name }, { text: "–" }, { text: "–" }, { text: "–" }, statusCell(result.finalEvalStatus)]);
    }
    for (const [at, metric] of metrics.entries()) {
      rows.push([
        { text: at === 0 ? name : "" },
        { text: metric.metricName },
        { text: scoreText(metric.score, metric.threshold) },
        { text: thresholdText(metric.threshold) },
        statusCell(metric.evalStatus, advisory.includes(metric.metricName)),
      ]);
    }
  }
  if (rows.length === 0) return;
  const columns: Column[] = [
    { header: "Case", align: "left", narrowest: 8 },
    { header: "Metric", align: "left", narrowest: 8 },
    { header: "Score", align: "right", narrowest: 6 },
    { header: "Threshold", align: "right", narrowest: 6 },
    { header: "Status", align: "left", narrowest: 15 },
  ];
  yield* rowsInSteps(page, columns, rows);
  page.line();
}

/** The value of an informational metric, with what it is made of where that fits a cell. */
function informationalText(metric: EvalMetricResult | undefined): string {
  const tokens = metric?.details?.tokenUsageDetails;
  const total = amountText(metric?.score, metric?.metricName === "invocation_duration_v1" ? 3 : 1);
  if (!tokens || metric?.score === undefined) return total;
  const { inputTokens, outputTokens } = tokens;
  // Rounded by themselves, the two would often miss the total by a tenth.
  const isSum = isNumber(metric.score) && isNumber(inputTokens) && isNumber(outputTokens);
  const rest = isSum ? Number(metric.score.toFixed(1)) - Number(inputTokens.toFixed(1)) : outputTokens;
  return `${total} (${amountText(inputTokens, 1)} in, ${amountText(rest, 1)} out)`;
}

/** Whether an informational metric found anything. */
function isAmount(metric: EvalMetricResult): boolean {
  return hasScore(metric) && metric.score !== 0;
}

/** Averages of what was counted; a column in which every case has none or nothing is left out. */
function* informationalInSteps(page: Page, cases: readonly NamedCase[]): Generator<undefined> {
  const all: { name: string; metrics: readonly EvalMetricResult[] }[] = [];
  const names = new Set<string>();
  for (const [index, { name, result }] of cases.entries()) {
    if (isLastOfSome(index)) yield;
    const metrics = informationalMetrics(result.overallEvalMetricResults);
    all.push({ name, metrics });
    for (const metric of metrics) if (isAmount(metric)) names.add(metric.metricName);
  }
  if (names.size === 0) return;
  const shown = [...names].slice(0, MOST_METRIC_COLUMNS);
  const rows: Cell[][] = [];
  for (const [index, { name, metrics }] of all.entries()) {
    if (isLastOfSome(index)) yield;
    if (!metrics.some(hasScore)) continue;
    const first = firstByName(metrics);
    rows.push([{ text: name }, ...shown.map((wanted) => ({ text: informationalText(first.get(wanted)) }))]);
  }
  const columns: Column[] = [
    { header: "Mean per turn", align: "left", narrowest: 12 },
    ...shown.map((name) => ({ header: informationalLabel(name), align: "right" as const, narrowest: 7 })),
  ];
  yield* rowsInSteps(page, columns, rows);
  if (names.size > shown.length) page.line(`  … and ${count(names.size - shown.length, "more metric")}`);
  page.line();
}

const SIGNS: Record<Mark, string> = { same: "=", expected: "-", actual: "+", changed: "~", moved: ">", note: " " };
const MARK_STYLES: Record<Mark, Style[]> = {
  same: ["dim"],
  expected: ["expected"],
  actual: ["actual"],
  changed: ["yellow"],
  moved: ["cyan"],
  note: [],
};

function writeDifference(page: Page, lines: readonly DifferenceLine[], indent: number): void {
  for (const { mark, text } of lines) {
    const inner = text.length - text.trimStart().length;
    page.wrapped(`${SIGNS[mark]} ${text}`, indent, indent + 4 + inner, ...MARK_STYLES[mark]);
  }
}

/** Why a case did not pass, laid out as the page is; undefined if there is nothing to tell. */
function failureText(page: Page, result: EvalCaseResult): string | undefined {
  const failures = failuresOf(result);
  if (result.finalEvalStatus === EvalStatus.PASSED && failures.length === 0) return undefined;
  const sheet = page.sheet();
  writeFailure(sheet, result, failures);
  return sheet.text();
}

/** The name of a case that did not pass. */
export function writeCaseHeading(page: Page, name: string, status: EvalStatus): void {
  page.line(page.style(`${statusSign(status)} ${shorten(name, page.width - 2)}`, statusStyle(status), "bold"));
}

/** Why a case did not pass. */
export function writeFailure(page: Page, result: EvalCaseResult, failures: readonly MetricFailure[]): void {
  const { reason } = result;
  if (reason) page.wrapped(head(reason, 4000), 2);
  for (const { turn, user, lines } of traceOf(result)) {
    const label = `turn ${turn}`;
    page.line(`    ${label}  ${page.style(shorten(user, page.width - label.length - 6), "dim")}`);
    writeDifference(page, lines, 6);
  }
  for (const { metric, lines, turns } of failures) {
    const verdict = `${statusWord(metric.evalStatus)}, ${verdictText(metric)}`;
    const metricName = shorten(metric.metricName, Math.max(12, page.width - verdict.length - 4));
    page.line(`  ${metricName}: ${page.style(verdict, statusStyle(metric.evalStatus))}`);
    if (metric.reason) page.wrapped(head(metric.reason, 4000), 4);
    writeDifference(page, lines, 4);
    for (const turn of turns) {
      const label = `turn ${turn.turn}, ${scoreText(turn.metric.score, turn.metric.threshold)}`;
      page.line(`    ${label}  ${page.style(shorten(turn.user, page.width - label.length - 6), "dim")}`);
      if (turn.metric.reason && turn.metric.reason !== metric.reason) page.wrapped(head(turn.metric.reason, 4000), 6);
      writeDifference(page, turn.lines, 6);
    }
  }
}

function writeDetails(page: Page, { name, result }: NamedCase): void {
  page.line(page.style(shorten(`Details of ${name}`, page.width), "bold"));
  const turns = result.evalMetricResultPerInvocation;
  const overall = firstByName(result.overallEvalMetricResults);
  for (const [index, turn] of turns.entries()) {
    page.line(page.style(`  Turn ${index + 1}`, "bold"));
    const { actualInvocation, expectedInvocation } = turn;
    writeLabelled(page, "user", userText(actualInvocation) || userText(expectedInvocation));
    if (expectedInvocation && showsTexts(turn)) writeLabelled(page, "expected", answerText(expectedInvocation));
    writeLabelled(page, "actual", answerText(actualInvocation));
    if (!turn.evalMetricResults.some((metric) => metric.explanation?.alignment)) {
      if (expectedInvocation && showsCalls(turn)) writeCalls(page, "expected calls", expectedInvocation);
      writeCalls(page, "actual calls", actualInvocation);
    }
    writeMetrics(page, turn, overall, (metric) => !isOfConversation(metric));
  }
  const last = turns.at(-1);
  if (last?.evalMetricResults.some(isOfConversation)) {
    page.line(page.style("  Whole conversation", "bold"));
    writeMetrics(page, last, overall, isOfConversation);
  }
  page.line();
}

/** What metrics found in a turn; informational ones only where there is something to tell. */
function writeMetrics(
  page: Page,
  turn: EvalCaseResult["evalMetricResultPerInvocation"][number],
  overall: ReadonlyMap<string, EvalMetricResult>,
  isShown: (metric: EvalMetricResult) => boolean,
): void {
  for (const metric of turn.evalMetricResults.filter(isShown)) {
    const isInformational = metric.evalStatus === EvalStatus.INFORMATIONAL;
    if (isInformational && !hasScore(metric)) continue;
    const value = isInformational
      ? informationalText(metric)
      : `${statusWord(metric.evalStatus)}, ${verdictText(metric)}`;
    page.wrapped(`${oneLine(head(metric.metricName, 200))}: ${value}`, 4, 6, statusStyle(metric.evalStatus));
    if (metric.reason) page.wrapped(head(metric.reason, 4000), 6);
    const lines = differenceLines(turn, metric, { overall: overall.get(metric.metricName), whole: true });
    writeDifference(page, metric.explanation?.tokens ? lines.filter(({ mark }) => mark === "note") : lines, 6);
  }
}

const LABEL_WIDTH = 10;

function writeLabelled(page: Page, label: string, text: string): void {
  const [first = "", ...rest] = wrap(head(text, 10_000) || "(no text)", page.width - LABEL_WIDTH - 4);
  page.line(`    ${page.style(pad(label, LABEL_WIDTH), "dim")}${first}`);
  for (const line of rest) page.line(" ".repeat(LABEL_WIDTH + 4) + line);
}

function writeCalls(page: Page, label: string, invocation: Invocation): void {
  const calls = callsOf(invocation);
  if (calls.length === 0) return;
  page.line(`    ${page.style(label, "dim")}`);
  const outputs = outputsOf(invocation);
  for (const [at, call] of calls.entries()) {
    page.wrapped(callText(call), 6, 8);
    for (const { text } of outputLines(outputs[at])) page.wrapped(text, 6, 10);
  }
}

function writeReliability(page: Page, sets: readonly EvalSetResult[]): void {
  const found = repeatedOf(sets);
  if (found === undefined) return;
  for (const { title, columns, rows } of reliabilityTables(found)) {
    const named = [title, ...columns].map((header): Column => ({ header, align: "left", narrowest: 8 }));
    writeRows(
      page,
      named,
      rows.map((row) => row.map((text) => ({ text }))),
    );
    page.line();
  }
}

function writeSummary(page: Page, results: readonly EvalSetResult[]): void {
  const counts = countCases(results);
  const style = counts.failed > 0 ? "red" : counts.notEvaluated > 0 || counts.passed === 0 ? "yellow" : "green";
  const within = results.length > 1 ? ` in ${count(results.length, "evalset")}` : "";
  page.wrapped(`${casesText(results)}${within}: ${countsText(counts)}`, 0, 2, style, "bold");
  const found = repeatedOf(results);
  const notes = [
    reliabilityText(results, found),
    ...reliabilityNotes(found),
    judgesText(results),
    calibrationsText(results),
    simulatorText(results),
  ];
  for (const text of notes) if (text) page.wrapped(text, 0, 2);
  // A case by itself does not say what made it.
  const stamped = results.filter(({ engineVersion }) => (engineVersion as string | undefined) !== undefined);
  for (const stamp of new Set(stamped.map(stampText))) page.wrapped(stamp, 0, 2, "dim");
}
