// Evaluations of many cases and runs: their order, their progress, their pooled scores, metrics and reports.

import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { AgentEvaluator, EvalStatus, Evaluator, MetricEvaluatorRegistry } from "../../pkg/dist/esm/node.js";
import { renderTable } from "../../pkg/dist/esm/report.js";
import { answerOf, evalSetOf, scoreOf, turn } from "./evalsets.mjs";
import { failing, HELLO, MATCH, run } from "./greeting.mjs";

test("cases run in parallel, no more at a time than allowed, and results keep their order", async () => {
  let running = 0;
  let most = 0;
  const agent = async (message) => {
    most = Math.max(most, (running += 1));
    await wait(message === "0" ? 30 : 5);
    running -= 1;
    return message;
  };
  const ids = Array.from({ length: 12 }, (_, index) => String(index));
  const evalSet = evalSetOf(Object.fromEntries(ids.map((id) => [`case${id}`, [turn(id, id)]])));
  const results = await run(agent, evalSet, MATCH, 2, { parallelism: 3 });
  assert.equal(most, 3);
  assert.deepEqual(results.map(({ evalId }) => evalId).sort(), [...ids, ...ids].map((id) => `case${id}`).sort());
  for (const result of results) assert.equal(scoreOf(result, "response_match_score"), 1);
});

test("every run that is over is told of, and what is thrown there ends the evaluation", async () => {
  const seen = [];
  const agent = (message) => {
    if (message === "b") throw new Error("no");
    return "A";
  };
  const evalSet = evalSetOf({ a: [turn("a", "A")], b: [turn("b", "B")] });
  const onAgentProgress = (progress) => void seen.push(progress);
  await failing(agent, evalSet, MATCH, 2, { parallelism: 1, onAgentProgress });
  assert.deepEqual(
    seen.map(({ done, total, evalId, failed }) => [done, total, evalId, failed]),
    [
      [1, 4, "a", false],
      [2, 4, "b", true],
      [3, 4, "a", false],
      [4, 4, "b", true],
    ],
  );
  const thrown = new Error("enough");
  const error = await failing(agent, evalSet, MATCH, 2, {
    onAgentProgress: () => {
      throw thrown;
    },
  });
  assert.equal(error, thrown);
});

test("the scores of all turns of all runs are pooled, and the error says where and what differs", async () => {
  const answers = ["a b c d", "a b x y", "a b c d", "a x y z"];
  const my_agent = () => answers.shift();
  const evalSet = evalSetOf({ one: [turn("1", "a b c d"), turn("2", "a b c d")] });
  const error = await failing(my_agent, evalSet, { response_match_score: 0.8 }, 2, { parallelism: 1 });
  assert.equal(
    error.message,
    `The only case did not pass, each run 2 times.
  one: response_match_score is 0.6875 on average, threshold 0.8

✗ one (run 1)
  response_match_score: failed, score 0.7500, threshold 0.8
    turn 2, 0.5000  2
      - a b c d
      + a b x y
        precision 0.5000, recall 0.5000

✗ one (run 2)
  response_match_score: failed, score 0.6250, threshold 0.8
    turn 2, 0.2500  2
      - a b c d
      + a x y z
        precision 0.2500, recall 0.2500`,
  );
  assert.deepEqual(error.failures, [
    {
      evalSetId: "evalset",
      resultIndex: 0,
      evalId: "one",
      metricName: "response_match_score",
      threshold: 0.8,
      score: 0.6875,
      message: "response_match_score is 0.6875 in case one on average of 2 runs, threshold 0.8",
    },
  ]);
});

test("a run that fails in one metric passes if the pooled mean reaches the threshold", async () => {
  const answers = ["a b c d", "a b x y"];
  const results = await run(
    () => answers.shift(),
    evalSetOf({ one: [turn("1", "a b c d")] }),
    { response_match_score: 0.75 },
    2,
  );
  assert.deepEqual(results.map(({ finalEvalStatus }) => finalEvalStatus).sort(), [
    EvalStatus.PASSED,
    EvalStatus.FAILED,
  ]);
});

test("a metric without a score fails, and the reason is said", async () => {
  const judge = async () => "no verdict at all";
  const error = await failing(() => "Hello!", HELLO, { final_response_match_v2: 0.5 }, 1, { judge });
  const [{ message }] = error.failures;
  assert.equal(
    message,
    "final_response_match_v2 was not evaluated in case hello: no reply of the judge could be read: expected " +
      '`{"is_the_agent_response_valid": "valid"}` or `"invalid"`, found "no verdict at all"',
  );
  assert.match(error.message, /found "no verdict at all"/);
});

test("metrics of one's own are found in the registry that is given", async () => {
  const registry = new MetricEvaluatorRegistry();
  class Exclaims extends Evaluator {
    async evaluateInvocations(actual) {
      const perInvocationResults = actual.map((actualInvocation) => ({
        actualInvocation,
        score: answerOf(actualInvocation).endsWith("!") ? 1 : 0,
        evalStatus: EvalStatus.PASSED,
      }));
      return { overallScore: 1, overallEvalStatus: EvalStatus.PASSED, perInvocationResults };
    }
    static getMetricInfo() {
      return { metricName: "exclaims" };
    }
  }
  registry.registerEvaluator({ metricName: "exclaims" }, Exclaims);
  const [result] = await run(() => "Hello!", HELLO, { exclaims: 1 }, 1, { registry });
  assert.equal(scoreOf(result, "exclaims"), 1);
});

test("the report with every turn is printed if asked for", async (context) => {
  const log = context.mock.method(console, "log", () => undefined);
  const result = await AgentEvaluator.evaluateEvalSet(() => "Hello!", HELLO, MATCH, 1, true);
  assert.deepEqual(
    log.mock.calls.map(({ arguments: [text] }) => text),
    [renderTable(result, { details: true })],
  );
  assert.match(log.mock.calls[0].arguments[0], /Details of hello\n {2}Turn 1\n {4}user +Hello\?\n/);
});

test("warnings are printed once by an evaluation that passes, and are in the report if that is printed", async (context) => {
  for (const what of ["warn", "log"]) context.mock.method(console, what, () => undefined);
  const set = { ...HELLO, owner: "me" };
  await AgentEvaluator.evaluateEvalSet(() => "Hello!", set, MATCH, 1, true);
  assert.match(console.log.mock.calls[0].arguments[0], /warning: `owner` is not a key of an evalset/);
  assert.equal(console.warn.mock.callCount(), 0);
  for (let time = 0; time < 2; time += 1) await run(() => "Hello!", set, MATCH, 1);
  assert.deepEqual(
    console.warn.mock.calls.map(({ arguments: [text] }) => text),
    ["adk-metrics: warning: `owner` is not a key of an evalset and is left out (evalSet: owner)"],
  );
});

test("a case that passes in all but what was not evaluated is shown as one that did not pass", async () => {
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "silent" }, () => undefined);
  const error = await AgentEvaluator.evaluateEvalSet(() => "Hello!", HELLO, { ...MATCH, silent: 1 }, 1, false, {
    registry,
  }).catch((caught) => caught);
  assert.match(
    error.message,
    /^The only case did not pass\.\nwarning: `silent` failed in 1 of 1 case results, .*\n\n✗ /,
  );
});

test("criteria that are a list are told what they look like", async () => {
  await assert.rejects(
    AgentEvaluator.evaluateEvalSet(() => "", HELLO, [], 1),
    ({ message, help }) =>
      message === "expected an object of criteria, found an array" && /^A config contains/.test(help),
  );
});
