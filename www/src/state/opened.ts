/** Opens results that exist already. */

import { signal } from "@preact/signals";
import { goTo } from "../route.js";
import { engine } from "../worker/client.js";
import { countsOf } from "../worker/counts.js";
import { baseline } from "./compare.js";
import type { Source } from "./inputs.js";
import { open, problem } from "./run.js";
import { addRuns, nameRun } from "./runs.js";

/** How many older results were opened beside a run, and which. */
export const older = signal<{ run: string; count: number } | undefined>(undefined);

/**
 * Opens results as they are; older ones of the same evalsets become runs to compare them with.
 *
 * @param isShown Whether they are shown at once, or only listed among the runs.
 * @returns The id of the run; nothing if they cannot be read.
 */
export async function openResultFiles(files: readonly Source[], isShown = true): Promise<string | undefined> {
  const outcome = await engine.openResults(files.map(({ name, bytes }) => ({ name, bytes })));
  if (!outcome.ok) {
    problem.value = outcome.problem;
    return undefined;
  }
  const { run, earlier } = outcome.value;
  const name = [...new Set(run.sets.map((set) => set.name))].join(", ");
  addRuns(earlier.toReversed());
  if (!isShown) {
    addRuns([{ ...countsOf(run, run.verdicts), name }]);
    return run.id;
  }
  baseline.value = earlier[0]?.id;
  nameRun(run.id, name);
  older.value = { run: run.id, count: earlier.length };
  open(run);
  goTo("results");
  return run.id;
}
