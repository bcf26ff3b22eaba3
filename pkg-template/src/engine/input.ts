import { AdkMetricsError } from "../errors.js";
import { MAX_BYTES, MAX_DEPTH, MAX_VALUES } from "../generated/limits.js";
import { PlainJson } from "./plain-json.js";
import { atOnce, joinedInSteps, type Steps } from "./steps.js";

const encoder = /* @__PURE__ */ new TextEncoder();

const WHAT_FITS = "JSON text, bytes or an object";

/** The name of a file in place of what it holds. No JSON that is read begins so. */
const FILE_NAME = /^[^\s[{"\uFEFF][^\n]*\.jsonl?$/;

/** What holds its content out of reach of `JSON.stringify`, which makes `{}` of it. */
const HOLDER = /^\[object (Promise|Response|Blob|File)\]$/;

/** JSON as bytes: bytes and text as they are, objects written as JSON. */
export function toBytes(value: unknown, name: string): Uint8Array {
  return atOnce(bytesInSteps(value, name));
}

/** As {@link toBytes}: stops between the pieces of a long text, and between the items of a long list in an object. */
export function* bytesInSteps(value: unknown, name: string): Steps<Uint8Array> {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) {
    throw unexpected(WHAT_FITS, value, name);
  }
  if (typeof value === "string" && FILE_NAME.test(value)) {
    const { message } = unexpected(WHAT_FITS, value, name);
    const help = "Pass what the file holds: await readFile(…)";
    throw new AdkMetricsError("invalid_input", message, { path: name, help });
  }
  const bytes =
    typeof value === "string"
      ? yield* encodedInSteps(value, name)
      : (bytesOf(value, name) ?? (yield* writtenInSteps(value, name)));
  checkSize(bytes.length, name);
  return bytes;
}

/**
 * What was made for the engine, as JSON: with U+FFFD for halves of surrogate pairs.
 *
 * @param inJson What stands for a number that JSON has not.
 */
export function jsonOf(value: object, inJson: (number: number | bigint) => unknown): Uint8Array {
  const fitting = (_key: string, part: unknown): unknown => {
    if (typeof part === "string") return isWellFormed(part) ? part : part.replace(/\p{Surrogate}/gu, "\uFFFD");
    const isMissing = typeof part === "bigint" || (typeof part === "number" && !Number.isFinite(part));
    return isMissing ? inJson(part) : part;
  };
  return encoder.encode(JSON.stringify(value, fitting));
}

/** A number of the engine, which has NaN for none. */
export function numberOrNone(number: number): number | undefined {
  return Number.isNaN(number) ? undefined : number;
}

function encode(text: string, name: string): Uint8Array {
  checkSize(text.length, name);
  return encoder.encode(wellFormed(text, name));
}

/** How many characters of a text are encoded at a time. */
const PIECE = 2 ** 18;

function* encodedInSteps(text: string, name: string): Steps<Uint8Array> {
  if (text.length <= PIECE) return encode(text, name);
  checkSize(text.length, name);
  const pieces: Uint8Array[] = [];
  for (let begin = 0; begin < text.length;) {
    // A pair of surrogates stays together.
    const end = begin + PIECE - (isHighSurrogate(text.charCodeAt(begin + PIECE - 1)) ? 1 : 0);
    pieces.push(encode(text.slice(begin, end), name));
    begin = end;
    yield;
  }
  return yield* joinedInSteps(pieces);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/**
 * Checked here too, since more might not even fit into the engine's memory.
 *
 * @throws {AdkMetricsError} `limit_exceeded` for more bytes than the engine reads.
 */
export function checkSize(bytes: number, name: string): void {
  if (bytes <= MAX_BYTES) return;
  throw new AdkMetricsError("limit_exceeded", `the input has ${bytes} bytes or more; at most ${MAX_BYTES} are read`, {
    path: name,
    help: "Split it into several files",
  });
}

/** The bytes that a view or a buffer really has, whatever a subclass says of its length. */
function bytesOf(value: object, name: string): Uint8Array | undefined {
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

function isTypedArray(view: ArrayBufferView): boolean {
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
    return "an error that has no words";
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

/**
 * A text without halves of surrogate pairs, which `TextEncoder` would turn into U+FFFD without a word.
 *
 * @throws {AdkMetricsError} `invalid_json`.
 */
export function wellFormed(text: string, name: string): string {
  if (isWellFormed(text)) return text;
  throw new AdkMetricsError("invalid_json", "the text holds half of a surrogate pair", {
    path: name,
    help: "The text was cut in the middle of a character",
  });
}

const nativeIsWellFormed: unknown = Reflect.get(String.prototype, "isWellFormed");

function isWellFormed(text: string): boolean {
  return typeof nativeIsWellFormed === "function"
    ? Boolean(nativeIsWellFormed.call(text))
    : !/\p{Surrogate}/u.test(text);
}

/**
 * `JSON.stringify`, with an error that names the place instead of a loss: it would write NaN and the infinities as
 * `null` and say nothing of where a cycle or a BigInt is.
 */
export function stringify(value: object, name: string): string {
  const plain = new PlainJson(MOST_PLAIN).write(value);
  // That is what becomes of an object that holds its content elsewhere.
  if (plain !== undefined && plain !== "{}") return plain;
  try {
    new Check(name).value("", value);
    const json = JSON.stringify(value) as string | undefined;
    if (json === undefined) throw new Unserializable("`toJSON` gives nothing", []);
    const [, holder] = json === "{}" ? (HOLDER.exec(Object.prototype.toString.call(value)) ?? []) : [];
    if (holder !== undefined) {
      throw new AdkMetricsError("invalid_input", `expected ${WHAT_FITS}, found a ${holder}`, {
        path: name,
        help: "Pass what it holds, which takes an `await`",
      });
    }
    return json;
  } catch (cause) {
    throw unserializable(cause, name);
  }
}

/** How many values and characters are written and checked in one walk. What is more may be refused, before it takes memory. */
const MOST_PLAIN = 2 ** 20;

/** Why an object cannot be written as JSON. */
function unserializable(cause: unknown, name: string): AdkMetricsError {
  if (cause instanceof AdkMetricsError) return cause;
  if (cause instanceof Unserializable) {
    const path = cause.path.length === 0 ? name : `${name}: ${pathOf(cause.path)}`;
    return new AdkMetricsError("unserializable", cause.message, {
      path,
      ...(cause.help === undefined ? {} : { help: cause.help }),
      ...(cause.cause === undefined ? {} : { cause: cause.cause }),
    });
  }
  return new AdkMetricsError("unserializable", `the object cannot be written as JSON: ${messageOf(cause)}`, {
    path: name,
    cause,
  });
}

/** How many items of a list are written at a time. */
const ITEMS_AT_ONCE = 64;

/** The JSON of an object as bytes. That of a long list, such as the cases of an evalset, is written some items at a time. */
function* writtenInSteps(value: object, name: string): Steps<Uint8Array> {
  if (!hasLongList(value)) return encode(stringify(value, name), name);
  const pieces: Uint8Array[] = [];
  try {
    for (const json of new Check(name).json(value)) {
      pieces.push(encoder.encode(json));
      yield;
    }
  } catch (cause) {
    throw unserializable(cause, name);
  }
  return yield* joinedInSteps(pieces);
}

/** Whether there is a list to be written item by item: the value itself, or a property that is no getter. */
function hasLongList(value: object): boolean {
  try {
    if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
    return (
      isLongList(value) || (!Array.isArray(value) && Object.keys(value).some((key) => isLongList(own(value, key))))
    );
  } catch {
    // Whatever throws does so again, and is then named with its place.
    return false;
  }
}

function isLongList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ITEMS_AT_ONCE && !("toJSON" in value);
}

/** The value of a property, unless it is a getter. */
function own(value: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(value, key)?.value;
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

/** @throws {AdkMetricsError} `limit_exceeded` for more values than the engine reads. */
export function checkCount(values: number, name: string): void {
  if (values <= MAX_VALUES) return;
  throw new AdkMetricsError("limit_exceeded", `the input has more than ${MAX_VALUES} values`, {
    path: name,
    help: "Split it into several files",
  });
}

/** A walk over what `JSON.stringify` will write. O(n) in what it writes, where a part that is shared counts each time. */
class Check {
  readonly #name: string;
  readonly #path: Step[] = [];
  readonly #above = new Set<object>();
  #values = 0;
  #characters = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** Checks an object without `toJSON` and writes it: pieces of JSON, one for each item of a long list in it. */
  *json(value: object): Generator<string> {
    checkCount((this.#values += 1), this.#name);
    if (isLongList(value)) {
      yield* this.#items(value);
      return;
    }
    this.#above.add(value);
    let separator = "{";
    for (const key of Object.keys(value)) {
      const list = own(value, key);
      if (isLongList(list)) {
        yield `${separator}${JSON.stringify(key)}:`;
        separator = ",";
        checkCount((this.#values += 1), this.#name);
        this.#path.push(key);
        yield* this.#items(list);
        this.#path.pop();
        continue;
      }
      this.#part(value, key);
      const entry = JSON.stringify({ [key]: (value as Record<string, unknown>)[key] }).slice(1, -1);
      if (entry === "") continue;
      yield `${separator}${entry}`;
      separator = ",";
    }
    yield separator === "{" ? "{}" : "}";
  }

  *#items(list: readonly unknown[]): Generator<string> {
    this.#above.add(list);
    const { length } = list;
    checkCount(this.#values + length, this.#name);
    for (let begin = 0; begin < length; begin += ITEMS_AT_ONCE) {
      const end = Math.min(begin + ITEMS_AT_ONCE, length);
      yield begin === 0 ? "[" : ",";
      yield this.#plainItems(list, begin, end) ?? this.#checkedItems(list, begin, end);
    }
    yield "]";
    this.#above.delete(list);
  }

  /** Some items of a list as JSON, if all of them are plain. */
  #plainItems(list: readonly unknown[], begin: number, end: number): string | undefined {
    const writer = new PlainJson(MOST_PLAIN);
    const json = writer.write(list.slice(begin, end))?.slice(1, -1);
    if (json === undefined) return undefined;
    checkCount((this.#values += writer.values), this.#name);
    checkSize((this.#characters += writer.characters), this.#name);
    return json;
  }

  #checkedItems(list: readonly unknown[], begin: number, end: number): string {
    for (let index = begin; index < end; index += 1) this.#part(list, index);
    return itemsJson(list, begin, end);
  }

  /** Checks the value of a key, which its `toJSON` may want to know. */
  value(key: string, given: unknown): void {
    checkCount((this.#values += 1), this.#name);
    const value = unboxed(this.#written(key, given));
    switch (typeof value) {
      case "number":
        if (!Number.isFinite(value)) throw this.#error(`JSON has no ${value}`, "Leave the value out or use null");
        return;
      case "bigint":
        throw this.#error("JSON has no BigInt", "Pass JSON text, where integers may have any size");
      case "string":
        checkSize((this.#characters += value.length), this.#name);
        if (isWellFormed(value)) return;
        throw this.#error("the text holds half of a surrogate pair", "It was cut in the middle of a character");
      case "object":
        if (value !== null) this.#parts(value);
    }
  }

  #parts(value: object): void {
    if (this.#above.has(value)) throw this.#error("the object contains itself");
    if (this.#path.length > MAX_DEPTH) {
      throw new Unserializable(`nested more than ${MAX_DEPTH} levels deep`, this.#path.slice(0, 8));
    }
    this.#above.add(value);
    if (Array.isArray(value)) {
      const { length } = value;
      checkCount(this.#values + length, this.#name);
      for (let index = 0; index < length; index += 1) this.#part(value, index);
    } else {
      if (ArrayBuffer.isView(value) && isTypedArray(value)) {
        checkCount(this.#values + (value as Uint8Array).length, this.#name);
      }
      for (const key of Object.keys(value)) this.#part(value, key);
    }
    this.#above.delete(value);
  }

  #part(parent: object, step: Step): void {
    this.#path.push(step);
    this.value(String(step), this.#get(parent, step, "the property"));
    this.#path.pop();
  }

  /** What stands for a value in JSON: what its `toJSON` gives, if it has one. */
  #written(key: string, value: unknown): unknown {
    if (!hasMembers(value)) return value;
    const toJson = this.#get(value, "toJSON", "`toJSON`");
    if (typeof toJson !== "function") return value;
    try {
      return toJson.call(value, key) as unknown;
    } catch (cause) {
      throw this.#error(`\`toJSON\` failed: ${messageOf(cause)}`, undefined, cause);
    }
  }

  #get(value: object | bigint, key: Step, what: string): unknown {
    try {
      return (value as Record<Step, unknown>)[key];
    } catch (cause) {
      throw this.#error(`reading ${what} failed: ${messageOf(cause)}`, undefined, cause);
    }
  }

  #error(message: string, help?: string, cause?: unknown): Unserializable {
    return new Unserializable(message, this.#path, help, cause);
  }
}

/** Some items of a list as JSON, as they are written in it, without its brackets. */
function itemsJson(list: readonly unknown[], begin: number, end: number): string {
  const items = list.slice(begin, end);
  if (!items.some(hasToJson)) return JSON.stringify(items).slice(1, -1);
  // A `toJSON` is told the key of its object.
  const written = items.map((item, at) => {
    const key = String(begin + at);
    return JSON.stringify({ [key]: item }).slice(`{"${key}":`.length, -1) || "null";
  });
  return written.join(",");
}

function hasToJson(value: unknown): boolean {
  return hasMembers(value) && typeof (value as { toJSON?: unknown }).toJSON === "function";
}

/** Whether `JSON.stringify` asks a value for its `toJSON`. */
function hasMembers(value: unknown): value is object | bigint {
  return (typeof value === "object" && value !== null) || typeof value === "function" || typeof value === "bigint";
}

/** The value in a wrapper such as `new Number(1)`, as `JSON.stringify` writes it. */
function unboxed(value: unknown): unknown {
  if (value instanceof Number) return Number(value);
  if (value instanceof String) return String(value);
  return value;
}

function pathOf(path: readonly Step[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(step)) return `${text}[${JSON.stringify(step)}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}
