/** Results as a table for spreadsheets and data frames (RFC 4180: CRLF, quotes doubled). */

import type { EvalMetricResult } from "../types.js";
import { anyJudged, rubricsOf, tokensOf } from "./judged.js";
import { listOf, namedCases, type Results, statusWord } from "./results.js";
import { head, visible } from "./text.js";

const HEADER = ["evalSetId", "evalId", "turn", "metricName", "score", "threshold", "evalStatus", "reason"];
const JUDGED_HEADER = ["samplesAsked", "samplesOf", "judgeInputTokens", "judgeOutputTokens", "rubricScores"];

/**
 * Renders results as CSV: a row for every metric of a case (its `turn` empty) and of each of its
 * turns (counted from 1), informational ones included. A case without metrics has one row without a
 * metric. Repeated runs of a case are told apart as `id (run 2)`. Numbers are written in full.
 *
 * Where judges had a part in some result, five more columns follow: how many samples were asked about a turn, how many
 * might have been, the tokens of those not from a cache, and the rubrics of the turn or the case with their scores as JSON,
 * such as `{"is_polite":1,"names_price":null}`.
 *
 * A text that a spreadsheet would take for a formula gets a leading apostrophe, and control characters
 * are replaced by visible ones.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * renderCsv([result]).split("\r\n")[0];
 * // "evalSetId,evalId,turn,metricName,score,threshold,evalStatus,reason"
 */
export function renderCsv(results: Results): string {
  const sets = listOf(results);
  const withJudged = anyJudged(sets);
  const rows: string[] = [[...HEADER, ...(withJudged ? JUDGED_HEADER : [])].join(",")];
  for (const set of sets) {
    for (const { name, result } of namedCases(set)) {
      const row = (turn: string, metric: EvalMetricResult) =>
        rows.push(
          [
            cell(set.evalSetId),
            cell(name),
            turn,
            cell(metric.metricName),
            numberCell(metric.score),
            numberCell(metric.threshold),
            statusWord(metric.evalStatus),
            cell(metric.reason ?? ""),
            ...(withJudged ? judgedCells(metric) : []),
          ].join(","),
        );
      if (result.overallEvalMetricResults.length === 0) {
        const status = statusWord(result.finalEvalStatus);
        const empty = withJudged ? JUDGED_HEADER.map(() => "") : [];
        rows.push(
          [cell(set.evalSetId), cell(name), "", "", "", "", status, cell(result.reason ?? ""), ...empty].join(","),
        );
      }
      for (const metric of result.overallEvalMetricResults) row("", metric);
      for (const [index, turn] of result.evalMetricResultPerInvocation.entries()) {
        for (const metric of turn.evalMetricResults) row(String(index + 1), metric);
      }
    }
  }
  return rows.map((row) => `${row}\r\n`).join("");
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

/** A text as a cell, in which it is no formula. */
export function cell(text: string): string {
  const near = visible(head(text, LONGEST_CELL)) + (text.length > LONGEST_CELL ? "…" : "");
  const guarded = /^[=+\-@\t\n＝＋－＠]/.test(near) ? `'${near}` : near;
  return /[",\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** A number as a cell; an empty one for none. */
export function numberCell(value: number | undefined | null): string {
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}
