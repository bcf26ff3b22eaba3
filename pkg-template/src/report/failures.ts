/** What did not pass, and why, in lines for the message of a failed assertion. */

import { checkOptions } from "../known-options.js";
import { EvalStatus } from "../enums.js";
import { gateLines, type GateReport } from "../statistics/gates.js";
import type { EvalCaseResult, EvalSetResult } from "../types.js";
import { failuresOf } from "./difference.js";
import {
  alikeRuns,
  type At,
  cancelledNotice,
  guarded,
  joined,
  listOf,
  namedCases,
  nameSet,
  type Results,
  setName,
  caseName,
  warningLines,
} from "./results.js";
import { Page, type Paint, widthOf } from "./page.js";
import { writeCaseHeading, writeFailure } from "./table.js";
import { count, safeLine, scoreText } from "./text.js";

/** How to show what did not pass. */
export interface FailureOptions {
  /** Colours: by ANSI escape sequences, or by a function of your own. Default: none. */
  color?: boolean | Paint;
  /** The columns that there are, 100 by default, at least 60. */
  width?: number;
}

/**
 * Renders the cases that did not pass or have a metric that did not: each metric with its score and threshold, each turn
 * with what was expected and what happened. Runs of a case that tell the same are shown once. What the results warn of
 * (`warnings`) is above. The text is empty if there is no such case, whatever the results warn of.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * assert.equal(renderFailures(await evaluate(request)), "");
 */
export function renderFailures(results: Results, options: FailureOptions = {}): string {
  checkOptions(options, ["color", "width"]);
  return joined(guarded(listOf(results), (sets, at) => piecesWithWarnings(sets, options, at)));
}

function* piecesWithWarnings(sets: readonly EvalSetResult[], options: FailureOptions, at: At): Generator<string> {
  let isFirst = true;
  for (const piece of failurePieces(sets, options, at)) {
    const warnings = isFirst ? warningLines(sets) : [];
    isFirst = false;
    if (warnings.length > 0) {
      const page = new Page(widthOf(options), options.color ?? false);
      for (const warning of warnings) page.wrapped(warning, 0, 2, "yellow");
      page.line();
      yield page.text();
    }
    yield piece;
  }
}

/** As {@link renderFailures}, for texts that say what results warn of themselves. */
export function failuresText(results: Results, options: FailureOptions = {}): string {
  return joined(guarded(listOf(results), (sets, at) => failurePieces(sets, options, at)));
}

function* failurePieces(sets: readonly EvalSetResult[], options: FailureOptions, at: At): Generator<string> {
  const page = () => new Page(widthOf(options), options.color ?? false);
  let separator = "";
  for (const [index, set] of sets.entries()) {
    const groups = alikeRuns(namedCases(set), ({ position, result }) => {
      at(index, position);
      const failures = failuresOf(result, { dissent: true });
      if (result.finalEvalStatus === EvalStatus.PASSED && failures.length === 0) return undefined;
      const body = page();
      writeFailure(body, result, failures);
      return body.text();
    });
    for (const group of groups) {
      if (group === undefined) continue;
      const { name, result, text } = group;
      const heading = page();
      writeCaseHeading(heading, caseIn(set, name, sets), result.finalEvalStatus);
      yield separator + heading.text() + text;
      separator = "\n";
    }
  }
}

/** What a case is called: with its evalset, if there are several. */
function caseIn(set: Pick<EvalSetResult, "evalSetId">, name: string, sets: readonly EvalSetResult[]): string {
  return sets.length > 1 ? `${setName(set)}: ${name}` : name;
}

/** A metric that did not pass in a case by the mean of its runs, or a case whose agent failed. */
export interface PooledFailure {
  evalSetId: string;
  /** Which of the results it is in. */
  resultIndex: number;
  evalId: string;
  metricName?: string;
  threshold?: number;
  score?: number;
}

type MetricOfCase = Pick<PooledFailure, "resultIndex" | "evalId" | "metricName">;

/** A case, or one of its metrics, as a key of sets and maps. */
function keyOf({ resultIndex, evalId, metricName }: MetricOfCase): string {
  return JSON.stringify([resultIndex, evalId, metricName]);
}

/** The keys of all cases, and of their metrics that did not pass there: what a reader is shown of the case itself. */
function shownIn(results: readonly EvalSetResult[]): Set<string> {
  const shown = new Set<string>();
  for (const [resultIndex, { evalCaseResults }] of results.entries()) {
    for (const { evalId, overallEvalMetricResults } of evalCaseResults) {
      shown.add(keyOf({ resultIndex, evalId }));
      for (const { metricName, evalStatus } of overallEvalMetricResults) {
        if (evalStatus !== EvalStatus.PASSED) shown.add(keyOf({ resultIndex, evalId, metricName }));
      }
    }
  }
  return shown;
}

function caseOf({ resultIndex, evalSetId, evalId }: PooledFailure, sets: readonly EvalSetResult[]): string {
  return caseIn(sets[resultIndex] ?? { evalSetId }, caseName(evalId), sets);
}

/** A metric that passes by the score of its case and fails by the verdicts of its turns: one that is better when lower. */
function byItsTurns(failure: PooledFailure, sets: readonly EvalSetResult[]): string[] {
  const { metricName, score, threshold } = failure;
  if (score === undefined) return [];
  const name = caseOf(failure, sets);
  return [
    `  ${name}: ${metricName} is ${scoreText(score, threshold)}, threshold ${threshold}, and its turns did not pass`,
  ];
}

/** `2 of 5 cases did not pass`, or `The only case did not pass`. */
export function notPassedText(failed: number, cases: number): string {
  return failed === 1 && cases === 1
    ? "The only case did not pass"
    : `${failed} of ${count(cases, "case")} did not pass`;
}

/** How many cases did not pass; where they were run more than once, the means that did not. */
export function failureSummary(failures: readonly PooledFailure[], results: readonly EvalSetResult[]): string[] {
  const caseKey = ({ resultIndex, evalId }: MetricOfCase) => keyOf({ resultIndex, evalId });
  const failed = new Set(failures.map(caseKey));
  const runs = results.reduce((sum, { evalCaseResults }) => sum + evalCaseResults.length, 0);
  const cases = new Set(
    results.flatMap(({ evalCaseResults }, resultIndex) =>
      evalCaseResults.map(({ evalId }) => keyOf({ resultIndex, evalId })),
    ),
  );
  const title = notPassedText(failed.size, cases.size);
  if (runs === cases.size) {
    const shown = shownIn(results);
    return [
      `${title}.`,
      ...failures.filter((one) => !shown.has(keyOf(one))).flatMap((one) => byItsTurns(one, results)),
    ];
  }
  const often = runs % cases.size === 0 ? `each run ${runs / cases.size} times` : `${runs} runs in total`;
  const means = failures.flatMap((failure) => {
    const { metricName, score, threshold } = failure;
    if (metricName === undefined || score === undefined) return [];
    const name = caseOf(failure, results);
    return [`  ${name}: ${metricName} is ${scoreText(score, threshold)} on average, threshold ${threshold}`];
  });
  return [`${title}, ${often}.`, ...means];
}

/** What did not pass of an agent: in lines for a summary, and in detail. With gates these decide, over all runs. */
export function failureMessage(
  { failures, results, gates }: FailedEvaluation,
  options?: FailureOptions,
): { summary: string[]; details: string } {
  const summary =
    gates === undefined ? (failures.length === 0 ? [] : failureSummary(failures, results)) : gateLines(gates);
  return {
    summary: [...summary.map(safeLine), ...cancelledNotice(results), ...warningLines(results)],
    details: gates === undefined ? renderPooledFailures(failures, results, options) : failuresText(results, options),
  };
}

/** An evaluation of an agent that did not pass. */
interface FailedEvaluation {
  failures: readonly PooledFailure[];
  results: readonly EvalSetResult[];
  gates?: GateReport | undefined;
}

/** Renders what did not pass by the means of all runs. */
export function renderPooledFailures(
  failures: readonly PooledFailure[],
  results: readonly EvalSetResult[],
  options: FailureOptions = {},
): string {
  const failed = new Set(failures.map(keyOf));
  return failuresText(
    results.map((set, at) => onlyFailures(set, at, failed)),
    options,
  );
}

/** Results without the metrics that pass on average: in a single run they may have failed. */
function onlyFailures(set: EvalSetResult, resultIndex: number, failed: ReadonlySet<string>): EvalSetResult {
  const evalCaseResults = set.evalCaseResults.map((result): EvalCaseResult => {
    const { evalId, overallEvalMetricResults: metrics } = result;
    if (metrics.length === 0) return result;
    const kept = metrics.filter(({ metricName }) => failed.has(keyOf({ resultIndex, evalId, metricName })));
    const isPassed = kept.every(({ evalStatus }) => evalStatus === EvalStatus.PASSED);
    const isUnevaluated = result.finalEvalStatus === EvalStatus.NOT_EVALUATED;
    const finalEvalStatus = isPassed ? EvalStatus.PASSED : isUnevaluated ? result.finalEvalStatus : EvalStatus.FAILED;
    return { ...result, finalEvalStatus, overallEvalMetricResults: kept };
  });
  const shown = { ...set, evalCaseResults };
  nameSet(shown, setName(set));
  return shown;
}
