/**
 * Keeps adk-metrics apart from the site's own code: its modules are copied beside it as they were published, and imported
 * from there. So the site runs what users install, and `adk-metrics playground` has nothing twice. Only the entry of the
 * engine, which is little more than a list of names, is bundled: each file is a request.
 */

import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const FOLDER = "adk-metrics";
const pkg = fileURLToPath(new URL("../node_modules/adk-metrics/", import.meta.url));
const modules = join(pkg, "dist/esm");

/** The entries that the site imports; chunks stand in `assets/`. */
const ENGINE = { name: "adk-metrics/web", path: join(modules, "web.js") };
const ENTRIES: Readonly<Record<string, string>> = {
  "adk-metrics/report": "report.js",
  "adk-metrics/interop": "interop.js",
  "adk-metrics/calibration": "calibration.js",
};

/** Where the engine is for its entry, and where it is for a chunk; no bundler should look for it there. */
const WASM = [
  /new URL\("\.\.\/adk_metrics\.wasm",\s*import\.meta\.url\)/,
  `new URL(["..","${FOLDER}","adk_metrics.wasm"].join("/"),import.meta.url)`,
] as const;

/** The package's schemas, which are fetched: importing JSON is too new for some browsers. */
const SCHEMAS = ["evalset", "results", "config"];
const SCHEMA = /^adk-metrics\/schema\/([a-z]+)\.json$/;
const FETCHED = "\0fetched:";

/** Leaves the package's modules and schemas where they are. */
export function besideImports(): Plugin {
  let beside: ReadonlySet<string>;
  return {
    name: "adk-metrics-beside",
    apply: "build",
    enforce: "pre",
    buildStart: () => {
      beside = besideModules();
    },
    resolveId: (id, importer) => {
      const [, kind] = SCHEMA.exec(id) ?? [];
      if (kind !== undefined) return FETCHED + kind;
      if (id === ENGINE.name) return ENGINE.path;
      const isOfPackage = importer !== undefined && dirname(importer) === modules && id.startsWith("./");
      const file = isOfPackage ? id.slice(2) : (ENTRIES[id] ?? "");
      if (!beside.has(file)) return isOfPackage ? join(modules, file) : null;
      return { id: `../${FOLDER}/esm/${file}`, external: true, moduleSideEffects: false };
    },
    load: (id) => {
      if (id === ENGINE.path) {
        const code = readFileSync(id, "utf8");
        if (!WASM[0].test(code)) throw new Error(`${id} does not say where the engine is`);
        return code.replace(...WASM);
      }
      if (!id.startsWith(FETCHED)) return null;
      const kind = id.slice(FETCHED.length);
      // Chunks stand in `assets/`, where no bundler should look for the file.
      const place = `new URL(["..", "${FOLDER}", "schema", "${kind}.schema.json"].join("/"), import.meta.url)`;
      return `export default await (await fetch(${place})).json();`;
    },
  };
}

/** Copies the package's modules, and what they import, beside the site. */
export function besideFiles(): Plugin {
  let to = "";
  return {
    name: "adk-metrics-copy",
    apply: "build",
    configResolved: ({ build }) => {
      to = join(build.outDir, FOLDER);
    },
    closeBundle: () => {
      const copied = [...besideModules()].map((file) => [join("dist/esm", file), join("esm", file)]);
      copied.push(["dist/adk_metrics.wasm", "adk_metrics.wasm"]);
      copied.push(...SCHEMAS.map((kind) => join("schema", `${kind}.schema.json`)).map((file) => [file, file]));
      for (const [file = "", name = ""] of copied) {
        mkdirSync(dirname(join(to, name)), { recursive: true });
        cpSync(join(pkg, file), join(to, name));
      }
    },
  };
}

/** The entries that stand beside the site, and what they import: the engine's shares most of it. */
function besideModules(): ReadonlySet<string> {
  const files = new Set(Object.values(ENTRIES));
  for (const file of files) {
    const code = readFileSync(join(modules, file), "utf8");
    for (const [, other = ""] of code.matchAll(/(?:from|import)\s*\(?"\.\/([\w-]+\.js)"/g)) files.add(other);
  }
  return files;
}
