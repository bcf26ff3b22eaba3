// `npm run size`: the size of the .wasm and of the package; fails above the budget, for the .wasm above its ceiling.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { fail, root } from "./setup.mjs";

/** What the .wasm may have in the end, and the ceiling until then: with the judges in it, it is above the budget. */
const WASM_BROTLI = 150_000;
const WASM_CEILING = 192_000;
const UNPACKED = 2_000_000;

const file = join(root, "pkg/dist/adk_metrics.wasm");
if (!existsSync(file)) fail("pkg/ is not built", "Run: npm run build");
const wasm = readFileSync(file);
const brotli = brotliCompressSync(wasm).length;
const packed = JSON.parse(
  execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: join(root, "pkg"), encoding: "utf8" }),
);
const { unpackedSize } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];

const rows = [
  ["wasm, raw", wasm.length],
  ["wasm, gzip", gzipSync(wasm, { level: 9 }).length],
  ["wasm, brotli", brotli, WASM_BROTLI, WASM_CEILING],
  ["package, unpacked", unpackedSize, UNPACKED],
];
for (const [name, bytes, budget] of rows) {
  const limit = budget === undefined ? "" : ` of ${(budget / 1000).toFixed(0)} kB`;
  console.log(`${name.padEnd(18)} ${(bytes / 1000).toFixed(1).padStart(8)} kB${limit}`);
}
for (const [name, bytes, budget, ceiling] of rows) {
  if (ceiling !== undefined && bytes > budget && bytes <= ceiling) {
    console.log(`\n! ${name}: above the budget, below the ceiling of ${(ceiling / 1000).toFixed(0)} kB`);
  }
}
const over = rows.filter(([, bytes, budget, ceiling = budget]) => ceiling !== undefined && bytes > ceiling);
if (over.length > 0) fail(`too large: ${over.map(([name]) => name).join(", ")}`);
