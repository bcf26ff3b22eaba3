/** The results of evaluating an agent. */

import { reading } from "../engine/values.js";
import { failureMessage } from "../report/failures.js";
import { warningLines } from "../report/results.js";
import { checkGates, type GateReport, type Gates } from "../statistics/gates.js";
import type { EvalCaseResult, EvalSetResult } from "../types.js";

/** A metric that did not pass in a case, or a case whose agent failed. */
export interface EvaluationFailure {
  /** The evalset. */
  evalSetId: string;
  /** Which of the error's `results` it is in: files may have evalsets of one id. */
  resultIndex: number;
  /** The case. */
  evalId: string;
  /** The metric; absent if the agent failed. */
  metricName?: string;
  threshold?: number;
  /** The exact mean of the scores of all turns of all runs; absent if there is none. */
  score?: number;
  /** The failure in a line of text. */
  message: string;
}

/** Thrown if an agent does not pass. Its message names the cases, the turns and what differs, as the matchers do. */
export class AgentEvaluationError extends Error {
  override readonly name = "AgentEvaluationError";
  declare readonly failures: readonly EvaluationFailure[];
  /** The results of every evalset that was run. */
  declare readonly results: readonly EvalSetResult[];
  /** The outcome of the gates, if any were given. */
  declare readonly gates?: GateReport;

  constructor(failures: readonly EvaluationFailure[], results: readonly EvalSetResult[], gates?: GateReport) {
    super(
      reading("results", () => {
        const { summary, details } = failureMessage({ failures, results, gates });
        return `${summary.join("\n")}\n\n${details}`.trimEnd();
      }),
    );
    // Node prints what is enumerable below an error that nobody catches: the message would scroll away.
    for (const [key, value] of Object.entries({ failures, results, gates })) {
      if (value !== undefined) Object.defineProperty(this, key, { value });
    }
  }
}

/**
 * Says whether an agent passes: by the gates if there are any, else if no metric fails in any case. It does not while
 * results are missing.
 *
 * @throws {AgentEvaluationError} if it does not.
 */
export function checkPassed(
  failures: readonly EvaluationFailure[],
  results: readonly EvalSetResult[],
  gates: Gates | undefined,
): void {
  const report = gates === undefined ? undefined : checkGates(results, gates);
  const passed = report === undefined ? failures.length === 0 : report.passed;
  if (!passed || results.some((set) => set.cancelled)) throw new AgentEvaluationError(failures, results, report);
}

const printed = new Set<string>();

/** Prints the warnings of results that pass, each once: there is no error that has them. */
export function sayWarnings(results: readonly EvalSetResult[]): void {
  for (const line of warningLines(results)) {
    if (!printed.has(line)) console.warn(`adk-metrics: ${line}`);
    printed.add(line);
  }
}

/** ADK-TS's class of results; a plain {@link EvalSetResult} is as good. */
export class EvalResult {
  evalSetResultId: string;
  evalSetResultName?: string;
  evalSetId: string;
  evalCaseResults: EvalCaseResult[];
  /** When it was made, in seconds since 1970. */
  creationTimestamp: number;

  constructor(init: Partial<EvalSetResult>) {
    const given = reading("init", () => ({ ...init }));
    this.evalSetResultId = given.evalSetResultId ?? "";
    if (given.evalSetResultName !== undefined) this.evalSetResultName = given.evalSetResultName;
    this.evalSetId = given.evalSetId ?? "";
    this.evalCaseResults = given.evalCaseResults ?? [];
    this.creationTimestamp = given.creationTimestamp ?? Date.now() / 1000;
  }
}
