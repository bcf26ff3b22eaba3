/** What a caller gave, whatever its type says, and how errors speak of it. */

import { AdkMetricsError } from "../errors.js";

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

/** What an error says, whatever it is that was thrown. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return `${error.name}: ${error.message}`;
    return isObject(error) ? wordsOf(error) : String(error);
  } catch {
    return "an error without a message";
  }
}

/** What a thrown object says that is no `Error`: its message, its own words, else all of it as JSON. */
function wordsOf(thrown: object): string {
  const { message } = thrown as { message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  const words = String(thrown);
  return words === "[object Object]" ? JSON.stringify(thrown) : words;
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
