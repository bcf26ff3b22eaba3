import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cli, CLOCK, ended, evalSet, folderOf, GOOD, run, start, text } from "./command.mjs";

const clock = ["eval", "clock.evalset.json"];
const posix = process.platform === "win32" ? { skip: "POSIX only" } : {};

const JUDGE = "export default () => '';";

const BEGINNINGS = {
  table: /^clock {2}2 cases: 1 passed, 1 failed\n/,
  json: /^\{\n {2}"eval_set_result_id": "clock_/,
  junit: /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites /,
  md: /^## Evaluation of 2 cases/,
  csv: /^evalSetId,evalId,run,turn,metricName/,
  html: /^<!doctype html>\n/,
};

test("writes each format to stdout", async (t) => {
  const cwd = folderOf(t, CLOCK);
  for (const [format, beginning] of Object.entries(BEGINNINGS)) {
    const { stdout, status } = await run([...clock, "--format", format], { cwd });
    assert.match(stdout, beginning);
    assert.equal(status, 1, format);
  }
});

test("writes a file, says so and sums up on stderr, and leaves stdout alone", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const { stdout, stderr } = await run([...clock, "--format", "html", "--output", "new/folder/report.html"], { cwd });
  assert.equal(stdout, "");
  assert.match(stderr, /^wrote new\/folder\/report\.html\n2 cases: 1 passed, 1 failed\n/m);
  assert.match(readFileSync(join(cwd, "new/folder/report.html"), "utf8"), BEGINNINGS.html);
  assert.deepEqual(readdirSync(join(cwd, "new/folder")), ["report.html"]);
});

test("gives each of several formats its output, in order; - is stdout", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const args = ["--format", "table", "--output", "-", "--format", "junit", "--output", "junit.xml"];
  assert.match((await run([...clock, ...args], { cwd })).stdout, BEGINNINGS.table);
  assert.match(readFileSync(join(cwd, "junit.xml"), "utf8"), BEGINNINGS.junit);
});

test("adds each format's ending to one name", async (t) => {
  const cwd = folderOf(t, CLOCK);
  await run([...clock, ...Object.keys(BEGINNINGS).flatMap((format) => ["--format", format]), "--output", "night"], {
    cwd,
  });
  const endings = { table: "txt", json: "evalset_result.json", junit: "xml", md: "md", csv: "csv", html: "html" };
  for (const [format, ending] of Object.entries(endings)) {
    assert.match(readFileSync(join(cwd, `night.${ending}`), "utf8"), BEGINNINGS[format]);
  }
});

test("writes into a folder under names of its own", async (t) => {
  const cwd = folderOf(t, CLOCK);
  await run([...clock, "--format", "json", "--format", "csv", "--output", "out/"], { cwd });
  assert.deepEqual(readdirSync(join(cwd, "out")).sort(), ["clock.evalset_result.json", "report.csv"]);
});

test("writes a json file for each of several evalsets", async (t) => {
  const cwd = folderOf(t, { ...CLOCK, ...GOOD });
  // Another evalset of the same file name.
  mkdirSync(join(cwd, "night"));
  for (const [name, content] of Object.entries(CLOCK)) {
    writeFileSync(join(cwd, "night", name), JSON.stringify({ ...content, eval_set_id: "night" }));
  }
  const evalSets = ["clock.evalset.json", "good.evalset.json", "night/clock.evalset.json"];
  const { status } = await run(["eval", ...evalSets, "--format", "json", "--output", "out"], { cwd });
  assert.equal(status, 1);
  const names = ["clock-2.evalset_result.json", "clock.evalset_result.json", "good.evalset_result.json"];
  assert.deepEqual(readdirSync(join(cwd, "out")).sort(), names);
  for (const name of names)
    assert.match(readFileSync(join(cwd, "out", name), "utf8"), /"eval_set_id": "(?:clock|good|night)"/);
  await run(
    ["eval", "clock.evalset.json", "good.evalset.json", "--format", "json", "--format", "md", "--output", "both"],
    { cwd },
  );
  for (const name of ["both-clock.evalset_result.json", "both-good.evalset_result.json", "both.md"])
    assert.ok(existsSync(join(cwd, name)));
});

const refused = {
  "several formats without output": [
    ["--format", "json", "--format", "md"],
    /2 formats cannot all go to stdout\n {3}help: Add --output report/,
  ],
  "several formats on stdout": [["--format", "json", "--format", "md", "--output", "-"], /2 formats but 1 output/],
  "several formats in one file": [
    ["--format", "json", "--format", "html", "--output", "report.html"],
    /help: Leave out \.html/,
  ],
  "more outputs than formats": [["--output", "a.txt", "--output", "b.txt"], /1 formats? but 2 outputs/],
  "the same format twice": [["--format", "md", "--format", "md", "--output", "a"], /--format md is specified twice/],
  "two results in one place": [
    ["--format", "md", "--output", "a", "--format", "csv", "--output", "a"],
    /two results would be written to a\n/,
  ],
  "details without a table": [
    ["--format", "json", "--print-detailed-results"],
    /--print-detailed-results affects only the table, and no table is written/,
  ],
  "a format that does not exist": [["--format", "html5"], /Did you mean `html`\?/],
};

for (const [what, [args, words]] of Object.entries(refused)) {
  test(`refuses ${what}`, async (t) => {
    const cwd = folderOf(t, CLOCK);
    const { status, stdout, stderr } = await run([...clock, ...args], { cwd });
    assert.match(stderr, words);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.deepEqual(readdirSync(cwd).sort(), Object.keys(CLOCK).sort());
  });
}

test("writes the results of the evalsets that could be scored where others could not", async (t) => {
  const twice = { eval_id: "noon", conversation: [] };
  const wrong = { eval_set_id: "wrong", eval_cases: [twice, twice] };
  const cwd = folderOf(t, { ...CLOCK, ...GOOD, "wrong.evalset.json": wrong, "wrong.actual.json": wrong });
  const files = ["wrong", "good", "clock"];
  const { status, stderr } = await run(
    ["eval"]
      .concat(files.map((name) => `${name}.evalset.json`))
      .concat(files.flatMap((name) => ["--actual", `${name}.actual.json`]))
      .concat("--format", "json", "--format", "junit", "--output", "out/", "--output", "out/all.xml"),
    { cwd },
  );
  assert.equal(status, 2);
  assert.match(stderr, /^error: .*\n {3}at wrong\.evalset\.json/m);
  assert.match(stderr, /^the results contain 2 of 3 evalsets$/m);
  assert.deepEqual(readdirSync(join(cwd, "out")).sort(), [
    "all.xml",
    "clock.evalset_result.json",
    "good.evalset_result.json",
  ]);
  for (const name of ["good", "clock"]) {
    assert.equal(JSON.parse(readFileSync(join(cwd, `out/${name}.evalset_result.json`), "utf8")).eval_set_id, name);
  }
});

test("leaves what is there already where no evalset could be scored", async (t) => {
  const twice = { eval_id: "noon", conversation: [] };
  const wrong = { eval_set_id: "wrong", eval_cases: [twice, twice] };
  const cwd = folderOf(t, { "wrong.evalset.json": wrong, "wrong.actual.json": wrong, "out.md": "before" });
  const { status } = await run(
    ["eval", "wrong.evalset.json", "--actual", "wrong.actual.json", "--output", "out.md", "--force"],
    { cwd },
  );
  assert.equal(status, 2);
  assert.equal(readFileSync(join(cwd, "out.md"), "utf8"), "before");
});

test("refuses several evalsets in one json file", async (t) => {
  const cwd = folderOf(t, { ...CLOCK, ...GOOD });
  for (const output of [[], ["--output", "all.json"]]) {
    const { status, stderr } = await run(
      ["eval", "clock.evalset.json", "good.evalset.json", "--format", "json", ...output],
      { cwd },
    );
    assert.equal(status, 2);
    assert.match(stderr, /a file in ADK's schema has one evalset, and there are 2\n {3}help: Choose a folder/);
  }
});

/** What would be overwritten, and the arguments that would do it. */
const OVERWRITING = {
  "the evalset": ["--format", "json", "--output", "clock.evalset.json"],
  "the file of what the agent did": ["--format", "json", "--output", "./folder/../clock.actual.json"],
  "the config": [
    "--config",
    "strict.json",
    "--format",
    "csv",
    "--output",
    "-",
    "--format",
    "md",
    "--output",
    "strict.json",
  ],
  "the config, by default": ["--format", "csv", "--output", "test_config.json"],
  "the evalset behind a link": ["--format", "csv", "--output", "link.csv"],
  "the file of what the agent did under a name of our own": [
    "--actual",
    "runs",
    "--format",
    "json",
    "--output",
    "runs/",
  ],
};

for (const [what, args] of Object.entries(OVERWRITING)) {
  test(`refuses to overwrite ${what}`, posix, async (t) => {
    const config = { criteria: { response_match_score: 0 } };
    const cwd = folderOf(t, { ...CLOCK, "test_config.json": config, "strict.json": config });
    for (const folder of ["folder", "runs"]) mkdirSync(join(cwd, folder));
    writeFileSync(join(cwd, "runs/clock.evalset_result.json"), JSON.stringify(CLOCK["clock.actual.json"]));
    symlinkSync("clock.evalset.json", join(cwd, "link.csv"));
    const contents = () =>
      readdirSync(cwd, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
    const before = contents();
    const { status, stdout, stderr } = await run([...clock, ...args], { cwd });
    assert.match(
      stderr,
      new RegExp(`^error: the output would overwrite ${what.replace(/(,| behind| under).*/, "")}\n   at `),
    );
    assert.deepEqual([status, stdout], [2, ""]);
    assert.deepEqual(contents(), before);
  });
}

test(
  "reads what has no path any more, and replaces another file",
  { skip: process.platform !== "linux" },
  async (t) => {
    const cwd = folderOf(t, { ...CLOCK, "out.csv": "old" });
    const input = openSync(join(cwd, "clock.actual.json"), "r");
    t.after(() => closeSync(input));
    rmSync(join(cwd, "clock.actual.json"));
    const args = [...clock, "--actual", "/dev/stdin", "--format", "csv", "--output", "out.csv", "--force"];
    const [status] = await ended(start(args, { cwd, stdio: [input, "ignore", "ignore"] }));
    assert.equal(status, 1);
    assert.match(readFileSync(join(cwd, "out.csv"), "utf8"), BEGINNINGS.csv);
  },
);

test("says why an output cannot be written, before anything is scored", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const { status, stderr } = await run([...clock, "--output", "clock.actual.json/report.txt"], { cwd });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /error: the output cannot be written: a part of its path is a file, not a folder\n {3}at clock\.actual\.json\/report\.txt/,
  );
  assert.doesNotMatch(stderr, /criteria:/);
});

test("refuses a read-only file", { skip: process.getuid?.() === 0 && "root may write anything" }, async (t) => {
  const cwd = folderOf(t, { ...CLOCK, "report.txt": "mine" });
  chmodSync(join(cwd, "report.txt"), 0o444);
  const { status, stderr } = await run([...clock, "--output", "report.txt"], { cwd });
  assert.equal(status, 2);
  assert.match(stderr, /cannot be written: permission denied/);
  assert.equal(readFileSync(join(cwd, "report.txt"), "utf8"), "mine");
});

test("refuses a place that the system keeps", { skip: process.platform !== "linux" }, async (t) => {
  for (const output of ["/proc/report.txt", "/proc/new/report.txt"]) {
    const { status, stderr } = await run([...clock, "--output", output], { cwd: folderOf(t, CLOCK) });
    assert.equal(status, 2);
    assert.match(stderr, /the output cannot be written/);
  }
});

test("replaces what a link points to, and keeps its permissions", posix, async (t) => {
  const cwd = folderOf(t, { ...CLOCK, "real.txt": "old" });
  chmodSync(join(cwd, "real.txt"), 0o640);
  symlinkSync("real.txt", join(cwd, "link.txt"));
  await run([...clock, "--output", "link.txt", "--force"], { cwd });
  assert.equal(readlinkSync(join(cwd, "link.txt")), "real.txt");
  assert.match(readFileSync(join(cwd, "real.txt"), "utf8"), BEGINNINGS.table);
  assert.equal(statSync(join(cwd, "real.txt")).mode & 0o777, 0o640);
});

test("writes to a device directly", posix, async (t) => {
  await run([...clock, "--output", "/dev/null"], { cwd: folderOf(t, CLOCK) });
  assert.ok(statSync("/dev/null").isCharacterDevice());
});

const linux = { skip: process.platform !== "linux" };

/** Runs `eval` with a folder of its own for temporary files, where results go that have no other place. */
async function rescued(t, args, stdio) {
  const cwd = folderOf(t, CLOCK);
  const tmp = join(cwd, "tmp");
  mkdirSync(tmp);
  const child = start([...clock, ...args], { cwd, env: { TMPDIR: tmp }, ...(stdio === undefined ? {} : { stdio }) });
  const [stderr, [status]] = await Promise.all([text(child.stderr), ended(child)]);
  const [, file] = /help: The results are in (.*)\n/.exec(stderr) ?? [];
  return { stderr, status, file, tmp, cwd };
}

test("keeps results elsewhere if the disk is full, names the file, and exits with 2", linux, async (t) => {
  const full = openSync("/dev/full", "w");
  t.after(() => closeSync(full));
  for (const [args, stdio, place, name] of [
    [["--format", "html", "--output", "/dev/full"], undefined, "/dev/full", "full"],
    [["--format", "json"], ["ignore", full, "pipe"], "stdout", "report.evalset_result.json"],
  ]) {
    const { stderr, status, file, tmp } = await rescued(t, args, stdio);
    assert.match(stderr, /error: the output cannot be written: the disk is full\n {3}at /);
    assert.match(stderr, new RegExp(`\n {3}at ${place}\n {3}help: The results are in `));
    assert.equal(status, 2);
    assert.ok(file.startsWith(tmp) && file.endsWith(`/${name}`), file);
    assert.match(readFileSync(file, "utf8"), args.includes("html") ? BEGINNINGS.html : BEGINNINGS.json);
  }
});

test("says that stdout is cut where it is a file that cannot grow", linux, async (t) => {
  const cwd = folderOf(t, CLOCK);
  const command = `ulimit -f 1; exec "${process.execPath}" "${cli}" eval clock.evalset.json --format html > cut.html`;
  const { status, stderr } = spawnSync("bash", ["-c", command], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, TMPDIR: cwd, HOME: cwd },
  });
  assert.equal(statSync(join(cwd, "cut.html")).size, 1024);
  assert.match(stderr, /error: the output cannot be written: .*\n {3}at stdout\n/);
  assert.equal(status, 2);
});

/** A file system of 64 kB, where this user may mount one. */
function smallDisk(t) {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-small-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
  t.after(() => {
    if (status === 0) spawnSync("umount", [folder], { stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  });
  if (status !== 0) return undefined;
  return folder;
}

test("keeps results elsewhere if they fill a small disk, and leaves nothing of them there", linux, async (t) => {
  const disk = smallDisk(t);
  if (disk === undefined) return t.skip("this user cannot mount a file system");
  writeFileSync(join(disk, "other"), new Uint8Array(32_768));
  for (const [format, name] of [
    ["html", "report.html"],
    ["json", "report.evalset_result.json"],
  ]) {
    const long = "late ".repeat(20_000);
    const cwd = folderOf(t, {
      "long.evalset.json": evalSet({ one: long }),
      "actual.json": evalSet({ one: `${long}indeed` }),
    });
    const tmp = join(cwd, "tmp");
    mkdirSync(tmp);
    const args = ["eval", "long.evalset.json", "--actual", "actual.json", "--format", format];
    const { stderr, status } = await run([...args, "--output", join(disk, name)], { cwd, env: { TMPDIR: tmp } });
    assert.equal(status, 2);
    assert.match(stderr, /error: the output cannot be written: the disk is full\n/);
    const [, file] = /help: The results are in (.*)\n/.exec(stderr) ?? [];
    assert.ok(file?.startsWith(tmp) && file.endsWith(`/${name}`), stderr);
    assert.match(readFileSync(file, "utf8"), BEGINNINGS[format]);
    assert.ok(statSync(file).size > 32_768);
    assert.deepEqual(readdirSync(disk), ["other"]);
  }
});

test("writes the other outputs where one cannot be written", linux, async (t) => {
  const args = ["--format", "csv", "--output", "/dev/full", "--format", "md", "--output", "report.md"];
  const { status, cwd, stderr } = await rescued(t, args);
  assert.equal(status, 2);
  assert.match(stderr, /^wrote report\.md$/m);
  assert.match(readFileSync(join(cwd, "report.md"), "utf8"), BEGINNINGS.md);
});

test("says so if no folder can take the results", linux, async (t) => {
  const cwd = folderOf(t, CLOCK);
  const nowhere = { TMPDIR: join(cwd, "no"), HOME: join(cwd, "no") };
  const { stderr, status } = await run([...clock, "--output", "/dev/full"], { cwd, env: nowhere });
  assert.match(stderr, /help: The results could not be written to a folder for temporary files either/);
  assert.equal(status, 2);
});

test("keeps a comparison and what an agent did elsewhere if the disk is full", linux, async (t) => {
  const cwd = folderOf(t, { ...CLOCK, "agent.mjs": 'export default () => "It is noon.";' });
  await run([...clock, "--format", "json", "--output", "a.json"], { cwd });
  for (const args of [
    ["compare", "a.json", "a.json", "--output", "/dev/full"],
    ["record", "--agent", "agent.mjs", "clock.evalset.json", "--force", "--output", "/dev/full"],
  ]) {
    const { stderr, status } = await run(args, { cwd, env: { TMPDIR: cwd } });
    const [, file] = /help: The results are in (.*)\n/.exec(stderr) ?? [];
    assert.ok(file?.startsWith(cwd), stderr);
    assert.ok(readFileSync(file, "utf8").length > 100);
    assert.equal(status, 2);
  }
});

test("no link in the folder of an output is followed for its draft", posix, async (t) => {
  const cwd = folderOf(t, { ...CLOCK, victim: "mine" });
  const child = start([...clock, "--format", "csv", "--output", "out.csv"], { cwd });
  symlinkSync("victim", join(cwd, `.out.csv.${child.pid}.tmp`));
  assert.deepEqual(await ended(child), [1, null]);
  assert.equal(readFileSync(join(cwd, "victim"), "utf8"), "mine");
  assert.match(readFileSync(join(cwd, "out.csv"), "utf8"), BEGINNINGS.csv);
});

test("makes no recording where a link leads", posix, async (t) => {
  const cwd = folderOf(t, { ...CLOCK, "test_config.json": { criteria: { safety_v1: 1 } }, "judge.mjs": JUDGE });
  symlinkSync("victim", join(cwd, "judge.jsonl"));
  const { status, stderr } = await run([...clock, "--judge", "./judge.mjs", "--record", "judge.jsonl"], { cwd });
  assert.match(stderr, /error: the recording is a link to a file that does not exist\n {3}at judge\.jsonl/);
  assert.equal(status, 2);
  assert.ok(!existsSync(join(cwd, "victim")));
});

test("makes no journal where a link leads", posix, async (t) => {
  const cwd = folderOf(t, CLOCK);
  symlinkSync("victim", join(cwd, "journal.jsonl"));
  const { status, stderr } = await run([...clock, "--journal", "journal.jsonl"], { cwd });
  assert.match(stderr, /error: the journal is a link to a file that does not exist\n {3}at journal\.jsonl/);
  assert.equal(status, 2);
  assert.ok(!existsSync(join(cwd, "victim")));
});

test("waits for nobody to read an output that is a pipe", posix, async (t) => {
  const agent = "export default () => '';";
  const cwd = folderOf(t, { ...CLOCK, "agent.mjs": agent, "judge.mjs": JUDGE });
  spawnSync("mkfifo", [join(cwd, "pipe")]);
  const record = ["record", "--agent", "./agent.mjs", "clock.evalset.json"];
  for (const args of [
    [...clock, "--output", "pipe"],
    [...clock, "--output", "pipe", "--force"],
    [...clock, "--judge", "./judge.mjs", "--record", "pipe"],
    [...record, "--output", "pipe", "--force"],
    ["migrate", "clock.evalset.json", "--output", "pipe", "--force"],
  ]) {
    const { status, stderr } = await run(args, { cwd });
    assert.match(stderr, /error: the output is a pipe that no program reads\n {3}at pipe/, args.join(" "));
    assert.equal(status, 2);
  }
});

test("writes no command and no control character in JSON to stdout, whatever is asked for", async (t) => {
  const attack = "##vso[a] ##teamcity[b] ##[c] \u009b31m \u202e \u2028";
  const name = "clock.evalset.json";
  const cwd = folderOf(t, {
    [name]: evalSet({ noon: attack }, attack),
    "clock.actual.json": evalSet({ noon: attack }, attack),
    "agent.mjs": `export default () => ${JSON.stringify(attack)};`,
  });
  for (const args of [
    ["eval", name, "--format", "json"],
    ["record", "--agent", "./agent.mjs", name],
    ["migrate", name],
  ]) {
    const { stdout } = await run(args, { cwd });
    assert.doesNotMatch(stdout, /##(?:\[|vso|teamcity)|[\u007f-\u009f\u2028-\u202e]/, args[0]);
    assert.ok(JSON.stringify(JSON.parse(stdout)).includes(attack), args[0]);
  }
});

test("writes no command to a CI system to stdout or stderr, in any format", async (t) => {
  const attack = "##vso[task.setvariable variable=A]b";
  const name = "##teamcity[x].evalset.json";
  const cwd = folderOf(t, {
    [name]: evalSet({ [attack]: "::error::x", "::warning::y": "It is late." }, "::debug::set"),
    "actual.json": evalSet({ [attack]: `${attack}\n::error::x`, "::warning::y": attack }, "::debug::set"),
  });
  for (const format of Object.keys(BEGINNINGS)) {
    const more = format === "table" ? ["--print-detailed-results"] : [];
    const args = ["eval", name, "--actual", "actual.json", "--format", format, ...more];
    const { stdout, stderr } = await run(args, { cwd });
    assert.match(stdout + stderr, /vso\[/);
    for (const line of `${stdout}\n${stderr}`.split(/\r?\n/)) {
      assert.doesNotMatch(line, /##(?:\[|vso|teamcity)|^\s*::/i, format);
    }
  }
  const written = await run(["eval", name, "--actual", "actual.json", "--format", "json"], { cwd });
  assert.ok(JSON.parse(written.stdout).eval_case_results.some(({ eval_id }) => eval_id === attack));
  const { stderr } = await run(["eval", "##vso[none].json"], { cwd });
  assert.match(stderr, /vso\[none/);
  assert.doesNotMatch(stderr, /##vso/);
});

test("leaves what was there as it is if an input cannot be used", async (t) => {
  const cwd = folderOf(t, { ...CLOCK, "report.txt": "old", "broken.json": "{" });
  mkdirSync(join(cwd, "out"));
  writeFileSync(join(cwd, "out/report.txt"), "old");
  const { status } = await run([...clock, "--actual", "broken.json", "--output", "out/report.txt"], { cwd });
  assert.equal(status, 2);
  assert.equal(readFileSync(join(cwd, "out/report.txt"), "utf8"), "old");
  assert.deepEqual(readdirSync(join(cwd, "out")), ["report.txt"]);
});
