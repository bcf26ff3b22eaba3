/** The run that is shown: under way or done. */

import type { Progress } from "adk-metrics";
import { batch, signal } from "@preact/signals";
import { engine, run } from "../worker/client.js";
import type { Job, Problem, RunSummary, Verdicts } from "../worker/protocol.js";

/** How far the run under way is, by evalset; absent if none is. */
export const runProgress = signal<readonly (Progress | undefined)[] | undefined>(undefined);

/** How many requests left the page for which server since it was loaded. */
export const connections = signal<Readonly<Record<string, number>>>({});

/** The last run. While it is under way cases that are to come have the status 0. */
export const summary = signal<RunSummary | undefined>(undefined);

/** The verdicts of the last run under the thresholds of now. */
export const verdicts = signal<Verdicts | undefined>(undefined);

/** The thresholds that were changed since the run, by metric: a map, since metrics may have any name. */
export const thresholds = signal<ReadonlyMap<string, number>>(new Map());

/** Why the last run could not be made. */
export const problem = signal<Problem | undefined>(undefined);

/** Makes a run; true if there are results to show. */
export async function start(job: Job): Promise<boolean> {
  batch(() => {
    runProgress.value = job.pairs.map(() => undefined);
    problem.value = undefined;
  });
  const outcome = await run(job, (event) => {
    if (event.kind === "partial") {
      if (runProgress.value !== undefined) show(event.summary);
      return;
    }
    runProgress.value = runProgress.value?.with(event.set, event.progress);
    connections.value = event.connections;
  });
  const counts = await engine.connections();
  batch(() => {
    runProgress.value = undefined;
    connections.value = counts;
    if (outcome.ok) show(outcome.value);
    else problem.value = outcome.problem;
  });
  return outcome.ok;
}

/** Ends the run that is under way; what is scored by then stays. */
export function cancel(): void {
  void engine.cancel();
}

/** Shows a run that was not made here. */
export function open(run: RunSummary): void {
  problem.value = undefined;
  show(run);
}

function show(run: RunSummary): void {
  batch(() => {
    if (run.id !== summary.value?.id) thresholds.value = new Map();
    summary.value = run;
    verdicts.value = run.verdicts;
  });
  if (thresholds.value.size > 0) void decideWith(thresholds.value);
}

/** Gives a metric back the threshold of the run, or every metric. */
export async function resetThresholds(metric?: string): Promise<void> {
  const kept = new Map(metric === undefined ? [] : thresholds.value);
  if (metric !== undefined) kept.delete(metric);
  await decideWith(kept);
}

let requestedThresholds: ReadonlyMap<string, number> | undefined;
let isDeciding = false;

/** Changes a threshold; statuses follow. While one decision is being made, only the last of those asked for waits. */
export async function setThreshold(metric: string, value: number): Promise<void> {
  await decideWith(new Map(thresholds.value).set(metric, value));
}

async function decideWith(wantedThresholds: ReadonlyMap<string, number>): Promise<void> {
  const run = summary.value;
  if (run === undefined) return;
  thresholds.value = wantedThresholds;
  requestedThresholds = wantedThresholds;
  if (isDeciding) return;
  isDeciding = true;
  try {
    while (requestedThresholds !== undefined) {
      const now: ReadonlyMap<string, number> = requestedThresholds;
      requestedThresholds = undefined;
      const outcome = await engine.withThresholds(run.id, now);
      if (outcome.ok && summary.value?.id === run.id) verdicts.value = outcome.value;
    }
  } finally {
    isDeciding = false;
  }
}
