/** Several runs side by side: which, their verdicts, and which cases are shown. */

import { batch, computed, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { Matrix, RunReliability } from "../worker/protocol.js";
import { hold, isLoaded, keptRuns, type RunEntry, unloadOthers } from "./runs.js";
import { summary } from "./run.js";

/** How many runs are chosen at first. */
const MAX_CHOSEN_AT_FIRST = 5;

/** The ids of the chosen runs; undefined until the user chooses. */
const chosen = signal<ReadonlySet<string> | undefined>(undefined);

/** The runs side by side, in the order in which they were made. */
export const shownRuns = computed<readonly RunEntry[]>(() => {
  const runs = keptRuns.value;
  const ids = chosen.value;
  if (ids !== undefined) return runs.filter(({ id }) => ids.has(id));
  const of = runs.find(({ id }) => id === summary.value?.id) ?? runs.at(-1);
  const evalSets = new Set(of?.sets.map(({ evalSetId }) => evalSetId));
  const related = runs.filter(({ sets }) => sets.some(({ evalSetId }) => evalSets.has(evalSetId)));
  return related.slice(-MAX_CHOSEN_AT_FIRST);
});

/** What tells a run from those beside it: its config and its judges, where others have other ones. */
export function differences(run: RunEntry, beside: readonly RunEntry[]): string[] {
  return (["configs", "judges"] as const).flatMap((key) => {
    const isEqual = beside.every((other) => String(other[key] ?? []) === String(run[key] ?? []));
    return isEqual || run[key] === undefined ? [] : [run[key].join(", ")];
  });
}

/** Chooses a run, or does not any more. */
export function chooseRun(id: string, isChosen: boolean): void {
  const ids = new Set(shownRuns.value.map((run) => run.id));
  if (isChosen) ids.add(id);
  else ids.delete(id);
  chosen.value = ids;
}

/** The verdicts of the runs that `of` names; runs whose results are gone are left out. */
export const matrix = signal<(Matrix & { of: readonly RunEntry[] }) | undefined>(undefined);

/** How reliable the agent was, by run. */
export const reliabilities = signal<ReadonlyMap<string, RunReliability>>(new Map());

/** Why runs cannot be shown. */
export const problem = signal<string | undefined>(undefined);

/** Brings the chosen runs side by side, and keeps them in the worker until what it returns is called. */
export function showMatrix(): () => void {
  const runs = shownRuns.value;
  let isCurrent = true;
  const release = hold(runs.map(({ id }) => id));
  void load(runs, () => isCurrent);
  return () => {
    isCurrent = false;
    release();
  };
}

async function load(wanted: readonly RunEntry[], isCurrent: () => boolean): Promise<void> {
  const there: RunEntry[] = [];
  for (const run of wanted) if (await isLoaded(run.id)) there.push(run);
  const outcome = await engine.matrix(there.map(({ id }) => id));
  if (!isCurrent()) return;
  const gone = wanted.filter((run) => !there.includes(run)).map(({ name }) => name);
  batch(() => {
    matrix.value = outcome.ok ? { ...outcome.value, of: there } : undefined;
    problem.value = !outcome.ok
      ? outcome.problem.message
      : gone.length === 0
        ? undefined
        : `The results of ${gone.join(", ")} are no longer in this browser.`;
  });
  for (const { id } of there) {
    const found = await engine.reliability(id);
    if (!isCurrent()) return;
    if (found.ok) reliabilities.value = new Map(reliabilities.value).set(id, found.value);
  }
  await unloadOthers();
}

/** Whether the cases are of several evalsets. */
export const areOfSeveral = computed(() => new Set(matrix.value?.evalSetIds).size > 1);

export type MatrixFilter = "all" | "differ" | "flaky" | "failed";

export const matrixFilter = signal<MatrixFilter>("all");
export const matrixQuery = signal("");

/** How the repetitions of a case ended in a run. */
export interface Cell {
  passed: number;
  failed: number;
  open: number;
}

export function cellAt({ counts, of }: NonNullable<typeof matrix.value>, row: number, run: number): Cell {
  const from = 3 * (row * of.length + run);
  const [passed = 0, failed = 0, open = 0] = counts.subarray(from, from + 3);
  return { passed, failed, open };
}

/** Whether a case belongs to what a filter shows. */
function matchesFilter(filter: MatrixFilter, cells: readonly Cell[]): boolean {
  switch (filter) {
    case "all":
      return true;
    case "failed":
      return cells.some(({ failed }) => failed > 0);
    case "flaky":
      return cells.some(({ passed, failed }) => passed > 0 && failed > 0);
    case "differ":
      return new Set(cells.map(verdictOf)).size > 1;
  }
}

function verdictOf({ passed, failed, open }: Cell): string {
  if (passed + failed + open === 0) return "absent";
  if (failed > 0) return passed > 0 ? "flaky" : "failed";
  return passed > 0 ? "passed" : "open";
}

/** The cases of each filter, without the search. */
const filtered = computed<Readonly<Record<MatrixFilter, readonly number[]>>>(() => {
  const found: Record<MatrixFilter, number[]> = { all: [], differ: [], flaky: [], failed: [] };
  const now = matrix.value;
  for (let row = 0; row < (now?.evalIds.length ?? 0); row += 1) {
    const cells = (now?.of ?? []).map((_, run) => cellAt(now as NonNullable<typeof now>, row, run));
    for (const filter of Object.keys(found) as MatrixFilter[])
      if (matchesFilter(filter, cells)) found[filter].push(row);
  }
  return found;
});

/** How many cases each filter shows. */
export const filterCounts = computed(
  () =>
    Object.fromEntries(Object.entries(filtered.value).map(([filter, rows]) => [filter, rows.length])) as Record<
      MatrixFilter,
      number
    >,
);

/** The rows of the cases that are shown. */
export const shownCases = computed<readonly number[]>(() => {
  const words = matrixQuery.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = filtered.value[matrixFilter.value];
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const id = (matrix.value?.evalIds[row] ?? "").toLowerCase();
    return words.every((word) => id.includes(word));
  });
});
