import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBase91 } from "../../pkg-template/src/entrypoints/base91.js";
import { encodeBase91 } from "../../scripts/base91.mjs";

test("bytes of every value and length come back", () => {
  for (let length = 0; length < 300; length++) {
    for (const step of [0, 1, 7, 255]) {
      const bytes = Uint8Array.from({ length }, (_, index) => 255 - index * step);
      assert.deepEqual(decodeBase91(encodeBase91(bytes), length), bytes);
    }
  }
});

test("the text holds nothing that means something in a string, a replacement or a page", () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * index) >>> 7);
  assert.match(encodeBase91(bytes), /^[ !#%-;=-[\]-~]+$/);
});
