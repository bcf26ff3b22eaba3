/** A comparison for programs: CSV (as `renderCsv` writes it) and JSON. */

import { type NoOptions, refuseOptions } from "../known-options.js";
import { reading } from "../engine/values.js";
import type { EvalStatus } from "../enums.js";
import type { CaseComparison, ComparedScore, ResultChange, RunComparison } from "../types.js";
import { comparisonPieces, type Comparisons } from "./comparison.js";
import { cell, numberCell } from "./csv.js";
import { type At, joined, statusWord } from "./results.js";
import { inertJson } from "./text.js";

export const COMPARISON_HEADER = [
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
export function renderComparisonCsv(comparisons: Comparisons, options: NoOptions = {}): string {
  return joined(comparisonCsvChunks(comparisons, options));
}

/**
 * As {@link renderComparisonCsv}, piece by piece.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 */
export function comparisonCsvChunks(comparisons: Comparisons, options: NoOptions = {}): Generator<string> {
  refuseOptions(options);
  return comparisonPieces(comparisons, csvPieces);
}

function* csvPieces(comparisons: readonly RunComparison[], at: At): Generator<string> {
  yield `${COMPARISON_HEADER.join(",")}\r\n`;
  for (const [index, { current, cases }] of comparisons.entries()) {
    for (const [position, one] of cases.entries()) {
      at(index, position);
      yield rowsOf(current.evalSetId, one);
    }
  }
}

function rowsOf(evalSetId: string, { evalId, change, baseline, current, metrics }: CaseComparison): string {
  const rows: string[] = [];
  const row = (
    turn: string,
    metricName: string,
    changed: ResultChange | "",
    [before, after]: readonly [Side, Side],
    difference?: number,
  ) =>
    rows.push(
      [
        cell(evalSetId),
        cell(evalId),
        turn,
        cell(metricName),
        cell(changed),
        ...[before?.score, after?.score, difference, before?.threshold, after?.threshold].map(numberCell),
        ...[before, after].map((side) => (side === undefined ? "" : statusWord(side.status))),
      ].join(","),
    );
  row("", "", change, [{ status: baseline.status }, { status: current.status }]);
  for (const metric of metrics) {
    row("", metric.metricName, metric.change, [metric.baseline, metric.current], metric.difference);
    for (const turn of metric.turns) {
      const number = numberCell(turn.invocationIndex + 1);
      row(number, metric.metricName, "", [turn.baseline, turn.current], turn.difference);
    }
  }
  return rows.map((line) => `${line}\r\n`).join("");
}

type Side = ({ status: EvalStatus } & ComparedScore) | undefined;

/**
 * Renders a comparison as JSON, several as a list. What could act on a terminal or be taken for a command to a CI system
 * is escaped.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 */
export function renderComparisonJson(comparisons: Comparisons, options: NoOptions = {}): string {
  return joined(comparisonJsonChunks(comparisons, options));
}

/**
 * As {@link renderComparisonJson}, piece by piece.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but comparisons.
 */
export function comparisonJsonChunks(comparisons: Comparisons, options: NoOptions = {}): Generator<string> {
  refuseOptions(options);
  const isList = reading("comparisons", () => Array.isArray(comparisons));
  return comparisonPieces(comparisons, (list, at) => jsonPieces(list, isList, at));
}

function* jsonPieces(comparisons: readonly RunComparison[], isList: boolean, at: At): Generator<string> {
  const indent = isList ? "  " : "";
  if (isList) yield comparisons.length === 0 ? "[" : "[\n";
  for (const [index, { cases, ...rest }] of comparisons.entries()) {
    at(index);
    // Where the cases go: keys come in the order of the comparison, line breaks are outside of strings only.
    const keys = Object.keys(comparisons[index] as object);
    const outside = JSON.stringify(inOrder(keys, { ...rest, cases: [] }), null, 2).split('\n  "cases": []');
    yield `${indent}${indented(outside[0] ?? "", indent)}\n${indent}  "cases": [`;
    for (const [position, one] of cases.entries()) {
      at(index, position);
      const json = indented(JSON.stringify(one, null, 2), `${indent}    `);
      yield `${position > 0 ? "," : ""}\n${indent}    ${json}`;
    }
    yield `${cases.length > 0 ? `\n${indent}  ` : ""}]${indented(outside[1] ?? "", indent)}`;
    if (isList) yield index < comparisons.length - 1 ? ",\n" : "\n";
  }
  yield isList ? "]\n" : "\n";
}

function inOrder(keys: readonly string[], object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, object[key]]));
}

/** JSON with its lines after the first indented, and inert. */
function indented(json: string, by: string): string {
  return inertJson(json).replaceAll("\n", `\n${by}`);
}
