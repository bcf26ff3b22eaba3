// What agents do is recorded, and scored later as if they were run.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, run, turn } from "./command.mjs";
import { AGENT, CLOCK_SET, FILES } from "./running.mjs";

/** What is scored, without times and ids. */
const scores = ({ stdout }) => stdout.split("\n").filter((line) => !line.includes("invocation_duration_v1"));

test("what is recorded scores as what is run", async (t) => {
  const code = `export default (message, { sessionId }) => {
    if (message === "fail") throw new Error("out of order");
    return [
      { author: "clock", content: { parts: [{ functionCall: { name: "now", args: { time_zone: "UTC", deepValue: { camelCase: 1.5 } } } }] } },
      { author: "clock", content: { parts: [{ functionResponse: { name: "now", response: { hour_now: 12 } } }] } },
      { author: "clock", content: { parts: [{ text: "It is noon." }] }, usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 } },
    ];
  };`;
  const calls = [{ name: "now", args: { time_zone: "UTC", deepValue: { camelCase: 1.5 } } }];
  const eval_cases = [
    { eval_id: "noon", conversation: [turn("It is noon.", calls), turn("It is late.", calls)] },
    { eval_id: "fail", conversation: [{ ...turn("x"), user_content: { parts: [{ text: "fail" }] } }] },
  ];
  const cwd = folderOf(t, { "clock.evalset.json": { eval_set_id: "clock", eval_cases }, "agent.mjs": code });
  const agent = ["--agent", "agent.mjs", "clock.evalset.json", "--num-runs", "2"];
  const ran = await run(["run", ...agent, "--format", "csv"], { cwd });
  const recorded = await run(["record", ...agent, "--output", "./"], { cwd });
  assert.equal(recorded.status, 1);
  assert.match(recorded.stderr, /^wrote clock\.inferences\.json: 4 runs of agent\.mjs, 2 failed$/m);
  assert.match(recorded.stderr, /^failed: fail: turn 1: Error: out of order$/m);
  const evaluated = await run(["eval", "clock.evalset.json", "--format", "csv"], { cwd });
  assert.deepEqual(scores(evaluated), scores(ran));
  assert.match(ran.stdout, /noon,1,,tool_trajectory_avg_score,1,1,passed/);
  const [first] = JSON.parse(readFileSync(join(cwd, "clock.inferences.json"), "utf8"));
  assert.deepEqual(first.inferences[0].intermediate_data.invocation_events[0].content.parts[0].function_call, calls[0]);
  assert.deepEqual(
    [first.app_name, first.eval_set_id, first.eval_case_id, first.status],
    ["agent.mjs", "clock", "noon", 1],
  );
});

test("records to stdout, into a folder for several evalsets, and never over another recording unasked", async (t) => {
  const cwd = folderOf(t, {
    ...FILES,
    "other.evalset.json": { ...CLOCK_SET, eval_set_id: "other" },
    "agent.mjs": AGENT,
  });
  const record = (...args) => run(["record", "--agent", "agent.mjs", "--num-runs", "1", ...args], { cwd });
  const printed = await record("clock.evalset.json:late");
  assert.equal(printed.status, 0, printed.stderr);
  assert.deepEqual(
    JSON.parse(printed.stdout).map((one) => one.eval_case_id),
    ["late"],
  );
  const both = ["clock.evalset.json", "other.evalset.json", "--output"];
  assert.match(
    (await record(...both, "runs.json")).stderr,
    /a file of inference results is for one evalset, and there are 2\n {3}help: Choose a folder/,
  );
  assert.equal((await record(...both, "runs/")).status, 0);
  for (const name of ["clock", "other"]) assert.ok(existsSync(join(cwd, "runs", `${name}.inferences.json`)));
  const again = await record(...both, "runs/");
  assert.equal(again.status, 2);
  assert.match(again.stderr, /the output already exists\n[^]*--force/);
  assert.equal((await record(...both, "runs/", "--force")).status, 0);
  const overwriting = await record("clock.evalset.json", "--output", "agent.mjs", "--force");
  assert.match(overwriting.stderr, /the output would overwrite the agent/);
  const useless = await record("clock.evalset.json:late", "--model", "m", "--max-calls", "1", "--price", "m=1,1");
  assert.match(
    useless.stderr,
    /no case has a simulated user, so --model, --max-calls, and --price have no effect/,
    useless.stderr,
  );
  assert.doesNotMatch(printed.stderr, /no effect/);
  const unknown = await record("clock.evalset.json:nobody");
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /nobody/);
});

test("record warns of a model of simulated users that its provider replaces", async (t) => {
  const reply = { candidates: [{ content: { parts: [{ text: "</finished>" }] }, finishReason: "STOP" }] };
  const cwd = folderOf(t, {
    "agent.mjs": "export default () => 'It is noon.';",
    "gemini.mjs": `globalThis.fetch = async () => Response.json(${JSON.stringify(reply)});`,
    "asked.evalset.json": {
      eval_set_id: "asked",
      eval_cases: [
        { eval_id: "one", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Ask when." } },
      ],
    },
  });
  const env = { GOOGLE_API_KEY: "key-4711", NODE_OPTIONS: "--import ./gemini.mjs" };
  const given = ["record", "--agent", "agent.mjs", "asked.evalset.json", "--num-runs", "2", "--output", "runs.json"];
  const { status, stderr } = await run(given, { cwd, env });
  assert.equal(status, 0, stderr);
  const told = stderr.split("\n").filter((line) => /^warning: the Gemini API retire[sd] gemini-2\.5-flash/.test(line));
  assert.equal(told.length, 1, stderr);
  assert.match(told[0], /`user_simulator_config`$/);
});

test("record takes a config for simulated users that has no criteria, and no other", async (t) => {
  const talk = { eval_id: "one", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Ask." } };
  const cwd = folderOf(t, {
    "agent.mjs": "export default () => 'It is noon.';",
    "asked.evalset.json": { eval_set_id: "asked", eval_cases: [talk] },
    "judge.mjs": "export default () => '</finished>';",
    "only.json": { user_simulator_config: { max_allowed_invocations: 2 } },
    "misspelt.json": { criterias: { response_match_score: 1 }, user_simulator_config: { max_allowed_invocations: 2 } },
    "none.json": {},
  });
  const record = (config) =>
    run(["record", "--agent", "agent.mjs", "asked.evalset.json", "--judge", "./judge.mjs", "--config", config], {
      cwd,
    });
  const only = await record("only.json");
  assert.equal(only.status, 0, only.stderr);
  assert.doesNotMatch(only.stderr, /response_match_score/);
  assert.match((await record("misspelt.json")).stderr, /Did you mean `criteria`\?/);
  assert.match((await record("none.json")).stderr, /there is no criterion/);
});

test("record says what came of --record, and of a config that says nothing of simulated users", async (t) => {
  const talk = (eval_id) => ({ eval_id, conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Ask." } });
  const cwd = folderOf(t, {
    "agent.mjs": "export default () => 'It is noon.';",
    "fails.mjs": "export default (message) => { throw new Error('out of order'); };",
    "asked.evalset.json": { eval_set_id: "asked", eval_cases: [talk("one")] },
    "judge.mjs": "export default () => { if (process.env.SILENT) throw new Error('no'); return '</finished>'; };",
    "own.json": { criteria: { response_match_score: 0.5 }, user_simulator_config: {} },
  });
  const record = async (more, env = {}) => {
    const given = ["asked.evalset.json", "--num-runs", "1", "--judge", "./judge.mjs", "--config", "own.json"];
    const { stderr, stdout } = await run(["record", ...given, ...more], { cwd, env });
    return [stderr, stdout];
  };
  const [recorded] = await record(["--agent", "agent.mjs", "--record", "judge.jsonl"]);
  assert.match(recorded, /^recorded judge\.jsonl$/m);
  assert.match(recorded, /^warning: the config has no settings for simulated users, so --config has no effect$/m);
  assert.equal(readFileSync(join(cwd, "judge.jsonl"), "utf8").trim().split("\n").length, 2);
  // A failed call is not recorded, and nobody is asked by an agent that fails.
  for (const [agent, env] of [
    ["agent.mjs", { SILENT: "1" }],
    ["fails.mjs", {}],
  ]) {
    const [stderr] = await record(["--agent", agent, "--record", "none.jsonl"], env);
    assert.match(stderr, /^nothing was recorded$/m);
    assert.doesNotMatch(stderr, /^recorded/m);
    assert.ok(!existsSync(join(cwd, "none.jsonl")));
  }
  const [plain] = await record(["--agent", "agent.mjs"]);
  assert.doesNotMatch(plain, /recorded$/m);
});

test(
  "record writes what finished before it was interrupted, and says so",
  { skip: process.platform === "win32" },
  async (t) => {
    const cwd = folderOf(t, {
      ...FILES,
      "agent.mjs": `const sessions = new Set();
      export default (_, { sessionId }) => {
        if (sessions.add(sessionId).size === 1) return "It is noon.";
        process.kill(process.pid, "SIGINT");
        return new Promise(() => {});
      };`,
    });
    const args = ["record", "--agent", "agent.mjs", "clock.evalset.json", "--num-runs", "1", "--parallelism", "1"];
    const { status, stderr } = await run([...args, "--output", "runs.json"], { cwd });
    assert.equal(status, 130, stderr);
    assert.match(stderr, /^interrupted: only finished runs are written$/m);
    assert.equal(JSON.parse(readFileSync(join(cwd, "runs.json"), "utf8")).length, 1);
  },
);
