/** The protocol between page and worker: many runs side by side. */

import type { EvalMetricResult } from "adk-metrics";
import type { Outcome, TurnContent } from "./protocol.js";

/** The verdicts of cases in several runs. */
export interface Matrix {
  /** The cases that any of the runs has, in the order of the first run that has them. */
  evalSetIds: string[];
  evalIds: string[];
  /**
   * For case `c` and run `r`, from `3 * (c * runs + r)`: how many repetitions passed, failed, and were not evaluated. All
   * are 0 where the run does not have the case.
   */
  counts: Uint16Array;
}

/** A case in one of several runs. */
export interface CaseInRun {
  /** Its repetitions, in the order in which they were run. */
  repetitions: {
    /** The row in its run. */
    row: number;
    evalStatus: number;
    /** Why there are no scores. */
    reason?: string;
    metrics: Pick<EvalMetricResult, "metricName" | "evalStatus" | "score" | "threshold">[];
    turns: TurnContent[];
  }[];
}

/** The worker's functions for runs side by side. */
export interface SideBySide {
  matrix(runs: readonly string[]): Promise<Outcome<Matrix>>;
  /** A case in each of the runs, in their order. */
  caseIn(runs: readonly string[], evalSetId: string, evalId: string): Promise<Outcome<CaseInRun[]>>;
}
