// Stored replies: in caches and in recordings.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { importEntry } from "../package/support/package.mjs";
import { ACTUAL, FAIR_SCORES, found, reasonsOf, scoresOf } from "./trip.mjs";
import { all, countingJudge, few } from "./counting.mjs";

const { evaluate, fileCache, memoryCache, recordJudge, replayJudge } = await importEntry();

/** Results without what differs from run to run. */
const withoutTimes = ({ evalSetResultId, evalSetResultName, creationTimestamp, ...set }) =>
  JSON.parse(JSON.stringify(set));

test("evaluations that share a cache in memory ask each question once, also at the same time", async () => {
  const { judge, asked } = countingJudge(2);
  const cache = memoryCache();
  const sets = await Promise.all([0, 1, 2].map(() => evaluate({ ...few, judge, cache })));
  const [one, ...others] = sets.map(scoresOf);
  for (const other of others) assert.deepEqual(other, one);
  assert.ok(
    [...asked.values()].every((times) => times === 1),
    JSON.stringify([...asked]),
  );
  assert.equal(
    sets.reduce((sum, { judgeUsage }) => sum + judgeUsage.calls, 0),
    asked.size,
  );
});

test("a claim is free again when its call fails or is cancelled", { timeout: 30_000 }, async () => {
  const cache = memoryCache();
  const failing = await evaluate({ ...few, judge: async () => Promise.reject(new Error("no")), cache });
  assert.equal(failing.judgeUsage.lost > 0, true);
  const controller = new AbortController();
  const hanging = async () => {
    controller.abort();
    return new Promise(() => {});
  };
  await evaluate({ ...few, judge: hanging, cache, signal: controller.signal });
  const { judge } = countingJudge();
  assert.equal((await evaluate({ ...few, judge, cache })).judgeUsage.lost, 0);
});

test("a cache that cannot claim costs a warning, and no result", async () => {
  const { judge } = countingJudge();
  const cache = { ...memoryCache(), claim: async () => Promise.reject(new Error("no room")) };
  const set = await evaluate({ ...few, judge, cache });
  assert.equal(set.judgeUsage.lost, 0);
  assert.deepEqual(
    set.warnings.map(({ message }) => message),
    ["the cache of replies cannot be written: Error: no room"],
  );
});

describe("the same question in one evaluation", () => {
  const turn = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello!" }] } };
  const evalSet = {
    evalSetId: "alike",
    evalCases: ["first", "second"].map((evalId) => ({ evalId, conversation: [turn, turn] })),
  };
  const request = {
    evalSet,
    actual: evalSet,
    criteria: { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 2 } } },
    earlyStop: false,
  };
  const reply = '{"is_the_agent_response_valid": "valid"}';

  test("is asked again once 10,000 others were, which is said", async () => {
    const said = (text) => ({ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text }] } });
    const asked = [];
    const judge = async ({ prompt }) => {
      asked.push(prompt);
      return reply;
    };
    const criteria = { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 1 } } };
    const of = async (count) => {
      asked.length = 0;
      const turns = Array.from({ length: count }, (_, at) => said(`Hello number ${at}!`));
      const conversations = [
        ...Array.from({ length: count / 100 }, (_, at) => turns.slice(100 * at, 100 * at + 100)),
        [turns[0]],
      ];
      const evalCases = conversations.map((conversation, at) => ({ evalId: `${at}`, conversation }));
      const evalSet = { evalSetId: "many", evalCases };
      return evaluate({ evalSet, actual: structuredClone(evalSet), criteria, judge, explain: "none" });
    };
    const { warnings = [], judgeUsage } = await of(10_000);
    assert.deepEqual([asked.length, judgeUsage.cached, warnings], [10_000, 1, []]);
    const more = await of(10_100);
    assert.deepEqual([asked.length, asked.at(-1) === asked[0], more.judgeUsage.cached], [10_101, true, 0]);
    const [{ code, message, help }] = more.warnings;
    assert.equal(code, "limit_exceeded");
    assert.match(
      message,
      /^more than 10,000 questions were asked, and only the latest replies are kept: a question identical to an older one is asked and paid for again/,
    );
    assert.match(help, /memoryCache/);
  });

  test("is asked for the first case, in whatever order keys are made for the cache", async (t) => {
    const { subtle } = globalThis.crypto;
    const digest = subtle.digest.bind(subtle);
    let made = 0;
    t.mock.method(subtle, "digest", async (...given) => {
      const delay = Math.max(0, 40 - 10 * made++);
      const found = await digest(...given);
      await sleep(delay);
      return found;
    });
    const set = await evaluate({ ...request, judge: async () => reply, cache: memoryCache() });
    assert.ok(made > 2);
    const votes = set.evalCaseResults.map(({ evalMetricResultPerInvocation: [first] }) =>
      first.evalMetricResults[0].explanation.samples.votes.map(({ cached = false }) => cached),
    );
    assert.deepEqual(votes, [
      [false, false],
      [true, true],
    ]);
  });

  test("is asked once a sample, also while its first answer is awaited", async () => {
    let calls = 0;
    const judge = async () => {
      calls += 1;
      await sleep(5);
      return reply;
    };
    const { judgeUsage, evalCaseResults } = await evaluate({ ...request, judge });
    assert.deepEqual([calls, judgeUsage.calls, judgeUsage.cached], [2, 2, 6]);
    assert.ok(evalCaseResults.every(({ finalEvalStatus }) => finalEvalStatus === 1));
  });

  test("is asked again if its first call ends without a reply, or never", async () => {
    const ends = [() => Promise.reject(new Error("broken")), () => new Promise(() => {})];
    for (const end of ends) {
      let calls = 0;
      const judge = async () => ((calls += 1) === 1 ? end() : reply);
      const set = await evaluate({ ...request, judge, timeoutMs: 500, retry: { attempts: 1 } });
      const statuses = set.evalCaseResults.flatMap(({ evalMetricResultPerInvocation: turns }) =>
        turns.map(({ evalMetricResults: [{ evalStatus }] }) => evalStatus),
      );
      assert.ok(statuses.filter((status) => status === 1).length >= 3, statuses.join());
      assert.ok(calls >= 3);
    }
  });

  test("is asked each time where a cache keeps nothing", async () => {
    let calls = 0;
    const judge = async () => ((calls += 1), reply);
    await evaluate({ ...request, judge, cache: { get: () => undefined, set: () => {} } });
    assert.equal(calls, 8);
  });
});

describe("a cache", () => {
  test("answers a second evaluation in memory and in a folder, without a call", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "adk-metrics-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const kinds = [
      [memoryCache(), (cache) => cache],
      [fileCache(join(folder, "judge")), () => fileCache(join(folder, "judge"))],
    ];
    for (const [cache, again] of kinds) {
      const first = countingJudge();
      const once = await evaluate({ ...all, judge: first.judge, cache });
      const second = countingJudge();
      const twice = await evaluate({ ...all, judge: second.judge, cache: again(cache) });
      assert.deepEqual(scoresOf(twice), FAIR_SCORES);
      assert.equal(second.asked.size, 0);
      const { calls, cached, inputTokens } = twice.judgeUsage;
      assert.deepEqual([calls, cached, inputTokens], [0, once.judgeUsage.calls, 0]);
      const [{ explanation }] = found(twice, "safety_v1").turns;
      assert.ok(explanation.samples.votes.every((vote) => vote.cached === true));
    }
  });

  test("never gives one sample's reply to another, nor one judge's to another", async () => {
    const cache = memoryCache();
    let number = 0;
    const judge = async ({ sampleIndex }) => {
      number += 1;
      return JSON.stringify({ is_the_agent_response_valid: sampleIndex === 1 ? "invalid" : "valid", number });
    };
    const request = { ...few, judge, cache, earlyStop: false };
    const votes = (set) => found(set, "final_response_match_v2").turns[0].explanation.samples.votes;
    const once = votes(await evaluate(request));
    const twice = votes(await evaluate(request));
    assert.equal(number, 6);
    assert.deepEqual(
      once.map(({ score }) => score),
      [1, 0, 1],
    );
    assert.deepEqual(
      twice.map(({ reply }) => reply),
      once.map(({ reply }) => reply),
    );
    const model = {
      ...few.criteria.final_response_match_v2,
      judge_model_options: { judge_model: "other", num_samples: 3 },
    };
    await evaluate({ ...request, criteria: { final_response_match_v2: model } });
    assert.equal(number, 12, "another model is another question");
  });

  test("that fails is one warning for reading and one for writing, and costs no result", async () => {
    let number = 0;
    const cache = {
      get: async () => {
        throw new Error(`no ${(number += 1)}`);
      },
      // Without a promise.
      set: () => {
        throw new Error(`full ${(number += 1)}`);
      },
    };
    const { judge, asked } = countingJudge();
    const set = await evaluate({ ...all, judge, cache });
    assert.deepEqual(scoresOf(set), FAIR_SCORES);
    assert.deepEqual([...new Set(asked.values())], [1]);
    assert.deepEqual(
      set.warnings.map(({ code, message }) => [code, message.replace(/\d+/, "…")]),
      [
        ["cache_failed", "the cache of replies cannot be read: Error: no …"],
        ["cache_failed", "the cache of replies cannot be written: Error: full …"],
      ],
    );
  });

  test("in a folder that cannot be written is one warning", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "adk-metrics-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "file"), "");
    const set = await evaluate({ ...all, judge: countingJudge().judge, cache: fileCache(join(folder, "file", "in")) });
    assert.deepEqual(scoresOf(set), FAIR_SCORES);
    assert.ok(set.warnings.length <= 2, JSON.stringify(set.warnings));
  });

  test("may say null for what it has not, and hold what is no reply", async () => {
    const { judge } = countingJudge();
    const empty = await evaluate({ ...few, judge, cache: { get: async () => null, set: async () => {} } });
    assert.equal(empty.warnings, undefined);
    const broken = await evaluate({ ...few, judge, cache: { get: async () => ({ words: 1 }), set: async () => {} } });
    assert.equal(scoresOf(broken).flight.final_response_match_v2, "0.5 1 0");
    assert.deepEqual(
      broken.warnings.map(({ code }) => code),
      ["cache_failed"],
    );
  });

  test("that is slow to write makes no reply late, and has every reply at the end", async () => {
    const kept = new Map();
    const cache = {
      get: async (key) => kept.get(key),
      set: async (key, reply) => {
        await sleep(600);
        kept.set(key, reply);
      },
    };
    const { judge, asked } = countingJudge();
    const set = await evaluate({ ...few, judge, cache, timeoutMs: 300 });
    assert.deepEqual([set.judgeUsage.retried, kept.size], [0, asked.size]);
  });
});

/** Results without times, and without what tells whether replies were asked or recorded. */
function withoutCosts(results) {
  const { judgeUsage: _, ...others } = withoutTimes(results);
  return JSON.parse(JSON.stringify(others, (key, value) => (key === "cached" ? undefined : value)));
}

describe("a recording", () => {
  test("gives the same results when it is replayed, in any order and at any pace", async () => {
    const lines = [];
    const recorded = await evaluate({ ...all, judge: recordJudge(countingJudge(1).judge, (line) => lines.push(line)) });
    const replayed = await evaluate({ ...all, judge: replayJudge(lines), concurrency: 1 });
    assert.deepEqual(withoutCosts(replayed), withoutCosts(recorded));
    const { calls, cached } = replayed.judgeUsage;
    assert.deepEqual([calls, cached], [0, recorded.judgeUsage.calls + recorded.judgeUsage.cached]);
    const reversed = [lines[0], ...lines.slice(1).reverse()].join("");
    assert.deepEqual(withoutCosts(await evaluate({ ...all, judge: replayJudge(reversed) })), withoutCosts(recorded));
  });

  test("says which request it has not, where a prompt changed", async () => {
    const lines = [];
    await evaluate({ ...few, judge: recordJudge(countingJudge().judge, (line) => lines.push(line)) });
    const prompts = { final_response_match_v2: "Same? {{user_prompt}} {{reference}} {{response}} {{reply_format}}" };
    const set = await evaluate({ ...few, judge: replayJudge(lines), prompts });
    const reasons = reasonsOf(set);
    assert.ok(reasons.length > 0);
    for (const reason of reasons) {
      assert.match(reason, /final_response_match_v2/);
      assert.match(reason, /flight/);
      assert.match(reason, /the prompt changed at line 3, column 1: recorded ".+"…, now "Same\? /);
    }
    assert.equal(set.judgeUsage.retried, 0);
  });

  test("says which words of what is judged changed, though blocks are marked by a hash of all of it", async () => {
    const lines = [];
    await evaluate({ ...few, judge: recordJudge(countingJudge().judge, (line) => lines.push(line)) });
    const actual = JSON.parse(JSON.stringify(ACTUAL).replaceAll("LX160", "LX161"));
    const reasons = reasonsOf(await evaluate({ ...few, actual, judge: replayJudge(lines) }));
    assert.ok(
      reasons.some((reason) => /the prompt changed at line \d+, column \d+: recorded "0 .*, now "1 /.test(reason)),
      reasons[0],
    );
    for (const reason of reasons) assert.doesNotMatch(reason, /data-[0-9a-f]{16}/);
  });

  test("never answers for another one by the cache that they share", async () => {
    const verdicts = [];
    const cache = memoryCache();
    for (const verdict of ["valid", "invalid"]) {
      const lines = [];
      const judge = async () => JSON.stringify({ is_the_agent_response_valid: verdict });
      await evaluate({ ...few, judge: recordJudge(judge, (line) => lines.push(line)), cache: memoryCache() });
      const set = await evaluate({ ...few, judge: replayJudge(lines), cache });
      verdicts.push(scoresOf(set).flight.final_response_match_v2);
    }
    assert.deepEqual(verdicts, ["1 1 1", "0 0 0"]);
  });
});
