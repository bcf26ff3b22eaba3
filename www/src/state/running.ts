/** Starts the run for the current inputs, and stores these until it is finished. */

import { signal } from "@preact/signals";
import { goTo, route } from "../route.js";
import type { Screen } from "../screens/table.js";
import { configChecked } from "./config.js";
import { currentJob, runBlocker } from "./job.js";
import { problem, start, summary, runProgress } from "./run.js";
import { markFinished, saveRun, restoreInputs } from "./saved.js";

/** When the current run started, in milliseconds since 1970. */
export const startedAt = signal<number | undefined>(undefined);

/** How long the last run took, in milliseconds. */
export const durationMs = signal<number | undefined>(undefined);

/** Makes the run; resolves with whether there are results to show. */
async function runNow(): Promise<boolean> {
  if (runProgress.value !== undefined) return false;
  await configChecked();
  const job = await currentJob();
  if (!job.ok) {
    problem.value = job.problem;
    return false;
  }
  startedAt.value = Date.now();
  const began = performance.now();
  const running = start(job.value);
  // Not awaited: it is only needed if the page is closed during the run.
  void saveRun();
  const done = await running;
  durationMs.value = performance.now() - began;
  startedAt.value = undefined;
  void markFinished();
  return done;
}

/**
 * Makes the run and shows its results, unless the user stopped it or left the screen meanwhile.
 *
 * @param screen The screen on which the user waits for the run.
 */
export async function runAndShow(screen: Screen = "run"): Promise<void> {
  if (screen === "run") goTo(screen);
  const isDone = await runNow();
  const isCancelled = summary.value?.sets.some(({ cancelled }) => cancelled === true) === true;
  if (isDone && !isCancelled && route.value.screen === screen) goTo("results");
}

/** Resumes the interrupted run; if something is missing, such as a key, shows where to enter it. */
export async function resume(): Promise<void> {
  if (!(await restoreInputs())) return;
  await configChecked();
  if (runBlocker.value !== undefined) {
    goTo(runBlocker.value.screen);
    return;
  }
  await runAndShow();
}
