// JSON taken apart without reading its values, so that numbers keep the digits they were written with: `1.0`,
// `-0.0`, integers of any size and `1e400` are all lost in JSON.parse. The text must be valid JSON.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const isSpace = (code) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function skipSpace(text, at) {
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function endOfString(text, at) {
  for (at += 1; text.charCodeAt(at) !== QUOTE; at += 1) {
    if (text.charCodeAt(at) === BACKSLASH) at += 1;
  }
  return at + 1;
}

function endOfValue(text, at) {
  const first = text[at];
  if (first === '"') return endOfString(text, at);
  if (first !== "{" && first !== "[") {
    while (at < text.length && !",]} \n\r\t".includes(text[at])) at += 1;
    return at;
  }
  for (let depth = 0; ;) {
    const here = text[at];
    if (here === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (here === "{" || here === "[") depth += 1;
    if (here === "}" || here === "]") depth -= 1;
    at += 1;
    if (depth === 0) return at;
  }
}

/** The texts of an array's elements. */
export function elements(text) {
  const found = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== "]") {
    const end = endOfValue(text, at);
    found.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}

/** The texts of an object's values by key. */
export function members(text) {
  const found = {};
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== "}") {
    const endOfKey = endOfString(text, at);
    const key = JSON.parse(text.slice(at, endOfKey));
    const start = skipSpace(text, skipSpace(text, endOfKey) + 1);
    const end = endOfValue(text, start);
    found[key] = text.slice(start, end);
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}

/** The texts of all numbers in a JSON text. */
export function numbers(text) {
  const withoutStrings = text.replace(/"(?:[^"\\]|\\.)*"/gs, '""');
  return withoutStrings.match(/-?\d[\d.eE+-]*/g) ?? [];
}

/**
 * Whether the numbers of a JSON text mean the same after JSON.parse and JSON.stringify to a reader that knows
 * integers of any size: floats do unless they overflow, integers only if a double holds them and is written with
 * all digits. The sign of zero is lost.
 */
export function survivesJavaScript(text) {
  return numbers(text).every((number) => {
    const value = Number(number);
    if (!Number.isFinite(value) || Object.is(value, -0)) return false;
    return /[.eE]/.test(number) || JSON.stringify(value) === number;
  });
}
