/** Threads among which the work of a large evaluation is divided. */

import { Worker } from "node:worker_threads";
import { LineRows, type SentRows } from "../lines/rows.js";
import type { EvaluateRequest } from "../types.js";
import type { LineFiles } from "./line-files.js";
import { type ScoredWindow, spareOf, type Window, type WindowFiles } from "./line-windows.js";
import type { Question, ThreadWork } from "./line-worker.js";
import { Mistake } from "./mistakes.js";

type Answer<T> = { done: T } | { mistake: { message: string; location?: string; help?: string } };

/** How many windows a thread has at a time: one that it scores, and some that wait for it while others are late. */
const AT_A_TIME = 4;

/** Half of what V8 takes for values that are soon gone: with two threads, 50 MB less. */
const YOUNG_MB = 24;

/** A thread, and who waits for its answers, in the order of what it was asked. */
interface Thread<T> {
  worker: Worker;
  waiting: { resolve(done: T): void; reject(error: unknown): void }[];
}

/** As `readLineFiles`, in a thread of its own, which a signal ends. */
export async function readInThread(files: readonly string[], what: string, signal: AbortSignal): Promise<LineFiles> {
  const thread = begin<Omit<LineFiles, "rows"> & { rows: SentRows }>({ read: { files, what } });
  signal.addEventListener("abort", () => void thread.worker.terminate());
  const { rows, ...read } = await next(thread);
  return { ...read, rows: new LineRows(rows) };
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
  const threads = Array.from({ length: count }, () => begin<ScoredWindow>({ files, options }));
  const pending: Promise<ScoredWindow>[] = [];
  // Buffers whose text was written go back to threads: new ones would have to be collected.
  const spare: ArrayBuffer[] = [];
  try {
    for (const window of windows) {
      const asked = ask(leastBusy(threads), { window, spare: spare.pop() });
      // Its turn to be waited for may come after others have failed.
      asked.catch(() => {});
      pending.push(asked);
      if (pending.length < AT_A_TIME * count) continue;
      const scored = await (pending.shift() as Promise<ScoredWindow>);
      yield scored;
      const buffer = spareOf(scored);
      if (buffer !== undefined) spare.push(buffer);
    }
    for (const scored of pending) yield await scored;
  } finally {
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

function begin<T>(work: ThreadWork): Thread<T> {
  const worker = new Worker(new URL("./cli-worker.js", import.meta.url), {
    workerData: work,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const thread: Thread<T> = { worker, waiting: [] };
  worker.on("message", (answer: Answer<T>) => {
    const waiting = thread.waiting.shift();
    if ("done" in answer) waiting?.resolve(answer.done);
    else waiting?.reject(new Mistake(answer.mistake.message, answer.mistake));
  });
  const fail = (error: unknown) => {
    for (const { reject } of thread.waiting.splice(0)) reject(error);
  };
  worker.on("error", fail);
  worker.on("exit", () => fail(new Mistake("a thread ended before its work was done")));
  return thread;
}

/** The next answer of a thread. */
function next<T>(thread: Thread<T>): Promise<T> {
  return new Promise((resolve, reject) => thread.waiting.push({ resolve, reject }));
}

function ask(thread: Thread<ScoredWindow>, question: Question): Promise<ScoredWindow> {
  const answer = next(thread);
  thread.worker.postMessage(question, question.spare === undefined ? [] : [question.spare]);
  return answer;
}

function leastBusy<T>(threads: readonly Thread<T>[]): Thread<T> {
  return threads.reduce((least, thread) => (thread.waiting.length < least.waiting.length ? thread : least));
}
