/**
 * Finds quotations of judges in a text. Judges change white space and quotation marks and quote from JSON, so the
 * comparison ignores white space, quotation marks and JSON escapes.
 *
 * The text is normalised once for all excerpts, in linear time; the search itself is `indexOf`.
 */

/** A range of a text in UTF-16 code units. */
export interface TextRange {
  from: number;
  to: number;
}

/** A function that finds the first occurrence of an excerpt in the text; undefined if there is none or it is blank. */
export function createFinder(text: string): (excerpt: string) => TextRange | undefined {
  let normalized: NormalizedText | undefined;
  return (excerpt) => {
    const exact = excerpt === "" ? -1 : text.indexOf(excerpt);
    if (exact >= 0) return { from: exact, to: exact + excerpt.length };
    const normalizedExcerpt = normalize(excerpt).letters;
    if (normalizedExcerpt === "") return undefined;
    normalized ??= normalize(text);
    const at = normalized.letters.indexOf(normalizedExcerpt);
    if (at < 0) return undefined;
    return { from: normalized.offsets[at] ?? 0, to: (normalized.offsets[at + normalizedExcerpt.length - 1] ?? 0) + 1 };
  };
}

/** A text without ignored characters, and the original offset of each remaining one. */
interface NormalizedText {
  letters: string;
  offsets: Uint32Array;
}

const IGNORED = new Set(Array.from("\"'`\u2018\u2019\u201C\u201D\u00AB\u00BB", (sign) => sign.charCodeAt(0)));
const ESCAPED = new Set(Array.from('"\\nrtbf/', (sign) => sign.charCodeAt(0)));
const BACKSLASH = 0x5c;

function normalize(text: string): NormalizedText {
  const units = new Uint16Array(text.length);
  const offsets = new Uint32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH && ESCAPED.has(text.charCodeAt(at + 1))) at += 1;
    else if (!IGNORED.has(unit) && !isWhiteSpace(unit)) {
      units[length] = unit;
      offsets[length++] = at;
    }
  }
  return { letters: new TextDecoder("utf-16le").decode(units.subarray(0, length)), offsets };
}

function isWhiteSpace(unit: number): boolean {
  return unit <= 0x20 || unit === 0xa0 || (unit >= 0x2000 && unit <= 0x200b) || unit === 0x2028 || unit === 0x3000;
}
