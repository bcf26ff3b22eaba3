// An error becomes text twice: in the engine, for the reasons in results, and in the package, which has errors of its own.
// Both write what the list says (`src/foundation/error.rs` reads it too).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { describe } from "../../pkg-template/src/errors.ts";

test("an error reads as it does in the engine", () => {
  const rows = JSON.parse(readFileSync(new URL("../vectors/error-texts.json", import.meta.url), "utf8"));
  for (const [error, text] of rows) assert.equal(describe(error), text);
});
