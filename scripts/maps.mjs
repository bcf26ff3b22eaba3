/**
 * Source maps small enough to ship: a mapping for each line of the source instead of each token, names of functions
 * instead of every name, and addresses of the published sources instead of the sources.
 */

import { relative, resolve, sep } from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";

/**
 * The map in small; nothing where the code comes from no published source. What was generated is not published.
 *
 * Loaders of source maps warn of sources that they cannot read, but not where `sourceRoot` is an address.
 *
 * @param code What the minifier wrote.
 * @param map Its map, with sources as paths from `folder`.
 * @param sources The folder of the sources, and the address at which they are published.
 */
export function smallMap(code, map, folder, sources) {
  const paths = map.sources.map((source) => relative(sources.folder, resolve(folder, source)).split(sep).join("/"));
  const lines = code.split("\n");
  const [used, names] = [numbering(), numbering()];
  const mappings = decode(map.mappings).map((segments, line) => {
    const kept = [];
    let last = "";
    for (const [column, source, sourceLine, sourceColumn, name] of segments) {
      const path = paths[source];
      const isPublished = path !== undefined && !path.startsWith("generated/");
      const place = isPublished ? `${path}:${sourceLine}` : "";
      const isNew = place !== last;
      last = place;
      const keyword = isPublished && name !== undefined ? functionBefore(lines[line], column) : undefined;
      if (keyword !== undefined) {
        // Engines say where a function begins, and that is not where its name is.
        while (kept.length > 0 && kept.at(-1)[0] >= keyword) kept.pop();
        kept.push([keyword, used.of(path), sourceLine, sourceColumn, names.of(map.names[name])]);
      } else if (isNew) kept.push(isPublished ? [column, used.of(path), sourceLine, sourceColumn] : [column]);
    }
    return kept;
  });
  if (used.all.length === 0) return undefined;
  return JSON.stringify({
    version: 3,
    sourceRoot: sources.address,
    sources: used.all,
    names: names.all,
    mappings: encode(mappings),
  });
}

/** The column of the keyword if a function's name is at this one. */
function functionBefore(text, column) {
  const keyword = /\b(?:async )?function(?:\*| )$/.exec(text.slice(Math.max(0, column - 16), column));
  return keyword === null ? undefined : column - keyword[0].length;
}

/** Numbers texts in the order in which they come. */
function numbering() {
  const numbers = new Map();
  return {
    get all() {
      return [...numbers.keys()];
    },
    of(text) {
      if (!numbers.has(text)) numbers.set(text, numbers.size);
      return numbers.get(text);
    },
  };
}
