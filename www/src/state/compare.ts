/** The runs that can be compared, the two chosen ones, and their comparison. */

import { batch, computed, effect, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { Compared, ComparableRun, NamedFile, Problem } from "../worker/protocol.js";
import { runProgress, summary } from "./run.js";
import { hold, isLoaded, keptRuns, unloadOthers } from "./runs.js";

/** Results that were opened from files to compare with. */
const openedRuns = signal<readonly ComparableRun[]>([]);

/** The runs of this browser and results from files, in the order in which they were added. */
export const comparableRuns = computed<readonly ComparableRun[]>(() => [...keptRuns.value, ...openedRuns.value]);

export const baseline = signal<string | undefined>(undefined);
export const current = signal<string | undefined>(undefined);

export const compared = signal<Compared | undefined>(undefined);

/** Why there is no comparison. */
export const problem = signal<Problem | undefined>(undefined);

/** Whether runs are being compared. */
export const isComparing = signal(false);

/** The shown run for which a comparison was chosen last. */
let comparedRun: string | undefined;

// The run that is shown is compared with the one before it with which it shares an evalset, unless another was chosen.
effect(() => {
  const [run, all] = [summary.value, comparableRuns.value];
  if (run === undefined || runProgress.value !== undefined || run.id === comparedRun) return;
  const shown = all.find(({ id }) => id === run.id);
  const others = all.filter(({ id }) => id !== run.id);
  // It is listed by another effect.
  if (shown === undefined) return;
  comparedRun = run.id;
  const sharesEvalSet = (one: ComparableRun) => haveCommonEvalSet(one, shown);
  const before = others.find(({ id }) => id === baseline.peek());
  const earlier = all.slice(0, all.indexOf(shown));
  batch(() => {
    if (before === undefined || !sharesEvalSet(before)) {
      baseline.value = (earlier.findLast(sharesEvalSet) ?? others.findLast(sharesEvalSet))?.id;
    }
    current.value = run.id;
    problem.value = undefined;
  });
  void compare();
});

function haveCommonEvalSet(one: ComparableRun, other: ComparableRun): boolean {
  const ids = new Set(one.sets.map(({ evalSetId }) => evalSetId));
  return other.sets.some(({ evalSetId }) => ids.has(evalSetId));
}

/** Opens evalset results from files and makes them the baseline. */
export async function openResults(files: NamedFile[]): Promise<void> {
  const outcome = await engine.addResults(files);
  batch(() => {
    problem.value = outcome.ok ? undefined : outcome.problem;
    if (!outcome.ok) return;
    openedRuns.value = [...openedRuns.value, outcome.value];
    baseline.value = outcome.value.id;
    current.value ??= summary.value?.id;
    if (current.value === undefined && comparableRuns.value.length > 1) {
      current.value = comparableRuns.value.find(({ id }) => id !== outcome.value.id)?.id;
    }
  });
  await compare();
}

/** Compares the two chosen runs. */
export async function compare(): Promise<void> {
  // A run may have been deleted.
  const isThere = (run: string | undefined) => comparableRuns.value.some(({ id }) => id === run);
  for (const side of [baseline, current]) if (!isThere(side.value)) side.value = undefined;
  const [before, after] = [baseline.value, current.value];
  if (before === undefined || after === undefined || before === after) {
    compared.value = undefined;
    return;
  }
  isComparing.value = true;
  const isOpened = (id: string) => openedRuns.value.some((one) => one.id === id);
  const release = hold([before, after]);
  for (const id of [before, after]) if (!isOpened(id)) await isLoaded(id);
  const outcome = await engine.compare(before, after).finally(release);
  await unloadOthers();
  if (before !== baseline.value || after !== current.value) return;
  batch(() => {
    isComparing.value = false;
    compared.value = outcome.ok ? outcome.value : undefined;
    problem.value = outcome.ok ? undefined : outcome.problem;
  });
}

/** Loads more changed cases of an evalset. */
export async function showMore(set: number): Promise<void> {
  const comparison = compared.value;
  const shownSet = comparison?.sets[set];
  if (comparison === undefined || shownSet === undefined) return;
  const outcome = await engine.comparedCases(set, shownSet.cases.length, 400);
  if (!outcome.ok || compared.value !== comparison) return;
  const longer = { ...shownSet, cases: [...shownSet.cases, ...outcome.value] };
  compared.value = { ...comparison, sets: comparison.sets.with(set, longer) };
}
