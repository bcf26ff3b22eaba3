// Metrics that can score none of the cases, whatever the agent did: an evaluation that ends green says so.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { evaluate } from "../../pkg/dist/esm/node.js";
import { evalSet, folderOf, GOOD, run, turn } from "./command.mjs";

const CRITERIA = { response_match_score: 0.1, tool_parameter_match: 1, per_turn_user_simulator_quality_v1: 0.5 };
const WARNED = [
  "`tool_parameter_match` can score none of the cases: no turn expects a tool call",
  "`per_turn_user_simulator_quality_v1` can score none of the cases: it judges a simulated user, and the case has no scenario",
];
const JUDGE = 'import { writeFileSync } from "node:fs"; export default () => (writeFileSync("asked", ""), "{}");';
/** A case that expects a call. */
const CALLING = {
  eval_set_id: "calling",
  eval_cases: [{ eval_id: "call", conversation: [turn("Noon.", [{ name: "clock", args: { zone: "UTC" } }])] }],
};

test("eval warns of metrics that can score none of the cases, in every report, and --strict refuses them", async (t) => {
  const cwd = folderOf(t, { ...GOOD, "test_config.json": { criteria: CRITERIA }, "judge.mjs": JUDGE });
  const args = ["eval", "good.evalset.json", "--judge", "./judge.mjs"];
  for (const format of ["table", "md", "junit", "html"]) {
    const { status, stdout, stderr } = await run([...args, "--format", format], { cwd });
    assert.equal(status, 0, stderr);
    assert.match(stdout.replaceAll(/\s+/g, " "), /can score none of the cases(:|&#58;) no turn expects/);
  }
  const { status, stderr } = await run([...args, "--format", "csv", "--strict"], { cwd });
  assert.equal(status, 2);
  for (const warning of WARNED) assert.ok(stderr.includes(`error: ${warning}`), stderr);
  assert.throws(() => readFileSync(join(cwd, "asked")), "no judge was asked");
});

test("a metric that scores a case of another evalset of the command is not warned of", async (t) => {
  const files = { "calling.evalset.json": CALLING, "calling.actual.json": `${JSON.stringify(CALLING)}\n` };
  const cwd = folderOf(t, { ...GOOD, ...files, "test_config.json": { criteria: { tool_parameter_match: 1 } } });
  const strict = await run(["eval", "good.evalset.json", "calling.evalset.json", "--strict"], { cwd });
  assert.doesNotMatch(strict.stdout + strict.stderr, /can score none/);
  const alone = await run(["eval", "good.evalset.json", "--strict"], { cwd });
  assert.match(alone.stderr, /can score none of the cases/);
});

test("run has the warning in its reports", async (t) => {
  const agent = 'export default () => "It is noon.";';
  const criteria = { response_match_score: 0.1, tool_parameter_match: 1 };
  const cwd = folderOf(t, { ...GOOD, "agent.mjs": agent, "test_config.json": { criteria } });
  const args = ["run", "good.evalset.json", "--agent", "agent.mjs", "--num-runs", "1"];
  const { stdout, stderr, status } = await run([...args, "--format", "md"], { cwd });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /can score none of the cases/);
  assert.equal(stderr.match(/can score none of the cases/g)?.length, 1, stderr);
});

test("JSON lines are looked at as one evalset", async (t) => {
  const line = (one) => JSON.stringify(one);
  const lines = [evalSet({ noon: "It is noon." }).eval_cases[0], CALLING.eval_cases[0]].map(line);
  const evaluated = async (text, criteria) => {
    const files = { "a.jsonl": text, "b.jsonl": `${text} \n`, "c.json": { criteria } };
    const cwd = folderOf(t, files);
    return run(["eval", "a.jsonl", "--actual", "b.jsonl", "--config", "c.json", "--output", "o.jsonl"], { cwd });
  };
  const both = await evaluated(lines.join("\n"), { tool_parameter_match: 1 });
  assert.doesNotMatch(both.stderr, /can score none/);
  const first = await evaluated(lines[0], { tool_parameter_match: 1 });
  assert.match(first.stderr, /`tool_parameter_match` can score none of the cases: no turn expects a tool call/);
});

test("evaluate warns of them before a judge is asked", async () => {
  let asked = 0;
  const set = JSON.parse(GOOD["good.actual.json"]);
  const request = {
    evalSet: set,
    actual: structuredClone(set),
    criteria: CRITERIA,
    judge: async () => `${(asked += 1)}`,
  };
  const { warnings } = await evaluate(request);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    WARNED,
  );
  await assert.rejects(evaluate({ ...request, strict: true }), { message: new RegExp(WARNED[0]) });
  const { warnings: none } = await evaluate({ ...request, judge: undefined, criteria: { response_match_score: 0.1 } });
  assert.equal(none, undefined);
  const both = { ...set, eval_cases: [...set.eval_cases, ...CALLING.eval_cases] };
  const only = (evalIds) => evaluate({ evalSet: both, actual: set, evalIds, criteria: { tool_parameter_match: 0 } });
  assert.match((await only(["noon"])).warnings[0].message, /can score none/);
  assert.equal((await only(undefined)).warnings, undefined);
  assert.equal(asked, 0);
});

test("rubrics may stand in what the agent did alone", async () => {
  const set = evalSet({ noon: "It is noon." });
  const criteria = { rubric_based_final_response_quality_v1: 0.5 };
  const judge = async () => "Property: It is short.\nRationale: It is.\nVerdict: yes";
  const plain = await evaluate({ evalSet: set, actual: structuredClone(set), criteria, judge });
  assert.match(plain.warnings[0].message, /`rubric_based_\w+` can score none of the cases: there are no rubrics/);
  const actual = structuredClone(set);
  const rubric = {
    rubric_id: "short",
    rubric_content: { text_property: "It is short." },
    type: "FINAL_RESPONSE_QUALITY",
  };
  actual.eval_cases[0].conversation[0].rubrics = [rubric];
  const { warnings, evalCaseResults } = await evaluate({ evalSet: set, actual, criteria, judge, strict: true });
  assert.equal(evalCaseResults[0].overallEvalMetricResults[0].score, 1);
  assert.equal(warnings, undefined);
});

test("metrics of what the agent took are not said to score nothing", async () => {
  const set = evalSet({ noon: "It is noon." });
  const actual = structuredClone(set);
  for (const name of ["inference_call_count_v1", "total_token_count_v1", "end_to_end_agent_turn_duration_v1"]) {
    const result = await evaluate({ evalSet: set, actual, criteria: { [name]: {} } }).catch(({ message }) => message);
    assert.doesNotMatch(JSON.stringify(result), /can score none/, name);
  }
});
