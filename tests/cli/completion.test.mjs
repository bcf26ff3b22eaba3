// The table of options as its users meet it: help that names each option, and scripts that complete them in shells.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, folderOf, run } from "./command.mjs";

const has = (program) => spawnSync(program, ["--version"]).status === 0;
const bash = { skip: !has("bash") && "there is no bash" };

/** What bash offers for the last of these words, in a folder. */
function offered(script, words, cwd) {
  const code = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _adk_metrics; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const said = execFileSync("bash", ["--norc", "-c", code, "bash", script, "adk-metrics", ...words], {
    cwd,
    encoding: "utf8",
  });
  return said.split("\n").filter((line) => line !== "");
}

async function scriptOf(t) {
  const { stdout, status } = await run(["completion", "bash"]);
  assert.equal(status, 0);
  return { cwd: folderOf(t, { ...CLOCK, "judge.mjs": "", script: stdout }), script: "./script" };
}

test("bash completes commands", bash, async (t) => {
  const { script, cwd } = await scriptOf(t);
  assert.deepEqual(offered(script, ["re"], cwd), ["record"]);
  assert.deepEqual(offered(script, ["co"], cwd), ["compare", "completion"]);
});

test("bash completes the options of each command, and no other's", bash, async (t) => {
  const { script, cwd } = await scriptOf(t);
  assert.deepEqual(offered(script, ["run", "--num"], cwd), ["--num-runs"]);
  assert.deepEqual(offered(script, ["eval", "--num"], cwd), []);
  assert.deepEqual(offered(script, ["compare", "baseline", "--fail"], cwd), ["--fail-on-drop"]);
});

test("bash completes the values of options, also after an equals sign", bash, async (t) => {
  const { script, cwd } = await scriptOf(t);
  assert.deepEqual(offered(script, ["eval", "--format", "j"], cwd), ["json", "junit"]);
  assert.deepEqual(offered(script, ["eval", "--format", "=", "j"], cwd), ["json", "junit"]);
  assert.deepEqual(offered(script, ["compare", "--format", "j"], cwd), ["json"]);
  assert.deepEqual(offered(script, ["completion", "z"], cwd), ["zsh"]);
});

test("bash completes files, and judges besides", bash, async (t) => {
  const { script, cwd } = await scriptOf(t);
  assert.deepEqual(offered(script, ["eval", "clock.e"], cwd), ["clock.evalset.json"]);
  assert.deepEqual(offered(script, ["eval", "x", "--actual", "clock.a"], cwd), ["clock.actual.json"]);
  assert.deepEqual(offered(script, ["eval", "--judge", "g"], cwd), ["gemini"]);
  assert.deepEqual(offered(script, ["eval", "--judge", "ju"], cwd), ["judge.mjs"]);
  assert.deepEqual(offered(script, ["run", "--num-runs", "c"], cwd), []);
});

for (const shell of ["zsh", "fish"]) {
  test(`the script for ${shell} names every option, and ${shell} can read it`, async (t) => {
    const { stdout, status } = await run(["completion", shell]);
    assert.equal(status, 0);
    for (const name of ["num-runs", "judge", "fail-on-drop", "watch"])
      assert.match(stdout, new RegExp(`[-]+(?:l )?${name}`));
    if (has(shell)) execFileSync(shell, ["-n", join(folderOf(t, { script: stdout }), "script")]);
  });
}

test("completion says which shells it knows", async () => {
  for (const args of [[], ["powershell"]]) {
    const { status, stderr } = await run(["completion", ...args]);
    assert.equal(status, 2);
    assert.match(stderr, /bash.*zsh.*fish/);
  }
});

test("the help of each command has every option that the command takes", bash, async (t) => {
  const { script, cwd } = await scriptOf(t);
  for (const command of ["eval", "run", "record", "compare", "migrate", "playground", "completion"]) {
    const { stdout } = await run([command, "--help"]);
    const options = offered(script, [command, "--"], cwd);
    assert.ok(options.includes("--help"));
    for (const option of options) assert.match(stdout, new RegExp(`^  ${option}[ ,\\n]`, "m"), `${command} ${option}`);
    for (const line of stdout.split("\n")) assert.ok(line.length <= 100, line);
  }
});
