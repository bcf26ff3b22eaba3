/** Results as a table for spreadsheets and data frames (RFC 4180: CRLF, quotes doubled). */

import type { EvalCaseResult, EvalMetricResult, EvalSetResult } from "../types.js";
import { anyJudged, rubricsOf, tokensOf } from "./judged.js";
import { type At, guarded, joined, listOf, namedCases, type Results, statusWord } from "./results.js";
import { defused, head, visible } from "./text.js";

const HEADER = ["evalSetId", "evalId", "run", "turn", "metricName", "score", "threshold", "evalStatus", "reason"];
const JUDGED_HEADER = ["samplesAsked", "samplesOf", "judgeInputTokens", "judgeOutputTokens", "rubricScores"];

/**
 * Renders results as CSV: a row for every metric of a case (its `turn` empty) and of each of its
 * turns (counted from 1), informational ones included. A case without metrics has one row without a
 * metric. Repeated runs of a case are counted from 1 in `run`. Numbers are written in full.
 *
 * Where judges had a part in some result, five more columns follow: how many samples were asked about a turn, how many
 * might have been, the tokens of those not from a cache, and the rubrics of the turn or the case with their scores as JSON,
 * such as `{"is_polite":1,"names_price":null}`.
 *
 * A text that a spreadsheet would take for a formula, also where it splits at semicolons, tabs or line breaks, gets an
 * apostrophe before what would begin it. Control characters and commands to CI systems are replaced by visible ones.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * renderCsv([result]).split("\r\n")[0];
 * // "evalSetId,evalId,run,turn,metricName,score,threshold,evalStatus,reason"
 */
export function renderCsv(results: Results): string {
  return joined(csvChunks(results));
}

/**
 * As {@link renderCsv}, piece by piece: for results whose CSV is longer than a string can be.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 */
export function csvChunks(results: Results): Generator<string> {
  return guarded(listOf(results), csvPieces);
}

function* csvPieces(sets: readonly EvalSetResult[], at: At): Generator<string> {
  const withJudged = anyJudged(sets);
  yield `${[...HEADER, ...(withJudged ? JUDGED_HEADER : [])].join(",")}\r\n`;
  for (const [index, set] of sets.entries()) {
    for (const [position, { run, result }] of namedCases(set).entries()) {
      at(index, position);
      yield rowsOf(set, run, result, withJudged);
    }
  }
}

function rowsOf(set: EvalSetResult, run: number, result: EvalCaseResult, withJudged: boolean): string {
  const rows: string[][] = [];
  const begin = [cell(set.evalSetId), cell(result.evalId), String(run)];
  const row = (turn: string, metric: EvalMetricResult) =>
    rows.push([
      ...begin,
      turn,
      cell(metric.metricName),
      numberCell(metric.score),
      numberCell(metric.threshold),
      statusWord(metric.evalStatus),
      cell(metric.reason ?? ""),
      ...(withJudged ? judgedCells(metric) : []),
    ]);
  if (result.overallEvalMetricResults.length === 0) {
    const empty = withJudged ? JUDGED_HEADER.map(() => "") : [];
    rows.push([...begin, "", "", "", "", statusWord(result.finalEvalStatus), cell(result.reason ?? ""), ...empty]);
  }
  for (const metric of result.overallEvalMetricResults) row("", metric);
  for (const [index, turn] of result.evalMetricResultPerInvocation.entries()) {
    for (const metric of turn.evalMetricResults) row(String(index + 1), metric);
  }
  return rows.map((cells) => `${cells.join(",")}\r\n`).join("");
}

/** The cells below {@link JUDGED_HEADER}. */
function judgedCells(metric: EvalMetricResult): string[] {
  const samples = metric.explanation?.samples;
  const tokens = tokensOf(metric);
  const rubrics = rubricsOf(metric).map(({ rubricId, score }) => [rubricId, Number.isFinite(score) ? score : null]);
  return [
    numberCell(samples?.asked),
    numberCell(samples?.of),
    numberCell(tokens?.inputTokens),
    numberCell(tokens?.outputTokens),
    rubrics.length > 0 ? cell(JSON.stringify(Object.fromEntries(rubrics))) : "",
  ];
}

/** The most that spreadsheets take in a cell is 32,767 characters. */
const LONGEST_CELL = 32_000;

/**
 * What would begin a formula: at the start of a cell, and where a spreadsheet that splits at other characters than commas
 * sees the start of one. It does not see our quotes as such then, and white space and quotes may stand before.
 */
const FORMULA = /(^|[;\t\n])(?=["\p{Zs}]*[=+\-@＝＋－＠])/gu;

/** A text as a cell, in which it is no formula. */
export function cell(text: string): string {
  const near = defused(visible(head(text, LONGEST_CELL)) + (text.length > LONGEST_CELL ? "…" : ""));
  const safe = near.replace(FORMULA, "$1'").replace(/^(?=[\t\n])/, "'");
  return /[",;\t\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A number as a cell; an empty one for none. */
export function numberCell(value: number | undefined | null): string {
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}
