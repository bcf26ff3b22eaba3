/** What views of one's own ask that show results as reports do. */

import { isList, isObject, reading, unexpected } from "../engine/values.js";
import type { EvalMetricResult, EvalMetricResultPerInvocation } from "../types.js";
import { showsCalls, showsTexts } from "./difference.js";
import { wordsOfRubrics } from "./judged.js";

/**
 * Whether reports show the expected response of a turn: it has one, or a metric misses one.
 *
 * @throws {AdkMetricsError} `invalid_input` if this is not a turn of a result.
 */
export function comparesTexts(turn: EvalMetricResultPerInvocation): boolean {
  return reading("turn", () => showsTexts(checkedTurn(turn)));
}

/**
 * Whether reports compare the tool calls of a turn: some are expected, or a metric expects none.
 *
 * @throws {AdkMetricsError} `invalid_input` if this is not a turn of a result.
 */
export function comparesCalls(turn: EvalMetricResultPerInvocation): boolean {
  return reading("turn", () => showsCalls(checkedTurn(turn)));
}

function checkedTurn(turn: EvalMetricResultPerInvocation): EvalMetricResultPerInvocation {
  if (!isObject(turn) || !isList(turn.evalMetricResults)) throw unexpected("a turn of a result", turn, "turn");
  return turn;
}

/**
 * The words of each rubric by its id, from what the votes, a turn and a metric's criterion say of them. Stored files
 * spell keys in camelCase or snake_case, and rubrics of a criterion may be texts alone.
 *
 * @param metrics The metric's results for the turn and for the whole conversation, or either.
 * @throws {AdkMetricsError} `invalid_input` if something else is passed.
 */
export function rubricWords(
  turn: EvalMetricResultPerInvocation | undefined,
  ...metrics: (EvalMetricResult | undefined)[]
): Map<string, string> {
  return reading("metrics", () => wordsOfRubrics(turn, ...metrics));
}
