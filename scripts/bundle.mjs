/** Bundles the package's modules for each kind of module, minified, with source maps. */

import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { build, transform } from "esbuild";
import { minify } from "terser";
import { ENTRIES } from "./entries.mjs";
import { smallMap } from "./maps.mjs";

/** Characters in a line, about: of an error that nobody catches Node prints the whole line that threw it. */
const MAX_LINE = 500;

/** Comments that tell bundlers to leave an `import()` alone. */
const KEPT_COMMENTS = /^\s*(webpackIgnore: true|@vite-ignore|turbopackIgnore: true)\s*$/;

const COMMON = {
  target: ["es2022"],
  logLevel: "warning",
  logOverride: { "ignored-bare-import": "silent" },
  legalComments: "none",
  charset: "utf8",
  minifySyntax: true,
};

/** An `import()` of CommonJS would go through the loader of ES modules. */
const CJS = { format: "cjs", platform: "node", supported: { "dynamic-import": false } };

/**
 * Writes `esm` and `cjs`, both with source maps.
 *
 * @param dist The folder that has them.
 * @param sources The folder of the sources, and the address at which they are published.
 */
export async function bundle(dist, sources) {
  const [esm, cjs] = [join(dist, "esm"), join(dist, "cjs")];
  for (const folder of [esm, cjs]) mkdirSync(folder, { recursive: true });
  for (const { path, exported, names: _, ...chunk } of await split("esm", esm, sources)) {
    write(path, await minified(chunk, exported, { module: true }), sources);
  }
  // esbuild splits no CommonJS, and two copies of a class would be two classes: split as modules, then rewritten.
  for (const { path, exported, names, ...chunk } of await split("cjs", cjs, sources)) {
    const rewritten = await transform(withMap(chunk), { ...COMMON, ...CJS, sourcemap: "external" });
    const { code, map } = await minified(rewritten, exported, { toplevel: true });
    write(path, { code: code + marksFor(basename(path), names), map }, sources);
  }
  writeFileSync(join(cjs, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
}

/**
 * What is never run, but read by others, at the end of an entry in CommonJS: the names of its exports, which Node looks for
 * when it imports the file; and the ES module that newer versions of Node load instead (`module-sync`), for tools that copy
 * the files a server needs and do not know that condition.
 */
function marksFor(file, names) {
  const entry = ENTRIES.find(({ cjs }) => `${cjs}.js` === file);
  if (entry === undefined) return "";
  return `\n0&&(module.exports={${names.join()}});0&&require("../esm/${entry.esm ?? "node"}.js");`;
}

/** A module with its map within, where esbuild looks for it. */
function withMap({ code, map }) {
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString("base64")}`;
}

function write(path, { code, map }, sources) {
  const small = smallMap(code, map, dirname(path), sources);
  writeFileSync(path, small === undefined ? code : `${code}\n//# sourceMappingURL=${basename(path)}.map\n`);
  if (small !== undefined) writeFileSync(`${path}.map`, small);
}

/** The entries of a kind and what they share, as ES modules with their maps, and the names that the entries export. */
async function split(kind, folder, sources) {
  const entries = ENTRIES.filter((entry) => entry[kind] !== undefined);
  const { outputFiles, metafile } = await build({
    ...COMMON,
    bundle: true,
    sourcemap: "external",
    sourcesContent: false,
    format: "esm",
    splitting: true,
    chunkNames: "shared-[hash]",
    platform: "neutral",
    inject: [join(sources.folder, "entrypoints/globals.ts")],
    external: ["node:*", "*.wasm", "vitest"],
    plugins: [matchersApart(kind, sources), indexAtOnce(sources)],
    entryPoints: Object.fromEntries(entries.map((entry) => [entry[kind], join(sources.folder, `${entry.module}.ts`)])),
    outdir: folder,
    metafile: true,
    write: false,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const outputs = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint !== undefined);
  const names = new Map(outputs.map(([path, { exports }]) => [resolve(path), exports]));
  const exported = [...names.values()].flat();
  return [...texts.keys()]
    .filter((path) => path.endsWith(".js"))
    .map((path) => ({
      path,
      code: texts.get(path),
      map: texts.get(`${path}.map`),
      exported,
      names: names.get(path) ?? [],
    }));
}

/**
 * Lets the matchers import what their users do, so that both have the same engine, registry and judge. Of ES modules each
 * runtime picks its own by the package's name; of CommonJS there is one of each, which Jest finds in a linked package too.
 */
function matchersApart(kind, sources) {
  const packages = new Map([
    [join(sources.folder, "index.js"), kind === "esm" ? "adk-metrics" : "./index.js"],
    [join(sources.folder, "report/index.js"), kind === "esm" ? "adk-metrics/report" : "./report.js"],
  ]);
  return {
    name: "matchers-apart",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.\/.*\bindex\.js$/ }, ({ path, resolveDir }) => {
        const found = resolveDir === join(sources.folder, "testing") && packages.get(join(resolveDir, path));
        return found ? { path: found, external: true } : undefined;
      });
    },
  };
}

/**
 * Keeps what the index needs in one file, what only Node has in another, and the index's long list of names in a third.
 *
 * esbuild makes a file of every set of entries that share code, and Node takes a millisecond for each file. So every entry
 * imports the whole index, which bundlers leave out again, and those of the engine re-export it as a file, as that of
 * bundles for Node re-exports Node's.
 */
function indexAtOnce({ folder }) {
  const file = (module) => join(folder, `${module}.ts`);
  const [index, node, nodeCjs] = ["index", "entrypoints/node", "entrypoints/node-cjs"].map(file);
  const wholes = { "whole-index": index, "whole-environment": file("entrypoints/environment") };
  const apart = new Map([
    [index, "./index.js"],
    [node, "./node.js"],
  ]);
  const entries = new Set(ENTRIES.map(({ module }) => file(module)));
  for (const own of [index, node, nodeCjs]) entries.delete(own);
  return {
    name: "index-at-once",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, importer, kind, resolveDir }) => {
        const imported = join(resolveDir, path).replace(/\.js$/, ".ts");
        if (kind === "dynamic-import") entries.add(imported);
        const isReExport =
          dirname(importer) === dirname(node) && ![node, nodeCjs].includes(importer) && apart.has(imported);
        return isReExport ? { path: apart.get(imported), external: true } : undefined;
      });
      onResolve({ filter: /^whole-/ }, ({ path }) => ({ path: wholes[path] }));
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!entries.has(path)) return undefined;
        const whole = dirname(path) === join(folder, "cli") ? Object.keys(wholes) : ["whole-index"];
        const imports = whole.map((name) => `\nimport "${name}";`).join("");
        return { contents: `${await readFile(path, "utf8")}${imports}\n`, loader: "ts" };
      });
    },
  };
}

/**
 * Minifies without touching what users see: names of classes, and of functions that they call. esbuild would drop the
 * marks of pure calls, by which bundlers leave out what is not used.
 */
function minified(written, exported, options) {
  const code = withOwnNames(written.code);
  const classes = [...code.matchAll(/([\w$]+) = class\b/g)].map(([, name]) => name);
  return minify(code, {
    ...options,
    sourceMap: { content: written.map, asObject: true },
    compress: { keep_classnames: true },
    mangle: { keep_classnames: true, reserved: [...exported, ...classes] },
    format: { comments: KEPT_COMMENTS, preserve_annotations: true, max_line_len: MAX_LINE },
  });
}

/** Undoes what esbuild makes of a class that names itself, `X = class _X`: such a class would be called `_X`. */
function withOwnNames(code) {
  const names = new Set([...code.matchAll(/([\w$]+) = class _\1\b/g)].map(([, name]) => name));
  return code.replaceAll(/(?<![\w$.])_([\w$]+)/g, (written, name) => (names.has(name) ? name : written));
}
