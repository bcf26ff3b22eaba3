// Builds the crate and the npm package: what `npm publish ./pkg` would send is in pkg/ afterwards.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bin, root, run, setup, step, tsc } from "./setup.mjs";

const pkg = join(root, "pkg");
const template = join(root, "pkg-template");
const generated = join(template, "src/generated");
const dist = join(pkg, "dist");
const declarations = join(root, "target/declarations");

let built;

/**
 * Builds everything, once in a process.
 *
 * @param {() => void} [afterCrate] Called when the crate is compiled and what follows takes one processor.
 */
export function build(afterCrate) {
  return (built ??= buildAll(afterCrate));
}

async function buildAll(afterCrate) {
  setup();
  const began = performance.now();
  await buildEngine();
  await generateTypes();
  afterCrate?.();
  await buildPackage();
  step(`built pkg/ in ${Math.round((performance.now() - began) / 1000)} s`);
}

/**
 * The compiler has inlined what is worth it; more of it makes the module larger once compressed, and so do
 * values kept for a second use, which engines find by themselves. Data that is cut in pieces to leave out zeros compresses
 * worse than the zeros. The lowest kilobyte of the memory is the last of the stack. Similar functions are made one, which takes
 * 5 kB of the package and no more than the noise of the measurements in time.
 */
const optimisations = [
  "-O3",
  "--one-caller-inline-max-function-size=25",
  "--flexible-inline-max-function-size=8",
  "--skip-pass=local-cse",
  "--skip-pass=memory-packing",
  "--low-memory-unused",
  "--strip-target-features",
  "--coalesce-locals-learning",
  "--reorder-locals",
  "--code-folding",
  "--merge-similar-functions",
];

async function buildEngine() {
  step("compiling the crate to WebAssembly (the first time takes a minute or two)");
  const out = join(root, "target/bindgen");
  run("cargo", ["xtask", "build", out]);
  mkdirSync(generated, { recursive: true });
  for (const file of ["adk_metrics.js", "adk_metrics.d.ts"]) cpSync(join(out, file), join(generated, file));
  const compiled = join(out, "adk_metrics_bg.wasm");
  const wasm = join(generated, "adk_metrics.wasm");
  const inlined = join(generated, "wasm-deflated.js");
  // Optimising and deflating take most of a build that changes nothing of the crate: what they made is still right if they
  // would be given the same, and nobody touched it.
  const madeFrom = digestOf([fileURLToPath(import.meta.url), join(root, "package-lock.json"), compiled]);
  const made = () => `${madeFrom} ${digestOf([wasm, inlined, inlined.replace(/js$/, "d.ts")])}`;
  const stamp = join(root, "target/optimised");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === made()) return;
  step("optimising the WebAssembly");
  run(bin("wasm-opt"), [...optimisations, compiled, "-o", wasm]);
  await inlineEngine(readFileSync(wasm));
  writeFileSync(stamp, made());
}

/** A digest of files; one that is missing counts as empty. */
function digestOf(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(existsSync(file) ? readFileSync(file) : "").update("\n");
  return hash.digest("hex");
}

/** Writes what is generated from the Rust code. */
export async function generateTypes() {
  step("generating JSON Schema and TypeScript from the Rust code");
  const schema = join(root, "target/schema");
  run("cargo", ["xtask", "schema", schema]);
  await writeGenerated(schema);
}

/** Writes the package's generated sources from what the Rust code exported to a folder. */
export async function writeGenerated(schema) {
  const { writeCriteria, writeTypes } = await import("./types.mjs");
  await writeTypes(join(schema, "shapes.schema.json"), join(generated, "shapes.ts"));
  await writeCriteria(join(schema, "config.schema.json"), join(generated, "criteria.ts"));
  const { writeColumns, writeContract, writeOptions } = await import("./contract.mjs");
  await writeContract(join(schema, "contract.schema.json"), join(generated, "contract.ts"));
  writeOptions(join(schema, "contract.schema.json"), join(generated, "options.ts"));
  writeColumns(join(schema, "columns.json"), join(generated, "columns.ts"));
  const { writeManifest } = await import("./manifest.mjs");
  writeManifest(join(schema, "manifest.json"), generated);
}

/** Makes the package of the engine and the types that are there already. */
export async function buildPackage() {
  const { writeStyles } = await import("./styles.mjs");
  writeStyles(join(template, "src/report/styles"), join(generated, "styles.ts"));
  // An older build has left an engine, but not these.
  const needed = ["columns.ts", "contract.ts", "limits.ts", "options.ts", "providers.ts"];
  if (needed.some((file) => !existsSync(join(generated, file)))) await generateTypes();
  checkTypes();
  step("bundling the package");
  rmSync(pkg, { recursive: true, force: true });
  const manifest = { ...JSON.parse(readFileSync(join(template, "package.json"), "utf8")), version: version() };
  const { bundle } = await import("./bundle.mjs");
  await bundle(dist, sourcesOf(manifest));
  const { writeDeclarations } = await import("./declarations.mjs");
  await writeDeclarations(declarations, dist);
  cpSync(join(generated, "adk_metrics.wasm"), join(dist, "adk_metrics.wasm"));
  mkdirSync(join(pkg, "schema"));
  for (const kind of ["evalset", "results", "config"]) {
    const schema = JSON.parse(readFileSync(join(root, `target/schema/${kind}.schema.json`), "utf8"));
    writeFileSync(join(pkg, `schema/${kind}.schema.json`), `${JSON.stringify(schema)}\n`);
  }
  // Indentation would take a kilobyte of the package.
  writeFileSync(join(pkg, "package.json"), `${JSON.stringify(manifest)}\n`);
  cpSync(join(template, "README.md"), join(pkg, "README.md"));
  cpSync(join(root, "LICENSE"), join(pkg, "LICENSE"));
  const { NOTICES, writeNotices } = await import("./notices.mjs");
  writeNotices(join(pkg, NOTICES));
}

function version() {
  const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
  return /^\[workspace\.package\]\nversion = "(?<version>.+)"/m.exec(manifest).groups.version;
}

/** Where the sources are, here and once the version is tagged: what source maps name. */
function sourcesOf({ repository, version }) {
  const name = /github\.com\/(?<name>.+)\.git$/.exec(repository.url).groups.name;
  return {
    folder: join(template, "src"),
    address: `https://raw.githubusercontent.com/${name}/v${version}/${repository.directory}/src/`,
  };
}

/**
 * The engine as JavaScript: deflated, since the `.wasm` as it is would take twice the room; in Z85. Zopfli takes a second, and
 * finds a text that is 5% shorter than zlib's.
 */
async function inlineEngine(wasm) {
  const { deflateAsync } = await import("@gfx/zopfli");
  const deflated = await deflateAsync(wasm, { numiterations: 5, blocksplittingmax: 0 });
  const text = z85(deflated);
  writeFileSync(join(generated, "wasm-deflated.js"), `export const deflatedWasm = "${text}";\n`);
  writeFileSync(join(generated, "wasm-deflated.d.ts"), "export declare const deflatedWasm: string;\n");
}

const Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/** What `pkg-template/src/entrypoints/inline-module.ts` reads; zeros fill up the last four bytes. */
function z85(bytes) {
  const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
  let text = "";
  for (let at = 0; at < padded.length; at += 4) {
    const value = padded.readUInt32BE(at);
    for (let place = 85 ** 4; place >= 1; place /= 85) text += Z85[Math.floor(value / place) % 85];
  }
  return text;
}

function checkTypes() {
  step("checking types and writing declarations");
  rmSync(declarations, { recursive: true, force: true });
  run(process.execPath, [tsc, "--project", join(template, "tsconfig.json"), "--outDir", declarations]);
  cpSync(join(generated, "adk_metrics.d.ts"), join(declarations, "generated/adk_metrics.d.ts"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await build();
