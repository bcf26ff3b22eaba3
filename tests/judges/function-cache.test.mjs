// Replies of functions in a cache: none is another function's in silence.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";

const { evaluate, fileCache, memoryCache, panelJudge } = await importEntry();

const set = evalSetOf({ one: [turn("question", "answer")] });
const request = { evalSet: set, actual: set, criteria: { final_response_match_v2: 0.8 } };
const verdict = (valid) => JSON.stringify({ reasoning: "r", is_the_agent_response_valid: valid });

const scoreOf = ({ evalCaseResults: [{ overallEvalMetricResults }] }) => overallEvalMetricResults[0].score;
const foreign = ({ warnings = [] }) => warnings.filter(({ message }) => /a function may have changed/.test(message));

const strictJudge = async () => verdict("invalid");
const lenientJudge = async () => verdict("valid");

const CACHES = {
  memoryCache: () => memoryCache(),
  fileCache: (t) => {
    const folder = mkdtempSync(join(tmpdir(), "replies-"));
    t.after(() => rmSync(folder, { recursive: true }));
    return fileCache(folder);
  },
};

for (const [name, cacheOf] of Object.entries(CACHES)) {
  test(`a ${name} has no reply of one function for another`, async (t) => {
    const cache = cacheOf(t);
    assert.equal(scoreOf(await evaluate({ ...request, cache, judge: strictJudge })), 0);
    const lenient = await evaluate({ ...request, cache, judge: lenientJudge });
    assert.deepEqual([scoreOf(lenient), foreign(lenient)], [1, []]);
    const again = await evaluate({ ...request, cache, judge: strictJudge });
    assert.deepEqual([scoreOf(again), again.judgeUsage.calls, foreign(again)], [0, 0, []], "its own");
  });

  test(`a ${name} says where functions cannot be told apart`, async (t) => {
    const cache = cacheOf(t);
    await evaluate({ ...request, cache, judge: async () => verdict("invalid") });
    const second = await evaluate({ ...request, cache, judge: async () => verdict("valid") });
    assert.equal(second.judgeUsage.calls, 0);
    const [warning, ...more] = foreign(second);
    assert.match(warning.message, /^\d replies were in the cache before the judge "judge" was asked/);
    assert.match(warning.help, /cacheVersion/);
    assert.deepEqual(more, []);
  });
}

test("a version tells functions apart, and vouches for those that have the same", async () => {
  const cache = memoryCache();
  const versioned = (valid, cacheVersion) => Object.assign(async () => verdict(valid), { cacheVersion });
  const first = await evaluate({ ...request, cache, judge: versioned("invalid", "1") });
  const newer = await evaluate({ ...request, cache, judge: versioned("valid", "2") });
  const same = await evaluate({ ...request, cache, judge: versioned("valid", "1") });
  assert.deepEqual([first, newer, same].map(scoreOf), [0, 1, 0]);
  assert.equal(same.judgeUsage.calls, 0);
  assert.deepEqual([first, newer, same].flatMap(foreign), []);
});

test("a panel is as known as its judges", async () => {
  const cache = memoryCache();
  const panelOf = (...versions) =>
    panelJudge(
      versions.map((cacheVersion, at) =>
        Object.defineProperty(
          Object.assign(async () => verdict("valid"), cacheVersion && { cacheVersion }),
          "name",
          {
            value: `judge${at}`,
          },
        ),
      ),
    );
  for (const [versions, calls, warned] of [
    [["1", "1"], true, 0],
    [["1", "1"], false, 0],
    [["1", "2"], true, 0],
    [["1", undefined], true, 0],
    [["1", undefined], false, 1],
  ]) {
    const result = await evaluate({ ...request, cache, judge: panelOf(...versions) });
    assert.deepEqual([result.judgeUsage.calls > 0, foreign(result).length], [calls, warned], `${versions}`);
  }
});
