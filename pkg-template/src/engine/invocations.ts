import { AdkMetricsError } from "../errors.js";
import type { Invocation } from "../types.js";
import { hosted } from "./hosted.js";
import { isObject, reading } from "./values.js";
import { stringify } from "./writing.js";

/** Where the invocations of an input are found, so that results can give them back. */
export interface InvocationSource {
  /**
   * The invocation at a place: the very object that came in if it has the shape that hosts see, else one of that shape, or
   * one parsed from `[start, end)` of the bytes.
   */
  at(conversation: number, turn: number, span: Span | undefined): Invocation;
  /** The same as JSON: as it was written, if it came as text or bytes, so that numbers keep their digits. */
  jsonAt(conversation: number, turn: number, span: Span): string;
}

/** The position of an invocation in the bytes of its input. */
export type Span = readonly [start: number, end: number];

/**
 * The invocations of an input that was passed on as `bytes`.
 *
 * @param bytes Nothing if only some fields of an object were passed on.
 */
export function invocationsOf(input: unknown, bytes: Uint8Array | undefined): InvocationSource {
  const conversations = isObject(input) ? ifReadable(() => conversationsOf(input)) : undefined;
  // What `toJSON` wrote is not a property of the objects.
  let written: ReturnType<typeof conversationsOf> | undefined;
  const asWritten = () => (written ??= conversationsOf(JSON.parse(stringify(input as object, "result")) as object));
  const given = (conversation: number, turn: number) => {
    const found = ifReadable(() => conversations?.(conversation)?.[turn]);
    if (bytes !== undefined || isObject(found) || !isObject(input)) return found;
    return ifReadable(() => asWritten()?.(conversation)?.[turn]);
  };
  // The bytes are the caller's, who may have transferred them since.
  const hosts = new WeakMap<object, Invocation>();
  const slice = ([start, end]: Span) => {
    if (bytes === undefined) throw changed("the objects have");
    return reading("bytes", () => bytes.subarray(start, end));
  };
  return {
    at(conversation, turn, span) {
      const found = given(conversation, turn);
      if (isObject(found)) {
        const known = hosts.get(found) ?? (bytes === undefined ? asHosted(found) : ifReadable(() => hosted(found)));
        if (known !== undefined) {
          hosts.set(found, known);
          return known;
        }
      }
      return span === undefined ? emptyInvocation() : parseInvocation(slice(span));
    },
    jsonAt(conversation, turn, span) {
      const found = given(conversation, turn);
      return isObject(found) ? stringify(found, "result") : decoder.decode(slice(span));
    },
  };
}

const decoder = /* @__PURE__ */ new TextDecoder();

/** A getter or a proxy that answered when its object was written as JSON need not do so again. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** An invocation that was scored as an object, as hosts see it; as it is, if it has something that cannot be read. */
export function asHosted(given: unknown): Invocation {
  const found = given as Invocation;
  return (
    ifReadable(() => hosted(found)) ??
    ifReadable(() => hosted(JSON.parse(stringify(found, "result")) as object)) ??
    found
  );
}

function emptyInvocation(): Invocation {
  return { userContent: {} };
}

/**
 * An invocation that the engine has read, as an object.
 *
 * @throws {AdkMetricsError} `invalid_json` if the caller has changed the bytes since.
 */
function parseInvocation(bytes: Uint8Array): Invocation {
  let found: unknown;
  try {
    found = JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    throw changed("the bytes have", cause);
  }
  if (!isObject(found)) throw changed("the bytes have");
  return hosted(found);
}

function changed(what: "the bytes have" | "the objects have", cause?: unknown): AdkMetricsError {
  return new AdkMetricsError("invalid_json", `${what} changed since they were evaluated`, {
    help: what === "the bytes have" ? "Pass a copy: `bytes.slice()`" : "Pass a copy: `structuredClone(object)`",
    ...(cause === undefined ? {} : { cause }),
  });
}

type Conversations = (index: number) => readonly unknown[] | undefined;

/** The conversations of an object in one of today's shapes; sessions and old forms hold no invocations as such. */
function conversationsOf(input: object): Conversations | undefined {
  const cases = list(input, "evalCases", "eval_cases");
  if (cases !== undefined) return (index) => list(cases[index], "conversation");
  const results = list(input, "evalCaseResults", "eval_case_results");
  if (results !== undefined) {
    return (index) =>
      list(results[index], "evalMetricResultPerInvocation", "eval_metric_result_per_invocation")?.map((turn) =>
        property(turn, "actualInvocation", "actual_invocation"),
      );
  }
  const inferences = Array.isArray(input)
    ? (input as readonly unknown[])
    : (list(input, "inferenceResults", "inference_results") ?? [input]);
  return (index) => list(inferences[index], "inferences");
}

function list(value: unknown, ...keys: string[]): readonly unknown[] | undefined {
  const found = property(value, ...keys);
  return Array.isArray(found) ? (found as readonly unknown[]) : undefined;
}

function property(value: unknown, ...keys: string[]): unknown {
  if (!isObject(value)) return undefined;
  const key = keys.find((name) => Object.hasOwn(value, name));
  return key === undefined ? undefined : Reflect.get(value, key);
}
