// What the command line writes in ADK's schema, read by google-adk itself.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, readBack, root, run } from "./command.mjs";

const python = process.env.ADK_PYTHON;
const options = { skip: python ? false : "set ADK_PYTHON to a Python with tests/parity/requirements.txt" };

const examples = readdirSync(join(root, "examples"), { recursive: true }).map((file) => join("examples", file));
const evalSets = examples.filter((file) => /\.(?:evalset|test)\.json$/.test(file));
const recordings = examples.filter((file) => file.endsWith("judge.jsonl"));

test("google-adk reads every json output", options, async (t) => {
  const folder = folderOf(t);
  const recording = join(folderOf(t), "judge.jsonl");
  writeFileSync(recording, recordings.map((file) => readFileSync(join(root, file), "utf8")).join(""));
  const judge = ["--judge", `replay:${recording}`];
  const { status } = await run([
    "eval",
    ...evalSets,
    ...judge,
    "--explain",
    "all",
    "--format",
    "json",
    "--output",
    folder,
  ]);
  assert.equal(status, 1);
  const files = readdirSync(folder).map((file) => join(folder, file));
  assert.equal(files.length, evalSets.length);
  const { read, said } = readBack(python, files);
  assert.ok(read, said);
});

test("google-adk reads every migrated evalset", options, async (t) => {
  const folder = folderOf(t);
  const files = [];
  for (const [at, file] of evalSets.entries()) {
    files.push(join(folder, `${at}.evalset.json`));
    assert.equal((await run(["migrate", file, "--output", files[at]])).status, 0);
  }
  const { read, said } = readBack(python, ["--evalset", ...files]);
  assert.ok(read, said);
});
