/** The page's end of the worker. */

import { pageJudge } from "../state/browser-model.js";
import { connected } from "./calls.js";
import type { Engine, Job, Outcome, Page, RunEvent, RunSummary } from "./protocol.js";

let runs = 0;
/** Who hears of the runs that are under way. */
const listeners = new Map<number, (event: RunEvent) => void>();

const page: Page = {
  ...pageJudge,
  heard: (run, event) => listeners.get(run)?.(event),
};

/** The engine, in its worker. */
export const engine = connected<Engine>(
  new Worker(new URL("./engine.ts", import.meta.url), { type: "module", name: "engine" }),
  { ...page },
);

/** Scores, and says how far it is. */
export async function run(job: Job, on: (event: RunEvent) => void): Promise<Outcome<RunSummary>> {
  const number = (runs += 1);
  listeners.set(number, on);
  try {
    return await engine.run(number, job);
  } finally {
    listeners.delete(number);
  }
}
