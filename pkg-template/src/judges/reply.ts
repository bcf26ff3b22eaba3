import { closest } from "../closest.js";
import { messageOf, shortened } from "../engine/values.js";
import { AdkMetricsError, type ErrorDetails, isAdkMetricsError } from "../errors.js";
import type { JudgeReply } from "../types.js";

/**
 * The longest reply that is read, in characters, and the longest answer of a server, in bytes. Verdicts are a few hundred
 * characters long; such a text is not a verdict, and results, caches and recordings would hold it.
 */
export const MAX_REPLY_LENGTH = 1024 * 1024;

/** How far errors are followed to their causes. */
const MOST_CAUSES = 6;

/** Replies of recordings, and copies of them: no call was made for them, whoever hands them on. */
const replayed = /* @__PURE__ */ new WeakSet<object>();

/** Notes that no call was made for a reply, since it is recorded. */
export function markReplayed(reply: JudgeReply): JudgeReply {
  replayed.add(reply);
  return reply;
}

/** Whether no call was made for a reply, since it is recorded. */
export function isReplayed(reply: JudgeReply): boolean {
  return replayed.has(reply);
}

/** Replies that were paid for and could not be recorded, by the error that says so. */
const ofErrors = /* @__PURE__ */ new WeakMap<object, JudgeReply>();

/** The error of a reply that could not be recorded, with the reply. */
export function unrecorded<E extends Error>(error: E, reply: JudgeReply): E {
  ofErrors.set(error, reply);
  return error;
}

/** The reply that could not be recorded, if that is the error, or a cause of it. */
export function unrecordedReply(error: unknown): JudgeReply | undefined {
  return firstOf(error, (cause) => ofErrors.get(cause));
}

/** What an error says, or else one that caused it. */
function firstOf<T>(error: unknown, read: (cause: object) => T | undefined): T | undefined {
  try {
    let cause = error;
    for (let depth = 0; typeof cause === "object" && cause !== null && depth < MOST_CAUSES; depth += 1) {
      const found = read(cause);
      if (found !== undefined) return found;
      ({ cause } = cause as Error);
    }
  } catch {
    // An error may throw when it is read.
  }
  return undefined;
}

/** Replies whose `usage` was not understood, and copies of them, with the warning of it. */
const miscounted = /* @__PURE__ */ new WeakMap<object, string>();

/** The warning about a reply whose `usage` has unreadable tokens. */
export function miscountedText(reply: JudgeReply): string | undefined {
  return miscounted.get(reply);
}

/**
 * What a judge gave, as a reply: a copy with what the contract names, each property read once.
 *
 * @throws {AdkMetricsError} `judge_failed` if it is neither a text nor an object with one, or if the text is longer than
 * {@link MAX_REPLY_LENGTH}.
 */
export function replyOf(given: unknown): JudgeReply {
  if (typeof given === "string") return { text: checkLength(given) };
  try {
    const { text, usage, modelVersion } = (given ?? {}) as Partial<Record<keyof JudgeReply, unknown>>;
    const counts = usageOf(usage);
    const used = counts === undefined ? {} : { usage: counts };
    if (typeof text !== "string")
      throw new AdkMetricsError("judge_failed", `the judge returned ${kindOf(given, text)}`, used);
    const reply: JudgeReply = { text: checkLength(text, used), ...used };
    const misread = miscounted.get(given as object) ?? misreadIn(given as object, usage, counts);
    if (misread !== undefined) miscounted.set(reply, misread);
    if (typeof modelVersion === "string") reply.modelVersion = shortened(modelVersion);
    else if (modelVersion !== undefined && modelVersion !== null) {
      const message = `the judge returned a reply whose modelVersion is of type ${typeof modelVersion}`;
      throw new AdkMetricsError("judge_failed", message, used);
    }
    return replayed.has(given as object) ? markReplayed(reply) : reply;
  } catch (cause) {
    if (isAdkMetricsError(cause)) throw cause;
    const message = `reading the judge's reply failed: ${shortened(messageOf(cause))}`;
    throw new AdkMetricsError("judge_failed", message, { cause });
  }
}

function checkLength(text: string, details: ErrorDetails = {}): string {
  if (text.length <= MAX_REPLY_LENGTH) return text;
  throw tooLong("the judge returned a reply", `${text.length} characters`, details);
}

/** The error for what is longer than {@link MAX_REPLY_LENGTH}. */
export function tooLong(what: string, length: string, details: ErrorDetails = {}): AdkMetricsError {
  return new AdkMetricsError("judge_failed", `${what} of ${length}; at most ${MAX_REPLY_LENGTH} are read`, {
    help: "Verdicts are short: check which model answers, and `maxOutputTokens` in judge_model_config",
    retryable: false,
    ...details,
  });
}

function kindOf(given: unknown, text: unknown): string {
  if (given === undefined || given === null) return "no reply";
  if (typeof given !== "object") return `a ${typeof given} instead of a reply`;
  return text === undefined
    ? "a reply without text"
    : `a reply whose text is ${text === null ? "null" : Array.isArray(text) ? "an array" : `of type ${typeof text}`}`;
}

const COUNTS = ["inputTokens", "outputTokens", "totalTokens"] as const;

const UNREAD =
  "the `usage` of the judge's replies has no `inputTokens` and `outputTokens` that can be read, so tokens are estimated";

/** The warning about a reply that reports more tokens than the one side that could be read. */
function misreadIn(reply: object, usage: unknown, counts: JudgeReply["usage"] = {}): string | undefined {
  if (usage === undefined || usage === null) {
    const named = meantBy(reply, ["usage"]);
    return named && `the judge's replies have no \`usage\`, so tokens are estimated${named}`;
  }
  if (typeof usage !== "object") return UNREAD;
  const { inputTokens, outputTokens, totalTokens } = counts;
  if (inputTokens !== undefined && outputTokens !== undefined) return undefined;
  const given = Object.entries(usage).filter(([, value]) => value !== undefined && value !== null);
  const unread = given.filter(([name]) => !Object.hasOwn(counts, name)).map(([name]) => name);
  const meant = meantBy(usage, COUNTS);
  if (meant !== undefined) return UNREAD + meant;
  // Where the total is known, counts under other names are not missed.
  const isMissed = (name: string) => totalTokens === undefined || name === "inputTokens" || name === "outputTokens";
  return unread.some(isMissed) ? UNREAD : undefined;
}

/** The first of these names that a key most likely misspells, in words. */
function meantBy(object: object, names: readonly string[]): string | undefined {
  for (const key of Object.keys(object)) {
    const meant = names.includes(key) ? undefined : closest(key, names);
    if (meant !== undefined && !Object.hasOwn(object, meant)) return `: did you mean \`${meant}\` by \`${key}\`?`;
  }
  return undefined;
}

/** Token counts, without numbers that are not possible or not exact. */
export function usageOf(usage: unknown): JudgeReply["usage"] | undefined {
  if (typeof usage !== "object" || usage === null) return undefined;
  const counts: NonNullable<JudgeReply["usage"]> = {};
  for (const key of COUNTS) {
    const count = (usage as Record<string, unknown>)[key];
    if (typeof count === "number" && count >= 0 && count <= Number.MAX_SAFE_INTEGER) counts[key] = count;
  }
  return Object.keys(counts).length === 0 ? undefined : counts;
}

/** The tokens that a call took which failed with this error. */
export function usageOfError(error: unknown): JudgeReply["usage"] | undefined {
  return firstOf(error, (cause) => usageOf((cause as { usage?: unknown }).usage));
}

/** The tokens of both sides, with others. */
export function withTokensOf(
  usage: NonNullable<JudgeReply["usage"]>,
  { inputTokens = 0, outputTokens = 0 }: NonNullable<JudgeReply["usage"]> = {},
): { inputTokens: number; outputTokens: number } {
  const more = tokensOf(usage);
  return { inputTokens: inputTokens + (more.inputTokens ?? 0), outputTokens: outputTokens + (more.outputTokens ?? 0) };
}

/** The tokens of both sides, as the engine has them: thoughts may be in the total alone, and are output. */
export function tokensOf(usage: NonNullable<JudgeReply["usage"]>): { inputTokens?: number; outputTokens?: number } {
  const { totalTokens, outputTokens = 0 } = usage;
  if (totalTokens === undefined) return usage;
  const { inputTokens = Math.max(0, totalTokens - outputTokens) } = usage;
  return { inputTokens, outputTokens: Math.max(outputTokens, totalTokens - inputTokens) };
}

/** The tokens of a text, of four bytes each. */
function estimatedTokens(text: string): number {
  return Math.floor(new TextEncoder().encode(text).length / 4);
}

/** What a call counts for in a budget: the tokens that its reply reports, and estimates of others, as the engine has it. */
export function countedTokens(
  prompt: string,
  { text, usage = {} }: JudgeReply,
): { inputTokens: number; outputTokens: number; isEstimate: boolean } {
  const known = tokensOf(usage);
  // Servers that count none report 0.
  const inputTokens = known.inputTokens || estimatedTokens(prompt);
  const outputTokens = known.outputTokens || (usage.totalTokens ? 0 : estimatedTokens(text));
  return {
    inputTokens,
    outputTokens,
    isEstimate: !known.inputTokens || (!known.outputTokens && outputTokens > 0),
  };
}
