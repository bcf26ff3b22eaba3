/** Agents in Node: files, and the copies of a library that a program may hold. */

import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { AgentHost } from "./host.js";

export const nodeAgentHost: AgentHost = {
  async readText(file) {
    try {
      return await readFile(file, "utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  writeText: (file, text) => writeFile(file, text),
  async kindOf(path) {
    try {
      return (await stat(path)).isDirectory() ? "folder" : "file";
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  async filesUnder(folder, ending) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith(ending))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .sort();
  },
  beside: (file, name) => join(dirname(file), name),
  copiesOf,
};

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * A package may be loaded twice, as ES module and as CommonJS, and be installed more than once. Each copy has classes of
 * its own, so all are offered.
 */
async function* copiesOf(packageName: string): AsyncGenerator<object> {
  const beside = await loaded(() => import(packageName) as Promise<object>);
  if (beside !== undefined) yield beside;
  const program = process.argv[1];
  const bases = [join(process.cwd(), "_"), ...(program === undefined ? [] : [program])];
  for (const base of new Set(bases)) {
    const require = createRequire(pathToFileURL(base));
    const module = await loaded(async () => import(pathToFileURL(await moduleEntry(require, packageName)).href));
    if (module !== undefined) yield module;
    const common = await loaded(async () => require(packageName) as object);
    if (common !== undefined) yield common;
  }
}

async function loaded(load: () => Promise<object>): Promise<object | undefined> {
  try {
    return await load();
  } catch {
    return undefined;
  }
}

/** The file that `import` would load, found from that which `require` does. */
async function moduleEntry(require: NodeJS.Require, packageName: string): Promise<string> {
  const inside = require.resolve(packageName);
  const root = inside.slice(
    0,
    inside.lastIndexOf(join("node_modules", packageName)) + join("node_modules", packageName).length,
  );
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    exports?: unknown;
    module?: string;
  };
  const exported = (manifest.exports as Record<string, Record<string, unknown>> | undefined)?.["."]?.import;
  const entry =
    typeof exported === "string"
      ? exported
      : ((exported as { default?: string } | undefined)?.default ?? manifest.module);
  return join(root, entry as string);
}
