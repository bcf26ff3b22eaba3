/** Threads among which the windows of a large evaluation are divided. */

import { Worker } from "node:worker_threads";
import type { EvaluateRequest } from "../types.js";
import type { ScoredWindow, Window, WindowFiles } from "./line-windows.js";
import { Mistake } from "./mistakes.js";

type Answer = { scored: ScoredWindow } | { mistake: { message: string; location?: string; help?: string } };

/** How many windows a thread has at a time: one that it scores, and one that waits for it. */
const AT_A_TIME = 2;

/** Half of what V8 takes for values that are soon gone: with two threads, 50 MB less. */
const YOUNG_MB = 24;

/** A thread, and who waits for its answers, in the order of what it was asked. */
interface Thread {
  worker: Worker;
  waiting: { resolve(scored: ScoredWindow): void; reject(error: unknown): void }[];
}

/**
 * Scores windows by several threads.
 *
 * @param options Options that can be sent to a thread.
 * @returns The results in the order of the windows.
 */
export async function* scoredByThreads(
  windows: Iterable<Window>,
  count: number,
  files: WindowFiles,
  options: Omit<EvaluateRequest, "evalSet" | "actual">,
): AsyncGenerator<ScoredWindow> {
  const threads = Array.from({ length: count }, () => begin(files, options));
  const pending: Promise<ScoredWindow>[] = [];
  try {
    for (const window of windows) {
      const asked = ask(leastBusy(threads), window);
      // Its turn to be waited for may come after others have failed.
      asked.catch(() => {});
      pending.push(asked);
      if (pending.length >= AT_A_TIME * count) yield await (pending.shift() as Promise<ScoredWindow>);
    }
    for (const scored of pending) yield await scored;
  } finally {
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

function begin(files: WindowFiles, options: object): Thread {
  const worker = new Worker(new URL("./cli-worker.js", import.meta.url), {
    workerData: { files, options },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const thread: Thread = { worker, waiting: [] };
  worker.on("message", (answer: Answer) => {
    const waiting = thread.waiting.shift();
    if ("scored" in answer) waiting?.resolve(answer.scored);
    else waiting?.reject(new Mistake(answer.mistake.message, answer.mistake));
  });
  const fail = (error: unknown) => {
    for (const { reject } of thread.waiting.splice(0)) reject(error);
  };
  worker.on("error", fail);
  worker.on("exit", () => fail(new Mistake("a thread ended before it scored its cases")));
  return thread;
}

function ask(thread: Thread, window: Window): Promise<ScoredWindow> {
  return new Promise((resolve, reject) => {
    thread.waiting.push({ resolve, reject });
    thread.worker.postMessage(window);
  });
}

function leastBusy(threads: readonly Thread[]): Thread {
  return threads.reduce((least, thread) => (thread.waiting.length < least.waiting.length ? thread : least));
}
