// Where the playground finds in a context what a judge quotes from it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFinder } from "../../../www/src/screens/case/excerpt.js";

const found = (text: string, excerpt: string) => {
  const stretch = createFinder(text)(excerpt);
  return stretch === undefined ? undefined : text.slice(stretch.from, stretch.to);
};

describe("an excerpt", () => {
  for (const [what, text, excerpt, expected] of [
    ["is found word for word", "It rains in Oslo.", "rains in", "rains in"],
    ["is found over other white space", "It  rains\n in Oslo.", "It rains in", "It  rains\n in"],
    ["is found with other quotation marks", "He said “no” twice.", 'said "no" twice', "said “no” twice"],
    [
      "is found in JSON with other spaces",
      '{\n  "price": 29,\n  "unit": "€"\n}',
      '"price":29,"unit"',
      'price": 29,\n  "unit',
    ],
    [
      "is found in a text of JSON with escapes",
      '{"said": "one\\ntwo \\"three\\""}',
      'one\ntwo "three"',
      'one\\ntwo \\"three',
    ],
    ["is not found if a letter differs", "It rains in Oslo.", "It rained in Oslo", undefined],
    ["is not found if it is empty", "It rains in Oslo.", "", undefined],
    ["is not found if it is white space", "It rains in Oslo.", " \n ' ", undefined],
    ["is found beside half a surrogate pair", "It \ud800rains in Oslo.", "rains  in Oslo", "rains in Oslo"],
  ] as const) {
    test(what, () => assert.equal(found(text, excerpt), expected));
  }
});
