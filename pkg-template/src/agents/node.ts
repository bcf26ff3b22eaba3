/** Agents in Node: files, and the copies of a library that a program may hold. */

import { constants, promises as files } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readAtMost } from "../judges/read-at-most.js";
import type { AgentHost } from "./host.js";

/** The most bytes read from a file whose size the system does not know. */
const MAX_UNSIZED_BYTES = 64 * 1024 * 1024;

export const nodeAgentHost: AgentHost = {
  async readText(file) {
    let opened: files.FileHandle | undefined;
    try {
      // A pipe would be waited for, and a device may have no end.
      opened = await files.open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      const found = await opened.stat();
      if (!found.isFile()) throw new Error(`${file} is not a regular file`);
      const bytes = await readAtMost(opened, found.size, Math.max(found.size, MAX_UNSIZED_BYTES));
      if (bytes === undefined) throw new Error(`${file} is larger than 64 MiB and not a regular file`);
      return bytes.toString("utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    } finally {
      await opened?.close();
    }
  },
  writeText: (file, text) => files.writeFile(file, text),
  async kindOf(path) {
    try {
      return (await files.stat(path)).isDirectory() ? "folder" : "file";
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  async filesUnder(folder, ending) {
    const entries = await files.readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith(ending))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .sort();
  },
  beside: (file, name) => join(dirname(file), name),
  pathOf(url) {
    const href = String(url);
    return href.startsWith("file:") ? fileURLToPath(href) : undefined;
  },
  workingFolder: () => process.cwd(),
  copiesOf,
};

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Modules beside which libraries are looked for besides. */
const libraryFolders = new Set<string>();

/** Has the library of an agent be looked for beside the agent's module too. */
export function lookBeside(file: string): void {
  libraryFolders.add(file);
}

/**
 * A package may be loaded twice, as ES module and as CommonJS, and be installed more than once. Each copy has classes of
 * its own, so all are offered: the one beside this package, then those of the agent's module, of the program and of the working directory.
 */
async function* copiesOf(packageName: string): AsyncGenerator<object> {
  const program = process.argv[1];
  const bases = new Set([...libraryFolders, ...(program === undefined ? [] : [program]), join(process.cwd(), "_")]);
  const resolvers = [...bases].map((base) => createRequire(pathToFileURL(base)));
  const loads = [
    () => moduleAt(packageName),
    ...resolvers.flatMap((requireFrom) => [
      async () => moduleAt(pathToFileURL(await moduleEntry(requireFrom, packageName)).href),
      async () => requireFrom(packageName) as object,
    ]),
  ];
  for (const load of loads) {
    const copy = await load().catch(() => undefined);
    if (copy !== undefined) yield copy;
  }
}

/** Bundlers are not to look for what only the running program knows. */
function moduleAt(specifier: string): Promise<object> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ specifier) as Promise<object>;
}

/** The file that `import` would load, found from that which `require` does. */
async function moduleEntry(requireFrom: NodeJS.Require, packageName: string): Promise<string> {
  const inside = requireFrom.resolve(packageName);
  const folder = join("node_modules", packageName);
  const root = inside.slice(0, inside.lastIndexOf(folder) + folder.length);
  const manifest = JSON.parse(await files.readFile(join(root, "package.json"), "utf8")) as Manifest;
  const exported = manifest.exports?.["."]?.import;
  const entry = typeof exported === "string" ? exported : (exported?.default ?? manifest.module);
  if (entry === undefined) throw new Error(`${packageName} has no ES module`);
  return join(root, entry);
}

/** What is read of a `package.json`. */
interface Manifest {
  exports?: { "."?: { import?: string | { default?: string } } };
  module?: string;
}
