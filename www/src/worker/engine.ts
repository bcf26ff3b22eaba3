/** The worker: holds the engine and the results of every run. */

import { connections, connectOnlyTo } from "./connections.js";
import { evaluateStream, type EvaluatorOptions, indexedDbCache, init, type EvalSetResult } from "adk-metrics/web";
import { connected, type End, moving } from "./calls.js";
import { Growing } from "./growing.js";
import { judgeOf, originsOf } from "./judges.js";
import { partsOf } from "./parts.js";
import { preparation } from "./preparation.js";
import { outcomeOf } from "./problems.js";
import type { Engine, Job, Outcome, Page, RunEvent, RunSummary, Verdicts } from "./protocol.js";
import { baseName } from "./reading.js";
import { present, Run, type ScoredSet } from "./runs.js";
import { readable } from "./traces.js";

const ready = init();
const runs = new Map<string, Run>();
let underWay: AbortController | undefined;

const engine: Engine = {
  ...preparation(ready),
  ...partsOf({
    ready,
    resultsOf: (run) => found(run).results,
    runOf: (run) => runs.get(run),
    keep: (sets) => {
      const run = new Run(crypto.randomUUID(), sets);
      runs.set(run.id, run);
      return run.summary();
    },
  }),

  run: async (number, job) => {
    const outcome = await outcomeOf(async () => {
      await ready;
      underWay?.abort();
      const controller = new AbortController();
      underWay = controller;
      connectOnlyTo(originsOf(job.judge, job.service));
      const id = crypto.randomUUID();
      const sets: ScoredSet[] = [];
      const keep = (now: readonly ScoredSet[]): RunSummary => {
        const run = new Run(id, now, runs.get(id)?.thresholds);
        runs.set(id, run);
        return run.summary();
      };
      for (const [set, pair] of job.pairs.entries()) {
        const { evalSet, actual } = pair;
        const { name } = evalSet;
        const growing = new Growing(pair, job.dialect);
        const source = {
          evalSet: evalSet.bytes,
          evalSetName: baseName(name),
          actual: await readable(actual.bytes),
          config: job.config,
          ...present({ dialect: job.dialect, earlyStop: job.earlyStop }),
        };
        const partial = new Paced(PARTIAL_MS, () => {
          const summary = keep([...sets, { name, source, result: growing.result() }]);
          void page.heard(number, moving({ kind: "partial", summary }, columnsOf(summary)));
        });
        const progress = new Paced(PROGRESS_MS, (event: RunEvent) => void page.heard(number, event));
        const results = evaluateStream({
          ...source,
          signal: controller.signal,
          onProgress: (now) => progress.call({ kind: "progress", set, progress: now, connections: connections() }),
          ...optionsOf(job),
          ...present({ judge: judgeOf(job.judge, page), vertex: job.service }),
        });
        const result = await drained(results, (one) => {
          growing.add(one);
          partial.call();
        }).finally(() => {
          partial.end();
          progress.end();
        });
        sets.push({ name, source, result });
        if (controller.signal.aborted) break;
      }
      return keep(sets);
    });
    return movingWith(outcome, columnsOf);
  },

  cancel: () => underWay?.abort(),

  connections,

  withThresholds: async (id, thresholds) =>
    movingWith(await outcomeOf(() => found(id).setThresholds(thresholds)), buffersOf),

  caseAt: (id, row) =>
    outcomeOf(() => {
      const result = found(id).caseAt(row);
      if (result === undefined) throw new RangeError(`The run has no case ${row}.`);
      return result;
    }),

  questionsAt: (id, row) => outcomeOf(() => found(id).questionsAt(row)),

  matchingsAt: (id, row) => outcomeOf(() => found(id).matchingsAt(row)),
};

/** How often the page hears of a run that is under way, in milliseconds. */
const PROGRESS_MS = 100;
const PARTIAL_MS = 500;

/** Work that is done at most so often, always with what it was last given. */
class Paced<A extends unknown[]> {
  readonly #ms: number;
  readonly #work: (...given: A) => void;
  #last = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #given: A | undefined;

  constructor(ms: number, work: (...given: A) => void) {
    this.#ms = ms;
    this.#work = work;
  }

  call(...given: A): void {
    this.#given = given;
    this.#timer ??= setTimeout(() => this.#do(), Math.max(0, this.#last + this.#ms - performance.now()));
  }

  /** Leaves out what waits. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #do(): void {
    this.#timer = undefined;
    this.#last = performance.now();
    if (this.#given !== undefined) this.#work(...this.#given);
  }
}

function columnsOf({ scores, verdicts }: RunSummary): Transferable[] {
  return [scores.buffer, ...buffersOf(verdicts)];
}

function buffersOf({ cases, metrics }: Verdicts): Transferable[] {
  return [cases.buffer, metrics.buffer];
}

/** An outcome whose columns move to the page. */
function movingWith<T>(outcome: Outcome<T>, of: (value: T) => Transferable[]): Outcome<T> {
  return outcome.ok ? moving(outcome, of(outcome.value)) : outcome;
}

function optionsOf(job: Job): EvaluatorOptions {
  const { concurrency, budget, cacheName } = job;
  const cache = cacheName === undefined ? undefined : indexedDbCache(cacheName);
  return present({ concurrency, budget, cache });
}

async function drained(
  results: ReturnType<typeof evaluateStream>,
  take: (result: EvalSetResult["evalCaseResults"][number]) => void,
): Promise<EvalSetResult> {
  for (;;) {
    const { done, value } = await results.next();
    if (done === true) return value;
    take(value);
  }
}

function found(id: string): Run {
  const run = runs.get(id);
  if (run === undefined) throw new RangeError("This run is no longer there. Start it again.");
  return run;
}

const page = connected<Page>(self as unknown as End, { ...engine });
