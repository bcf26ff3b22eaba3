import assert from "node:assert/strict";
import { test } from "node:test";
import { CLOCK, ended, evalSet, folderOf, run, said, start, text, until } from "./command.mjs";

const clock = ["eval", "clock.evalset.json"];
const ESCAPE = /\u001b\[/;

test("helps on stdout", async () => {
  for (const [args, words] of [
    [["--help"], /^adk-metrics scores AI agents/],
    [["-h"], /^adk-metrics scores AI agents/],
    [["help"], /^adk-metrics scores AI agents/],
    [["eval", "--help"], /^Scores what an agent did/],
    [["help", "eval"], /^Scores what an agent did/],
    [["eval", "x.json", "-h"], /^Scores what an agent did/],
    [["migrate", "--help"], /^Converts an evalset in any form/],
  ]) {
    const { stdout, stderr, status } = await run(args);
    assert.match(stdout, words);
    assert.deepEqual([status, stderr], [0, ""]);
  }
});

test("fits its help into 100 columns", async () => {
  for (const args of [["--help"], ...["eval", "run", "record", "compare", "migrate"].map((name) => [name, "--help"])]) {
    const { stdout } = await run(args);
    for (const line of stdout.split("\n")) assert.ok(line.length <= 100, line);
  }
});

test("says its version and the reference's", async () => {
  assert.match(
    (await run(["--version"])).stdout,
    /^adk-metrics \d+\.\d+\.\d+\S* \(scores like google-adk 2\.13\.0\)\n$/,
  );
});

test("colours when asked, never otherwise in a pipe", async (t) => {
  const cwd = folderOf(t, CLOCK);
  assert.doesNotMatch((await run(clock, { cwd })).stdout, ESCAPE);
  assert.match((await run(clock, { cwd, env: { FORCE_COLOR: "1" } })).stdout, ESCAPE);
  assert.doesNotMatch((await run(clock, { cwd, env: { FORCE_COLOR: "0" } })).stdout, ESCAPE);
  assert.doesNotMatch((await run(clock, { cwd, env: { NO_COLOR: "1" } })).stdout, ESCAPE);
  const broken = await run(["eval", "no.json", "--actual", "no.json"], { cwd, env: { FORCE_COLOR: "1" } });
  assert.match(broken.stderr, /^\u001b\[31merror:\u001b\[0m/);
});

test("never colours a file", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const { stdout } = await run([...clock, "--output", "/dev/stdout"], { cwd, env: { FORCE_COLOR: "1" } });
  assert.doesNotMatch(stdout, ESCAPE);
});

test("shows no progress bar outside a terminal", async (t) => {
  assert.doesNotMatch((await run(clock, { cwd: folderOf(t, CLOCK) })).stderr, /█|\r/);
});

/** Enough cases that the results fill the buffer of any pipe. */
function many(count) {
  const words = (seed) => Array.from({ length: 60 }, (_, at) => `word${(seed * at) % 97}`).join(" ");
  const of = (shift) =>
    evalSet(Object.fromEntries(Array.from({ length: count }, (_, at) => [`case-${at}`, words(at + shift)])), "many");
  return { "many.evalset.json": JSON.stringify(of(1)), "many.actual.json": JSON.stringify(of(2)) };
}

test("is quiet when its reader has seen enough", { skip: process.platform === "win32" }, async (t) => {
  const child = start(["eval", "many.evalset.json", "--format", "csv"], { cwd: folderOf(t, many(3000)) });
  const stderr = text(child.stderr);
  child.stdout.once("data", () => child.stdout.destroy());
  const [status] = await ended(child);
  assert.equal(status, 1);
  assert.match(await stderr, /^what the agent did: .*\ncriteria: .*\n$/);
});

test("is quiet when stdout is closed from the start", { skip: process.platform === "win32" }, async (t) => {
  const child = start(clock, { cwd: folderOf(t, CLOCK) });
  child.stdout.destroy();
  const stderr = text(child.stderr);
  const [status] = await ended(child);
  assert.equal(status, 1);
  assert.doesNotMatch(await stderr, /error/);
});

for (const [name, exit] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
]) {
  test(`ends on ${name} with what is done`, { skip: process.platform === "win32" }, async (t) => {
    const repeats = Array.from({ length: 60 }, () => "many.evalset.json");
    const child = start(["eval", ...repeats, "--format", "csv", "--explain", "all"], {
      cwd: folderOf(t, many(30_000)),
    });
    const [end, stdout, stderr] = [ended(child), text(child.stdout), text(child.stderr)];
    await until(() => said(child.stderr) !== "", "its first words");
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill(name);
    assert.deepEqual(await end, [exit, null]);
    assert.match(await stderr, /interrupted: the results contain only the finished cases/);
    // That the run was cut short is a warning; no case is said to have been cut off.
    const rows = (await stdout)
      .replaceAll(
        /The run was cancelled: [\d,]+ of [\d,]+ (?:cases (?:is|are) done|evalsets (?:was|were) begun); [^\n]*/g,
        "",
      )
      .trimEnd()
      .split("\n");
    assert.ok(rows.length > 1 && rows.length < 30_000 * 6, `${rows.length} rows`);
    assert.ok(rows.every((row) => !row.includes("cancelled")));
  });
}
