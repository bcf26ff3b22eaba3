/** What did not pass, and why, in lines for the message of a failed assertion. */

import { checkOptions } from "../known-options.js";
import { EvalStatus } from "../enums.js";
import type { EvalCaseResult, EvalSetResult } from "../types.js";
import { failuresOf } from "./difference.js";
import { type At, guarded, joined, listOf, type Results } from "./results.js";
import { Page, type Paint, widthOf, writeCaseHeading, writeFailure } from "./table.js";

/** How to show what did not pass. */
export interface FailureOptions {
  /** Colours: by ANSI escape sequences, or by a function of your own. Default: none. */
  color?: boolean | Paint;
  /** The columns that there are, 100 by default, at least 60. */
  width?: number;
}

/** Runs of a case that did not pass for the same reasons. */
interface Group {
  runs: number[];
  result: EvalCaseResult;
  text: string;
}

/**
 * Renders the cases that did not pass or have a metric that did not: each metric with its score and threshold, each turn
 * with what was expected and what happened. Runs of a case that tell the same are shown once. The text is empty if there
 * is no such case.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * assert.equal(renderFailures(await evaluate(request)), "");
 */
export function renderFailures(results: Results, options: FailureOptions = {}): string {
  checkOptions(options, ["color", "width"]);
  return joined(guarded(listOf(results), (sets, at) => failurePieces(sets, options, at)));
}

function* failurePieces(sets: readonly EvalSetResult[], options: FailureOptions, at: At): Generator<string> {
  const page = () => new Page(widthOf(options), options.color ?? false);
  let separator = "";
  for (const [index, { evalCaseResults }] of sets.entries()) {
    const runs = new Map<string, number>();
    const groups = new Map<string, Group>();
    for (const [position, result] of evalCaseResults.entries()) {
      at(index, position);
      const { evalId, finalEvalStatus } = result;
      const run = (runs.get(evalId) ?? 0) + 1;
      runs.set(evalId, run);
      const failures = failuresOf(result, { dissent: true });
      if (finalEvalStatus === EvalStatus.PASSED && failures.length === 0) continue;
      const body = page();
      writeFailure(body, result, failures);
      const key = JSON.stringify([evalId, finalEvalStatus, body.text()]);
      const group = groups.get(key) ?? { runs: [], result, text: body.text() };
      group.runs.push(run);
      groups.set(key, group);
    }
    for (const group of groups.values()) {
      const heading = page();
      const { evalId, finalEvalStatus } = group.result;
      writeCaseHeading(heading, nameOf(evalId, group.runs, runs.get(evalId) ?? 1), finalEvalStatus);
      yield separator + heading.text() + group.text;
      separator = "\n";
    }
  }
}

/** `storm_warning (run 2)`, `storm_warning (runs 1, 3)`: which of the runs of a case are meant, if there are several. */
function nameOf(evalId: string, runs: readonly number[], total: number): string {
  if (total === 1) return evalId;
  if (runs.length === total) return `${evalId} (all ${total} runs)`;
  return `${evalId} (${runs.length === 1 ? "run" : "runs"} ${runs.join(", ")})`;
}
