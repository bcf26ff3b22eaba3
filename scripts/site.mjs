// Builds the playground: www/dist is the site for any static host, pkg/playground what `adk-metrics playground` serves.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { installPackages, root, run, step } from "./setup.mjs";

export const www = join(root, "www");

/** Builds the site of the package that is in pkg/, and puts it into that package. */
export function buildSite() {
  installPackages(www);
  step("building the playground");
  run(process.execPath, [join(www, "node_modules/typescript/bin/tsc"), "--noEmit"], { cwd: www });
  run(process.execPath, [join(www, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"], { cwd: www });
  packSite(join(www, "dist"), join(root, "pkg/playground"));
}

/** Compresses the files, to save room in the package, and leaves out the engine, which the package has already. */
function packSite(from, to) {
  rmSync(to, { recursive: true, force: true });
  for (const name of readdirSync(from, { recursive: true })) {
    const file = join(from, name);
    if (statSync(file).isDirectory() || name.endsWith(".wasm")) continue;
    const target = join(to, relative(from, file));
    mkdirSync(dirname(target), { recursive: true });
    const size = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${target}.br`, brotliCompressSync(readFileSync(file), { params: size }));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) buildSite();
