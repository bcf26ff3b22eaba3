/** The runs that can be compared, the two chosen ones, and their comparison. */

import { batch, effect, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { Compared, ComparableRun, NamedFile, Problem } from "../worker/protocol.js";
import { summary, runProgress } from "./run.js";

/** Runs of this page and results from files, in the order in which they were added. */
export const comparableRuns = signal<readonly ComparableRun[]>([]);

export const baseline = signal<string | undefined>(undefined);
export const current = signal<string | undefined>(undefined);

export const compared = signal<Compared | undefined>(undefined);

/** Why there is no comparison. */
export const problem = signal<Problem | undefined>(undefined);

/** The runs of this page, by id. */
const ownRuns = new Set<string>();

/** The names of runs that are not added to `comparableRuns` yet, by id. */
const pendingNames = new Map<string, string>();
let adding: Promise<void> = Promise.resolve();

/** Whether runs are being compared. */
export const isComparing = signal(false);

// Every finished run can be compared, under the name that it has already if it was opened. The first one is the baseline
// of later ones with which it shares an evalset.
effect(() => {
  const run = summary.value;
  if (run === undefined || runProgress.value !== undefined) return;
  addOwnRun(run.id, `Run ${ownRuns.size + 1}`);
  // A single run cannot be compared, so it is not added yet: the worker stays free for moving thresholds.
  if (ownRuns.size > 1 || comparableRuns.peek().length > 0) void allRunsAdded();
});

/** Makes a run of the page one that can be compared, once there are others. */
export function addOwnRun(run: string, name: string): void {
  if (ownRuns.has(run)) return;
  ownRuns.add(run);
  pendingNames.set(run, name);
}

/** Adds every finished run; resolves when they can be compared. */
export function allRunsAdded(): Promise<void> {
  adding = adding.then(async () => {
    for (const [run, name] of pendingNames) {
      pendingNames.delete(run);
      await addRun(run, name);
    }
  });
  return adding;
}

async function addRun(run: string, name: string): Promise<void> {
  const outcome = await engine.comparableRun(run, name);
  if (!outcome.ok) return;
  batch(() => {
    const before = comparableRuns.value.find(({ id }) => id === baseline.value);
    const sharesEvalSet = (one: ComparableRun) => haveCommonEvalSet(one, outcome.value);
    if (before === undefined || !sharesEvalSet(before)) {
      baseline.value = comparableRuns.value.findLast(sharesEvalSet)?.id;
    }
    comparableRuns.value = [...comparableRuns.value, outcome.value];
    current.value = run;
    problem.value = undefined;
  });
  await compare();
}

function haveCommonEvalSet(one: ComparableRun, other: ComparableRun): boolean {
  const ids = new Set(one.sets.map(({ evalSetId }) => evalSetId));
  return other.sets.some(({ evalSetId }) => ids.has(evalSetId));
}

/** Opens evalset results from files and makes them the baseline. */
export async function openResults(files: NamedFile[]): Promise<void> {
  await allRunsAdded();
  const outcome = await engine.addResults(files);
  batch(() => {
    problem.value = outcome.ok ? undefined : outcome.problem;
    if (!outcome.ok) return;
    comparableRuns.value = [...comparableRuns.value, outcome.value];
    baseline.value = outcome.value.id;
    if (current.value === undefined && comparableRuns.value.length > 1) {
      current.value = comparableRuns.value.find(({ id }) => id !== outcome.value.id)?.id;
    }
  });
  await compare();
}

/** Compares the two chosen runs. */
export async function compare(): Promise<void> {
  const [before, after] = [baseline.value, current.value];
  if (before === undefined || after === undefined || before === after) {
    compared.value = undefined;
    return;
  }
  isComparing.value = true;
  await Promise.all([before, after].map(refreshCounts));
  const outcome = await engine.compare(before, after);
  if (before !== baseline.value || after !== current.value) return;
  batch(() => {
    isComparing.value = false;
    compared.value = outcome.ok ? outcome.value : undefined;
    problem.value = outcome.ok ? undefined : outcome.problem;
  });
}

/** Counts the verdicts of a run of this page again, since its thresholds may have changed. */
async function refreshCounts(run: string): Promise<void> {
  const name = comparableRuns.value.find(({ id }) => id === run)?.name;
  if (name === undefined || !ownRuns.has(run)) return;
  const outcome = await engine.comparableRun(run, name);
  if (outcome.ok) comparableRuns.value = comparableRuns.value.map((one) => (one.id === run ? outcome.value : one));
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
