// Drafts of outputs have names that only chance decides, and must be new: whatever waits under such a name is neither
// written through nor over.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { BARE, CLOCK, evalSet, folderOf, run } from "./command.mjs";

/** What chance says to a command that loads this first, so that its names can be foreseen. */
const CHANCE = "4a7d1ed4-0000-4000-8000-5f2b3c9e8d71";
const FORESEEN = `
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
crypto.randomUUID = globalThis.crypto.randomUUID = () => "${CHANCE}";
syncBuiltinESMExports();`;
const JUDGE = `export default Object.assign(() => '{"score": 1}', { cacheVersion: "1" });`;
const JUDGED = { criteria: { safety_v1: { threshold: 1, judge_model_options: { num_samples: 1 } } } };
const LINE = JSON.stringify(evalSet({ noon: "It is noon." }).eval_cases[0]);
const posix = process.platform === "win32" ? { skip: "POSIX only" } : {};

function filesOf(t) {
  const files = { ...CLOCK, "chance.mjs": FORESEEN, "judge.mjs": JUDGE, "judged.json": JUDGED, victim: "mine" };
  const cwd = folderOf(t, { ...files, "a.jsonl": LINE, "b.jsonl": `${LINE}\n` });
  return { cwd, env: { ...BARE, NODE_OPTIONS: `--import ${pathToFileURL(join(cwd, "chance.mjs"))}` } };
}

const ways = {
  "a link": (file, cwd) => symlinkSync(join(cwd, "victim"), file),
  "a file": (file) => writeFileSync(file, "theirs"),
};

for (const [way, squat] of Object.entries(ways)) {
  for (const [output, args] of [
    ["out.csv", ["eval", "clock.evalset.json", "--format", "csv"]],
    ["out.jsonl", ["eval", "a.jsonl", "--actual", "b.jsonl"]],
  ]) {
    test(`${way} in the place of the draft of ${output} is not written to`, posix, async (t) => {
      const { cwd, env } = filesOf(t);
      const draft = join(cwd, `.${output}.${CHANCE}.tmp`);
      squat(draft, cwd);
      const { status, stderr } = await run([...args, "--output", output], { cwd, env });
      assert.equal(status, 2, stderr);
      const why = /^error: the output cannot be written: there is a file in the place of its draft, (.+)$/m;
      assert.equal(join(cwd, why.exec(stderr)?.[1] ?? ""), draft, stderr);
      assert.equal(readFileSync(join(cwd, "victim"), "utf8"), "mine");
      assert.equal(readFileSync(draft, "utf8"), way === "a link" ? "mine" : "theirs");
      assert.ok(!existsSync(join(cwd, output)));
      rmSync(draft);
      assert.notEqual((await run([...args, "--output", output], { cwd, env })).status, 2);
      assert.ok(existsSync(join(cwd, output)));
    });
  }

  test(`${way} in the place of the draft of a kept reply is not written to`, posix, async (t) => {
    const { cwd, env } = filesOf(t);
    const args = [
      "eval",
      "clock.evalset.json",
      "--config",
      "judged.json",
      "--format",
      "csv",
      "--judge",
      "./judge.mjs",
      "--cache",
      "kept",
    ];
    await run(args, { cwd, env });
    const kept = readdirSync(join(cwd, "kept"), { recursive: true });
    const replies = kept.filter((name) => name.endsWith(".json"));
    assert.ok(replies.length > 0);
    // Without chance, nobody's claim can be told from one's own.
    for (const name of kept.filter((name) => name.endsWith(".claim"))) rmSync(join(cwd, "kept", name));
    for (const name of replies) {
      rmSync(join(cwd, "kept", name));
      squat(join(cwd, "kept", `${name}.${CHANCE}.tmp`), cwd);
    }
    const { stderr } = await run(args, { cwd, env });
    assert.match(stderr, /EEXIST/);
    assert.equal(readFileSync(join(cwd, "victim"), "utf8"), "mine");
    for (const name of replies) assert.ok(!existsSync(join(cwd, "kept", name)));
  });
}
