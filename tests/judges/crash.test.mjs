// A crash of the engine, in the middle of an evaluation: what was asked is not asked again.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crashNext, seen } from "../package/support/crashes.mjs";
import { importEntry } from "../package/support/package.mjs";
import { ACTUAL, EVAL_SET, fair, FAIR_SCORES, scoresOf } from "./trip.mjs";
import { all, countingJudge, few } from "./counting.mjs";

const { evaluate, evaluateStream, FinalResponseMatchV2Evaluator, rouge1 } = await importEntry();

describe("a crash of the engine", () => {
  /** Crashes the engine in a call beside the run. */
  function crash() {
    const { instances } = seen;
    crashNext("rougepairs_score");
    assert.throws(() => rouge1("a", "b"), { code: "engine_crashed" });
    assert.equal(seen.instances, instances + 1);
  }

  test("in the middle asks no sample twice, answered or under way", { timeout: 20_000 }, async () => {
    const { judge, asked } = countingJudge(3);
    let number = 0;
    const crashing = async (request) => {
      number += 1;
      if (number % 7 === 0) crash();
      return judge(request);
    };
    const progress = [];
    const set = await evaluate({
      ...all,
      judge: crashing,
      concurrency: 4,
      onProgress: ({ judge: one }) => progress.push(one),
    });
    assert.deepEqual(scoresOf(set), FAIR_SCORES);
    assert.deepEqual([...new Set(asked.values())], [1]);
    assert.deepEqual([set.judgeUsage.calls, set.judgeUsage.inputTokens], [asked.size, 5 * asked.size]);
    assert.ok(number > 50);
    assert.deepEqual(seen.usesAfterCrash, []);
  });

  test("loses no call from the count, failed ones included", { timeout: 20_000 }, async () => {
    const { judge } = countingJudge(3);
    let number = 0;
    const crashing = async (request) => {
      number += 1;
      if (number % 17 === 0) crash();
      if (number % 5 === 0) throw Object.assign(new Error("busy"), { retryable: true });
      return judge(request);
    };
    const { judgeUsage } = await evaluate({ ...all, judge: crashing, concurrency: 4, retry: { initialDelayMs: 1 } });
    const { calls, answered, failed, asked, cached, lost } = judgeUsage;
    assert.equal(calls, number);
    assert.deepEqual([calls, asked], [answered + failed, answered + cached + lost]);
  });

  test("between two results of a stream gives each case once", { timeout: 20_000 }, async () => {
    const { judge, asked } = countingJudge(1);
    const given = [];
    for await (const { evalId } of evaluateStream({ ...all, judge })) {
      given.push(evalId);
      crash();
    }
    assert.deepEqual(given.sort(), ["flight", "simulated"]);
    assert.deepEqual([...new Set(asked.values())], [1]);
  });

  test("leaves failed calls to be made again, and cancelled ones cancelled", { timeout: 20_000 }, async () => {
    let number = 0;
    const judge = async (request) => {
      number += 1;
      if (number === 3) crash();
      if (number < 5) throw Object.assign(new Error("busy"), { retryable: true });
      return fair(request);
    };
    const set = await evaluate({ ...few, judge, retry: { initialDelayMs: 1, maxDelayMs: 2 } });
    assert.equal(scoresOf(set).flight.final_response_match_v2, "0.5 1 0");

    const controller = new AbortController();
    let aborted = 0;
    const hanging = (_request, { signal }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => (aborted += 1));
        crash();
        setTimeout(() => controller.abort(), 5);
      });
    const ended = await evaluate({ ...few, judge: hanging, signal: controller.signal, concurrency: 2 });
    assert.deepEqual([ended.cancelled, aborted], [true, 2]);
  });

  test("does not end an evaluator's conversation", { timeout: 20_000 }, async () => {
    const { judge, asked } = countingJudge(2);
    const criterion = few.criteria.final_response_match_v2;
    let isCrashed = false;
    const onProgress = () => {
      if (!isCrashed) crash();
      isCrashed = true;
    };
    const options = { judge, onProgress };
    const evaluator = new FinalResponseMatchV2Evaluator({ metricName: "final_response_match_v2", criterion }, options);
    const [{ conversation: actual }, { conversation: expected }] = [ACTUAL.eval_cases[0], EVAL_SET.eval_cases[0]];
    const { overallScore } = await evaluator.evaluateInvocations(actual, expected);
    assert.deepEqual([overallScore, isCrashed, [...new Set(asked.values())]], [0.5, true, [1]]);
  });
});
