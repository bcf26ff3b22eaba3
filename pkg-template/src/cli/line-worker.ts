/** A thread that scores windows of a large evaluation. It reads its lines itself, and answers with text that is ready to be written. */

import { parentPort, workerData } from "node:worker_threads";
import { evaluatePart } from "../evaluate.js";
import type { EvaluateRequest } from "../types.js";
import { api } from "./api.js";
import { scoreWindow, type Window, type WindowFiles } from "./line-windows.js";
import { Mistake } from "./mistakes.js";

const { files, options } = workerData as { files: WindowFiles; options: Omit<EvaluateRequest, "evalSet" | "actual"> };

// Finds the engine.
await api();
// One after the other: answers come in the order of the questions.
let before: Promise<void> = Promise.resolve();
parentPort?.on("message", (window: Window) => {
  before = before.then(() => answer(window));
});

async function answer(window: Window): Promise<void> {
  try {
    const scored = await scoreWindow(window, files, options, evaluatePart);
    const text = scored.text.slice();
    parentPort?.postMessage({ scored: { ...scored, text } }, [text.buffer as ArrayBuffer]);
  } catch (error) {
    const { message, location, help } = error instanceof Mistake ? error : new Mistake(String(error));
    parentPort?.postMessage({ mistake: { message, location, help } });
  }
}
