import type { Mistake, MistakeCode } from "./generated/shapes.js";

/**
 * What kind of error it is. Besides the engine's codes:
 * - `unserializable`: an object cannot be written as JSON (a cycle, a BigInt, NaN, a getter that throws).
 * - `engine_crashed`: a bug of this package; the engine was started afresh and stays usable.
 * - `engine_unavailable`: this runtime cannot load the engine.
 */
export type AdkMetricsErrorCode = MistakeCode | "unserializable" | "engine_crashed" | "engine_unavailable";

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

  constructor(
    code: AdkMetricsErrorCode,
    message: string,
    more: { path?: string; line?: number; help?: string; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    if (more.path !== undefined) this.path = more.path;
    if (more.line !== undefined) this.line = more.line;
    if (more.help !== undefined) this.help = more.help;
  }

  /** The error as a line or two of text: message, place, help. */
  override toString(): string {
    return describe(this);
  }
}

/** A mistake in words: message, place, help. */
export function describe(mistake: { message: string; path?: string; line?: number; help?: string }): string {
  const places = [mistake.path, mistake.line === undefined ? undefined : `line ${mistake.line}`];
  const place = places.filter((text) => text !== undefined).join(", ");
  const help = mistake.help === undefined ? "" : `. ${mistake.help}`;
  return `${mistake.message}${place === "" ? "" : ` (at ${place})`}${help}`;
}

/** A mistake that the engine reported, with the name of the input it is about. */
export interface EngineMistake extends Mistake {
  input?: string;
}

/** Whether a thrown value is a mistake that the engine reported. */
export function isEngineMistake(value: unknown): value is EngineMistake {
  return (
    typeof value === "object" && value !== null && "code" in value && "message" in value && !(value instanceof Error)
  );
}

/** The error for a mistake. Lines mean nothing to those who passed an object. */
export function ofMistake(mistake: EngineMistake, hasLines: (input: string | undefined) => boolean): AdkMetricsError {
  const { input, path } = mistake;
  const place = [input, path === "$" ? undefined : path].filter((part) => part !== undefined).join(": ");
  return new AdkMetricsError(mistake.code, mistake.message, {
    ...(place === "" ? {} : { path: place }),
    ...(mistake.line !== undefined && hasLines(input) ? { line: mistake.line } : {}),
    ...(mistake.help === undefined ? {} : { help: mistake.help }),
  });
}
