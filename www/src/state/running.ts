/** Starts the run that files, config and judge come to, and keeps it until it is done. */

import { signal } from "@preact/signals";
import { goTo, route } from "../route.js";
import type { Screen } from "../screens/table.js";
import { configChecked } from "./config.js";
import { currentJob, obstacle } from "./job.js";
import { problem, start, summary, runProgress } from "./run.js";
import { markFinished, saveRun, restoreRun } from "./saved.js";

/** When the run under way began, in milliseconds since 1970. */
export const startedAt = signal<number | undefined>(undefined);

/** When the last run ended, and how long it took in milliseconds. */
export const durationMs = signal<number | undefined>(undefined);

/** Makes the run; true if there are results to show. */
export async function runNow(): Promise<boolean> {
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
  // Nobody waits for what is only kept in case the page is closed.
  void saveRun();
  const done = await running;
  durationMs.value = performance.now() - began;
  startedAt.value = undefined;
  void markFinished();
  return done;
}

/**
 * Makes the run and shows its results, unless the user stopped it or is looking at something else by then.
 *
 * @param screen Where the user waits for it.
 */
export async function runAndShow(screen: Screen = "run"): Promise<void> {
  if (screen === "run") goTo(screen);
  const isDone = await runNow();
  const isCancelled = summary.value?.sets.some(({ cancelled }) => cancelled === true) === true;
  if (isDone && !isCancelled && route.value.screen === screen) goTo("results");
}

/** Takes up the run that was not finished: goes on at once if nothing is missing, such as a key. */
export async function resume(): Promise<void> {
  if (!(await restoreRun())) return;
  await configChecked();
  if (obstacle.value !== undefined) {
    goTo(obstacle.value.screen);
    return;
  }
  await runAndShow();
}
