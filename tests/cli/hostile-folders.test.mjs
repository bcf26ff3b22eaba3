// Folders that somebody else filled: links in circles, pipes, names that control terminals, huge files, very many files.
// Every command ends, says what is wrong in its own words, and neither reads nor prints what lies outside.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, folderOf, run } from "./command.mjs";

const posix = { skip: process.platform === "win32" };

/** How many files the large folder has; a hundred thousand take a while to make. */
const FILES = Number(process.env.HOSTILE_FILES ?? 5_000);

const SECRET = "the secret outside";
const OUTSIDE = JSON.stringify({ evalSetId: SECRET, evalCases: [{ evalId: SECRET, conversation: [] }] });

/** Results in which a judge had a part, so that there is something to label. */
const METRIC = { metric_name: "safety_v1", score: 1, eval_status: 1, threshold: 0.5 };
const RESULTS = {
  eval_set_result_id: "clock_1",
  eval_set_id: "clock",
  eval_case_results: [
    {
      eval_set_id: "clock",
      eval_id: "noon",
      final_eval_status: 1,
      overall_eval_metric_results: [METRIC],
      eval_metric_result_per_invocation: [],
      session_id: "s",
    },
  ],
  creation_timestamp: 1,
};

/** What is in a folder besides an evalset and what the agent did. */
const HOSTILE = {
  "a link to the folder itself": (cwd) => symlinkSync(".", join(cwd, "loop")),
  "a link to what lies outside": (cwd, ending) => {
    mkdirSync(join(cwd, "../outside"));
    writeFileSync(join(cwd, `../outside/secret${ending}`), OUTSIDE);
    symlinkSync("../outside", join(cwd, "out"));
  },
  "a link in a circle": (cwd, ending) => symlinkSync(`circle${ending}`, join(cwd, `circle${ending}`)),
  "a link to nothing": (cwd, ending) => symlinkSync("nothing", join(cwd, `gone${ending}`)),
  "a pipe": (cwd, ending) => execFileSync("mkfifo", [join(cwd, `pipe${ending}`)]),
  "a pipe for a config": (cwd) => execFileSync("mkfifo", [join(cwd, "test_config.json")]),
  "a folder that is called like a file": (cwd, ending) => mkdirSync(join(cwd, `folder${ending}`)),
  "a name that controls terminals": (cwd, ending) =>
    writeFileSync(join(cwd, `\u001b[2J\u001b]0;owned\u0007\u202e${ending}`), "{"),
  "a name that is a command to CI": (cwd, ending) =>
    writeFileSync(join(cwd, `a\n::error::owned\n##vso[x]${ending}`), "{"),
  "a name that is an option": (cwd, ending) => writeFileSync(join(cwd, `--output=x${ending}`), "{"),
  "a file of 3 GB": (cwd, ending) => {
    writeFileSync(join(cwd, `huge${ending}`), "");
    truncateSync(join(cwd, `huge${ending}`), 3 * 2 ** 30);
  },
  "folders below each other": (cwd) =>
    mkdirSync(join(cwd, ...Array.from({ length: 500 }, () => "d")), { recursive: true }),
  "very many files": (cwd) => {
    mkdirSync(join(cwd, "many"));
    for (let at = 0; at < FILES; at += 1) writeFileSync(join(cwd, "many", `${at}.json`), "");
  },
};

/** Those that are no concern of an evaluation. */
const HARMLESS = new Set([
  "a link to the folder itself",
  "a link to what lies outside",
  "a folder that is called like a file",
  "folders below each other",
  "very many files",
]);

/** The commands by what they look for in folders; `run` looks as `eval` does, `calibrate` as `labels`. */
const COMMANDS = {
  ".evalset.json": [["eval", ".", "--actual", "clock.actual.json"]],
  ".evalset_result.json": [
    ["compare", ".", "../before"],
    ["labels", "export", "."],
  ],
};

for (const [what, spoil] of Object.entries(HOSTILE)) {
  for (const [ending, commands] of Object.entries(COMMANDS)) {
    test(`${what} in a folder of ${ending}`, posix, async (t) => {
      const folder = folderOf(t, {});
      const [cwd, before] = [join(folder, "here"), join(folder, "before")];
      for (const at of [cwd, before]) {
        mkdirSync(at);
        for (const [name, text] of Object.entries({ ...CLOCK, "clock.evalset_result.json": RESULTS })) {
          writeFileSync(join(at, name), typeof text === "string" ? text : JSON.stringify(text));
        }
      }
      spoil(cwd, ending);
      for (const args of commands) {
        const { status, signal, stdout, stderr } = await run(args, { cwd, env: { NO_COLOR: "1" } });
        const said = `${args.join(" ")}: ${stdout}${stderr}`;
        assert.equal(signal, null, said);
        assert.doesNotMatch(said, /^ {4}at |node:internal|ERR_/m, "a failure of its own");
        assert.doesNotMatch(said, /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e]/, "control characters");
        assert.doesNotMatch(said, /^(?:::|##)/m, "commands to CI");
        assert.doesNotMatch(said, new RegExp(SECRET));
        if (status !== 2) assert.ok(status === 0 || status === 1, said);
        else assert.match(stderr, /^error: /m, said);
        if (HARMLESS.has(what) && args[0] === "eval") assert.ok(status < 2, said);
      }
    });
  }
}
