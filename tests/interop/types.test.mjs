// The type declarations, compiled together with those of the other packages.

import assert from "node:assert/strict";
import test from "node:test";
import { complaints } from "../types/fitting.mjs";

test("what is given and taken fits the published types of the others", () => {
  const entries = { "adk-metrics": "entrypoints/node.d.ts", "adk-metrics/interop": "interop/index.d.ts" };
  assert.equal(complaints(new URL("types/", import.meta.url), entries, { lib: ["es2023", "dom"] }), "");
});
