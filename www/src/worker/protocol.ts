/**
 * What the page and the worker say to each other. The engine and the results live in the worker; the page gets columns of
 * numbers and, one at a time, whole cases, so that a large run never blocks it.
 */

import type {
  AdkMetricsErrorCode,
  AlignmentEntry,
  Budget,
  Dialect,
  EvalCaseResult,
  EvalSetResult,
  JudgeRequest,
  Mistake,
  Progress,
} from "adk-metrics";
import type { Parts } from "./parts.js";
import type { PageJudge, Preparation } from "./protocol-inputs.js";
import type { Scale, Spread, Tally } from "./scale.js";

/** A file as the user gave it. */
export interface NamedFile {
  name: string;
  bytes: Uint8Array;
}

/** Who answers the questions of judged metrics. */
export type JudgeChoice =
  | { kind: "none" }
  | {
      kind: "gemini" | "openai" | "anthropic" | "ollama" | "vertex";
      model?: string;
      baseUrl?: string;
      apiKey?: string;
      /** OpenAI's protocol. */
      api?: "chat" | "responses";
      project?: string;
      location?: string;
      accessToken?: string;
    }
  /** The browser's own model, which only the page can reach. */
  | { kind: "browser" }
  /** Replies recorded before; text of JSON lines. */
  | { kind: "recording"; text: string };

/** Where Vertex AI's evaluation service is, and who asks it. */
export interface ServiceChoice {
  baseUrl?: string;
  apiKey?: string;
  project?: string;
  location?: string;
  accessToken?: string;
}

/** One evalset and what the agent did on it. */
export interface Pair {
  evalSet: NamedFile;
  actual: NamedFile;
  /** The cases of the evalset, if they are known: rows for all of them are there from the beginning. */
  evalIds?: readonly string[];
}

/** A run to make. */
export interface Job {
  pairs: Pair[];
  /** The eval config, as JSON. */
  config: string;
  judge: JudgeChoice;
  /** Scores what google-adk leaves to Vertex AI; if absent, the judge does. */
  service?: ServiceChoice;
  dialect?: Dialect;
  concurrency?: number;
  earlyStop?: boolean;
  budget?: Budget;
  /** Names the replies that are kept over reloads: the same name finds them again. */
  cacheName?: string;
}

/** A metric of a run. */
export interface MetricColumn {
  name: string;
  /** What a score is compared with; absent for amounts that are only shown. */
  threshold?: number;
  /** The range of its scores, where it has one. */
  min?: number;
  max?: number;
}

/** An evalset of a run: its cases are `count` rows beginning with `from`. */
export interface SetSummary extends Pick<
  EvalSetResult,
  "evalSetId" | "judges" | "judgeUsage" | "simulatorUsage" | "cancelled" | "warnings" | "dialect"
> {
  name: string;
  from: number;
  count: number;
}

/** All verdicts of a run, row by row: the value of metric `m` in case `c` is at `c * metrics.length + m`. */
export interface Verdicts {
  /** The status of each case. */
  cases: Uint8Array;
  /** The status of each metric in each case; 0 where it has no result. */
  metrics: Uint8Array;
  /** How many cases have which status. */
  tally: Tally;
  /** Of each metric, how its scores are spread over its axis. */
  spreads: Spread[];
}

/** A run as the page knows it. */
export interface RunSummary {
  /** Names the run in the worker. */
  id: string;
  sets: SetSummary[];
  metrics: MetricColumn[];
  /** The axis of each metric. */
  scales: Scale[];
  /** The eval id of each case. */
  evalIds: string[];
  /** The score of each metric in each case; NaN where there is none. */
  scores: Float64Array;
  /** Under the run's own thresholds. */
  verdicts: Verdicts;
  /** Why results are not evaluated, the most frequent reasons first. */
  reasons: { reason: string; metric?: string; count: number }[];
}

/** Matched words of a response that the page is told; each is marked there, an element of its own. */
export const MAX_MATCHED_WORDS = 3000;

/** What a judge was asked, and about what. */
export type Question = Pick<
  JudgeRequest,
  "metricName" | "purpose" | "invocationIndex" | "stepIndex" | "sampleIndex" | "system" | "prompt"
>;

/** The tool calls of a case under one way of matching them. */
export interface Matching {
  matchType: "EXACT" | "IN_ORDER" | "ANY_ORDER";
  ignoreArgs: boolean;
  /** What `tool_trajectory_avg_score` says of each turn. */
  turns: { evalStatus: number; alignment?: AlignmentEntry[] }[];
}

/** What comes while a run is under way. */
export type RunEvent =
  | { kind: "progress"; set: number; progress: Progress; connections: Record<string, number> }
  /** The run so far; statuses of cases that are to come are 0. */
  | { kind: "partial"; summary: RunSummary };

/** A mistake in what the user gave, as data: an error's class does not survive the way out of a worker. */
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

/** What the worker offers. */
export interface Engine extends Preparation, Parts {
  /**
   * Scores; resolves with what is done if it is cancelled.
   *
   * @param id What the page calls the run when it hears of it.
   */
  run(id: number, job: Job): Promise<Outcome<RunSummary>>;
  /** Ends the run that is under way. */
  cancel(): void;
  /** How many requests left the page for which server since it was loaded. */
  connections(): Record<string, number>;
  /** Decides every status anew. Metrics that are not named keep the thresholds of the run. */
  withThresholds(run: string, thresholds: ReadonlyMap<string, number>): Promise<Outcome<Verdicts>>;
  /** All about one case, under the thresholds last set; of matched words the first {@link MAX_MATCHED_WORDS}. */
  caseAt(run: string, row: number): Promise<Outcome<EvalCaseResult>>;
  /** What judges were asked about a case, wherever their replies came from. */
  questionsAt(run: string, row: number): Promise<Outcome<Question[]>>;
  /** The tool calls of a case under every way of matching them; none where no turn has expected ones. */
  matchingsAt(run: string, row: number): Promise<Outcome<Matching[]>>;
}

/** What the page offers to the worker. */
export interface Page extends PageJudge {
  /** Takes note of a run that is under way. */
  onRunEvent(run: number, event: RunEvent): void;
}

export type { Mistake };
export type * from "./protocol-compare.js";
export type * from "./protocol-edit.js";
export type * from "./protocol-inputs.js";
export type * from "./protocol-export.js";
