/** A comparison for programs: CSV (as `renderCsv` writes it) and JSON. */

import type { EvalStatus } from "../enums.js";
import type { ComparedScore, ResultChange } from "../types.js";
import { type Comparisons, comparisonsOf } from "./comparison.js";
import { cell, numberCell } from "./csv.js";
import { statusWord } from "./results.js";

const HEADER = [
  "evalSetId",
  "evalId",
  "turn",
  "metricName",
  "change",
  "baselineScore",
  "currentScore",
  "difference",
  "baselineThreshold",
  "currentThreshold",
  "baselineStatus",
  "currentStatus",
];

/**
 * Renders comparisons as CSV: a row for every case (its `metricName` empty), for every metric of it, and for every turn
 * of that (counted from 1) which was scored differently. Numbers are written in full. Texts are as harmless to a
 * spreadsheet as those of `renderCsv`.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 */
export function renderComparisonCsv(comparisons: Comparisons): string {
  const rows = [HEADER.join(",")];
  for (const { current: run, cases } of comparisonsOf(comparisons)) {
    for (const { evalId, change, baseline, current, metrics } of cases) {
      const row = (
        turn: string,
        metricName: string,
        changed: ResultChange | "",
        [before, after]: readonly [Side, Side],
        difference?: number,
      ) =>
        rows.push(
          [
            cell(run.evalSetId),
            cell(evalId),
            turn,
            cell(metricName),
            changed,
            ...[before?.score, after?.score, difference, before?.threshold, after?.threshold].map(numberCell),
            ...[before, after].map((side) => (side === undefined ? "" : statusWord(side.status))),
          ].join(","),
        );
      row("", "", change, [{ status: baseline.status }, { status: current.status }]);
      for (const metric of metrics) {
        row("", metric.metricName, metric.change, [metric.baseline, metric.current], metric.difference);
        for (const turn of metric.turns) {
          const number = String(turn.invocationIndex + 1);
          row(number, metric.metricName, "", [turn.baseline, turn.current], turn.difference);
        }
      }
    }
  }
  return rows.map((row) => `${row}\r\n`).join("");
}

type Side = ({ status: EvalStatus } & ComparedScore) | undefined;

/** What JSON may hold as it is, but a terminal or a reader's eyes would act on. */
const ACTING = /[\u007F-\u009F\u2028-\u202E\u2066-\u2069\uFFF9-\uFFFB\uFFFE\uFFFF]/g;

/**
 * Renders a comparison as JSON, several as a list. What could act on a terminal is escaped.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 */
export function renderComparisonJson(comparisons: Comparisons): string {
  comparisonsOf(comparisons);
  const escaped = JSON.stringify(comparisons, null, 2).replace(
    ACTING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${escaped}\n`;
}
