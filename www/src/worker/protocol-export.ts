/** The protocol between page and worker: exporting results, and runs in links. */

import type { ReportFormat } from "adk-metrics/report";
import type { Outcome, RunSummary } from "./protocol.js";

/** A format that can be chosen. */
export interface FormatChoice {
  format: ReportFormat;
  label: string;
  about: string;
  /** Whether comparisons can be exported in it too. */
  isForComparisons: boolean;
}

/** A file to be saved. */
export interface ExportedFile {
  name: string;
  type: string;
  content: string;
}

/** The worker's functions for exporting results and for reading runs from links. */
export interface Exporting {
  /** The formats in which results can be exported. */
  formats(): Promise<FormatChoice[]>;
  /** A run with the current thresholds as files: one, or in `json` one per evalset. */
  filesOf(run: string, format: ReportFormat): Promise<Outcome<ExportedFile[]>>;
  /** A run as text for a URL. */
  packRun(run: string): Promise<Outcome<string>>;
  /** Reads a run from such text and stores it. */
  unpackRun(text: string): Promise<Outcome<RunSummary>>;
}
