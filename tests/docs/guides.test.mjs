// Every export is mentioned in a guide: otherwise users would not find it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { manifest, packageFolder, root } from "../package/support/package.mjs";

const pages = readdirSync(join(root, "docs"), { recursive: true }).filter((file) => file.endsWith(".md"));
const guides = [
  join(root, "README.md"),
  ...pages.filter((file) => !file.startsWith("decisions")).map((file) => join(root, "docs", file)),
]
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

/** The modules that an entry leads to, under any conditions. */
function targetsOf(entry) {
  if (typeof entry === "string") return [entry];
  return Object.entries(entry).flatMap(([condition, to]) => (condition === "types" ? [] : targetsOf(to)));
}

/** Names in the `export {…}` of a bundle; it is read, not run, since some are for other runtimes. */
function exportedBy(file) {
  const lists = readFileSync(file, "utf8").matchAll(/\bexport\s*\{([^}]*)\}/g);
  return [...lists].flatMap(([, list]) =>
    list.split(",").map((item) =>
      item
        .split(/\bas\b/)
        .at(-1)
        .trim(),
    ),
  );
}

for (const [entry, to] of Object.entries(manifest.exports)) {
  const modules = targetsOf(to).filter((file) => /\/esm\/.*\.js$/.test(file) && !file.includes("*"));
  if (modules.length === 0) continue;
  test(`everything that adk-metrics${entry.slice(1)} exports is in a guide`, async () => {
    const names = new Set(modules.flatMap((file) => exportedBy(join(packageFolder, file))));
    if (/^\.(\/web|\/slim|\/report|\/interop)?$/.test(entry)) {
      const file = modules.at(-1);
      for (const name of Object.keys(await import(pathToFileURL(join(packageFolder, file)).href))) names.add(name);
    }
    names.delete("");
    const missing = [...names].filter((name) => !new RegExp(`\\b${name.replace("$", "\\$")}\\b`).test(guides));
    assert.deepEqual(missing, []);
  });
}
