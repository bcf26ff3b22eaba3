/** The parts of the worker that only one screen needs. Each is loaded at the first call of one of its functions. */

import type { EvalSetResult } from "adk-metrics/web";
import type { Comparing } from "./protocol-compare.js";
import type { Drafting } from "./protocol-draft.js";
import type { Editing } from "./protocol-edit.js";
import type { Examples } from "./protocol-examples.js";
import type { Exporting } from "./protocol-export.js";
import type { Labelling } from "./protocol-label.js";
import type { Opening } from "./protocol-open.js";
import type { SideBySide } from "./protocol-matrix.js";
import type { Studying } from "./protocol-study.js";
import type { Run, ScoredSet } from "./runs.js";
import type { RunSummary } from "./protocol.js";

/** What the parts offer to the page. */
export interface Parts
  extends Comparing, Drafting, Editing, Examples, Exporting, Labelling, Opening, SideBySide, Studying {}

/** What the parts are given. */
export interface PartsContext {
  /** Resolves when the engine can be used. */
  ready: Promise<void>;
  /** The results of a run of this page with the current thresholds. */
  resultsOf(run: string): readonly EvalSetResult[];
  /** A run of this page. */
  runOf(run: string): Run | undefined;
  /** Stores a run, under a new id unless it has one. */
  keep(sets: readonly ScoredSet[], id?: string): RunSummary;
  /** Drops a run. */
  forget(run: string): void;
}

export function partsOf({ ready, resultsOf, runOf, keep, forget }: PartsContext): Parts {
  return {
    ...lazy<Comparing>(["addResults", "comparableRun", "compare", "comparedCases", "comparisonFile"], async () =>
      (await import("./comparing.js")).comparing(ready, resultsOf),
    ),
    ...lazy<Drafting>(["conversationsIn", "evalSetFrom"], async () => (await import("./drafting.js")).drafting(ready)),
    ...lazy<Editing>(["editableSet", "editableCase", "knownTools", "applyEdit"], async () =>
      (await import("./editing.js")).editing(ready, (run, row) => runOf(run)?.setAndCaseAt(row)),
    ),
    ...lazy<Examples>(["recordingOf"], async () => (await import("./examples.js")).examples(ready)),
    ...lazy<Exporting>(["formats", "filesOf", "packRun", "unpackRun"], async () =>
      (await import("./exporting.js")).exporting(ready, resultsOf, keep),
    ),
    ...lazy<Labelling>(["verdictsToLabel", "verdictsOfCase", "calibration", "readLabels", "labelsFile"], async () =>
      (await import("./labelling.js")).labelling(resultsOf),
    ),
    ...lazy<Opening>(["openResults", "keepRun", "restoreRun", "runSummary", "forgetRun"], async () =>
      (await import("./opening.js")).opening(ready, runOf, keep, forget),
    ),
    ...lazy<SideBySide>(["matrix", "caseIn"], async () => (await import("./matrix.js")).sideBySide(resultsOf, runOf)),
    ...lazy<Studying>(["reliability", "repetitionAt", "rowsWith", "toolsOf", "tagsOf", "unreachedAt"], async () =>
      (await import("./studying.js")).studying(resultsOf, runOf),
    ),
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
