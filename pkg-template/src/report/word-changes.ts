/**
 * The words in which two texts differ.
 *
 * What the texts share at their beginnings and ends is removed character by character. Between them, words are
 * compared with the greedy algorithm of Myers, "An O(ND) difference algorithm and its variations" (1986). Both its
 * input and its edits are bounded, so the time is linear in the texts.
 */

import { unexpected } from "../engine/values.js";

/** A range of a text in UTF-16 code units: from, and to without it. */
export type TextRange = [from: number, to: number];

/** The words in which two texts differ, as ranges of each; neighbours are one range. */
export interface WordChanges {
  expected: TextRange[];
  actual: TextRange[];
  /**
   * Whether these are the changed words. Otherwise the texts differ too much to tell, and each range spans from the
   * first difference to the last.
   */
  isExact: boolean;
}

/** The most words in only one of the texts for which ranges are exact. */
const MOST_EDITS = 400;
/** The same for the characters between the first difference and the last. */
const MOST_CHARACTERS = 100_000;
/** How far the first and the last difference are moved to the edge of a word. */
const LONGEST_WORD = 200;

/** A word with its hyphens, apostrophes and decimal points, a character of a script without spaces, or another sign. */
const WORD =
  /[\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}_])+(?:[.,:'’-][\p{L}\p{N}\p{M}_]+)*|\S/gu;

/**
 * The words in which two texts differ; differences of white space alone are none.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but strings.
 *
 * @example
 * changedWords("It will be 27 degrees.", "It will be 81 degrees."); // { expected: [[11, 13]], actual: [[11, 13]], isExact: true }
 */
export function changedWords(expected: string, actual: string): WordChanges {
  if (typeof expected !== "string") throw unexpected("a string", expected, "expected");
  if (typeof actual !== "string") throw unexpected("a string", actual, "actual");
  const [from, common] = sharedEnds(expected, actual);
  const [expectedTo, actualTo] = [expected.length - common, actual.length - common];
  const whole = (to: number): TextRange[] => (to > from ? [[from, to]] : []);
  const coarse = { expected: whole(expectedTo), actual: whole(actualTo), isExact: false };
  if (Math.max(expectedTo, actualTo) - from > MOST_CHARACTERS) return coarse;
  const [before, after] = [wordsOf(expected, from, expectedTo), wordsOf(actual, from, actualTo)];
  const kept = keptWords(before.words, after.words);
  if (kept === undefined) return coarse;
  return {
    expected: rangesOf(before.places, new Set(kept.map(([at]) => at))),
    actual: rangesOf(after.places, new Set(kept.map(([, at]) => at))),
    isExact: true,
  };
}

/** Where the first difference is, at the edge of a word, and how many characters both texts share at their ends. */
function sharedEnds(a: string, b: string): [from: number, common: number] {
  const shorter = Math.min(a.length, b.length);
  let from = 0;
  while (from < shorter && a.charCodeAt(from) === b.charCodeAt(from)) from += 1;
  if (from === a.length && from === b.length) return [from, 0];
  let common = 0;
  while (common < shorter - from && a.charCodeAt(a.length - 1 - common) === b.charCodeAt(b.length - 1 - common)) {
    common += 1;
  }
  const [start = ""] = a
    .slice(Math.max(0, from - LONGEST_WORD), from)
    .split(/\s/)
    .slice(-1);
  const [end = ""] = a
    .slice(a.length - common)
    .slice(0, LONGEST_WORD)
    .split(/\s/);
  return [from - start.length, common - end.length];
}

interface Words {
  words: string[];
  places: TextRange[];
}

function wordsOf(text: string, from: number, to: number): Words {
  const words: string[] = [];
  const places: TextRange[] = [];
  for (const { 0: word, index } of text.slice(from, to).matchAll(WORD)) {
    words.push(word);
    places.push([from + index, from + index + word.length]);
  }
  return { words, places };
}

/** The words that are kept, as pairs of their places; undefined if there are too many edits. */
function keptWords(a: readonly string[], b: readonly string[]): [number, number][] | undefined {
  const origin = Math.min(a.length + b.length, MOST_EDITS) + 1;
  // How far in `a` each diagonal (`a` minus `b`) can be followed with so many edits.
  const reached = new Int32Array(2 * origin + 1);
  const steps: Int32Array[] = [];
  const isDown = (from: Int32Array, middle: number, diagonal: number, edits: number) =>
    diagonal === -edits ||
    (diagonal !== edits && (from[middle + diagonal - 1] as number) < (from[middle + diagonal + 1] as number));
  for (let edits = 0; edits < origin; edits += 1) {
    // Of the step before, with one more diagonal on each side.
    steps.push(reached.slice(origin - edits - 1, origin + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = isDown(reached, origin, diagonal, edits);
      let at = edits === 0 ? 0 : (reached[origin + diagonal + (down ? 1 : -1)] as number) + (down ? 0 : 1);
      while (at < a.length && at - diagonal < b.length && a[at] === b[at - diagonal]) at += 1;
      reached[origin + diagonal] = at;
      if (at >= a.length && at - diagonal >= b.length) return walkBack(a.length, b.length);
    }
  }
  return undefined;

  function walkBack(inA: number, inB: number): [number, number][] {
    const kept: [number, number][] = [];
    for (let edits = steps.length - 1; edits >= 0; edits -= 1) {
      const before = steps[edits] as Int32Array;
      const diagonal = inA - inB;
      const down = isDown(before, edits + 1, diagonal, edits);
      const from = edits === 0 ? 0 : (before[edits + 1 + diagonal + (down ? 1 : -1)] as number) + (down ? 0 : 1);
      while (inA > from) kept.push([(inA -= 1), (inB -= 1)]);
      if (down) inB -= 1;
      else inA -= 1;
    }
    return kept;
  }
}

/** The ranges of the words that are not kept; neighbours are one. */
function rangesOf(places: readonly TextRange[], kept: ReadonlySet<number>): TextRange[] {
  const ranges: TextRange[] = [];
  for (const [at, [from, to]] of places.entries()) {
    const last = ranges.at(-1);
    if (kept.has(at)) continue;
    if (last !== undefined && !kept.has(at - 1)) last[1] = to;
    else ranges.push([from, to]);
  }
  return ranges;
}
