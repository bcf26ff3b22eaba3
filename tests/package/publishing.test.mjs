// What `npm publish` would send, installed as a user installs it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify, stripVTControlCharacters } from "node:util";
import { manifest, packageFolder, root } from "./support/package.mjs";

const run = promisify(execFile);
const MEGABYTE = 1_000_000;

let folder;
let packed;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "adk-metrics-packed-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: packageFolder });
  [packed] = JSON.parse(stdout);
  const installed = join(folder, "node_modules/adk-metrics");
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", join(folder, packed.filename), "-C", installed, "--strip-components=1"]);
});
after(() => rmSync(folder, { recursive: true }));

describe("the package", () => {
  test("has no dependencies", () => {
    for (const kind of ["dependencies", "optionalDependencies", "bundledDependencies", "devDependencies"]) {
      assert.equal(manifest[kind], undefined, kind);
    }
    for (const peer of Object.keys(manifest.peerDependencies)) {
      assert.equal(manifest.peerDependenciesMeta[peer].optional, true, peer);
    }
    assert.equal(manifest.scripts, undefined, "nor does it run anything when it is installed");
  });

  test("takes at most three megabytes unpacked", () => {
    const most = 3 * MEGABYTE;
    assert.ok(packed.unpackedSize <= most, `${packed.unpackedSize} bytes are more than ${most}`);
  });

  test("holds every file that its exports name, a licence and a readme", () => {
    const files = new Set(packed.files.map(({ path }) => path));
    const targets = [];
    JSON.stringify(manifest.exports, (_key, value) =>
      typeof value === "string" ? (targets.push(value), value) : value,
    );
    for (const target of [...targets, ...Object.values(manifest.bin), "LICENSE", "README.md"]) {
      const path = target.replace(/^\.\//, "");
      if (!path.includes("*")) assert.ok(files.has(path), `${path} is missing`);
    }
    for (const kind of ["evalset", "results", "config"]) assert.ok(files.has(`schema/${kind}.schema.json`), kind);
    for (const path of files) assert.doesNotMatch(path, /\.(?:rs|toml)$|(?:^|\/)(?:src|tests?|node_modules)\//);
  });

  // Parcel reads no `exports` unless it is told to; it finds the file for browsers by the field `browser`.
  const MEANT = /^1\. pkg\.browser with a string value can be refactored to use pkg\.exports/;

  test("has nothing else that publint warns of", async () => {
    const { stdout } = await run(process.execPath, [join(root, "node_modules/publint/src/cli.js"), packageFolder]);
    const [, found = ""] = stripVTControlCharacters(stdout).split(/^Linting\.\.\.\n/m);
    const lines = found.trim().split("\n");
    assert.equal(lines[0], "Suggestions:", stdout);
    assert.match(lines[1], MEANT);
    assert.equal(lines.length, 2, stdout);
  });
});

describe("installed in an empty project, the package", () => {
  const PROGRAM = `
    const { fmeasure } = rouge1("The weather in London is sunny", "It's sunny in London today");
    const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [{ userContent: {}, finalResponse: { parts: [{ text: "a" }] } }] }] };
    evaluate({ evalSet, actual: evalSet, criteria: { response_match_score: 1 } }).then((set) => {
      console.log(fmeasure, set.evalCaseResults[0].finalEvalStatus, typeof report.renderTable, interop.isTraces({}), version);
    });`;
  const expected = () => `0.5 1 function false ${manifest.version}\n`;

  /** Runs a program in the project. */
  async function runProgram(name, text) {
    writeFileSync(join(folder, name), text);
    const { stdout, stderr } = await run(process.execPath, [join(folder, name)], { cwd: folder });
    assert.equal(stderr, "");
    return stdout;
  }

  test("works as an ES module", async () => {
    const imports = `
      import { createRequire } from "node:module";
      import { evaluate, rouge1 } from "adk-metrics";
      import * as report from "adk-metrics/report";
      import * as interop from "adk-metrics/interop";
      const { version } = createRequire(import.meta.url)("adk-metrics/package.json");`;
    assert.equal(await runProgram("program.mjs", imports + PROGRAM), expected());
  });

  test("works as CommonJS", async () => {
    const imports = `
      const { evaluate, rouge1 } = require("adk-metrics");
      const report = require("adk-metrics/report");
      const interop = require("adk-metrics/interop");
      const { version } = require("adk-metrics/package.json");`;
    assert.equal(await runProgram("program.cjs", imports + PROGRAM), expected());
  });

  // A segmenter takes as long as all the rest of importing the package, a compiled engine half of it.
  test("makes nothing costly while it is imported", async () => {
    const text = `
      const made = [];
      const watch = (owner, name) => {
        owner[name] = new Proxy(owner[name], { construct: (of, args) => (made.push(name), new of(...args)) });
      };
      for (const name of Object.getOwnPropertyNames(Intl)) if (typeof Intl[name] === "function") watch(Intl, name);
      watch(WebAssembly, "Module");
      require("adk-metrics");
      require("adk-metrics/report");
      require("adk-metrics/interop");
      import("adk-metrics").then(() => console.log(JSON.stringify(made)));`;
    assert.equal(await runProgram("costly.cjs", text), "[]\n");
  });

  test("gives out its schemas and its WebAssembly module", async () => {
    const text = `
      const { readFileSync } = require("node:fs");
      const schema = require("adk-metrics/schema/evalset.json");
      WebAssembly.compile(readFileSync(require.resolve("adk-metrics/adk_metrics.wasm"))).then(() => console.log(typeof schema));`;
    assert.equal(await runProgram("schema.cjs", text), "object\n");
  });

  test("has a command line", async () => {
    const { stdout } = await run(process.execPath, [
      join(folder, "node_modules/adk-metrics", Object.values(manifest.bin)[0]),
      "--help",
    ]);
    assert.match(stdout, /adk-metrics/);
  });
});
