// The type declarations, compiled together with those of the other packages.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

test("what is given and taken fits the published types of the others", (context) => {
  const project = path("types/tsconfig.json");
  context.after(() => rmSync(project));
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    types: [],
    lib: ["es2023", "dom"],
    paths: {
      "adk-metrics": ["../../../pkg/dist/esm/types/entrypoints/node.d.ts"],
      "adk-metrics/interop": ["../../../pkg/dist/esm/types/interop/index.d.ts"],
    },
  };
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ["."] }));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [path("../../node_modules/typescript/bin/tsc"), "--project", project],
    { encoding: "utf8" },
  );
  assert.equal(`${stdout}${stderr}`, "");
});
