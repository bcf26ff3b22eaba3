/** Opens results that exist already. */

import { signal } from "@preact/signals";
import { goTo } from "../route.js";
import { engine } from "../worker/client.js";
import { baseline } from "./compare.js";
import type { Source } from "./inputs.js";
import { open, problem } from "./run.js";
import { addRuns, nameRun } from "./runs.js";

/** How many older results were opened beside a run, and which. */
export const older = signal<{ run: string; count: number } | undefined>(undefined);

/** Shows results as they are; older ones of the same evalsets become runs to compare them with. */
export async function openResultFiles(files: readonly Source[]): Promise<void> {
  const outcome = await engine.openResults(files.map(({ name, bytes }) => ({ name, bytes })));
  if (!outcome.ok) {
    problem.value = outcome.problem;
    return;
  }
  const { run, earlier } = outcome.value;
  addRuns(earlier.toReversed());
  baseline.value = earlier[0]?.id;
  nameRun(run.id, [...new Set(run.sets.map(({ name }) => name))].join(", "));
  older.value = { run: run.id, count: earlier.length };
  open(run);
  goTo("results");
}
