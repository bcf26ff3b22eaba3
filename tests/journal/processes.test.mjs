// Journals of the command line, and what ends it: signals, a full disk, other processes. Providers are a loopback server that counts.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { BARE, cli, ended, folderOf, run, start, text } from "../cli/command.mjs";
import { at, fair, judged, posix, server } from "../cli/judging.mjs";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { random } from "./journal.mjs";

/** How often a command is killed. */
const ROUNDS = Number(process.env.JOURNAL_KILLS ?? 5);

const CONCURRENCY = 4;

/** Cases that each ask two or three questions. */
function files(count = 12) {
  const names = Array.from({ length: count }, (_, index) => `case-${index}`);
  const set = evalSetOf(
    Object.fromEntries(names.map((name) => [name, [turn(`question ${name}`, `answer of ${name}.`)]])),
  );
  const all = { "many.evalset.json": set, "many.actual.json": set, "test_config.json": judged({ num_samples: 3 }) };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, JSON.stringify(value)]));
}

const COMMAND = [
  ...["eval", "many.evalset.json", "--journal", "run.jsonl", "--concurrency", String(CONCURRENCY)],
  ...["--format", "json", "--output", "out.json", "--format", "html", "--output", "out.html"],
];

const outputs = (cwd) => ["out.json", "out.html"].map((name) => readFileSync(join(cwd, name), "utf8"));
const entries = (cwd) =>
  readFileSync(join(cwd, "run.jsonl"), "utf8")
    .split("\n")
    .slice(1, -1)
    .map((line) => JSON.parse(line));
const replies = (cwd) => entries(cwd).filter(({ type }) => type === "reply").length;
/** Results without the times, which are those of the journal. */
const timeless = (texts) => texts.map((one) => one.replaceAll(/\d{10}\.\d+|\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "T"));

test("a run that is resumed counts what failed before, and says which answers it did not need", async (t) => {
  const JUDGE = `import { existsSync } from "node:fs";
const usage = { inputTokens: 100, outputTokens: 10 };
export default Object.assign(({ sampleIndex }) => {
  if (sampleIndex === 0 && existsSync("down")) throw Object.assign(new Error("down"), { usage });
  return { text: '{"reasoning": "", "is_the_agent_response_valid": "valid"}', usage };
}, { cacheVersion: "1" });`;
  const cwd = folderOf(t, { ...files(1), "judge.mjs": JUDGE, down: "" });
  const command = [...COMMAND, "--force", "--judge", "./judge.mjs"];
  const usage = ({ stderr }) => /^judged by the function judge\.mjs: .*$/m.exec(stderr)?.[0];
  const first = await run(command, { cwd, env: BARE });
  assert.match(usage(first) ?? first.stderr, /: 3 calls, 1 sample without a reply, 300 tokens in, 30 out$/);
  rmSync(join(cwd, "down"));
  const second = await run(command, { cwd, env: BARE });
  assert.match(
    usage(second) ?? second.stderr,
    /: 3 calls \(1 repeated\), 1 sample saved by early stopping, 300 tokens in, 30 out$/,
  );
  assert.match(
    second.stderr,
    /^1 stored answer was not needed: another call of the vote failed for good or was answered since, or/m,
  );
  assert.doesNotMatch(first.stderr, /not needed/);
});

test("kill -9 at random moments: no call is made again that the journal has an answer to", posix, async (t) => {
  const next = random(Number(process.env.JOURNAL_SEED ?? 4711));
  const slow = await server(t, { reply: async (asked) => (await sleep(3), fair(asked)) });
  const env = { ...BARE, ...at.gemini(slow) };
  const undisturbed = folderOf(t, files());
  const whole = await run(COMMAND, { cwd: undisturbed, env });
  assert.equal(whole.status, 0, whole.stderr);
  const expected = timeless(outputs(undisturbed));
  const needed = slow.requests.length;
  assert.equal(needed, 24);
  for (let round = 0; round < ROUNDS; round += 1) {
    const cwd = folderOf(t, files());
    slow.requests.length = 0;
    const limit = Math.floor(next() * needed);
    const child = start(COMMAND, { cwd, env });
    void text(child.stdout);
    void text(child.stderr);
    while (slow.requests.length < limit && child.exitCode === null) await sleep(1);
    await sleep(next() * 6);
    child.kill("SIGKILL");
    await ended(child, "the end of a killed process");
    const sent = slow.requests.length;
    const kept = existsSync(join(cwd, "run.jsonl")) ? replies(cwd) : 0;
    // Only calls under way are lost.
    assert.ok(sent - kept <= CONCURRENCY, `round ${round}: ${sent} sent, ${kept} kept`);
    const again = await run(COMMAND, { cwd, env });
    assert.equal(again.status, 0, again.stderr);
    assert.equal(slow.requests.length - sent, needed - kept, `round ${round}`);
    assert.deepEqual(timeless(outputs(cwd)), expected, `round ${round}`);
  }
});

test("Ctrl-C and SIGTERM leave a journal, and say how to go on", posix, async (t) => {
  for (const [signal, status] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ]) {
    let answered = 0;
    const answering = await server(t, { reply: (asked) => ((answered += 1) > 7 ? { fault: "hang" } : fair(asked)) });
    const cwd = folderOf(t, files());
    const env = { ...BARE, ...at.gemini(answering) };
    const child = start(COMMAND, { cwd, env });
    void text(child.stdout);
    const said = text(child.stderr);
    while (answering.requests.length < 7 + CONCURRENCY) await sleep(5);
    child.kill(signal);
    assert.deepEqual((await ended(child, signal))[0], status);
    assert.match(
      await said,
      /to continue: adk-metrics eval many\.evalset\.json --journal run\.jsonl .*--output out\.html --resume$/m,
    );
    assert.equal(replies(cwd), 7);
    assert.equal(existsSync(join(cwd, "run.jsonl.lock")), false);
    answered = -1000;
    const { stderr } = await run([...COMMAND, "--resume"], { cwd, env });
    assert.match(stderr, /^7 answers from the journal run\.jsonl$/m);
    assert.equal(answering.requests.length, 7 + CONCURRENCY + 24 - 7);
    assert.match(readFileSync(join(cwd, "out.json"), "utf8"), /"calls": 24/);
  }
});

test("a full disk is an error that says so, and what was written counts", posix, async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, files());
  const env = { ...BARE, ...at.gemini(answering) };
  // No file may grow beyond 4 blocks of 1 kB; the test's own folder stands for the whole disk.
  const script = `ulimit -f 4; exec "$@"`;
  const child = spawn("bash", ["-c", script, "bash", process.execPath, cli, ...COMMAND], {
    cwd,
    env: { ...process.env, ...env },
  });
  const [[status], , stderr] = await Promise.all([ended(child, "a full disk"), text(child.stdout), text(child.stderr)]);
  assert.equal(status, 2, stderr);
  assert.match(
    stderr,
    /^error: the journal cannot be written: EFBIG.*\n +at run\.jsonl\n +help: Free up space and run it again: what was written before is kept, and is not asked or run again/m,
  );
  const before = answering.requests.length;
  const kept = replies(cwd);
  assert.ok(kept > 5 && kept < 24, String(kept));
  assert.ok(statSync(join(cwd, "run.jsonl")).size <= 4096);
  const again = await run(COMMAND, { cwd, env });
  assert.equal(again.status, 0, again.stderr);
  assert.equal(answering.requests.length - before, 24 - kept);
});

test("two processes cannot write one journal", posix, async (t) => {
  let isHanging = true;
  const answering = await server(t, { reply: (asked) => (isHanging ? { fault: "hang" } : fair(asked)) });
  const cwd = folderOf(t, files(2));
  const env = { ...BARE, ...at.gemini(answering) };
  const child = start(COMMAND, { cwd, env });
  void text(child.stdout);
  void text(child.stderr);
  while (answering.requests.length === 0) await sleep(5);
  const other = await run(COMMAND, { cwd, env });
  assert.equal(other.status, 2);
  assert.match(other.stderr, new RegExp(`^error: process ${child.pid} is writing the journal\n +at run\\.jsonl`, "m"));
  child.kill("SIGKILL");
  await ended(child, "the end of a killed process");
  assert.ok(existsSync(join(cwd, "run.jsonl.lock")));
  isHanging = false;
  // Of several that come when the first is dead, one writes at a time.
  const three = await Promise.all([0, 1, 2].map(() => run(COMMAND, { cwd, env })));
  assert.ok(three.some(({ status }) => status === 0));
  for (const { status, stderr } of three) if (status !== 0) assert.match(stderr, /is writing the journal/);
  assert.equal(entries(cwd).filter(({ part }) => part === "scores").length, 1);
});

test("what cannot go on is refused", async (t) => {
  const cwd = folderOf(t, { ...files(2), "other.json": "{}", "empty.jsonl": "" });
  for (const [args, said] of [
    [["--resume"], /--resume needs a journal/],
    [["--journal", "none.jsonl", "--resume"], /there is no journal to resume from/],
    [["--journal", "empty.jsonl", "--resume"], /the journal is empty: there is nothing to resume\n +at empty\.jsonl/],
    [
      ["--journal", "run.jsonl", "--record", "r.jsonl"],
      /--record and --journal cannot be used together: a resumed run would record only its remaining replies/,
    ],
    [["--journal", "many.actual.json"], /the output would overwrite the file of what the agent did/],
    [["--journal", "out.json", "--output", "out.json"], /the results and the journal would go to the same file/],
    [["--journal", "other.json", "--judge", "replay:other.json"], /recording/],
    [["--journal", "other.json"], /it is not a journal of this package/],
  ]) {
    const { status, stderr } = await run(["eval", "many.evalset.json", ...args], {
      cwd,
      env: { ...BARE, GOOGLE_API_KEY: "x" },
    });
    assert.equal(status, 2, stderr);
    assert.match(stderr, said);
  }
  assert.equal(existsSync(join(cwd, "empty.jsonl.lock")), false);
});

test("a budget includes what is in the journal, and that is said", async (t) => {
  const answering = await server(t, { reply: fair });
  const cwd = folderOf(t, files(2));
  const env = { ...BARE, ...at.gemini(answering) };
  await run(COMMAND, { cwd, env });
  const asked = answering.requests.length;
  const { stderr } = await run([...COMMAND, "--max-calls", "1"], { cwd, env });
  assert.equal(answering.requests.length, asked);
  assert.match(stderr, /^1 answer from the journal run\.jsonl; the budget includes what is in it$/m);
});

test("a journal goes on elsewhere, has no keys in it, and is refused for other inputs", async (t) => {
  const answering = await server(t);
  const env = { ...BARE, ...at.openai(answering) };
  const args = [...COMMAND, "--judge", "openai", "--model", "gpt-4.1-mini"];
  const cwd = folderOf(t, files(3));
  await run(args, { cwd, env });
  const journal = readFileSync(join(cwd, "run.jsonl"), "utf8");
  assert.equal(journal.includes(env.OPENAI_API_KEY), false);
  const elsewhere = folderOf(t, files(3));
  copyFileSync(join(cwd, "run.jsonl"), join(elsewhere, "run.jsonl"));
  const before = answering.requests.length;
  const { stderr } = await run(args, { cwd: elsewhere, env });
  assert.match(stderr, /answers from the journal/);
  assert.equal(answering.requests.length, before);
  assert.deepEqual(outputs(elsewhere), outputs(cwd));
  writeFileSync(join(elsewhere, "many.evalset.json"), files(4)["many.evalset.json"]);
  const other = await run(
    args.map((arg) => (arg === "gpt-4.1-mini" ? "gpt-4.1" : arg)),
    { cwd: elsewhere, env },
  );
  assert.equal(other.status, 2);
  assert.match(other.stderr, /the journal was started with different inputs: the evalset, the judge/);
  rmSync(join(elsewhere, "run.jsonl"));
});
