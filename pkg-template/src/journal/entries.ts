/** Checks entries of a journal, since others may write to it: it is trusted with answers, and with nothing else. */

import { isObject } from "../engine/values.js";
import { PROVIDERS } from "../generated/providers.js";
import { MAX_REPLY_LENGTH } from "../judges/reply.js";
import type { JournalEntry } from "../types.js";

type Check = (value: unknown) => boolean;
type Fields = Readonly<Record<string, unknown>>;

/** More calls than any retry makes for one reply. */
const MOST_FAILED = 100_000;
/** The last moment that a `Date` can hold, in milliseconds since 1970. */
const LAST_MOMENT = 8.64e15;

const isString: Check = (value) => typeof value === "string";
const isBoolean: Check = (value) => typeof value === "boolean";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isRecord = (value: unknown): value is Fields => isObject(value) && !Array.isArray(value);
const isWhole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isAmount: Check = (value) => isNumber(value) && (value as number) >= 0;
const within =
  (least: number, most: number): Check =>
  (value) =>
    isNumber(value) && (value as number) >= least && (value as number) <= most;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((one) => check(one));
const withFields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isRecord(value) && wrongIn(value, checks) === undefined;

const isTokens = optional(isAmount);
const isUsage = optional(withFields({ inputTokens: isTokens, outputTokens: isTokens, totalTokens: isTokens }));
const isReply = withFields({
  text: (value) => isString(value) && (value as string).length <= MAX_REPLY_LENGTH,
  usage: isUsage,
  modelVersion: optional(isString),
});
const isFinding = (value: unknown): boolean =>
  isRecord(value) && Object.values(value).every((one) => isString(one) || isNumber(one));
const isSpent = withFields({
  used: (value) => isRecord(value) && Object.values(value).every(isAmount),
  players: listOf((value) => Array.isArray(value) && isString(value[0]) && listOf(isString)(value[1])),
  models: listOf(isString),
  warnings: listOf(isString),
});
const isJudge = withFields({
  metricName: isString,
  label: isString,
  model: optional(isString),
  provider: optional((value) => isString(value) && Object.hasOwn(PROVIDERS, value as string)),
  functionName: optional(isString),
  retirement: optional(isString),
  settings: optional(isString),
  unsent: listOf(isString),
  vertex: optional(isBoolean),
  panel: optional(listOf(isString)),
});

const FIELDS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  reply: {
    key: isString,
    reply: isReply,
    cached: optional(isBoolean),
    failed: optional((value) => isWhole(value) && within(0, MOST_FAILED)(value)),
    failedUsage: isUsage,
    evalId: optional(isString),
    ms: optional(isAmount),
  },
  failure: {
    key: isString,
    failure: withFields({
      message: isString,
      retryable: isBoolean,
      help: optional(isString),
      retryAfterMs: optional(isAmount),
      status: optional(within(0, 65_535)),
    }),
    attempt: (value) => isWhole(value) && within(0, MOST_FAILED)(value),
    failedUsage: isUsage,
  },
  metric: { key: isString, found: withFields({ overall: isFinding, turns: listOf(isFinding) }) },
  run: {
    evalId: isString,
    run: isWhole,
    result: withFields({
      evalCaseId: isString,
      inferences: listOf(isRecord),
      status: (value) => value === 0 || value === 1 || value === 2,
      errorMessage: optional(isString),
    }),
    spent: isSpent,
    ms: isAmount,
  },
  case: { evalId: isString },
  begin: {
    part: isString,
    at: within(0, LAST_MOMENT),
    inputs: withFields({ judge: optional(listOf(isJudge)), agent: optional(isString), shard: optional(isString) }),
  },
};

/** The first field with a wrong value. */
function wrongIn(entry: Fields, checks: Readonly<Record<string, Check>>): string | undefined {
  return Object.keys(checks).find((name) => !(checks[name] as Check)(entry[name]));
}

/**
 * Checks an entry.
 *
 * @param place Its location, for the error.
 * @throws {Error} for what no evaluation can have written.
 */
export function checkEntry(entry: unknown, place: string): asserts entry is JournalEntry {
  if (!isRecord(entry) || !isString(entry.type) || !isString(entry.section))
    throw new Error(`${place} is not an entry`);
  const type = entry.type as string;
  const wrong = Object.hasOwn(FIELDS, type) ? wrongIn(entry, FIELDS[type] as Record<string, Check>) : undefined;
  if (wrong === undefined) return;
  throw new Error(`${place} is invalid: an evaluation does not write such a \`${wrong}\` in a \`${type}\``);
}
