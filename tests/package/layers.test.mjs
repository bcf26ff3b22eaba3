// The way through the crate and the package is one line: a file imports what stands before it, never what stands after. And
// a file has one concern, of which 500 lines are a sign.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { test } from "node:test";
import { root } from "./support/package.mjs";

/** Of the crate: modules of `src/`. */
const CRATE = ["foundation", "model", "text", "trajectory", "judge", "metrics", "run", "wasm"];

/** Of the package: folders and files of `pkg-template/src/`. What stands in one row may import each other. */
const PACKAGE = [
  ["generated", "enums", "closest", "lists", "metric-names"],
  ["errors", "types"],
  ["abort", "invocation", "turn-events", "engine", "known-options", "looks-like", "metric-info"],
  ["known-score"],
  ["judges"],
  ["journal"],
  ["batches"],
  ["run"],
  [
    "rouge",
    "advisory",
    "thresholds",
    "adk-schema",
    "result-lines",
    "stored-results",
    "evaluators",
    "metric-function",
    "registry",
    "request-plan",
    "evaluate",
    "check-inputs",
    "lines",
    "votes",
  ],
  ["statistics", "estimate"],
  ["report", "compare", "modules"],
  ["calibration"],
  ["agents"],
  ["interop", "evaluate-stream"],
  ["queue"],
  ["index"],
  ["entrypoints", "testing"],
  ["cli"],
];

/** Tables, types and recorded data, which may be longer than other files: who looks for something in them knows its name. */
const LONG = [
  "pkg-template/src/cli/options.ts",
  "pkg-template/src/types.ts",
  "src/text/tables.rs",
  "tests/report/judged-fixtures.ts",
];
const MOST_LINES = 500;
const FOLDERS = ["benches", "fuzz", "pkg-template", "scripts", "src", "tests", "www", "xtask"];
/** What is installed, generated or recorded. */
const NOT_WRITTEN = new Set([
  "node_modules",
  "target",
  "generated",
  "dist",
  "vectors",
  "corpus",
  "artifacts",
  "coverage",
]);

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

test("no file is longer than 500 lines, but tables, types and recorded data", () => {
  const long = [];
  const walk = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!NOT_WRITTEN.has(entry.name) && !entry.name.startsWith(".")) walk(path);
      } else if (/\.(rs|tsx?|m?js|css)$/.test(entry.name)) {
        const lines = readFileSync(join(root, path), "utf8").split("\n").length - 1;
        if (lines > MOST_LINES) long.push(path);
      }
    }
  };
  FOLDERS.forEach(walk);
  assert.deepEqual(long.sort(), LONG, "Split a file where its concern divides, and a table goes into the list");
});

test("the package calls everything that the engine exports", () => {
  const generated = join(root, "pkg-template/src/generated");
  const declared = readFileSync(join(generated, "adk_metrics.d.ts"), "utf8").split("export type InitInput")[0];
  const exported = [...declared.matchAll(/^(?:export function |    (?:static )?)(\w+)\(/gm)].map(([, name]) => name);
  const code = filesOf("pkg-template/src", ".ts")
    .filter((file) => !file.startsWith("generated/"))
    .map((file) => readFileSync(join(root, "pkg-template/src", file), "utf8"))
    .join("\n");
  // What wasm-bindgen makes of every class and of the start of the module.
  const own = new Set(["constructor", "free", "throw_panics", "__wbg_reset_state"]);
  const unused = exported.filter((name) => !own.has(name) && !new RegExp(`\\.${name}\\(`).test(code));
  assert.ok(exported.length > 20);
  assert.deepEqual(unused, []);
});

test("tests of one folder are in one language: those of single modules in TypeScript, others in JavaScript", () => {
  const languages = new Map();
  for (const path of readdirSync(join(root, "tests"), { recursive: true })) {
    const [, language] = /\.test\.(ts|mjs)$/.exec(path) ?? [];
    if (language === undefined || path.split(sep).includes("node_modules")) continue;
    const folder = dirname(path);
    languages.set(folder, (languages.get(folder) ?? new Set()).add(language));
  }
  assert.ok(languages.size > 10);
  const mixed = [...languages].filter(([, found]) => found.size > 1).map(([folder]) => folder);
  // What Vitest and Jest are tried with.
  assert.deepEqual(mixed, [join("testing", "suites")]);
});
