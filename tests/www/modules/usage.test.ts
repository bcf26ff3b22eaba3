// What the playground tells of what judges and simulated users took.

import assert from "node:assert/strict";
import { test } from "node:test";
import { usageFacts } from "../../../www/src/ui/usage.js";

const NOTHING = { calls: 0, retried: 0, saved: 0, cached: 0, lost: 0, inputTokens: 0, outputTokens: 0 };

test("what judges took is added up, and tokens that no answer told are called an estimate", () => {
  const first = { ...NOTHING, calls: 1200, retried: 2, inputTokens: 5000, outputTokens: 30, cost: 0.5, unreported: 1 };
  const second = { ...NOTHING, calls: 4, saved: 3, cached: 1, lost: 1, inputTokens: 10 };
  const config = "test_config.json";
  assert.deepEqual(usageFacts([{ judgeUsage: first, config }, {}, { judgeUsage: second }]), [
    ["Calls", "1,204"],
    ["Retries", "2"],
    ["Skipped (vote decided)", "3"],
    ["Replies reused", "1"],
    ["Samples without a reply", "1"],
    ["Tokens in", "5,010 (estimated for 1 answer)"],
    ["Tokens out", "30"],
    ["Cost", "USD 0.5"],
  ]);
  assert.deepEqual(usageFacts([{}]), []);
});

test("who played the users, and what that took, is told apart", () => {
  const counted = { calls: 3, answered: 2, failed: 1, cached: 4, unreported: 2, lost: 1, inputTokens: 80 };
  const used = { ...NOTHING, models: ["m"], ...counted };
  assert.deepEqual(
    usageFacts([{ simulatorUsage: used }, { simulatorUsage: { ...used, models: ["m", "n"], cost: 2 } }]),
    [
      ["Simulated user", "m, n"],
      ["Calls for simulated users", "6"],
      ["Replies reused for simulated users", "8"],
      ["Simulated users without a reply", "2"],
      ["Tokens in for simulated users", "160 (estimated for 4 answers)"],
      ["Cost of simulated users", "2, in the currency of the prices"],
    ],
  );
});

test("what has no price is named before the currency", () => {
  const used = { ...NOTHING, models: ["m"], cost: 2, unpriced: ["n"] };
  const cost = usageFacts([{ simulatorUsage: used }]).at(-1);
  assert.deepEqual(cost, ["Cost of simulated users", "2 without n (no price), in the currency of the prices"]);
});
