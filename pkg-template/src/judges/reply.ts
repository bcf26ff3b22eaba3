import { messageOf } from "../engine/input.js";
import { AdkMetricsError } from "../errors.js";
import type { JudgeReply } from "../types.js";

/**
 * What a judge gave, as a reply: a copy with what the contract names, each property read once.
 *
 * @throws {AdkMetricsError} `judge_failed` if it is neither a text nor an object with one.
 */
export function replyOf(given: unknown): JudgeReply {
  if (typeof given === "string") return { text: given };
  try {
    const { text, usage, modelVersion } = (given ?? {}) as Partial<Record<keyof JudgeReply, unknown>>;
    if (typeof text !== "string") throw new AdkMetricsError("judge_failed", `the judge gave ${kindOf(given, text)}`);
    const reply: JudgeReply = { text };
    const counts = usageOf(usage);
    if (counts !== undefined) reply.usage = counts;
    if (typeof modelVersion === "string") reply.modelVersion = modelVersion;
    return reply;
  } catch (cause) {
    if (cause instanceof AdkMetricsError) throw cause;
    throw new AdkMetricsError("judge_failed", `reading the judge's reply failed: ${messageOf(cause)}`, { cause });
  }
}

function kindOf(given: unknown, text: unknown): string {
  if (given === undefined || given === null) return "no reply";
  if (typeof given !== "object") return `a ${typeof given} instead of a reply`;
  return text === undefined
    ? "a reply without a text"
    : `a reply whose text is ${Array.isArray(text) ? "an array" : `of type ${typeof text}`}`;
}

/** Token counts, of which only numbers that can be some are kept. */
export function usageOf(usage: unknown): JudgeReply["usage"] | undefined {
  if (typeof usage !== "object" || usage === null) return undefined;
  const counts: NonNullable<JudgeReply["usage"]> = {};
  for (const key of ["inputTokens", "outputTokens", "totalTokens"] as const) {
    const count = (usage as Record<string, unknown>)[key];
    if (typeof count === "number" && count >= 0 && count < Infinity) counts[key] = count;
  }
  return Object.keys(counts).length === 0 ? undefined : counts;
}
