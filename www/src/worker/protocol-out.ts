/** What the page and the worker say to each other about results that leave the page or come back to it. */

import type { Outcome, RunSummary } from "./protocol.js";

/** The formats of results; `json` is ADK's schema. */
export type ResultsFormat = "json" | "csv" | "junit" | "md" | "html";

/** A file to keep. */
export interface OutFile {
  name: string;
  type: string;
  content: string;
}

/** What the worker offers to give results away, and to take them back. */
export interface Out {
  /** A run under the thresholds of now as files: one, or in `json` one for each evalset. */
  filesOf(run: string, format: ResultsFormat): Promise<Outcome<OutFile[]>>;
  /** A run as text for an address. */
  packed(run: string): Promise<Outcome<string>>;
  /** The run that such a text holds. */
  unpacked(text: string): Promise<Outcome<RunSummary>>;
}
