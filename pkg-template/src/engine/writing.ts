/** Objects of a caller as JSON, with errors that name the place of what JSON cannot hold. */

import { AdkMetricsError } from "../errors.js";
import { MAX_DEPTH } from "../generated/limits.js";
import { checkCount, checkSize, isWellFormed, wellFormed } from "./checks.js";
import { type FieldsToWrite, isByParts, PlainJson, signOf } from "./plain-json.js";
import { joinedInSteps, type Steps } from "./steps.js";
import { isTypedArray, messageOf } from "./values.js";

const encoder = /* @__PURE__ */ new TextEncoder();

export const WHAT_FITS = "JSON text, bytes or an object";

/** What holds its content out of reach of `JSON.stringify`, which makes `{}` of it. */
const HOLDER = /^\[object (Promise|Response|Blob|File)\]$/;

/** What holds several values, and is written as `{}` too. */
const COLLECTION = /^\[object (Map|Set|WeakMap|WeakSet)\]$/;

const COLLECTION_HELP = {
  Map: "Pass an object: Object.fromEntries(map)",
  Set: "Pass an array: [...set]",
  WeakMap: "Pass an object",
  WeakSet: "Pass an array",
} as const;

/**
 * `JSON.stringify`, with an error that names the place instead of a loss: it would write NaN and the infinities as
 * `null` and say nothing of where a cycle or a BigInt is.
 *
 * @param fields What is read of a value. If all is plain, nothing else need be written.
 */
export function stringify(value: object, name: string, fields?: FieldsToWrite): string {
  const plain = new PlainJson(MOST_PLAIN).write(value, fields);
  // That is what becomes of an object that holds its content elsewhere.
  if (plain !== undefined && plain !== "{}") return plain;
  try {
    new Check(name).value("", value);
    const json = JSON.stringify(value) as string | undefined;
    if (json === undefined) throw new Unserializable("`toJSON` returns nothing", []);
    const [, holder] = json === "{}" ? (HOLDER.exec(Object.prototype.toString.call(value)) ?? []) : [];
    if (holder !== undefined) {
      throw new AdkMetricsError("invalid_input", `expected ${WHAT_FITS}, found a ${holder}`, {
        path: name,
        help: "Pass its contents, which you have to `await`",
      });
    }
    return json;
  } catch (cause) {
    throw unserializable(cause, name);
  }
}

/** How many values and characters are written and checked in one walk. What is more may be refused, before it takes memory. */
export const MOST_PLAIN = 2 ** 20;

export function encode(text: string, name: string): Uint8Array {
  checkSize(text.length, name);
  return encoder.encode(wellFormed(text, name));
}

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

/** How many values and characters are written at a time. */
const MOST_AT_ONCE = 2 ** 17;

/** How many make an object small, so that it is written whole: of a larger one so much is written twice. */
const MOST_OF_SMALL = 2 ** 12;

/** The JSON of an object as bytes. That of a large one is written piece by piece. */
export function* writtenInSteps(value: object, name: string, fields?: FieldsToWrite): Steps<Uint8Array> {
  const writer = new PlainJson(MOST_OF_SMALL);
  const plain = writer.write(value, fields);
  if (!writer.isFull)
    return encode(plain === "{}" || plain === undefined ? stringify(value, name, fields) : plain, name);
  const pieces: Uint8Array[] = [];
  try {
    for (const json of new Check(name).json(value, fields)) {
      pieces.push(encoder.encode(json));
      yield;
    }
  } catch (cause) {
    throw unserializable(cause, name);
  }
  return yield* joinedInSteps(pieces);
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

  /** Checks a value and writes it: pieces of JSON, none of them large unless it is a text or has a `toJSON`. */
  *json(value: object, fields?: FieldsToWrite): Generator<string> {
    if (this.#above.has(value)) throw this.#error("the object contains itself");
    if (this.#path.length > MAX_DEPTH) throw this.#tooDeep();
    checkCount((this.#values += 1), this.#name);
    this.#above.add(value);
    yield* Array.isArray(value) ? this.#items(value, fields) : this.#members(value, fields);
    this.#above.delete(value);
  }

  *#items(list: readonly unknown[], fields: FieldsToWrite | undefined): Generator<string> {
    const { length } = list;
    checkCount(this.#values + length, this.#name);
    let most = ITEMS_AT_ONCE;
    let atOnce = most;
    yield "[";
    for (let begin = 0; begin < length;) {
      const end = Math.min(begin + atOnce, length);
      const items = list.slice(begin, end);
      const writer = new PlainJson(MOST_AT_ONCE);
      const json = this.#plain(writer, items, fields);
      if (json === undefined && end - begin > 1) {
        atOnce = Math.ceil(atOnce / 4);
        if (writer.isFull) most = atOnce;
        continue;
      }
      if (begin > 0) yield ",";
      if (json !== undefined) {
        yield json.slice(1, -1);
      } else if (isDivisible(items[0])) {
        this.#path.push(begin);
        yield* this.json(items[0], fields);
        this.#path.pop();
      } else {
        yield this.#entry(list, begin).slice(`"${begin}":`.length) || "null";
      }
      begin = end;
      atOnce = most;
    }
    yield "]";
  }

  *#members(value: object, fields: FieldsToWrite | undefined): Generator<string> {
    const always = fields?.always ?? "";
    yield `{${always}`;
    let separator = always === "" ? "" : ",";
    for (const key of Object.keys(value)) {
      const field = fields?.fields.get(key);
      if (field === null) continue;
      const part = this.#get(value, key, "the property");
      const isUnknown = field === undefined && fields?.writesOthers === false;
      const sign = isUnknown ? signOf(part) : "";
      if (sign === undefined) continue;
      const json = sign || this.#plain(new PlainJson(MOST_AT_ONCE), part, field?.level);
      const name = `${separator}${field?.key ?? `${JSON.stringify(key)}:`}`;
      if (json !== undefined) {
        yield `${name}${json}`;
      } else if (isDivisible(part)) {
        yield name;
        this.#path.push(key);
        yield* this.json(part, field?.level);
        this.#path.pop();
      } else {
        const entry = this.#entry(value, key);
        if (entry === "") continue;
        yield `${separator}${entry}`;
      }
      separator = ",";
    }
    yield "}";
  }

  /** A value as JSON, if it is plain and small. */
  #plain(writer: PlainJson, value: unknown, fields: FieldsToWrite | undefined): string | undefined {
    const json = writer.write(value, fields);
    if (json === undefined) return undefined;
    checkCount((this.#values += writer.values), this.#name);
    checkSize((this.#characters += writer.characters), this.#name);
    return json;
  }

  /** A property and its value as JSON; nothing if `JSON.stringify` leaves it out. */
  #entry(parent: object, step: Step): string {
    this.#part(parent, step);
    return JSON.stringify({ [step]: (parent as Record<Step, unknown>)[step] }).slice(1, -1);
  }

  /** Checks the value of a key, which its `toJSON` may want to know. */
  value(key: string, given: unknown): void {
    checkCount((this.#values += 1), this.#name);
    const value = unboxed(this.#written(key, given));
    switch (typeof value) {
      case "number":
        if (!Number.isFinite(value)) throw this.#error(`JSON has no ${value}`, "Leave out the value or use null");
        return;
      case "bigint":
        throw this.#error("JSON has no BigInt", "Pass JSON text, where integers may have any size");
      case "string":
        checkSize((this.#characters += value.length), this.#name);
        if (isWellFormed(value)) return;
        throw this.#error(
          "the text contains half of a surrogate pair",
          "The text was cut in the middle of a character",
        );
      case "object":
        if (value !== null) this.#parts(value);
    }
  }

  #parts(value: object): void {
    if (this.#above.has(value)) throw this.#error("the object contains itself");
    if (this.#path.length > MAX_DEPTH) throw this.#tooDeep();
    const [, holder] = COLLECTION.exec(Object.prototype.toString.call(value)) ?? [];
    // Events of ADK-TS have sets that no metric reads.
    if (holder !== undefined && this.#path.some((step) => step === "args" || step === "response")) {
      throw this.#error(
        `JSON has no ${holder}: it would become {}`,
        COLLECTION_HELP[holder as keyof typeof COLLECTION_HELP],
      );
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

  /** The value to write as JSON: the result of its `toJSON`, if it has one. */
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

  #tooDeep(): Unserializable {
    return new Unserializable(`nested more than ${MAX_DEPTH} levels deep`, this.#path.slice(0, 8));
  }

  #error(message: string, help?: string, cause?: unknown): Unserializable {
    return new Unserializable(message, this.#path, help, cause);
  }
}

/** Whether `JSON.stringify` writes a value by its items or its keys. */
function isDivisible(value: unknown): value is object {
  return typeof value === "object" && value !== null && isByParts(value);
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
