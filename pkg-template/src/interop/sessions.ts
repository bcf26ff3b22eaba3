/** Sessions as ADK-TS and `@google/adk` hold them, made into what JSON can hold. */

import { closest } from "../closest.js";
import { optionsOf } from "../known-options.js";
import { isObject, messageOf, unexpected, reading } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { fieldsOf } from "./otlp.js";

/** How to read sessions. */
export interface SessionOptions {
  /**
   * Which case a session is a run of, by the session's id. Default: the case with the same id. An id that no session has is
   * an error, unless every session is in the map.
   */
  evalIds?: Readonly<Record<string, string>>;
}

/**
 * Sessions as `evaluate` takes them for `actual`: copies in which sets are lists, maps are objects, and dates are seconds
 * since 1970. Sessions that were stored as JSON can be given to `evaluate` as they are; in that of ADK-TS the tools that
 * were still at work are lost.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but an object, `unserializable` for what JSON cannot hold: a cycle, a
 * BigInt, more levels than can be walked.
 *
 * @example
 * const session = await sessionService.getSession("shop", "user", "s1");
 * await evaluate({ evalSet, actual: readSessions([session]) });
 */
export function readSessions(sessions: object | readonly object[], options: SessionOptions = {}): object[] {
  const { evalIds = {} } = optionsOf(options, ["evalIds"]);
  return reading("sessions", () => sessionsOf(sessions, evalIds));
}

function sessionsOf(sessions: object | readonly object[], evalIds: Readonly<Record<string, string>>): object[] {
  const isList = Array.isArray(sessions);
  const all = (isList ? (sessions as readonly object[]) : [sessions]).map((session, at) => {
    if (!isObject(session)) {
      throw unexpected(
        "a session or a list of them",
        session,
        "sessions",
        "Parse text or bytes first, with JSON.parse",
      );
    }
    const plain = plainOf(session, isList ? `sessions[${at}]` : "sessions");
    const { id } = plain as { id?: unknown };
    const evalId = typeof id === "string" && Object.hasOwn(evalIds, id) ? evalIds[id] : undefined;
    return evalId === undefined ? plain : { ...plain, evalId };
  });
  const problem = unusedIds(
    evalIds,
    all.map((session) => (session as { id?: unknown }).id),
    "session",
  );
  if (problem !== undefined)
    throw new AdkMetricsError("invalid_input", problem.message, { path: "evalIds", ...problem });
  return all;
}

/** What is wrong with a map by ids, if it has some that nothing has, although not everything is in it. */
export function unusedIds(
  evalIds: Readonly<Record<string, string>>,
  ids: readonly unknown[],
  what: string,
): { message: string; help: string } | undefined {
  const open = ids.filter((id) => typeof id !== "string" || !Object.hasOwn(evalIds, id));
  const unused = Object.keys(evalIds).find((id) => !ids.includes(id));
  if (unused === undefined || open.length === 0) return undefined;
  const named = open.filter((id) => typeof id === "string");
  const meant = closest(unused, named);
  const help =
    meant === undefined
      ? `Not in it: ${
          named
            .slice(0, 5)
            .map((id) => JSON.stringify(id))
            .join(", ") || `a ${what} without an id`
        }`
      : `Did you mean ${JSON.stringify(meant)}?`;
  return { message: `\`evalIds\` has ${JSON.stringify(unused)}, which no ${what} has as its id`, help };
}

/** What JSON holds of a session. */
function plainOf(session: object, path: string): object {
  let plain: unknown;
  try {
    plain = JSON.parse(JSON.stringify(session, replacer) ?? "null");
  } catch (cause) {
    if (isAdkMetricsError(cause)) throw cause;
    const message =
      cause instanceof RangeError
        ? "the session is nested too deeply"
        : `the session cannot be written as JSON: ${messageOf(cause)}`;
    throw new AdkMetricsError("unserializable", message, { path, cause });
  }
  if (!isObject(plain)) throw unexpected("a session or a list of them", plain, path);
  return plain;
}

/** `this` holds the value before `toJSON`, which a date has. */
function replacer(this: unknown, key: string, value: unknown): unknown {
  const given = fieldsOf(this)?.[key] ?? value;
  if (given instanceof Set) return [...(given as Set<unknown>)];
  if (given instanceof Map) return Object.fromEntries(given as Map<string, unknown>);
  if (given instanceof Date) return given.getTime() / 1000;
  return value;
}
