/** The protocol between page and worker before a run: files, metrics, judges and estimates. */

import type { JudgeReply, JudgeRequest, JudgeStamp, MetricInfo } from "adk-metrics";
import type { Job, JudgeChoice, NamedFile, Outcome, Problem, ServiceChoice } from "./protocol.js";

/** What a file contains. An evalset may be what is expected or what the agent did; that depends on its pair. */
export type FileKind = "evalset" | "results" | "inferences" | "session" | "traces" | "config" | "recording" | "unknown";

/** What is known of a file. */
export interface FileInfo {
  kind: FileKind;
  evalSetId?: string;
  /** The eval ids of its cases, in order. */
  evalIds: string[];
  /** The number of turns, or of calls in a recording. 0 if it is not known without scoring. */
  turns: number;
  /** Of an evalset: whether it is in a format of ADK before evalsets had ids. */
  isOld?: boolean;
  /** Of results: when they were made, in seconds since 1970. */
  madeAt?: number;
  /** Of results: whether a metric scored any of them, so that there is something to open. */
  hasScores?: boolean;
  /** What it cannot show. */
  notice?: string;
  /** Why it cannot be read. */
  problem?: Problem;
}

/** A metric that can be chosen. */
export interface KnownMetric extends MetricInfo {
  /** Whether it asks a judge. */
  isJudged: boolean;
}

/** A metric that asks a judge, with the model that the config names. */
export interface JudgedMetric extends Pick<JudgeStamp, "metricName" | "model"> {
  /** Whether google-adk delegates it to Vertex AI's evaluation service. */
  isLeftToVertex: boolean;
}

/** What the engine says about a valid config. */
export interface ConfigInfo {
  judges: JudgedMetric[];
  warnings: Problem[];
}

/** A number of calls, and the characters of their prompts. */
export interface Questions {
  calls: number;
  characters: number;
}

/** The fewest and the most calls of a metric, not counting retries. */
export interface EstimateRow {
  metric: string;
  /** The model; absent if Vertex AI's evaluation service scores the metric. */
  model?: string;
  min: Questions;
  max: Questions;
}

export interface Estimate {
  rows: EstimateRow[];
}

/** What a judge that was tested answered. */
export interface JudgeAnswer {
  ms: number;
  /** The version that answered, or the model that was asked. */
  model?: string;
  /** Whether it found that an answer says what was expected, which it does. */
  isRight: boolean;
  inputTokens?: number;
  outputTokens?: number;
}

/** The page's functions for the browser's own model. */
export interface PageJudge {
  ask(
    call: number,
    request: JudgeRequest,
  ): Promise<{ ok: true; value: JudgeReply | string } | { ok: false; problem: Problem & { retryable?: boolean } }>;
  cancel(call: number): void;
}

/** The worker's functions before a run. */
export interface Preparation {
  inspect(file: NamedFile): Promise<FileInfo>;
  /** The evalset that results were made with, as far as they contain it. */
  expectedOf(results: NamedFile): Promise<Outcome<NamedFile>>;
  /** Every metric there is. */
  metrics(): Promise<Outcome<KnownMetric[]>>;
  /** Validates a config. */
  checkConfig(config: string): Promise<Outcome<ConfigInfo>>;
  /** The origins of the servers of a judge and of the evaluation service; empty if no request leaves the page. */
  originsOf(judge: JudgeChoice, service?: ServiceChoice): Promise<Outcome<string[]>>;
  /** Estimates the calls of a run. A new call aborts the previous one. */
  estimate(job: Job): Promise<Outcome<Estimate>>;
}
