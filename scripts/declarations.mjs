/**
 * The declarations that users can reach, each once: those of the CommonJS entries below `dist/cjs`, where ES modules may
 * import them too, and what only ES modules have below `dist/esm`.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { ENTRIES } from "./entries.mjs";

const SPECIFIERS = /(?<=\b(?:from|import)\s*\(?\s*["'])\.[^"']+(?=\.js["'])/g;

/** Writes what `tsc` declared into `dist`. */
export async function writeDeclarations(declarations, dist) {
  const modulesOf = (kind) => ENTRIES.filter((entry) => entry.typed && entry[kind]).map(({ module }) => module);
  const [entries, inCommonJs] = [modulesOf("esm"), modulesOf("cjs")];
  const texts = await bundled(declarations, [...new Set([...inCommonJs, ...entries])]);
  const folder = (kind) => join(dist, kind, "types");
  const write = async (kind, name, text) => {
    const file = join(folder(kind), `${name}.d.ts`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, compact(text));
  };
  const common = reachable(inCommonJs, texts);
  for (const name of common) await write("cjs", name, texts.get(name));

  const pathBetween = (from, to) => {
    const path = relative(dirname(join(folder("esm"), from)), join(folder(common.has(to) ? "cjs" : "esm"), to));
    return path.startsWith(".") ? path.split(sep).join("/") : `./${path.split(sep).join("/")}`;
  };
  for (const name of reachable(entries, texts)) {
    const text = texts.get(name);
    if (!common.has(name)) {
      const moved = text.replaceAll(SPECIFIERS, (path) => pathBetween(name, join(dirname(name), path)));
      await write("esm", name, moved);
    } else if (entries.includes(name)) {
      if (/\bexport default\b|\bas default\b/.test(text))
        throw new Error(`${name}: a default export is another one in CommonJS`);
      await write("esm", name, `export * from "${pathBetween(name, name)}.js";\n`);
    }
  }
}

/** The declarations of these modules, and those that they share, without what no user can name. */
async function bundled(declarations, modules) {
  const isRelative = (id) => id.startsWith(".");
  const isEntry = (path) => modules.includes(relative(declarations, path).replace(/\.js$/, ""));
  const bundle = await rollup({
    input: Object.fromEntries(modules.map((name) => [name, join(declarations, `${name}.d.ts`)])),
    // An entry that exports all of another one says so, instead of naming everything again.
    external: (id, importer) => (isRelative(id) ? isEntry(join(dirname(importer), id)) : !isAbsolute(id)),
    plugins: [dts()],
    onLog(_level, { message }) {
      // The base of the evaluators, which nobody names: their classes are exported.
      if (!/no public re-export: EngineEvaluator\./.test(message)) throw new Error(`declarations: ${message}`);
    },
  });
  const { output } = await bundle.generate({ chunkFileNames: "shared-[hash].d.ts" });
  await bundle.close();
  return new Map(output.map(({ fileName, code }) => [fileName.replace(/\.d\.ts$/, ""), code]));
}

/** These modules and what they import, however far. */
function reachable(modules, texts) {
  const found = new Set(modules);
  for (const name of found) {
    for (const [path] of texts.get(name).matchAll(SPECIFIERS)) found.add(join(dirname(name), path));
  }
  return found;
}

/** Indented by tabs, comments of one line in one line, and without the headers of modules, which are about no declaration. */
function compact(text) {
  return text
    .replaceAll(/^\/\*\*(?:(?!\*\/)[^])*\*\/\n\n/gm, "")
    .replaceAll(/^(?: {4})+/gm, (indentation) => "\t".repeat(indentation.length / 4))
    .replaceAll(/\/\*\*\n\s*\* (.*)\n\s*\*\//g, "/** $1 */");
}
