/** The protocol between page and worker: results that exist already. */

import type { ComparableRun } from "./protocol-compare.js";
import type { NamedFile, Outcome, RunSummary } from "./protocol.js";

/** Results that were opened. */
export interface OpenedResults {
  /** The newest results of each evalset. */
  run: RunSummary;
  /** Older ones, as runs to compare it with, the newest first. */
  earlier: ComparableRun[];
}

/** A run as it is kept in this browser: JSON lines, compressed, and the files of its evalsets. */
export interface KeptRun {
  files: { name: string; path?: string; config?: string }[];
  bytes: Uint8Array<ArrayBuffer>;
}

/** The worker's functions for opening results. */
export interface Opening {
  /** Opens files of results as they are: nothing is scored. */
  openResults(files: NamedFile[]): Promise<Outcome<OpenedResults>>;
  /** A run with its own thresholds, to be kept. */
  keepRun(run: string): Promise<Outcome<KeptRun>>;
  /** Stores a run that was kept, under the id that it had. */
  restoreRun(kept: KeptRun, id: string): Promise<Outcome<RunSummary>>;
  /** A run with its own thresholds. */
  runSummary(run: string): Promise<Outcome<RunSummary>>;
  /** Drops a run. */
  forgetRun(run: string): Promise<Outcome<void>>;
}
