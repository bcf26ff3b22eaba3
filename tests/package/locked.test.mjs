// What is built and tested is what Cargo.lock names: every call of cargo that resolves dependencies says `--locked`.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (...path) => readFileSync(join(root, ...path), "utf8");

test("every script calls cargo with --locked", () => {
  const scripts = ["scripts", "benches"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  for (const script of scripts.filter((name) => name.endsWith(".mjs") && !name.includes("node_modules"))) {
    for (const [call, args] of read(script).matchAll(/"cargo", \[([^\]]*)/g)) {
      // cargo-fuzz has no such option; what it builds was resolved before.
      if (!/^"(?:fmt|xtask|\+nightly", "fuzz)"/.test(args)) assert.match(args, /"--locked"/, `${script}: ${call}`);
    }
  }
});

test("`cargo xtask`, and what it calls, use --locked", () => {
  assert.match(read(".cargo/config.toml"), /^xtask = "run --locked /m);
  for (const [call] of read("xtask/src/main.rs").matchAll(/Command::new\(cargo\)[^;]*;/g))
    assert.match(call, /"--locked"/);
});
