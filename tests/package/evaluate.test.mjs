// The package's contract: evaluateStream, cancellation and progress, and what a request may hold.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ACTUAL, EXPECTED, manyCases } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";
import { CRITERIA, evaluateMine, mineOf, never, registryWith, scored } from "./support/contract.mjs";

const adk = await importEntry();
const { EvalStatus, evaluate, evaluateStream } = adk;

describe("evaluateStream", () => {
  test("gives case results in the order of completion and returns all of them in that of the evalset", async () => {
    // Each case is scored when the one before it has been given.
    const order = ["Time?", "Hi", "Weather?"];
    const scoring = new Map();
    const scoreNext = () => scoring.get(order.shift())?.(scored(1));
    const registry = registryWith(
      ([first]) =>
        new Promise((resolve) => {
          scoring.set(first.userContent.parts[0].text, resolve);
          if (scoring.size === 3) scoreNext();
        }),
    );
    const stream = evaluateStream({ evalSet: EXPECTED, actual: ACTUAL, criteria: { mine: 1 }, registry });
    const given = [];
    for (;;) {
      const next = await stream.next();
      if (next.done) {
        const [fails, long, passes] = given;
        assert.deepEqual(next.value.evalCaseResults, [passes, fails, long]);
        break;
      }
      given.push(next.value);
      scoreNext();
    }
    assert.deepEqual(
      given.map((result) => result.evalId),
      ["fails", "long", "passes"],
    );
  });

  test("is cancelled by leaving the loop", async () => {
    let asked = 0;
    const registry = registryWith(async () => {
      asked += 1;
      await sleep(1);
      return scored(1);
    });
    const evalSet = manyCases(50);
    const request = { evalSet, actual: evalSet, criteria: { mine: 1 }, registry, concurrency: 2 };
    for await (const { evalId } of evaluateStream(request)) {
      assert.equal(typeof evalId, "string");
      break;
    }
    const askedThen = asked;
    await sleep(30);
    assert.equal(asked, askedThen);
    assert.ok(asked < 50);
  });

  test("does nothing before it is asked for the first result", async () => {
    const looked = [];
    const request = {
      get evalSet() {
        looked.push("evalSet");
        return "not JSON";
      },
      get actual() {
        looked.push("actual");
        return "neither";
      },
    };
    const results = evaluateStream(request);
    await sleep(5);
    assert.deepEqual(looked, []);
    await assert.rejects(results.next(), { code: "invalid_json" });
    assert.deepEqual(new Set(looked), new Set(["evalSet", "actual"]));
  });
});

describe("cancellation and progress", () => {
  test("an aborted signal leaves everything unscored, with the reason", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA, signal: AbortSignal.abort() });
    assert.equal(set.cancelled, true);
    assert.equal(set.evalCaseResults.length, 3);
    for (const { finalEvalStatus, reason } of set.evalCaseResults) {
      assert.equal(finalEvalStatus, EvalStatus.NOT_EVALUATED);
      assert.match(reason, /cancelled/);
    }
  });

  test("a signal that aborts while a metric works keeps what is done", async () => {
    const controller = new AbortController();
    let asked = 0;
    const work = () => {
      asked += 1;
      if (asked === 1) return scored(1);
      setTimeout(() => controller.abort(), 5);
      return never();
    };
    const set = await evaluateMine(work, { signal: controller.signal, concurrency: 1 });
    assert.equal(set.cancelled, true);
    assert.equal(mineOf(set).score, 1);
    assert.equal(set.evalCaseResults.length, 3);
    for (const at of [1, 2]) assert.match(mineOf(set, at).reason, /cancelled/);
  });

  test("a signal that aborts while a case result is being handled ends the run", { timeout: 5000 }, async () => {
    const controller = new AbortController();
    let asked = 0;
    const registry = registryWith(() => (asked++ === 0 ? scored(1) : never()));
    const given = [];
    for await (const result of evaluateStream({
      evalSet: EXPECTED,
      actual: ACTUAL,
      criteria: { mine: 1 },
      registry,
      signal: controller.signal,
    })) {
      given.push(result);
      controller.abort();
    }
    assert.equal(given.length, 3);
  });

  test("a finished run lets go of its signal", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener, signal.removeEventListener];
    signal.addEventListener = (...given) => ((listeners += 1), add.apply(signal, given));
    signal.removeEventListener = (...given) => ((listeners -= 1), remove.apply(signal, given));
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, signal });
    assert.equal(listeners, 0);
    assert.equal(set.cancelled, undefined);
  });

  test("onProgress counts up to the total", async () => {
    const seen = [];
    const evalSet = manyCases(1500);
    await evaluate({ evalSet, actual: evalSet, explain: "none", onProgress: (progress) => seen.push(progress) });
    assert.ok(seen.length >= 2);
    assert.deepEqual(seen.at(-1), { done: 1500, total: 1500 });
    assert.ok(seen.every(({ done, total }, index) => total === 1500 && done > (seen[index - 1]?.done ?? 0)));
  });
});

describe("a request", () => {
  const request = { evalSet: EXPECTED, actual: ACTUAL };

  test("with both a config and criteria is refused", async () => {
    await assert.rejects(evaluate({ ...request, config: { criteria: CRITERIA }, criteria: CRITERIA }), {
      name: "AdkMetricsError",
      code: "invalid_input",
      message: "`config` and `criteria` are both set",
      help: "Set only one of the two",
    });
  });

  test("with a misspelt key is refused with a suggestion", async () => {
    for (const [key, meant] of [
      ["critera", "criteria"],
      ["eval_set", "evalSet"],
      ["onprogress", "onProgress"],
    ]) {
      await assert.rejects(evaluate({ ...request, [key]: {} }), {
        name: "AdkMetricsError",
        code: "invalid_input",
        path: `request: ${key}`,
        help: `Did you mean \`${meant}\`?`,
      });
    }
  });
});
