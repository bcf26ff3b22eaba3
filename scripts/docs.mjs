// `npm run docs`: the API reference from the doc comments, as HTML in `target/docs`. Its tools are packages of
// `tests/docs`, which install on demand: typedoc reads sources with a TypeScript of its own.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages, root, run, step } from "./setup.mjs";

const tools = join(root, "tests/docs");
const typedoc = join(tools, "node_modules/typedoc/bin/typedoc");

/** The source of every entry that has types, from the package's `exports`. */
function entries() {
  const { exports } = JSON.parse(readFileSync(join(root, "pkg-template/package.json"), "utf8"));
  const types = Object.values(exports).flatMap(function typesOf(value) {
    if (typeof value === "string") return value.endsWith(".d.ts") ? [value] : [];
    return Object.values(value).flatMap(typesOf);
  });
  const isModule = (file) => file.startsWith("./dist/esm/types/");
  const sources = types
    .filter(isModule)
    .map((file) => file.replace("./dist/esm/types/", "").replace(/\.d\.ts$/, ".ts"));
  // `index.ts` is what all entries share; Node's adds to it.
  return [...new Set(sources)]
    .filter((file) => file !== "index.ts")
    .map((file) => join(root, "pkg-template/src", file));
}

/** The arguments of typedoc: with `folder` it writes, without it only checks. */
export function typedocArguments(folder) {
  const options = ["--options", join(tools, "typedoc.json"), "--tsconfig", join(root, "pkg-template/tsconfig.json")];
  const output = folder === undefined ? ["--emit", "none"] : ["--out", folder];
  return [typedoc, ...options, ...output, ...entries().flatMap((entry) => ["--entryPoints", entry])];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!existsSync(typedoc)) installPackages(tools);
  step("writing the API reference to target/docs");
  run(process.execPath, typedocArguments(join(root, "target/docs")));
}
