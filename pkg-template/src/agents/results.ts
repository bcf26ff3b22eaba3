/** What evaluating an agent comes to. */

import { reading } from "../engine/values.js";
import { failureSummary, renderPooledFailures } from "../report/failures.js";
import { warningLines } from "../report/results.js";
import type { EvalCaseResult, EvalSetResult } from "../types.js";

/** A metric that did not pass in a case, or a case whose agent failed. */
export interface EvaluationFailure {
  /** The evalset. */
  evalSetId: string;
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
  readonly failures: readonly EvaluationFailure[];
  /** The results of every evalset that was run. */
  readonly results: readonly EvalSetResult[];

  constructor(failures: readonly EvaluationFailure[], results: readonly EvalSetResult[]) {
    super(
      reading("results", () => {
        const summary = [...failureSummary(failures, results), ...warningLines(results)].join("\n");
        return `${summary}\n\n${renderPooledFailures(failures, results)}`.trimEnd();
      }),
    );
    this.failures = failures;
    this.results = results;
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
