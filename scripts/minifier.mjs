// Minifies modules in threads of their own, as many at once as there are processors.

import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

if (!isMainThread) {
  const { minify } = await import("terser");
  parentPort.on("message", async ({ code, options }) => {
    try {
      parentPort.postMessage({ minified: await minify(code, options) });
    } catch (error) {
      parentPort.postMessage({ error });
    }
  });
}

/** Threads that minify: `minify` takes what terser's does, `stop` ends them. */
export function startMinifiers() {
  const threads = Array.from(
    { length: Math.min(4, availableParallelism()) },
    () => new Worker(new URL(import.meta.url)),
  );
  const idle = [...threads];
  const waiting = [];

  function next() {
    if (idle.length === 0 || waiting.length === 0) return;
    const thread = idle.pop();
    const { task, resolve, reject } = waiting.shift();
    thread.once("message", ({ minified, error }) => {
      idle.push(thread);
      if (error === undefined) resolve(minified);
      else reject(error);
      next();
    });
    thread.postMessage(task);
  }

  return {
    minify: (code, options) =>
      new Promise((resolve, reject) => {
        waiting.push({ task: { code, options }, resolve, reject });
        next();
      }),
    stop: () => Promise.all(threads.map((thread) => thread.terminate())),
  };
}
