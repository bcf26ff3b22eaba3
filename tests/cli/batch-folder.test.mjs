// The folder of batches: what others put there, what is not as it was written, and a batch that is lost.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { BARE, folderOf, run } from "./command.mjs";
import { at, MODELS, posix } from "./judging.mjs";
import { ask, batchServer, filesOf, RIGHT, statusesIn } from "./batching.mjs";

test("nothing of the user's own is removed from a folder that is called batches", async (t) => {
  const answering = await batchServer(t);
  const own = {
    "draft-thesis/text.md": "precious",
    "draft-notes.txt": "precious",
    "draft-abcdef/questions.jsonl/text.md": "precious",
    "adk-metrics-draft-thesis/text.md": "precious",
    "adk-metrics-draft-abcdef/text.md": "precious",
  };
  const cwd = folderOf(t, filesOf(1));
  for (const [name, text] of Object.entries(own)) {
    mkdirSync(dirname(join(cwd, "batches", name)), { recursive: true });
    writeFileSync(join(cwd, "batches", name), text);
  }
  // What a process left that ended while it noted questions.
  mkdirSync(join(cwd, "batches/adk-metrics-draft-a1B2c3"));
  writeFileSync(join(cwd, "batches/adk-metrics-draft-a1B2c3/questions.jsonl"), "{}\n");
  const env = { ...BARE, ...at.openai(answering) };
  const { status, stderr } = await run(["batch", "status", "--cache", "."], { cwd, env });
  assert.equal(status, 0, stderr);
  for (const [name, text] of Object.entries(own)) assert.equal(readFileSync(join(cwd, "batches", name), "utf8"), text);
  assert.ok(!existsSync(join(cwd, "batches/adk-metrics-draft-a1B2c3")), "what is left of questions is removed");
});

test("links in the folder of batches lead nowhere", posix, async (t) => {
  const answering = await batchServer(t);
  const cwd = folderOf(t, { ...filesOf(1), "own.txt": "precious" });
  const env = { ...BARE, ...at.openai(answering) };
  mkdirSync(join(cwd, "elsewhere/draft-thesis"), { recursive: true });
  mkdirSync(join(cwd, "linked"));
  symlinkSync("../elsewhere", join(cwd, "linked/batches"));
  const linked = await run(["batch", "status", "--cache", "linked"], { cwd, env });
  assert.equal(linked.status, 2, linked.stderr);
  assert.match(linked.stderr, /linked.batches is a link, not a folder/);
  assert.deepEqual(readdirSync(join(cwd, "elsewhere")), ["draft-thesis"]);
  // Nor does what is written into a batch.
  const submit = ["batch", "submit", "many.evalset.json", "--cache", "replies", "--model", MODELS.openai];
  await run(submit, { cwd, env: { ...env, OPENAI_API_KEY: "a-wrong-key" } });
  const batches = join(cwd, "replies/batches");
  const [name] = readdirSync(batches);
  for (const file of ["upload", "batch.json.tmp"]) symlinkSync("../../../own.txt", join(batches, name, file));
  symlinkSync("../../own.txt", join(batches, "failures.jsonl"));
  const { stdout, stderr } = await ask(cwd, answering, "openai");
  assert.deepEqual(statusesIn(stdout), RIGHT(1), stderr);
  assert.equal(readFileSync(join(cwd, "own.txt"), "utf8"), "precious");
});

test("a server that speaks the protocol without batches is named as one", async (t) => {
  const none = createServer((_, response) => response.writeHead(404).end('{"error":{"message":"not found"}}'));
  await new Promise((resolve) => none.listen(0, "127.0.0.1", resolve));
  t.after(() => none.close());
  const cwd = folderOf(t, filesOf(1));
  const { status, stderr } = await ask(cwd, { url: `http://127.0.0.1:${none.address().port}` }, "openai");
  assert.equal(status, 2, stderr);
  assert.match(stderr, /the server does not support batches: [^]*\/v1\/files[^]*Ask without batches/);
});

test("what others wrote into the record of a batch is shown on its line, and acts on nobody", async (t) => {
  const answering = await batchServer(t);
  const cwd = folderOf(t, filesOf(1));
  const env = { ...BARE, ...at.openai(answering) };
  const batch = (...args) => run(["batch", ...args, "--cache", "replies"], { cwd, env });
  await batch("submit", "many.evalset.json", "--model", MODELS.openai);
  const batches = join(cwd, "replies/batches");
  const file = join(batches, readdirSync(batches)[0], "batch.json");
  const attack = "\u001b[2J##vso[task.setvariable variable=A]b\n::error::owned";
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), label: attack, model: attack }));
  const { stdout, stderr } = await batch("status");
  assert.match(stdout, /^batch_\d+ .*owned.*owned {2}unknown\n$/, stderr);
  assert.doesNotMatch(stdout + stderr, /\u001b|##vso|^\s*::/m);
});

test("a batch that is lost keeps nobody from the others", async (t) => {
  const answering = await batchServer(t);
  const cwd = folderOf(t, filesOf(4, { num_samples: 1 }));
  const env = { ...BARE, ...at.openai(answering) };
  const batch = (...args) => run(["batch", ...args, "--cache", "replies"], { cwd, env });
  await batch("submit", "many.evalset.json", "--batch-size", "1", "--model", MODELS.openai);
  const batches = join(cwd, "replies/batches");
  const names = readdirSync(batches).sort();
  assert.equal(names.length, 4);
  const file = join(batches, names[0], "batch.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), id: "batch_gone" }));
  await batch("status");
  const collected = await batch("collect");
  assert.equal(collected.status, 2, collected.stderr);
  assert.match(collected.stderr, /batch_gone/);
  assert.match(collected.stderr, /remove the folder/i);
  assert.ok(collected.stderr.includes(join("replies", "batches", names[0])), collected.stderr);
  assert.deepEqual(readdirSync(batches), [names[0]], "the others are collected");
  const waited = await ask(cwd, answering, "openai");
  assert.equal(waited.status, 2);
  assert.match(waited.stderr, /batch_gone/);
  rmSync(join(batches, names[0]), { recursive: true });
  const { stdout, stderr } = await ask(cwd, answering, "openai");
  assert.equal(Object.keys(statusesIn(stdout)).length, 4, stderr);
});

test("what is not as it was written in the folder of batches is neither sent nor waited for", posix, async (t) => {
  const answering = await batchServer(t);
  const cwd = folderOf(t, filesOf(1));
  const batches = join(cwd, "replies/batches");
  mkdirSync(batches, { recursive: true });
  const record = {
    format: "adk-metrics batch",
    version: 1,
    provider: "openai",
    label: `openai ${answering.url}/v1`,
    model: "gpt-4.1-mini",
    rows: 1,
    bytes: 100,
    state: "noted",
  };
  const key = "k".repeat(64);
  const request = { model: "gpt-4.1-mini", prompt: "hi" };
  const question = { id: key.slice(0, 48), key, request };
  const put = (name, more, ...lines) => {
    mkdirSync(join(batches, name));
    writeFileSync(join(batches, name, "batch.json"), JSON.stringify({ ...record, name, ...more }));
    writeFileSync(
      join(batches, name, "questions.jsonl"),
      lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
    );
  };
  put("no-provider", { provider: ["openai"] }, question);
  put("no-model", { model: null }, question);
  put("no-state", { state: "lost" }, question);
  put(
    "questions",
    {},
    "null",
    "5",
    { ...question, id: 'x","body":{"model":"dear"},"a":"' },
    { id: "x", key: "../../own" },
  );
  put("pipe", {});
  rmSync(join(batches, "pipe/questions.jsonl"));
  execFileSync("mkfifo", [join(batches, "pipe/questions.jsonl")]);
  put("no-id", { state: "sent" });
  mkdirSync(join(batches, "failures.jsonl"));
  const { stdout, stderr } = await ask(cwd, answering, "openai");
  assert.deepEqual(statusesIn(stdout), RIGHT(1), stderr);
  assert.doesNotMatch(stderr, /bug/);
  const models = answering.batches.flatMap(({ requests }) => requests.map(({ body }) => body.model));
  assert.deepEqual([...new Set(models)], ["gpt-4.1-mini"]);
});

test("a batch whose record is damaged is named, before it is sent twice", async (t) => {
  const answering = await batchServer(t);
  const cwd = folderOf(t, filesOf(1));
  const submit = ["batch", "submit", "many.evalset.json", "--cache", "replies"];
  const first = await ask(cwd, answering, "openai", submit);
  assert.equal(first.status, 0, first.stderr);
  const [name] = readdirSync(join(cwd, "replies/batches"));
  const record = join(cwd, "replies/batches", name, "batch.json");
  const sent = answering.batches.length;
  for (const damaged of ["", "{", "null", readFileSync(record, "utf8").replace('"version":1', '"version":2')]) {
    writeFileSync(record, damaged);
    const { status, stderr } = await ask(cwd, answering, "openai", submit);
    assert.equal(status, 2, stderr);
    assert.match(
      stderr,
      /error: a batch cannot be stored: .+\n +at \S*adk-metrics-[0-9a-f]{32}\n +help: .*If the folder of a batch is damaged, remove it: its questions are then asked again/,
    );
    assert.equal(answering.batches.length, sent);
  }
  rmSync(dirname(record), { recursive: true });
  const { stdout, stderr } = await ask(cwd, answering, "openai");
  assert.deepEqual(statusesIn(stdout), RIGHT(1), stderr);
});
