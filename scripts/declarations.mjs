/**
 * The declarations that users can reach, each once: those of the CommonJS entries below `dist/cjs`, where ES modules may
 * import them too, and what only ES modules have below `dist/esm`.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { ENTRIES } from "./entries.mjs";

const SPECIFIERS = /(?<=\b(?:from|import)\s*\(?\s*")\.[^"]+(?=\.js")/g;

/** Writes what `tsc` declared into `dist`. */
export function writeDeclarations(declarations, dist) {
  const read = (name) => readFileSync(join(declarations, `${name}.d.ts`), "utf8");
  const modulesOf = (kind) => ENTRIES.filter((entry) => entry.typed && entry[kind]).map(({ module }) => module);
  const folder = (kind) => join(dist, kind, "types");
  const write = (kind, name, text) => {
    const file = join(folder(kind), `${name}.d.ts`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      text.replaceAll(/^(?: {4})+/gm, (indentation) => "\t".repeat(indentation.length / 4)),
    );
  };
  const common = reachable(modulesOf("cjs"), read);
  for (const name of common) write("cjs", name, read(name));

  const pathBetween = (from, to) => {
    const path = relative(dirname(join(folder("esm"), from)), join(folder(common.has(to) ? "cjs" : "esm"), to));
    return path.startsWith(".") ? path.split(sep).join("/") : `./${path.split(sep).join("/")}`;
  };
  const entries = modulesOf("esm");
  for (const name of reachable(entries, read)) {
    if (!common.has(name)) {
      write(
        "esm",
        name,
        read(name).replaceAll(SPECIFIERS, (path) => pathBetween(name, join(dirname(name), path))),
      );
    } else if (entries.includes(name)) {
      if (/\bexport default\b/.test(read(name)))
        throw new Error(`${name}: a default export is another one in CommonJS`);
      write("esm", name, `export * from "${pathBetween(name, name)}.js";\n`);
    }
  }
}

/** These modules and what they import, however far. */
function reachable(modules, read) {
  const found = new Set(modules);
  for (const name of found) {
    for (const [path] of read(name).matchAll(SPECIFIERS)) found.add(join(dirname(name), path));
  }
  return found;
}
