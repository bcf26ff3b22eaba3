/** What repeated runs tell of those to come, in a line. */

import { type Estimate } from "../statistics/estimates.js";
import { type CaseReliability, reliabilityOf } from "../statistics/reliability.js";
import type { EvalSetResult } from "../types.js";
import { count, oneLine, percent, shorten } from "./text.js";

/** The most flaky cases that are named. */
const MOST_NAMED = 3;

/**
 * `pass rate 83 % (95 % interval 40 to 97 %), pass^3 50 %; 1 of 2 cases is flaky: moody (2 of 3)`; empty where no case was run
 * repeatedly.
 */
export function reliabilityText(sets: readonly EvalSetResult[]): string {
  const isRepeated = sets.some(
    ({ evalCaseResults }) => new Set(evalCaseResults.map(({ evalId }) => evalId)).size < evalCaseResults.length,
  );
  if (!isRepeated) return "";
  const { cases, confidence, passRate, passHatK } = reliabilityOf(sets);
  if (passRate === undefined) return "";
  // The longest row that every case can tell of.
  const row = passHatK.findLast((estimate) => estimate.k > 1 && estimate.cases === passHatK[0]?.cases);
  const flaky = cases.filter(({ isFlaky }) => isFlaky);
  const named = flaky.slice(0, MOST_NAMED).map(flakyText).join(", ");
  const more = flaky.length > MOST_NAMED ? ` and ${flaky.length - MOST_NAMED} more` : "";
  const of = `${flaky.length} of ${count(cases.length, "case")} ${flaky.length === 1 ? "is" : "are"} flaky`;
  return [
    `pass rate ${rateText(passRate, confidence)}${row === undefined ? "" : `, pass^${row.k} ${percent(row.value)}`}`,
    flaky.length === 0 ? "no case is flaky" : `${of}: ${named}${more}`,
  ].join("; ");
}

function flakyText({ evalId, passed, runs }: CaseReliability): string {
  return `${shorten(oneLine(evalId), 40)} (${passed} of ${runs})`;
}

function rateText({ value, low, high }: Estimate, confidence: number): string {
  if (low === undefined || high === undefined) return percent(value);
  return `${percent(value)} (${percent(confidence)} interval ${Math.round(100 * low)} to ${percent(high)})`;
}
