// Batches where no metric asks a judge.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { folderOf, run } from "./command.mjs";

const turn = { user_content: { parts: [{ text: "Hi" }] }, final_response: { parts: [{ text: "Hello" }] } };
const set = { eval_set_id: "s", eval_cases: [{ eval_id: "a", conversation: [turn] }] };

test("no folder of replies is made, nor named, if no metric asks a judge", async (t) => {
  for (const config of [{}, { "test_config.json": { criteria: { response_match_score: 0.5 } } }]) {
    const cwd = folderOf(t, { "s.evalset.json": set, "s.actual.json": set, ...config });
    const before = readdirSync(cwd);
    const scored = await run(["eval", "s.evalset.json", "--batch", "--format", "csv"], { cwd });
    assert.match(scored.stderr, /no metric asks a judge, so --batch has no effect/);
    const submitted = await run(["batch", "submit", "s.evalset.json", "--cache", "kept"], { cwd });
    assert.match(submitted.stderr, /no metric asks a judge: there is nothing to send/);
    assert.equal(submitted.status, 0);
    for (const { stderr } of [scored, submitted]) assert.doesNotMatch(stderr, /replies are kept/);
    assert.deepEqual(readdirSync(cwd), before);
  }
});
