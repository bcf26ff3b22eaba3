// The table of options as its users meet it: help that names each option, and scripts that complete them in shells.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, folderOf, run, runProgram } from "./command.mjs";

const has = (program) => spawnSync(program, ["--version"]).status === 0;
const [bash, zsh, fish] = ["bash", "zsh", "fish"].map((shell) => ({
  skip: !has(shell) && process.env.CI !== "true" && `there is no ${shell}`,
}));

/** What bash offers for the last of these words, in a folder. */
function offered(script, words, cwd) {
  const code = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _adk_metrics; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ["--norc", "-c", code, "bash", script, "adk-metrics", ...words];
  const { status, stdout, stderr } = runProgram("bash", args, { cwd });
  assert.equal(status, 0, stderr);
  return stdout.split("\n").filter((line) => line !== "");
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
  assert.deepEqual(offered(script, ["eval", "--format", "j"], cwd), ["json", "jsonl", "junit"]);
  assert.deepEqual(offered(script, ["eval", "--format", "=", "j"], cwd), ["json", "jsonl", "junit"]);
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

/** What each shell offers for the last word of what is typed. */
const TYPED = {
  "adk-metrics ev": ["eval"],
  "adk-metrics co": ["compare", "completion"],
  "adk-metrics help r": ["record", "run"],
  "adk-metrics run --num": ["--num-runs"],
  "adk-metrics eval --num": [],
  "adk-metrics compare baseline.json --fail": ["--fail-on-drop"],
  "adk-metrics eval --format j": ["json", "jsonl", "junit"],
  "adk-metrics eval --format=j": ["json", "jsonl", "junit"],
  "adk-metrics compare --format j": ["json"],
  "adk-metrics completion ": ["bash", "fish", "zsh"],
  "adk-metrics eval clock.e": ["clock.evalset.json"],
  "adk-metrics eval clock.evalset.json --actual clock.a": ["clock.actual.json"],
  "adk-metrics eval --judge ge": ["gemini"],
  "adk-metrics eval --judge ju": ["judge.mjs"],
  "adk-metrics run --num-runs c": [],
  "adk-metrics batch ": ["collect", "status", "submit"],
  "adk-metrics queue w": ["work"],
  "adk-metrics labels ": ["export"],
  "adk-metrics queue add clock.e": ["clock.evalset.json"],
  "adk-metrics queue status cl": [],
  "adk-metrics queue status --w": ["--watch"],
  "adk-metrics queue add --num": ["--num-runs"],
  "adk-metrics queue work --num": [],
  "adk-metrics queue collect --format j": ["json", "jsonl", "junit"],
  "adk-metrics batch submit --max": ["--max-calls"],
  "adk-metrics batch status --m": [],
  "adk-metrics batch collect --judge o": ["openai"],
};

/** A folder with the files that are completed, and the script of a shell as `script`. */
async function folderWith(t, shell, more = {}) {
  const { stdout, stderr, status } = await run(["completion", shell]);
  assert.equal(status, 0, stderr);
  return folderOf(t, { ...CLOCK, "judge.mjs": "", script: stdout, ...more });
}

/** What fish offers: it says so itself. */
function offeredByFish(cwd) {
  const code = "source script; for line in $argv; echo (complete -C $line | cut -f 1); end";
  const { stdout, stderr } = runProgram("fish", ["--no-config", "-c", code, "--", ...Object.keys(TYPED)], { cwd });
  assert.equal(stderr, "");
  return stdout.split("\n").map((line) => line.split(" "));
}

/**
 * What zsh offers, whose completion works in its line editor alone: in a terminal of zsh's own making a shell starts that
 * inserts all that is offered for each line.
 */
function offeredByZsh(cwd) {
  writeFileSync(join(cwd, "typed"), Object.keys(TYPED).join("\n"));
  const terminal = `zmodload zsh/zpty; zpty shell 'ZDOTDIR=$PWD zsh -d -i'; while zpty -r shell line; do print -r -- $line; done`;
  const { status, stdout: shown, stderr } = runProgram("zsh", ["-f", "-c", terminal], { cwd });
  assert.equal(status, 0, stderr);
  assert.ok(existsSync(join(cwd, "completed")), shown);
  const typed = Object.keys(TYPED);
  return readFileSync(join(cwd, "completed"), "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line, at) => {
      const before = typed[at].slice(0, typed[at].lastIndexOf(" ") + 1);
      return line === typed[at] ? [] : line.slice(before.length).split(" ");
    });
}

const INSERT_ALL = `
insert-all() { _main_complete; compstate[insert]=all; compstate[list]= }
zle -C insert-all complete-word insert-all
zle-line-init() {
  local line
  for line in "\${(@f)$(<typed)}"; do
    BUFFER=$line CURSOR=$#line
    zle insert-all
    print -r -- $BUFFER >>completed
  done
  exit
}
zle -N zle-line-init
`;

/** What was offered, in the form of `TYPED`: zsh adds an equals sign, which goes when a space is typed. */
const asTyped = (offered) =>
  Object.fromEntries(
    Object.keys(TYPED).map((line, at) => {
      const words = offered[at].map((word) => word.replace(/^--format=|=$/, ""));
      return [line, words.filter((word) => word !== "").sort()];
    }),
  );

test("fish completes commands, options, values and files", fish, async (t) => {
  assert.deepEqual(asTyped(offeredByFish(await folderWith(t, "fish"))), TYPED);
});

for (const [how, load, name] of [
  ["that sources the script", "autoload -Uz compinit && compinit -D -u && source ./script", "script"],
  [
    "that finds the script among its functions",
    "fpath=($PWD $fpath); autoload -Uz compinit && compinit -D -u",
    "_adk-metrics",
  ],
]) {
  test(`a zsh ${how} completes commands, options, values and files`, zsh, async (t) => {
    const cwd = await folderWith(t, "zsh", { ".zshrc": `${load}\n${INSERT_ALL}` });
    renameSync(join(cwd, "script"), join(cwd, name));
    assert.deepEqual(asTyped(offeredByZsh(cwd)), TYPED);
  });
}

test("bash completes the same", bash, async (t) => {
  const cwd = await folderWith(t, "bash");
  const words = (line) =>
    line
      .split(" ")
      .slice(1)
      .flatMap((word) => word.split(/(?<==)|(?==)/));
  assert.deepEqual(asTyped(Object.keys(TYPED).map((line) => offered("./script", words(line), cwd))), TYPED);
});

test("completion says which shells it knows", async () => {
  for (const args of [[], ["powershell"]]) {
    const { status, stderr } = await run(["completion", ...args]);
    assert.equal(status, 2);
    assert.match(stderr, /bash.*zsh.*fish/);
  }
});

const SUBCOMMANDS = {
  batch: ["submit", "status", "collect"],
  queue: ["add", "work", "status", "collect"],
  labels: ["export"],
};

test("each subcommand takes the options that the help lists for it, and completion offers", bash, async (t) => {
  const { script, cwd } = await scriptOf(t);
  const { stdout } = await run(["queue", "--help"]);
  const sections = stdout.split(/^(?=(?:Options of all|add: |work: |status$|collect: |Exit status))/m).slice(1);
  const optionsIn = (text) => [...text.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => option);
  const forAll = optionsIn(sections[0]);
  assert.deepEqual(forAll, ["--queue", "--name", "--help"]);
  assert.match(stdout, /^ {2}--early-stop <when>(?:.*\n){1,4}? .*Default: exact/m);
  assert.doesNotMatch(stdout, /risk/, "which queue add refuses");
  for (const subcommand of SUBCOMMANDS.queue) {
    const own = optionsIn(sections.find((text) => text.startsWith(subcommand)));
    const completed = offered(script, ["queue", subcommand, "--"], cwd);
    assert.deepEqual([...own, ...forAll].sort(), completed.sort());
    for (const option of own) {
      const { stderr } = await run(["queue", subcommand, option, "1"], { cwd });
      assert.doesNotMatch(stderr, /has no effect on/, `queue ${subcommand} ${option}`);
    }
  }
  assert.ok(optionsIn(sections.find((text) => text.startsWith("collect"))).includes("--group-by"));
});

test("the help of record and batch is about users and questions", async () => {
  const [record, batch, queue] = await Promise.all(
    ["record", "batch", "queue"].map(async (command) => (await run([command, "--help"])).stdout),
  );
  assert.doesNotMatch(record, /Reports then show|not evaluated|judge_model|your own metrics|Evaluate only|The judge:/);
  assert.match(record, /--max-calls <n> +Maximum number of calls for simulated users/);
  assert.match(record, /--model <name> +The model that plays the users/);
  assert.doesNotMatch(batch, /not evaluated|--judge <who>[^-]*(?:vertex|ollama|replay)/);
  assert.doesNotMatch(queue, /in the whole command/);
});

test("the help of each command has every option that the command takes", bash, async (t) => {
  const { script, cwd } = await scriptOf(t);
  for (const command of [
    "eval",
    "run",
    "record",
    "merge",
    "queue",
    "batch",
    "compare",
    "calibrate",
    "labels",
    "migrate",
    "playground",
    "completion",
  ]) {
    const { stdout } = await run([command, "--help"]);
    const subcommands = SUBCOMMANDS[command] ?? [];
    const options = subcommands.flatMap((subcommand) => offered(script, [command, subcommand, "--"], cwd));
    options.push(...offered(script, [command, "--"], cwd));
    assert.ok(options.includes("--help"));
    for (const option of options) assert.match(stdout, new RegExp(`^  ${option}[ ,\\n]`, "m"), `${command} ${option}`);
    for (const line of stdout.split("\n")) assert.ok(line.length <= 100, line);
  }
});
