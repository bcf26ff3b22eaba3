// The budget that workers of a queue share: what it is charged for, and what not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AdkMetricsError } from "../../../pkg-template/src/errors.js";
import { markReplayed, unrecorded } from "../../../pkg-template/src/judges/reply.js";
import { Purse, spentOf } from "../../../pkg-template/src/queue/purse.js";
import type { Store } from "../../../pkg-template/src/queue/store.js";
import type { Judge } from "../../../pkg-template/src/types.js";
import { REQUEST } from "./support.js";

/** As much of a store as a purse needs. */
function storeOf(): Store {
  const sums: Record<string, number> = {};
  const store: Pick<Store, "add" | "all" | "get"> = {
    add: async (_, amounts) => {
      for (const [name, amount] of Object.entries(amounts)) sums[name] = (sums[name] ?? 0) + amount;
      return { ...sums };
    },
    all: async () => Object.entries(sums).map(([name, sum]) => [name, String(sum)]),
    get: async () => JSON.stringify({ calls: 2 }),
  };
  return store as Store;
}

test("no reply from a recording is charged, nor one that it lacks; a failed call is charged the tokens that it reports", async () => {
  const store = storeOf();
  const prices = { grade: { inputPerMillion: 1e6, outputPerMillion: 1e6 } };
  const purse = new Purse(store, { calls: 2, prices }, () => {});
  const reply = { text: "yes", usage: { inputTokens: 3, outputTokens: 2 } };
  const grade: Judge = async ({ sampleIndex }) => {
    if (sampleIndex === 0) return markReplayed({ ...reply });
    if (sampleIndex === 1) throw new AdkMetricsError("replay_missing", "the recording has no reply");
    if (sampleIndex === 2)
      throw new AdkMetricsError("judge_failed", "no reply", { usage: { inputTokens: 2, totalTokens: 3 } });
    return reply;
  };
  const judge = purse.judge(grade);
  const signal = new AbortController().signal;
  const ask = async (sampleIndex: number) => await judge({ ...REQUEST, sampleIndex }, { signal });
  for (let time = 0; time < 3; time += 1) assert.equal(((await ask(0)) as typeof reply).text, "yes");
  await assert.rejects(ask(1), { code: "replay_missing" });
  assert.deepEqual(await spentOf(store), { calls: 0, tokens: 0, cost: 0 });
  await assert.rejects(ask(2), { code: "judge_failed" });
  assert.deepEqual(await spentOf(store), { calls: 1, tokens: 3, cost: 3 });
  await ask(3);
  assert.deepEqual(await spentOf(store), { calls: 2, tokens: 8, cost: 8 });
  await assert.rejects(ask(3), { code: "budget_exceeded" });
  assert.equal((await spentOf(store)).calls, 2);
});

test("a reply that could not be recorded is charged as it would have been, and not if it is from a recording", async () => {
  const store = storeOf();
  const grade: Judge = async ({ sampleIndex }) => {
    const reply = { text: "x".repeat(8) };
    throw unrecorded(new Error("the disk is full"), sampleIndex === 0 ? markReplayed(reply) : reply);
  };
  const judge = new Purse(store, { calls: 2 }, () => {}).judge(grade);
  const ask = async (sampleIndex: number) =>
    await judge({ ...REQUEST, prompt: "y".repeat(12), sampleIndex }, { signal: new AbortController().signal });
  await assert.rejects(ask(0), /the disk is full/);
  assert.deepEqual(await spentOf(store), { calls: 0, tokens: 0, cost: 0 });
  await assert.rejects(ask(1), /the disk is full/);
  assert.deepEqual(await spentOf(store), { calls: 1, tokens: 5, cost: 0 });
});
