/** What the page and the worker say to each other before a run: about files, metrics, judges and what a run will ask. */

import type { JudgeReply, JudgeRequest, JudgeStamp, MetricInfo } from "adk-metrics";
import type { Job, JudgeChoice, NamedFile, Outcome, Problem, ServiceChoice } from "./protocol.js";

/** What a file holds. An evalset may be what is expected, or what was done: that is for its pair to say. */
export type FileKind = "evalset" | "results" | "inferences" | "session" | "traces" | "config" | "recording" | "unknown";

/** What is known of a file. */
export interface FileInfo {
  kind: FileKind;
  evalSetId?: string;
  /** The cases that it names, in its order. */
  evalIds: string[];
  /** Turns; of a recording the calls. 0 if that is not known without scoring. */
  turns: number;
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
  /** Whether google-adk leaves it to Vertex AI, whose evaluation service can score it. */
  isLeftToVertex: boolean;
}

/** What a config comes to. */
export interface ConfigInfo {
  judges: JudgedMetric[];
  warnings: Problem[];
}

/** Questions, and the characters of their prompts. */
export interface Questions {
  calls: number;
  characters: number;
}

/** What a metric will ask at least and at most, calls that are made again aside. */
export interface EstimateRow {
  metric: string;
  /** The model; absent if Vertex AI's evaluation service is asked. */
  model?: string;
  min: Questions;
  max: Questions;
}

export interface Estimate {
  rows: EstimateRow[];
}

/** The page's side of the browser's own model. */
export interface PageJudge {
  ask(
    call: number,
    request: JudgeRequest,
  ): Promise<{ ok: true; value: JudgeReply | string } | { ok: false; problem: Problem & { retryable?: boolean } }>;
  cancel(call: number): void;
}

/** What the worker offers before a run. */
export interface Preparation {
  inspect(file: NamedFile): Promise<FileInfo>;
  /** The evalset that results were made with, as far as they hold it. */
  expectedOf(results: NamedFile): Promise<Outcome<NamedFile>>;
  /** Every metric there is. */
  metrics(): Promise<Outcome<KnownMetric[]>>;
  /** What a config comes to, or what is wrong with it. */
  checkConfig(config: string): Promise<Outcome<ConfigInfo>>;
  /** The servers that a judge and the evaluation service are asked at; none if nothing leaves the page. */
  originsOf(judge: JudgeChoice, service?: ServiceChoice): Promise<Outcome<string[]>>;
  /** What a run would ask. A further call ends the one before. */
  estimate(job: Job): Promise<Outcome<Estimate>>;
}
