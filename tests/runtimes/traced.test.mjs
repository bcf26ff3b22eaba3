// Tools that copy what a server needs (Nitro, Next.js, serverless platforms) follow imports by conditions of their own: by
// whichever they go, Node finds what it resolves among the files that they copied.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { nodeFileTrace } from "@vercel/nft";
import { makeProject } from "./project.mjs";

const exec = promisify(execFile);
const CONDITIONS = [
  ["node"],
  ["node", "import"],
  ["node", "require"],
  ["node", "module"],
  ["module", "node", "import"],
];
const PROGRAMS = {
  "server.mjs": 'import { rouge1 } from "adk-metrics"; console.log(rouge1("a b", "a").recall);',
  "server.cjs": 'const { rouge1 } = require("adk-metrics"); console.log(rouge1("a b", "a").recall);',
};

let project;
/** What files hold, and what they import, whichever conditions decide what that leads to: it takes seconds to find. */
const cache = {};

before(async () => {
  project = await makeProject();
  project.write(PROGRAMS);
});
after(() => project?.remove());

describe("the files that a server needs", () => {
  for (const name of Object.keys(PROGRAMS)) {
    for (const conditions of CONDITIONS) {
      test(`of ${name} are copied by the conditions ${conditions.join(", ")}`, async () => {
        const { fileList } = await nodeFileTrace([join(project.folder, name)], {
          base: project.folder,
          processCwd: project.folder,
          conditions,
          cache,
        });
        const copy = mkdtempSync(join(tmpdir(), "adk-metrics-traced-"));
        try {
          for (const file of [...fileList, "package.json"]) cpSync(join(project.folder, file), join(copy, file));
          assert.ok(!existsSync(join(copy, "node_modules/adk-metrics/README.md")), "the whole package was copied");
          const { stdout } = await exec(process.execPath, [name], { cwd: copy });
          assert.equal(stdout, "0.5\n");
        } finally {
          rmSync(copy, { recursive: true, force: true });
        }
      });
    }
  }
});
