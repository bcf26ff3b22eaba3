import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./command.mjs";

test("CSV says how many samples were asked and what they took, without an option", async () => {
  const folder = "examples/museum-guide";
  const set = `${folder}/museum-guide.evalset.json`;
  const { stdout } = await run(["eval", set, "--judge", `replay:${folder}/judge.jsonl`, "--format", "csv"]);
  const [header, ...rows] = stdout.trim().split("\r\n");
  const columns = header.split(",");
  assert.ok(columns.includes("samplesAsked"), header);
  const count = columns.indexOf("samplesAsked") - columns.length;
  const judged = rows.filter((row) => /,1,final_response_match_v2,/.test(row));
  assert.ok(judged.length > 0, stdout);
  for (const row of judged) assert.match(row.split(",").slice(count).join(","), /^\d+,\d+,\d+,\d+,/);
});
