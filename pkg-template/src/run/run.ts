/** Drives a run of the engine to its end. */

import type { EvalRun } from "../generated/adk_metrics.js";
import type { JudgeProgress, JudgeStamp } from "../types.js";
import { wholeNamed } from "./budget.js";
import { CaseDecoder, type DecodedCase, type HostTask, readBatch } from "../engine/decode.js";
import { call } from "../engine/call.js";
import { reading } from "../engine/values.js";
import type { EngineError, JudgeCall, RunHeader } from "../generated/contract.js";
import { Clock, CompletionQueue, deliver } from "./completions.js";
import { compute, type CustomAnswer } from "./custom.js";
import { judgeProgress } from "./judge-progress.js";
import { Judges } from "./judges.js";
import { JudgeDispatcher } from "./judging.js";
import { engineGeneration, release } from "../engine/instance.js";
import { asksNobody, waiting } from "./waiting.js";
import { closeSession, maySomebodyBeAsked, openSession, type RunPlan, type Session } from "./session.js";
import { type Steps, Stretch } from "../engine/steps.js";
import { AdkMetricsError } from "../errors.js";
import { unscorableInSteps } from "./unscorable.js";

/** Case results per step: few at first, since cases may be large, then as many as make the columns pay. */
const FIRST_CASES_PER_STEP = 32;
const MOST_CASES_PER_STEP = 512;
/** What a step should take, in milliseconds; one that took longer is followed by one of fewer cases. */
const LONGEST_STEP = 5;
/** How many milliseconds late a run may wake before its thread counts as busy. */
const LATE = 25;
/** How many turns of the event loop deliver what has arrived: timers may run before network events. */
const TURNS_TO_CATCH_UP = 3;

/** What a run gives out: first its header, then batches of case results and how far its judges are, as they come. */
export type RunOutput =
  | {
      header: RunHeader;
      warnings: readonly EngineError[];
      /** The names whose prices count. */
      priced: readonly string[];
      unscorable: () => Steps<Map<string, string>>;
    }
  | { cases: DecodedCase[] }
  | { judge: JudgeProgress };

/** The outcome of a whole run. */
export interface RunEnd {
  cancelled: boolean;
  judges?: { stamps: JudgeStamp[]; progress: JudgeProgress; unpriced: readonly string[]; warnings: EngineError[] };
}

/**
 * Drives a run of the engine: takes its case results, computes the metrics and makes the calls that it asks for, keeps
 * its time. Leaving the generator ends the run.
 *
 * @param opened The run, if it is open already.
 */
export async function* drive(
  plan: RunPlan,
  stretch = new Stretch(),
  opened?: Session,
): AsyncGenerator<RunOutput, RunEnd> {
  const session = opened ?? (await openSession(plan, stretch, abortedSince(plan.options.signal)));
  if (session === undefined) return { cancelled: true };
  const driver = new RunDriver(plan, session, stretch);
  try {
    yield driver.begin();
    for (;;) {
      while (driver.isReplaced) await driver.reopen();
      const step = driver.step();
      driver.clock.pause();
      for (const output of step.outputs) yield output;
      driver.clock.resume();
      if (step.finished) return await driver.end(step);
      await driver.rest(step);
      await driver.deliver();
    }
  } finally {
    driver.close();
  }
}

/** Makes a function that says whether the signal was aborted after this call. A run whose signal was aborted before ends by itself, and gives out every case. */
export function abortedSince(signal: AbortSignal | undefined): () => boolean {
  const isAborted = () => reading("signal", () => signal?.aborted === true);
  const wasAborted = isAborted();
  return () => !wasAborted && isAborted();
}

/** What the host learns from a step. */
interface StepOutcome {
  finished: boolean;
  idle: boolean;
  waitUntil: number | undefined;
  progress: JudgeProgress | undefined;
  outputs: RunOutput[];
}

/** A run in progress. Its engine may be replaced at any time; then the run is reopened, and asks again. */
class RunDriver {
  readonly clock: Clock;
  readonly #plan: RunPlan;
  /** Whether anybody who is asked has a price. */
  readonly #hasPrice: boolean;
  readonly #judges: Judges;
  readonly #dispatcher: JudgeDispatcher;
  readonly #completions = new CompletionQueue();
  readonly #onAbort = (): void => this.#completions.wake();
  /** The results of custom metrics, or their promises, by metric, case and run: none is computed twice. */
  readonly #computed = new Map<string, Promise<CustomAnswer>>();
  /** How many custom metrics are being computed. */
  #computing = 0;
  /** The keys of the cases that were given out. */
  readonly #delivered: number[] = [];
  /** Those that were given out before the engine was replaced, and come again. */
  #known: ReadonlySet<number> | undefined;
  readonly #unlisten: (() => void) | undefined;
  #session: Session;
  #decoder: CaseDecoder;
  #isCancelled = false;
  /** How many calls were not made, since this run asks no judge. */
  #withheld = 0;
  #casesPerStep = FIRST_CASES_PER_STEP;
  readonly #stretch: Stretch;
  /** Whether answers of judges came in since the last step. */
  #hasNews = false;

  constructor(plan: RunPlan, session: Session, stretch: Stretch) {
    this.#plan = plan;
    this.clock = new Clock(plan.began, plan.options.budget?.timeMs);
    this.#stretch = stretch;
    this.#session = session;
    this.#decoder = new CaseDecoder(session.header, plan.sources, wholeNamed(plan.options.budget));
    try {
      const { section } = plan.journal ?? {};
      this.#judges = new Judges(plan.options, session.header, maySomebodyBeAsked(plan, session), section);
      this.#dispatcher = new JudgeDispatcher(this.#judges, plan.options, section);
      this.#hasPrice = this.#judges.unpriced.hasPrice;
      this.#attachJudges();
      this.#beginJournal();
      this.#unlisten = section?.listen(() => this.#completions.wake());
      reading("signal", () => plan.options.signal?.addEventListener("abort", this.#onAbort));
    } catch (error) {
      this.#closeSession();
      throw error;
    }
  }

  begin(): RunOutput {
    const { header } = this.#session;
    const unscorable = () => unscorableInSteps(this.#plan, this.#session);
    const { priced } = this.#judges;
    return { header, warnings: [...header.warnings, ...this.#dispatcher.warnings], priced, unscorable };
  }

  /** @throws {AdkMetricsError} `journal_failed` for the journal of another run. */
  #beginJournal(): void {
    if (this.#plan.journal === undefined) return;
    const { section, inputs } = this.#plan.journal;
    const { engineVersion: engine, referenceVersion: reference, metrics } = this.#session.header;
    const prompts = metrics.flatMap(({ judge }) => (judge?.prompts === undefined ? [] : [judge.prompts]));
    // A complete journal says who judged; the judges of this process are stand-ins.
    const judge = section.isComplete ? section.inputsOf("scores")?.judge : this.#judges.identities();
    section.begin("scores", { ...inputs, engine, reference, prompts, judge });
  }

  /** Whether the engine was restarted since the run was opened: the run was lost with it. */
  get isReplaced(): boolean {
    return this.#session.generation !== engineGeneration();
  }

  /** Reopens the run, which asks again. */
  async reopen(): Promise<void> {
    release(this.#session.kept);
    const session = await openSession(this.#plan, this.#stretch);
    if (session === undefined) return;
    this.#session = session;
    this.#known = new Set(this.#delivered);
    this.#decoder = new CaseDecoder(session.header, this.#plan.sources, wholeNamed(this.#plan.options.budget));
    this.#attachJudges();
    this.#dispatcher.restarted();
    this.#isCancelled = false;
  }

  /** Lets the engine work, and begins what it asks for. */
  step(): StepOutcome {
    this.#cancelIfAborted();
    const { run } = this.#session;
    const began = performance.now();
    const step = call(this.#plan, () => takeStep(run, this.#decoder, this.#casesPerStep, this.clock.now()));
    this.#casesPerStep = nextSize(this.#casesPerStep, performance.now() - began);
    // Before custom metrics begin, since they may call the engine and crash it.
    const progress = this.#progress(step.finished);
    this.#compute(step);
    this.#ask(step);
    if (this.#withheld > 0 && step.idle && this.#computing === 0) this.#cancel();
    this.#sayWaiting(step);
    const outputs: RunOutput[] = [];
    if (this.#hasNews && progress !== undefined) outputs.push({ judge: progress });
    const known = this.#known;
    const fresh = known === undefined ? step.cases : step.cases.filter(({ key }) => !known.has(key));
    for (const { key } of fresh) this.#delivered.push(key);
    if (!this.#isCancelled) this.#settle(fresh);
    if (fresh.length > 0) outputs.push({ cases: fresh });
    return { finished: step.finished, idle: step.idle, waitUntil: step.waitUntil, progress, outputs };
  }

  /** Has the journal note that cases are settled. */
  #settle(cases: readonly DecodedCase[]): void {
    const section = this.#plan.journal?.section;
    section?.check();
    for (const { result } of cases) {
      const { evalId, finalEvalStatus } = result;
      section?.settle(evalId, finalEvalStatus);
    }
  }

  /** The outcome of the run, once the cache and the journal have stored its replies. */
  async end({ progress }: StepOutcome): Promise<RunEnd> {
    const cancelled = this.#isCancelled;
    const { earlyStop } = this.#plan.options;
    const risk = typeof earlyStop === "object" ? earlyStop.risk : undefined;
    const priors = risk === undefined ? new Map() : call(this.#plan, () => this.#judges.priors(this.#session.run));
    await this.#plan.journal?.section.written();
    if (progress === undefined || this.#withheld > 0) return { cancelled };
    await this.#dispatcher.stored(this.#plan.options.signal);
    this.#judges.noteChanges();
    this.#dispatcher.noteForgotten();
    this.#dispatcher.noteDoubts(progress, this.#plan.options.budget);
    const unpriced = progress.calls === 0 ? [] : this.#judges.unpriced.names;
    return {
      cancelled,
      judges: { stamps: this.#judges.stamps(risk, priors), progress, unpriced, warnings: this.#dispatcher.warnings },
    };
  }

  /** Waits for what the engine waits for, and yields the thread if it was kept for long. */
  async rest({ idle, waitUntil }: StepOutcome): Promise<void> {
    const due = idle ? this.clock.realTime(waitUntil) : undefined;
    if (idle) await this.#completions.next(due);
    // Answers that came at once did not yield the thread.
    if (this.#stretch.isOver) await this.#stretch.leave();
    if (this.#judges.isNeeded && due !== undefined && performance.now() - due > LATE) {
      // The thread was busy with something else. Replies that came meanwhile must not count as too late.
      await this.#stretch.leave(TURNS_TO_CATCH_UP);
    }
  }

  /** Hands answers to the engine, and yields the thread between two that take long to read. */
  async deliver(): Promise<void> {
    const { run, generation } = this.#session;
    const completions = this.#completions.take();
    for (const completion of completions) {
      if (this.#stretch.isOver) await this.#stretch.leave();
      // The engine may have been restarted, by this delivery or while this run slept: then the new run asks again.
      if (completion.generation === engineGeneration() && generation === engineGeneration()) {
        call(this.#plan, () => deliver(run, completion));
      }
    }
    this.#hasNews = completions.some((completion) => "call" in completion);
  }

  /** Ends the run and all that it began. */
  close(): void {
    this.#unlisten?.();
    this.#dispatcher.abortAll();
    this.#closeSession();
    reading("signal", () => this.#plan.options.signal?.removeEventListener("abort", this.#onAbort));
  }

  #closeSession(): void {
    closeSession(this.#session);
  }

  #attachJudges(): void {
    call(this.#plan, () => this.#judges.attach(this.#session.run));
  }

  #cancelIfAborted(): void {
    if (!this.#isCancelled && reading("signal", () => this.#plan.options.signal?.aborted === true)) this.#cancel();
  }

  #cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    call(this.#plan, () => this.#session.run.cancel());
    this.#completions.wake();
  }

  /** The progress of the judges, if there are new answers or the run is finished. */
  #progress(isFinished: boolean): JudgeProgress | undefined {
    if (!this.#judges.isNeeded || !(this.#hasNews || isFinished)) return undefined;
    const { run } = this.#session;
    const { failedBefore, lastFailure } = this.#dispatcher;
    const correction = this.#dispatcher.correction(isFinished);
    const progress = call(this.#plan, () => judgeProgress(run, this.#hasPrice, failedBefore, correction));
    return lastFailure === undefined ? progress : { ...progress, lastFailure };
  }

  /** Begins custom metrics. */
  #compute({ tasks }: Step): void {
    const { header, generation } = this.#session;
    for (const task of tasks) {
      const key = `${task.metric}/${task.case}/${task.run ?? ""}`;
      const pending = this.#computed.get(key) ?? compute(task, header, this.#plan, this.#plan.journal?.section);
      this.#computed.set(key, pending);
      this.#computing += 1;
      void pending.then((answer) => {
        this.#computing -= 1;
        this.#completions.put({ generation, task: task.id, answer });
      });
    }
  }

  /** Tells the listener of the run's signal which calls the run waits for, if it waits for them only. */
  #sayWaiting({ idle }: Step): void {
    const { signal } = this.#plan.options;
    const tell = signal === undefined ? undefined : waiting.get(signal);
    if (tell === undefined) return;
    const { inFlight, queued } = judgeProgress(this.#session.run, false);
    tell(idle && this.#computing === 0 ? { inFlight, queued } : undefined);
  }

  /** What ended the run early, if anything did. */
  get #ended(): AdkMetricsError | undefined {
    if (this.#isCancelled) return new AdkMetricsError("cancelled", "the evaluation was cancelled");
    return this.clock.isOver ? new AdkMetricsError("timeout", "the time of the budget is over") : undefined;
  }

  /** Begins and ends calls of judges. */
  #ask({ aborts, calls }: Step): void {
    const { generation } = this.#session;
    const { signal } = this.#plan.options;
    if (signal !== undefined && asksNobody.has(signal)) {
      this.#withheld += calls.length;
      return;
    }
    for (const abort of aborts) this.#dispatcher.abort(abort, this.#ended);
    for (const host of calls) {
      void this.#dispatcher.ask(host).then((answer) => {
        this.#completions.put({ generation, at: this.clock.now(), call: host.call, answer });
      });
    }
  }
}

interface Step {
  cases: DecodedCase[];
  tasks: HostTask[];
  calls: JudgeCall[];
  /** The calls to abort. */
  aborts: Uint32Array;
  finished: boolean;
  /** Whether there is nothing to do before an answer comes. */
  idle: boolean;
  waitUntil: number | undefined;
}

/** How many cases the next step takes after one that took some milliseconds. */
function nextSize(size: number, took: number): number {
  if (took > LONGEST_STEP) return Math.max(1, size / 2);
  return took < LONGEST_STEP / 4 ? Math.min(2 * size, MOST_CASES_PER_STEP) : size;
}

function takeStep(run: EvalRun, decoder: CaseDecoder, size: number, now: number): Step {
  const batch = readBatch(run.poll(now, size));
  const cases = decoder.decode(batch);
  const { aborts, isFinished: finished, hasMore, waitUntil } = batch;
  const tasks = batch.tasks as HostTask[];
  const calls = batch.calls === 0 ? [] : run.calls();
  return { cases, tasks, calls, aborts, finished, idle: !finished && !hasMore, waitUntil };
}
