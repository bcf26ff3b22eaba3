import { AdkMetricsError } from "../errors.js";

const encoder = new TextEncoder();

/** As much as the engine reads of one input. Checked here too, since more might not even fit into its memory. */
export const MAX_BYTES = 256 * 1024 * 1024;

/** JSON as bytes: bytes and text as they are, objects written as JSON. */
export function toBytes(value: unknown, name: string): Uint8Array {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) {
    throw unexpected("JSON text, bytes or an object", value, name);
  }
  const bytes =
    typeof value === "string" ? encode(value, name) : (bytesOf(value) ?? encode(stringify(value, name), name));
  checkSize(bytes.length, name);
  return bytes;
}

function encode(text: string, name: string): Uint8Array {
  checkSize(text.length, name);
  return encoder.encode(wellFormed(text, name));
}

/** @throws {AdkMetricsError} `limit_exceeded` for more bytes than the engine reads. */
export function checkSize(bytes: number, name: string): void {
  if (bytes <= MAX_BYTES) return;
  throw new AdkMetricsError("limit_exceeded", `the input has ${bytes} bytes or more; at most ${MAX_BYTES} are read`, {
    path: name,
    help: "Split it into several files",
  });
}

function bytesOf(value: object): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    return value instanceof Uint8Array ? value : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return isArrayBuffer(value) ? new Uint8Array(value) : undefined;
}

/** Asks no prototype, for which a proxy might have a trap. */
function isArrayBuffer(value: object): value is ArrayBuffer {
  try {
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
export function unexpected(what: string, found: unknown, path: string): AdkMetricsError {
  return new AdkMetricsError("invalid_input", `expected ${what}, found ${nameOf(found)}`, { path });
}

function nameOf(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "nothing";
    case "object":
      return value === null ? "null" : "an object";
    case "string":
      return value.length > 40 ? "a text" : JSON.stringify(value);
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
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error that has no words";
  }
}

/** `TextEncoder` would turn half a surrogate pair into U+FFFD without a word. */
function wellFormed(text: string, name: string): string {
  if (isWellFormed(text)) return text;
  throw new AdkMetricsError("invalid_json", "the text holds half of a surrogate pair", {
    path: name,
    help: "The text was cut in the middle of a character",
  });
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

function isWellFormed(text: string): boolean {
  const native: unknown = Reflect.get(String.prototype, "isWellFormed");
  return typeof native === "function" ? Boolean(native.call(text)) : !LONE_SURROGATE.test(text);
}

/**
 * `JSON.stringify`, with an error that names the place instead of a loss: it would write NaN and the infinities as
 * `null` and say nothing of where a cycle or a BigInt is.
 */
export function stringify(value: object, name: string): string {
  try {
    check(value, [], new Set());
    const json = JSON.stringify(value) as string | undefined;
    if (json === undefined) throw new Unserializable("`toJSON` gives nothing", []);
    return json;
  } catch (cause) {
    if (cause instanceof Unserializable) {
      const path = cause.path.length === 0 ? name : `${name}: ${pathOf(cause.path)}`;
      throw new AdkMetricsError("unserializable", cause.message, {
        path,
        ...(cause.help === undefined ? {} : { help: cause.help }),
        ...(cause.cause === undefined ? {} : { cause: cause.cause }),
      });
    }
    throw new AdkMetricsError("unserializable", `the object cannot be written as JSON: ${messageOf(cause)}`, {
      path: name,
      cause,
    });
  }
}

type Step = string | number;

class Unserializable extends Error {
  readonly path: readonly Step[];
  readonly help: string | undefined;
  constructor(message: string, path: readonly Step[], help?: string, cause?: unknown) {
    super(message, { cause });
    this.path = [...path];
    this.help = help;
  }
}

/** As deep as the engine reads; deeper there is a cycle or an input that it refuses. */
const MAX_DEPTH = 200;

function check(value: unknown, path: Step[], above: Set<object>): void {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Unserializable(`JSON has no ${value}`, path, "Leave the value out or use null");
  }
  if (typeof value === "bigint") {
    throw new Unserializable("JSON has no BigInt", path, "Pass JSON text, where integers may have any size");
  }
  if (typeof value === "string" && !isWellFormed(value)) {
    throw new Unserializable(
      "the text holds half of a surrogate pair",
      path,
      "It was cut in the middle of a character",
    );
  }
  if (typeof value !== "object" || value === null) return;
  if (above.has(value)) throw new Unserializable("the object contains itself", path);
  if (path.length > MAX_DEPTH) throw new Unserializable(`nested more than ${MAX_DEPTH} levels deep`, path.slice(0, 8));
  above.add(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      path.push(index);
      check(value[index], path, above);
      path.pop();
    }
  } else {
    for (const key of Object.keys(value)) {
      path.push(key);
      check(get(value, key, path), path, above);
      path.pop();
    }
  }
  above.delete(value);
}

function get(object: object, key: string, path: Step[]): unknown {
  try {
    return Reflect.get(object, key);
  } catch (cause) {
    throw new Unserializable(`reading the property failed: ${messageOf(cause)}`, path, undefined, cause);
  }
}

function pathOf(path: readonly Step[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(step)) return `${text}[${JSON.stringify(step)}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}
