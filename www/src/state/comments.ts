/** Comments in JSON, as people write them into configs. */

/** Strings, which may hold what looks like a comment, and comments; either may lack its end. */
const STRINGS_AND_COMMENTS = /"(?:[^"\\\r\n]+|\\.)*"?|\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)/g;

/** A text with blanks for comments, so that lines and columns stay. O(length) */
export function withoutComments(text: string): string {
  return text.replace(STRINGS_AND_COMMENTS, (token) => (token[0] === "/" ? token.replace(/[^\r\n]/g, " ") : token));
}
