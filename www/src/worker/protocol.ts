/**
 * The protocol between page and worker. The engine and the results stay in the worker; the page gets columns of numbers,
 * and whole cases one at a time, so that a large run never blocks it.
 */

import type {
  AdkMetricsErrorCode,
  AlignmentEntry,
  Budget,
  EarlyStop,
  Dialect,
  EvalCaseResult,
  EvalSetResult,
  FunctionCall,
  JudgeRequest,
  Mistake,
  Progress,
  TurnEvents,
} from "adk-metrics";
import type { WhyNotPassed, WordChanges } from "adk-metrics/report";
import type { JudgeField, ProviderName } from "virtual:manifest";
import type { Parts } from "./parts.js";
import type { JudgeAnswer, PageJudge, Preparation } from "./protocol-inputs.js";
import type { Scale, Spread, Tally } from "./scale.js";

/** A file as the user gave it. */
export interface NamedFile {
  name: string;
  /** The folder that it came with, and its name: two folders may hold files of one name. */
  path?: string;
  bytes: Uint8Array;
}

/** The judge for judged metrics. */
export type JudgeChoice =
  | { kind: "none" }
  | ({ kind: ProviderName } & JudgeOptions)
  /** The browser's own model, which is available in pages only. */
  | { kind: "browser" }
  /** Recorded replies, as JSON lines. */
  | { kind: "recording"; text: string };

/** The options of a provider's judge, as far as they were given. */
export type JudgeOptions = Partial<Record<JudgeField["option"], string>>;

/** The address and credentials of Vertex AI's evaluation service. */
export type ServiceChoice = Omit<JudgeOptions, "model" | "api">;

/** One evalset and what the agent did on it. */
export interface Pair {
  evalSet: NamedFile;
  actual: NamedFile;
  /** The eval ids of the evalset, if they are known: then all rows are there from the beginning. */
  evalIds?: readonly string[];
}

/** A run to make. */
export interface Job {
  pairs: Pair[];
  /** The eval config, as JSON. */
  config: string;
  /** What the config is called. */
  configName?: string;
  judge: JudgeChoice;
  /** Scores the metrics that google-adk delegates to Vertex AI; if absent, the judge does. */
  service?: ServiceChoice;
  dialect?: Dialect;
  concurrency?: number;
  earlyStop?: EarlyStop;
  budget?: Budget;
  /** The name of the cache that stores replies across reloads. */
  cacheName?: string;
}

/** A metric of a run. */
export interface MetricColumn {
  name: string;
  /** What a score is compared with; absent for informational metrics. */
  threshold?: number;
  /** The range of its scores, if it has one. */
  min?: number;
  max?: number;
}

/** An evalset of a run: its cases are `count` rows, starting at row `from`. */
export interface SetSummary extends Pick<
  EvalSetResult,
  "evalSetId" | "judges" | "judgeCalibrations" | "judgeUsage" | "simulatorUsage" | "cancelled" | "warnings" | "dialect"
> {
  name: string;
  /** The file of the evalset, with its folder; absent for results from elsewhere. */
  path?: string;
  /** What the config is called that it was scored with; absent for results from elsewhere. */
  config?: string;
  from: number;
  count: number;
  /** When it was scored, in seconds since 1970. */
  scoredAt: number;
}

/** All verdicts of a run, row by row: the value of metric `m` in case `c` is at `c * metrics.length + m`. */
export interface Verdicts {
  /** The status of each case. */
  cases: Uint8Array;
  /** The status of each metric in each case; 0 where it has no result. */
  metrics: Uint8Array;
  /** The number of cases by status. */
  tally: Tally;
  /** The histogram of each metric. */
  spreads: Spread[];
}

/** A run as the page gets it. */
export interface RunSummary {
  /** Identifies the run in the worker. */
  id: string;
  sets: SetSummary[];
  metrics: MetricColumn[];
  /** The axis of each metric. */
  scales: Scale[];
  /** The eval id of each case. */
  evalIds: string[];
  /** The beginning of each case's first question; empty where it is not known. */
  questions: string[];
  /** The score of each metric in each case; NaN where there is none. */
  scores: Float64Array;
  /** The verdicts with the run's own thresholds. */
  verdicts: Verdicts;
  /** Why results are not evaluated, the most frequent reasons first. */
  reasons: { reason: string; metric?: string; count: number }[];
}

/** The most matched words of a response that are sent to the page, where each one becomes an element. */
export const MAX_MATCHED_WORDS = 3000;

/** A case: its results, and what its turns hold. */
export interface CaseContent {
  /** With the current thresholds, and at most {@link MAX_MATCHED_WORDS} matched words. */
  result: EvalCaseResult;
  turns: TurnContent[];
}

/** The texts and the tool calls of a turn, as the metrics see them. */
export interface TurnContent {
  userText: string;
  actual: { text: string; calls: FunctionCall[] };
  expected?: { text: string; calls: FunctionCall[] };
}

/** A case with what its page shows beside: why it did not pass, and what happened in each turn. */
export interface CaseDetails extends CaseContent {
  why: WhyNotPassed[];
  details: TurnDetails[];
  /** By metric, in the order of the overall results: what the rubrics say, by their ids. */
  rubricTexts: ReadonlyMap<string, string>[];
}

/** What happened in a turn between the user's message and the final response. */
export interface TurnDetails extends TurnEvents {
  /** What each tool call returned, or the error of its tool. */
  outputs: (ToolResult | undefined)[];
  /** By metric that did not pass, in the order of the turn's results: why each sample voted as it did, if it says so. */
  rationales: (readonly (string | undefined)[])[];
  /** Whether what was expected is shown beside what was done. */
  compares: { texts: boolean; calls: boolean };
}

export interface ToolResult {
  response: unknown;
  error?: unknown;
}

/** An expected text and the actual one. */
export type TextPair = readonly [expected: string, actual: string];

export type { WordChanges };

/** A question that a judge was asked. */
export type Question = Pick<
  JudgeRequest,
  "metricName" | "purpose" | "invocationIndex" | "stepIndex" | "sampleIndex" | "system" | "prompt"
>;

/** The tool calls of a case, matched in one mode. */
export interface Matching {
  matchType: "EXACT" | "IN_ORDER" | "ANY_ORDER";
  ignoreArgs: boolean;
  /** The result of `tool_trajectory_avg_score` for each turn. */
  turns: { evalStatus: number; alignment?: AlignmentEntry[] }[];
}

/** What the page is notified of during a run. */
export type RunEvent =
  | { kind: "progress"; set: number; progress: Progress; connections: Record<string, number> }
  /** The run so far; cases that are not scored yet have the status 0. */
  | { kind: "partial"; summary: RunSummary };

/** An error as data: `postMessage` does not preserve an error's class. */
export interface Problem {
  code: AdkMetricsErrorCode | "unexpected";
  message: string;
  path?: string;
  line?: number;
  help?: string;
  /** The file it is in, where that is known. */
  file?: string;
}

export type Outcome<T> = { ok: true; value: T } | { ok: false; problem: Problem };

/** The worker's functions. */
export interface Engine extends Preparation, Parts {
  /**
   * Makes a run; if it is cancelled, resolves with the results so far.
   *
   * @param id Identifies the run in events.
   */
  run(id: number, job: Job): Promise<Outcome<RunSummary>>;
  /** Asks a judge one question. Not during a run. */
  testJudge(judge: JudgeChoice, model?: string): Promise<Outcome<JudgeAnswer>>;
  /** Stops the run in progress. */
  cancel(): void;
  /** The number of requests sent to each server since the page was loaded. */
  connections(): Record<string, number>;
  /** Applies thresholds and returns the new verdicts. Metrics that are not named keep the thresholds of the run. */
  withThresholds(run: string, thresholds: ReadonlyMap<string, number>): Promise<Outcome<Verdicts>>;
  caseAt(run: string, row: number): Promise<Outcome<CaseDetails>>;
  /** The words in which the two texts of each pair differ. */
  changesIn(pairs: readonly TextPair[]): Promise<Outcome<WordChanges[]>>;
  /** The questions that judges were asked about a case, wherever their replies came from. */
  questionsAt(run: string, row: number): Promise<Outcome<Question[]>>;
  /** The tool calls of a case, matched in every mode; empty if no turn has expected calls. */
  matchingsAt(run: string, row: number): Promise<Outcome<Matching[]>>;
}

/** The page's functions. */
export interface Page extends PageJudge {
  /** Called during a run. */
  onRunEvent(run: number, event: RunEvent): void;
}

export type { Mistake };
export type * from "./protocol-compare.js";
export type * from "./protocol-draft.js";
export type * from "./protocol-edit.js";
export type * from "./protocol-examples.js";
export type * from "./protocol-inputs.js";
export type * from "./protocol-export.js";
export type * from "./protocol-label.js";
export type * from "./protocol-matrix.js";
export type * from "./protocol-open.js";
export type * from "./protocol-study.js";
