import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import { inflate } from "../../pkg-template/src/entrypoints/inflate.js";
import { packageFolder } from "../package/support/package.mjs";

/** Numbers that look random and are the same every time. */
function noise(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let index = 0, state = 1; index < size; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

const SAMPLES: Record<string, Uint8Array> = {
  "the engine": readFileSync(join(packageFolder, "dist/adk_metrics.wasm")),
  nothing: new Uint8Array(0),
  "one byte": new Uint8Array([7]),
  "one byte, often": new Uint8Array(100_000),
  "a text that repeats itself": new TextEncoder().encode("metrics of agents, ".repeat(5000)),
  "what cannot be deflated": noise(200_000),
  "what repeats after 32 KiB": new Uint8Array([...noise(32_768), ...noise(32_768)]),
};

describe("inflate undoes what zlib did", () => {
  for (const [name, data] of Object.entries(SAMPLES)) {
    test(name, () => {
      for (const strategy of [
        constants.Z_DEFAULT_STRATEGY,
        constants.Z_HUFFMAN_ONLY,
        constants.Z_RLE,
        constants.Z_FIXED,
      ]) {
        for (const level of [0, 1, 6, 9]) {
          const inflated = inflate(deflateRawSync(data, { level, strategy }), data.length);
          assert.ok(Buffer.from(data).equals(inflated), `strategy ${strategy}, level ${level}`);
        }
      }
    });
  }
});
