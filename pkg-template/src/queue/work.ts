import type { Job } from "bullmq";
import { type Subject, subjectOf } from "../agents/adapters.js";
import { checkPositive } from "../agents/run.js";
import { isAdkMetricsError } from "../errors.js";
import { definedProperties } from "../lists.js";
import { optionsOf } from "../known-options.js";
import type { JournaledFailure, JournaledRun } from "../journal/section.js";
import type { EvalSetResult, JournalEntry, MetricRegistry } from "../types.js";
import { Bench, type BenchOptions } from "./bench.js";
import { OPEN_STATES, type OpenQueue, openQueue } from "./connect.js";
import { jobJournal } from "./journal.js";
import { type JobData, queuedInput, type QueueInput, storedPlan } from "./plan.js";
import { budgetIn, Purse, sharedReplies } from "./purse.js";
import { patiently } from "./store.js";
import type { QueueConnection, Worked, WorkOptions } from "./types.js";

const DEFAULT_CONCURRENCY = 4;
const DEFAULT_LEASE_MS = 30_000;
/** How often a job may lose its worker: one that ends every worker is not to end them for ever. */
const MOST_STALLS = 5;
/** How often a worker looks whether anything is left to do, and for a plan that was not added yet, in milliseconds. */
const LOOK_MS = 500;

const WORK_OPTIONS = [
  ...["agent", "judge", "vertex", "retry", "timeoutMs", "turnTimeoutMs", "registry", "prompts"],
  ...["concurrency", "wait", "leaseMs", "signal", "onNotice"],
] as const as readonly (keyof WorkOptions)[];

/** How a worker gets what it needs. */
export interface Equipment extends Pick<WorkOptions, "concurrency" | "wait" | "leaseMs" | "signal" | "onNotice"> {
  /** Whom to run. */
  subject?: Subject | undefined;
  /** How to score; the judges pay from the purse. */
  optionsFor(purse: Purse): BenchOptions;
  /** Where metrics of an evalset are found, if not in the options. */
  registryOf?(input: QueueInput): Promise<MetricRegistry>;
}

export async function workOn(connection: QueueConnection | string, options: WorkOptions): Promise<Worked> {
  const given = optionsOf(options, WORK_OPTIONS);
  const { agent, judge, vertex, retry, timeoutMs, turnTimeoutMs, registry, prompts, ...others } = given;
  return await workWith(connection, {
    ...others,
    subject: agent === undefined ? undefined : await subjectOf(agent),
    optionsFor: (purse) =>
      definedProperties({
        ...{ retry, timeoutMs, turnTimeoutMs, registry, prompts },
        judge: judge && purse.judge(judge),
        vertex: vertex && purse.vertex(vertex),
      }) as BenchOptions,
  });
}

export async function workWith(connection: QueueConnection | string, equipment: Equipment): Promise<Worked> {
  const { concurrency = DEFAULT_CONCURRENCY, leaseMs = DEFAULT_LEASE_MS } = equipment;
  checkPositive(concurrency, "concurrency");
  checkPositive(leaseMs, "leaseMs");
  const open = await openQueue(connection, equipment.onNotice);
  try {
    return await new QueueWorker(open, equipment).run(concurrency, leaseMs);
  } finally {
    await open.close();
  }
}

class QueueWorker {
  readonly #open: OpenQueue;
  readonly #equipment: Equipment;
  readonly #worked: Worked = { done: 0, failed: 0, ended: "done" };
  /** The evalsets that were read, by their numbers. */
  readonly #benches = new Map<number, Promise<Bench>>();
  #purse!: Purse;
  /** Why this worker can do nothing. */
  #failure: unknown;
  /** Ends the wait for the next look. */
  #wake = (): void => {};

  constructor(open: OpenQueue, equipment: Equipment) {
    this.#open = open;
    this.#equipment = equipment;
  }

  async run(concurrency: number, leaseMs: number): Promise<Worked> {
    const { queue, store } = this.#open;
    const { signal, wait = false } = this.#equipment;
    const wake = (): void => this.#wake();
    signal?.addEventListener("abort", wake);
    try {
      while (wait && (await store.get("plan", "plan")) === undefined) {
        if (signal?.aborted === true) return { ...this.#worked, ended: "signal" };
        await this.#look();
      }
      await storedPlan(store, this.#open.name);
      this.#purse = new Purse(store, await budgetIn(store), () => void patiently(() => queue.pause()).then(wake, wake));
      const worker = this.#open.worker((job, token) => this.#do(job, token), {
        concurrency,
        lockDuration: leaseMs,
        stalledInterval: leaseMs,
        maxStalledCount: MOST_STALLS,
        runRetryDelay: LOOK_MS,
        maximumRateLimitDelay: LOOK_MS,
      });
      worker.on("drained", wake);
      try {
        while (!(await patiently(() => this.#isOver(wait)))) await this.#look();
      } finally {
        // Jobs in progress are finished.
        await worker.close();
        for (const bench of this.#benches.values()) await bench.then((one) => one.close()).catch(() => {});
      }
      if (this.#failure !== undefined) throw this.#failure;
      return this.#worked;
    } finally {
      signal?.removeEventListener("abort", wake);
    }
  }

  #look(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#failure !== undefined || this.#equipment.signal?.aborted === true) this.#wake();
    });
  }

  async #isOver(waits: boolean): Promise<boolean> {
    if (this.#failure !== undefined) return true;
    if (this.#equipment.signal?.aborted === true) {
      this.#worked.ended = "signal";
      return true;
    }
    if (waits) return false;
    const { queue } = this.#open;
    if (await queue.isPaused()) {
      this.#worked.ended = "budget";
      return true;
    }
    return Object.values(await queue.getJobCounts(...OPEN_STATES)).every((count) => count === 0);
  }

  async #do(job: Job, token?: string): Promise<void> {
    const { evalId, run, at } = job.data as JobData;
    const purse = this.#purse;
    const { store } = this.#open;
    let isRefused = false;
    let result: EvalSetResult;
    try {
      const bench = await this.#bench(at);
      const attempt = { id: job.id as string, attempt: job.attemptsStarted };
      const journal = jobJournal(store, at, attempt, (entry) => {
        const keeps = !purse.isRefusal(whyFailed(entry));
        isRefused ||= !keeps;
        return keeps;
      });
      result = await bench.evaluate(evalId, run, at, journal);
    } catch (error) {
      const isOurs = this.#failure !== undefined || (isAdkMetricsError(error) && error.code === "journal_failed");
      if (!isOurs) throw error;
      this.#failure ??= error;
      return await this.#handBack(job, token);
    }
    if (isRefused) return await this.#handBack(job, token);
    if ((result.judgeUsage?.lost ?? 0) > 0) {
      this.#worked.failed += 1;
      throw new Error(reasonIn(result));
    }
    this.#worked.done += 1;
  }

  /** The evalset of a job. What is wrong with it here may be right elsewhere. */
  async #bench(at: number): Promise<Bench> {
    try {
      const known = this.#benches.get(at) ?? this.#openBench(at);
      this.#benches.set(at, known);
      return await known;
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }

  async #openBench(at: number): Promise<Bench> {
    const { store, name } = this.#open;
    const stored = (await storedPlan(store, name)).evalSets[at];
    if (stored === undefined) throw new Error(`the queue has no evalset ${at}`);
    const { subject, registryOf, optionsFor, leaseMs = DEFAULT_LEASE_MS } = this.#equipment;
    const input = queuedInput(stored);
    const registry = await registryOf?.(input);
    const options: BenchOptions = {
      ...optionsFor(this.#purse),
      ...this.#purse.ofEvaluation,
      ...definedProperties({ registry }),
      cache: sharedReplies(store, leaseMs),
    };
    return await Bench.open(input, options, subject);
  }

  async #handBack(job: Job, token: string | undefined): Promise<never> {
    this.#wake();
    await patiently(() => job.moveToWait(token));
    throw this.#open.handedBack();
  }
}

/** Why a call of a judge failed, or the run of an agent, whose user a judge may play. */
function whyFailed(entry: JournalEntry): string | undefined {
  if (entry.type === "run") return ((entry as JournaledRun).result as { errorMessage?: string }).errorMessage;
  return entry.type === "failure" ? (entry as JournaledFailure).failure.message : undefined;
}

/** Why a verdict is missing. */
function reasonIn({ evalCaseResults }: EvalSetResult): string {
  const metrics = evalCaseResults.flatMap((one) => one.overallEvalMetricResults);
  return metrics.find(({ reason }) => reason !== undefined)?.reason ?? "a judge gave no reply";
}
