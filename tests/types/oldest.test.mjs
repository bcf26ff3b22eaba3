// What the readme claims of the oldest TypeScript and the oldest browsers: the declarations compile with the one, and the
// bundles hold no syntax that the others do not know, nor the names of what came to them later.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { manifest, mustRun, packageFolder, root } from "../package/support/package.mjs";

const README = readFileSync(join(packageFolder, "README.md"), "utf8").replaceAll(/\s+/g, " ");

const claimed = (pattern) => {
  const [, ...versions] = pattern.exec(README) ?? [];
  assert.ok(versions.length > 0, `the readme says nothing like ${pattern}`);
  return versions;
};

/** TypeScript of the claimed version, which is installed beside today's under its own name. */
const tsc = join(root, "node_modules/typescript-oldest/bin/tsc");
const skip = existsSync(tsc) || mustRun ? false : "run `npm ci`";

test("the declarations compile with the oldest TypeScript that is claimed", { skip }, (t) => {
  const [oldest] = claimed(/TypeScript (\d+\.\d+) and newer/);
  const { version } = JSON.parse(readFileSync(join(root, "node_modules/typescript-oldest/package.json"), "utf8"));
  assert.equal(version.replace(/\.\d+$/, ""), oldest);
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-oldest-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules/adk-metrics"));
  for (const file of ["contract", "criteria", "judges", "node"]) {
    copyFileSync(fileURLToPath(new URL(`${file}.ts`, import.meta.url)), join(folder, `${file}.mts`));
  }
  const shared = { target: "es2022", strict: true, noEmit: true, skipLibCheck: false, types: [] };
  const compilerOptions = {
    ...shared,
    module: "nodenext",
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }));
  let said = "";
  try {
    execFileSync(process.execPath, [tsc, "--project", folder], { encoding: "utf8" });
  } catch ({ stdout }) {
    said = stdout;
  }
  assert.equal(said, "");
});

test("every entry has types where `exports` is not read", { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-node10-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules/adk-metrics"));
  const entries = Object.keys(manifest.exports).filter((entry) => /^\.(?:\/[a-z]+)?$/.test(entry));
  assert.ok(entries.length >= 8);
  const imported = entries.map((entry, at) => {
    const name = `adk-metrics${entry.slice(1)}`;
    // A module that is not found, or is any, has this name too.
    return `import * as entry${at} from "${name}";\nentry${at}.nowhere;\n`;
  });
  writeFileSync(join(folder, "entries.ts"), imported.join(""));
  const compilerOptions = {
    module: "esnext",
    moduleResolution: "node10",
    target: "es2022",
    strict: true,
    noEmit: true,
  };
  const settings = { compilerOptions: { ...compilerOptions, skipLibCheck: true, types: [] }, include: ["."] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const { stdout } = spawnSync(process.execPath, [tsc, "--project", folder], { encoding: "utf8" });
  const said = stdout.trim().split("\n");
  assert.equal(said.length, entries.length, stdout);
  for (const line of said) assert.match(line, /TS2339: Property 'nowhere' does not exist on type 'typeof import/);
});

/** What came to some browser after the claimed versions; none of it may be used without a look whether it is there. */
const LATER =
  /\b(?:Promise\.try|Object\.groupBy|Map\.groupBy|Array\.fromAsync|Iterator\.from|RegExp\.escape|Math\.sumPrecise|Error\.isError|Uint8Array\.fromBase64|Uint8Array\.fromHex|Promise\.withResolvers)\b|\.(?:isSubsetOf|isSupersetOf|isDisjointFrom|symmetricDifference|toBase64|toHex)\(/;

test("the bundles for browsers hold nothing that the oldest browsers claimed do not know", async () => {
  const [chrome, firefox, safari] = claimed(/Chrome and Edge (\d+), Firefox (\d+) and Safari ([\d.]+) or newer/);
  const target = [`chrome${chrome}`, `edge${chrome}`, `firefox${firefox}`, `safari${safari}`];
  const folder = join(packageFolder, "dist/esm");
  const files = readdirSync(folder).filter((name) => name.endsWith(".js") && !name.startsWith("cli"));
  assert.ok(files.length > 5);
  for (const name of files) {
    const code = readFileSync(join(folder, name), "utf8");
    const options = {
      format: "esm",
      minify: true,
      legalComments: "none",
      supported: { "regexp-unicode-property-escapes": true },
    };
    const [lowered, whole] = await Promise.all(
      [target, ["esnext"]].map((to) => transform(code, { ...options, target: to })),
    );
    assert.equal(lowered.code === whole.code, true, `${name} has syntax that ${target.join(", ")} do not all know`);
    assert.doesNotMatch(code, LATER, name);
  }
});
