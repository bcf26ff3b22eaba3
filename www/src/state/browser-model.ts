/** The browser's own model. It is available in pages only, so the worker calls it through the page. */

import type { Judge } from "adk-metrics";
import { signal } from "@preact/signals";
import type { PageJudge } from "../worker/protocol.js";

/** The progress of the model's download, from 0 to 1; undefined if nothing is being downloaded. */
export const download = signal<number | undefined>(undefined);

/** Whether this browser has the Prompt API. Whether it has a model is only known after the first question. */
export const hasBrowserModel = "LanguageModel" in globalThis;

let judge: Promise<Judge> | undefined;
const calls = new Map<number, AbortController>();

export const pageJudge: PageJudge = {
  async ask(call, request) {
    const controller = new AbortController();
    calls.set(call, controller);
    try {
      judge ??= loadJudge();
      return { ok: true, value: await (await judge)(request, { signal: controller.signal }) };
    } catch (error) {
      const { message, help, retryable } = error as { message: string; help?: string; retryable?: boolean };
      const code = "judge_failed";
      const more = { ...(help === undefined ? {} : { help }), ...(retryable === undefined ? {} : { retryable }) };
      return { ok: false, problem: { code, message, ...more } };
    } finally {
      calls.delete(call);
    }
  },
  cancel: (call) => calls.get(call)?.abort(),
};

/** Creates the judge; called for the first question. */
async function loadJudge(): Promise<Judge> {
  const { browserJudge } = await import("adk-metrics/web");
  return browserJudge({
    download: true,
    onDownload: (loaded) => {
      download.value = loaded < 1 ? loaded : undefined;
    },
  });
}
