/** Bundles the package's modules for each kind of module. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { build, transform } from "esbuild";
import { ENTRIES } from "./entries.mjs";
import { startMinifiers } from "./minifier.mjs";

const COMMON = {
  target: ["es2022"],
  logLevel: "warning",
  logOverride: { "ignored-bare-import": "silent" },
  legalComments: "none",
  charset: "utf8",
  sourcemap: "external",
  sourcesContent: false,
};

/** Lines stay short enough for stacks. */
const LINE_LIMIT = 400;

/**
 * Shorter syntax, with functions as they are: what is called is what stacks show, by source maps. Values that are moved to where
 * they are used would leave their annotations behind, of which Rollup warns.
 */
const SHORT_SYNTAX = {
  passes: 3,
  collapse_vars: false,
  inline: false,
  reduce_funcs: false,
  sequences: false,
  keep_classnames: true,
};

const CJS = { minifySyntax: true, format: "cjs", platform: "node" };

/**
 * Writes `esm`, with source maps, and `cjs`, which has none: Node loads `esm` for `require` too.
 *
 * @param dist The folder that has them.
 * @param sources The folder of the sources, and the address at which the repository is published.
 */
export async function bundle(dist, sources) {
  const [esm, cjs] = [join(dist, "esm"), join(dist, "cjs")];
  for (const folder of [esm, cjs]) mkdirSync(folder, { recursive: true });
  // Nearly all of the time is spent by the minifier.
  const minifiers = startMinifiers();
  try {
    const [modules, inCommonJs] = [await split("esm", esm, sources), await split("cjs", cjs, sources)];
    await Promise.all([
      ...modules.map((chunk) => writeModule(chunk, sources, minifiers)),
      ...inCommonJs.map((chunk) => writeCommonJs(chunk, minifiers)),
    ]);
  } finally {
    await minifiers.stop();
  }
  writeFileSync(join(cjs, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
}

async function writeModule({ path, ...chunk }, sources, minifiers) {
  const { code, map } = await withoutWhiteSpace(chunk, { module: true, compress: SHORT_SYNTAX }, minifiers);
  const lines = mapOfLines(JSON.parse(map), path, sources);
  write(path, `${code}\n`, lines.sources.length > 0 ? lines : undefined);
}

/** esbuild splits no CommonJS, and two copies of a class would be two classes: split as modules, then rewritten. */
async function writeCommonJs({ path, ...chunk }, minifiers) {
  const rewritten = await transform(requiredLater(chunk.code), { ...COMMON, ...CJS });
  // Bundlers take a file in CommonJS as a whole, so it needs no marks of what is pure.
  const format = { comments: /[iI]gnore/, preserve_annotations: false };
  // Nor do its functions have names to keep.
  const compress = { passes: 3, keep_classnames: true, toplevel: true };
  const { code } = await withoutWhiteSpace({ ...chunk, ...rewritten }, { compress, format }, minifiers);
  writeFileSync(path, `${code}\n${chunk.isEntry ? exportedNames(rewritten.code) : ""}${markFor(basename(path))}`);
}

/**
 * The package's own modules by `require`: Jest has no `import()`. What users name stays with the loader of ES modules, which
 * takes both kinds.
 */
function requiredLater(code) {
  return code.replaceAll(/\bimport\(("\.[^"]+")\)/g, "Promise.resolve().then(() => require($1))");
}

/**
 * A module without white space, but with the comments that bundlers read, which esbuild takes out as well. Classes keep their
 * names, which errors show, as do methods and what users import; functions and variables get short ones.
 */
function withoutWhiteSpace({ code, map, names }, { format, ...options }, minifiers) {
  return minifiers.minify(code, {
    mangle: { keep_classnames: true, toplevel: true, reserved: names },
    ...options,
    ecma: 2020,
    format: { comments: /__PURE__|[iI]gnore/, preserve_annotations: true, max_line_len: LINE_LIMIT, ...format },
    sourceMap: { content: map },
  });
}

/** What is never run, and tells Node the names that a file in CommonJS exports: esbuild writes it, terser takes it out. */
function exportedNames(code) {
  const [, names] = /^0 && \(module\.exports = \{([^}]*)\}\);$/m.exec(code) ?? [];
  return names === undefined ? "" : `0 && (module.exports = {${names.replaceAll(/\s+/g, "")}});\n`;
}

/**
 * What is never run, at the end of an entry in CommonJS: the ES module that newer versions of Node load instead
 * (`module-sync`), for tools that copy the files a server needs and do not know that condition.
 */
function markFor(file) {
  const entry = ENTRIES.find(({ cjs }) => `${cjs}.js` === file);
  return entry === undefined ? "" : `0 && require("../esm/${entry.esm ?? "node"}.js");\n`;
}

/**
 * The sources that source maps lead to: what is on the stack while a user's agents, judges and metrics are called, and what
 * throws first where arguments are wrong. The others are left out for the size of the package.
 */
const WITH_MAPS = [
  /^(?:abort|adk-schema|errors|evaluate|rouge)\.ts$/,
  /^agents\/(?:adapters|agent-evaluator|failure|node|record|run)\.ts$/,
  /^engine\/(?:call|frames|values)\.ts$/,
  /^judges\/(?:endpoint|provider-endpoint|providers|send)\.ts$/,
  /^testing\/matchers\.ts$/,
];

function write(path, code, map) {
  writeFileSync(path, map === undefined ? code : `${code}//# sourceMappingURL=${basename(path)}.map\n`);
  if (map !== undefined) writeFileSync(`${path}.map`, JSON.stringify(map));
}

/** The name of a source, as in the repository. */
function nameOf(source, path, folder) {
  return relative(folder, resolve(dirname(path), source))
    .split(sep)
    .join("/");
}

/**
 * esbuild's map with a mapping wherever a line of a source begins, instead of at each token: a fifth of the size. Its sources
 * are named by their published address, where debuggers fetch them. Loaders of source maps warn of addresses that they
 * cannot read, but not in `sourceRoot`.
 */
function mapOfLines({ version, sources: paths, mappings }, path, { folder, address }) {
  const names = paths.map((source) => nameOf(source, path, folder));
  const sources = names.filter((name) => WITH_MAPS.some((pattern) => pattern.test(name)));
  const lines = decode(mappings).map((segments) =>
    segments
      .map(([column, source, line]) => ({ column, place: sources.indexOf(names[source]), line }))
      .filter(
        ({ place, line }, at, all) =>
          place !== (all[at - 1]?.place ?? -1) || (place !== -1 && line !== all[at - 1].line),
      )
      // A segment without a source ends the one before it.
      .map(({ column, place, line }) => (place === -1 ? [column] : [column, place, line, 0])),
  );
  return { version, sourceRoot: address, sources, names: [], mappings: encode(lines) };
}

/** The entries of a kind and what they share, as ES modules with their maps and the names that have to stay. */
async function split(kind, folder, sources) {
  const entries = ENTRIES.filter((entry) => entry[kind] !== undefined);
  const { outputFiles, metafile } = await build({
    ...COMMON,
    bundle: true,
    minifySyntax: true,
    format: "esm",
    splitting: true,
    chunkNames: "shared-[hash]",
    platform: "neutral",
    mainFields: ["module", "main"],
    inject: [join(sources.folder, "entrypoints/globals.ts")],
    external: ["node:*", "*.wasm", "vitest", "bullmq", "ioredis", "pg"],
    plugins: [matchersApart(kind, sources), indexAtOnce(sources)],
    entryPoints: Object.fromEntries(entries.map((entry) => [entry[kind], join(sources.folder, `${entry.module}.ts`)])),
    outdir: folder,
    metafile: true,
    write: false,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const exported = [...outputs.values()].flatMap(({ entryPoint, exports }) => (entryPoint ? exports : []));
  const isEntry = (file) => outputs.get(file).entryPoint !== undefined;
  const shortNames = namesAmongChunks(
    [...outputs].filter(([file]) => !isEntry(file)),
    exported,
  );
  return [...texts]
    .filter(([path]) => path.endsWith(".js"))
    .map(([path, code]) => {
      return {
        path,
        isEntry: isEntry(basename(path)),
        code: withShortNames(withoutReturnedMarks(code), basename(path), shortNames),
        map: texts.get(`${path}.map`),
        names: [...exported, ...(kind === "esm" ? namedByVariables(code) : [])],
      };
    });
}

/** A short name for each that chunks import from one another, by chunk, but for those that users import as well. */
function namesAmongChunks(chunks, exported) {
  const shortName = (at) => `${String.fromCharCode(97 + (at % 26))}${at < 26 ? "" : Math.floor(at / 26)}`;
  return new Map(
    chunks.map(([file, { exports }]) => {
      const names = exports.filter((name) => !exported.includes(name));
      return [file, new Map(names.map((name, at) => [name, shortName(at)]))];
    }),
  );
}

/** A chunk that exports and imports those names; its lines stay where they are, for the maps. */
function withShortNames(code, file, shortNames) {
  return code.replaceAll(/^(import|export) \{\n([^}]*)\}(?: from "\.\/([^"]+)")?;$/gm, (text, kind, list, from) => {
    const names = shortNames.get(from ?? file);
    const renamed = list.replaceAll(/([\w$]+)(?: as ([\w$]+))?/g, (item, name, alias = name) => {
      if (kind === "import") return names?.has(name) ? `${names.get(name)} as ${alias}` : item;
      return names?.has(alias) ? `${name} as ${names.get(alias)}` : item;
    });
    return text.replace(list, () => renamed);
  });
}

/** Nothing is left out because what a function returns is pure, and terser moves such marks to where Rollup warns of them. */
function withoutReturnedMarks(code) {
  // As long as before, for the maps.
  return code.replaceAll("return /* @__PURE__ */", (text) => "return".padEnd(text.length));
}

/** The classes and functions of a module that are values of variables, as esbuild writes them. */
function namedByVariables(code) {
  return [...code.matchAll(/^var ([\w$]+) = (?:class\b|async\b|\(|[\w$]+ => )/gm)].map(([, name]) => name);
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

/** The modules that some module of a folder imports by `import()`. */
function importedLater(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(({ name }) =>
    name.endsWith(".ts"),
  );
  return files.flatMap(({ parentPath, name }) => {
    const code = readFileSync(join(parentPath, name), "utf8");
    return [...code.matchAll(/\bimport\("(\.[^"]+)\.js"\)/g)].map(([, path]) => join(parentPath, `${path}.ts`));
  });
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
  // Those that are imported when they are needed are entries too, whoever else imports them before.
  const entries = new Set([...ENTRIES.map(({ module }) => file(module)), ...importedLater(folder)]);
  for (const own of [index, node, nodeCjs]) entries.delete(own);
  return {
    name: "index-at-once",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, importer, resolveDir }) => {
        const imported = join(resolveDir, path).replace(/\.js$/, ".ts");
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
