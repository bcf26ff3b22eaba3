// Journals that somebody changed: nothing is run, asked or written on their account, and what is wrong is said.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { BARE, folderOf, run } from "../cli/command.mjs";
import { at, fair, judged, server } from "../cli/judging.mjs";
import { AdkMetricsError, evaluate } from "./journal.mjs";

const set = evalSetOf({ one: [turn("one?", "One.")], two: [turn("two?", "Two.")] }, "set");
const EVIL = `import { writeFileSync } from "node:fs";
writeFileSync("EVIL", "");
export const own = () => ({ overallScore: 1 });`;
const FILES = {
  "m.evalset.json": JSON.stringify(set),
  "m.actual.json": JSON.stringify(set),
  "test_config.json": JSON.stringify(judged()),
  "evil.mjs": EVIL,
};
const ask = ["eval", "m.evalset.json", "--journal", "j.jsonl", "--format", "json", "--output", "o.json", "--force"];

/** A journal of a command, and what writes it anew with some entries changed. */
async function journalIn(t) {
  const answering = await server(t, { reply: fair });
  const cwd = folderOf(t, FILES);
  const env = { ...BARE, ...at.gemini(answering) };
  const first = await run(ask, { cwd, env });
  assert.ok(first.status < 2, first.stderr);
  const [header, ...lines] = readFileSync(join(cwd, "j.jsonl"), "utf8").trimEnd().split("\n");
  const change = (changed) => {
    const entries = lines.map((line) => JSON.parse(line)).map((entry) => changed(entry) ?? entry);
    const written = entries.map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry)));
    writeFileSync(join(cwd, "j.jsonl"), `${[header, ...written].join("\n")}\n`);
  };
  return { cwd, env, change, answering };
}

/** An entry with more levels than `JSON.stringify` could write. */
const deepIn = (entry) => `${JSON.stringify(entry).slice(0, -1)},"more":${"[".repeat(1e5)}${"]".repeat(1e5)}}`;
const inCommand = (change) => (entry) => {
  if (entry.part === "command") change(entry.inputs);
};
const inShard = (shard) => (entry) => {
  if (entry.part === "shard") entry.inputs.shard = shard;
};

test("merge does nothing on account of a journal but put it together", async (t) => {
  const { cwd, env, change, answering } = await journalIn(t);
  const asked = answering.requests.length;
  const merge = (more = []) => run(["merge", "j.jsonl", "--output", "merged.json", ...more], { cwd, env });
  change(inCommand(({ options }) => (options.metrics = ["./evil.mjs"])));
  const refused = await merge();
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /If you trust the modules, add --metrics \.\/evil\.mjs/);
  assert.equal(existsSync(join(cwd, "EVIL")), false);
  const more = {
    batch: [""],
    "batch-fallback": ["live"],
    record: ["replies.jsonl"],
    watch: [""],
    bail: [""],
    help: [""],
  };
  change(inCommand(({ options }) => Object.assign(options, more)));
  const { status, stderr } = await merge();
  assert.ok(status < 2, stderr);
  assert.equal(answering.requests.length, asked);
  assert.equal(existsSync(join(cwd, "replies.jsonl")), false);
});

test("a journal of no command, or of no part, is refused", async (t) => {
  const { cwd, env, change } = await journalIn(t);
  for (const changed of [
    inCommand((inputs) => (inputs.command = "evaluate")),
    inCommand((inputs) => (inputs.options = null)),
    inCommand((inputs) => (inputs.options = { config: "x" })),
    inCommand((inputs) => (inputs.positionals = null)),
    ...["1/1000000000000", "x", "7/1", "0/1", "0x1/1"].map(inShard),
  ]) {
    change(changed);
    const { status, stderr } = await run(["merge", "j.jsonl", "--output", "never.json"], { cwd, env });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /the journal does not say which command or shard it belongs to\n +at j\.jsonl/);
    assert.equal(existsSync(join(cwd, "never.json")), false);
  }
  change(inShard("3/10000"));
  const { stderr } = await run(["merge", "j.jsonl"], { cwd, env });
  assert.match(stderr, /shards 1, 2, 4, .{0,80} and 9979 more of 10000 are missing/);
  for (const file of ["nowhere.jsonl", "part-*.jsonl"]) {
    const none = await run(["merge", file], { cwd, env });
    assert.equal(none.status, 2);
    assert.match(none.stderr, /the journal does not exist/);
  }
});

test("an entry that no evaluation can have written is named by its line", async (t) => {
  const { cwd, env, change } = await journalIn(t);
  const inReply = (changes) => (entry) => (entry.type === "reply" ? { ...entry, ...changes } : undefined);
  for (const [changed, said] of [
    [inReply({ reply: null }), /such a `reply` in a `reply`/],
    [inReply({ reply: { text: 5 } }), /such a `reply` in a `reply`/],
    [inReply({ reply: { text: "", usage: { inputTokens: "many" } } }), /such a `reply` in a `reply`/],
    [inReply({ failed: -1e9 }), /such a `failed` in a `reply`/],
    [inReply({ failed: 3e8 }), /such a `failed` in a `reply`/],
    [(entry) => (entry.type === "begin" ? { ...entry, at: "x" } : undefined), /such a `at` in a `begin`/],
    [(entry) => (entry.type === "begin" ? { ...entry, inputs: null } : undefined), /such a `inputs` in a `begin`/],
    ...["agent", "shard"].map((name) => [
      // What has no text of its own.
      (entry) =>
        entry.type === "begin" ? { ...entry, inputs: { ...entry.inputs, [name]: { toString: 1 } } } : undefined,
      /such a `inputs` in a `begin`/,
    ]),
    [({ section }) => ({ type: 5, section }), /line 2 is not an entry/],
    [(entry) => deepIn(entry), /line 2 cannot be read: values are nested more than \d+ levels deep/],
  ]) {
    change(changed);
    for (const args of [ask, ["merge", "j.jsonl"]]) {
      const { status, stderr } = await run(args, { cwd, env });
      assert.equal(status, 2, stderr);
      assert.match(stderr, /the journal cannot be read: line \d/);
      assert.match(stderr, said);
    }
  }
});

test("entries of a journal of the user's own are looked at too", async () => {
  const entries = [];
  const criteria = judged().criteria;
  const judge = async ({ prompt }) => fair({ prompt });
  const request = (journal) => ({ evalSet: set, actual: set, criteria, judge, journal });
  await evaluate(request({ read: async () => [], append: async (more) => void entries.push(...more) }));
  const changed = entries.map((entry) => (entry.type === "reply" ? { ...entry, reply: null } : entry));
  for (const [kept, said] of [
    [changed, /entry \d+ is invalid: an evaluation does not write such a `reply` in a `reply`/],
    [[null], /entry 1 is not an entry/],
    [undefined, /the journal cannot be read/],
  ]) {
    await assert.rejects(evaluate(request({ read: async () => kept, append: async () => {} })), (error) => {
      assert.ok(error instanceof AdkMetricsError, String(error));
      assert.equal(error.code, "journal_failed");
      assert.match(error.message, said);
      return true;
    });
  }
});

test("parts with other gates are refused, in any order, unless merge says which hold", async (t) => {
  const { cwd, env } = await journalIn(t);
  for (const [index, rate] of [
    [1, "0.1"],
    [2, "0.9"],
  ]) {
    const shard = ["--shard", `${index}/2`, "--journal", `p${index}.jsonl`, "--output", `p${index}.json`];
    const { status, stderr } = await run(["eval", "m.evalset.json", ...shard, "--min-pass-rate", rate], { cwd, env });
    assert.ok(status < 2, stderr);
  }
  for (const files of [
    ["p1.jsonl", "p2.jsonl"],
    ["p2.jsonl", "p1.jsonl"],
  ]) {
    const { status, stderr } = await run(["merge", ...files], { cwd, env });
    assert.equal(status, 2, stderr);
    assert.match(
      stderr,
      /have different values for --min-pass-rate\n +help: Choose here what applies: --min-pass-rate/,
    );
    const decided = await run(["merge", ...files, "--min-pass-rate", "0.1"], { cwd, env });
    assert.ok(decided.status < 2, decided.stderr);
  }
  const before = readFileSync(join(cwd, "p2.jsonl"), "utf8");
  const over = ["--min-pass-rate", "0.1", "--output", "p2.jsonl", "--force"];
  const overwriting = await run(["merge", "p1.jsonl", "p2.jsonl", ...over], { cwd, env });
  assert.equal(overwriting.status, 2);
  assert.match(overwriting.stderr, /the output would overwrite the journal of a shard/);
  assert.equal(readFileSync(join(cwd, "p2.jsonl"), "utf8"), before);
  const divided = ["eval", "m.evalset.json", "--shard", "1/2", "--balance", "b.jsonl", "--journal", "./b.jsonl"];
  const shared = await run(divided, { cwd, env });
  assert.equal(shared.status, 2);
  assert.match(shared.stderr, /the journal is also a file of --balance, which must not change/);
});
