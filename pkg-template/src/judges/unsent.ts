/** Failures of samples for which nobody was asked: they count as no calls. */

import { isAdkMetricsError } from "../errors.js";

const unsent = /* @__PURE__ */ new WeakSet<object>();

/** Marks the failure of a sample for which nobody was asked in this run. */
export function markUnsent<E extends Error>(error: E): E {
  unsent.add(error);
  return error;
}

/** Whether nobody was asked: a recording lacks the reply, a batch has no answer, or a judge of a panel is not asked any more. */
export function isUnsent(error: unknown): boolean {
  return isAdkMetricsError(error) && (error.code === "replay_missing" || unsent.has(error));
}
