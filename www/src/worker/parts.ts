/** The parts of the worker that only one screen needs. Each is loaded at the first call of one of its functions. */

import type { EvalSetResult } from "adk-metrics/web";
import type { Comparing } from "./protocol-compare.js";
import type { Editing } from "./protocol-edit.js";
import type { Exporting } from "./protocol-export.js";
import type { Opening } from "./protocol-open.js";
import type { Studying } from "./protocol-study.js";
import type { Run, ScoredSet } from "./runs.js";
import type { RunSummary } from "./protocol.js";

/** What the parts offer to the page. */
export interface Parts extends Comparing, Editing, Exporting, Opening, Studying {}

/** What the parts are given. */
export interface PartsContext {
  /** Resolves when the engine can be used. */
  ready: Promise<void>;
  /** The results of a run of this page with the current thresholds. */
  resultsOf(run: string): readonly EvalSetResult[];
  /** A run of this page. */
  runOf(run: string): Run | undefined;
  /** Stores a run. */
  keep(sets: readonly ScoredSet[]): RunSummary;
}

export function partsOf({ ready, resultsOf, runOf, keep }: PartsContext): Parts {
  return {
    ...lazy<Comparing>(["addResults", "comparableRun", "compare", "comparedCases", "comparisonFile"], async () =>
      (await import("./comparing.js")).comparing(ready, resultsOf),
    ),
    ...lazy<Editing>(["editableSet", "editableCase", "applyEdit"], async () =>
      (await import("./editing.js")).editing(ready, (run, row) => runOf(run)?.setAndCaseAt(row)),
    ),
    ...lazy<Exporting>(["formats", "filesOf", "packRun", "unpackRun"], async () =>
      (await import("./exporting.js")).exporting(ready, resultsOf, keep),
    ),
    ...lazy<Opening>(["openResults", "keepRun", "restoreRun"], async () =>
      (await import("./opening.js")).opening(ready, runOf, keep),
    ),
    ...lazy<Studying>(["reliability", "rowsWith"], async () => (await import("./studying.js")).studying(resultsOf)),
  };
}

/** The functions of a part that is loaded when the first of them is called. */
function lazy<T extends { [K in keyof T]: (...args: never[]) => Promise<unknown> }>(
  names: readonly (keyof T)[],
  load: () => Promise<T>,
): T {
  let loading: Promise<T> | undefined;
  const call = async (name: keyof T, args: never[]): Promise<unknown> => {
    loading ??= load();
    return (await loading)[name](...args);
  };
  return Object.fromEntries(names.map((name) => [name, (...args: never[]) => call(name, args)])) as T;
}
