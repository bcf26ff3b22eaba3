// Options that have no effect are warned of, and `--strict` refuses them, before an agent is run if it can.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AgentEvaluator } from "../../pkg/dist/esm/node.js";
import { folderOf, GOOD, run, turn } from "./command.mjs";

const CRITERIA = { response_match_score: 0.1 };
const USERS = { criteria: CRITERIA, user_simulator_config: { model: "openai/gpt-6-luna" } };
const AGENT = `import { writeFileSync } from "node:fs";
export default () => (writeFileSync("ran", ""), "It is noon.");`;
const FILES = {
  ...GOOD,
  "agent.mjs": AGENT,
  "test_config.json": { criteria: CRITERIA },
  "users.json": USERS,
};
const NO_JUDGE = "no metric asks a judge, so --judge, --record, --cache, --max-calls, and --concurrency have no effect";
const NO_USERS = "no case has a simulated user, so `user_simulator_config` has no effect";
const JUDGES = "--judge openai --record said.jsonl --cache kept --max-calls 9 --concurrency 2".split(" ");
const AGENTS = ["--agent", "agent.mjs", "--num-runs", "1"];

for (const [what, args, message, place] of [
  ["eval", JUDGES, NO_JUDGE, ""],
  ["run", [...AGENTS, ...JUDGES], NO_JUDGE, ""],
  ["run", [...AGENTS, "--config", "users.json"], NO_USERS, "\n   at users.json"],
  ["record", [...AGENTS, "--config", "users.json"], "no case has a simulated user, so --config has no effect", ""],
  ["record", [...AGENTS, "--judge", "openai"], "no case has a simulated user, so --judge has no effect", ""],
]) {
  test(`${what} warns of ${args.at(-2)} ${args.at(-1)} without effect, and refuses it if strict`, async (t) => {
    const cwd = folderOf(t, FILES);
    const command = [what, "good.evalset.json", ...args, ...(what === "record" ? [] : ["--format", "csv"])];
    const strict = await run([...command, "--strict"], { cwd });
    assert.equal(strict.status, 2, strict.stderr);
    assert.ok(strict.stderr.includes(`error: ${message}${place}\n`), strict.stderr);
    assert.equal(existsSync(join(cwd, "ran")), false);
    const { status, stderr } = await run(command, { cwd });
    assert.equal(status, 0, stderr);
    assert.equal(existsSync(join(cwd, "ran")), args.includes("--agent"));
    assert.equal(stderr.split(`warning: ${message}${place}\n`).length, 2, stderr);
  });
}

test("a dry run writes no results, in whatever format", async (t) => {
  const cwd = folderOf(t, FILES);
  const args = ["eval", "good.evalset.json", "--config", "test_config.json", "--dry-run", "--format", "json"];
  const message = "a dry run writes no results, so --format and --force have no effect";
  const { status, stderr } = await run([...args, "--force"], { cwd });
  assert.equal(status, 0, stderr);
  assert.ok(stderr.includes(`warning: ${message}\n`), stderr);
  assert.equal((await run([...args, "--strict"], { cwd })).status, 2);
});

test("JSON lines that no judge scores are refused by --strict too", async (t) => {
  const line = JSON.stringify({ eval_id: "noon", conversation: [turn("It is noon.")] });
  const cwd = folderOf(t, { ...FILES, "a.jsonl": line, "b.jsonl": `${line}\n` });
  const args = ["eval", "a.jsonl", "--actual", "b.jsonl", "--config", "test_config.json", "--output", "r.jsonl"];
  const plain = await run([...args, "--max-calls", "3"], { cwd });
  assert.equal(plain.status, 0, plain.stderr);
  assert.match(plain.stderr, /^warning: no metric asks a judge, so --max-calls has no effect$/m);
  assert.equal((await run([...args, "--max-calls", "3", "--strict"], { cwd })).status, 2);
});

test("an unused price is told beside other warnings", async (t) => {
  const line = JSON.stringify({ eval_id: "noon", conversation: [turn("It is noon.")] });
  const cwd = folderOf(t, { ...FILES, "a.jsonl": line, "b.jsonl": `${line}\n` });
  const config = ["--config", "test_config.json", "--max-calls", "3", "--price", "m=1,2"];
  for (const args of [["good.evalset.json"], ["a.jsonl", "--actual", "b.jsonl", "--output", "r.jsonl"]]) {
    const { stderr } = await run(["eval", ...args, ...config], { cwd });
    assert.match(stderr, /^warning: no metric asks a judge, so --max-calls has no effect$/m);
    assert.match(stderr, /^warning: --price names m, which was not asked$/m);
  }
});

test("--max-cost needs prices only where somebody is asked", async (t) => {
  const line = JSON.stringify({ eval_id: "noon", conversation: [turn("It is noon.")] });
  const judged = { criteria: { final_response_match_v2: 0.5 } };
  const cwd = folderOf(t, { ...FILES, "judged.json": judged, "a.jsonl": line, "b.jsonl": `${line}\n` });
  for (const [what, ...args] of [
    ["eval", "good.evalset.json"],
    ["eval", "a.jsonl", "--actual", "b.jsonl", "--output", "r.jsonl", "--force"],
    ["eval", "good.evalset.json", "--dry-run"],
    ["run", "good.evalset.json", ...AGENTS],
    ["record", "good.evalset.json", ...AGENTS],
  ]) {
    const limited = [what, ...args, "--max-cost", "1", "--config"];
    const free = await run([...limited, "test_config.json"], { cwd });
    assert.equal(free.status, 0, free.stderr);
    const why = what === "record" ? "no case has a simulated user" : "no metric asks a judge";
    const options = what === "record" ? "--max-cost and --config have" : "--max-cost has";
    assert.match(free.stderr, new RegExp(`^warning: ${why}, so ${options} no effect$`, "m"), args.join(" "));
    if (what === "record") continue;
    const costly = await run([...limited, "judged.json", "--judge", "openai"], { cwd });
    assert.equal(costly.status, 2);
    assert.match(costly.stderr, /^error: --max-cost needs the price of every model that is asked$/m);
  }
});

test("dry runs and batches heed --strict too", async (t) => {
  const cwd = folderOf(t, FILES);
  const useless = /: no metric asks a judge, so (?:--max-calls has|--cache and --max-calls have) no effect$/m;
  const limit = ["good.evalset.json", "--config", "test_config.json", "--max-calls", "3"];
  for (const [args, price] of [
    [["eval", ...limit, "--dry-run", "--price", "m=1,2"], /: --price names m, which would not be asked$/m],
    [["run", ...limit, "--dry-run", ...AGENTS], useless],
    [["batch", "submit", ...limit, "--cache", "kept"], useless],
  ]) {
    const warned = await run(args, { cwd });
    const refused = await run([...args, "--strict"], { cwd });
    assert.deepEqual([warned.status, refused.status, refused.stdout], [0, 2, ""], args.join(" "));
    for (const words of [useless, price]) {
      assert.match(warned.stderr, new RegExp(`^warning${words.source}`, "m"), args.join(" "));
      assert.match(refused.stderr, new RegExp(`^error${words.source}`, "m"), args.join(" "));
    }
  }
  const config = join(cwd, "judged.json");
  writeFileSync(config, JSON.stringify({ criteria: { final_response_match_v2: 0.5 } }));
  const priced = ["eval", "good.evalset.json", "--config", "judged.json", "--dry-run", "--price", "m=1,2"];
  const refused = await run([...priced, "--strict"], { cwd });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^error: --price names m, which would not be asked\n +help: Asked: gemini-2\.5-flash$/m);
});

test("options for judges have an effect where the cases of judged metrics are in another shard", async (t) => {
  const set = (id, count, answer = "It is noon.") => ({
    eval_set_id: id,
    eval_cases: Array.from({ length: count }, (_, at) => ({
      eval_id: `${id} ${at}`,
      conversation: [turn(answer)],
    })),
  });
  const cwd = folderOf(t, {
    "judge.mjs": `export default () => '{"is_the_agent_response_valid": "valid"}';`,
    "plain.evalset.json": set("plain", 9),
    "plain.actual.json": set("plain", 9, "It is noon!"),
  });
  mkdirSync(join(cwd, "judged"));
  const write = (name, value) => writeFileSync(join(cwd, "judged", name), JSON.stringify(value));
  const criterion = { threshold: 0.5, judge_model_options: { num_samples: 1 } };
  write("judged.evalset.json", set("judged", 1));
  write("judged.actual.json", set("judged", 1, "It is noon!"));
  write("test_config.json", { criteria: { final_response_match_v2: criterion } });
  for (const strict of [[], ["--strict"]]) {
    for (const shard of ["1/2", "2/2"]) {
      const journal = ["--shard", shard, "--journal", `${shard[0]}${strict.join()}.jsonl`];
      const args = ["plain.evalset.json", "judged/judged.evalset.json", "--judge", "./judge.mjs", "--format", "csv"];
      const { status, stderr } = await run(["eval", ...args, ...journal, ...strict], { cwd });
      assert.equal(status, 0, stderr);
      assert.doesNotMatch(stderr, /warning/);
    }
  }
});

test("what only changes the speed is a note, which --strict does not refuse", async (t) => {
  const cwd = folderOf(t, FILES);
  const { status, stderr } = await run(["eval", "good.evalset.json", "--threads", "1", "--strict"], { cwd });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^nothing is scored as it is read, so --threads has no effect$/m);
});

test("AgentEvaluator warns of settings for simulated users in a config whose cases have none", async (t) => {
  const { "good.evalset.json": set } = GOOD;
  const cwd = folderOf(t, { "a.test.json": set, "test_config.json": USERS });
  const evaluated = (strict) => AgentEvaluator.evaluate(() => "It is noon.", cwd, 1, undefined, { strict });
  const [{ warnings = [] }] = await evaluated(false);
  assert.deepEqual(
    warnings.map(({ message, path }) => [message, path]),
    [[NO_USERS, join(cwd, "test_config.json")]],
  );
  await assert.rejects(evaluated(true), { code: "invalid_input", message: NO_USERS });
});
