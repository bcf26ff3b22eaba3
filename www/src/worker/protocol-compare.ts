/** What the page and the worker say to each other about comparing runs. */

import type { CaseComparison, RunComparison } from "adk-metrics";
import type { ReportFormat } from "adk-metrics/report";
import type { ExportedFile } from "./protocol-export.js";
import type { NamedFile, Outcome } from "./protocol.js";

/** A run that can be compared: one of this page, or results from files. */
export interface ComparableRun {
  id: string;
  name: string;
  /** Its evalsets and how their cases ended. */
  sets: { evalSetId: string; total: number; passed: number; failed: number; notEvaluated: number }[];
  /** When it was made, in seconds since 1970. */
  creationTimestamp?: number;
}

/** A comparison with the first of the cases that are not as they were; the others are asked for. */
export interface ShownComparison extends Omit<RunComparison, "cases"> {
  cases: CaseComparison[];
  /** How many cases are not as they were. */
  changed: number;
  /** The eval ids of the cases that regressed. */
  regressed: string[];
}

/** How two runs differ. */
export interface Compared {
  /** One for each evalset that both have. */
  sets: ShownComparison[];
  /** The evalsets that only one of them has. */
  onlyBaseline: string[];
  onlyCurrent: string[];
}

/** What the worker offers to compare runs. */
export interface Comparing {
  /** Takes evalset results as a run to compare. */
  addResults(files: NamedFile[]): Promise<Outcome<ComparableRun>>;
  /** What is known of a run of this page. */
  comparableRun(run: string, name: string): Promise<Outcome<ComparableRun>>;
  compare(baseline: string, current: string): Promise<Outcome<Compared>>;
  /** Further cases of the last comparison that are not as they were. */
  comparedCases(set: number, from: number, count: number): Promise<Outcome<CaseComparison[]>>;
  /** The last comparison as a file. */
  comparisonFile(format: ReportFormat): Promise<Outcome<ExportedFile>>;
}
