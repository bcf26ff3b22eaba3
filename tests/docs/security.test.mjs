// SECURITY.md names the tests that hold its guarantees: they are there, and are run.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../package/support/package.mjs";

const page = readFileSync(join(root, "SECURITY.md"), "utf8");
const named = Array.from(page.matchAll(/`([^`\n]+)`/g), ([, name]) => name);

/** The files of tests, by path. */
const files = readdirSync(join(root, "tests"), { recursive: true })
  .filter((path) => !path.includes("node_modules") && /\.(?:test\.m?[jt]s|mjs|rs)$/.test(path))
  .map((path) => join("tests", path));

/** The names of all tests in Rust. */
function testsInRust() {
  const sources = readdirSync(join(root, "src"), { recursive: true })
    .filter((path) => path.endsWith(".rs"))
    .map((path) => join("src", path));
  const texts = [...sources, ...files.filter((path) => path.endsWith(".rs"))].map((path) =>
    readFileSync(join(root, path), "utf8"),
  );
  // In proptest!, a test has arguments.
  return texts.flatMap((text) =>
    Array.from(text.matchAll(/#\[test\]\s*(?:#\[[^\]]*\]\s*)*fn (\w+)/g), ([, name]) => name),
  );
}

test("every file that is named as a test is one", () => {
  const tests = named.filter((name) => /\.(?:test\.m?[jt]s|mjs|rs)$/.test(name));
  assert.ok(tests.length > 40, `${tests.length}`);
  for (const name of tests) {
    const isThere = name.startsWith("tests/") || name.startsWith("src/") ? existsSync(join(root, name)) : false;
    // After one with its folder, others of that folder are named without it.
    assert.ok(isThere || files.some((path) => path.endsWith(`/${name}`)), name);
  }
});

test("every test in Rust that is named exists", () => {
  const known = testsInRust();
  const tests = named.filter((name) => /^[a-z]+(?:_[a-z0-9]+){3,}(?:_…)?$/.test(name));
  assert.ok(tests.length > 15, `${tests.length}`);
  for (const name of tests) {
    const start = name.replace(/…$/, "");
    assert.ok(
      known.some((other) => (start === name ? other === name : other.startsWith(start))),
      name,
    );
  }
});

test("every guarantee names a test", () => {
  const [, guarantees = ""] = /\n## What adk-metrics guarantees\n([^]*?)\n## /.exec(page) ?? [];
  const items = guarantees.split(/\n(?=- \*\*)/).slice(1);
  assert.ok(items.length > 25, `${items.length}`);
  const without = items.filter((item) => !/\.(?:test\.m?[jt]s|mjs|rs)`|`[a-z]+(?:_[a-z0-9]+){3,}/.test(item));
  assert.deepEqual(
    without.map((item) => /\*\*([^*]+)\*\*/.exec(item)?.[1]),
    [],
  );
});
