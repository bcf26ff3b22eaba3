// Every regular expression of the package and the playground takes time in proportion to what it reads.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "acorn";
import { transformSync } from "esbuild";

const require = createRequire(import.meta.url);
// The same program, compiled ahead, takes a tenth of the time that it takes in JavaScript. npm installs it where there is one.
const binary = `recheck-${{ darwin: "macos", win32: "windows" }[process.platform] ?? process.platform}-${process.arch}`;
const isCompiled = existsSync(new URL(`node_modules/${binary}`, import.meta.url));
process.env.RECHECK_BACKEND = isCompiled ? "native" : "pure";
const { check } = require("recheck");

const root = fileURLToPath(new URL("../..", import.meta.url));
const FOLDERS = ["pkg-template/src", "www/src", "www/public"];

/** The search for slow inputs is limited by work, not by time, which depends on the machine's other load. */
const SEARCH = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
};

/** As `report/formats.ts` has it. */
const COUNTS = String.raw`(?:\d\S* runs? of )?\d\S* cases?: (?:none scored|(?:(?:, )?\d\S* (?:passed|failed|not evaluated))+)\n`;

/** Regular expressions that are created at run time, by file. */
const MADE = {
  "pkg-template/src/agents/simulator.ts": [["\\{\\{\\s*conversation_plan\\s*\\}\\}", ""]],
  // What a user types to find files by their names: `**/*.evalset.json`.
  "pkg-template/src/cli/find.ts": [["^(?:(?:[^/]+/)*[^/]*\\.evalset\\.json)$", ""]],
  // A copy of one that the file holds, with a place of its own.
  "pkg-template/src/judges/dotenv.ts": [],
  // A provider's name before a slash.
  "pkg-template/src/judges/environment.ts": [["^anthropic/", ""]],
  // Those of the schemas.
  "www/src/editor/schema.ts": patternsOf("config", "evalset", "results"),
  // The mark of an integer, four random numbers, and its digits.
  "www/src/ui/json.ts": [['"1-2-3-4([^"]+)"', "g"]],
  // How reports and comparisons begin.
  "pkg-template/src/report/formats.ts": [
    [String.raw`^[^\n]*(?:\n  |  )${COUNTS}`, ""],
    [`^## Evaluation of ${COUNTS}\\n### <code>`, ""],
  ],
  // Half of a table of Unicode's blocks.
  "pkg-template/src/report/text.ts": [["^[\\u1100-\\u115F]$", "u"]],
};

function patternsOf(...names) {
  const found = [];
  for (const name of names) {
    JSON.parse(readFileSync(new URL(`../../pkg/schema/${name}.schema.json`, import.meta.url)), (key, value) => {
      if (key === "pattern" && typeof value === "string") found.push([value, ""]);
      if (key === "patternProperties") found.push(...Object.keys(value).map((pattern) => [pattern, ""]));
      return value;
    });
  }
  return found;
}

function sources() {
  return FOLDERS.flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
      .map((file) => `${folder}/${file}`)
      // What wasm-bindgen writes, and the module itself, are no sources.
      .filter((file) => /\.(tsx?|js)$/.test(file) && !/\/generated\/.*(\.js|\.d\.ts)$/.test(file)),
  );
}

/** The regular expressions that a file holds, and whether it makes others. */
function expressionsOf(file) {
  const loader = file.endsWith("x") ? "tsx" : "ts";
  const { code } = transformSync(readFileSync(`${root}${file}`, "utf8"), {
    loader,
    target: "esnext",
    jsx: "automatic",
  });
  const found = [];
  const onToken = ({ type, value }) => {
    if (type.label === "regexp") found.push([value.pattern, value.flags]);
  };
  parse(code, { ecmaVersion: "latest", sourceType: "module", onToken });
  return { found, makes: /\bRegExp\(/.test(code) };
}

test("no regular expression takes longer than in proportion to the text", async () => {
  assert.equal((await check("(a|a)*b", "", SEARCH)).status, "vulnerable");
  const known = new Map();
  const slow = [];
  for (const file of sources()) {
    const { found, makes } = expressionsOf(file);
    assert.equal(makes, file in MADE, `${file}: new RegExp(…) has to be listed here, with what it makes`);
    for (const [pattern, flags] of [...found, ...(MADE[file] ?? [])]) {
      const key = `/${pattern}/${flags}`;
      if (!known.has(key)) known.set(key, await check(pattern, flags.replace("v", "u"), SEARCH));
      const { status, complexity } = known.get(key);
      if (status !== "safe") slow.push(`${file}: ${key} is ${complexity?.summary ?? status}`);
    }
  }
  assert.deepEqual(slow, []);
  assert.ok(known.size > 100, `${known.size}`);
});
