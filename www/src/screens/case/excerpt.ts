/**
 * Where what a judge quotes stands in a text. Judges fold white space, change quotation marks and quote from JSON, so that
 * only letters, digits and signs other than quotation marks count, and escapes of JSON count as what they stand for.
 *
 * Linear in the text but for the search itself, which the browser does.
 */

/** A stretch of a text in UTF-16 code units. */
export interface Stretch {
  from: number;
  to: number;
}

/** The first place of an excerpt in a text; undefined if it is not there, or nothing but white space. */
export function findExcerpt(text: string, excerpt: string): Stretch | undefined {
  const exact = excerpt === "" ? -1 : text.indexOf(excerpt);
  if (exact >= 0) return { from: exact, to: exact + excerpt.length };
  const wanted = essence(excerpt).letters;
  if (wanted === "") return undefined;
  const { letters, places } = essence(text);
  const at = letters.indexOf(wanted);
  if (at < 0) return undefined;
  return { from: places[at] ?? 0, to: (places[at + wanted.length - 1] ?? 0) + 1 };
}

const PASSED_OVER = /[\s"'`\u2018\u2019\u201C\u201D\u00AB\u00BB]/;

/** What counts of a text, and where each of it stands. */
function essence(text: string): { letters: string; places: number[] } {
  const letters: string[] = [];
  const places: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at] as string;
    if (unit === "\\" && /["\\nrtbf/]/.test(text[at + 1] ?? "")) {
      at += 1;
      continue;
    }
    if (PASSED_OVER.test(unit)) continue;
    letters.push(unit);
    places.push(at);
  }
  return { letters: letters.join(""), places };
}
