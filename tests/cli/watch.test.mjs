// `--watch`: scores again when a file that is read changes.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, ended, evalSet, folderOf, GOOD, run, runProgram, start, text, until, watched } from "./command.mjs";

const posix = { skip: process.platform === "win32" };

/** Starts a command that watches; `seen` waits until its output since the last time matches. */
function watching(t, args, cwd) {
  const child = start([...args, "--watch"], { cwd });
  t.after(() => child.kill("SIGKILL"));
  return { child, ...watched(child) };
}

const DONE = /exit status \d; watching [^\n]*\n/;

test("eval scores again when the evalset, the config or what the agent did changes", posix, async (t) => {
  const cwd = folderOf(t, { ...GOOD, "test_config.json": { criteria: { response_match_score: 0.5 } } });
  const { child, seen } = watching(t, ["eval", "good.evalset.json"], cwd);
  const first = await seen(DONE);
  assert.match(first, /1 case: 1 passed/);
  assert.match(
    first,
    /exit status 0; watching good\.evalset\.json, test_config\.json, good\.actual\.json; press Ctrl-C to stop/,
  );
  writeFileSync(join(cwd, "good.actual.json"), JSON.stringify(evalSet({ noon: "Who knows?" }, "good")));
  assert.match(await seen(DONE), /running again[^]*1 case: 1 failed[^]*exit status 1/);
  writeFileSync(join(cwd, "test_config.json"), JSON.stringify({ criteria: { response_match_score: 0 } }));
  assert.match(await seen(DONE), /exit status 0/);
  writeFileSync(join(cwd, "good.evalset.json"), "{");
  assert.match(await seen(DONE), /error: [^]*exit status 2/);
  child.kill("SIGINT");
  assert.deepEqual(await ended(child), [2, null]);
});

test(
  "what becomes of a file does not end it: gone, a pipe, a folder, links to a device and to itself",
  posix,
  async (t) => {
    const cwd = folderOf(t, GOOD);
    const file = join(cwd, "good.evalset.json");
    const { child, seen } = watching(t, ["eval", "good.evalset.json"], cwd);
    assert.match(await seen(DONE), /exit status 0/);
    for (const become of [
      () => {},
      () => spawnSync("mkfifo", [file]),
      () => mkdirSync(file),
      () => symlinkSync("/dev/zero", file),
      () => symlinkSync(file, file),
    ]) {
      rmSync(file, { recursive: true, force: true });
      become();
      assert.match(await seen(DONE), /running again[^]*error: [^]*exit status 2/);
    }
    child.kill("SIGINT");
    assert.deepEqual(await ended(child), [2, null]);
  },
);

for (const where of [".", "*.evalset.json"]) {
  test(`eval scores again when an evalset or a config is added to what ${where} stands for`, posix, async (t) => {
    const cwd = folderOf(t, GOOD);
    const { child, seen } = watching(t, ["eval", where], cwd);
    assert.match(await seen(DONE), /^good {2}1 case: 1 passed/m);
    writeFileSync(join(cwd, "new.actual.json"), JSON.stringify(evalSet({ noon: "It is noon." }, "new")));
    writeFileSync(join(cwd, "new.evalset.json"), JSON.stringify(evalSet({ noon: "It is noon." }, "new")));
    assert.match(await seen(DONE), /running again[^]*\nnew {2}1 case: 1 passed[^]*watching .*new\.actual\.json/);
    writeFileSync(join(cwd, "test_config.json"), JSON.stringify({ criteria: { response_match_score: 0.5 } }));
    assert.match(await seen(DONE), /running again[^]*criteria: test_config\.json/);
    rmSync(join(cwd, "new.evalset.json"));
    assert.doesNotMatch(await seen(DONE), /\nnew {2}/);
    child.kill("SIGINT");
    assert.deepEqual(await ended(child), [0, null]);
  });
}

test("run loads the modules of the agent and the judge afresh", posix, async (t) => {
  const cwd = folderOf(t, {
    "clock.evalset.json": CLOCK["clock.evalset.json"],
    "test_config.json": {
      criteria: { final_response_match_v2: { threshold: 1, judge_model_options: { num_samples: 1 } } },
    },
    "agent.mjs": "export default (message) => 'It is noon.';",
    "judge.mjs": `export default async () => ({ text: '{"is_the_agent_response_valid": "valid"}' });`,
  });
  const args = ["run", "--agent", "agent.mjs", "clock.evalset.json", "--judge", "./judge.mjs"];
  const { child, seen } = watching(t, args, cwd);
  assert.match(await seen(DONE), /exit status 0; watching .*agent\.mjs, judge\.mjs/);
  writeFileSync(
    join(cwd, "judge.mjs"),
    `export default async () => ({ text: '{"is_the_agent_response_valid": "invalid"}' });`,
  );
  assert.match(await seen(DONE), /exit status 1/);
  writeFileSync(join(cwd, "agent.mjs"), "export default (message) => { console.log('anew'); return ''; };");
  assert.match(await seen(DONE), /anew/);
  child.kill("SIGTERM");
  assert.deepEqual(await ended(child), [1, null]);
});

test("run judges anew when what is judged changes, and when a link leads to another judge", posix, async (t) => {
  const judge = (verdict) => `export default async () => ({ text: '{"is_the_agent_response_valid": "${verdict}"}' });`;
  const criteria = { final_response_match_v2: { threshold: 1, judge_model_options: { num_samples: 1 } } };
  const cwd = folderOf(t, {
    ...GOOD,
    "agent.mjs": "export default () => 'It is noon.';",
    "kind.mjs": judge("valid"),
    "strict.mjs": judge("invalid"),
    "test_config.json": { criteria },
  });
  const link = join(cwd, "judge.mjs");
  const lead = (to) => {
    rmSync(link, { force: true });
    symlinkSync(to, link);
  };
  lead("kind.mjs");
  const args = ["run", "--agent", "agent.mjs", "good.evalset.json", "--judge", "./judge.mjs", "--num-runs", "1"];
  const { child, seen } = watching(t, args, cwd);
  assert.match(await seen(DONE), /1 case: 1 passed[^]*exit status 0/);
  lead("strict.mjs");
  assert.match(await seen(DONE), /running again[^]*1 case: 1 failed[^]*exit status 1/);
  writeFileSync(join(cwd, "strict.mjs"), "export default 5;");
  assert.match(await seen(DONE), /running again[^]*error: [^]*exit status 2/);
  writeFileSync(join(cwd, "strict.mjs"), judge("valid"));
  assert.match(await seen(DONE), /running again[^]*exit status 0/);
  writeFileSync(join(cwd, "good.evalset.json"), JSON.stringify(evalSet({ noon: "Noon.", late: "Midnight." }, "good")));
  assert.match(await seen(DONE), /running again[^]*2 cases: 2 passed[^]*exit status 0/);
  child.kill("SIGINT");
  assert.deepEqual(await ended(child), [0, null]);
});

test("run does not run the agent while no metric can score it, and goes on once one can", posix, async (t) => {
  const talk = { eval_id: "talk", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Talk." } };
  const cwd = folderOf(t, {
    "good.evalset.json": { eval_set_id: "good", eval_cases: [talk] },
    "agent.mjs": "export default () => { console.error('asked'); return 'It is noon.'; };",
    "judge.mjs": "export default async () => ({ text: '</finished>' });",
  });
  const args = ["run", "--agent", "agent.mjs", "good.evalset.json", "--judge", "./judge.mjs", "--num-runs", "1"];
  const { child, seen } = watching(t, args, cwd);
  const first = await seen(DONE);
  assert.match(first, /no metric can score the case "talk", so the agent is not run: [^]*exit status 2/);
  assert.doesNotMatch(first, /asked/);
  writeFileSync(join(cwd, "good.evalset.json"), JSON.stringify(GOOD["good.evalset.json"]));
  assert.match(await seen(DONE), /running again[^]*asked[^]*exit status 0/);
  child.kill("SIGINT");
  assert.deepEqual(await ended(child), [0, null]);
});

test("a recording cannot be made while watching", async (t) => {
  const { status, stderr } = await run(["eval", "good.evalset.json", "--watch", "--record", "r.jsonl"], {
    cwd: folderOf(t, GOOD),
  });
  assert.equal(status, 2);
  assert.match(stderr, /--record and --watch cannot be used together: a recording is never overwritten/);
});

test("what never comes ends the process, and the error says what it had printed", async (t) => {
  const child = spawn(process.execPath, ["-e", "console.log('begun'); setInterval(() => {}, 1000);"]);
  t.after(() => child.kill("SIGKILL"));
  const end = ended(child);
  const { seen } = watched(child);
  await seen(/begun/);
  await assert.rejects(seen(/done/, 1), /waited 0\.001 s for output that matches \/done\/\nstdout: begun/);
  if (process.platform !== "win32") assert.deepEqual(await end, [null, "SIGKILL"]);
  const hang = ["-e", "setInterval(() => {}, 1000);"];
  const silent = spawn(process.execPath, hang);
  const all = text(silent.stdout);
  await assert.rejects(ended(silent, "its end", 1), /waited 0\.001 s for its end/);
  assert.equal(await all, "");
  await assert.rejects(
    until(() => false, "a sign", 1),
    /waited 0\.001 s for a sign/,
  );
  assert.throws(() => runProgram(process.execPath, hang, { limitMs: 1 }), /waited 0\.001 s for the end of/);
});
