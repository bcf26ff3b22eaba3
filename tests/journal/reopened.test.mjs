// A journal by two names, tried again, with other settings of its judge; locks that no process left.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { fair, judged } from "../cli/judging.mjs";
import { posix } from "../cli/judging.mjs";
import { importEntry } from "../package/support/package.mjs";
import { evaluate, fileJournal, folderOf, inEveryFormat } from "./journal.mjs";

const { languageModelJudge } = await importEntry();

const names = ["one", "two", "three", "four"];
const setOf = (id) => evalSetOf(Object.fromEntries(names.map((name) => [name, [turn(`${name}?`, name)]])), id);
const requestOf = (set, journal, more) => ({
  evalSet: set,
  actual: set,
  criteria: judged().criteria,
  journal,
  ...more,
});

test("a journal has one lock, by whatever link it is named", posix, async (t) => {
  const folder = folderOf(t);
  const [file, link] = [join(folder, "j.jsonl"), join(folder, "link.jsonl")];
  symlinkSync(file, link);
  const one = fileJournal(link);
  await one.read();
  await assert.rejects(fileJournal(file).read(), /this process is writing the journal/);
  one.close();
  const other = fileJournal(file);
  await other.read();
  other.close();
});

test("a lock that another program wrote names nobody, and is not waited for", posix, async (t) => {
  const written = (holder) => (file) =>
    writeFileSync(file, typeof holder === "string" ? holder : JSON.stringify(holder));
  const leaves = [
    ...["\u001b[31mred", "a\n::error::x", "##vso[task.x]", "\u202egro", "x".repeat(1e6), "", 5, null, {}].map((host) =>
      written({ pid: 1, host }),
    ),
    ...["1\u001b[2J", -1, 0, 1.5, 1e300, null, [1], { toString: 1 }].map((pid) => written({ pid, host: "elsewhere" })),
    ...["", "null", "5", "[", "\0", '{"__proto__":{"pid":1,"host":"elsewhere"}}', "[".repeat(1e6)].map(written),
    (file) => mkdirSync(file),
    (file) => symlinkSync("/dev/zero", file),
    (file) => symlinkSync("/nowhere/at/all", file),
    (file) => execFileSync("mkfifo", [file]),
    (file) => {
      execFileSync("mkfifo", [`${file}.pipe`]);
      symlinkSync(`${file}.pipe`, file);
    },
  ];
  for (const leave of leaves) {
    const file = join(folderOf(t), "j.jsonl");
    leave(`${file}.lock`);
    await assert.rejects(fileJournal(file).read(), {
      name: "AdkMetricsError",
      code: "journal_failed",
      message: "another process is writing the journal",
      path: file,
    });
  }
  const file = join(folderOf(t), "j.jsonl");
  written({ pid: 1, host: "build-7.example" })(`${file}.lock`);
  await assert.rejects(fileJournal(file).read(), { message: "process 1 on build-7.example is writing the journal" });
});

test("of two that open a journal at once, in one process, one is refused", async (t) => {
  const file = join(folderOf(t), "j.jsonl");
  const both = [fileJournal(file), fileJournal(file)];
  const [one, other] = await Promise.allSettled(both.map((journal) => journal.read()));
  both[0].close();
  assert.equal(one.status, "fulfilled");
  assert.equal(other.reason?.message, "this process is writing the journal");
});

test("a lock that cannot be made is an error with its path and what to do", posix, async (t) => {
  // The name of the journal fits, and that of its lock does not.
  const file = join(folderOf(t), "j".repeat(252));
  await assert.rejects(fileJournal(file).read(), {
    code: "journal_failed",
    path: `${file}.lock`,
    message: /^the lock file of the journal cannot be created: ENAMETOOLONG/,
    help: /choose another journal/,
  });
});

test("a takeover that nobody makes does not keep a journal closed", posix, async (t) => {
  for (const leave of [
    (file) => symlinkSync("/nowhere/at/all", file),
    (file) => {
      writeFileSync(file, "");
      const later = new Date(Date.now() + 3_600_000);
      utimesSync(file, later, later);
    },
  ]) {
    const file = join(folderOf(t), "j.jsonl");
    writeFileSync(`${file}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }));
    leave(`${file}.lock.takeover`);
    if (leave.length === 1 && leave.toString().includes("symlink")) {
      // Of a link its own date counts.
      const { lutimesSync } = await import("node:fs");
      lutimesSync(`${file}.lock.takeover`, 1, 1);
    }
    const journal = fileJournal(file);
    assert.deepEqual(await journal.read(), []);
    journal.close();
  }
});

test("an evaluation that was cut short is gone on with by the same journal", async (t) => {
  const journal = fileJournal(join(folderOf(t), "j.jsonl"));
  const [set, other] = [setOf("set"), setOf("other")];
  let calls = 0;
  const stop = new AbortController();
  const judge = async (request) => {
    calls += 1;
    if (calls === 3) stop.abort();
    return fair(request);
  };
  const cut = await evaluate(requestOf(set, journal, { judge, concurrency: 1, signal: stop.signal }));
  assert.equal(cut.cancelled, true);
  const before = calls;
  await evaluate(requestOf(other, journal, { judge }));
  assert.equal(calls, before + 4, "another evalset is another evaluation");
  const whole = await evaluate(requestOf(set, journal, { judge, concurrency: 1 }));
  assert.equal(whole.cancelled, undefined);
  // The call during which it was cut short may have been answered in time.
  assert.ok(calls <= before + 4 + 2, `${calls - before - 4} calls for what was not paid for`);
  assert.equal(whole.evalCaseResults.length, 4);
  journal.close();
});

test("in another process they go on in the order in which they were begun", async (t) => {
  const file = join(folderOf(t), "j.jsonl");
  const set = setOf("set");
  let calls = 0;
  const judge = async (request) => {
    calls += 1;
    return fair(request);
  };
  let journal = fileJournal(file);
  await assert.rejects(evaluate(requestOf(set, journal, { judge, criteria: { nothing: 1 } })));
  const [first] = [await evaluate(requestOf(set, journal, { judge }))];
  journal.close();
  const before = calls;
  journal = fileJournal(file);
  const second = await evaluate(requestOf(set, journal, { judge }));
  journal.close();
  assert.equal(calls, before);
  assert.deepEqual(inEveryFormat(second), inEveryFormat(first));
});

test("a journal is gone on with by a judge of the same settings only", async (t) => {
  const file = join(folderOf(t), "j.jsonl");
  const set = setOf("set");
  const model = {
    specificationVersion: "v2",
    ...{ provider: "p", modelId: "m", supportedUrls: {} },
    doGenerate: async () => ({
      content: [{ type: "text", text: fair({ prompt: "" }) }],
      ...{ finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, warnings: [] },
    }),
  };
  const scored = async (providerOptions) => {
    const journal = fileJournal(file);
    const judge = languageModelJudge(model, { providerOptions });
    return await evaluate(requestOf(set, journal, { judge })).finally(() => journal.close());
  };
  await scored({ p: { effort: "high" } });
  await scored({ p: { effort: "high" } });
  await assert.rejects(scored({ p: { effort: "low" } }), /the journal was started with different inputs: the judge/);
});
