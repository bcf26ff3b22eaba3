/**
 * Text for people, made from untrusted text: numbers, JSON values, tool calls, and how many
 * columns a string takes in a terminal.
 *
 * Every function is linear in what it returns, not in what it is given: a megabyte that is shortened
 * to a line costs a line.
 */

import { isRecord } from "../lists.js";
import type { TextRange } from "./word-changes.js";

/** Controls, direction overrides and isolates, and noncharacters: they would act, not show. */
const UNSEEN = /[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB\uFFFE\uFFFF]/gu;

/** A visible replacement for a character without a shape: `␛` for escape, `⟨U+202E⟩` for others. */
function standIn(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/**
 * Splits a text into what can be shown as it is and replacements for what cannot. Line feeds and tabs
 * are shown as they are; a carriage return before a line feed is dropped.
 */
export function* pieces(text: string): Generator<{ text: string; standsIn: boolean }> {
  let from = 0;
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (character === "\n" || character === "\t") continue;
    if (index > from) yield { text: text.slice(from, index), standsIn: false };
    from = index + character.length;
    if (character !== "\r" || text[from] !== "\n") yield { text: standIn(character), standsIn: true };
  }
  if (from < text.length) yield { text: text.slice(from), standsIn: false };
}

/** The text with a replacement for every character that would act rather than show. */
export function visible(text: string): string {
  let shown = "";
  for (const piece of pieces(text)) shown += piece.text;
  return shown;
}

/** The text up to its first line break. */
export function firstLine(text: string): string {
  return text.slice(0, text.search(/\n|$/));
}

/** The visible text on one line: a line break shows as `↵`, a tab as a space. */
export function oneLine(text: string): string {
  return visible(text).replace(/\n/g, "↵").replace(/\t/g, " ");
}

/** What a CI system may take for a command to itself: anywhere in a line, and at the start of one. */
const COMMAND_ANYWHERE = /##(?=\[|vso\[|teamcity\[)/gi;
/** Spaces and colours may precede it. */
const COMMAND_AT_START = /^((?:[^\S\n\r\u2028\u2029]|\u001b\[[\d;]*m)*):(?=:)/gm;

/**
 * Lines in which no CI system finds a command: `##vso[`, `##teamcity[`, `##[` and, at the start of a line, `::` begin
 * with a look-alike of the same width.
 */
export function defused(lines: string): string {
  if (!lines.includes("##") && !lines.includes("::")) return lines;
  return lines.replace(COMMAND_ANYWHERE, "\u266f#").replace(COMMAND_AT_START, "$1\ua789");
}

/** A line that quotes what nobody has vetted, for a terminal: no character acts, and no CI system finds a command. */
export function safeLine(text: string): string {
  return defused(oneLine(text));
}

/** What JSON may hold as it is, but a terminal or a reader's eyes would act on. */
const ACTING_IN_JSON = /[\u007F-\u009F\u2028-\u202E\u2066-\u2069\uFFF9-\uFFFB\uFFFE\uFFFF]/g;
const COMMAND_IN_JSON = /#(?=#(?:\[|vso\[|teamcity\[))/gi;

/** The same JSON, in which what would act on a terminal, or be a command to a CI system, is escaped. */
export function inertJson(json: string): string {
  return json
    .replace(ACTING_IN_JSON, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(COMMAND_IN_JSON, "\\u0023");
}

/** The first `length` UTF-16 code units, or one less where that would split a character. */
export function head(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11FF\uD7B0-\uD7FF]$/u;
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;

/** The blocks that East Asian Width (Unicode annex 11) calls wide or full-width, without emoji. */
const WIDE = new RegExp(
  "^[\\u1100-\\u115F\\u2329\\u232A\\u2E80-\\u303E\\u3041-\\u33FF\\u3400-\\u4DBF\\u4E00-\\uA4CF\\uA960-\\uA97C" +
    "\\uAC00-\\uD7A3\\uF900-\\uFAFF\\uFE10-\\uFE19\\uFE30-\\uFE6F\\uFF01-\\uFF60\\uFFE0-\\uFFE6" +
    "\\u{16FE0}-\\u{18DF2}\\u{1AFF0}-\\u{1B2FB}\\u{1F200}-\\u{1F265}\\u{20000}-\\u{3FFFD}]$",
  "u",
);

let segmenter: Intl.Segmenter | undefined;

/** The grapheme clusters of a line. The segmenter is made on first use: it takes as long as loading the package does. */
function graphemes(line: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(line);
}

/** The columns one grapheme cluster takes: an emoji, whatever it is made of, takes two. */
function clusterWidth(cluster: string): number {
  if (EMOJI.test(cluster)) return 2;
  let width = 0;
  for (const character of cluster) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/**
 * How many columns a line takes in a terminal.
 *
 * @example
 * displayWidth("Kyoto 京都 🗻"); // 13
 */
export function displayWidth(line: string): number {
  if (PRINTABLE_ASCII.test(line)) return line.length;
  let width = 0;
  for (const { segment } of graphemes(line)) width += clusterWidth(segment);
  return width;
}

/** Cuts a line to at most `width` columns and returns it with what is left. */
function cut(line: string, width: number): [string, string] {
  const near = head(line, width * 16);
  if (PRINTABLE_ASCII.test(near)) return [near.slice(0, width), line.slice(width)];
  let columns = 0;
  for (const { segment, index } of graphemes(near)) {
    columns += clusterWidth(segment);
    if (columns > width) return [line.slice(0, index), line.slice(index)];
  }
  return [near, line.slice(near.length)];
}

/** One line of at most `width` columns; what is cut off is replaced by `…`. */
export function shorten(text: string, width: number): string {
  const near = head(text, width * 16);
  const line = oneLine(near);
  if (near.length === text.length && displayWidth(line) <= width) return line;
  return width < 1 ? "" : `${cut(line, width - 1)[0].trimEnd()}…`;
}

/** Pads a line with spaces to `width` columns. */
export function pad(line: string, width: number, align: "left" | "right" = "left"): string {
  const spaces = " ".repeat(Math.max(0, width - displayWidth(line)));
  return align === "left" ? line + spaces : spaces + line;
}

/** Breaks a text into lines of at most `width` columns, at white space where there is some. */
export function wrap(text: string, width: number): string[] {
  const columns = Math.max(width, 2);
  return visible(text)
    .split("\n")
    .flatMap((paragraph) => {
      const lines: string[] = [];
      let rest = paragraph.replace(/\t/g, "  ");
      for (;;) {
        const [line, more] = cut(rest, columns);
        if (more === "" || line === "") return [...lines, rest.trimEnd()];
        const space = more.startsWith(" ") ? line.length : line.lastIndexOf(" ");
        const end = space > 0 ? space : line.length;
        lines.push(rest.slice(0, end).trimEnd());
        rest = rest.slice(end).trimStart();
      }
    });
}

/**
 * A score with four digits after the point, and as many more as it takes to tell it from a threshold
 * that it is not equal to. A missing score is an en dash.
 *
 * @example
 * scoreText(0.79996, 0.8); // "0.79996"
 */
export function scoreText(score: number | undefined | null, threshold?: number | null): string {
  if (score === undefined || score === null || !Number.isFinite(score)) return "–";
  if (score !== 0 && Math.abs(score) < 5e-5) return score.toExponential(3);
  if (Math.abs(score) >= 1e12) return score.toPrecision(5);
  for (let digits = 4; digits < 17; digits++) {
    const text = score.toFixed(digits);
    if (score === threshold || Number(text) !== threshold) return text;
  }
  return String(score);
}

/** A threshold in as few digits as say it; a missing one is an en dash. */
export function thresholdText(threshold: number | undefined | null): string {
  if (threshold === undefined || threshold === null || !Number.isFinite(threshold)) return "–";
  return String(threshold);
}

/** A count or an amount with at most `digits` digits after the point, its thousands set apart: `12,345.5`. */
export function amountText(amount: number | undefined | null, digits = 0): string {
  if (amount === undefined || amount === null || !Number.isFinite(amount)) return "–";
  const [whole = "", fraction = ""] = Math.abs(amount).toFixed(digits).split(".");
  if (whole.includes("e")) return String(amount);
  const grouped = whole.replace(/\B(?=(?:\d{3}){1,7}$)/g, ",");
  let end = fraction.length;
  while (fraction[end - 1] === "0") end -= 1;
  const decimals = fraction.slice(0, end);
  const sign = amount < 0 ? "-" : "";
  return sign + grouped + (decimals && `.${decimals}`);
}

/** `83%`. */
export function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}

/** `1 case`, `2 cases`, `1,000 cases`. */
export function count(amount: number, noun: string): string {
  return `${amountText(amount)} ${noun}${amount === 1 ? "" : "s"}`;
}

/** A JSON value on one line of about `limit` characters at most, keys and items set apart by spaces. */
export function valueText(value: unknown, limit = 400): string {
  return bounded(limit, (put) => writeValue(value, put, 0));
}

/**
 * A tool call on one line of about `limit` characters at most. No arguments and an empty object are
 * not the same to ADK, nor here.
 *
 * @example
 * callText({ name: "book", args: { nights: 2 } }); // 'book(nights: 2)'
 * callText({ name: "book", args: {} }); // 'book({})'
 */
export function callText(call: { name?: string | null; args?: unknown }, limit = 400): string {
  return bounded(limit, (put) => {
    put(oneLine(head(call.name ?? "(unnamed)", limit)));
    const args = call.args ?? undefined;
    if (!isRecord(args)) put(args === undefined ? "()" : `(${valueText(args, limit)})`);
    else if (Object.keys(args).length === 0) put("({})");
    else {
      put("(");
      writeEntries(args, put, 0);
      put(")");
    }
  });
}

/** A key before a colon: quoted unless it is a plain name. */
export function keyText(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$.-]*$/u.test(key) && key.length <= 80 ? key : quoted(key, 200);
}

/** Which ranges of the text of a value are marked; undefined if nothing differs at its path. */
export type MarksAt = (path: string, text: string) => readonly TextRange[] | undefined;

/**
 * As {@link valueText}, with what is marked in the value and in what it contains.
 *
 * @param path The path of the value, as differences of arguments name it.
 */
export function markedValue(value: unknown, limit: number, path: string, marksAt: MarksAt): MarkedText {
  const marks: TextRange[] = [];
  const text = bounded(limit, (put, written) => {
    const begins: number[] = [];
    writeValue(value, put, 0, path, (at, isEnd) => {
      if (!isEnd) {
        begins.push(written().length);
        return;
      }
      const from = begins.pop() as number;
      const ranges = from < limit ? marksAt(at, written().slice(from, limit)) : undefined;
      for (const [start, end] of ranges ?? []) marks.push([from + start, from + end]);
    });
  });
  return { text, marks };
}

export interface MarkedText {
  text: string;
  marks: TextRange[];
}

/** Takes the next piece of a text and says whether there is room for more. */
type Put = (piece: string) => boolean;

function bounded(limit: number, write: (put: Put, written: () => string) => void): string {
  let text = "";
  let full = false;
  const put = (piece: string) => {
    if (full) return false;
    text += piece;
    full = text.length > limit;
    return !full;
  };
  write(put, () => text);
  return full ? `${head(text, limit)}…` : text;
}

/** Is told where the value at a path begins and ends. */
type Visit = (path: string, isEnd: boolean) => void;

/** The path of a key below another path, as the engine writes it: `a.b`, or `a["b c"]` if the key is not an identifier. */
export function pathBelow(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

const DEEPEST = 24;

function writeValue(value: unknown, put: Put, depth: number, path = "", visit?: Visit): void {
  visit?.(path, false);
  if (typeof value === "string") put(quoted(value, 100_000));
  else if (typeof value !== "object" || value === null) put(String(value));
  else if (depth >= DEEPEST) put("…");
  else if (Array.isArray(value)) {
    let open = put("[");
    for (let at = 0; open && at < value.length; at++) {
      if (at > 0) put(", ");
      writeValue(value[at], put, depth + 1, visit && `${path}[${at}]`, visit);
      open = put("");
    }
    put("]");
  } else {
    put("{");
    writeEntries(value as Record<string, unknown>, put, depth + 1, path, visit);
    put("}");
  }
  visit?.(path, true);
}

function writeEntries(entries: Record<string, unknown>, put: Put, depth: number, path = "", visit?: Visit): void {
  let separator = "";
  for (const key in entries) {
    if (!Object.hasOwn(entries, key)) continue;
    if (!put(`${separator}${keyText(key)}: `)) return;
    writeValue(entries[key], put, depth, visit && pathBelow(path, key), visit);
    separator = ", ";
  }
}

/** A JSON string, its unseen characters visible and those beyond `limit` left out. */
function quoted(text: string, limit: number): string {
  const near = head(text, limit);
  return `${visible(JSON.stringify(near))}${near.length < text.length ? "…" : ""}`;
}
