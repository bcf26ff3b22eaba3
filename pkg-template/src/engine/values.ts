/** What a caller gave, whatever its type says, and how errors speak of it. */

import { AdkMetricsError, isAdkMetricsError } from "../errors.js";

/** The bytes that a view or a buffer really has, whatever a subclass says of its length. */
export function bytesOf(value: object, name: string): Uint8Array | undefined {
  if (!ArrayBuffer.isView(value) && !isArrayBuffer(value)) return undefined;
  try {
    if (!ArrayBuffer.isView(value)) return new Uint8Array(value);
    const slots = isTypedArray(value) ? typedArraySlots : dataViewSlots;
    return new Uint8Array(slots.buffer(value), slots.byteOffset(value), slots.byteLength(value));
  } catch (cause) {
    throw new AdkMetricsError("invalid_input", "the bytes are gone: their buffer was transferred or resized", {
      path: name,
      help: "Pass a copy: `bytes.slice()`",
      cause,
    });
  }
}

interface ViewSlots {
  buffer(view: ArrayBufferView): ArrayBuffer;
  byteOffset(view: ArrayBufferView): number;
  byteLength(view: ArrayBufferView): number;
}

/** The language's own getters, which no subclass can replace. */
function slotsOf(prototype: object): ViewSlots {
  const getter = (key: string) => {
    const get = Object.getOwnPropertyDescriptor(prototype, key)?.get as () => unknown;
    return (view: ArrayBufferView) => get.call(view) as never;
  };
  return { buffer: getter("buffer"), byteOffset: getter("byteOffset"), byteLength: getter("byteLength") };
}

const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype) as object;
const typedArraySlots = /* @__PURE__ */ slotsOf(typedArrayPrototype);
const dataViewSlots = /* @__PURE__ */ slotsOf(DataView.prototype);
const typedArrayTag = Object.getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag)?.get;

export function isTypedArray(view: ArrayBufferView): boolean {
  return typedArrayTag?.call(view) !== undefined;
}

/** Whether it is a `Uint8Array`, of whichever realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return typedArrayTag?.call(value) === "Uint8Array";
}

/**
 * Asks no prototype, which another realm's buffer does not share. Only what calls itself a buffer is asked for its
 * length, since finding out by an exception takes longer than scoring a conversation.
 */
function isArrayBuffer(value: object): value is ArrayBuffer {
  try {
    if (Object.prototype.toString.call(value) !== "[object ArrayBuffer]") return false;
    arrayBufferLength?.call(value);
    return true;
  } catch {
    return false;
  }
}

const arrayBufferLength = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")?.get;

/** Whether an input is an object, whose parts go back to the caller as they are. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !isArrayBuffer(value);
}

/** The error for an argument that is not what its type says. */
export function unexpected(what: string, found: unknown, path: string, help?: string): AdkMetricsError {
  const advice = isPromise(found) ? "Await it first" : help;
  return new AdkMetricsError("invalid_input", `expected ${what}, found ${nameOf(found)}`, {
    path,
    ...(advice === undefined ? {} : { help: advice }),
  });
}

/** Whether a value is a promise. Of a proxy that was revoked nothing can be asked. */
function isPromise(value: unknown): boolean {
  try {
    return value instanceof Promise;
  } catch {
    return false;
  }
}

/** Whether a value is an array. Of a proxy that was revoked nothing can be asked. */
export function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

function nameOf(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "nothing";
    case "object":
      if (value === null) return "null";
      if (isPromise(value)) return "a promise";
      return isList(value) ? "an array" : "an object";
    case "string":
      return value.length > 40 ? "a string" : JSON.stringify(value);
    case "number":
    case "boolean":
      return String(value);
    default:
      return `a ${typeof value}`;
  }
}

/** Characters of what is repeated as it is: names of models, messages of errors. */
const LONGEST_TEXT = 400;

/** The most causes of an error that are shown. */
const MOST_CAUSES = 5;

/** The beginning of a text, as much as is worth repeating. */
export function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  // Never half a character at the end.
  return `${text.slice(0, LONGEST_TEXT).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** What an error says, whatever it is that was thrown, and what its causes say besides. */
export function messageOf(error: unknown): string {
  let text = titleOf(error);
  for (const siblings of causesOf(error)) {
    let joint = "; caused by ";
    for (const cause of siblings) {
      const title = shortened(titleOf(cause));
      const message = textIn(cause, "message") || title;
      if (text.includes(title) || text.includes(message)) continue;
      text += joint + title;
      joint = " and ";
    }
  }
  return text;
}

/** `TypeError: it is not a function` */
export function titleOf(error: unknown): string {
  return quietly(() => (isAdkMetricsError(error) ? String(error) : wordsOf(error))) ?? "an error without a message";
}

/** What a thrown value says: class and message, else its own words, else all of it as JSON. */
function wordsOf(thrown: unknown): string {
  if (!isObject(thrown)) return String(thrown);
  const { name, message, code } = thrown as Partial<Record<string, unknown>>;
  if (thrown instanceof Error) {
    // A class that sets no name calls itself by that of the class it extends.
    const own = (name === "Error" && thrown.constructor?.name) || name;
    const more = message === "" && typeof code === "string" ? ` (${code})` : "";
    return [own, message].filter(Boolean).join(": ") + more;
  }
  if (typeof message === "string" && message !== "") return message;
  const words = String(thrown);
  return words === "[object Object]" ? textIn(thrown, "code") || JSON.stringify(thrown) : words;
}

/**
 * What caused an error, and that in turn, as far as it has words: other objects may hold secrets, such as the headers of a
 * request. Node's error of several addresses has an error for each; those are together.
 */
export function causesOf(error: unknown): unknown[][] {
  const known = new Set([error]);
  const groups: unknown[][] = [];
  for (const one of known) {
    const within = quietly(() => {
      const { cause, errors } = one as { cause?: unknown; errors?: unknown };
      return [cause].concat(isList(errors) ? errors.slice(0, MOST_CAUSES) : []);
    });
    const others = (within ?? []).filter(
      (next) => next != null && !known.has(next) && known.size <= MOST_CAUSES && known.add(next),
    );
    groups.push(
      others.filter((next) => quietly(() => next instanceof Error) || textIn(next, "message") || textIn(next, "code")),
    );
  }
  return groups;
}

/** A text that a thrown value has; a text that was thrown is its own message. */
function textIn(thrown: unknown, key: "message" | "code"): string {
  const text = typeof thrown === "string" ? thrown : quietly(() => (thrown as Record<string, unknown>)[key]);
  return typeof text === "string" ? text : "";
}

/** Thrown values may throw when they are read. */
export function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * Works with objects of the caller's. What their getters, proxies and methods throw becomes an error of ours.
 *
 * @throws {AdkMetricsError} `invalid_input` with the `cause`.
 */
export function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof AdkMetricsError) throw cause;
    throw new AdkMetricsError("invalid_input", `reading it failed: ${messageOf(cause)}`, { path, cause });
  }
}
