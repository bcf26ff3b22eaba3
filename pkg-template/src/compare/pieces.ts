/**
 * Takes results in JSON apart, so that those of any size can be read: their cases one by one, and the rest of them. What
 * is not well-formed JSON comes out as such, for the engine to say what is wrong with it.
 */

import { concatenated } from "../result-lines.js";

const KEYS: ReadonlySet<string> = new Set(["eval_case_results", "evalCaseResults"]);
const LONGEST_KEY = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * The cases of results, each as JSON of its own. O(n) time; memory for one chunk, one case and the rest.
 *
 * @param chunks JSON in UTF-8, cut anywhere.
 * @param rest Takes all else: results without cases.
 */
export function* casesOf(chunks: Iterable<Uint8Array>, rest: Uint8Array[]): Generator<Uint8Array> {
  /** How many lists and objects are open. */
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  /** The last string directly within the results, as long as it may be the name of the list of cases. */
  let key = "";
  let hasKey = false;
  /** Whether the list of cases is open, in which every object at depth 2 is a case. */
  let isInList = false;
  let wasInList = false;
  let isInCase = false;
  let parts: Uint8Array[] = [];
  for (const chunk of chunks) {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
        if (isInString && depth === 1 && key.length < LONGEST_KEY) key += String.fromCharCode(byte);
        continue;
      }
      switch (byte) {
        case QUOTE:
          isInString = true;
          if (depth === 1) {
            key = "";
            hasKey = false;
          }
          break;
        case COLON:
          if (depth === 1) hasKey = KEYS.has(key);
          break;
        case OPEN_LIST:
        case OPEN_OBJECT:
          if (isInList && depth === 2 && byte === OPEN_OBJECT) {
            if (at > from) rest.push(chunk.slice(from, at));
            from = at;
            isInCase = true;
          }
          if (byte === OPEN_LIST && depth === 1 && hasKey && !wasInList) isInList = wasInList = true;
          depth += 1;
          break;
        case CLOSE_LIST:
        case CLOSE_OBJECT:
          depth -= 1;
          if (isInList && depth === 1) isInList = false;
          if (isInCase && depth === 2) {
            parts.push(chunk.slice(from, at + 1));
            yield concatenated(parts);
            parts = [];
            from = at + 1;
            isInCase = false;
          }
          break;
        case COMMA:
          // Between cases, which are no longer there.
          if (isInList && depth === 2) {
            if (at > from) rest.push(chunk.slice(from, at));
            from = at + 1;
          }
          if (depth === 1) hasKey = false;
          break;
        default:
      }
    }
    if (from < chunk.length) (isInCase ? parts : rest).push(chunk.slice(from));
  }
  for (const part of parts) rest.push(part);
}
