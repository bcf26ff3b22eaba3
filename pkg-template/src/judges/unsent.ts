/** Failures of samples without a call: they are not counted as calls. */

import { isAdkMetricsError } from "../errors.js";

const unsent = /* @__PURE__ */ new WeakSet<object>();

/** Marks the failure of a sample without a call in this run. */
export function markUnsent<E extends Error>(error: E): E {
  unsent.add(error);
  return error;
}

/** Whether no call was made: a recording lacks the reply, a batch has no answer, or a judge of a panel is not asked any more. */
export function isUnsent(error: unknown): boolean {
  return isAdkMetricsError(error) && (error.code === "replay_missing" || unsent.has(error));
}
