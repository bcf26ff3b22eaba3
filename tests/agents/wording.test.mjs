// Messages are our own: none is copied from google-adk or ADK-TS.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ADK_TS = fileURLToPath(new URL("node_modules/@iqai/adk/dist/index.js", import.meta.url));
const { ADK_PYTHON } = process.env;

/** So many words in a row are a sentence of somebody's; fewer anybody writes. */
const RUN = 6;

/** The files under a folder, generated ones left out, as [path, text]. */
function sources(folder, ending) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending) && !/[\\/]generated$/.test(entry.parentPath))
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [path, readFileSync(path, "utf8")]);
}

const STRING = /"((?:[^"\\\n]|\\[^])*)"/.source;
const COMMENT = /\/\*[^]*?\*\/|(?<![:"'])\/\/.*/.source;
/** A regular expression: its quotes begin no string. */
const REGEX = /(?<=[=(,:?!&|;{}]\s*|return )\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/.source;

/** The strings in TypeScript, those with parts filled in as one. */
function stringsOfTypeScript(text) {
  // Without templates: `a ${b} c` is "a ".concat(b, " c").
  const options = { loader: "ts", minifySyntax: true, supported: { "template-literal": false }, legalComments: "none" };
  const { code } = transformSync(text, options);
  return code.split("\n").flatMap((line) => {
    const strings = [...line.matchAll(new RegExp(`${REGEX}|${STRING}`, "g"))].flatMap(([, string]) => string ?? []);
    return line.includes(".concat(") ? [...strings, strings.join(" ")] : strings;
  });
}

/** The strings in Rust, without the tests at the end of a file. */
function stringsOfRust(text) {
  const [code] = text.split(/^#\[cfg\(test\)\]/m);
  const strings = [...code.matchAll(new RegExp(`${COMMENT}|(?<!')"((?:[^"\\\\]|\\\\[^])*)"`, "g"))];
  return strings.flatMap(([, string]) => string ?? []);
}

/** The words of a text, without what is filled in and where literals are joined. */
function wordsOf(text) {
  return text
    .replace(/\$\{[^{}\n]*\}|(?<!\$)\{[^{}\s;]*\}/g, " ")
    .replace(/\\\r?\n|\\[ntr"'`]/g, " ")
    .replace(/["'`]\s*\+?\s*\n\s*\+?\s*[frb]*["'`]/g, "")
    .toLowerCase()
    .match(/[\p{L}_][\p{L}\p{N}_]*/gu);
}

function* runsOf(text) {
  const words = wordsOf(text) ?? [];
  for (let at = 0; at + RUN <= words.length; at++) yield words.slice(at, at + RUN).join(" ");
}

/** The sentences of ours that are among theirs. */
function shared(theirs) {
  const known = new Set();
  for (const [, text] of theirs) for (const run of runsOf(text)) known.add(run);
  assert.ok(known.size > 10_000, "there is nothing to compare with");
  const ours = [
    ...sources(join(ROOT, "pkg-template/src"), ".ts").map(([path, text]) => [path, stringsOfTypeScript(text)]),
    ...sources(join(ROOT, "src"), ".rs").map(([path, text]) => [path, stringsOfRust(text)]),
  ];
  assert.ok(ours.flatMap(([, strings]) => strings).length > 2000, "the sources have no strings");
  return ours.flatMap(([path, strings]) =>
    strings.flatMap((string) => {
      const run = [...runsOf(string)].find((run) => known.has(run));
      return run === undefined ? [] : [`${path.slice(ROOT.length)}: ${run}`];
    }),
  );
}

test("no message is a sentence of ADK-TS", { skip: existsSync(ADK_TS) ? false : "needs @iqai/adk" }, () => {
  assert.deepEqual(shared([[ADK_TS, readFileSync(ADK_TS, "utf8")]]), []);
});

test("no message is a sentence of google-adk", { skip: ADK_PYTHON ? false : "needs ADK_PYTHON" }, () => {
  const code = "import google.adk, os; print(os.path.dirname(google.adk.__file__))";
  const folder = execFileSync(ADK_PYTHON, ["-c", code], { encoding: "utf8" }).trim();
  assert.deepEqual(shared(sources(folder, ".py")), []);
});
