/**
 * The runs of this browser: each finished run is kept under a name until it is deleted. The page has their names and counts;
 * their results are in the worker, or in the browser's storage until they are needed.
 */

import { batch, effect, signal } from "@preact/signals";
import { addressText } from "../route.js";
import { engine } from "../worker/client.js";
import { countsOf } from "../worker/counts.js";
import type { ComparableRun } from "../worker/protocol.js";
import { forgetLabels } from "./labels.js";
import { open, restoreThresholds, runProgress, summary, thresholds, verdicts } from "./run.js";
import { titleOf } from "../ui/set-label.js";
import { load, remove, store } from "./storage.js";
import { keptRunIn, runEntriesIn } from "./stored-values.js";

/** A run that is kept. */
export interface RunEntry extends ComparableRun {
  /** The thresholds that were moved since it was scored. */
  thresholds: readonly (readonly [metric: string, threshold: number])[];
}

/** The runs that are kept, in the order in which they were made or opened. */
export const keptRuns = signal<readonly RunEntry[]>([]);

/** The run that was deleted last, and its place, while it can be brought back. */
export const deletedRun = signal<{ entry: RunEntry; at: number; wasShown: boolean } | undefined>(undefined);

/** Why a run could not be opened. */
export const runProblem = signal<string | undefined>(undefined);

/** The runs whose results are in the worker, and how many cases they have; those used last come last. */
const loaded = new Map<string, number>();

/** The runs whose results are in the storage. */
const stored = new Set<string>();

/** The runs that were deleted here: another tab may still list them. */
const deleted = new Set<string>();

/** The most cases in the worker of runs that are not shown. */
const MAX_LOADED_CASES = 10_000;

// A run that is finished is kept, and counted again when its thresholds are moved.
effect(() => {
  const [run, now] = [summary.value, verdicts.value];
  if (run === undefined || now === undefined || runProgress.value !== undefined) return;
  const moved = [...thresholds.value];
  const known = keptRuns.peek().find(({ id }) => id === run.id);
  loaded.delete(run.id);
  loaded.set(run.id, run.evalIds.length);
  put({ ...countsOf(run, now), name: known?.name ?? names.get(run.id) ?? unusedName(), thresholds: moved });
});

/** The names of runs that are not listed yet. */
const names = new Map<string, string>();

/** Names a run that is about to be opened. */
export function nameRun(run: string, name: string): void {
  names.set(run, name);
}

/** What an evalset is called, by what the runs know of it. */
export function evalSetTitle(evalSetId: string): string {
  const sets = keptRuns.value.flatMap((run) => run.sets);
  return titleOf(sets.find((set) => set.evalSetId === evalSetId && set.name !== undefined) ?? { evalSetId });
}

/** Lists runs that the worker has, and that are not shown. */
export function addRuns(runs: readonly ComparableRun[]): void {
  for (const run of runs) {
    loaded.set(run.id, casesOf(run));
    put({ ...run, thresholds: [] });
  }
}

function put(entry: RunEntry): void {
  const before = keptRuns.peek();
  const at = before.findIndex(({ id }) => id === entry.id);
  keptRuns.value = at < 0 ? [...before, entry] : before.with(at, entry);
}

/** “Run 3”, if there are a first and a second. */
function unusedName(): string {
  const numbers = keptRuns.peek().map(({ name }) => Number(/^Run (\d+)$/.exec(name)?.[1] ?? 0));
  return `Run ${Math.max(0, ...numbers) + 1}`;
}

function casesOf({ sets }: ComparableRun): number {
  return sets.reduce((sum, { total }) => sum + total, 0);
}

// ---- showing

/** Shows a run. */
export async function showRun(id: string): Promise<void> {
  const entry = keptRuns.value.find((one) => one.id === id);
  if (entry === undefined || runProgress.value !== undefined || summary.value?.id === id) return;
  const release = hold([id]);
  const outcome = (await isLoaded(id)) ? await engine.runSummary(id) : undefined;
  release();
  if (!outcome?.ok) {
    const why = outcome?.problem.message ?? "its results are no longer in this browser";
    runProblem.value = `“${entry.name}” cannot be opened: ${why}.`;
    return;
  }
  runProblem.value = undefined;
  open(outcome.value);
  await restoreThresholds(new Map(entry.thresholds));
  await unloadOthers();
}

/** Brings the results of a run into the worker; resolves with whether they are there. */
export async function isLoaded(id: string): Promise<boolean> {
  if (loaded.has(id)) return true;
  const entry = keptRuns.value.find((one) => one.id === id);
  const kept = keptRunIn(await load(keyOf(id)));
  if (entry === undefined || kept === undefined) return false;
  const outcome = await engine.restoreRun(kept, id);
  if (!outcome.ok) return false;
  stored.add(id);
  loaded.set(id, outcome.value.evalIds.length);
  if (entry.thresholds.length > 0) await engine.withThresholds(id, new Map(entry.thresholds));
  return true;
}

/** The runs that are needed in the worker, besides the one that is shown. */
const inUse = new Set<readonly string[]>();

/** Keeps runs in the worker. Call it before they are loaded, and what it returns when they are no longer needed. */
export function hold(ids: readonly string[]): () => void {
  const held = [...ids];
  inUse.add(held);
  return () => inUse.delete(held);
}

/** Takes runs that are stored and not needed out of the worker, those first that were not used for longest. */
export async function unloadOthers(): Promise<void> {
  for (;;) {
    // Whatever is needed may change while one is taken out.
    const needed = new Set([summary.value?.id, ...[...inUse].flat()]);
    const others = [...loaded].filter(([id]) => !needed.has(id));
    const first = others.find(([id]) => stored.has(id))?.[0];
    if (first === undefined || others.reduce((sum, [, count]) => sum + count, 0) <= MAX_LOADED_CASES) return;
    loaded.delete(first);
    await engine.forgetRun(first);
  }
}

// ---- changing

export function renameRun(id: string, name: string): void {
  const trimmed = name.trim();
  if (trimmed === "") return;
  keptRuns.value = keptRuns.value.map((entry) => (entry.id === id ? { ...entry, name: trimmed } : entry));
}

/** Deletes a run, which can be brought back until the next one is deleted or the page is left. */
export function deleteRun(id: string): void {
  const at = keptRuns.value.findIndex((entry) => entry.id === id);
  const entry = keptRuns.value[at];
  if (entry === undefined) return;
  const wasShown = summary.value?.id === id;
  const rest = keptRuns.value.toSpliced(at, 1);
  const next = rest[Math.min(at, rest.length - 1)];
  deleted.add(id);
  batch(() => {
    keptRuns.value = rest;
    deletedRun.value = { entry, at, wasShown };
    if (wasShown) [summary.value, verdicts.value, thresholds.value] = [undefined, undefined, new Map()];
  });
  if (wasShown && next !== undefined) void showRun(next.id);
}

/** Brings back the run that was deleted last. */
export async function undeleteRun(): Promise<void> {
  if (deletedRun.value === undefined) return;
  const { entry, at, wasShown } = deletedRun.value;
  deleted.delete(entry.id);
  batch(() => {
    keptRuns.value = keptRuns.value.toSpliced(at, 0, entry);
    deletedRun.value = undefined;
  });
  if (wasShown) await showRun(entry.id);
}

// ---- storing

const keyOf = (id: string) => `run/${id}`;

/** Stores what is new of the runs. Call it within `enqueue`. */
export async function saveRuns(isCurrent: () => boolean): Promise<void> {
  for (const { id } of keptRuns.value) {
    if (stored.has(id) || !loaded.has(id)) continue;
    const kept = await engine.keepRun(id);
    if (!isCurrent()) return;
    if (!kept.ok) continue;
    await store(keyOf(id), kept.value);
    stored.add(id);
  }
  // Another tab may have kept runs meanwhile.
  const own = keptRuns.value;
  const others = runEntriesIn(await load("runs")).filter(
    ({ id }) => !deleted.has(id) && !own.some((entry) => entry.id === id),
  );
  if (!isCurrent()) return;
  await store("runs", [...others, ...own]);
  await unloadOthers();
  await store("shown", summary.value?.id);
  const held = deletedRun.value?.entry.id;
  for (const id of deleted) {
    if (id === held) continue;
    deleted.delete(id);
    stored.delete(id);
    await remove(keyOf(id));
    await forgetLabels(id);
  }
}

/**
 * Lists the runs that were kept, and shows the one that was shown.
 *
 * @param showsLast Whether to show it.
 */
export async function restoreRuns(showsLast: boolean): Promise<void> {
  const entries = runEntriesIn(await load("runs"));
  const own = keptRuns.value;
  keptRuns.value = [...entries.filter(({ id }) => !own.some((entry) => entry.id === id)), ...own];
  const named = new URLSearchParams(addressText()).get("run");
  const isThere = keptRuns.value.some(({ id }) => id === named);
  if (showsLast && named !== null && !isThere) runProblem.value = "The run of this link is not in this browser.";
  const shown = isThere ? named : await load<unknown>("shown");
  const isFree = summary.value === undefined && runProgress.value === undefined;
  if (showsLast && isFree && typeof shown === "string") await showRun(shown);
}

/** Forgets all runs but the one that is shown. */
export function forgetRuns(): void {
  const shown = summary.value?.id;
  stored.clear();
  deletedRun.value = undefined;
  keptRuns.value = keptRuns.value.filter(({ id }) => id === shown);
}
