/** The worker: holds the engine and the results of every run. */

import { connections, connectOnlyTo, givenUp } from "./connections.js";
import { evaluateStream, type EvaluatorOptions, indexedDbCache, init, type EvalSetResult } from "adk-metrics/web";
import { readableActual } from "./actual.js";
import { connect, type Endpoint, transfer } from "./calls.js";
import { PartialResults } from "./partial-results.js";
import { judgeOf, originsOf } from "./judges.js";
import { partsOf } from "./parts.js";
import { preparation } from "./preparation.js";
import { uniqueName } from "../ui/unique.js";
import { outcomeOf } from "./problems.js";
import type { Engine, Job, Outcome, Page, RunEvent, RunSummary, Verdicts } from "./protocol.js";
import { baseName } from "./inspection.js";
import { definedProperties, Run, type ScoredSet } from "./runs.js";

const ready = init();
const runs = new Map<string, Run>();
let activeRun: AbortController | undefined;

const engine: Engine = {
  ...preparation(ready),
  ...partsOf({
    ready,
    resultsOf: (run) => runById(run).results,
    runOf: (run) => runs.get(run),
    keep: (sets, id = uniqueName()) => {
      const run = new Run(id, sets);
      runs.set(run.id, run);
      return run.summary();
    },
    forget: (run) => void runs.delete(run),
  }),

  run: async (eventId, job) => {
    const outcome = await outcomeOf(async () => {
      await ready;
      activeRun?.abort();
      const controller = new AbortController();
      activeRun = controller;
      connectOnlyTo(originsOf(job.judge, job.service));
      const id = uniqueName();
      const sets: ScoredSet[] = [];
      const keep = (now: readonly ScoredSet[]): RunSummary => {
        const run = new Run(id, now, runs.get(id)?.thresholds);
        runs.set(id, run);
        return run.summary();
      };
      for (const [set, pair] of job.pairs.entries()) {
        const { evalSet, actual } = pair;
        const file = definedProperties({ name: evalSet.name, path: evalSet.path, config: job.configName }) as Pick<
          ScoredSet,
          "name" | "path" | "config"
        >;
        const partialResults = new PartialResults(pair, job.dialect);
        const source = {
          evalSet: evalSet.bytes,
          evalSetName: baseName(file.name),
          actual: await readableActual(actual.bytes),
          config: job.config,
          ...definedProperties({ dialect: job.dialect, earlyStop: job.earlyStop }),
        };
        const partial = new Throttled(PARTIAL_MS, () => {
          const summary = keep([...sets, { ...file, source, result: partialResults.result() }]);
          void page.onRunEvent(eventId, transfer({ kind: "partial", summary }, columnBuffers(summary)));
        });
        const progress = new Throttled(PROGRESS_MS, (event: RunEvent) => void page.onRunEvent(eventId, event));
        const results = evaluateStream({
          ...source,
          signal: controller.signal,
          onProgress: (now) => progress.call({ kind: "progress", set, progress: now, connections: connections() }),
          ...optionsOf(job),
          ...definedProperties({ judge: judgeOf(job.judge, page), vertex: job.service }),
        });
        const result = await drain(results, (one) => {
          partialResults.add(one);
          partial.call();
        }).finally(() => {
          partial.cancel();
          progress.cancel();
        });
        // Settings of judges are those of the page, whatever is scored.
        if (result.warnings !== undefined) result.warnings = result.warnings.filter(({ path }) => path !== "options");
        if (givenUp().length > 0) {
          const message = `${givenUp().join(" and ")} was not asked again: its first answers left no hope for others`;
          result.warnings = [...(result.warnings ?? []), { code: "judge_failed", message, path: "judge" }];
        }
        sets.push({ ...file, source, result });
        if (controller.signal.aborted) break;
      }
      return keep(sets);
    });
    return withTransfer(outcome, columnBuffers);
  },

  testJudge: (choice, model) =>
    outcomeOf(async () => {
      await ready;
      connectOnlyTo(originsOf(choice));
      const { answerOf } = await import("./judge-test.js");
      return answerOf(judgeOf(choice, page), model);
    }),

  cancel: () => activeRun?.abort(),

  connections,

  withThresholds: async (id, thresholds) =>
    withTransfer(await outcomeOf(() => runById(id).setThresholds(thresholds)), verdictBuffers),

  caseAt: (id, row) =>
    outcomeOf(async () => {
      const content = runById(id).caseAt(row);
      if (content === undefined) throw new RangeError(`The run has no case ${row}.`);
      return (await import("./case-details.js")).withDetails(content);
    }),

  changesIn: (pairs) => outcomeOf(async () => (await import("./case-details.js")).changesIn(pairs)),

  questionsAt: (id, row) => outcomeOf(() => runById(id).questionsAt(row)),

  matchingsAt: (id, row) => outcomeOf(() => runById(id).matchingsAt(row)),
};

/** The shortest intervals between two messages to the page about a run in progress, in milliseconds. */
const PROGRESS_MS = 100;
const PARTIAL_MS = 500;

/** Throttles a callback: it is called at most once per interval, with the latest arguments. */
class Throttled<A extends unknown[]> {
  readonly #intervalMs: number;
  readonly #callback: (...args: A) => void;
  #last = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #args: A | undefined;

  constructor(intervalMs: number, callback: (...args: A) => void) {
    this.#intervalMs = intervalMs;
    this.#callback = callback;
  }

  call(...args: A): void {
    this.#args = args;
    this.#timer ??= setTimeout(() => this.#flush(), Math.max(0, this.#last + this.#intervalMs - performance.now()));
  }

  /** Drops the pending call, if there is one. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #flush(): void {
    this.#timer = undefined;
    this.#last = performance.now();
    if (this.#args !== undefined) this.#callback(...this.#args);
  }
}

function columnBuffers({ scores, verdicts }: RunSummary): Transferable[] {
  return [scores.buffer, ...verdictBuffers(verdicts)];
}

function verdictBuffers({ cases, metrics }: Verdicts): Transferable[] {
  return [cases.buffer, metrics.buffer];
}

/** An outcome whose columns are transferred to the page. */
function withTransfer<T>(outcome: Outcome<T>, buffersOf: (value: T) => Transferable[]): Outcome<T> {
  return outcome.ok ? transfer(outcome, buffersOf(outcome.value)) : outcome;
}

function optionsOf(job: Job): EvaluatorOptions {
  const { concurrency, budget, cacheName } = job;
  const cache = cacheName === undefined ? undefined : indexedDbCache(cacheName);
  return definedProperties({ concurrency, budget, cache });
}

async function drain(
  results: ReturnType<typeof evaluateStream>,
  onResult: (result: EvalSetResult["evalCaseResults"][number]) => void,
): Promise<EvalSetResult> {
  for (;;) {
    const { done, value } = await results.next();
    if (done === true) return value;
    onResult(value);
  }
}

function runById(id: string): Run {
  const run = runs.get(id);
  if (run === undefined) throw new RangeError("This run is no longer there. Start it again.");
  return run;
}

const page = connect<Page>(self as unknown as Endpoint, { ...engine });
