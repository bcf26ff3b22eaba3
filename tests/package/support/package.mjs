// The package as its users get it: the built `pkg/`, or another folder named by ADK_METRICS_PKG (an unpacked
// tarball, for example), entered through the `exports` of its package.json.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The folder of the package. */
export const packageFolder = resolve(process.env.ADK_METRICS_PKG ?? join(root, "pkg"));

if (!existsSync(join(packageFolder, "package.json"))) {
  throw new Error(`there is no package in ${packageFolder}: run \`npm run build\` first`);
}

/** The package's package.json. */
export const manifest = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));

/** The file that an entry's conditions lead to: `target(".", "node", "import")`. */
export function target(entry, ...conditions) {
  let found = manifest.exports[entry];
  while (typeof found === "object") {
    const key = Object.keys(found).find((name) => name === "default" || conditions.includes(name));
    if (key === undefined) throw new Error(`${entry} has no target for ${conditions.join(", ")}`);
    found = found[key];
  }
  return join(packageFolder, found);
}

/** Imports an entry as an ES module in Node. */
export const importEntry = (entry = ".") => import(pathToFileURL(target(entry, "node", "import")).href);

/** Requires an entry as CommonJS in Node. */
export const requireEntry = (entry = ".") => createRequire(import.meta.url)(target(entry, "node", "require"));

/** Reads a file below `tests/`. */
export const testFile = (path) => readFileSync(join(root, "tests", path), "utf8");

/** Whether a needed tool that is missing fails the tests instead of skipping them. */
export const mustRun = process.env.CI === "true";
