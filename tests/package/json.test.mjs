// What the engine takes for JSON is what `JSON.parse` takes for JSON.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { importEntry, root } from "./support/package.mjs";

const { readEvalSet } = await importEntry();

/** Changes of each file. */
const CHANGES = 400;
const TOKENS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "\\u00e9",
  "null",
  "tru",
  "-0",
  "01",
  "1e9",
  ".5",
  " ",
  "\t",
  "\u0000",
];
/** What is JSON, and is refused all the same. */
const OWN_RULES = /is given twice|nested deeper|levels/;

const files = readdirSync(join(root, "examples"), { recursive: true })
  .filter((name) => name.endsWith(".json"))
  .map((name) => readFileSync(join(root, "examples", name), "utf8").slice(0, 4000))
  // Old versions of ADK wrote results as a string of JSON, which is read as well.
  .filter((text) => !text.startsWith('"'));

/** Numbers from 0 up to a limit, the same in every run. */
function numbers(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function changed(text, below) {
  let out = text;
  for (let edits = 1 + below(3); edits > 0; edits -= 1) {
    const at = below(out.length + 1);
    const inserted = below(2) === 0 ? TOKENS[below(TOKENS.length)] : "";
    out = out.slice(0, at) + inserted + out.slice(at + below(3));
  }
  return out;
}

/** Whether it is JSON for the engine; nothing if a rule of its own refuses it. */
function isJsonToEngine(text) {
  try {
    readEvalSet(text);
    return true;
  } catch (error) {
    return OWN_RULES.test(error.message) ? undefined : error.code !== "invalid_json";
  }
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("what JSON.parse reads is read, and nothing else", () => {
  const counts = { true: 0, false: 0 };
  for (const [index, file] of files.entries()) {
    const below = numbers(index + 1);
    for (let change = 0; change < CHANGES; change += 1) {
      const text = changed(file, below);
      const found = isJsonToEngine(text);
      if (found === undefined) continue;
      assert.equal(found, isJson(text), text);
      counts[found] += 1;
    }
    assert.equal(isJsonToEngine(file), isJson(file), file);
  }
  assert.ok(counts.true > 100 && counts.false > 100, JSON.stringify(counts));
});
