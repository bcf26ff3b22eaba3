/** The run that is shown, in progress or finished. */

import type { Progress } from "adk-metrics";
import { batch, signal } from "@preact/signals";
import { engine, run } from "../worker/client.js";
import type { Job, Problem, RunSummary, Verdicts } from "../worker/protocol.js";

/** The progress of the current run, by evalset; undefined if none is in progress. */
export const runProgress = signal<readonly (Progress | undefined)[] | undefined>(undefined);

/** The number of requests sent to each server since the page was loaded. */
export const connections = signal<Readonly<Record<string, number>>>({});

/** The last run. While it is in progress, cases that are not scored yet have the status 0. */
export const summary = signal<RunSummary | undefined>(undefined);

/** The verdicts of the last run with the current thresholds. */
export const verdicts = signal<Verdicts | undefined>(undefined);

/** The thresholds that were changed since the run, by metric. A map, since metrics may have any name. */
export const thresholds = signal<ReadonlyMap<string, number>>(new Map());

/** Why the last run failed. */
export const problem = signal<Problem | undefined>(undefined);

/** Makes a run; resolves with whether there are results to show. */
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

/** Stops the run in progress; the results so far stay. */
export function cancel(): void {
  void engine.cancel();
}

/** Shows a run from elsewhere. */
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

/** Resets the threshold of a metric, or of all metrics, to that of the run. */
export async function resetThresholds(metric?: string): Promise<void> {
  const kept = new Map(metric === undefined ? [] : thresholds.value);
  if (metric !== undefined) kept.delete(metric);
  await decideWith(kept);
}

/** Applies the thresholds that were set when the run was last shown. */
export async function restoreThresholds(kept: ReadonlyMap<string, number>): Promise<void> {
  if (kept.size > 0) await decideWith(kept);
}

let requestedThresholds: ReadonlyMap<string, number> | undefined;
let isDeciding = false;

/** Changes a threshold and updates the verdicts. While the worker computes verdicts, only the latest request waits. */
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
