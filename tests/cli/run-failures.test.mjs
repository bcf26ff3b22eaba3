// Agents that do not behave: each gives a result or an error that says what to do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { folderOf, run, turn } from "./command.mjs";
import { BOTH, json, runAgent, statuses } from "./running.mjs";

test("a turn that takes too long fails its case, and what the agent left running does not keep the process", async (t) => {
  const code =
    "setInterval(() => {}, 1000); export default (message) => /time/.test(message) && new Promise(() => {});";
  const { status, stdout, stderr } = await runAgent(t, code, { args: ["--turn-timeout", "0.2"] });
  assert.equal(status, 1, stderr);
  assert.match(stdout, /2 cases: 2 failed/);
  assert.match(
    stdout,
    /the agent did not finish turn 1 within 200 ms\. For\s+slower\s+agents,\s+set\s+turnTimeoutMs\s+or\s+--turn-timeout/,
  );
});

test("an agent that throws, says nothing or streams gives results", async (t) => {
  const throwing = await runAgent(t, "export default (message) => { throw new Error('out of order'); };");
  assert.equal(throwing.status, 1);
  assert.match(throwing.stdout, /the run failed: turn 1: Error: out of order/);
  const forgetful = await runAgent(t, "export default (message) => { 'It is noon.'; };");
  assert.match(
    forgetful.stdout,
    /the agent returned undefined for "What is the time\?"\. Return the\s+answer,\s+or null/,
  );
  const silent = await runAgent(t, "export default (message) => null;", { args: ["--format", "csv"] });
  assert.equal(silent.status, 1);
  assert.match(silent.stdout, /^clock,noon,1,,response_match_score,0,0\.8,failed,,$/m);
  assert.match(silent.stdout, /the agent neither answered nor called a tool in any of 2 turns/);
  const streaming = `export default async function* (message) {
    yield { author: "clock", partial: true, content: { parts: [{ text: "It " }] } };
    yield { author: "clock", partial: true, content: { parts: [{ text: "is noon." }] } };
    yield { author: "clock", content: { parts: [{ text: "It is noon." }] } };
  }`;
  assert.deepEqual(statuses(await runAgent(t, streaming, { args: json })), BOTH);
});

test("errors that the agent leaves to nobody are said, and end nothing", async (t) => {
  const code = `export default (message) => {
    setTimeout(() => { throw new Error("stray"); });
    Promise.reject(new Error("lost"));
    return new Promise((resolve) => setTimeout(resolve, 50, "It is noon."));
  };`;
  const outcome = await runAgent(t, code, { args: json });
  assert.deepEqual(statuses(outcome), BOTH);
  for (const word of ["stray", "lost"])
    assert.match(
      outcome.stderr,
      new RegExp(`warning: the loaded code threw an error that nobody caught: Error: ${word}`),
    );
});

test("code that ends the process by itself is an error, whatever status it asks for", async (t) => {
  const endings = [
    "process.exit(0);",
    "export default () => process.exit();",
    "setTimeout(() => process.exit(1), 20); export default (message, turn) => new Promise(() => {});",
  ];
  for (const code of endings) {
    const { status, stdout, stderr } = await runAgent(t, code);
    assert.deepEqual([status, stdout], [2, ""], code);
    assert.match(stderr, /error: the loaded code ended the process/, code);
  }
});

test("an agent that fails in a later turn fails the case, with the reason", async (t) => {
  const files = {
    "long.evalset.json": {
      eval_set_id: "long",
      eval_cases: [{ eval_id: "two", conversation: [turn("1"), turn("2")] }],
    },
    "agent.mjs":
      "export default (m, { history }) => { if (history.length > 0) throw new Error('tired'); return '1'; };",
  };
  const { stdout } = await run(["run", "--agent", "agent.mjs", "long.evalset.json"], { cwd: folderOf(t, files) });
  assert.match(stdout, /the run failed: turn 2: Error: tired/);
});

test("a simulated user who fails is not called a judge", async (t) => {
  const scenario = { starting_prompt: "Hi", conversation_plan: "Talk." };
  const cases = [{ eval_id: "talk", conversation_scenario: scenario }];
  const files = {
    "clock.evalset.json": { eval_set_id: "clock", eval_cases: cases },
    "test_config.json": { criteria: { multi_turn_task_success_v1: 0.5 } },
    "judge.mjs": "export default () => { throw new Error('user down'); };",
  };
  const { status, stderr } = await runAgent(t, "export default () => 'Hello';", {
    files,
    args: ["--judge", "./judge.mjs"],
  });
  assert.equal(status, 3, stderr);
  assert.match(stderr, /^error: no call of the simulated user got a reply$/m);
});
