/**
 * A thread of a large evaluation: it finds the lines of some files, or scores windows. It reads its lines itself, and answers with
 * text that is ready to be written.
 */

import { parentPort, workerData } from "node:worker_threads";
import { evaluatePart } from "../evaluate.js";
import type { EvaluateRequest } from "../types.js";
import { api } from "./api.js";
import { readLineFiles } from "./line-files.js";
import { scoreWindow, type Window, type WindowFiles } from "./line-windows.js";
import { Mistake } from "./mistakes.js";

/** What a thread is begun for: files that it reads, or windows that it is sent. */
export type ThreadWork =
  | { readonly read: { files: readonly string[]; what: string } }
  | { readonly files: WindowFiles; readonly options: Omit<EvaluateRequest, "evalSet" | "actual"> };

/** A window to score, and a buffer that may take its text. */
export interface Question {
  readonly window: Window;
  readonly spare: ArrayBuffer | undefined;
}

const work = workerData as ThreadWork;
if ("read" in work) {
  const { files, what } = work.read;
  await answer(async () => {
    const read = await readLineFiles(files, what);
    const rows = read.rows.sent;
    return [{ ...read, rows }, [rows.slots, ...Object.values(rows.columns)]];
  });
} else {
  // Finds the engine.
  await api();
  // One after the other: answers come in the order of the questions.
  let before: Promise<void> = Promise.resolve();
  parentPort?.on("message", ({ window, spare }: Question) => {
    before = before.then(() =>
      answer(async () => {
        const scored = await scoreWindow(window, work.files, work.options, evaluatePart, spare);
        return [scored, [scored.text]];
      }),
    );
  });
}

/** Answers with what is done, whose arrays move to the thread that gets them; or with what went wrong. */
async function answer(
  make: () => Promise<readonly [done: unknown, arrays: readonly ArrayBufferView[]]>,
): Promise<void> {
  try {
    const [done, arrays] = await make();
    parentPort?.postMessage(
      { done },
      arrays.map(({ buffer }) => buffer as ArrayBuffer),
    );
  } catch (error) {
    const { message, location, help } = error instanceof Mistake ? error : new Mistake(String(error));
    parentPort?.postMessage({ mistake: { message, location, help } });
  }
}
