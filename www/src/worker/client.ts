/** The page's end of the worker. */

import { proxy, wrap } from "comlink";
import type { Engine, Job, RunEvent } from "./protocol.js";

const remote = wrap<Engine>(new Worker(new URL("./engine.ts", import.meta.url), { type: "module", name: "engine" }));

/** The engine, in its worker. */
export const engine = {
  run: (job: Job, on: (event: RunEvent) => void) => remote.run(job, proxy(on)),
  cancel: () => remote.cancel(),
  withThresholds: (run: string, thresholds: Record<string, number>) => remote.withThresholds(run, thresholds),
  caseAt: (run: string, row: number) => remote.caseAt(run, row),
  questionsAt: (run: string, row: number) => remote.questionsAt(run, row),
  matchingsAt: (run: string, row: number) => remote.matchingsAt(run, row),
};
