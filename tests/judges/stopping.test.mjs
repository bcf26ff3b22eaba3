// Cancellation, limits and progress of an evaluation by judges.

import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";
import { startServer } from "../providers/server.mjs";
import { ACTUAL, criteriaOf, EVAL_SET, fair, FAIR_SCORES, reasonsOf, scoresOf, sometimes } from "./trip.mjs";

const { evaluate, evaluateStream, EvalStatus, geminiJudge } = await importEntry();

const VALID = JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: "valid" });
const retry = { initialDelayMs: 2, maxDelayMs: 10 };

/** Cases `case-0`, `case-1`, … of one turn, each with an answer of its own. */
function casesOf(count) {
  const names = Array.from({ length: count }, (_, index) => `case-${index}`);
  return evalSetOf(Object.fromEntries(names.map((name) => [name, [turn(`question ${name}`, `answer of ${name}.`)]])));
}

/** One question a case, with one sample. */
function requestOf(count, more = {}) {
  const set = casesOf(count);
  const criteria = criteriaOf(["final_response_match_v2"], { num_samples: 1 });
  return { evalSet: set, actual: set, criteria, retry, ...more };
}

/** How many cases have a score, and how many have none. */
function counted(set) {
  const scores = set.evalCaseResults.map(({ overallEvalMetricResults: [result] }) => result?.score);
  return {
    scored: scores.filter((score) => score === 1).length,
    open: scores.filter((score) => score === undefined).length,
  };
}

/** A server for each test: what one leaves behind is not another's. */
let server;
/** What the server does next. */
let answer;
beforeEach(async () => {
  answer = () => VALID;
  server = await startServer({ reply: (asked) => answer(asked) });
});
afterEach(() => server.close());

const gemini = () => geminiJudge({ apiKey: "key-123456", baseUrl: server.url });

describe("an evaluation that is cancelled", () => {
  /** Answers so many questions, then hangs. */
  function hangAfter(count) {
    let number = 0;
    answer = () => ((number += 1) > count ? { fault: "hang" } : VALID);
  }

  test("closes its connections and gives what is scored, the rest with the reason", { timeout: 20_000 }, async () => {
    hangAfter(5);
    const controller = new AbortController();
    const running = evaluate({ ...requestOf(20), judge: gemini(), signal: controller.signal, concurrency: 3 });
    while (server.requests.length < 8) await sleep(2);
    const hanging = server.requests.slice(5).map(({ socket }) => socket);
    const closed = Promise.all(hanging.map((socket) => socket.destroyed || once(socket, "close")));
    controller.abort(new Error("enough"));
    const set = await running;
    await closed;
    assert.equal(set.cancelled, true);
    assert.deepEqual(counted(set), { scored: 5, open: 15 });
    assert.ok(set.evalCaseResults.every(({ finalEvalStatus }) => finalEvalStatus !== EvalStatus.FAILED));
    for (const { overallEvalMetricResults, reason } of set.evalCaseResults) {
      const [result] = overallEvalMetricResults;
      if (result?.score === undefined) assert.match(result?.reason ?? reason, /cancelled/);
    }
    assert.equal(server.requests.length, 8);
  });

  test("hears of it also where answers are there at once", async () => {
    for (const answered of [() => VALID, async () => VALID]) {
      const controller = new AbortController();
      let asked = 0;
      const judge = () => {
        asked += 1;
        if (asked === 10) setImmediate(() => controller.abort());
        return answered();
      };
      const set = await evaluate(requestOf(4000, { judge, signal: controller.signal }));
      assert.equal(set.cancelled, true);
      assert.ok(asked < 4000, `${asked}`);
    }
  });

  test("asks nothing if it is cancelled before it begins", async () => {
    const set = await evaluate({ ...requestOf(3), judge: gemini(), signal: AbortSignal.abort() });
    assert.deepEqual([set.cancelled, counted(set).open, server.requests.length], [true, 3, 0]);
  });

  test("does not wait for a judge or a cache that does not listen", { timeout: 10_000 }, async () => {
    const never = () => new Promise(() => {});
    const missing = async () => undefined;
    const judge = async () => VALID;
    /** Cancels when something is asked, or everything is scored. */
    const cancelled = async (more) => {
      const controller = new AbortController();
      const soon = (work) => (given) => {
        setTimeout(() => controller.abort());
        return work(given);
      };
      const { get = missing, set = never, judge: asked = judge } = more;
      const cache = { get: get === never ? soon(never) : get, set };
      const onProgress = ({ done }) => {
        if (done === 2) controller.abort();
      };
      const own = asked === never ? soon(never) : asked;
      return counted(await evaluate({ ...requestOf(2), judge: own, cache, signal: controller.signal, onProgress }));
    };
    assert.deepEqual(await cancelled({ judge: never }), { scored: 0, open: 2 });
    assert.deepEqual(await cancelled({ get: never }), { scored: 0, open: 2 });
    assert.deepEqual(await cancelled({ set: never }), { scored: 2, open: 0 });
  });

  test("by leaving the loop of evaluateStream ends its calls", { timeout: 20_000 }, async () => {
    hangAfter(1);
    let given = 0;
    for await (const result of evaluateStream({ ...requestOf(20), judge: gemini(), concurrency: 4 })) {
      assert.equal(result.finalEvalStatus, EvalStatus.PASSED);
      given += 1;
      while (server.requests.length < 5) await sleep(2);
      break;
    }
    await Promise.all(
      server.requests.map(({ socket }, index) => index === 0 || socket.destroyed || once(socket, "close")),
    );
    assert.deepEqual([given, server.requests.length], [1, 5]);
  });

  test("by what onProgress throws passes that on and ends its calls", { timeout: 20_000 }, async () => {
    hangAfter(2);
    const thrown = new Error("stop here");
    const onProgress = ({ done }) => {
      if (done === 2) throw thrown;
    };
    const running = evaluate({ ...requestOf(20), judge: gemini(), concurrency: 4, onProgress });
    await assert.rejects(running, (error) => error === thrown);
    const hanging = server.requests.slice(2).map(({ socket }) => socket);
    await Promise.all(hanging.map((socket) => socket.destroyed || once(socket, "close")));
  });
});

describe("a budget", () => {
  const usage = { input: 100, output: 50 };
  const within = (budget, more = {}) => {
    answer = () => ({ text: VALID, usage });
    return evaluate({ ...requestOf(20), judge: gemini(), concurrency: 2, budget, ...more });
  };

  test("of calls is kept", async () => {
    const set = await within({ calls: 7 });
    assert.deepEqual([counted(set), server.requests.length], [{ scored: 7, open: 13 }, 7]);
    assert.deepEqual([set.judgeUsage.calls, set.judgeUsage.lost, set.cancelled], [7, 13, undefined]);
    assert.ok(reasonsOf(set).every((reason) => /^the budget of 7 calls for judges is spent$/.test(reason)));
  });

  test("that is spent is named, and what was not asked for it is counted apart and warned of", async () => {
    const criteria = criteriaOf(["final_response_match_v2"], { num_samples: 5 });
    const set = await within({ calls: 1 }, { ...requestOf(3), criteria, concurrency: 1 });
    const { calls, lost, unsent } = set.judgeUsage;
    assert.deepEqual([calls, lost], [1, unsent]);
    assert.ok(unsent > 0);
    const samples = set.evalCaseResults.map(({ evalMetricResultPerInvocation: [found] }) => {
      return found.evalMetricResults[0].explanation.samples;
    });
    assert.deepEqual(
      samples.map(({ asked, of, votes }) => [asked, of, votes.length]),
      [
        [1, 5, 1],
        [0, 5, 0],
        [0, 5, 0],
      ],
    );
    assert.deepEqual(
      set.warnings.filter(({ code }) => code === "judge_failed").map(({ message }) => message),
      ["`final_response_match_v2` has no verdict in 3 of 3 case results: the budget of 1 call for judges is spent"],
    );
    const prices = { "gemini-2.5-flash": { inputPerMillion: 1000, outputPerMillion: 10_000 } };
    for (const [budget, what] of [
      [
        { tokens: 200 },
        /^one call would take about \d+ tokens, more than the budget of 200 tokens for judges: no call was made$/,
      ],
      [{ cost: 1, prices }, /^the budget of 1 for judges is spent$/],
    ]) {
      const reasons = reasonsOf(await within(budget));
      assert.ok(reasons.length > 0 && reasons.every((reason) => what.test(reason)), `${reasons}`);
    }
  });

  test("that is spent on failures says why calls failed", async () => {
    answer = () => ({ fault: "server" });
    const set = await evaluate({ ...requestOf(3), judge: gemini(), concurrency: 1, budget: { calls: 2 } });
    const reasons = reasonsOf(set);
    assert.ok(reasons.length > 0);
    const why = /^the budget of 2 calls for judges is spent\. The last failure: .*50\d/;
    assert.ok(
      reasons.every((reason) => why.test(reason)),
      reasons.join("\n"),
    );
  });

  test("of calls counts what is asked again", async () => {
    let number = 0;
    answer = () => ((number += 1) % 2 === 1 ? { fault: "server" } : VALID);
    const set = await evaluate({ ...requestOf(20), judge: gemini(), concurrency: 1, budget: { calls: 6 } });
    assert.deepEqual([set.judgeUsage.calls, server.requests.length], [6, 6]);
  });

  test("of tokens is not overdrawn", async () => {
    const set = await within({ tokens: 2000 });
    const { inputTokens, outputTokens } = set.judgeUsage;
    assert.deepEqual([inputTokens, outputTokens], [100 * server.requests.length, 50 * server.requests.length]);
    assert.ok(inputTokens + outputTokens <= 2000 && server.requests.length > 5, `${server.requests.length}`);
    assert.ok(counted(set).open > 0);
  });

  test("of money is kept, and what was spent is said", async () => {
    const prices = { "gemini-2.5-flash": { inputPerMillion: 1000, outputPerMillion: 10_000 } };
    // A call costs 0.1 + 0.5.
    const set = await within({ cost: 6, prices });
    assert.ok(Math.abs(set.judgeUsage.cost - 0.6 * server.requests.length) < 1e-9);
    assert.ok(set.judgeUsage.cost <= 6.6 && server.requests.length >= 8, `${server.requests.length}`);
    assert.ok(counted(set).open > 0);
    assert.equal((await within({ prices })).judgeUsage.cost > 11.9, true);
    assert.equal((await within({})).judgeUsage.cost, undefined);
  });

  test("of time ends what is under way", { timeout: 60_000 }, async (context) => {
    // Reads the engine's file.
    await evaluate({ ...requestOf(1), judge: async () => VALID });
    virtualTime(context);
    const hanging = [];
    let number = 0;
    const judge = async (_, { signal }) => {
      if ((number += 1) <= 3) return VALID;
      hanging.push(signal);
      return new Promise(() => {});
    };
    const budget = { timeMs: 1000 };
    const set = await evaluate({ ...requestOf(20), judge, concurrency: 2, budget });
    assert.deepEqual(counted(set), { scored: 3, open: 17 });
    assert.deepEqual([hanging.length, hanging.every(({ aborted }) => aborted)], [2, true]);
    assert.ok(
      reasonsOf(set).some((reason) => /^the time for the run is over: 1000 ms$/.test(reason)),
      reasonsOf(set).join("\n"),
    );
  });
});

describe("limits are kept", () => {
  /**
   * A judge that notes how many calls of each metric were under way at the same time. It answers when so many have been: a
   * machine that is busy with other things makes it late, and leaves the numbers as they are.
   */
  function busyJudge(atOnce) {
    const most = {};
    let reach;
    const reached = new Promise((resolve) => (reach = resolve));
    const now = {};
    const count = (name, by) => {
      now[name] = (now[name] ?? 0) + by;
      most[name] = Math.max(most[name] ?? 0, now[name]);
    };
    answer = async (asked) => {
      const name = asked.prompt.includes("is_the_agent_response_valid") ? "match" : "safety";
      count(name, 1);
      count("all", 1);
      if (most.all >= atOnce) reach();
      await reached;
      // One too many would come now.
      await sleep(3);
      count(name, -1);
      count("all", -1);
      return fair(asked);
    };
    return most;
  }

  test("of all calls by concurrency, and of a metric's by its parallelism_limit", { timeout: 60_000 }, async () => {
    const most = busyJudge(6);
    const criteria = {
      ...criteriaOf(["final_response_match_v2"], { num_samples: 3, parallelism_limit: 2 }),
      ...criteriaOf(["safety_v1"], { num_samples: 3 }),
    };
    const set = await evaluate({ ...requestOf(10), criteria, judge: gemini(), concurrency: 6 });
    assert.deepEqual(most, { match: 2, safety: most.safety, all: 6 });
    assert.ok(most.safety >= 4);
    assert.equal(set.judgeUsage.lost, 0);
  });

  test("and without early stopping every sample is asked", async () => {
    const request = { evalSet: EVAL_SET, actual: ACTUAL, criteria: criteriaOf(), judge: async (asked) => fair(asked) };
    const some = await evaluate(request);
    const all = await evaluate({ ...request, earlyStop: false });
    assert.deepEqual([scoresOf(some), scoresOf(all)], [FAIR_SCORES, FAIR_SCORES]);
    assert.equal(all.judgeUsage.calls, some.judgeUsage.calls + some.judgeUsage.saved);
    assert.equal(all.judgeUsage.saved, 0);
  });
});

test("the same seed gives the same waits", async (context) => {
  // Reads the engine's file.
  await evaluate({ ...requestOf(1), judge: async () => VALID });
  const time = virtualTime(context);
  /** How long each of three cases waited until it was asked again. */
  const waits = async (seed) => {
    const failed = new Map();
    const waited = {};
    const judge = async ({ evalId }) => {
      if (failed.has(evalId)) waited[evalId] = Math.round(time.now() - failed.get(evalId));
      else failed.set(evalId, time.now());
      throw Object.assign(new Error("busy"), { retryable: true });
    };
    const patience = { attempts: 2, initialDelayMs: 400, maxDelayMs: 400 };
    await evaluate({ ...requestOf(3), judge, seed, retry: patience, concurrency: 1 });
    return waited;
  };
  const one = await waits(0);
  assert.deepEqual(await waits(0), one);
  const other = await waits(7);
  for (const name of ["case-0", "case-1", "case-2"]) {
    for (const wait of [one[name], other[name]]) assert.ok(wait > 0 && wait < 410, `${wait}`);
    assert.notEqual(other[name], one[name]);
  }
  const order = (waited) => Object.keys(waited).sort((a, b) => waited[a] - waited[b]);
  assert.deepEqual(order(one), ["case-0", "case-1", "case-2"]);
  assert.deepEqual(order(other), ["case-2", "case-0", "case-1"]);
});

/**
 * Puts a clock in the place of the process's own until the test ends: it stands still while there is something to do, and
 * goes on to the next timer when there is not, so that waits are exact on any machine. Nothing else may be waited for:
 * digests, which are made in another thread, are left out.
 */
function virtualTime({ mock }) {
  let now = 0;
  let isAwake = false;
  const timers = new Set();
  const real = { setTimeout, clearTimeout };
  const goOn = () => {
    isAwake = false;
    const [next] = [...timers].sort((a, b) => a.at - b.at);
    if (next === undefined) return;
    timers.delete(next);
    now = Math.max(now, next.at);
    wake();
    next.ring();
  };
  const wake = () => {
    if (!isAwake) setImmediate(goOn);
    isAwake = true;
  };
  mock.getter(Object.getPrototypeOf(globalThis.crypto), "subtle", () => undefined);
  mock.method(performance, "now", () => now);
  mock.method(globalThis, "setTimeout", (ring, delay = 0, ...given) => {
    // Those of Node's own fetch tick by the second, whatever else goes on: with them the clock would run ahead of an
    // evaluation that a busy machine keeps from its next wait.
    if (new Error().stack.includes("node:internal/deps/undici")) return real.setTimeout(ring, delay, ...given);
    const timer = { at: now + delay, ring: () => ring(...given) };
    timers.add(timer);
    wake();
    return timer;
  });
  mock.method(globalThis, "clearTimeout", (timer) => timers.delete(timer) || real.clearTimeout(timer));
  return { now: () => now };
}

test("the numbers of onProgress add up", async () => {
  answer = sometimes(5, { fault: "server" });
  const seen = [];
  const criteria = criteriaOf(["final_response_match_v2", "hallucinations_v1"]);
  const set = await evaluate({
    ...requestOf(8),
    criteria,
    judge: gemini(),
    concurrency: 3,
    onProgress: (progress) => seen.push(structuredClone(progress)),
  });
  const growing = ["calls", "retried", "saved", "lost", "inputTokens", "outputTokens"];
  let before = seen[0].judge;
  for (const { done, total, judge } of seen) {
    assert.ok(done <= 8 && total === 8);
    for (const key of growing) assert.ok(judge[key] >= before[key], key);
    assert.ok(judge.inFlight <= 3 && judge.queued >= 0);
    before = judge;
  }
  assert.equal(seen.at(-1).done, 8);
  const left = seen.map(({ judge }) => judge.leftMs).filter((ms) => ms !== undefined);
  assert.ok(
    left.some((ms) => ms > 0 && Number.isFinite(ms)),
    "the time that is left is told",
  );
  const { inFlight, queued, leftMs, ...usage } = seen.at(-1).judge;
  assert.deepEqual([inFlight, queued], [0, 0]);
  assert.ok(leftMs === undefined || leftMs === 0);
  assert.deepEqual(usage, set.judgeUsage);
  assert.equal(usage.calls, server.requests.length);
  // Every sample is answered or was not needed.
  assert.equal(usage.calls - usage.retried + usage.saved, 8 * 3 + 8 * 2);
});

describe("a consumer that takes its time does not make answers late", () => {
  /** Keeps the thread busy. */
  const block = (milliseconds) => {
    const until = performance.now() + milliseconds;
    while (performance.now() < until);
  };

  for (const [name, work] of [
    ["waiting", () => sleep(600)],
    ["keeping the thread busy", () => block(600)],
  ]) {
    test(`by ${name}`, { timeout: 20_000 }, async () => {
      answer = async ({ index }) => {
        await sleep(index === 0 ? 0 : 20);
        return VALID;
      };
      let given = 0;
      const stream = evaluateStream({ ...requestOf(7), judge: gemini(), concurrency: 4, timeoutMs: 500 });
      for (;;) {
        const { done, value } = await stream.next();
        if (done) {
          assert.deepEqual([counted(value).scored, value.judgeUsage.retried], [7, 0]);
          break;
        }
        given += 1;
        if (given < 3) await work();
      }
      assert.equal(server.requests.length, 7);
    });
  }

  test("by keeping the thread busy in onProgress", { timeout: 20_000 }, async () => {
    answer = async () => {
      await sleep(20);
      return VALID;
    };
    let number = 0;
    const onProgress = () => {
      number += 1;
      if (number < 3) block(600);
    };
    const set = await evaluate({ ...requestOf(7), judge: gemini(), concurrency: 4, timeoutMs: 500, onProgress });
    assert.deepEqual([counted(set).scored, set.judgeUsage.retried], [7, 0]);
  });
});
