/**
 * JSON with integers of any size. JavaScript's numbers hold integers up to 2^53; beyond that, an integer is kept as a string
 * that begins with NUL and goes on with its digits. So that no other string looks like one, strings that begin with
 * NUL are kept with one more. `exactly` and `rounded` undo both. Everything here is linear in the length of the text.
 */

import { parseJson } from "../engine/json.js";

const NUL = "\u0000";
const [QUOTE, BACKSLASH, MINUS, ZERO, NINE, COLON] = [0x22, 0x5c, 0x2d, 0x30, 0x39, 0x3a];

/** How a string begins in JSON whose first character is NUL; there is no other way to write that one. */
const NUL_BEGINS = '"\\u0000';

/** Shorter integers are exact as numbers. */
const DIGITS = 16;

/**
 * `JSON.parse` that keeps integers of any size.
 *
 * @throws {SyntaxError} as `JSON.parse` does, and for what exceeds a limit.
 */
export function parseExactly(text: string): unknown {
  const value = parseJson(text);
  if (!text.includes(NUL_BEGINS) && !/\d{16}/.test(text)) return value;
  // From here on the text is known to be JSON, so that every string ends and every token is one.
  return JSON.parse(rewritten(text, kept, keptNumber)) as unknown;
}

/** A value as JSON text, with its integers as they were. */
export function exactly(value: object): string {
  return rewritten(JSON.stringify(value), given, (token) => token);
}

/** A value as others take it: integers that are too large are the nearest numbers. */
export function rounded<T extends object>(value: T): T {
  const restored = (_key: string, part: unknown): unknown => {
    if (typeof part !== "string" || !part.startsWith(NUL)) return part;
    return integerIn(part) === undefined ? part.slice(1) : Number(part.slice(1));
  };
  return JSON.parse(JSON.stringify(value), restored) as T;
}

/** The digits of an integer that is kept as a string, with its sign. */
export function integerIn(value: unknown): string | undefined {
  return typeof value === "string" && value.startsWith(NUL) && !value.startsWith(NUL + NUL)
    ? value.slice(1)
    : undefined;
}

/** An integer by its digits: a number where that is exact. */
export function integerOf(digits: string): number | string {
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : NUL + digits;
}

function kept(token: string): string {
  return `"\\u0000${token.slice(1)}`;
}

function keptNumber(token: string): string {
  const isInteger = /^-?\d{16,}$/.test(token);
  return isInteger && !Number.isSafeInteger(Number(token)) ? `"\\u0000${token}"` : token;
}

function given(token: string): string {
  const rest = token.slice(NUL_BEGINS.length);
  return rest.startsWith("\\u0000") ? `"${rest}` : rest.slice(0, -1);
}

/** JSON text with its strings that begin with NUL and its long numbers replaced; keys stay. The text has to be JSON. */
function rewritten(text: string, ofString: (token: string) => string, ofNumber: (token: string) => string): string {
  const pieces: string[] = [];
  let copied = 0;
  let at = 0;
  while (at < text.length) {
    const from = at;
    const code = text.charCodeAt(at);
    let piece: string | undefined;
    if (code === QUOTE) {
      at = endOfString(text, from);
      if (text.startsWith(NUL_BEGINS, from) && !isKey(text, at)) piece = ofString(text.slice(from, at));
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      at = endOfNumber(text, from);
      if (at - from >= DIGITS) piece = ofNumber(text.slice(from, at));
    } else at += 1;
    if (piece === undefined) continue;
    pieces.push(text.slice(copied, from), piece);
    copied = at;
  }
  return pieces.join("") + text.slice(copied);
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
  return at + 1;
}

function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  // Digits, signs, the point, and the letters of exponents.
  while ("0123456789+-.eE".includes(text.charAt(at)) && at < text.length) at += 1;
  return at;
}

/** Whether a colon comes next, after white space. */
function isKey(text: string, from: number): boolean {
  let at = from;
  while (" \n\r\t".includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charCodeAt(at) === COLON;
}
