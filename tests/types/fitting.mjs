// Compiles a folder of TypeScript against the package's declarations, together with those of other packages beside it.

import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

/**
 * What the compiler complains of.
 *
 * @param {URL} folder Three levels below the root; its tsconfig.json is made here.
 * @param {Record<string, string>} entries The package's entries, with the paths of their declarations below `types/`.
 * @param {{ lib?: string[] }} more Other options of the compiler.
 */
export function complaints(folder, entries, more = {}) {
  const project = fileURLToPath(new URL("tsconfig.json", folder));
  const types = "../../../pkg/dist/esm/types";
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    types: [],
    ...more,
    paths: Object.fromEntries(Object.entries(entries).map(([entry, file]) => [entry, [`${types}/${file}`]])),
  };
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ["."] }));
  try {
    const { stdout, stderr } = spawnSync(process.execPath, [tsc, "--project", project], { encoding: "utf8" });
    return `${stdout}${stderr}`;
  } finally {
    rmSync(project);
  }
}
