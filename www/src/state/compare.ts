/** The runs that can be compared, the two that are, and how they differ. */

import { batch, effect, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { Compared, Contender, NamedFile, Problem } from "../worker/protocol.js";
import { summary, underWay } from "./run.js";

/** Runs of this page and results from files, in the order in which they came. */
export const contenders = signal<readonly Contender[]>([]);

export const baseline = signal<string | undefined>(undefined);
export const current = signal<string | undefined>(undefined);

export const compared = signal<Compared | undefined>(undefined);

/** Why there is no comparison. */
export const problem = signal<Problem | undefined>(undefined);

/** The runs of this page, by id. */
const known = new Set<string>();

/** The names of runs that are not among the contenders yet, by their ids. */
const waiting = new Map<string, string>();
let keeping: Promise<void> = Promise.resolve();

/** Whether runs are being compared. */
export const isComparing = signal(false);

// Every run that is done can be compared; the first one is what later ones are compared with,
// if it has evalsets that they have.
effect(() => {
  const run = summary.value;
  if (run === undefined || underWay.value !== undefined || known.has(run.id)) return;
  known.add(run.id);
  waiting.set(run.id, `Run ${known.size}`);
  // A run alone has nothing to be compared with, and the worker has better things to do: thresholds are moved.
  if (known.size > 1 || contenders.peek().length > 0) void allKept();
});

/** Resolves when every run that is done can be compared. */
export function allKept(): Promise<void> {
  keeping = keeping.then(async () => {
    for (const [run, name] of waiting) {
      waiting.delete(run);
      await keep(run, name);
    }
  });
  return keeping;
}

async function keep(run: string, name: string): Promise<void> {
  const outcome = await engine.contenderOf(run, name);
  if (!outcome.ok) return;
  batch(() => {
    const before = contenders.value.find(({ id }) => id === baseline.value);
    const isRelated = (one: Contender) => haveCommon(one, outcome.value);
    if (before === undefined || !isRelated(before)) {
      baseline.value = contenders.value.findLast(isRelated)?.id;
    }
    contenders.value = [...contenders.value, outcome.value];
    current.value = run;
    problem.value = undefined;
  });
  await compare();
}

function haveCommon(one: Contender, other: Contender): boolean {
  const ids = new Set(one.sets.map(({ evalSetId }) => evalSetId));
  return other.sets.some(({ evalSetId }) => ids.has(evalSetId));
}

/** Opens evalset results to compare with; they become the baseline. */
export async function openResults(files: NamedFile[]): Promise<void> {
  await allKept();
  const outcome = await engine.addResults(files);
  batch(() => {
    problem.value = outcome.ok ? undefined : outcome.problem;
    if (!outcome.ok) return;
    contenders.value = [...contenders.value, outcome.value];
    baseline.value = outcome.value.id;
    if (current.value === undefined && contenders.value.length > 1) {
      current.value = contenders.value.find(({ id }) => id !== outcome.value.id)?.id;
    }
  });
  await compare();
}

/** Compares the two runs that are chosen. */
export async function compare(): Promise<void> {
  const [before, after] = [baseline.value, current.value];
  if (before === undefined || after === undefined || before === after) {
    compared.value = undefined;
    return;
  }
  isComparing.value = true;
  await Promise.all([before, after].map(countAnew));
  const outcome = await engine.compare(before, after);
  if (before !== baseline.value || after !== current.value) return;
  batch(() => {
    isComparing.value = false;
    compared.value = outcome.ok ? outcome.value : undefined;
    problem.value = outcome.ok ? undefined : outcome.problem;
  });
}

/** Thresholds may have moved since a run of this page was counted. */
async function countAnew(run: string): Promise<void> {
  const name = contenders.value.find(({ id }) => id === run)?.name;
  if (name === undefined || !known.has(run)) return;
  const outcome = await engine.contenderOf(run, name);
  if (outcome.ok) contenders.value = contenders.value.map((one) => (one.id === run ? outcome.value : one));
}

/** Gets more of the cases that are not as they were. */
export async function showMore(set: number): Promise<void> {
  const known = compared.value;
  const shown = known?.sets[set];
  if (known === undefined || shown === undefined) return;
  const outcome = await engine.comparedCases(set, shown.cases.length, 400);
  if (!outcome.ok || compared.value !== known) return;
  const longer = { ...shown, cases: [...shown.cases, ...outcome.value] };
  compared.value = { ...known, sets: known.sets.with(set, longer) };
}
