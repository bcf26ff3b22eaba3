import { describe, isAdkMetricsError } from "../errors.js";
import type { EvalRun, EvalRunReader } from "../generated/adk_metrics.js";
import type {
  EvalCase,
  EvalMetric,
  EvaluationResult,
  EvaluatorOptions,
  JudgeProgress,
  JudgeStamp,
  MetricRegistry,
} from "../types.js";
import { CaseDecoder, type DecodedCase, type HostTask, readBatch, taskInvocations } from "../engine/decode.js";
import { call, type ErrorContext } from "../engine/call.js";
import { messageOf, reading } from "../engine/values.js";
import type { CustomResult, EngineError, JudgeCall, RunHeader } from "../generated/contract.js";
import { emptyBudget } from "./judge-options.js";
import { type CallAnswer, deliverAnswer, judgeProgress, Judges } from "./judging.js";
import type { Sources } from "../engine/turn.js";
import { type Engine, engineGeneration, keep, release } from "../engine/instance.js";
import { Stretch } from "../engine/steps.js";

/** A run before it is started: everything needed to start it, and to start it again. */
export interface RunPlan extends ErrorContext {
  /** Begins to read what the engine's run is made of. Called again if the engine had to be restarted. */
  read(engine: Engine): EvalRunReader;
  sources: Sources;
  options: EvaluatorOptions;
  registry: MetricRegistry;
  /** The cases; all if absent. */
  evalIds?: readonly string[] | undefined;
  /** When its time began to count. */
  began: number;
}

/** Case results per step: few at first, since cases may be large, then as many as make the columns pay. */
const FIRST_CASES_PER_STEP = 32;
const MOST_CASES_PER_STEP = 512;
/** What a step should take, in milliseconds; one that took longer is followed by one of fewer cases. */
const LONGEST_STEP = 5;
/** How much later than it was to be woken a run may wake, in milliseconds, before its thread counts as busy. */
const LATE = 25;
/** How many turns of the event loop it takes until what arrived is here: timers may come before the network. */
const TURNS_TO_CATCH_UP = 3;

/** What a run gives out: first its header, then batches of case results and how far its judges are, as they come. */
export type RunOutput =
  { header: RunHeader; warnings: readonly EngineError[] } | { cases: DecodedCase[] } | { judge: JudgeProgress };

/** What there is to say of a whole run. */
export interface RunEnd {
  cancelled: boolean;
  judges?: { stamps: JudgeStamp[]; progress: JudgeProgress; warnings: EngineError[] };
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

/** Says whether a signal has aborted since now. A run of one that had before ends by itself, and names every case. */
export function abortedSince(signal: AbortSignal | undefined): () => boolean {
  const isAborted = () => reading("signal", () => signal?.aborted === true);
  const wasAborted = isAborted();
  return () => !wasAborted && isAborted();
}

/** What a step came to, as far as the host is concerned. */
interface StepOutcome {
  finished: boolean;
  idle: boolean;
  waitUntil: number | undefined;
  progress: JudgeProgress | undefined;
  outputs: RunOutput[];
}

/** A run under way. Its engine may be replaced at any time; then the run is opened anew, and asks again. */
class RunDriver {
  readonly clock: Clock;
  readonly #plan: RunPlan;
  readonly #hasPrices: boolean;
  readonly #judges: Judges;
  readonly #completions = new CompletionQueue();
  readonly #onAbort = (): void => this.#completions.wake();
  /** What metrics of the user's own found or will find, by metric, case and run: none is asked twice. */
  readonly #computed = new Map<string, Promise<Answer>>();
  /** The cases that were given out. */
  readonly #delivered = new Set<number>();
  #session: Session;
  #decoder: CaseDecoder;
  #isCancelled = false;
  #casesPerStep = FIRST_CASES_PER_STEP;
  readonly #stretch: Stretch;
  /** Whether answers of judges came in since the last step. */
  #hasNews = false;

  constructor(plan: RunPlan, session: Session, stretch: Stretch) {
    const { prices, timeMs } = plan.options.budget ?? {};
    this.#plan = plan;
    this.#hasPrices = prices !== undefined;
    this.clock = new Clock(plan.began, timeMs);
    this.#stretch = stretch;
    this.#session = session;
    this.#decoder = new CaseDecoder(session.header, plan.sources);
    try {
      this.#judges = new Judges(plan.options, session.header, maySomebodyBeAsked(plan, session));
      this.#attachJudges();
      reading("signal", () => plan.options.signal?.addEventListener("abort", this.#onAbort));
    } catch (error) {
      this.#closeSession();
      throw error;
    }
  }

  begin(): RunOutput {
    const { header } = this.#session;
    return { header, warnings: [...header.warnings, ...this.#judges.warnings] };
  }

  /** Whether the engine was restarted since the run was opened, which is gone then. */
  get isReplaced(): boolean {
    return this.#session.generation !== engineGeneration();
  }

  /** Opens the run anew, which asks again. */
  async reopen(): Promise<void> {
    release(this.#session.kept);
    const session = await openSession(this.#plan, this.#stretch);
    if (session === undefined) return;
    this.#session = session;
    this.#decoder = new CaseDecoder(session.header, this.#plan.sources);
    this.#attachJudges();
    this.#judges.restarted();
    this.#isCancelled = false;
  }

  /** Lets the engine work, and begins what it asks for. */
  step(): StepOutcome {
    this.#cancelIfAborted();
    const { run } = this.#session;
    const began = performance.now();
    const step = call(this.#plan, () => takeStep(run, this.#decoder, this.#casesPerStep, this.clock.now()));
    this.#casesPerStep = nextSize(this.#casesPerStep, performance.now() - began);
    // Before metrics of the user's own begin, which may call the engine and crash it.
    const progress = this.#progress(step.finished);
    this.#compute(step);
    this.#ask(step);
    const outputs: RunOutput[] = [];
    if (this.#hasNews && progress !== undefined) outputs.push({ judge: progress });
    const fresh = step.cases.filter(({ key }) => !this.#delivered.has(key));
    for (const { key } of fresh) this.#delivered.add(key);
    if (fresh.length > 0) outputs.push({ cases: fresh });
    return { finished: step.finished, idle: step.idle, waitUntil: step.waitUntil, progress, outputs };
  }

  /** What there is to say of the whole run, once what its judges said is stored. */
  async end({ progress }: StepOutcome): Promise<RunEnd> {
    const cancelled = this.#isCancelled;
    if (progress === undefined) return { cancelled };
    await this.#judges.stored(this.#plan.options.signal);
    this.#judges.noteChanges();
    this.#judges.noteForgotten();
    return { cancelled, judges: { stamps: this.#judges.stamps(), progress, warnings: this.#judges.warnings } };
  }

  /** Waits for what the engine waits for, or leaves the thread to others if it was kept for long. */
  async rest({ idle, waitUntil }: StepOutcome): Promise<void> {
    const due = idle ? this.clock.realTime(waitUntil) : undefined;
    if (idle) await this.#completions.next(due);
    // Answers that were there at once left no turn to others.
    if (this.#stretch.isOver) await this.#stretch.leave();
    if (this.#judges.isNeeded && due !== undefined && performance.now() - due > LATE) {
      // The thread was busy with something else. Replies that came meanwhile must not count as too late.
      await this.#stretch.leave(TURNS_TO_CATCH_UP);
    }
  }

  /** Hands what came in over to the engine, and leaves the thread to others between two answers that take long to read. */
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
    this.#judges.abortAll();
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
    if (this.#isCancelled || !reading("signal", () => this.#plan.options.signal?.aborted === true)) return;
    this.#isCancelled = true;
    call(this.#plan, () => this.#session.run.cancel());
  }

  /** How far the judges are, if there is news of them or nothing else will come. */
  #progress(isFinished: boolean): JudgeProgress | undefined {
    if (!this.#judges.isNeeded || !(this.#hasNews || isFinished)) return undefined;
    const { run } = this.#session;
    return call(this.#plan, () => judgeProgress(run, this.#hasPrices, this.#judges.failedBefore));
  }

  /** Begins the metrics of the user's own. */
  #compute({ tasks }: Step): void {
    const { header, generation } = this.#session;
    for (const task of tasks) {
      const key = `${task.metric}/${task.case}/${task.run ?? ""}`;
      const pending = this.#computed.get(key) ?? compute(task, header, this.#plan);
      this.#computed.set(key, pending);
      void pending.then((answer) => this.#completions.put({ generation, task: task.id, answer }));
    }
  }

  /** Begins and ends calls of judges. */
  #ask({ aborts, calls }: Step): void {
    const { generation } = this.#session;
    for (const abort of aborts) this.#judges.abort(abort);
    for (const host of calls) {
      void this.#judges.ask(host).then((answer) => {
        this.#completions.put({ generation, at: this.clock.now(), call: host.call, answer });
      });
    }
  }
}

/** A run that is open in the engine. */
export interface Session {
  run: EvalRun;
  header: RunHeader;
  generation: number;
  kept: WeakRef<object>;
}

/**
 * Reads the inputs and makes a run of them. Leaves the thread to others on the way, who may restart the engine.
 *
 * @returns Nothing if it was cancelled meanwhile.
 */
export async function openSession(
  plan: RunPlan,
  stretch: Stretch,
  isCancelled = (): boolean => false,
): Promise<Session | undefined> {
  for (;;) {
    const session = await readSession(plan, stretch, isCancelled);
    if (session === undefined) {
      if (isCancelled()) return undefined;
    } else {
      if (session.generation === engineGeneration()) return session;
      release(session.kept);
    }
  }
}

/** As {@link openSession}; nothing also if the engine was restarted meanwhile. */
async function readSession(plan: RunPlan, stretch: Stretch, isCancelled: () => boolean): Promise<Session | undefined> {
  const reader = call(plan, (engine) => plan.read(engine));
  const generation = engineGeneration();
  const kept = keep(reader);
  try {
    for (;;) {
      const session = call(plan, () => stepOf(reader, plan.began));
      if (session !== undefined) return session;
      if (!stretch.isOver) continue;
      await stretch.leave();
      if (isCancelled() || generation !== engineGeneration()) return undefined;
    }
  } finally {
    if (generation === engineGeneration()) reader.free();
    release(kept);
  }
}

/** Reads on. The run, once everything is read. */
function stepOf(reader: EvalRunReader, began: number): Session | undefined {
  const run = reader.step();
  return run === undefined ? undefined : sessionOf(run, began);
}

/** Starts the time of a run; the engine is kept as it is until the session is closed. */
export function sessionOf(run: EvalRun, began: number): Session {
  run.start(began);
  return { run, header: run.header(), generation: engineGeneration(), kept: keep(run) };
}

/** Whether a session is still there: an engine that is started afresh takes it along. */
export function isOpen({ generation }: Session): boolean {
  return generation === engineGeneration();
}

export function closeSession({ run, generation, kept }: Session): void {
  if (generation === engineGeneration()) run.free();
  release(kept);
}

/** Says whether a metric may ask a judge: whether the budget lets it, and it can score one of the selected cases. */
function maySomebodyBeAsked(plan: RunPlan, { run }: Session): (metric: number) => boolean {
  const { evalIds } = plan;
  const selected = evalIds && new Set(evalIds);
  return (metric) => {
    if (emptyBudget(plan.options.budget) !== undefined) return false;
    for (let first = 0; ;) {
      const text = call(plan, () => run.casesToJs(first));
      const cases = JSON.parse(text) as { evalId?: string }[];
      // A run of one conversation has a case without an id, which may always be scored.
      if (first === 0 && (cases.length === 0 || cases[0]?.evalId === undefined)) return true;
      if (cases.length === 0) return false;
      for (const [at, { evalId = "" }] of cases.entries()) {
        if (selected?.has(evalId) === false) continue;
        if (!call(plan, () => run.unscorable(first + at))[metric]) return true;
      }
      first += cases.length;
    }
  };
}

/** What may surprise in the inputs and the judges of a run, in which nothing is scored yet. */
export function warningsOf(plan: RunPlan, session: Session): readonly EngineError[] {
  const { run, header } = session;
  const judges = new Judges(plan.options, header, maySomebodyBeAsked(plan, session));
  call(plan, () => judges.attach(run));
  return [...header.warnings, ...judges.warnings];
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

/** What came of a metric of the user's own: what it found, or why there is nothing. */
type Answer = { found: CustomResult } | { failure: string };

async function compute(task: HostTask, header: RunHeader, { registry, sources }: RunPlan): Promise<Answer> {
  try {
    const metric = header.metrics[task.metric] as EvalMetric;
    const actual = taskInvocations(task.actual, sources.actual, task.run ?? 0);
    const expected = task.expected === null ? undefined : taskInvocations(task.expected, sources.expected, task.case);
    const scenario = (task.scenario ?? undefined) as EvalCase["conversationScenario"];
    const evaluator = registry.getEvaluator(metric);
    const result: unknown = await evaluator.evaluateInvocations(actual, expected, scenario);
    if (typeof result !== "object" || result === null) return { failure: NO_RESULT };
    return { found: customResultOf(result as EvaluationResult) };
  } catch (error) {
    return { failure: isAdkMetricsError(error) ? describe(error) : messageOf(error) };
  }
}

const NO_RESULT = "the metric gave no evaluation result";

/** What the engine reads of an evaluation, in which anything may be: getters are read once, and nothing of it is kept. */
function customResultOf({
  overallScore,
  overallEvalStatus,
  reason,
  perInvocationResults,
}: EvaluationResult): CustomResult {
  return {
    overall: findingOf(overallScore, overallEvalStatus, reason),
    turns: Array.from(perInvocationResults ?? [], ({ score, evalStatus, reason }) =>
      findingOf(score, evalStatus, reason),
    ),
  };
}

function findingOf(score: unknown, status: unknown, reason: unknown): CustomResult["overall"] {
  return { score: primitive(score), status: primitive(status), reason: primitive(reason) };
}

/** A value that runs no code of the user's when the engine looks at it; it refuses the empty object in any field. */
function primitive(value: unknown): unknown {
  const isObject = typeof value === "function" || (typeof value === "object" && value !== null);
  return isObject ? {} : value;
}

function deliver(run: EvalRun, completion: Completion): void {
  if ("call" in completion) {
    deliverAnswer(run, completion.at, completion.call, completion.answer);
    return;
  }
  const { task, answer } = completion;
  if ("failure" in answer) run.handleCustomFailure(task, answer.failure);
  else run.handleCustom(task, answer.found);
}

/** An answer on its way to the engine that asked. */
type Completion = { generation: number } & (
  { task: number; answer: Answer } | { call: number; at: number; answer: CallAnswer }
);

/** The longest sleep that timers keep to, in milliseconds; a longer one ends at once. */
const LONGEST_SLEEP = 2 ** 31 - 1;

/**
 * The time of a run, in milliseconds. It stands still while those work who take its results, so that calls are not late
 * for it, but does not keep the run from ending when its own time is over.
 */
class Clock {
  readonly #end: number;
  /** How long it stood still. */
  #behind = 0;
  #pausedAt: number | undefined;

  constructor(began: number, timeMs = Infinity) {
    this.#end = began + timeMs;
  }

  now(): number {
    const now = performance.now();
    return now >= this.#end ? now : (this.#pausedAt ?? now - this.#behind);
  }

  pause(): void {
    this.#pausedAt = performance.now() - this.#behind;
  }

  resume(): void {
    if (this.#pausedAt === undefined) return;
    this.#behind = performance.now() - this.#pausedAt;
    this.#pausedAt = undefined;
  }

  /** When this time comes, by the runtime's clock. */
  realTime(time: number | undefined): number | undefined {
    return time === undefined ? undefined : Math.min(time + this.#behind, this.#end);
  }
}

/** Answers on their way to the engine, and the sleep until the next one. */
class CompletionQueue {
  #completions: Completion[] = [];
  #woken = false;
  #awake: (() => void) | undefined;

  put(completion: Completion): void {
    this.#completions.push(completion);
    this.wake();
  }

  take(): Completion[] {
    return this.#completions.splice(0);
  }

  wake(): void {
    this.#woken = true;
    this.#awake?.();
  }

  /** Waits for an answer, a call of `wake`, or a time; not at all if something came since the last wait. */
  async next(until: number | undefined): Promise<void> {
    if (!this.#woken) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#awake = resolve;
        if (until === undefined) return;
        const sleep = Math.max(0, until - performance.now()) + 1;
        timer = setTimeout(resolve, Math.min(sleep, LONGEST_SLEEP));
      });
      this.#awake = undefined;
      clearTimeout(timer);
    }
    this.#woken = false;
  }
}
