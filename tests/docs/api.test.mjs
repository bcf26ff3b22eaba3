// The API reference can be made of the doc comments without a warning: every exported name says what it is, and links
// lead somewhere. `npm run docs` writes it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { typedocArguments } from "../../scripts/docs.mjs";
import { mustRun } from "../package/support/package.mjs";

const installed = existsSync(typedocArguments()[0]);
const skip = !installed && !mustRun ? "run `npm ci` in tests/docs" : false;

test("every exported name and every method has a doc comment, without a broken link", { skip }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, typedocArguments(), { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
});
