import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, root, run } from "./command.mjs";

const example = (name) => readFileSync(join(root, "examples/museum-guide", name), "utf8");

/** A judge that says yes, and what each reply took. */
const JUDGE = `export default async () => ({
  text: '{"is_the_agent_response_valid": "valid"}',
  usage: { inputTokens: 300, outputTokens: 20 },
});`;

test("CSV says how many samples were asked and what they took, without an option; of a replay, that nothing was", async (t) => {
  const cwd = folderOf(t, {
    "museum-guide.evalset.json": example("museum-guide.evalset.json"),
    "museum-guide.actual.json": example("museum-guide.actual.json"),
    "test_config.json": example("test_config.json"),
    "judge.jsonl": example("judge.jsonl"),
    "judge.mjs": JUDGE,
  });
  for (const [judge, expected] of [
    ["./judge.mjs", /^(\d+),\d+,\d+00,\d+0,/],
    ["replay:judge.jsonl", /^\d+,\d+,,,/],
  ]) {
    const { stdout } = await run(["eval", "museum-guide.evalset.json", "--judge", judge, "--format", "csv"], { cwd });
    const [header, ...rows] = stdout.trim().split("\r\n");
    const columns = header.split(",");
    assert.ok(columns.includes("samplesAsked"), header);
    const count = columns.indexOf("samplesAsked") - columns.length;
    const judged = rows.filter((row) => /,1,final_response_match_v2,/.test(row));
    assert.ok(judged.length > 0, stdout);
    for (const row of judged) assert.match(row.split(",").slice(count).join(","), expected);
  }
});
