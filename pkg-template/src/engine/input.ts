import { AdkMetricsError } from "../errors.js";
import { checkSize, isWellFormed } from "./checks.js";
import { atOnce, joinedInSteps, type Steps } from "./steps.js";
import type { FieldsToWrite } from "./plain-json.js";
import { bytesOf, unexpected } from "./values.js";
import { encode, WHAT_FITS, writtenInSteps } from "./writing.js";

const encoder = /* @__PURE__ */ new TextEncoder();

/** The name of a file instead of its contents. No JSON that is read begins like this. */
const FILE_NAME = /^[^\s[{"\uFEFF][^\n]*\.jsonl?$/;

/** JSON as bytes: bytes and text as they are, objects written as JSON. */
export function toBytes(value: unknown, name: string): Uint8Array {
  return atOnce(bytesInSteps(value, name));
}

/**
 * As {@link toBytes}: stops between the pieces of a long text, and between the items of a long list in an object.
 *
 * @param fields What is read of an object; of text and bytes everything is taken.
 */
export function* bytesInSteps(value: unknown, name: string, fields?: FieldsToWrite): Steps<Uint8Array> {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) {
    throw unexpected(WHAT_FITS, value, name);
  }
  if (typeof value === "string" && FILE_NAME.test(value)) {
    const { message } = unexpected(WHAT_FITS, value, name);
    const help = "Pass the contents of the file: await readFile(…)";
    throw new AdkMetricsError("invalid_input", message, { path: name, help });
  }
  const bytes =
    typeof value === "string"
      ? yield* encodedInSteps(value, name)
      : (bytesOf(value, name) ?? (yield* writtenInSteps(value, name, fields)));
  checkSize(bytes.length, name);
  return bytes;
}

/**
 * What was made for the engine, as JSON: with U+FFFD for halves of surrogate pairs.
 *
 * @param inJson What to write instead of a number that JSON cannot express.
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
