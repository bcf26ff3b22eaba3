// LocalEvalService: both steps in one, invocations from elsewhere, failed runs, and what it cannot use.

import assert from "node:assert/strict";
import test from "node:test";
import { EvalStatus, LocalEvalService } from "../../pkg/dist/esm/node.js";
import { errorOf, scoreOf } from "./evalsets.mjs";
import { HELLO } from "./greeting.mjs";

test("LocalEvalService scores both steps in one, and invocations from elsewhere by their ids", async () => {
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  const service = new LocalEvalService((message) => (message === "Hello?" ? "Hello!" : "What?"), 2);
  const session = { evalSetId: "set", evalCases: [HELLO], evaluateConfig };
  for await (const { evalCaseResults } of service.evaluateSession(session)) {
    assert.deepEqual([evalCaseResults.length, evalCaseResults[0].finalEvalStatus], [1, EvalStatus.PASSED]);
  }
  const [expected] = HELLO.evalCases[0].conversation;
  const foreign = [
    { ...expected, invocationId: "a-b-expected-0" },
    { ...expected, invocationId: "a-b-0" },
  ];
  for await (const { evalCaseResults } of service.evaluate({
    inferenceResults: [foreign, [...foreign]],
    evaluateConfig,
  })) {
    assert.deepEqual(
      evalCaseResults.map(({ evalId }) => evalId),
      ["a-b", "a-b"],
    );
    assert.equal(scoreOf(evalCaseResults[0], "response_match_score"), 1);
  }
});

test("what LocalEvalService cannot use is an error that says what and where", async () => {
  const service = new LocalEvalService(() => assert.fail("the agent was run"));
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  const evalCases = [HELLO];
  const mistakes = [
    ["performInference", undefined, "request"],
    ["performInference", { evalCases: HELLO }, "evalCases"],
    ["evaluateSession", undefined, "request"],
    ["evaluateSession", { evalCases }, "evaluateConfig"],
    ["evaluate", undefined, "request"],
    ["evaluate", { evaluateConfig }, "inferenceResults"],
    ["evaluate", { inferenceResults: [undefined], evaluateConfig }, "inferenceResults[0]"],
    ["evaluate", { inferenceResults: [[null]], evaluateConfig }, "inferenceResults[0][0]"],
    ["evaluate", { inferenceResults: [], evaluateConfig }, "inferenceResults"],
    ["evaluate", { inferenceResults: [[]] }, "evaluateConfig"],
    ["evaluate", { inferenceResults: [[]], evaluateConfig: {} }, "evaluateConfig.evalMetrics"],
    ["evaluate", { inferenceResults: [[]], evaluateConfig: { evalMetrics: [null] } }, "evaluateConfig.evalMetrics[0]"],
    ["evaluate", { inferenceResults: [[]], evaluateConfig: { evalMetrics: [{}] } }, "evaluateConfig.evalMetrics[0]"],
  ];
  for (const [method, given, path] of mistakes) {
    const error = await errorOf(async () => {
      for await (const _ of service[method](given));
    });
    assert.deepEqual([error.code, error.path], ["invalid_input", path], error.stack);
  }
});

test("LocalEvalService refuses the same case in two evalsets of one id, before the agent is run", async () => {
  const service = new LocalEvalService(() => assert.fail("the agent was run"));
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  const request = { evalSetId: "set", evalCases: [HELLO, structuredClone(HELLO)], evaluateConfig };
  for (const method of ["performInference", "evaluateSession"]) {
    const { code, message, path } = await errorOf(() => service[method](request).next());
    assert.deepEqual([code, path], ["invalid_input", "evalCases[1]"]);
    assert.match(message, /has the case hello in evalCases\[0\] already/);
  }
  const other = { ...structuredClone(HELLO), evalSetId: "other" };
  const found = new LocalEvalService(() => "Hello!").performInference({ ...request, evalCases: [HELLO, other] });
  let inferences = 0;
  for await (const _ of found) inferences += 1;
  assert.equal(inferences, 2);
});

test("what is wrong with the settings of the simulated user is said on construction", () => {
  for (const [userSimulator, path] of [
    [{ modelConfiguration: { temprature: 0 } }, "userSimulator: modelConfiguration.temprature"],
    [{ modelConfiguration: { httpOptions: {} } }, "userSimulator: modelConfiguration.httpOptions"],
    [{ model: "openai/" }, "userSimulator: model"],
    [{ maxAllowedInvocations: 1.5 }, "userSimulator: maxAllowedInvocations"],
  ]) {
    assert.throws(() => new LocalEvalService(() => "Hello!", 1, { userSimulator }), { code: "invalid_input", path });
  }
});

test("a failed run stays failed through LocalEvalService", async () => {
  const service = new LocalEvalService(() => {
    throw new Error("out of order");
  });
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  for await (const { evalCaseResults } of service.evaluateSession({
    evalSetId: "s",
    evalCases: [HELLO],
    evaluateConfig,
  })) {
    assert.equal(evalCaseResults[0].finalEvalStatus, EvalStatus.FAILED);
    assert.match(evalCaseResults[0].reason, /out of order/);
  }
});

test("turns that are missing or too many fail their case, and the others go on", async () => {
  const service = new LocalEvalService(() => "Hello!");
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  const hello = (invocationId) => ({ ...HELLO.evalCases[0].conversation[0], invocationId });
  const inferenceResults = [
    [hello("short-expected-0"), hello("short-expected-1"), hello("short-0")],
    [hello("long-expected-0"), hello("long-0"), hello("long-1")],
    [hello("fine-expected-0"), hello("fine-0")],
  ];
  const found = [];
  for await (const { evalCaseResults } of service.evaluate({ inferenceResults, evaluateConfig })) {
    found.push(...evalCaseResults.map(({ evalId, finalEvalStatus, reason }) => [evalId, finalEvalStatus, reason]));
  }
  assert.deepEqual(
    found.map(([evalId, status]) => [evalId, status]),
    [
      ["short", EvalStatus.FAILED],
      ["long", EvalStatus.FAILED],
      ["fine", EvalStatus.PASSED],
    ],
  );
  assert.match(found[0][2], /turn/);
});

test("a signal that is aborted from the start runs no agent, and says why nothing is scored", async () => {
  let runs = 0;
  const agent = () => `Hello ${(runs += 1)}`;
  const service = new LocalEvalService(agent, 1, { signal: AbortSignal.abort() });
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.8 }] };
  const found = [];
  for await (const result of service.evaluateSession({ evalSetId: "s", evalCases: [HELLO], evaluateConfig })) {
    const [{ finalEvalStatus, reason }] = result.evalCaseResults;
    found.push([result.cancelled, finalEvalStatus, reason]);
  }
  const why = "the run was cancelled before this was scored";
  assert.deepEqual(found, [[true, EvalStatus.NOT_EVALUATED, why]]);
  assert.equal(runs, 0);
});
