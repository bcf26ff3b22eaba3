// The way through the crate and the package is one line: a file imports what stands before it, never what stands after.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { test } from "node:test";
import { root } from "./support/package.mjs";

/** Of the crate: modules of `src/`. */
const CRATE = ["foundation", "model", "text", "trajectory", "judge", "metrics", "run", "wasm"];

/** Of the package: folders and files of `pkg-template/src/`. What stands in one row may import each other. */
const PACKAGE = [
  ["generated", "enums", "closest", "lists", "abort", "metric-names"],
  ["errors", "types"],
  ["invocation", "engine", "known-options", "metric-info"],
  ["judges"],
  ["run"],
  ["rouge", "advisory", "thresholds", "adk-schema", "evaluators", "metric-function", "registry", "evaluate", "votes"],
  ["statistics", "estimate"],
  ["report", "compare", "modules"],
  ["calibration"],
  ["agents"],
  ["interop"],
  ["index"],
  ["entrypoints", "testing"],
  ["cli"],
];

const filesOf = (folder, ending) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((file) => String(file).split(sep).join("/"))
    .filter((file) => file.endsWith(ending) && !file.endsWith(".d.ts"));

test("the crate's modules know only what stands before them", () => {
  const wrong = [];
  for (const file of filesOf("src", ".rs")) {
    const own = CRATE.indexOf(file.split("/")[0].replace(/\.rs$/, ""));
    if (own === -1) continue;
    const code = readFileSync(join(root, "src", file), "utf8").replaceAll(/\/\/.*/g, "");
    for (const [, name] of code.matchAll(/\bcrate::(\w+)/g)) {
      if (CRATE.indexOf(name) > own) wrong.push(`src/${file}: crate::${name}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("the package's modules import only what stands before them", () => {
  const placeOf = (path) => PACKAGE.findIndex((row) => row.includes(path.split("/")[0].replace(/\.[jt]s$/, "")));
  const wrong = [];
  for (const file of filesOf("pkg-template/src", ".ts")) {
    // What is generated names types that are written by hand.
    if (file.startsWith("generated/")) continue;
    const own = placeOf(file);
    assert.notEqual(own, -1, `${file} has no place in the line`);
    const code = readFileSync(join(root, "pkg-template/src", file), "utf8").replaceAll(
      /\/\*[^]*?\*\/|^\s*\/\/.*/gm,
      "",
    );
    for (const [, path] of code.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const imported = normalize(join(dirname(file), path))
        .split(sep)
        .join("/");
      if (placeOf(imported) > own) wrong.push(`${file}: ${imported}`);
    }
  }
  assert.deepEqual(wrong, []);
});
