// Builds the crate and the npm package: what `npm publish ./pkg` would send is in pkg/ afterwards.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bin, root, run, setup, step } from "./setup.mjs";

const pkg = join(root, "pkg");
const template = join(root, "pkg-template");
const generated = join(template, "src/generated");
const dist = join(pkg, "dist");

/** Builds everything. */
export async function build() {
  setup();
  const began = performance.now();
  buildEngine();
  await generateTypes();
  checkTypes();
  await buildPackage();
  step(`built pkg/ in ${Math.round((performance.now() - began) / 1000)} s`);
}

function buildEngine() {
  step("compiling the crate to WebAssembly (the first time takes a minute or two)");
  const out = join(root, "target/bindgen");
  run("cargo", ["xtask", "build", out]);
  step("optimising the WebAssembly");
  const wasm = join(generated, "adk_metrics.wasm");
  mkdirSync(generated, { recursive: true });
  run(bin("wasm-opt"), ["-O3", join(out, "adk_metrics_bg.wasm"), "-o", wasm]);
  for (const file of ["adk_metrics.js", "adk_metrics.d.ts"]) cpSync(join(out, file), join(generated, file));
  const base64 = readFileSync(wasm).toString("base64");
  writeFileSync(join(generated, "wasm-base64.js"), `export const wasmBase64 = "${base64}";\n`);
  writeFileSync(join(generated, "wasm-base64.d.ts"), "export declare const wasmBase64: string;\n");
}

async function generateTypes() {
  step("generating JSON Schema and TypeScript types from the Rust types");
  const schema = join(root, "target/schema");
  run("cargo", ["xtask", "schema", schema]);
  const { writeTypes } = await import("./types.mjs");
  await writeTypes(join(schema, "shapes.schema.json"), join(generated, "shapes.ts"));
}

function checkTypes() {
  step("checking types and writing declarations");
  rmSync(pkg, { recursive: true, force: true });
  run(bin("tsc"), ["--project", join(template, "tsconfig.json")]);
}

async function buildPackage() {
  step("bundling the package");
  const { build: bundle } = await import("esbuild");
  const source = (name) => join(template, "src", name);
  const common = {
    bundle: true,
    sourcemap: true,
    sourcesContent: false,
    target: ["es2022"],
    logLevel: "warning",
    legalComments: "none",
    charset: "utf8",
    // Names stay, so that stack traces can be read.
    minifySyntax: true,
    minifyWhitespace: true,
  };
  await bundle({
    ...common,
    entryPoints: {
      node: source("entrypoints/node.ts"),
      inline: source("entrypoints/inline.ts"),
      report: source("report/index.ts"),
      cli: source("cli/main.ts"),
    },
    outdir: join(dist, "esm"),
    format: "esm",
    splitting: true,
    chunkNames: "shared-[hash]",
    platform: "neutral",
    external: ["node:*"],
  });
  await bundle({
    ...common,
    entryPoints: { index: source("entrypoints/node-cjs.ts"), report: source("report/index.ts") },
    outdir: join(dist, "cjs"),
    format: "cjs",
    platform: "node",
  });
  cpSync(join(generated, "adk_metrics.wasm"), join(dist, "adk_metrics.wasm"));
  cpSync(join(generated, "adk_metrics.d.ts"), join(dist, "esm/types/generated/adk_metrics.d.ts"));
  // The declarations once more, as CommonJS sees them.
  cpSync(join(dist, "esm/types"), join(dist, "cjs/types"), { recursive: true });
  writeFileSync(join(dist, "cjs/package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
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

if (import.meta.url === pathToFileURL(process.argv[1]).href) await build();
