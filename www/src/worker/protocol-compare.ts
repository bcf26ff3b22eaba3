/** The protocol between page and worker: comparing runs. */

import type { CaseComparison, RunComparison } from "adk-metrics";
import type { ReportFormat } from "adk-metrics/report";
import type { ExportedFile } from "./protocol-export.js";
import type { NamedFile, Outcome } from "./protocol.js";

/** A run that can be compared: one of this page, or results from files. */
export interface ComparableRun {
  id: string;
  name: string;
  /** Its evalsets and how their cases ended. */
  sets: { evalSetId: string; name?: string; total: number; passed: number; failed: number; notEvaluated: number }[];
  /** Who judged. */
  judges?: string[];
  /** What the configs are called that it was scored with. */
  configs?: string[];
  /** When it was made, in seconds since 1970. */
  creationTimestamp?: number;
}

/** A comparison with the first of the changed cases; the page requests more when they are needed. */
export interface ShownComparison extends Omit<RunComparison, "cases"> {
  cases: CaseComparison[];
  /** The number of changed cases. */
  changed: number;
  /** The eval ids of the cases that regressed. */
  regressed: string[];
}

/** How two runs differ. */
export interface Compared {
  /** One comparison for each evalset that both runs have. */
  sets: ShownComparison[];
  /** The evalsets that only one of the runs has. */
  onlyBaseline: string[];
  onlyCurrent: string[];
}

/** The worker's functions for comparing runs. */
export interface Comparing {
  /** Adds evalset results from files as a run. */
  addResults(files: NamedFile[]): Promise<Outcome<ComparableRun>>;
  /** A run of this page, with its current counts. */
  comparableRun(run: string, name: string): Promise<Outcome<ComparableRun>>;
  compare(baseline: string, current: string): Promise<Outcome<Compared>>;
  /** Further changed cases of the last comparison. */
  comparedCases(set: number, from: number, count: number): Promise<Outcome<CaseComparison[]>>;
  /** The last comparison as a file. */
  comparisonFile(format: ReportFormat): Promise<Outcome<ExportedFile>>;
}
