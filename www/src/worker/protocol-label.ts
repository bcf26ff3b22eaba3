/** The protocol between page and worker: what people say of verdicts, and how often the judge is right. */

import type { Calibration, Disagreement, Label, ReadLabels, VerdictToLabel } from "adk-metrics/calibration";
import type { ExportedFile } from "./protocol-export.js";
import type { NamedFile, Outcome } from "./protocol.js";

/** What a verdict is known by. */
export type VerdictPlace = Pick<VerdictToLabel, "evalSetId" | "evalId" | "run" | "turn" | "metricName" | "rubricId">;

/** What a person said of a verdict: a label, a comment, or both. */
export type GivenLabel = VerdictPlace &
  Partial<Pick<Label, "annotator" | "chosen" | "comment">> & { label?: boolean | number };

/** A verdict with the row of its case. */
export type PlacedVerdict = VerdictToLabel & { row: number };

/** Which verdicts to label, and in which order. */
export interface LabelQueueOptions {
  /** At random instead of the most doubtful first. */
  random: boolean;
  /** The only metric; absent for those that ask a judge. */
  metric?: string;
}

export interface LabelQueue {
  /** The first of them. */
  verdicts: PlacedVerdict[];
  /** How many there are. */
  total: number;
}

/** How often the judge of a run is right. */
export interface RunCalibration extends Omit<Calibration, "disagreements"> {
  disagreements: (Disagreement & { row: number })[];
}

/** The worker's functions for labelling verdicts. */
export interface Labelling {
  verdictsToLabel(run: string, options: LabelQueueOptions): Promise<Outcome<LabelQueue>>;
  /** The verdicts of a case that can be labelled, of all its metrics. */
  verdictsOfCase(run: string, row: number): Promise<Outcome<VerdictToLabel[]>>;
  /** How often the judge is right, with the current thresholds. */
  calibration(run: string, labels: readonly GivenLabel[]): Promise<Outcome<RunCalibration>>;
  /** Reads a file of labels, and finds the verdict of each. */
  readLabels(run: string, file: NamedFile): Promise<Outcome<ReadLabels>>;
  /** Labels, or the report on them, as a file. */
  labelsFile(
    run: string,
    labels: readonly GivenLabel[],
    format: "csv" | "jsonl" | "html",
  ): Promise<Outcome<ExportedFile>>;
}
