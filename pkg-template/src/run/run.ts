import { describe, type EngineMistake, isOurs } from "../errors.js";
import type { EvalRun } from "../generated/adk_metrics.js";
import type {
  EvalCase,
  EvalMetric,
  EvaluationResult,
  EvaluatorOptions,
  JudgeProgress,
  JudgeStamp,
  MetricRegistry,
} from "../types.js";
import {
  type DecodedCase,
  decodeCases,
  decodeHeader,
  type Header,
  type HostTask,
  readBatch,
  taskInvocations,
} from "../engine/decode.js";
import { call, type MistakeContext } from "../engine/call.js";
import { jsonOf, messageOf, reading } from "../engine/input.js";
import { type CallAnswer, deliverAnswer, type HostCall, judgeProgress, Judges } from "./judging.js";
import type { Sources } from "../engine/turn.js";
import { type Engine, engineGeneration, keep, release } from "../engine/instance.js";

/** A run before it is started: everything needed to start it, and to start it again. */
export interface RunPlan extends MistakeContext {
  /** Makes the engine's run. Called again if the engine had to be restarted. */
  open(engine: Engine): EvalRun;
  sources: Sources;
  options: EvaluatorOptions;
  registry: MetricRegistry;
}

/** Case results per step: few at first, since cases may be large, then as many as make the columns pay. */
const FIRST_CASES_PER_STEP = 32;
const MOST_CASES_PER_STEP = 512;
/** A page may not be kept from painting for longer, in milliseconds. */
const LONGEST_STRETCH = 25;
/** How many turns of the event loop it takes until what arrived is here: timers may come before the network. */
const TURNS_TO_CATCH_UP = 3;

/** What a run gives out: first its header, then batches of case results and how far its judges are, as they come. */
export type RunOutput =
  { header: Header; warnings: readonly EngineMistake[] } | { cases: DecodedCase[] } | { judge: JudgeProgress };

/** What there is to say of a whole run. */
export interface RunEnd {
  cancelled: boolean;
  judges?: { stamps: JudgeStamp[]; progress: JudgeProgress; warnings: EngineMistake[] };
}

/**
 * Drives a run of the engine: takes its case results, computes the metrics and makes the calls that it asks for, keeps
 * its time. Leaving the generator ends the run.
 */
export async function* drive(plan: RunPlan): AsyncGenerator<RunOutput, RunEnd> {
  const { signal } = plan.options;
  const journal = new Map<string, Promise<Answer>>();
  const given = new Set<number>();
  const inbox = new Inbox();
  const { prices, timeMs } = plan.options.budget ?? {};
  const hasPrices = prices !== undefined;
  const clock = new Clock(timeMs);
  let session = openSession(plan);
  let stretchBegan = performance.now();
  let cancelled = false;
  let casesPerStep = FIRST_CASES_PER_STEP;
  let hasNews = false;
  const onAbort = () => inbox.wake();
  let judges: Judges | undefined;
  try {
    judges = new Judges(plan.options, session.header);
    reading("signal", () => signal?.addEventListener("abort", onAbort));
    yield { header: session.header, warnings: [...session.header.warnings, ...judges.warnings] };
    clock.begin();
    for (;;) {
      if (session.generation !== engineGeneration()) {
        release(session.kept);
        session = openSession(plan);
        judges.restarted();
        cancelled = false;
      }
      const { run, header, generation } = session;
      if (!cancelled && reading("signal", () => signal?.aborted === true)) {
        cancelled = true;
        call(plan, () => run.cancel());
      }
      const stepBegan = performance.now();
      const step = call(plan, () => takeStep(run, header, plan.sources, casesPerStep, clock.now()));
      casesPerStep = nextSize(casesPerStep, performance.now() - stepBegan);
      // Before metrics of the user's own begin, which may call the engine and crash it.
      const needsProgress = judges.isNeeded && (hasNews || step.finished);
      const { failedBefore } = judges;
      const progress = needsProgress ? call(plan, () => judgeProgress(run, hasPrices, failedBefore)) : undefined;
      for (const task of step.tasks) {
        const key = `${task.metric}/${task.case}/${task.run ?? ""}`;
        const pending = journal.get(key) ?? compute(task, header, plan);
        journal.set(key, pending);
        void pending.then((answer) => inbox.put({ generation, task: task.id, answer }));
      }
      for (const abort of step.aborts) judges.abort(abort);
      for (const host of step.calls) {
        void judges.ask(host).then((answer) => inbox.put({ generation, at: clock.now(), call: host.call, answer }));
      }
      clock.pause();
      if (hasNews && progress !== undefined) yield { judge: progress };
      const fresh = step.cases.filter(({ key }) => !given.has(key));
      for (const { key } of fresh) given.add(key);
      if (fresh.length > 0) yield { cases: fresh };
      clock.goOn();
      if (step.finished) {
        if (progress === undefined) return { cancelled };
        await judges.stored(signal);
        return { cancelled, judges: { stamps: judges.stamps(), progress, warnings: judges.warnings } };
      }

      const due = step.idle ? clock.realTime(step.waitUntil) : stretchBegan;
      if (step.idle) {
        await inbox.next(due);
        stretchBegan = performance.now();
      } else if (performance.now() - stretchBegan > LONGEST_STRETCH) {
        await nextTurn();
        stretchBegan = performance.now();
      }
      if (judges.isNeeded && due !== undefined && performance.now() - due > LONGEST_STRETCH) {
        // The thread was busy with something else. Replies that came meanwhile must not count as too late.
        for (let turn = 0; turn < TURNS_TO_CATCH_UP; turn += 1) await nextTurn();
        stretchBegan = performance.now();
      }
      const letters = inbox.take();
      for (const letter of letters) {
        // The engine may have been restarted, by this delivery or while this run slept: then the new run asks again.
        if (letter.generation === engineGeneration() && generation === engineGeneration()) {
          call(plan, () => deliver(run, letter));
        }
      }
      hasNews = letters.some((letter) => "call" in letter);
    }
  } finally {
    judges?.abortAll();
    if (session.generation === engineGeneration()) session.run.free();
    release(session.kept);
    reading("signal", () => signal?.removeEventListener("abort", onAbort));
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve));
}

interface Session {
  run: EvalRun;
  header: Header;
  generation: number;
  kept: WeakRef<object>;
}

function openSession(plan: RunPlan): Session {
  return call(plan, (engine) => {
    const run = plan.open(engine);
    return { run, header: decodeHeader(run), generation: engineGeneration(), kept: keep(run) };
  });
}

interface Step {
  cases: DecodedCase[];
  tasks: HostTask[];
  calls: HostCall[];
  /** The calls to abort. */
  aborts: Uint32Array;
  finished: boolean;
  /** Whether there is nothing to do before an answer comes. */
  idle: boolean;
  waitUntil: number | undefined;
}

/** How many cases the next step takes after one that took some milliseconds. */
function nextSize(size: number, took: number): number {
  if (took > LONGEST_STRETCH) return Math.max(1, size / 2);
  return took < LONGEST_STRETCH / 4 ? Math.min(2 * size, MOST_CASES_PER_STEP) : size;
}

function takeStep(run: EvalRun, header: Header, sources: Sources, size: number, now: number): Step {
  const batch = readBatch(run.poll(now, size));
  const cases = decodeCases(batch, header, sources);
  const { aborts, isFinished: finished, hasMore, waitUntil } = batch;
  const [tasks, calls] = [batch.tasks as HostTask[], batch.sends as HostCall[]];
  return { cases, tasks, calls, aborts, finished, idle: !finished && !hasMore, waitUntil };
}

/** What came of a metric of the user's own: what the engine reads of its evaluation as JSON, or why there is none. */
type Answer = { found: Uint8Array } | { failure: string };

async function compute(task: HostTask, header: Header, { registry, sources }: RunPlan): Promise<Answer> {
  try {
    const metric = header.metrics[task.metric] as EvalMetric;
    const actual = taskInvocations(task.actual, sources.actual, task.run ?? 0);
    const expected = task.expected === null ? undefined : taskInvocations(task.expected, sources.expected, task.case);
    const scenario = (task.scenario ?? undefined) as EvalCase["conversationScenario"];
    const evaluator = registry.getEvaluator(metric);
    const result: unknown = await evaluator.evaluateInvocations(actual, expected, scenario);
    if (typeof result !== "object" || result === null) return { failure: NO_RESULT };
    const found = foundOf(result as EvaluationResult);
    const infinite = [found, ...found.turns].find(({ score }) => typeof score === "number" && !Number.isFinite(score));
    if (infinite !== undefined) {
      return { failure: `the metric gave ${String(infinite.score)}; a score is a finite number, or absent` };
    }
    return { found: jsonOf(found, refused) };
  } catch (error) {
    return { failure: isOurs(error) ? describe(error) : messageOf(error) };
  }
}

const NO_RESULT = "the metric gave no evaluation result";

/** What the engine reads of an evaluation; anything may be in it. */
interface Found {
  score: unknown;
  status: unknown;
  reason: unknown;
  turns: Omit<Found, "turns">[];
}

function foundOf({ overallScore, overallEvalStatus, reason, perInvocationResults }: EvaluationResult): Found {
  return {
    score: plain(overallScore),
    status: plain(overallEvalStatus),
    reason: plain(reason),
    turns: Array.from(perInvocationResults ?? [], ({ score, evalStatus, reason }) => ({
      score: plain(score),
      status: plain(evalStatus),
      reason: plain(reason),
    })),
  };
}

/** What JSON would leave out, or write as its `toJSON` or its class has it, becomes what the engine refuses. */
function plain(value: unknown): unknown {
  return value === null || !["object", "function", "symbol"].includes(typeof value) ? value : refused();
}

/** In place of what is neither a number nor a text: an object, which no field of an evaluation may be. */
function refused(): object {
  return {};
}

function deliver(run: EvalRun, letter: Letter): void {
  if ("call" in letter) {
    deliverAnswer(run, letter.at, letter.call, letter.answer);
    return;
  }
  const { task, answer } = letter;
  if ("failure" in answer) run.handleCustomFailure(task, answer.failure);
  else run.handleCustom(task, answer.found);
}

/** An answer on its way to the engine that asked. */
type Letter = { generation: number } & (
  { task: number; answer: Answer } | { call: number; at: number; answer: CallAnswer }
);

/** The longest sleep that timers keep to, in milliseconds; a longer one ends at once. */
const LONGEST_SLEEP = 2 ** 31 - 1;

/**
 * The time of a run, in milliseconds. It stands still while those work who take its results, so that calls are not late
 * for it, but does not keep the run from ending when its own time is over.
 */
class Clock {
  readonly #timeMs: number;
  #end = Infinity;
  /** How long it stood still. */
  #behind = 0;
  #pausedAt: number | undefined;

  constructor(timeMs = Infinity) {
    this.#timeMs = timeMs;
  }

  begin(): void {
    this.#end = performance.now() + this.#timeMs;
  }

  now(): number {
    const now = performance.now();
    return now >= this.#end ? now : (this.#pausedAt ?? now - this.#behind);
  }

  pause(): void {
    this.#pausedAt = performance.now() - this.#behind;
  }

  goOn(): void {
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
class Inbox {
  #letters: Letter[] = [];
  #woken = false;
  #awake: (() => void) | undefined;

  put(letter: Letter): void {
    this.#letters.push(letter);
    this.wake();
  }

  take(): Letter[] {
    return this.#letters.splice(0);
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
