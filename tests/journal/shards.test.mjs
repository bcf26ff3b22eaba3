// Which runs of cases belong to a shard: about as many as to any other, or as much work.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BARE, folderOf, run } from "../cli/command.mjs";
import { evalSetOf, turn } from "../package/support/conversations.mjs";

const lines = (cwd, file) => readFileSync(join(cwd, file), "utf8").split("\n");

/** The cases of a shard, by its results. */
const casesIn = (cwd, file) =>
  JSON.parse(readFileSync(join(cwd, file), "utf8")).eval_case_results.map(({ eval_id: id }) => id);

test("shards get about as many cases, whatever their ids are made of", async (t) => {
  const count = 64;
  const config = JSON.stringify({ criteria: { response_match_score: 0.1 } });
  for (const idOf of [
    (at) => `case-${at}`,
    (at) => `t${at}_${at}`,
    (at) => `${"@P`p"[at % 4]}${"@P`p"[at >> 4]}${at >> 2}`,
  ]) {
    const set = JSON.stringify(
      evalSetOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [idOf(at), [turn("Hi", "Hello")]]))),
    );
    const cwd = folderOf(t, { "one.evalset.json": set, "one.actual.json": set, "test_config.json": config });
    for (const parts of [2, 4]) {
      const given = ["--shard", `1/${parts}`, "--journal", `${parts}.jsonl`, "--output", `${parts}.json`];
      const { status, stderr } = await run(["eval", "one.evalset.json", ...given], { cwd, env: BARE });
      assert.equal(status, 0, stderr);
      const share = (casesIn(cwd, `${parts}.json`).length * parts) / count;
      assert.ok(share > 0.5 && share < 1.6, `${idOf(1)}, 1/${parts}: ${share} of a fair share`);
    }
  }
});

test("merge ends as the undivided command does if a recording has no reply, or not all", async (t) => {
  const set = JSON.stringify(evalSetOf({ a: [turn("Hi a", "Hello")], b: [turn("Hi b", "Hello")] }));
  const settings = { threshold: 0.5, judge_model_options: { num_samples: 1 } };
  const cwd = folderOf(t, {
    "one.evalset.json": set,
    "one.actual.json": `${set}\n`,
    "test_config.json": JSON.stringify({ criteria: { final_response_match_v2: settings } }),
    "judge.mjs": `export default () => JSON.stringify({ is_the_agent_response_valid: "valid" });`,
  });
  const scored = (...args) => run(["eval", "one.evalset.json", "--format", "json", ...args], { cwd, env: BARE });
  await scored("--judge", "./judge.mjs", "--record", "all.jsonl");
  const [head, first] = lines(cwd, "all.jsonl");
  writeFileSync(join(cwd, "half.jsonl"), `${head}\n${first}\n`);
  writeFileSync(join(cwd, "none.jsonl"), `${head}\n${first.replaceAll(/Hi [ab]/g, "Hi z")}\n`);
  for (const [recording, status] of [
    ["all", 0],
    ["half", 1],
    ["none", 3],
  ]) {
    const judge = ["--judge", `replay:${recording}.jsonl`];
    assert.equal((await scored(...judge)).status, status);
    for (const part of [1, 2]) {
      const journal = `${recording}-${part}.jsonl`;
      const shard = ["--shard", `${part}/2`, "--journal", journal, "--output", `${recording}-${part}.json`];
      await run(["eval", "one.evalset.json", ...judge, ...shard], { cwd, env: BARE });
    }
    const args = ["merge", `${recording}-1.jsonl`, `${recording}-2.jsonl`, "--format", "json"];
    const merged = await run(args, { cwd, env: BARE });
    assert.equal(merged.status, status, merged.stderr);
    if (status === 3)
      assert.match(merged.stderr, /^error: no call of the judge got a reply: the recording has no reply/m);
    const [{ judgeUsage: usage }] = [JSON.parse(merged.stdout)].flat();
    assert.equal(usage.retried, 0);
  }
});

test("--balance gives the longest run first, each to the shard with the least work", async (t) => {
  const names = ["a", "b", "c", "d", "long"];
  const turns = (name) => Array.from({ length: name === "long" ? 4 : 1 }, () => turn(`Hi ${name}`, "Hello"));
  const set = JSON.stringify(evalSetOf(Object.fromEntries(names.map((name) => [name, turns(name)]))));
  const config = JSON.stringify({ criteria: { response_match_score: 0.1 } });
  const agent = `export default async () => "Hello";`;
  const cwd = folderOf(t, {
    ...{ "one.evalset.json": set, "one.actual.json": set, "test_config.json": config, "agent.mjs": agent },
  });
  const ran = ["run", "one.evalset.json", "--agent", "./agent.mjs", "--num-runs", "1"];
  await run([...ran, "--journal", "before.jsonl", "--output", "before.json"], { cwd, env: BARE });
  // Its times are those of an agent that took a second for a turn.
  const timed = lines(cwd, "before.jsonl").map((line) => {
    if (!line.includes('"type":"run"')) return line;
    const entry = JSON.parse(line);
    return JSON.stringify({ ...entry, ms: 1000 * turns(entry.evalId).length });
  });
  writeFileSync(join(cwd, "before.jsonl"), timed.join("\n"));
  await run(["eval", "one.evalset.json", "--output", "scores.json"], { cwd, env: BARE });
  for (const [command, balance] of [
    [ran, "before.jsonl"],
    [["eval", "one.evalset.json"], "scores.json"],
  ]) {
    const shares = [];
    for (const part of [1, 2]) {
      const file = `${command[0]}-${part}`;
      const given = [
        "--shard",
        `${part}/2`,
        "--balance",
        balance,
        "--journal",
        `${file}.jsonl`,
        "--output",
        `${file}.json`,
      ];
      const { status, stderr } = await run([...command, ...given], { cwd, env: BARE });
      assert.equal(status, 0, stderr);
      shares.push(casesIn(cwd, `${file}.json`));
    }
    assert.deepEqual(shares, [["long"], ["a", "b", "c", "d"]], balance);
  }
});
