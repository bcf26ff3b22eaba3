import assert from "node:assert/strict";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, folderOf, run } from "./command.mjs";

const clock = ["eval", "clock.evalset.json", "--actual", "clock.actual.json"];

/** Arguments, files beside those of CLOCK, and the words on stderr. */
const MISTAKES = {
  "unknown command `batch": [[], {}, /^adk-metrics scores AI agents[^]*Usage\n/],
  "an unknown command": [["evl"], {}, /error: unknown command `evl`\n {3}help: Did you mean `eval`\?/],
  "a command that resembles none": [
    ["score"],
    {},
    /help: The commands are eval, run, record, batch, merge, queue, compare, calibrate, labels, migrate/,
  ],
  "a misspelt option in place of a command": [
    ["--versoin"],
    {},
    /--versoin is not a command\n {3}help: Did you mean --version\?/,
  ],
  "an option in place of a command": [["--actual", "x", "eval"], {}, /help: Options come after the command/],
  "an unknown option": [
    [...clock, "--fromat", "json"],
    {},
    /unknown option --fromat\n {3}help: Did you mean --format\?/,
  ],
  "an option with two letters swapped": [
    ["run", "x", "--bial"],
    {},
    /unknown option --bial\n {3}help: Did you mean --bail\?/,
  ],
  "an option that resembles none": [
    [...clock, "--colour"],
    {},
    /help: The options are --actual, .*--concurrency, --config,/,
  ],
  "an option of other commands": [
    [...clock, "--num-runs", "3"],
    {},
    /this command has no option --num-runs\n {3}help: These have it: run, record, queue\n/,
  ],
  "an evalset in the place of a config": [
    [...clock, "--config", "clock.evalset.json"],
    {},
    /^criteria: clock\.evalset\.json\nerror: there is no criterion, [^]*help: This looks like an evalset: /,
  ],
  "results in the place of a config": [
    [...clock, "--config", "r.json"],
    { "r.json": { eval_set_result_id: "r", creation_timestamp: 1, eval_case_results: [] } },
    /^criteria: r\.json\nerror: there is no criterion, [^]*help: This looks like what an agent did: /,
  ],
  "an evalset in the place of an agent": [
    ["run", "--agent", "clock.evalset.json", "clock.evalset.json"],
    {},
    /the module of the agent cannot be loaded: [^]*help: A module is a JavaScript or TypeScript file \(\.js \.mjs \.cjs \.ts\)/,
  ],
  "an evalset that is compared with itself, if warnings are": [
    ["eval", "clock.evalset.json", "--actual", "./clock.evalset.json", "--strict"],
    {},
    /error: the evalset is compared with itself, [^]*at \.\/clock\.evalset\.json\n {3}help: Pass what the agent did as --actual/,
  ],
  "criteria as an option": [
    [...clock, "--criteria", '{"response_match_score": 1}'],
    {},
    /unknown option --criteria\n {3}help: Put criteria and thresholds into a file, --config test_config\.json:/,
  ],
  "a short option": [[...clock, "-f"], {}, /unknown option -f/],
  "an option without its value": [["eval", "clock.evalset.json", "--actual"], {}, /--actual needs a value/],
  "an option in place of a value": [
    ["eval", "x", "--actual", "--config"],
    {},
    /--actual needs a value\n {3}help: .*--actual=--config/,
  ],
  "a switch with a value": [[...clock, "--print-detailed-results=yes"], {}, /--print-detailed-results is a switch/],
  "an option given twice": [[...clock, "--config", "a", "--config", "b"], {}, /--config may be used only once/],
  "an unknown dialect": [
    [...clock, "--dialect", "adk-tz"],
    {},
    /--dialect cannot be `adk-tz`\n {3}help: Did you mean `adk-ts`\?/,
  ],
  "an unknown explanation": [
    [...clock, "--explain", "some"],
    {},
    /--explain cannot be `some`\n {3}help: Expected one of none, failures, all/,
  ],
  "no evalset": [["eval"], {}, /error: no evalset specified/],
  "an evalset that does not exist": [
    ["eval", "no.json", "--actual", "clock.actual.json"],
    {},
    /the evalset does not exist\n {3}at no\.json\n/,
  ],
  "an evalset that does not exist, with cases": [
    ["eval", "no.json:a", "--actual", "clock.actual.json"],
    {},
    /at no\.json\n/,
  ],
  "a folder without evalsets": [
    ["eval", "folder", "--actual", "clock.actual.json"],
    {},
    /there is no evalset in the folder\n {3}at folder\n {3}help: .*\*\.evalset\.json/,
  ],
  "a pattern that no file fits": [
    ["eval", "folder/*.json"],
    {},
    /no file matches the pattern\n {3}at folder\/\*\.json/,
  ],
  "a pattern below a folder that does not exist": [
    ["eval", "nowhere/**/*.json"],
    {},
    /no file matches the pattern\n {3}at nowhere\/\*\*\/\*\.json\n {3}help: There is no folder .*nowhere\n/,
  ],
  "a pattern below a file": [
    ["eval", "clock.actual.json/*.json"],
    {},
    /no file matches the pattern\n {3}at clock\.actual\.json\/\*\.json\n {3}help: There is no folder .*clock\.actual\.json\n/,
  ],
  "a pattern whose range is backwards": [
    ["eval", "folder/[z-a].json"],
    {},
    /the pattern is invalid\n {3}at folder\/\[z-a\]\.json\n {3}help: A range in \[ \] goes from the lower character to the higher one, as in \[a-z\]/,
  ],
  "no runs beside the evalset": [
    ["eval", "other.evalset.json"],
    { "other.evalset.json": { eval_set_id: "o", eval_cases: [] } },
    /help: To run the agent and score what it does: adk-metrics run --agent <module> other\.evalset\.json\. Or/,
  ],
  "an unknown level of the log": [
    [...clock, "--log_level", "loud"],
    {},
    /--log-level cannot be `loud`\n {3}help: Expected one of debug, info/,
  ],
  "no cases after the colon": [["eval", "clock.evalset.json:,", "--actual", "x"], {}, /no case follows the colon in/],
  "an unknown case": [
    ["eval", "clock.evalset.json:dusk"],
    {},
    /the evalset has no case "dusk"\n {3}at clock\.evalset\.json\n {3}help: It has "noon", "late"/,
  ],
  "a misspelt case": [["eval", "clock.evalset.json:nonn"], {}, /help: Did you mean "noon"\? It has "noon", "late"/],
  "runs that do not exist": [
    ["eval", "clock.evalset.json", "--actual", "no.json"],
    {},
    /the file of what the agent did does not exist\n {3}at no\.json/,
  ],
  "a folder without the runs": [
    ["eval", "clock.evalset.json", "--actual", "folder"],
    {},
    /no file of what the agent did for the evalset clock\n {3}at folder\n {3}help: .*clock\.actual\.json/,
  ],
  "two files of runs": [
    ["eval", "clock.evalset.json"],
    { "clock.session.json": "{}" },
    /several files[^]*clock\.actual\.json, clock\.session\.json/,
  ],
  "runs that are none": [
    clock,
    { "clock.actual.json": "{}" },
    /expected what the agent did[^]* at clock\.actual\.json:1/,
  ],
  "a config that does not exist": [[...clock, "--config", "no.json"], {}, /the config does not exist\n {3}at no\.json/],
  "broken JSON, with its line": [
    clock,
    { "clock.evalset.json": '{\n  "eval_set_id": "x",\n  "eval_cases": [}\n}' },
    /error: .*\n {3}at clock\.evalset\.json:3/,
  ],
  "an empty file": [clock, { "clock.actual.json": "" }, /error: .*\n {3}at clock\.actual\.json/],
  "a wrong type, with its path": [
    clock,
    { "clock.evalset.json": '{"eval_set_id": "x",\n"eval_cases": [{"eval_id": 7, "conversation": []}]}' },
    /at clock\.evalset\.json:2, eval_cases\[0\]\.eval_id/,
  ],
  "an unknown metric": [
    [...clock, "--config", "c.json"],
    { "c.json": '{"criteria": {\n"response_match_scor": 0.8}}' },
    /there is no metric `response_match_scor`\n {3}at c\.json:2, criteria\.response_match_scor\n {3}help: Did you mean `response_match_score`\?/,
  ],
  "an unusable threshold": [
    [...clock, "--config", "c.json"],
    { "c.json": '{"criteria": {"response_match_score": "high"}}' },
    /at c\.json:1, criteria\.response_match_score/,
  ],
};

test("JSON lines are known by the name of their file", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const first = await run([...clock, "--format", "jsonl", "--output", "results.jsonl"], { cwd });
  const again = await run(["eval", "clock.evalset.json", "--actual", "results.jsonl"], { cwd });
  assert.equal(again.status, first.status, again.stderr);
  renameSync(join(cwd, "results.jsonl"), join(cwd, "results.json"));
  const { status, stderr } = await run(["eval", "clock.evalset.json", "--actual", "results.json"], { cwd });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /this file contains JSON lines, but its extension is not \.jsonl[^]*at results\.json\n[^]*\.jsonl/,
  );
});

test("batch status needs the folder of a batch, and makes none", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const { status, stderr } = await run(["batch", "status", "--judge", "openai", "--cache", "nope"], { cwd });
  assert.equal(status, 2);
  assert.match(stderr, /^error: the folder of replies does not exist, so no batch was sent from it[^]*at nope\n/m);
  assert.equal(existsSync(join(cwd, "nope")), false);
});

test("a misspelt command of batch is called by its name", async () => {
  const { status, stderr } = await run(["batch", "sumbit", "x"]);
  assert.equal(status, 2);
  assert.match(stderr, /^error: unknown command `batch sumbit`\n +help: Did you mean `batch submit`\?$/m);
});

for (const [what, [args, files, words]] of Object.entries(MISTAKES)) {
  test(`says what is wrong with ${what}`, async (t) => {
    const cwd = folderOf(t, { ...CLOCK, ...files });
    mkdirSync(join(cwd, "folder"));
    const { status, stdout, stderr } = await run(args, { cwd });
    assert.match(stderr, words);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.doesNotMatch(stderr, /^\s+at .*\.js:\d+/m, "no stack");
  });
}

test("lets no name control the terminal or forge a line", async (t) => {
  const evil = "\u001b[31mevil\nerror: forged\u009b2J\u202e";
  const shown = "␛[31mevil↵error: forged⟨U+009B⟩2J⟨U+202E⟩";
  const cwd = folderOf(t, { ...CLOCK, "c.json": { criteria: { [evil]: 1 } } });
  for (const args of [
    [...clock, "--config", "c.json"],
    ["eval", evil, "--actual", "x"],
    [...clock, "--config", evil],
    [...clock, "--format", evil],
    [...clock, "--format", "csv", "--output", `c.json/${evil}`],
    [evil],
    ["migrate", "clock.evalset.json", evil],
    clock.with(1, `clock.evalset.json:${evil}`),
    [...clock, `--${evil}`],
  ]) {
    for (const env of [{}, { ADK_METRICS_DEBUG: "1" }]) {
      const { stderr, status } = await run(args, { cwd, env });
      assert.equal(status, 2);
      assert.doesNotMatch(stderr, /[^\P{Cc}\n]|\u202e/u);
      if (env.ADK_METRICS_DEBUG === undefined) assert.doesNotMatch(stderr, /^error: forged/m);
    }
  }
  const { stderr } = await run([...clock, "--config", "c.json"], { cwd });
  assert.ok(stderr.includes(`there is no metric \`${shown}\``), stderr);
});

test("lets no name control the terminal in notes and warnings", { skip: process.platform === "win32" }, async (t) => {
  const name = "\u001b[31mevil\r.evalset.json";
  const cwd = folderOf(t, { [name]: { eval_set_id: "clock", eval_cases: [] }, "clock.actual.json": [] });
  const args = ["eval", name, "--actual", "clock.actual.json", "--format", "csv", "--output", "\u001b[2Jout.csv"];
  const { stderr } = await run(args, { cwd });
  assert.doesNotMatch(stderr, /[^\P{Cc}\n]/u);
  assert.match(stderr, /^criteria: .*for ␛\[31mevil␍\.evalset\.json$/m);
  assert.match(stderr, /^wrote ␛\[2Jout\.csv$/m);
});

test("names all files that are missing, at once", async () => {
  const { stderr } = await run(["eval", "a.json", "--actual", "b.json", "--config", "c.json"]);
  for (const name of ["a", "b", "c"]) assert.match(stderr, new RegExp(`does not exist\n {3}at ${name}\\.json`));
});

test("names what is wrong with each evalset, and writes the results of the others", async (t) => {
  const cwd = folderOf(t, {
    ...CLOCK,
    "a.evalset.json": "[",
    "a.actual.json": "[]",
    "b.evalset.json": "7",
    "b.actual.json": "[]",
  });
  const { stdout, stderr, status } = await run(["eval", "a.evalset.json", "clock.evalset.json", "b.evalset.json"], {
    cwd,
  });
  assert.match(stderr, /the results contain 1 of 3 evalsets[^]*at a\.evalset\.json[^]*at b\.evalset\.json/);
  assert.match(stdout, /^clock {2}2 cases: 1 passed, 1 failed\n/);
  assert.equal(status, 2);
});

test("shows the stack to those who debug", async () => {
  const { stderr } = await run(["eval", "no.json", "--actual", "no.json"], { env: { ADK_METRICS_DEBUG: "1" } });
  assert.match(stderr, /^\s+at .*\.js:\d+/m);
});
