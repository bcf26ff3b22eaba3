/** Creates the judge that the user chose. */

import {
  AdkMetricsError,
  type AdkMetricsErrorCode,
  type Judge,
  judgeOrigin,
  PROVIDER_JUDGES,
  replayJudge,
} from "adk-metrics/web";
import type { JudgeChoice, JudgeOptions, PageJudge, ServiceChoice } from "./protocol.js";
import { definedProperties } from "./runs.js";

/**
 * Creates a judge; undefined if none was chosen.
 *
 * @param pageJudge Calls the browser's own model, which is available in pages only.
 */
export function judgeOf(choice: JudgeChoice, pageJudge?: PageJudge): Judge | undefined {
  switch (choice.kind) {
    case "none":
      return undefined;
    case "recording":
      return replayJudge(choice.text);
    case "browser":
      return pageJudge === undefined ? undefined : judgeInPage(pageJudge);
    default: {
      const { kind, ...options } = choice;
      // Each takes the options of its form, which the engine lists.
      const make = PROVIDER_JUDGES[kind] as (options: JudgeOptions) => Judge;
      return make(options);
    }
  }
}

/** The origins of the servers of a judge and of the evaluation service. Throws if settings are missing. */
export function originsOf(judge: JudgeChoice, service?: ServiceChoice): string[] {
  const found = [originOf(judge), ...(service === undefined ? [] : [originOf({ kind: "vertex", ...service })])];
  return [...new Set(found.flatMap((origin) => origin ?? []))];
}

/** Undefined if the judge needs no network. */
function originOf(choice: JudgeChoice): string | undefined {
  if (choice.kind === "none" || choice.kind === "recording" || choice.kind === "browser") return undefined;
  const judge = judgeOf(choice);
  return judge && judgeOrigin(judge);
}

let lastCall = 0;

function judgeInPage(pageJudge: PageJudge): Judge {
  return async (request, { signal }) => {
    const call = (lastCall += 1);
    const cancel = (): void => pageJudge.cancel(call);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const answer = await pageJudge.ask(call, request);
      if (answer.ok) return answer.value;
      const { code, message, help, retryable } = answer.problem;
      const knownCode = code === "unexpected" ? "judge_failed" : (code satisfies AdkMetricsErrorCode);
      throw new AdkMetricsError(knownCode, message, definedProperties({ help, retryable }));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}
