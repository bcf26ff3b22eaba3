/** What the engine receives for a failed call, whatever the judge threw. */

import { messageOf } from "../engine/values.js";
import { type AdkMetricsError, isAdkMetricsError } from "../errors.js";
import type { HostFailure, TokenCounts } from "../generated/contract.js";
import { RETRIED_STATUSES } from "../generated/limits.js";
import { usageOfError } from "../judges/reply.js";

/** Characters of an error that a result repeats. */
const LONGEST_MESSAGE = 1000;

/** A call without a reply. */
export interface FailedCall extends HostFailure {
  /** The tokens that it took nevertheless. */
  usage?: TokenCounts;
}

/** Only errors that say so are retried. One with the status of a busy server that says nothing gets help that tells how. */
export function failedBy(error: unknown): FailedCall {
  const { status, retryable, retryAfterMs } = detailsOf(error);
  const usage = usageOfError(error);
  const failed: FailedCall = { message: shortened(errorText(error)), retryable: retryable === true };
  if (retryable === undefined && RETRIED_STATUSES.includes(status as number)) {
    failed.help = "Only errors with `retryable: true` are retried";
  }
  if (typeof status === "number" && Number.isInteger(status) && status >= 100 && status <= 599) failed.status = status;
  if (typeof retryAfterMs === "number" && retryAfterMs >= 0) failed.retryAfterMs = retryAfterMs;
  if (usage !== undefined) failed.usage = usage;
  return failed;
}

/** What was thrown, in words. Some throw plain objects with a message, and some nothing at all. */
function errorText(error: unknown): string {
  if (isAdkMetricsError(error)) return messageOf(error);
  if (error === undefined || error === null || error === "") return "the judge failed without an error";
  return `the judge failed: ${messageOf(error)}`;
}

function shortened(text: string): string {
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}…`;
}

/** The properties of something that was thrown, which may be of any type, or throw when they are read. */
function detailsOf(error: unknown): Partial<Record<"message" | "status" | "retryable" | "retryAfterMs", unknown>> {
  if (typeof error !== "object" || error === null) return {};
  try {
    const { message, status, retryable, retryAfterMs } = error as Partial<AdkMetricsError>;
    return { message, status, retryable, retryAfterMs };
  } catch {
    return {};
  }
}
