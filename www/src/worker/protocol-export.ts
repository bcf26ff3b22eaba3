/** What the page and the worker say to each other about results that leave the page or come back to it. */

import type { ReportFormat } from "adk-metrics/report";
import type { Outcome, RunSummary } from "./protocol.js";

/** A format that can be chosen. */
export interface FormatChoice {
  format: ReportFormat;
  label: string;
  about: string;
  /** Whether comparisons can be written in it too. */
  isForComparisons: boolean;
}

/** A file to keep. */
export interface ExportedFile {
  name: string;
  type: string;
  content: string;
}

/** What the worker offers to give results away, and to take them back. */
export interface Exporting {
  /** The formats in which results can be had. */
  formats(): Promise<FormatChoice[]>;
  /** A run under the thresholds of now as files: one, or in `json` one for each evalset. */
  filesOf(run: string, format: ReportFormat): Promise<Outcome<ExportedFile[]>>;
  /** A run as text for an address. */
  packRun(run: string): Promise<Outcome<string>>;
  /** The run that such a text holds. */
  unpackRun(text: string): Promise<Outcome<RunSummary>>;
}
