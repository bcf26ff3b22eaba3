/** JSON that others wrote and JavaScript parses, within the limits that the engine has for what it parses itself. */

import { MAX_DEPTH, MAX_VALUES } from "../generated/limits.js";

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Text that exceeds a limit, whether or not it is JSON. */
export class JsonLimitError extends SyntaxError {}

/**
 * `JSON.parse` for what may come from anywhere. A bracket takes one byte of a text, but about fifty of memory as soon as
 * `JSON.parse` has read it, so brackets and commas are counted before.
 *
 * @param levels How deep it may be nested.
 * @throws {SyntaxError} as `JSON.parse` does; a {@link JsonLimitError} for what exceeds a limit.
 */
export function parseJson(text: string, levels = MAX_DEPTH): unknown {
  if (text.length > levels) checkLimits(text, levels);
  return JSON.parse(text) as unknown;
}

function checkLimits(text: string, levels: number): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        depth += 1;
        values += 1;
        if (depth > levels) throw new JsonLimitError(`values are nested more than ${levels} levels deep`);
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
      default:
    }
    if (values > MAX_VALUES) throw new JsonLimitError(`there are more than ${MAX_VALUES} values`);
  }
}

/** Where the string ends that begins with a quote. Each backslash is looked at once. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before > begin && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
