// `npm run size`: the size of the .wasm, and of the package with what it is made of; fails above the budget.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { fail, root } from "./setup.mjs";

// Why these: docs/decisions/0011-budgets.md.
const WASM_BROTLI = 220_000;
const UNPACKED = 3_000_000;

const file = join(root, "pkg/dist/adk_metrics.wasm");
if (!existsSync(file)) fail("pkg/ is not built", "Run: npm run build");
const wasm = readFileSync(file);
const brotli = brotliCompressSync(wasm).length;
const packed = JSON.parse(
  execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: join(root, "pkg"), encoding: "utf8" }),
);
const { unpackedSize, files } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];

const rows = [
  ["wasm, raw", wasm.length],
  ["wasm, gzip", gzipSync(wasm, { level: 9 }).length],
  ["wasm, brotli", brotli, WASM_BROTLI],
  ["package, unpacked", unpackedSize, UNPACKED],
];
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1).padStart(8)} kB`;
for (const [name, bytes, budget] of rows) {
  const limit = budget === undefined ? "" : ` of ${(budget / 1000).toFixed(0)} kB`;
  console.log(`${name.padEnd(18)} ${kilobytes(bytes)}${limit}`);
}

/** What each file belongs to: the first that fits. */
const PARTS = [
  ["the .wasm", /\.wasm$/],
  ["source maps", /\.map$/],
  ["declarations", /\.d\.ts$/],
  ["ES modules", /^dist\/esm\//],
  ["CommonJS", /^dist\/cjs\//],
  ["schemas", /^schema\//],
  ["playground", /^playground\//],
  ["readme, licence, manifest", /^[^/]+$/],
  ["other", /(?:)/],
];
const INLINED = "the .wasm inlined, deflated";
const parts = new Map(
  PARTS.flatMap(([name]) => (name === "ES modules" ? [name, INLINED] : [name])).map((name) => [name, 0]),
);
for (const { path, size } of files) {
  const [part] = PARTS.find(([, pattern]) => pattern.test(path));
  const inlined = part === "ES modules" ? inlinedIn(path) : 0;
  parts.set(INLINED, parts.get(INLINED) + inlined);
  parts.set(part, parts.get(part) + size - inlined);
}

/** How much of a module is the engine. */
function inlinedIn(path) {
  const [text] = /"[^"]{100000,}"/.exec(readFileSync(join(root, "pkg", path), "utf8")) ?? [""];
  return Buffer.byteLength(text);
}

console.log("\nIn the package:");
for (const [name, bytes] of parts) {
  if (bytes > 0) console.log(`  ${name.padEnd(28)} ${kilobytes(bytes)}`);
}

const over = rows.filter(([, bytes, budget]) => budget !== undefined && bytes > budget);
if (over.length > 0) fail(`too large: ${over.map(([name]) => name).join(", ")}`);
