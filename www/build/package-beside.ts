/**
 * Keeps adk-metrics apart from the site's own code: it is copied beside it as it was published, and imported from there. So
 * the site runs what users install, and `adk-metrics playground` has nothing twice.
 */

import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const FOLDER = "adk-metrics";
const pkg = fileURLToPath(new URL("../node_modules/adk-metrics/", import.meta.url));

/** The entries that the site imports; chunks stand in `assets/`. */
const ENTRIES: Readonly<Record<string, string>> = {
  "adk-metrics/web": "esm/web.js",
  "adk-metrics/report": "esm/report.js",
  "adk-metrics/interop": "esm/interop.js",
};

/** The package's schemas, which are fetched: importing JSON is too new for some browsers. */
const SCHEMAS = ["evalset", "results", "config"];
const SCHEMA = /^adk-metrics\/schema\/([a-z]+)\.json$/;
const FETCHED = "\0fetched:";

/** Leaves the package's modules and schemas where they are. */
export function besideImports(): Plugin {
  return {
    name: "adk-metrics-beside",
    apply: "build",
    enforce: "pre",
    resolveId: (id) => {
      const [, kind] = SCHEMA.exec(id) ?? [];
      if (kind !== undefined) return FETCHED + kind;
      const file = ENTRIES[id];
      return file === undefined ? null : { id: `../${FOLDER}/${file}`, external: true, moduleSideEffects: false };
    },
    load: (id) => {
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
      const files = new Set(Object.values(ENTRIES));
      for (const file of files) {
        const code = readFileSync(join(pkg, "dist", file), "utf8");
        for (const [, other = ""] of code.matchAll(/(?:from|import)\s*\(?"(\.\/[\w-]+\.js)"/g)) {
          files.add(join(dirname(file), other).replaceAll("\\", "/"));
        }
      }
      const copied = [...files, "adk_metrics.wasm"].map((file) => [join("dist", file), file]);
      copied.push(...SCHEMAS.map((kind) => join("schema", `${kind}.schema.json`)).map((file) => [file, file]));
      for (const [file = "", name = ""] of copied) {
        mkdirSync(dirname(join(to, name)), { recursive: true });
        cpSync(join(pkg, file), join(to, name));
      }
    },
  };
}
