// Replies that are kept from run to run: what was asked before, by this process or another, is not asked again.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { BARE, ended, folderOf, run, start, text } from "./command.mjs";
import { ask, at, FAIR, fair, FILES, judge, judged, posix, server, statuses } from "./judging.mjs";

/** Cases that each ask three questions, and the same said as actual runs. */
function manyFiles(count) {
  const names = Array.from({ length: count }, (_, index) => `case-${index}`);
  const set = evalSetOf(
    Object.fromEntries(names.map((name) => [name, [turn(`question ${name}`, `answer of ${name}.`)]])),
  );
  const files = { "many.evalset.json": set, "many.actual.json": set, "test_config.json": judged({ num_samples: 3 }) };
  return Object.fromEntries(Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)]));
}

const filesIn = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());

test("nothing is asked twice", async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, FILES);
  const first = await judge(cwd, ["--cache", "replies"], at.gemini(answering));
  assert.deepEqual(statuses(first.stdout), FAIR, first.stderr);
  assert.match(first.stderr, /^judged by .*: 2 calls,/m);
  const second = await judge(cwd, ["--cache", "replies"], at.gemini(answering));
  assert.deepEqual(statuses(second.stdout), FAIR, second.stderr);
  assert.match(second.stderr, /^judged by .*: 0 calls, 2 replies reused/m);
  assert.equal(answering.requests.length, 2);
  // Another model has other replies.
  await judge(cwd, ["--cache", "replies", "--model", "gemini-2.5-pro"], at.gemini(answering));
  assert.equal(answering.requests.length, 4);
});

test("two processes at a time ask each question once", async (t) => {
  const reply = async (asked) => {
    await new Promise((resolve) => setTimeout(resolve, 15));
    return fair(asked);
  };
  const answering = await server(t, { reply });
  const cwd = folderOf(t, manyFiles(30));
  const args = ["eval", "many.evalset.json", "--cache", "replies", "--format", "json"];
  const two = await Promise.all([0, 1].map(() => run(args, { cwd, env: { ...BARE, ...at.gemini(answering) } })));
  const [one, other] = two.map(({ stdout }) => statuses(stdout));
  assert.deepEqual(one, other);
  assert.equal(Object.keys(one).length, 30);
  assert.equal(new Set(Object.values(one)).has(3), false);
  // Of three samples of a question two decide.
  assert.equal(answering.requests.length, 60);
  assert.deepEqual(
    filesIn(join(cwd, "replies")).filter(({ name }) => !name.endsWith(".json")),
    [],
  );
});

test("goes on where it was killed, and what was left behind is removed", posix, async (t) => {
  let answered = 0;
  const reply = (asked) => ((answered += 1) > 20 ? { fault: "hang" } : fair(asked));
  const answering = await server(t, { reply });
  const cwd = folderOf(t, manyFiles(20));
  const args = ["eval", "many.evalset.json", "--cache", "replies", "--format", "json"];
  const child = start(args, { cwd, env: { ...BARE, ...at.gemini(answering) } });
  void text(child.stdout);
  const replies = join(cwd, "replies");
  const kept = () => (existsSync(replies) ? filesIn(replies).filter(({ name }) => name.endsWith(".json")).length : 0);
  while (kept() < 20) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill("SIGKILL");
  await ended(child, "the end of a killed process");
  const before = answering.requests.length;
  const claims = filesIn(replies).filter(({ name }) => name.endsWith(".claim"));
  assert.ok(claims.length > 0, "the calls under way were claimed");
  // As if a while had gone by.
  const folder = (one) => one.parentPath ?? one.path;
  for (const one of claims) utimesSync(join(folder(one), one.name), 1000, 1000);
  const draft = join(folder(claims[0]), "abandoned.tmp");
  writeFileSync(draft, "{");
  utimesSync(draft, 1000, 1000);
  answered = -1000;
  const { stdout, stderr } = await run(args, { cwd, env: { ...BARE, ...at.gemini(answering) } });
  assert.equal(Object.values(statuses(stdout)).filter((status) => status === 1).length, 20, stderr);
  // 20 cases take 40 calls; of 20 the replies were there.
  assert.equal(answering.requests.length - before, 20);
  assert.deepEqual(
    filesIn(replies).filter(({ name }) => !name.endsWith(".json")),
    [],
  );
});

test("is refused where it could mislead", async (t) => {
  const cwd = folderOf(t, { ...FILES, "judge.mjs": "export default () => '{}';\n", "a-file": "x" });
  mkdirSync(join(cwd, "empty"));
  for (const [args, said] of [
    [["--cache", "a-file"], /the cache is a file, not a folder/],
    [["--cache", ""], /--cache needs a value/],
    [
      ["--cache", "empty", "--judge", "replay:judge.jsonl"],
      /--cache has no effect on a recording, which already contains its replies/,
    ],
    [["--cache", "empty", "--judge", "./judge.mjs"], /--cache cannot keep the replies of a function/],
  ]) {
    const { status, stderr } = await run([...ask, ...args], { cwd, env: BARE });
    assert.equal(status, 2, stderr);
    assert.match(stderr, said);
  }
  assert.deepEqual(readdirSync(join(cwd, "empty")), []);
});

test("a recording says what it lacks", async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, FILES);
  await judge(cwd, ["--cache", "replies"], at.gemini(answering));
  const { stderr } = await judge(cwd, ["--cache", "replies", "--record", "judge.jsonl"], at.gemini(answering));
  assert.match(stderr, /warning: 2 replies were in the cache, and are missing from the recording/);
  assert.equal(existsSync(join(cwd, "judge.jsonl")) ? readFileSync(join(cwd, "judge.jsonl"), "utf8") : "", "");
});
