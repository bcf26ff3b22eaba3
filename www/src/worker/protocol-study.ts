/** The protocol between page and worker: what the results of a run tell as a whole, and search in their texts. */

import type { CaseMetricReliability, CaseReliability, Estimate, Reliability } from "adk-metrics";
import type { NamedFile, Outcome, TurnContent } from "./protocol.js";

/** How reliable the agent was in a run, with the current thresholds. */
export interface RunReliability {
  /** The share of runs that pass; absent if none was evaluated. */
  passRate?: Estimate;
  /** How often the intervals contain the true value. */
  confidence: number;
  /** How likely one of k runs of a case passes, for the most runs that there are; absent unless cases were run repeatedly. */
  passAtK?: Estimate & { k: number };
  /** How likely all of them pass. */
  passHatK?: Estimate & { k: number };
  /** How verdicts vary; absent unless cases were run repeatedly. */
  variance?: Reliability["variance"];
  /** What it takes to know the pass rate better; absent if it is known well enough. */
  needed?: Reliability["needed"];
  /** The cases with passed and failed runs, each as `evalSetId` and `evalId`. */
  flaky: readonly (readonly [evalSetId: string, evalId: string])[];
  /** How many groups the cases are in, which intervals respect; absent if each case is a group of its own. */
  groups?: number;
  /** Whether only one case has verdicts, so that intervals are about this case. */
  isOneCase?: true;
  /** What else cases can be grouped by: `evalset`, and tags as `tag:<key>`. */
  groupings: readonly string[];
  /** The mean of each metric's scores, by name. */
  means: Readonly<Record<string, Estimate>>;
}

/** What the runs of a case tell that was run repeatedly. */
export type Repetition = Pick<
  CaseReliability,
  "runs" | "passed" | "notEvaluated" | "isFlaky" | "passAtK" | "passHatK"
> & {
  /** Of the metrics by which some runs pass and some fail. */
  flaky: Pick<CaseMetricReliability, "metricName" | "runs" | "passed" | "passAtK" | "passHatK">[];
};

/** What some cases have in common, and the rows of these cases. */
export interface NamedRows {
  name: string;
  rows: number[];
}

/** A turn that the agent did not reach. */
export type UnreachedTurn = Required<Pick<TurnContent, "userText" | "expected">>;

/** The worker's functions for studying a run. */
export interface Studying {
  /**
   * What the verdicts of a run tell of the next one.
   *
   * @param by Which of the groupings intervals respect.
   */
  reliability(run: string, by?: string): Promise<Outcome<RunReliability>>;
  /** What all runs of the case in a row tell; undefined for a case that was run once. */
  repetitionAt(run: string, row: number): Promise<Outcome<Repetition | undefined>>;
  /** The rows whose questions, answers, tool calls or reasons contain all these words. */
  rowsWith(run: string, words: readonly string[]): Promise<Outcome<readonly number[]>>;
  /** The tools that are called or expected, by name, with the rows of their cases. */
  toolsOf(run: string): Promise<Outcome<NamedRows[]>>;
  /**
   * The tags that cases have in their evalsets (`"tags": ["booking"]`, or values that several share), with their rows.
   *
   * @param files The evalsets as they are now, for results that came without their inputs.
   */
  tagsOf(run: string, files: readonly NamedFile[]): Promise<Outcome<NamedRows[]>>;
  /**
   * The turns that a case expects after those of its results, for conversations that ended early.
   *
   * @param file The evalset as it is now, for results that came without their inputs.
   */
  unreachedAt(run: string, row: number, file?: NamedFile): Promise<Outcome<UnreachedTurn[]>>;
}
