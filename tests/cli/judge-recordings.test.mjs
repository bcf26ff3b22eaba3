// Replies of judges that the command line records and replays.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startServer } from "../providers/server.mjs";
import { BARE, evalSet, folderOf, run } from "./command.mjs";
import { ask, at, FAIR, fair, FILES, judge, judged, KEY, server, statuses } from "./judging.mjs";

test("replays what it recorded with the same results, asking nobody", async (t) => {
  const answering = await startServer({ reply: fair });
  const cwd = folderOf(t, { ...FILES, "test_config.json": judged({ num_samples: 5 }) });
  const csv = [...ask, "--format", "csv"];
  const env = { ...BARE, ...at.gemini(answering) };
  const recorded = await run([...csv, "--record", "judge.jsonl"], { cwd, env });
  await answering.close();
  assert.match(recorded.stderr, /^recorded judge\.jsonl$/m);
  assert.doesNotMatch(readFileSync(join(cwd, "judge.jsonl"), "utf8"), new RegExp(KEY));
  const replayed = await run([...csv, "--judge", "replay:judge.jsonl"], { cwd, env: BARE });
  // What each reply took is known, and was not spent again.
  const withoutTokens = ({ stdout }) =>
    stdout.replaceAll(/^((?:"[^"]*"|[^",]*)(?:,(?:"[^"]*"|[^",]*)){10}),\d+,\d+,/gm, "$1,,,");
  assert.notEqual(withoutTokens(recorded), recorded.stdout);
  assert.equal(replayed.stdout, withoutTokens(recorded));
  assert.equal(replayed.status, 1);
  assert.equal(
    answering.requests.length,
    readFileSync(join(cwd, "judge.jsonl"), "utf8").trimEnd().split("\n").length - 1,
  );
});

test("replays models of several providers", async (t) => {
  const rubrics = [{ rubric_id: "short", rubric_content: { text_property: "It is short." } }];
  const reply = (asked) =>
    asked.provider === "openai" ? fair(asked) : "Property: It is short.\nRationale: It is.\nVerdict: yes\n";
  const answering = await startServer({ reply });
  const config = judged(
    { judge_model: "openai/gpt-4.1-mini" },
    {
      rubric_based_final_response_quality_v1: {
        threshold: 1,
        rubrics,
        judge_model_options: { num_samples: 1, judge_model: "anthropic/claude-haiku-4-5" },
      },
    },
  );
  const cwd = folderOf(t, { ...FILES, "test_config.json": config });
  const recorded = await judge(cwd, ["--record", "both.jsonl"], {
    ...at.openai(answering),
    ...at.anthropic(answering),
  });
  await answering.close();
  assert.equal(answering.requests.length, 4);
  const replayed = await judge(cwd, ["--judge", "replay:both.jsonl"], {});
  assert.match(
    replayed.stderr,
    /^judged by openai\/gpt-4\.1-mini \(gpt-4\.1-mini-2026-08-01\), rubric_based_final_response_quality_v1 by anthropic\/claude-haiku-4-5 \(claude-haiku-4-5-20260901\): 0 calls, 4 replies reused$/m,
  );
  assert.deepEqual(statuses(replayed.stdout), statuses(recorded.stdout));
});

test("says which reply a recording lacks, and exits with 3 if it lacks all", async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, FILES);
  await judge(cwd, ["--record", "judge.jsonl"], at.gemini(answering));
  const replay = ["--judge", "replay:judge.jsonl"];

  const [header, noon] = readFileSync(join(cwd, "judge.jsonl"), "utf8").split("\n");
  writeFileSync(join(cwd, "judge.jsonl"), `${header}\n${noon}\n`);
  const half = await run([...ask, ...replay], { cwd, env: BARE });
  assert.equal(half.status, 1);
  assert.match(half.stdout, /nothing is recorded for this case/);
  assert.match(
    half.stdout.replaceAll(/\s+/g, " "),
    /`final_response_match_v2` has no verdict in 1 of 2 case results: .*nothing is recorded for this case/,
  );

  writeFileSync(join(cwd, "clock.actual.json"), JSON.stringify(evalSet({ noon: "Noon it is.", late: "Late it is." })));
  const none = await run([...ask, ...replay], { cwd, env: BARE });
  assert.equal(none.status, 3);
  assert.match(none.stdout, /2 cases: 2 not evaluated/);
  assert.match(none.stderr, /^error: no call of the judge got a reply: .*recording/m);
});

test(
  "records elsewhere when a reply cannot be recorded, and keeps results",
  { skip: process.platform !== "linux" },
  async (t) => {
    const answering = await server(t);
    const cwd = folderOf(t, FILES);
    const env = { ...at.gemini(answering), TMPDIR: cwd };
    const { status, stdout, stderr } = await judge(cwd, ["--record", "/dev/full"], env);
    const [, file] =
      /error: the output cannot be written: the disk is full\n {3}at \/dev\/full\n {3}help: The replies are in (.*)\n/.exec(
        stderr,
      ) ?? [];
    assert.ok(file?.startsWith(cwd), stderr);
    assert.equal(status, 2);
    assert.match(stdout, /noon/);
    const replayed = await run([...ask, "--format", "json", "--judge", `replay:${file}`], { cwd, env: BARE });
    assert.deepEqual(statuses(replayed.stdout), FAIR);
  },
);

test("budgets leave no reply of a recording out, and say that they had no effect", async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, FILES);
  await judge(cwd, ["--record", "judge.jsonl"], at.gemini(answering));
  const limits = ["--max-calls", "1", "--max-tokens", "1"];
  const { stdout, stderr } = await judge(cwd, ["--judge", "replay:judge.jsonl", ...limits], {});
  assert.deepEqual(statuses(stdout), FAIR);
  assert.match(stderr, /^a recording costs nothing, so --max-calls and --max-tokens have no effect$/m);
  const foreseen = await run([...ask, "--judge", "replay:judge.jsonl", "--dry-run"], { cwd, env: BARE });
  assert.equal(foreseen.stdout, "no judge would be called\n");
});

test("recorded messages of simulated users cost nothing either", async (t) => {
  const reply = ({ prompt }) => (prompt.includes("You play the user") ? "</finished>" : '{"score": 1}');
  const answering = await startServer({ reply });
  t.after(() => answering.close());
  const scenario = { starting_prompt: "Hi", conversation_plan: "Talk." };
  const cwd = folderOf(t, {
    "talk.evalset.json": { eval_set_id: "talk", eval_cases: [{ eval_id: "talk", conversation_scenario: scenario }] },
    "test_config.json": { criteria: { multi_turn_task_success_v1: 1 } },
    "agent.mjs": "export default () => 'Hello!';",
  });
  const agent = ["--agent", "agent.mjs", "--num-runs", "1", "talk.evalset.json"];
  const env = { ...BARE, ...at.gemini(answering) };
  const recorded = await run(["run", ...agent, "--record", "judge.jsonl"], { cwd, env });
  assert.match(recorded.stdout, /^simulated users, by gemini-2\.5-flash: 1 call, /m, recorded.stderr);
  const replay = ["--judge", "replay:judge.jsonl", "--max-calls", "1"];
  const replayed = await run(["run", ...agent, ...replay], { cwd, env: BARE });
  assert.equal(replayed.status, 0, replayed.stdout + replayed.stderr);
  assert.match(replayed.stdout, /^simulated users, by gemini-2\.5-flash: 0 calls, 1 reply reused$/m);
  const useless = /^a recording costs nothing, so --max-calls has no effect$/m;
  assert.match(replayed.stderr, useless);
  const again = await run(["record", ...agent, ...replay], { cwd, env: BARE });
  assert.equal(again.status, 0, again.stderr);
  assert.match(again.stderr, /^simulated users, by gemini-2\.5-flash: 0 calls, 1 reply reused$/m);
  assert.match(again.stderr, useless);
});
