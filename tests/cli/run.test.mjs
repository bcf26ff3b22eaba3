// Agents on the command line: how often they are run, when that stops, and what becomes of what they do.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ended, evalSet, folderOf, run, said, start, text, turn, until } from "./command.mjs";
import { AGENT, BOTH, CLOCK_SET, FILES, json, runAgent, statuses } from "./running.mjs";

test("runs an agent, scores what it does, and exits as eval does", async (t) => {
  const table = await runAgent(t, AGENT);
  assert.equal(table.status, 1);
  assert.match(table.stdout, /2 cases: 1 passed, 1 failed/);
  assert.match(table.stderr, /^running agent\.mjs: clock\.evalset\.json, 2 cases, 1 run each$/m);
  const one = await runAgent(t, AGENT, { args: ["--format", "csv"] });
  assert.match(one.stdout, /^clock,noon,1,,response_match_score,1,0\.8,passed,$/m);
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT });
  const passing = await run(["run", "--agent", "agent.mjs", "clock.evalset.json:noon", "--num-runs", "1"], { cwd });
  assert.equal(passing.status, 0);
  assert.match(passing.stdout, /1 case: 1 passed/);
});

test("runs every case as often as AgentEvaluator does, and says how to change it", async (t) => {
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT });
  const agent = ["--agent", "agent.mjs", "clock.evalset.json"];
  const twice = await run(["run", ...agent, ...json], { cwd });
  assert.match(
    twice.stderr,
    /^running agent\.mjs: .*, 2 cases, 2 runs each by default \(for a single run: --num-runs 1\)$/m,
  );
  assert.deepEqual(
    statuses(twice).map(([id]) => id),
    ["noon", "noon", "late", "late"],
  );
  const recorded = await run(["record", ...agent], { cwd });
  assert.equal(JSON.parse(recorded.stdout).length, 4);
  const once = await run(["run", ...agent, ...json, "--num-runs", "1"], { cwd });
  assert.match(once.stderr, /2 cases, 1 run each$/m);
});

test("stops running at the first case that does not pass if asked to", async (t) => {
  const cases = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`case${at}`, "It is noon."]));
  const code = `let runs = 0;
export default async (message) => { console.log("ran", ++runs); return runs === 3 ? "No idea." : "It is noon."; };`;
  const files = { "clock.evalset.json": evalSet(cases) };
  const one = ["--num-runs", "1", "--parallelism", "1"];
  const outcome = await runAgent(t, code, { files, args: ["--bail", ...one, ...json] });
  assert.equal(outcome.status, 1);
  assert.deepEqual(statuses(outcome), [
    ["case0", 1],
    ["case1", 1],
    ["case2", 2],
  ]);
  const [warning] = JSON.parse(outcome.stdout).warnings;
  const ids = '"case3", "case4", "case5", "case6", "case7", and 1 more';
  const bailed = '--bail ended the run at the case "case2", which did not pass';
  assert.equal(warning.message, `${bailed}: 3 of 9 cases are done; results are missing for ${ids}`);
  assert.deepEqual(outcome.stderr.match(/^.*--bail.*$/gm), [`warning: ${warning.message}`]);
  assert.doesNotMatch(outcome.stderr, /ran 4/);
  assert.equal(outcome.stderr.match(/^running agent/gm).length, 1);
});

test("stops at the first run in which the agent throws if asked to", async (t) => {
  const cases = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`case${at}`, "It is noon."]));
  const code = `let runs = 0;
export default async (message) => { if (++runs === 1) throw new Error("oh no"); await new Promise((done) => setTimeout(done, 60_000)); };`;
  const outcome = await runAgent(t, code, {
    files: { "clock.evalset.json": evalSet(cases) },
    args: ["--bail", ...json],
  });
  assert.equal(outcome.status, 1);
  assert.deepEqual(statuses(outcome), [["case0", 2]]);
  assert.match(outcome.stderr, /--bail ended the run at the case "case0"/);
});

test("adds up what judges took in the parts of a run that may stop early", async (t) => {
  const files = {
    "clock.evalset.json": evalSet({ one: "Noon.", two: "Noon.", three: "Noon." }),
    "test_config.json": {
      criteria: { final_response_match_v2: { threshold: 1, judge_model_options: { num_samples: 1 } } },
    },
    "judge.mjs": `export default async () => ({ text: JSON.stringify({ is_the_agent_response_valid: "valid" }) });`,
  };
  const often = ["--num-runs", "1", "--parallelism", "1", "--judge", "./judge.mjs"];
  const outcome = await runAgent(t, `let n = 0; export default async (message) => "Noon, " + ++n;`, {
    files,
    args: ["--bail", ...often, ...json],
  });
  assert.equal(outcome.status, 0, outcome.stderr);
  assert.deepEqual(statuses(outcome), [
    ["one", 1],
    ["two", 1],
    ["three", 1],
  ]);
  assert.match(outcome.stderr, /^judged by .*judge\.mjs: 3 calls/m);
  assert.doesNotMatch(outcome.stderr, /--bail/);
});

test("writes every format where eval does", async (t) => {
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT });
  const formats = ["table", "json", "junit", "md", "csv", "html"].flatMap((format) => ["--format", format]);
  const { status } = await run(["run", "--agent", "agent.mjs", "clock.evalset.json", ...formats, "--output", "out/"], {
    cwd,
  });
  assert.equal(status, 1);
  for (const file of [
    "report.txt",
    "clock.evalset_result.json",
    "report.xml",
    "report.md",
    "report.csv",
    "report.html",
  ])
    assert.ok(existsSync(join(cwd, "out", file)), file);
});

test("keeps stdout for results, whatever the agent prints", async (t) => {
  const code = `
    console.log("loaded");
    export default () => { process.stdout.write("asked\\n"); return "It is noon."; };`;
  const outcome = await runAgent(t, code, { args: json });
  assert.deepEqual(statuses(outcome), BOTH);
  assert.match(outcome.stderr, /^loaded$/m);
  assert.match(outcome.stderr, /^asked$/m);
});

test("runs each case as often as it is told, each run in a session of its own", async (t) => {
  const code = `
    const seen = new Map();
    export default (message, { sessionId }) => {
      seen.set(sessionId, (seen.get(sessionId) ?? 0) + 1);
      return seen.get(sessionId) === 1 ? "It is noon." : "again";
    };`;
  const outcome = await runAgent(t, code, { args: [...json, "--num-runs", "3"] });
  assert.deepEqual(
    statuses(outcome).filter(([id]) => id === "noon"),
    Array(3).fill(["noon", 1]),
  );
  assert.match(outcome.stderr, /2 cases, 3 runs each/);
});

test("begins evalsets in the old form with a session", async (t) => {
  const cwd = folderOf(t, {
    "old.test.json": [{ query: "Who am I?", reference: "Ada" }],
    "new.evalset.json": CLOCK_SET,
    "session.json": { state: { name: "Ada" } },
    "agent.mjs": "export default (message, { state }) => state.name;",
    "test_config.json": { criteria: { response_match_score: 1 } },
  });
  const args = ["run", "--agent", "agent.mjs", "--session", "session.json"];
  const { status, stdout, stderr } = await run([...args, "old.test.json"], { cwd });
  assert.equal(status, 0, stdout + stderr);
  const refused = await run([...args, "new.evalset.json"], { cwd });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /a session file is only for the old format, and this evalset is in the current format/);
});

const REPORTS = ["txt", "xml", "md", "csv", "html", "jsonl"];
const reportsIn = (cwd) => REPORTS.flatMap((ending) => ["--output", join(cwd, `out.${ending}`)]);

/** Asserts that every report says which cases are missing. */
function assertMissing(cwd, results, message) {
  assert.equal(results.cancelled, true);
  assert.deepEqual(
    results.warnings.map((warning) => [warning.code, warning.message]),
    [["cancelled", message]],
  );
  const words = /\d of \d cases is done/.exec(message)[0];
  for (const ending of REPORTS) {
    const report = readFileSync(join(cwd, `out.${ending}`), "utf8").replaceAll(/\s+/g, " ");
    assert.ok(report.includes(words), `${ending}: ${report}`);
  }
}

for (const [signal, exit] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
]) {
  const posix = { skip: process.platform === "win32" };
  test(`takes what is done when ${signal} interrupts it, and leaves out the rest`, posix, async (t) => {
    const code = `export default (message, { signal }) => message === "fast" ? "It is noon." : new Promise(() => {
    console.error("WAITING");
    setInterval(() => {}, 1000);
  });`;
    const slow = { ...turn("It is late."), user_content: { parts: [{ text: "slow" }] } };
    const fast = { ...turn("It is noon."), user_content: { parts: [{ text: "fast" }] } };
    const eval_cases = [
      { eval_id: "noon", conversation: [fast] },
      { eval_id: "late", conversation: [slow] },
    ];
    for (const command of ["run", "record"]) {
      const cwd = folderOf(t, { "c.evalset.json": { eval_set_id: "c", eval_cases }, "agent.mjs": code });
      const output = join(cwd, "out.json");
      const child = start(
        [
          command,
          "--agent",
          "agent.mjs",
          "c.evalset.json",
          "--num-runs",
          "1",
          "--output",
          output,
          ...(command === "run" ? reportsIn(cwd) : []),
        ],
        { cwd },
      );
      const [end, all] = [ended(child), text(child.stderr)];
      await until(() => said(child.stderr).includes("WAITING"), "the agent to wait");
      child.kill(signal);
      assert.deepEqual(await end, [exit, null], said(child.stderr));
      const stderr = await all;
      const written = JSON.parse(readFileSync(output, "utf8"));
      const ids =
        command === "run"
          ? written.eval_case_results.map((one) => one.eval_id)
          : written.map((one) => one.eval_case_id);
      assert.deepEqual(ids, ["noon"], command);
      if (command === "run")
        assertMissing(cwd, written, 'The run was cancelled: 1 of 2 cases is done; results are missing for "late"');
      assert.match(stderr, /^interrupted: /m);
    }
  });
}

/** What each format says of two evalsets of which the second was not begun. */
const UNBEGUN = {
  json: ["other", '"notRun"', '"morning"', '"evening"'],
  csv: ["other,morning,1,,,,,not evaluated,not scored", "other,evening,1,,,,,not evaluated,not scored"],
  junit: ['<testcase classname="other" name="morning">', '<testcase classname="other" name="evening">', 'skipped="2"'],
  html: ["other", "0 of 2 cases are done; results are missing for", "morning", "evening"],
  md: ["other", "0 of 2 cases are done; results are missing for", "morning", "evening"],
  table: ["other", "0 of 2 cases are done", "morning", "evening"],
};

/** Runs an agent in two evalsets, of which the first does not come to its end. */
async function runUnbegun(t, code, args) {
  const cwd = folderOf(t, {
    "first.evalset.json": evalSet({ noon: "It is noon.", late: "It is late." }, "first"),
    "other.evalset.json": evalSet({ morning: "It is eight.", evening: "It is six." }, "other"),
    "agent.mjs": code,
  });
  const formats = Object.keys(UNBEGUN).flatMap((format) => ["--format", format]);
  const often = ["--num-runs", "1", "--parallelism", "1", "--output", "out/", ...formats, ...args];
  const evalSets = ["first.evalset.json", "other.evalset.json"];
  const { status } = await run(["run", "--agent", "agent.mjs", ...evalSets, ...often], { cwd });
  const read = (file) => readFileSync(join(cwd, "out", file), "utf8");
  const written = readdirSync(join(cwd, "out")).map(read).join("\n");
  return { status, written };
}

test("says in every format which cases of evalsets were not run that --bail left out", async (t) => {
  const { status, written } = await runUnbegun(t, 'export default () => "No idea.";', ["--bail"]);
  assert.equal(status, 1);
  for (const [format, said] of Object.entries(UNBEGUN)) {
    for (const text of said) assert.ok(written.includes(text), `${format}: ${text}`);
  }
  assert.match(
    written,
    /--bail ended the run at the case .{1,7}noon.{1,7} of .{1,7}first.{1,7}, which did not pass: 0 of 2/,
  );
});

test("says so of a run that a signal ended", { skip: process.platform === "win32" }, async (t) => {
  // The signal comes in the second case of the first evalset.
  const code = `let runs = 0;
export default (message) => {
  if (++runs === 1) return "It is noon.";
  process.kill(process.pid, "SIGINT");
  return new Promise(() => setTimeout(() => {}, 60_000));
};`;
  const { status, written } = await runUnbegun(t, code, []);
  assert.equal(status, 130);
  for (const [format, said] of Object.entries(UNBEGUN)) {
    for (const text of said) assert.ok(written.includes(text), `${format}: ${text}`);
  }
});

test("several evalsets, each with the config beside it", async (t) => {
  const cwd = folderOf(t, {
    ...FILES,
    "other.evalset.json": evalSet({ noon: "It is noon." }, "other"),
    "agent.mjs": AGENT,
  });
  const { status, stderr } = await run(
    ["run", "--agent", "agent.mjs", "clock.evalset.json", "other.evalset.json", ...json, "--output", "out/"],
    { cwd },
  );
  assert.equal(status, 1);
  assert.match(stderr, /^running agent\.mjs: other\.evalset\.json, 1 case, 2 runs each/m);
  assert.equal(JSON.parse(readFileSync(join(cwd, "out/other.evalset_result.json"), "utf8")).eval_set_id, "other");
});
