/** Warnings, and reports in every format. */

import { REPORT_FORMATS, type ReportFormat } from "../report/formats.js";
import { repeatedOf } from "../report/reliability.js";
import { casesText, countCases, countsText } from "../report/results.js";
import { inertJson } from "../report/text.js";
import type { EvalSetResult } from "../types.js";
import { api } from "./api.js";
import type { Input } from "./inputs.js";
import { type InputFiles, locationOf } from "./mistakes.js";
import type { Destination } from "./outputs.js";
import { note, screenOptions, warn } from "./process.js";
import { writeSafely } from "./write.js";

/** Says what results warn of, with the files that it is about. */
export function sayWarnings(scored: readonly (EvalSetResult | undefined)[], inputs: readonly Input[]): void {
  for (const [at, result] of scored.entries()) {
    const warnings = result?.warnings ?? [];
    const files: InputFiles = inputs[at]?.files ?? {};
    for (const warning of warnings) warn(warning.message, locationOf(warning, files), warning.help);
  }
}

/** Writes all results, and says what could not be written where it should be. */
export async function writeResults(
  planned: readonly Destination[],
  scored: readonly (EvalSetResult | undefined)[],
  details: boolean,
): Promise<unknown[]> {
  const { resultsToAdkJsonChunks } = await api();
  const mistakes: unknown[] = [];
  for (const { format, file, evalSet, isTemporary } of planned) {
    const wanted = evalSet === undefined ? scored : scored.slice(evalSet, evalSet + 1);
    const shown = wanted.flatMap((result) => result ?? []);
    if (evalSet !== undefined && shown.length === 0) continue;
    const text = () =>
      format === "json"
        ? jsonPieces(shown, resultsToAdkJsonChunks, file === undefined)
        : rendered(format, shown, file === undefined, details);
    try {
      const mistake = await writeSafely(file, text, `report${REPORT_FORMATS[format].ending}`);
      if (mistake !== undefined) mistakes.push(mistake);
      else if (file !== undefined && isTemporary !== true) note(`wrote ${file}`);
    } catch (error) {
      // What one format cannot show, others may.
      mistakes.push(error);
    }
  }
  return mistakes;
}

function* jsonPieces(
  results: readonly EvalSetResult[],
  chunksOf: (result: EvalSetResult) => Iterable<string>,
  onScreen: boolean,
): Generator<string> {
  for (const result of results) {
    const reliability = repeatedOf([result]);
    const told = reliability === undefined ? result : { ...result, reliability };
    for (const piece of chunksOf(told)) yield onScreen ? inertJson(piece) : piece;
  }
}

function rendered(
  format: ReportFormat,
  results: readonly EvalSetResult[],
  onScreen: boolean,
  details: boolean,
): string | Iterable<string> {
  const options = { details, ...screenOptions(onScreen) };
  return REPORT_FORMATS[format].render?.(results, options) ?? "";
}

/** How many cases there are, and how they ended. */
export function summaryOf(results: readonly EvalSetResult[]): string {
  return `${casesText(results)}: ${countsText(countCases(results))}`;
}
