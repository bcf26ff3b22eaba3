/** Comments in JSON configs. */

/** Matches strings, which may contain what looks like a comment, and comments. Either may be unterminated. */
const STRINGS_AND_COMMENTS = /"(?:[^"\\\r\n]+|\\.)*"?|\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)/g;

/** Replaces comments by spaces, so that lines and columns stay the same. O(length) */
export function withoutComments(text: string): string {
  return text.replace(STRINGS_AND_COMMENTS, (token) => (token[0] === "/" ? token.replace(/[^\r\n]/g, " ") : token));
}
