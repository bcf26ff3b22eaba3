// What is wrong with options, evalsets, metrics and judges is said before an agent is run.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, run, turn } from "./command.mjs";
import { AGENT, BOTH, CLOCK_SET, FILES, json, runAgent, statuses } from "./running.mjs";

test("looks at the simulated users of all evalsets before the agent is run for any", async (t) => {
  const scenario = (user_persona) => ({ starting_prompt: "Hi", conversation_plan: "Talk.", user_persona });
  const cases = { eval_cases: [{ eval_id: "chat", conversation_scenario: scenario("CLOWN") }] };
  const cwd = folderOf(t, {
    ...FILES,
    "talk.evalset.json": { eval_set_id: "talk", ...cases },
    "walk.evalset.json": { eval_set_id: "walk", ...cases },
    "judge.mjs": "export default async () => ({ text: 'Hi' });",
    "agent.mjs": `import { writeFileSync } from "node:fs"; export default () => { writeFileSync("called", ""); return ""; };`,
  });
  const evalSets = ["clock.evalset.json", "talk.evalset.json", "walk.evalset.json"];
  for (const args of [["run"], ["run", "--bail"], ["record", "--output", "runs/"]]) {
    const { status, stdout, stderr } = await run(
      [...args, "--agent", "agent.mjs", "--judge", "./judge.mjs", ...evalSets],
      { cwd },
    );
    assert.deepEqual([status, stdout], [2, ""], stderr);
    for (const name of ["talk", "walk"]) {
      assert.match(
        stderr,
        new RegExp(`error: there is no persona \`CLOWN\`\n {3}at ${name}\\.evalset\\.json, .*userPersona\n`),
      );
    }
    assert.equal(existsSync(join(cwd, "called")), false, args.join(" "));
  }
});

test("runs no agent where no metric can score what it does", async (t) => {
  const talk = { eval_id: "talk", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Talk." } };
  const { eval_cases: cases } = CLOCK_SET;
  const cwd = folderOf(t, {
    "talk.evalset.json": { eval_set_id: "talk", eval_cases: [talk] },
    "mixed.evalset.json": { eval_set_id: "mixed", eval_cases: [talk, ...cases] },
    "judge.mjs": "export default async () => ({ text: '</finished>' });",
    "agent.mjs": `export default (message) => { console.error("asked"); return "It is noon."; };`,
  });
  const agent = ["run", "--agent", "agent.mjs", "--judge", "./judge.mjs", "--num-runs", "1"];
  const why = /no metric can score the case "talk", so the agent is not run(?: there)?: `tool_trajectory_avg_score`/;
  for (const args of [
    ["talk.evalset.json"],
    ["mixed.evalset.json:talk"],
    ["talk.evalset.json", "--bail"],
    ["mixed.evalset.json", "--strict"],
  ]) {
    const { status, stdout, stderr } = await run([...agent, ...args], { cwd });
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, why);
    assert.doesNotMatch(stderr, /^asked$/m);
  }
  const mixed = await run([...agent, "mixed.evalset.json", ...json], { cwd });
  assert.ok(mixed.stderr.indexOf("no metric can") < mixed.stderr.indexOf("asked\n"), "warned of before");
  assert.deepEqual([mixed.status, statuses(mixed)], [1, [["talk", 3], ...BOTH]], mixed.stderr);
  assert.match(mixed.stderr, why);
  assert.match(mixed.stderr, /^running agent\.mjs: mixed\.evalset\.json, 2 cases, 1 run each$/m);
  assert.equal(mixed.stderr.match(/^asked$/gm)?.length, 2);
});

test("needs no judge for cases that are left out, and asks none without a budget", async (t) => {
  const talk = { eval_id: "talk", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Talk." } };
  const cwd = folderOf(t, {
    "mixed.evalset.json": { eval_set_id: "mixed", eval_cases: [talk, ...CLOCK_SET.eval_cases] },
    "clock.evalset.json": CLOCK_SET,
    "safe.json": { criteria: { safety_v1: 1 } },
    "agent.mjs": `export default (message) => { console.error("asked"); return "It is noon."; };`,
  });
  const agent = ["run", "--agent", "agent.mjs", "--num-runs", "1"];
  const mixed = await run([...agent, "mixed.evalset.json", ...json], { cwd });
  assert.deepEqual([mixed.status, statuses(mixed)], [1, [["talk", 3], ...BOTH]], mixed.stderr);
  const free = ["--max-cost", "0", "--price", "gemini-2.5-flash=1,1"];
  const args = [...agent, "clock.evalset.json", "--config", "safe.json", ...free];
  const { status, stdout, stderr } = await run(args, { cwd });
  assert.deepEqual([status, stdout], [2, ""], stderr);
  assert.match(stderr, /any of the 2 cases, so the agent is not run: .*the budget of money is 0, so no judge can be/);
  assert.doesNotMatch(stderr, /^asked$/m);
});

test("says what is wrong with the command line", async (t) => {
  const judged = { criteria: { final_response_match_v2: 0.5 } };
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT, "judged.json": judged });
  const agent = ["--agent", "agent.mjs"];
  for (const [args, words] of [
    [["clock.evalset.json"], /no agent specified\n {3}help: adk-metrics run --agent/],
    [agent, /no evalset specified\n {3}help: adk-metrics run --agent/],
    [[...agent, "no.evalset.json"], /the evalset does not exist/],
    [["--agent", "agent.mjs#mine", "clock.evalset.json"], /does not export `mine`\n[^]*It has no named exports/],
    [["--agnt", "agent.mjs", "clock.evalset.json"], /unknown option --agnt\n {3}help: Did you mean --agent\?/],
    [[...agent, "clock.evalset.json", "--num-runs", "0"], /--num-runs cannot be `0`/],
    [[...agent, "clock.evalset.json", "--turn-timeout", "x"], /--turn-timeout cannot be `x`/],
    [[...agent, "clock.evalset.json", "--parallelism", "-1"], /--parallelism needs a value/],
    [[...agent, "clock.evalset.json:nono"], /there is no case `nono`|nono/],
    [[...agent, "clock.evalset.json", "--output", "agent.mjs"], /the output would overwrite the agent/],
    [[...agent, "clock.evalset.json", "--price", "m"], /--price cannot be `m`/],
    [[...agent, "clock.evalset.json", "--config", "judged.json", "--max-cost", "1"], /--max-cost needs the price/],
    [["--agent", "empty/", "clock.evalset.json"], /does not exist|the folder contains no agent/],
  ]) {
    const { status, stdout, stderr } = await run(["run", ...args], { cwd });
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /^running/m);
  }
  assert.equal(readFileSync(join(cwd, "agent.mjs"), "utf8"), AGENT);
});

const tattling = "export default (message) => { console.error('ASKED'); return 'It is noon.'; };";

test("finds what is wrong with metrics and judges before the agent is asked anything", async (t) => {
  const keys = Object.fromEntries(["GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"].map((key) => [key, ""]));
  for (const [criteria, words] of [
    [{ response_match_scor: 0.5 }, /there is no metric `response_match_scor`[^]*Did you mean `response_match_score`\?/],
    [{ final_response_match_v2: 0.5 }, /there is no judge to ask gemini-2\.5-flash/],
    [{ response_match_score: "high" }, /expected a threshold/],
  ]) {
    const { status, stderr } = await runAgent(t, tattling, { files: { "test_config.json": { criteria } }, env: keys });
    assert.equal(status, 2);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /ASKED/);
  }
});

test("run takes no --actual, as it runs the agent", async (t) => {
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT });
  const { stderr, status } = await run(
    ["run", "--agent", "agent.mjs", "clock.evalset.json", "--actual", "nowhere.json"],
    { cwd },
  );
  assert.equal(status, 2, stderr);
  assert.match(stderr, /error: this command has no option --actual\n {3}help: These have it: eval, batch, queue\n/);
  assert.doesNotMatch((await run(["run", "--help"])).stdout, /--actual/);
});

test("custom instructions are called in messages what the config calls them", async (t) => {
  const cases = [{ eval_id: "talk", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Talk." } }];
  const criteria = { hallucinations_v1: 0.5 };
  const cwd = folderOf(t, {
    ...FILES,
    "agent.mjs": AGENT,
    "talk.evalset.json": { eval_set_id: "talk", eval_cases: cases },
    "own.json": { criteria, user_simulator_config: { custom_instructions: "Be brief." } },
    "judge.mjs": "export default async () => ({ text: 'Hi' });",
  });
  const args = ["--agent", "agent.mjs", "talk.evalset.json", "--config", "own.json", "--judge", "./judge.mjs"];
  const { stderr, status } = await run(["run", ...args], { cwd });
  assert.equal(status, 2, stderr);
  assert.match(
    stderr,
    /instructions do not contain \{\{ stop_signal \}\}\n {3}at own\.json, user_simulator_config\.custom_instructions\n/,
  );
});

test("in the dialect adk-ts, runs have the tool calls that it reads, and it ignores settings with a warning", async (t) => {
  const call = { name: "now", args: {} };
  const eval_cases = [
    { eval_id: "none", conversation: [turn("It is noon.", [])] },
    { eval_id: "one", conversation: [{ ...turn("It is noon.", [call]), user_content: { parts: [{ text: "call" }] } }] },
  ];
  const cwd = folderOf(t, {
    "clock.evalset.json": { eval_set_id: "clock", eval_cases },
    "agent.mjs": `export default (message) => message === "call" ? [
      { author: "a", content: { parts: [{ functionCall: ${JSON.stringify(call)} }] } },
      { author: "a", content: { parts: [{ functionResponse: { name: "now", response: {} } }] } },
      { author: "a", content: { parts: [{ text: "It is noon." }] } } ] : "It is noon.";`,
    "own.json": {
      criteria: { tool_trajectory_avg_score: { threshold: 1, match_type: "IN_ORDER", ignore_args: true } },
    },
  });
  const args = ["run", "--agent", "agent.mjs", "clock.evalset.json", "--dialect", "adk-ts", "--config", "own.json"];
  const { stderr, status, stdout } = await run([...args, "--format", "csv"], { cwd });
  assert.match(stdout, /none,1,,tool_trajectory_avg_score,1,1,passed/);
  assert.match(stdout, /one,2,,tool_trajectory_avg_score,1,1,passed/);
  assert.match(stderr, /warning: the dialect adk-ts ignores `match_type` and `ignore_args`: .*\n {3}at own\.json/);
  assert.equal(status, 0, stderr);
  assert.equal((await run([...args, "--strict"], { cwd })).status, 2);
});

test("a type and a model of the simulated user that are none are called what the config calls them", async (t) => {
  const cases = [{ eval_id: "talk", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Talk." } }];
  const criteria = { multi_turn_task_success_v1: 0.5 };
  for (const [user_simulator_config, words, help = ""] of [
    [{ type: "llm_bakced" }, "there is no user simulator `llm_bakced`", "google-adk has `llm_backed` and `llm_audio`"],
    [{ model: "" }, 'expected the name of a model, found ""'],
    [{ model: "openai/" }, 'expected the name of a model, found "openai/"'],
  ]) {
    const cwd = folderOf(t, {
      "agent.mjs": AGENT,
      "talk.evalset.json": { eval_set_id: "talk", eval_cases: cases },
      "own.json": { criteria, user_simulator_config },
    });
    const args = ["run", "--agent", "agent.mjs", "talk.evalset.json", "--config", "own.json"];
    const { stderr, status } = await run(args, { cwd, env: { GOOGLE_API_KEY: "key", OPENAI_API_KEY: "key" } });
    assert.equal(status, 2, stderr);
    const [key] = Object.keys(user_simulator_config);
    assert.ok(stderr.includes(`error: ${words}\n   at own.json, user_simulator_config.${key}\n`), stderr);
    assert.ok(stderr.includes(help), stderr);
  }
});

test("a model of the criteria that names a provider alone is no mistake in --model", async (t) => {
  const criterion = { threshold: 1, judge_model_options: { judge_model: "openai/" } };
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT, "own.json": { criteria: { safety_v1: criterion } } });
  const args = ["run", "--agent", "agent.mjs", "clock.evalset.json", "--config", "own.json"];
  const { stderr, status } = await run(args, { cwd, env: { OPENAI_API_KEY: "key" } });
  assert.equal(status, 2, stderr);
  assert.match(
    stderr,
    /error: expected the name of a model, found the string "openai\/"\n {3}at own\.json:\d+, criteria\./,
  );
  assert.doesNotMatch(stderr, /--model/);
});

test("settings that the model of simulated users is not sent are told, also by a dry run", async (t) => {
  const cases = [{ eval_id: "talk", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Talk." } }];
  const model_configuration = { top_k: 5, temperature: 0 };
  const cwd = folderOf(t, {
    "agent.mjs": AGENT,
    "talk.evalset.json": { eval_set_id: "talk", eval_cases: cases },
    "own.json": {
      criteria: {
        multi_turn_task_success_v1: { threshold: 0.5, judge_model_options: { judge_model: "openai/gpt-6-luna" } },
      },
      user_simulator_config: { type: "llm_audio", model: "openai/gpt-6-luna", model_configuration },
    },
    "fetch.mjs":
      "globalThis.fetch = async () => Response.json({ choices: [{ message: { content: '</finished>' }, finish_reason: 'stop' }] });",
  });
  const env = { GOOGLE_API_KEY: "key", OPENAI_API_KEY: "key", NODE_OPTIONS: "--import ./fetch.mjs" };
  const agent = ["--agent", "agent.mjs", "--num-runs", "1", "talk.evalset.json", "--config", "own.json"];
  for (const args of [
    ["run", ...agent, "--dry-run"],
    ["record", ...agent],
  ]) {
    const { stderr } = await run(args, { cwd, env });
    assert.match(stderr, /^warning: simulated users: OpenAI is not sent `top_k`/m, stderr);
    assert.match(stderr, /^warning: simulated users write: `llm_audio` has no effect$/m);
    assert.doesNotMatch(stderr, /temperature/);
  }
  for (const command of ["run", "record"]) {
    const { stderr, status } = await run([command, ...agent, "--strict"], { cwd, env });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^error: simulated users: OpenAI is not sent `top_k`/m);
    assert.match(stderr, /^error: simulated users write: `llm_audio` has no effect$/m);
    assert.doesNotMatch(stderr, /running/);
  }
});
