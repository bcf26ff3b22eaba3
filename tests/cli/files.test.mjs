// The command reads regular files only: a folder may contain links to endless devices, and pipes without a writer.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, folderOf, run } from "./command.mjs";

const posix = { skip: process.platform === "win32" };

const KINDS = {
  "a link to a device without end": (file) => symlinkSync("/dev/zero", file),
  "a pipe that nobody writes to": (file) => execFileSync("mkfifo", [file]),
};

/** What each file is called in errors, and the commands that read it without being told. */
const READ = {
  "test_config.json": ["config", ["eval", "clock.evalset.json"]],
  "clock.actual.json": ["file of what the agent did", ["eval", "clock.evalset.json"]],
  "clock.evalset.json": ["evalset", ["eval", "clock.evalset.json"]],
  "judge.jsonl": ["recording", ["eval", "clock.evalset.json", "--judge", "replay:judge.jsonl"]],
  "other.test.json": ["evalset", ["migrate", "other.test.json"]],
  "a.evalset_result.json": ["baseline", ["compare", "a.evalset_result.json", "clock.actual.json"]],
};

for (const [kind, make] of Object.entries(KINDS)) {
  for (const [name, [what, args]] of Object.entries(READ)) {
    test(`refuses ${kind} for ${name}`, posix, async (t) => {
      const cwd = folderOf(t, CLOCK);
      make(join(cwd, `new-${name}`));
      renameSync(join(cwd, `new-${name}`), join(cwd, name));
      const { status, stderr } = await run(args, { cwd });
      assert.match(stderr, new RegExp(`error: the ${what}.* is not a regular file\\n {3}at ${name}`));
      assert.equal(status, 2);
    });
  }
}

// A regular file, of which the system says that it is empty.
const ENDLESS = "/proc/self/pagemap";

for (const [name, [what, args]] of Object.entries(READ)) {
  test(`reads no file without end for ${name}`, { skip: !existsSync(ENDLESS) }, async (t) => {
    const cwd = folderOf(t, CLOCK);
    rmSync(join(cwd, name), { force: true });
    symlinkSync(ENDLESS, join(cwd, name));
    const { status, stderr } = await run(args, { cwd });
    assert.match(
      stderr,
      new RegExp(`error: the ${what}.* is larger than 64 MiB and not a regular file\n {3}at ${name}`),
    );
    assert.equal(status, 2);
  });
}

// A regular file that cannot be read from its beginning.
const UNREADABLE = "/proc/self/mem";

for (const [name, [what, args]] of Object.entries(READ)) {
  test(`says that ${name} cannot be read`, { skip: !existsSync(UNREADABLE) }, async (t) => {
    const cwd = folderOf(t, CLOCK);
    rmSync(join(cwd, name), { force: true });
    symlinkSync(UNREADABLE, join(cwd, name));
    const { status, stderr } = await run(args, { cwd });
    assert.match(stderr, new RegExp(`error: the ${what}.* cannot be read: EIO.*\n {3}at ${name}`));
    assert.equal(status, 2);
  });
}

test("loads no module that says it is empty, which may not end", { skip: !existsSync(ENDLESS) }, async (t) => {
  const cwd = folderOf(t, CLOCK);
  symlinkSync(ENDLESS, join(cwd, "module.mjs"));
  const { status, stderr } = await run(["run", "clock.evalset.json", "--agent", "./module.mjs"], { cwd });
  assert.match(stderr, /error: the module of the agent is empty/);
  assert.equal(status, 2);
});

for (const [kind, make] of Object.entries(KINDS)) {
  for (const option of ["--agent", "--metrics", "--judge"]) {
    test(`loads no module of ${option} from ${kind}`, posix, async (t) => {
      const cwd = folderOf(t, { ...CLOCK, "agent.mjs": "export default () => '';" });
      make(join(cwd, "module.mjs"));
      const agent = option === "--agent" ? [] : ["--agent", "./agent.mjs"];
      const args = ["run", "clock.evalset.json", ...agent, option, "./module.mjs"];
      const { status, stderr } = await run(args, { cwd });
      assert.match(stderr, /error: the module of the \w+ is not a regular file/);
      assert.equal(status, 2);
    });
  }
}

test("reads through links to regular files", posix, async (t) => {
  const cwd = folderOf(t, CLOCK);
  renameSync(join(cwd, "clock.actual.json"), join(cwd, "elsewhere.json"));
  symlinkSync("elsewhere.json", join(cwd, "clock.actual.json"));
  const { status } = await run(["eval", "clock.evalset.json:noon"], { cwd });
  assert.equal(status, 0);
});
