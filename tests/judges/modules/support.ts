// What the tests of judges share: a request, and checks of errors.

import assert from "node:assert/strict";
import { inspect } from "node:util";
import { AdkMetricsError } from "../../../pkg-template/src/errors.js";
import type { JudgeRequest } from "../../../pkg-template/src/types.js";

/** A request with everything in it. */
export const REQUEST: JudgeRequest = {
  id: "1",
  metricName: "final_response_match_v2",
  purpose: "verdict",
  evalId: "paris",
  invocationIndex: 1,
  stepIndex: 0,
  sampleIndex: 2,
  model: "gemini-2.5-flash",
  system: "You are a strict judge.",
  prompt: "Is it valid?\nAnswer in JSON.",
  responseSchema: { type: "object", properties: { is_valid: { type: "string" } }, required: ["is_valid"] },
  generationConfig: { temperature: 0.5, max_output_tokens: 256, thinking_config: { thinking_budget: 0 } },
};

/** A request without what may be absent. */
export const PLAIN: JudgeRequest = {
  id: "2",
  metricName: "safety_v1",
  purpose: "score",
  invocationIndex: 0,
  stepIndex: 0,
  sampleIndex: 0,
  model: "gemini-2.5-flash",
  prompt: "Is it safe?",
};

/** A signal that never aborts. */
export const NEVER = (): AbortSignal => new AbortController().signal;

/** The error that a promise or a function ends in; it has to be the package's own. */
export async function errorOf(work: () => unknown): Promise<AdkMetricsError> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof AdkMetricsError, inspect(error));
    return error;
  }
  assert.fail("nothing was thrown");
}

/** Checks that a secret is nowhere in what programs print or store of a value. */
export function assertHidden(value: unknown, secret: string): void {
  const prints = [
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    JSON.stringify(value) ?? "",
    String(value),
    value instanceof Error ? `${value.stack}\n${value.message}\n${JSON.stringify({ ...value })}` : "",
  ];
  for (const print of prints) assert.ok(!print.includes(secret), print);
}

/** An object whose every property throws when it is read. */
export const HOSTILE = new Proxy(
  {},
  {
    get(_, key) {
      throw new Error(`no ${String(key)} for you`);
    },
    ownKeys() {
      throw new Error("no keys for you");
    },
  },
);
