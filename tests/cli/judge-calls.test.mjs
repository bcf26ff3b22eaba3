// Calls of judges under way: repeated, several at a time, cancelled, and shown on a terminal.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { startServer } from "../providers/server.mjs";
import { BARE, cli, ended, evalSet, folderOf, start, text, until } from "./command.mjs";
import { ask, at, FAIR, fair, FILES, judge, judged, posix, server, statuses } from "./judging.mjs";

test("waits for a server that is starting up", async (t) => {
  const gone = await startServer();
  await gone.close();
  const { port } = new URL(gone.url);
  const running = judge(folderOf(t, FILES), [], at.gemini(gone));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const answering = await server(t);
  const door = createServer((socket) => socket.pipe(connect(new URL(answering.url).port)).pipe(socket)).listen(port);
  t.after(() => door.close());
  const { stdout, stderr } = await running;
  assert.deepEqual(statuses(stdout), FAIR, stderr);
});

test("recovers from a storm of rate limits", async (t) => {
  const reply = (asked) => (asked.index < 6 ? { fault: "rate_limit", retryInfo: "0.05s" } : fair(asked));
  const answering = await server(t, { reply });
  const { stdout, stderr } = await judge(folderOf(t, FILES), [], at.gemini(answering));
  assert.deepEqual(statuses(stdout), FAIR);
  assert.match(
    stderr,
    /^judged by gemini-2\.5-flash \(gemini-2\.5-flash-001\): \d+ calls \(\d+ repeated\), \d+ tokens in, \d+ out$/m,
  );
});

test("makes as many calls at a time as it is told", async (t) => {
  let [open, most, told] = [0, 0, 0];
  const reply = async (asked) => {
    most = Math.max(most, (open += 1));
    // The first ones are held until as many are under way; one too many would come while this one is answered.
    await until(() => most >= told, `${told} calls at a time`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    open -= 1;
    return fair(asked);
  };
  const answering = await server(t, { reply });
  const cwd = folderOf(t, { ...FILES, "test_config.json": judged({ num_samples: 9 }) });
  for (const concurrency of [1, 3]) {
    [most, told] = [0, concurrency];
    await judge(cwd, ["--concurrency", String(concurrency)], at.gemini(answering));
    assert.equal(most, concurrency);
  }
});

test("cancels calls on Ctrl-C, and keeps results and replies that are there", posix, async (t) => {
  const answering = await server(t, {
    reply: (asked) => (asked.prompt.includes("I do not know.") ? { fault: "hang" } : fair(asked)),
  });
  const cwd = folderOf(t, FILES);
  const args = [...ask, "--format", "json", "--record", "judge.jsonl"];
  const child = start(args, { cwd, env: { ...BARE, ...at.gemini(answering) } });
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  const end = ended(child);
  await until(() => answering.requests.length >= 2, "two questions to the judge");
  await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill("SIGINT");
  assert.deepEqual(await end, [130, null]);
  assert.deepEqual(statuses(await stdout), { noon: 1 });
  assert.match(await stderr, /interrupted: the results contain only the finished cases/);
  assert.equal(readFileSync(join(cwd, "judge.jsonl"), "utf8").trimEnd().split("\n").length, 2);
});

/** `script` gives its command a terminal. */
const hasScript = (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, "script")));
const terminal = { skip: process.platform !== "linux" || !hasScript };

/** What a terminal of 120 columns shows of a command, which writes its results to a file. */
async function onTerminal(cwd, args, env) {
  const command = `stty cols 120; '${process.execPath}' '${cli}' ${args} --output out.txt`;
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd,
    env: { ...process.env, ...BARE, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [shown] = await Promise.all([text(child.stdout), ended(child)]);
  const lines = shown.replace(/\u001b\[[\d;]*[mK]/g, "").split(/[\r\n]+/);
  for (const line of lines) assert.ok(line.length <= 120, line);
  return lines;
}

test("shows on a terminal what judges do", terminal, async (t) => {
  const cases = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`case-${at}`, `It is ${at}.`]));
  const answering = await server(t, { latencyMs: 120 });
  const cwd = folderOf(t, {
    "many.evalset.json": evalSet(cases, "many"),
    "many.actual.json": evalSet(cases, "many"),
    "test_config.json": judged({ num_samples: 5 }),
  });
  const lines = await onTerminal(cwd, "eval many.evalset.json --concurrency 4", at.gemini(answering));
  const bar = /^█+░+ \d+\/12 · \d+ calls, \d+ saved, [\d,]+ tokens, \d+ s left · many\.evalset\.json$/;
  assert.ok(
    lines.some((line) => bar.test(line)),
    lines.join("\n"),
  );
});

test("shows on a terminal that it waits for a slow judge", terminal, async (t) => {
  const answering = await server(t, { latencyMs: 1500 });
  const lines = await onTerminal(folderOf(t, FILES), ask.join(" "), at.gemini(answering));
  assert.ok(
    lines.includes(`${"░".repeat(24)} 2 calls · waiting for the first reply · clock.evalset.json`),
    lines.join("\n"),
  );
});
