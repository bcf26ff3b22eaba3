// The type declarations, compiled together with those of the real libraries.

import assert from "node:assert/strict";
import test from "node:test";
import { complaints } from "../types/fitting.mjs";

test("agents of both libraries fit the declarations", () => {
  const entries = { "adk-metrics": "entrypoints/node.d.ts" };
  assert.equal(complaints(new URL("types/", import.meta.url), entries), "");
});
