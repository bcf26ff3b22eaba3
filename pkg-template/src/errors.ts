import { keysHelp } from "./closest.js";
import type { EngineError } from "./generated/contract.js";
import { CONVERSATION_SCENARIO_KEYS, USER_SIMULATOR_KEYS } from "./generated/keys.js";
import type { Mistake, MistakeCode } from "./generated/shapes.js";
import { definedProperties } from "./lists.js";
import type { JudgeReply } from "./types.js";

/**
 * What kind of error it is. Besides the engine's codes:
 * - `unserializable`: an object cannot be written as JSON (a cycle, a BigInt, NaN, a getter that throws).
 * - `engine_crashed`: a bug of this package; the engine was restarted and stays usable.
 * - `engine_unavailable`: this runtime cannot load the engine.
 * - `judge_required`: a metric needs a judge, and there is none.
 * - `judge_unavailable`: the judge cannot be asked here: no built-in model in this browser, no `fetch`.
 * - `judge_failed`: a call of a judge failed, or its reply cannot be used.
 * - `replay_missing`: a recording has no reply for a request.
 * - `recording_failed`: a reply could not be written to a recording.
 * - `cache_failed`: a cache could not be read or written.
 * - `journal_failed`: a journal could not be read or written, or is of other inputs.
 * - `queue_failed`: a queue could not be reached, or holds something else.
 */
export type AdkMetricsErrorCode =
  | MistakeCode
  | "unserializable"
  | "engine_crashed"
  | "engine_unavailable"
  | "judge_required"
  | "judge_unavailable"
  | "judge_failed"
  | "replay_missing"
  | "recording_failed"
  | "cache_failed"
  | "journal_failed"
  | "queue_failed";

/** What an error says besides its code and message: the fields of {@link AdkMetricsError} with these names. */
export interface ErrorDetails {
  path?: string;
  line?: number;
  help?: string;
  retryable?: boolean;
  retryAfterMs?: number;
  status?: number;
  usage?: NonNullable<JudgeReply["usage"]>;
  cause?: unknown;
}

/** The one class of errors: what is wrong, where, and what to do. */
export class AdkMetricsError extends Error {
  override readonly name = "AdkMetricsError";
  /** What kind of error it is. */
  readonly code: AdkMetricsErrorCode;
  /** Where in the input: `evalSet: eval_cases[2].conversation[0].user_content`. */
  declare readonly path?: string;
  /** The line of the input, counted from 1; only for text and bytes. */
  declare readonly line?: number;
  /** What to do about it. */
  declare readonly help?: string;
  /** Whether the same call may succeed later; for calls of judges only. */
  declare readonly retryable?: boolean;
  /** How long the server asks to wait before the next call, in milliseconds. */
  declare readonly retryAfterMs?: number;
  /** The HTTP status of the server's answer. */
  declare readonly status?: number;
  /** The tokens that the answer took nevertheless; they count as those of replies do. */
  declare readonly usage?: NonNullable<JudgeReply["usage"]>;

  constructor(code: AdkMetricsErrorCode, message: string, more: ErrorDetails = {}) {
    const details = detailsOf(more);
    super(textOf(message), details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    // JavaScriptCore gives every error the line of the program that made it.
    delete (this as { line?: number }).line;
    for (const [key, type] of DETAILS) {
      if (typeof details[key] === type) Object.assign(this, { [key]: details[key] });
    }
  }

  /** The error as a line or two of text: message, place, help. */
  override toString(): string {
    return describe(this);
  }
}

/** The details and their types. One of another type is left out: an error must not fail when it is made or shown. */
const DETAILS = [
  ["path", "string"],
  ["line", "number"],
  ["help", "string"],
  ["retryable", "boolean"],
  ["retryAfterMs", "number"],
  ["status", "number"],
  ["usage", "object"],
] as const;

/** A copy; what cannot be read becomes the cause. */
function detailsOf(given: ErrorDetails): ErrorDetails {
  try {
    return { ...given };
  } catch (cause) {
    return { cause };
  }
}

function textOf(message: unknown): string {
  try {
    return String(message ?? "");
  } catch {
    return "a message that cannot be read";
  }
}

/** Whether it is an error of ours. A proxy that throws when it is asked is none. */
export function isAdkMetricsError(error: unknown): error is AdkMetricsError {
  try {
    return error instanceof AdkMetricsError;
  } catch {
    return false;
  }
}

/** The same error with the place that it lacks. Anything else is left as it is. */
export function withPath(error: unknown, path: string): unknown {
  return !isAdkMetricsError(error) || error.path !== undefined ? error : withDetails(error, { path });
}

/** The same error with other details. */
export function withDetails(error: AdkMetricsError, other: ErrorDetails): AdkMetricsError {
  const { code, message, path, line, help, retryable, retryAfterMs, status, usage, cause } = error;
  const details = { path, line, help, retryable, retryAfterMs, status, usage, cause, ...other };
  const known = Object.entries(details).filter(([, value]) => value !== undefined);
  return new AdkMetricsError(code, message, Object.fromEntries(known));
}

/** A mistake in words: message, place, help. */
export function describe(mistake: { message: string; path?: string; line?: number; help?: string }): string {
  const locations = [mistake.path, mistake.line === undefined ? undefined : `line ${mistake.line}`];
  const location = locations.filter((text) => text !== undefined).join(", ");
  if (mistake.help === undefined) return `${mistake.message}${location === "" ? "" : ` (at ${location})`}`;
  const message = location === "" ? mistake.message.replace(/\.$/, "") : `${mistake.message} (at ${location})`;
  return `${message}. ${mistake.help}`;
}

/** Warnings as an error, where `strict` asks for it. They are its `cause`. */
export function strictErrorOf(warnings: readonly Mistake[]): AdkMetricsError {
  const [first, ...others] = warnings;
  const { code = "invalid_input", message = "", path, line, help } = first ?? {};
  if (others.length > 0) {
    const list = warnings.map((warning) => `- ${describe(warning as Parameters<typeof describe>[0])}`).join("\n");
    return new AdkMetricsError(
      code,
      `there are ${warnings.length} warnings, which \`strict\` treats as errors:\n${list}`,
      {
        cause: warnings,
      },
    );
  }
  return new AdkMetricsError(code, message, {
    ...(path ? { path } : {}),
    ...(line ? { line } : {}),
    ...(help ? { help } : {}),
    cause: warnings,
  });
}

/** The warnings that an error of `strict` is made of. */
export function strictWarningsOf(error: unknown): readonly Mistake[] {
  const cause = isAdkMetricsError(error) ? error.cause : undefined;
  return Array.isArray(cause) ? (cause as Mistake[]) : [];
}

/** Whether a thrown value is a mistake that the engine reported. */
export function isEngineError(value: unknown): value is EngineError {
  return (
    typeof value === "object" && value !== null && "code" in value && "message" in value && !(value instanceof Error)
  );
}

/** The error for a mistake. Lines mean nothing to those who passed an object. */
export function errorOf(mistake: EngineError, hasLines: (input: string | undefined) => boolean): AdkMetricsError {
  const { input, path, help = helpFor(mistake) } = mistake;
  const location = [input, path === "$" ? undefined : path].filter((part) => part !== undefined).join(": ");
  const hasNeedlessLine = !hasLines(input) && mistake.message.includes(" is already used at ");
  const message = hasNeedlessLine ? mistake.message.replace(/ \(line \d+\)$/, "") : mistake.message;
  return new AdkMetricsError(mistake.code, message, {
    ...(location === "" ? {} : { path: location }),
    ...(mistake.line !== undefined && hasLines(input) ? { line: mistake.line } : {}),
    ...definedProperties({ help }),
  });
}

/** The keys of objects with few keys, by their location. */
const KEYS: readonly (readonly [location: RegExp, keys: readonly (readonly [camel: string, snake: string])[]])[] = [
  [/(?:^|\.)conversation_?scenario\.([^.[\]]+)$/i, CONVERSATION_SCENARIO_KEYS],
  [/^user_?simulator_?config\.([^.[\]]+)$/i, USER_SIMULATOR_KEYS],
];

/** The advice on an unknown key for which the engine has no suggestion. */
function helpFor({ message, path = "" }: EngineError): string | undefined {
  if (!message.includes("is not a key of")) return undefined;
  for (const [location, keys] of KEYS) {
    const key = location.exec(path)?.[1];
    if (key !== undefined)
      return keysHelp(
        key,
        keys.map(([, snake]) => snake),
      );
  }
  return undefined;
}

/** A warning as results have it. */
export function warningOf(
  warning: EngineError,
  { hasLines }: { hasLines(input: string | undefined): boolean },
): Mistake {
  const { path, line, help } = errorOf(warning, hasLines);
  return {
    code: warning.code,
    message: warning.message,
    ...definedProperties({ path, line, help }),
  };
}
