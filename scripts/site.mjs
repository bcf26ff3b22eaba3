// Builds the playground: www/dist is the site for any static host, pkg/playground what `adk-metrics playground` serves.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { NOTICES, writeNotices } from "./notices.mjs";
import { installPackages, root, run, step } from "./setup.mjs";

export const www = join(root, "www");

/** Builds the site of the package that is in pkg/, and puts it into that package. */
export function buildSite() {
  installPackages(www);
  step("building the playground");
  run(process.execPath, [join(www, "node_modules/typescript/bin/tsc"), "--noEmit"], { cwd: www });
  run(process.execPath, [join(www, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"], { cwd: www });
  packSite(join(www, "dist"), join(root, "pkg/playground"));
  for (const folder of ["www/dist", "pkg"]) writeNotices(join(root, folder, NOTICES), www);
}

/**
 * Writes the site as one compressed file: a line of JSON, from each path to its length, and then the files. What it has of
 * the package is named only.
 */
function packSite(from, to) {
  const sizeOf = (name) => statSync(join(from, name)).size;
  const names = readdirSync(from, { recursive: true })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => statSync(join(from, name)).isFile())
    // What is alike stands together, the largest first, which compresses best.
    .sort((a, b) => extname(a).localeCompare(extname(b)) || sizeOf(b) - sizeOf(a) || a.localeCompare(b));
  const isOwn = (name) => !name.startsWith("adk-metrics/");
  const files = new Map(names.filter(isOwn).map((name) => [name, readFileSync(join(from, name))]));
  const index = Object.fromEntries(names.map((name) => [name, files.get(name)?.length ?? null]));
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...files.values()]);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  writeFileSync(join(to, "site.br"), brotliCompressSync(bytes, { params }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) buildSite();
