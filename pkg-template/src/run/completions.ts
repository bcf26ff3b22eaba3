/** Answers on their way to the engine, and the time of a run. */

import type { EvalRun } from "../generated/adk_metrics.js";
import type { CustomAnswer } from "./custom.js";
import { type CallAnswer } from "./judging.js";

export function deliver(run: EvalRun, completion: Completion): void {
  if ("call" in completion) {
    deliverAnswer(run, completion.at, completion.call, completion.answer);
    return;
  }
  const { task, answer } = completion;
  if ("failure" in answer) run.handleCustomFailure(task, answer.failure);
  else run.handleCustom(task, answer.found);
}

/** An answer on its way to the engine that asked. */
export type Completion = { generation: number } & (
  { task: number; answer: CustomAnswer } | { call: number; at: number; answer: CallAnswer }
);

/** The longest sleep that timers keep to, in milliseconds; a longer one ends at once. */
const LONGEST_SLEEP = 2 ** 31 - 1;

/**
 * The time of a run, in milliseconds. It is paused while the caller handles results, so that this does not make calls late;
 * the time limit of the run goes on.
 */
export class Clock {
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

  /** Whether the time limit of the run has passed. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
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
export class CompletionQueue {
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

const encoder = /* @__PURE__ */ new TextEncoder();

/** Hands the engine what came of a call at a time. */
function deliverAnswer(run: EvalRun, now: number, call: number, answer: CallAnswer): void {
  if (answer.failedUsage !== undefined) run.charge(call, answer.failedUsage);
  if ("failed" in answer) {
    const { usage, ...failed } = answer.failed;
    if (usage !== undefined) run.charge(call, usage);
    run.handleFailure(now, call, failed);
  } else if ("reply" in answer) {
    const { text, usage = {} } = answer.reply;
    run.handleReply(now, call, encoder.encode(text), usage, answer.cached);
  } else {
    answer.take(run.handleAnswer(now, call, answer.raw.answer, answer.raw.body, answer.token));
  }
}
