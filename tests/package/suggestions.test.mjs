// What a misspelt name stands for is decided twice, in the engine and in the package, whose command line has no engine
// yet when it reads its arguments. Both give what the list says (`src/foundation/suggestion.rs` reads it too).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { closest } from "../../pkg-template/src/closest.ts";

test("a misspelt name stands for the one that the engine takes it for", () => {
  const rows = JSON.parse(readFileSync(new URL("../vectors/suggestions.json", import.meta.url), "utf8"));
  for (const [found, known, meant] of rows) assert.equal(closest(found, known) ?? null, meant, found);
});
