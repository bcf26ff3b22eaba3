/** Arguments as JSON, with the places of the values that differ. */

import { shownJson } from "../../ui/json.js";
import type { TextRange } from "./excerpt.js";
import { jsonOf } from "./model.js";

/** A value that differs: where it is in the text, and by which path the engine names it. */
export interface MarkedValue extends TextRange {
  path: string;
}

/**
 * A value as {@link jsonOf} writes it, with where the values at some paths are.
 *
 * @param paths As differences of arguments name them, such as `guests[0].name`.
 */
export function markedJson(value: unknown, paths: ReadonlySet<string>): { text: string; marked: MarkedValue[] } {
  const text = jsonOf(value);
  if (paths.size === 0) return { text, marked: [] };
  const isOneLine = !text.includes("\n");
  const marked: MarkedValue[] = [];
  let length = 0;
  const write = (part: unknown, path: string, indent: string): void => {
    const from = length;
    const isList = Array.isArray(part);
    const entries =
      typeof part !== "object" || part === null
        ? undefined
        : isList
          ? part.map((item, at) => ["", item, `${path}[${at}]`] as const)
          : Object.entries(part)
              .filter(([, item]) => item !== undefined)
              .map(([key, item]) => [`${JSON.stringify(key)}: `, item, pathBelow(path, key)] as const);
    if (entries === undefined || entries.length === 0) {
      length += (shownJson(part) ?? "null").length;
    } else {
      const inner = `${indent}  `;
      length += 1;
      for (const [at, [key, item, below]] of entries.entries()) {
        // On one line, `, ` is between items; else each has a line of its own.
        length += isOneLine ? (at > 0 ? 2 : 0) : (at > 0 ? 1 : 0) + 1 + inner.length;
        length += key.length;
        write(item, below, inner);
      }
      length += isOneLine ? 1 : indent.length + 2;
    }
    if (paths.has(path)) marked.push({ path, from, to: length });
  };
  write(value, "", "");
  // If the text was written in another way, its marks would be in wrong places.
  return { text, marked: length === text.length ? marked : [] };
}

/** The path of a key below another path, as the engine writes it: `a.b`, or `a["b c"]` if the key is no identifier. */
function pathBelow(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}
