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

const isText: Check = (value) => typeof value === "string";
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
const isReply = withFields({
  text: (value) => isText(value) && (value as string).length <= MAX_REPLY_LENGTH,
  usage: optional(withFields({ inputTokens: isTokens, outputTokens: isTokens, totalTokens: isTokens })),
  modelVersion: optional(isText),
});
const isFinding = (value: unknown): boolean =>
  isRecord(value) && Object.values(value).every((one) => isText(one) || isNumber(one));
const isSpent = withFields({
  used: (value) => isRecord(value) && Object.values(value).every(isAmount),
  players: listOf((value) => Array.isArray(value) && isText(value[0]) && listOf(isText)(value[1])),
  models: listOf(isText),
  warnings: listOf(isText),
});
const isJudge = withFields({
  metricName: isText,
  label: isText,
  model: optional(isText),
  provider: optional((value) => isText(value) && Object.hasOwn(PROVIDERS, value as string)),
  functionName: optional(isText),
  retirement: optional(isText),
  settings: optional(isText),
  unsent: listOf(isText),
  vertex: optional(isBoolean),
  panel: optional(listOf(isText)),
});

const FIELDS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  reply: {
    key: isText,
    reply: isReply,
    cached: optional(isBoolean),
    failed: optional((value) => isWhole(value) && within(0, MOST_FAILED)(value)),
    evalId: optional(isText),
    ms: optional(isAmount),
  },
  failure: {
    key: isText,
    failure: withFields({
      message: isText,
      retryable: isBoolean,
      help: optional(isText),
      retryAfterMs: optional(isAmount),
      status: optional(within(0, 65_535)),
    }),
    attempt: (value) => isWhole(value) && within(1, MOST_FAILED)(value),
  },
  metric: { key: isText, found: withFields({ overall: isFinding, turns: listOf(isFinding) }) },
  run: {
    evalId: isText,
    run: isWhole,
    result: withFields({
      evalCaseId: isText,
      inferences: listOf(isRecord),
      status: (value) => value === 0 || value === 1 || value === 2,
      errorMessage: optional(isText),
    }),
    spent: isSpent,
    ms: isAmount,
  },
  case: { evalId: isText },
  begin: {
    part: isText,
    at: within(0, LAST_MOMENT),
    inputs: withFields({ judge: optional(listOf(isJudge)), agent: optional(isText), shard: optional(isText) }),
  },
};

/** The first field with a wrong value. */
function wrongIn(entry: Fields, checks: Readonly<Record<string, Check>>): string | undefined {
  return Object.keys(checks).find((name) => !(checks[name] as Check)(entry[name]));
}

/**
 * Checks an entry.
 *
 * @param place Where it stands, for the error.
 * @throws {Error} for what no evaluation can have written.
 */
export function checkEntry(entry: unknown, place: string): asserts entry is JournalEntry {
  if (!isRecord(entry) || !isText(entry.type) || !isText(entry.section)) throw new Error(`${place} is no entry`);
  const type = entry.type as string;
  const wrong = Object.hasOwn(FIELDS, type) ? wrongIn(entry, FIELDS[type] as Record<string, Check>) : undefined;
  if (wrong === undefined) return;
  throw new Error(`${place} cannot be: \`${wrong}\` of a \`${type}\` is not what an evaluation writes there`);
}
