// Builds the crate and the npm package: what `npm publish ./pkg` would send is in pkg/ afterwards.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { constants, deflateRawSync } from "node:zlib";
import { bin, root, run, setup, step } from "./setup.mjs";

const pkg = join(root, "pkg");
const template = join(root, "pkg-template");
const generated = join(template, "src/generated");
const dist = join(pkg, "dist");
const declarations = join(root, "target/declarations");

/** The modules of `src/entrypoints` that users and runtimes import. */
const ENTRIES = ["inline", "node", "node-inline", "workerd", "web", "web-inline", "web-workerd", "slim"];

/** Builds everything. */
export async function build() {
  setup();
  const began = performance.now();
  buildEngine();
  await generateTypes();
  await buildPackage();
  step(`built pkg/ in ${Math.round((performance.now() - began) / 1000)} s`);
}

/**
 * The compiler has inlined what is worth it; more of it makes the module larger once compressed, and so do
 * values kept for a second use, which engines find by themselves. Below address 1024 is the end of the stack.
 */
const optimisations = [
  "-O3",
  "--one-caller-inline-max-function-size=10",
  "--flexible-inline-max-function-size=5",
  "--skip-pass=local-cse",
  "--low-memory-unused",
];

function buildEngine() {
  step("compiling the crate to WebAssembly (the first time takes a minute or two)");
  const out = join(root, "target/bindgen");
  run("cargo", ["xtask", "build", out]);
  step("optimising the WebAssembly");
  const wasm = join(generated, "adk_metrics.wasm");
  mkdirSync(generated, { recursive: true });
  run(bin("wasm-opt"), [...optimisations, join(out, "adk_metrics_bg.wasm"), "-o", wasm]);
  for (const file of ["adk_metrics.js", "adk_metrics.d.ts"]) cpSync(join(out, file), join(generated, file));
}

async function generateTypes() {
  step("generating JSON Schema and TypeScript types from the Rust types");
  const schema = join(root, "target/schema");
  run("cargo", ["xtask", "schema", schema]);
  const { writeTypes } = await import("./types.mjs");
  await writeTypes(join(schema, "shapes.schema.json"), join(generated, "shapes.ts"));
}

/** Makes the package of the engine and the types that are there already. */
export async function buildPackage() {
  inlineEngine();
  checkTypes();
  step("bundling the package");
  rmSync(pkg, { recursive: true, force: true });
  await bundle();
  writeDeclarations();
  cpSync(join(generated, "adk_metrics.wasm"), join(dist, "adk_metrics.wasm"));
  for (const kind of ["evalset", "results"]) {
    cpSync(join(root, `target/schema/${kind}.schema.json`), join(pkg, `schema/${kind}.schema.json`));
  }
  const { version } = /^\[workspace\.package\]\nversion = "(?<version>.+)"/m.exec(
    readFileSync(join(root, "Cargo.toml"), "utf8"),
  ).groups;
  const manifest = JSON.parse(readFileSync(join(template, "package.json"), "utf8"));
  writeFileSync(join(pkg, "package.json"), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
  cpSync(join(template, "README.md"), join(pkg, "README.md"));
  for (const file of ["LICENSE", "CHANGELOG.md"]) cpSync(join(root, file), join(pkg, file));
}

/** The engine as JavaScript, deflated: base64 of the `.wasm` as it is would take twice the room. */
function inlineEngine() {
  const wasm = readFileSync(join(generated, "adk_metrics.wasm"));
  const { Z_BEST_COMPRESSION: level, Z_MAX_MEMLEVEL: memLevel } = constants;
  const deflated = deflateRawSync(wasm, { level, memLevel }).toString("base64");
  writeFileSync(
    join(generated, "wasm-deflated.js"),
    `export const wasmSize = ${wasm.length};\nexport const deflatedWasm = "${deflated}";\n`,
  );
  writeFileSync(
    join(generated, "wasm-deflated.d.ts"),
    "export declare const wasmSize: number;\nexport declare const deflatedWasm: string;\n",
  );
}

function checkTypes() {
  step("checking types and writing declarations");
  rmSync(declarations, { recursive: true, force: true });
  run(bin("tsc"), ["--project", join(template, "tsconfig.json"), "--outDir", declarations]);
}

async function bundle() {
  const esbuild = await import("esbuild");
  const source = (name) => join(template, "src", `${name}.ts`);
  const common = {
    target: ["es2022"],
    logLevel: "warning",
    legalComments: "none",
    charset: "utf8",
    // Names stay, so that stack traces can be read: there is no room for source maps with their sources, and without
    // them bundlers warn.
    minifySyntax: true,
  };
  // White space stays too: esbuild drops the marks of pure calls with it, by which bundlers leave out what is not used.
  const modules = {
    ...common,
    bundle: true,
    format: "esm",
    splitting: true,
    chunkNames: "shared-[hash]",
    platform: "neutral",
    external: ["node:*", "*.wasm"],
  };
  await esbuild.build({
    ...modules,
    entryPoints: {
      ...Object.fromEntries(ENTRIES.map((name) => [name, source(`entrypoints/${name}`)])),
      report: source("report/index"),
      cli: source("cli/main"),
    },
    outdir: join(dist, "esm"),
  });
  // esbuild splits no CommonJS, and two copies of a class would be two classes: split as modules, then rewritten.
  const { outputFiles } = await esbuild.build({
    ...modules,
    entryPoints: { index: source("entrypoints/node-cjs"), report: source("report/index") },
    outdir: join(dist, "cjs"),
    write: false,
  });
  mkdirSync(join(dist, "cjs"), { recursive: true });
  for (const { path, text } of outputFiles) {
    const { code } = await esbuild.transform(text, {
      ...common,
      minifyWhitespace: true,
      format: "cjs",
      platform: "node",
    });
    writeFileSync(path, code);
  }
  writeFileSync(join(dist, "cjs/package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
}

/** The declarations that users can reach, once for each kind of module. */
function writeDeclarations() {
  cpSync(join(generated, "adk_metrics.d.ts"), join(declarations, "generated/adk_metrics.d.ts"));
  const modules = ["index", "report/index", ...["node", "web", "slim"].map((name) => `entrypoints/${name}`)];
  copyReachable(modules, join(dist, "esm/types"));
  copyReachable(["entrypoints/node-cjs", "report/index"], join(dist, "cjs/types"));
}

function copyReachable(names, to) {
  const waiting = names.map((name) => join(declarations, `${name}.d.ts`));
  const seen = new Set(waiting);
  for (const file of waiting) {
    const text = readFileSync(file, "utf8");
    const target = join(to, relative(declarations, file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    for (const [, specifier] of text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)\.js"/g)) {
      const next = join(dirname(file), `${specifier}.d.ts`);
      if (!seen.has(next)) waiting.push(next);
      seen.add(next);
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await build();
