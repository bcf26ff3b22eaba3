// `eval --batch --journal`: what batches answer is in the journal too, which is resumed, and merged with those of other shards.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask, BATCH, batchServer, EVAL, filesOf, live, scoresIn } from "./batching.mjs";
import { BARE, ended, folderOf, run, start, watched } from "./command.mjs";
import { at, MODELS, posix } from "./judging.mjs";

const withJournal = (journal, ...rest) => [...BATCH, "--journal", journal, ...rest];

/** Every row of a server's batches was asked once. */
function assertOnce({ asked }) {
  assert.ok(asked.size > 0);
  assert.ok([...asked.values()].every((times) => times === 1));
}

test("a journal has what batches answered, and stands for them", async (t) => {
  const { scores } = await live(t, "openai", 6);
  const answering = await batchServer(t);
  const cwd = folderOf(t, filesOf(6));
  const { stdout, stderr } = await ask(cwd, answering, "openai", withJournal("run.jsonl"));
  assert.deepEqual(scoresIn(stdout), scores, stderr);
  const sent = answering.batches.length;
  rmSync(join(cwd, "replies"), { recursive: true });
  const again = await ask(cwd, answering, "openai", withJournal("run.jsonl", "--resume"));
  assert.equal(again.stdout, stdout, again.stderr);
  assert.equal(answering.batches.length, sent, "the journal has every reply");
  const merged = await run(["merge", "run.jsonl", "--format", "json"], { cwd, env: BARE });
  assert.deepEqual(scoresIn(merged.stdout), scores, merged.stderr);
});

test("what was asked live is not asked again in a batch", async (t) => {
  const { scores } = await live(t, "openai", 6);
  const cwd = folderOf(t, filesOf(6));
  const first = await batchServer(t);
  const env = { ...BARE, ...at.openai(first) };
  const cut = [...EVAL, "--model", MODELS.openai, "--journal", "run.jsonl", "--max-calls", "4"];
  await run(cut, { cwd, env });
  assert.equal(first.requests.length, 4);
  const { stdout, stderr } = await ask(cwd, first, "openai", withJournal("run.jsonl", "--resume"));
  assert.deepEqual(scoresIn(stdout), scores, stderr);
  // All of it by batches, for comparison: what was asked live is missing from the batches of the resumed run.
  const whole = await batchServer(t);
  await ask(folderOf(t, filesOf(6)), whole, "openai");
  assert.equal(first.asked.size + 4, whole.asked.size);
  assertOnce(first);
});

test("shards are judged by batches, and merged", async (t) => {
  const { scores } = await live(t, "openai", 8);
  const answering = await batchServer(t);
  const cwd = folderOf(t, filesOf(8));
  const journals = ["part-1.jsonl", "part-2.jsonl", "part-3.jsonl"];
  let cases = 0;
  for (const [index, journal] of journals.entries()) {
    const { stdout, stderr } = await ask(cwd, answering, "openai", withJournal(journal, "--shard", `${index + 1}/3`));
    const own = scoresIn(stdout);
    assert.ok(own.length < 8, stderr);
    cases += own.length;
  }
  assert.equal(cases, 8);
  const merged = await run(["merge", ...journals, "--format", "json"], { cwd, env: BARE });
  assert.deepEqual(scoresIn(merged.stdout), scores, merged.stderr);
  assertOnce(answering);
});

test("a command that was killed continues from its journal and its batches", posix, async (t) => {
  const looks = { looks: 1_000_000 };
  const answering = await batchServer(t, { plan: () => looks });
  const cwd = folderOf(t, filesOf(4));
  const args = withJournal("run.jsonl", "--model", MODELS.openai);
  const env = { ...BARE, ...at.openai(answering) };
  const child = start(args, { cwd, env });
  const { seen } = watched(child);
  await seen(/in_progress, 0 of 12 done/);
  child.kill("SIGKILL");
  assert.deepEqual(await ended(child, "the end of a killed command"), [null, "SIGKILL"]);
  looks.looks = 0;
  const { stdout, stderr } = await run([...args, "--resume"], { cwd, env });
  const { scores } = await live(t, "openai", 4);
  assert.deepEqual(scoresIn(stdout), scores, stderr);
  assertOnce(answering);
});
