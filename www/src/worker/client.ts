/** The worker as the page calls it. */

import { pageJudge } from "../state/browser-model.js";
import { connect } from "./calls.js";
import type { Engine, Job, Outcome, Page, RunEvent, RunSummary } from "./protocol.js";

let lastRun = 0;
/** The listeners of runs in progress, by run id. */
const listeners = new Map<number, (event: RunEvent) => void>();

const page: Page = {
  ...pageJudge,
  onRunEvent: (run, event) => listeners.get(run)?.(event),
};

/** The engine, in its worker. */
export const engine = connect<Engine>(
  new Worker(new URL("./engine.ts", import.meta.url), { type: "module", name: "engine" }),
  { ...page },
);

/** Makes a run and reports its progress. */
export async function run(job: Job, onEvent: (event: RunEvent) => void): Promise<Outcome<RunSummary>> {
  const id = (lastRun += 1);
  listeners.set(id, onEvent);
  try {
    return await engine.run(id, job);
  } finally {
    listeners.delete(id);
  }
}
