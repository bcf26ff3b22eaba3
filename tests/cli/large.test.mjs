// Results that are larger than the engine's limit for one input.

import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, run, turn } from "./command.mjs";

const CASES = 280;
const LONG = "It is noon in a very long answer. ".repeat(32_768);

const idOf = (at) => `case-${String(at).padStart(3, "0")}`;
const CALL = { name: "clock", args: { zone: "UTC" } };

/** What a case came to, with an answer of a megabyte; one in ten calls nothing, and has another run. */
const resultOf = (id, fails) => ({
  eval_set_id: "clock",
  eval_id: id,
  final_eval_status: 1,
  overall_eval_metric_results: [],
  eval_metric_result_per_invocation: [{ actual_invocation: turn(LONG, fails ? [] : [CALL]), eval_metric_results: [] }],
  session_id: id,
});

function write(file, cases, end = "]}") {
  const opened = openSync(file, "w");
  writeSync(opened, '{"eval_set_result_id": "r", "eval_set_id": "clock", "eval_case_results": [');
  cases.forEach((one, at) => writeSync(opened, `${at > 0 ? ", " : ""}${JSON.stringify(one)}`));
  writeSync(opened, end);
  closeSync(opened);
}

test("eval reads results of any size, some cases at a time", async (t) => {
  const ids = Array.from({ length: CASES }, (_, at) => idOf(at));
  const cases = [...ids, "never-run"].map((eval_id) => ({ eval_id, conversation: [turn("It is noon.", [CALL])] }));
  const config = { criteria: { tool_trajectory_avg_score: 1 } };
  const cwd = folderOf(t, {
    "clock.evalset.json": { eval_set_id: "clock", eval_cases: cases },
    "test_config.json": config,
  });
  const runs = ids.flatMap((id, at) => (at % 10 === 0 ? [resultOf(id, true), resultOf(id, false)] : [resultOf(id)]));
  // What the evalset does not have, and another order than its own.
  write(join(cwd, "results.json"), [resultOf("unknown", false), ...runs.toReversed()]);

  const args = ["eval", "clock.evalset.json", "--actual", "results.json", "--output", "scores.csv"];
  const { status, stderr } = await run(args, { cwd });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /unknown/);
  const rows = readFileSync(join(cwd, "scores.csv"), "utf8").trim().split(/\r?\n/).slice(1);
  const found = rows.map((row) => /(?:case-\d+|never-run)/.exec(row)?.[0]);
  const expected = ids.flatMap((id, at) => (at % 10 === 0 ? [id, id] : [id]));
  assert.deepEqual([...new Set(found)], [...new Set([...expected, "never-run"])]);
  assert.match(stderr, new RegExp(`${runs.length + 1} runs? of ${CASES + 1} cases|${CASES + 1} cases`));

  truncateSync(join(cwd, "results.json"), 100 * 1024 * 1024);
  const cut = await run([...args, "--force"], { cwd });
  assert.equal(cut.status, 2);
  assert.match(cut.stderr, /results\.json/);
  assert.match(cut.stderr, /is not complete JSON/);
  assert.ok(readFileSync(join(cwd, "scores.csv"), "utf8").includes(idOf(CASES - 1)));
});

test("what is larger than one JSON text may be says what to do instead", async (t) => {
  const cwd = folderOf(t, { "small.evalset.json": { eval_set_id: "clock", eval_cases: [] }, "large.json": "[" });
  for (const [size, message, help] of [
    [
      256 * 2 ** 20 + 1,
      /one JSON text may have 268435456 \(256 MiB\)/,
      /help: Write it as JSON lines, one case per line/,
    ],
    [2 ** 31, /is larger than 2 GB, and one JSON text may have 256 MiB/, /help: .*Cases may be JSON lines \(\.jsonl\)/],
  ]) {
    // It takes no room on the disk.
    truncateSync(join(cwd, "large.json"), size);
    for (const args of [
      ["large.json", "--actual", "small.evalset.json"],
      ["small.evalset.json", "--actual", "large.json"],
    ]) {
      const { status, stderr } = await run(["eval", ...args], { cwd });
      assert.equal(status, 2, stderr);
      assert.match(stderr, message);
      assert.match(stderr, /large\.json/);
      assert.match(stderr, help);
    }
  }
});
