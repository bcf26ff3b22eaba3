// Comments in configs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutComments } from "../../../www/src/state/comments.js";

test("comments are blanks, lines and columns stay", () => {
  for (const [text, expected] of [
    ["{} // what for", "{}            "],
    ["{\n  // one\r\n  /* two\n three */ 1}", "{\n        \r\n        \n          1}"],
    ['{"a": "// no /* comment */", /* but */ "b": 1}', '{"a": "// no /* comment */",           "b": 1}'],
    ['"an \\" in it // still" // over', '"an \\" in it // still"        '],
    ['"without an end // in its line\n// over', '"without an end // in its line\n       '],
    ["1 /* without an end\n2", "1                  \n "],
    ["1 / 2 /", "1 / 2 /"],
  ] as const) {
    assert.equal(withoutComments(text), expected);
    assert.equal(withoutComments(text).length, text.length);
  }
  const long = `"${"\\n word".repeat(500_000)}" // over`;
  assert.equal(withoutComments(long).trimEnd(), long.slice(0, -8));
});
