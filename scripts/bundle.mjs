/** Bundles the package's modules for each kind of module, minified, with source maps. */

import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { build, transform } from "esbuild";
import { minify } from "terser";
import { ENTRIES } from "./entries.mjs";
import { smallMap } from "./maps.mjs";

/** Characters in a line, about: of an error that nobody catches Node prints the whole line that threw it. */
const MAX_LINE = 500;

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
  for (const { path, exported, ...chunk } of await split("esm", esm, sources)) {
    write(path, await minified(chunk, exported, { module: true }), sources);
  }
  // esbuild splits no CommonJS, and two copies of a class would be two classes: split as modules, then rewritten.
  for (const { path, exported, ...chunk } of await split("cjs", cjs, sources)) {
    const rewritten = await transform(withMap(chunk), { ...COMMON, ...CJS, sourcemap: "external" });
    write(path, await minified(rewritten, exported, { toplevel: true }), sources);
  }
  writeFileSync(join(cjs, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
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
    external: ["node:*", "*.wasm", "vitest"],
    plugins: [matchersApart(kind, sources), laterInNode(sources), indexAtOnce(sources)],
    entryPoints: Object.fromEntries(entries.map((entry) => [entry[kind], join(sources.folder, `${entry.module}.ts`)])),
    outdir: folder,
    metafile: true,
    write: false,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const exported = Object.values(metafile.outputs).flatMap((output) => (output.entryPoint ? output.exports : []));
  return [...texts.keys()]
    .filter((path) => path.endsWith(".js"))
    .map((path) => ({ path, code: texts.get(path), map: texts.get(`${path}.map`), exported }));
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
 * Has Node load what evaluates agents, and what else few programs use, when it is first used: the entries of its own get
 * an index that imports `entrypoints/later-*.ts` instead of the modules of the same names. All other entries have everything
 * at once, since their users' bundlers leave out what is not used.
 */
function laterInNode({ folder }) {
  const index = join(folder, "index.ts");
  const entries = new Set(["node.ts", "node-cjs.ts"].map((name) => join(folder, "entrypoints", name)));
  const later = (name) => join(folder, `entrypoints/later-${name}.ts`);
  return {
    name: "later-in-node",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, importer, pluginData, resolveDir }) => {
        const file = join(resolveDir, path).replace(/\.js$/, ".ts");
        if (entries.has(importer)) {
          if (file === index) return { path: file, suffix: "?node", pluginData: "index" };
          if (file === join(folder, "entrypoints/environment.ts")) return { path: later("environment") };
        }
        const isAgents = pluginData === "index" && file === join(folder, "agents/index.ts");
        return isAgents ? { path: later("agents") } : undefined;
      });
      onLoad({ filter: /\bindex\.ts$/ }, async ({ path, pluginData }) =>
        pluginData === "index" ? { contents: await readFile(path, "utf8"), loader: "ts", pluginData } : undefined,
      );
    },
  };
}

/**
 * Keeps what the index needs in one file, what evaluates agents in another, what only Node has in a third, and the index's
 * long list of names in a fourth.
 *
 * esbuild makes a file of every set of entries that share code, and Node takes a millisecond for each file. So every entry
 * imports the whole index, which bundlers leave out again, and those of the engine re-export it as a file. Only the one
 * that Node loads has its own list, and imports what of Node's it needs at once: judges of the environment.
 */
function indexAtOnce({ folder }) {
  const [index, node, environment, judges] = [
    "index",
    "entrypoints/node",
    "entrypoints/environment",
    "judges/environment",
  ].map((module) => join(folder, `${module}.ts`));
  const entries = new Set(ENTRIES.map(({ module }) => join(folder, `${module}.ts`)));
  for (const own of [index, node, join(folder, "entrypoints/node-cjs.ts")]) entries.delete(own);
  return {
    name: "index-at-once",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, importer, kind, resolveDir }) => {
        const file = join(resolveDir, path).replace(/\.js$/, ".ts");
        if (kind === "dynamic-import") entries.add(file);
        const isReExport = file === index && dirname(importer) === dirname(node) && importer !== node;
        return isReExport ? { path: "./index.js", external: true } : undefined;
      });
      const wholes = { "whole-index": index, "whole-environment": environment, "whole-judges": judges };
      onResolve({ filter: /^whole-/ }, ({ path }) => ({ path: wholes[path] }));
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (path !== index && !entries.has(path)) return undefined;
        const isNode = dirname(path) === join(folder, "cli") || path === join(folder, "entrypoints/later.ts");
        const whole = ["whole-judges", "whole-index", "whole-environment"].slice(
          0,
          path === index ? 1 : isNode ? 3 : 2,
        );
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
    format: { comments: false, preserve_annotations: true, max_line_len: MAX_LINE },
  });
}

/** Undoes what esbuild makes of a class that names itself, `X = class _X`: such a class would be called `_X`. */
function withOwnNames(code) {
  const names = new Set([...code.matchAll(/([\w$]+) = class _\1\b/g)].map(([, name]) => name));
  return code.replaceAll(/(?<![\w$.])_([\w$]+)/g, (written, name) => (names.has(name) ? name : written));
}
