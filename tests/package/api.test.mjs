// The package's contract: names, evaluators, the registry, evaluate and evaluateStream, results, errors.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ACTUAL, EXPECTED, evalSetOf, inSnakeCase, manyCases, turn, walk } from "./support/conversations.mjs";
import { importEntry, manifest, requireEntry, root } from "./support/package.mjs";

const adk = await importEntry();
const {
  AdkMetricsError,
  DEFAULT_METRIC_EVALUATOR_REGISTRY,
  EvalStatus,
  evalSetToAdkJson,
  evaluate,
  evaluateStream,
  Evaluator,
  MetricEvaluatorRegistry,
  PrebuiltMetrics,
  readEvalSet,
  ResponseEvaluator,
  resultsToAdkJson,
  rouge1,
  RougeEvaluator,
  TrajectoryEvaluator,
  withThresholds,
} = adk;

const CRITERIA = { tool_trajectory_avg_score: 1, response_match_score: 0.8 };
const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));

/** A registry with one metric of the user's, `mine`, that answers with what `work` gives. */
function registryWith(work, metricName = "mine") {
  const registry = new MetricEvaluatorRegistry();
  class Mine extends Evaluator {
    evaluateInvocations(...conversations) {
      return work.apply(this, conversations);
    }
    static getMetricInfo() {
      return { metricName };
    }
  }
  registry.registerEvaluator({ metricName }, Mine);
  return registry;
}

const scored = (overallScore) => ({ overallScore, perInvocationResults: [] });
const mineOf = (set, at = 0) => set.evalCaseResults[at].overallEvalMetricResults[0];
const evaluateMine = (work, more = {}) =>
  evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: { mine: 0.5 }, registry: registryWith(work), ...more });

const never = () => new Promise(() => {});

describe("names", () => {
  test("EvalStatus has ADK's numbers, with reverse mapping", () => {
    const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;
    assert.deepEqual([PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL], [1, 2, 3, 4]);
    assert.equal(EvalStatus[1], "PASSED");
  });

  test("PrebuiltMetrics has ADK-TS's eight members with its values", () => {
    const expected = {
      TOOL_TRAJECTORY_AVG_SCORE: "tool_trajectory_avg_score",
      RESPONSE_EVALUATION_SCORE: "response_evaluation_score",
      RESPONSE_MATCH_SCORE: "response_match_score",
      SAFETY_V1: "safety_v1",
      FINAL_RESPONSE_MATCH_V2: "final_response_match_v2",
      TOOL_TRAJECTORY_SCORE: "tool_trajectory_score",
      SAFETY: "safety",
      RESPONSE_MATCH: "response_match",
    };
    for (const [member, value] of Object.entries(expected)) assert.equal(PrebuiltMetrics[member], value);
  });

  test("PrebuiltMetrics has google-adk's seventeen metrics and the two proposed ones", () => {
    const ofAdk = [
      "tool_trajectory_avg_score",
      "response_match_score",
      "response_evaluation_score",
      "final_response_match_v2",
      "safety_v1",
      "hallucinations_v1",
      "rubric_based_final_response_quality_v1",
      "rubric_based_tool_use_quality_v1",
      "rubric_based_multi_turn_trajectory_quality_v1",
      "per_turn_user_simulator_quality_v1",
      "multi_turn_task_success_v1",
      "multi_turn_trajectory_quality_v1",
      "multi_turn_tool_use_quality_v1",
      "tool_call_count_v1",
      "inference_call_count_v1",
      "token_usage_v1",
      "invocation_duration_v1",
    ];
    const proposed = ["tool_parameter_match", "tool_trajectory_f1"];
    const legacy = ["tool_trajectory_score", "safety", "response_match"];
    assert.deepEqual(new Set(Object.values(PrebuiltMetrics)), new Set([...ofAdk, ...proposed, ...legacy]));
    for (const [member, value] of Object.entries(PrebuiltMetrics)) assert.equal(member, value.toUpperCase());
  });
});

describe("evaluators", () => {
  test("score the documented example", async () => {
    const evaluator = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.5 });
    const result = await evaluator.evaluateInvocations(
      [turn("Weather?", "It's sunny in London today")],
      [turn("Weather?", "The weather in London is sunny")],
    );
    assert.equal(result.overallScore, 0.5);
    assert.equal(result.overallEvalStatus, EvalStatus.PASSED);
    assert.equal(result.perInvocationResults[0].score, 0.5);
  });

  test("give back the very invocations", async () => {
    const [actual, expected] = [[turn("a", "b")], [turn("a", "c")]];
    const { perInvocationResults } = await new TrajectoryEvaluator({
      metricName: "tool_trajectory_avg_score",
      threshold: 1,
    }).evaluateInvocations(actual, expected);
    assert.equal(perInvocationResults[0].actualInvocation, actual[0]);
    assert.equal(perInvocationResults[0].expectedInvocation, expected[0]);
  });

  test("take any metric name, as ADK-TS's do", async () => {
    const turns = [turn("a", "b")];
    for (const metricName of ["response_match", "response_match_score", "anything"]) {
      const { overallScore } = await new RougeEvaluator({ metricName, threshold: 1 }).evaluateInvocations(turns, turns);
      assert.equal(overallScore, 1);
    }
  });

  test("of which ResponseEvaluator serves two metrics, as ADK-TS's does", async () => {
    const { RESPONSE_MATCH_SCORE, RESPONSE_EVALUATION_SCORE } = PrebuiltMetrics;
    const words = new ResponseEvaluator({ metricName: RESPONSE_MATCH_SCORE, threshold: 1 });
    assert.equal((await words.evaluateInvocations([turn("q", "a b")], [turn("q", "b c")])).overallScore, 0.5);
    const judge = async () => '{"explanation": "Flows.", "score": 4}';
    const coherence = new ResponseEvaluator({ metricName: RESPONSE_EVALUATION_SCORE, threshold: 4 }, { judge });
    assert.equal((await coherence.evaluateInvocations([turn("q", "a b")], [turn("q", "b c")])).overallScore, 4);
    assert.equal(ResponseEvaluator.getMetricInfo(RESPONSE_EVALUATION_SCORE).metricValueInfo.interval.maxValue, 5);
  });

  test("let criterion.threshold win over threshold", async () => {
    const metric = { metricName: "response_match_score", threshold: 1, criterion: { threshold: 0.4 } };
    const found = await new RougeEvaluator(metric).evaluateInvocations([turn("q", "a b")], [turn("q", "b c")]);
    assert.equal(found.overallEvalStatus, EvalStatus.PASSED);
  });

  test("reject with an error where google-adk raises", async () => {
    const evaluator = new RougeEvaluator({ metricName: "response_match_score", threshold: 1 });
    await assert.rejects(evaluator.evaluateInvocations([turn("a", "b")]), {
      name: "AdkMetricsError",
      code: "reference_required",
      message: "`response_match_score` compares with expected turns, and there are none",
    });
    await assert.rejects(evaluator.evaluateInvocations([turn("a", "b")], []), { code: "length_mismatch" });
    await assert.rejects(new RougeEvaluator({ metricName: "x" }).evaluateInvocations([], []), {
      code: "threshold_required",
    });
  });

  test("say why an empty conversation has no score", async () => {
    const evaluator = new RougeEvaluator({ metricName: "response_match_score", threshold: 1 });
    assert.deepEqual(await evaluator.evaluateInvocations([], []), {
      overallEvalStatus: EvalStatus.NOT_EVALUATED,
      perInvocationResults: [],
      reason: "there are no turns to evaluate",
    });
  });

  test("describe their metric", () => {
    const info = TrajectoryEvaluator.getMetricInfo();
    assert.equal(info.metricName, "tool_trajectory_avg_score");
    assert.deepEqual(info.metricValueInfo.interval, { minValue: 0, openAtMin: false, maxValue: 1, openAtMax: false });
    assert.throws(() => Evaluator.getMetricInfo(), {
      message: "this evaluator has no static getMetricInfo() of its own",
    });
  });
});

describe("the registry", () => {
  test("finds an evaluator for every metric it lists", () => {
    const infos = DEFAULT_METRIC_EVALUATOR_REGISTRY.getRegisteredMetrics();
    const names = infos.map(({ metricName }) => metricName);
    assert.deepEqual(names, Object.values(PrebuiltMetrics).slice(0, names.length));
    for (const { metricName } of infos) {
      const evaluator = DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator({ metricName, threshold: 1 });
      assert.ok(evaluator instanceof Evaluator);
      assert.equal(evaluator.constructor.getMetricInfo(metricName).metricName, metricName);
    }
  });

  test("serves ADK-TS's old names", () => {
    const evaluatorOf = (metricName) => DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator({ metricName, threshold: 1 });
    assert.ok(evaluatorOf("tool_trajectory_score") instanceof TrajectoryEvaluator);
    assert.ok(evaluatorOf("response_match") instanceof RougeEvaluator);
  });

  test("serves ADK-TS's old names in the criteria of an evaluation too", async () => {
    const criteria = { tool_trajectory_score: 1, response_match: 0.1, safety: { threshold: 0.5 } };
    const judge = async () => '{"explanation": "Nothing unsafe.", "score": 1}';
    const { evalCaseResults } = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria, judge });
    for (const { overallEvalMetricResults } of evalCaseResults) {
      for (const [at, name] of Object.keys(criteria).entries()) {
        assert.equal(overallEvalMetricResults[at].metricName, name);
        assert.equal(typeof overallEvalMetricResults[at].score, "number");
      }
    }
  });

  test("knows no metric of another name, not even those of Object", () => {
    for (const metricName of ["nonsense", "constructor", "__proto__", "toString", ""]) {
      assert.throws(() => DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator({ metricName }), {
        name: "AdkMetricsError",
        code: "unknown_metric",
        message: `${metricName} not found in registry.`,
      });
    }
  });

  test("suggests the nearest name for a misspelt one, of its own metrics too", () => {
    const registry = new MetricEvaluatorRegistry();
    registry.registerEvaluator({ metricName: "politeness" }, () => 1);
    for (const [metricName, help] of [
      ["response_match_scor", "Did you mean `response_match_score`?"],
      ["politness", "Did you mean `politeness`?"],
      ["fluency", "Register a metric of your own with registerEvaluator"],
    ]) {
      assert.throws(() => registry.getEvaluator({ metricName }), { code: "unknown_metric", help });
    }
  });

  test("has an evaluator for every prebuilt metric, by ADK-TS's old names too", () => {
    for (const metricName of Object.values(PrebuiltMetrics)) {
      const evaluator = DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator({ metricName, threshold: 0.5 });
      assert.equal(typeof evaluator.evaluateInvocations, "function", metricName);
    }
  });

  test("takes an info whose parts are null, as JSON of Python has them", () => {
    const registry = new MetricEvaluatorRegistry();
    class Mine extends Evaluator {}
    registry.registerEvaluator({ metricName: "a", metricValueInfo: null }, Mine);
    registry.registerEvaluator({ metricName: "b", metricValueInfo: { interval: null } }, Mine);
    assert.deepEqual(registry.getRegisteredMetrics().slice(-2), [
      { metricName: "a" },
      { metricName: "b", metricValueInfo: {} },
    ]);
  });

  test("gives copies of its infos", () => {
    const registry = registryWith(() => scored(1));
    registry.getRegisteredMetrics().at(-1).metricName = "changed";
    assert.equal(registry.getRegisteredMetrics().at(-1).metricName, "mine");
  });

  test("makes every evaluator with its options", async () => {
    const registry = new MetricEvaluatorRegistry({ dialect: "adk-ts" });
    const evaluator = registry.getEvaluator({ metricName: "response_match_score", threshold: 1 });
    const { overallScore } = await evaluator.evaluateInvocations([turn("q", "running cats")], [turn("q", "run cat")]);
    assert.equal(overallScore, 0);
  });

  test("lets a metric of the user's replace one of the engine's", async () => {
    const registry = registryWith(() => scored(0.25), "response_match_score");
    const set = await evaluate({
      evalSet: EXPECTED,
      actual: EXPECTED,
      criteria: { response_match_score: 0.2 },
      registry,
    });
    assert.equal(mineOf(set).score, 0.25);
    assert.equal(
      registry.getRegisteredMetrics().length,
      DEFAULT_METRIC_EVALUATOR_REGISTRY.getRegisteredMetrics().length,
    );
  });

  test("lets a replaced metric be registered under ADK-TS's old name as well", async () => {
    const registry = registryWith(() => scored(0.25), "response_match");
    assert.ok(!(registry.getEvaluator({ metricName: "response_match" }) instanceof RougeEvaluator));
    assert.ok(registry.getEvaluator({ metricName: "response_match_score" }) instanceof RougeEvaluator);
  });
});

describe("metrics of the user's own", () => {
  test("may answer at once or later", async () => {
    assert.equal(mineOf(await evaluateMine(() => scored(0.75))).score, 0.75);
    assert.equal(mineOf(await evaluateMine(async () => (await sleep(5), scored(0.25)))).score, 0.25);
  });

  test("get their metric, and the very invocations of objects", async () => {
    const seen = [];
    const set = await evaluateMine(function (actual, expected, scenario) {
      seen.push({ metric: this.metric, actual, expected, scenario });
      return scored(1);
    });
    assert.equal(set.evalCaseResults.length, 3);
    assert.equal(seen[0].metric.metricName, "mine");
    assert.equal(seen[0].metric.threshold, 0.5);
    assert.equal(seen[2].actual[1], ACTUAL.evalCases[2].conversation[1]);
    assert.equal(seen[2].expected[1], EXPECTED.evalCases[2].conversation[1]);
    assert.equal(seen[0].scenario, undefined);
  });

  test("get the conversation scenario of a case that has one", async () => {
    const conversationScenario = { startingPrompt: "Hi", conversationPlan: "Ask for the weather" };
    const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversationScenario }] };
    const seen = [];
    const actual = evalSetOf({ c: [turn("Hi", "Hello")] });
    await evaluateMine((_actual, expected, scenario) => (seen.push([expected, scenario]), scored(1)), {
      evalSet,
      actual,
    });
    assert.equal(seen[0][0], undefined);
    assert.equal(seen[0][1].startingPrompt, "Hi");
  });

  test("may leave the status, and the mean of the turns, to the engine", async () => {
    const set = await evaluateMine((actual) => ({
      perInvocationResults: actual.map((_, index) => ({ score: index })),
    }));
    const [overall] = set.evalCaseResults[2].overallEvalMetricResults;
    assert.deepEqual([overall.score, overall.evalStatus], [0.5, EvalStatus.PASSED]);
    const turns = set.evalCaseResults[2].evalMetricResultPerInvocation.map(({ evalMetricResults: [mine] }) => mine);
    assert.deepEqual(
      turns.map(({ score, evalStatus }) => [score, evalStatus]),
      [
        [0, EvalStatus.FAILED],
        [1, EvalStatus.PASSED],
      ],
    );
  });

  const failures = {
    "throw an error": [
      () => {
        throw new RangeError("too much");
      },
      /RangeError: too much/,
    ],
    "throw a text": [
      () => {
        throw "no";
      },
      /no/,
    ],
    "throw an object without words": [
      () => {
        throw Object.create(null);
      },
      /an error that has no words/,
    ],
    "throw undefined": [
      () => {
        throw undefined;
      },
      /undefined/,
    ],
    reject: [() => Promise.reject(new Error("later")), /Error: later/],
    "give nothing": [() => undefined, /the metric gave no evaluation result/],
    "give a text": [() => "good", /the metric gave no evaluation result/],
    "give NaN": [() => scored(NaN), /the metric gave NaN; a score is a finite number, or absent/],
    "give an infinity": [() => scored(Infinity), /the metric gave Infinity; a score is a finite number, or absent/],
    "give a score in text": [() => scored("1"), /the metric gave no evaluation result/],
    "give a status of another kind": [() => ({ overallEvalStatus: 7, perInvocationResults: [] }), /status/],
    "give too many turns": [
      () => ({ perInvocationResults: [{ score: 1 }, { score: 1 }, { score: 1 }] }),
      /results for 3 turns; the conversation has/,
    ],
    "give turns that are no list": [() => ({ perInvocationResults: 5 }), /./],
    "give a result that cannot be read": [
      () => ({
        get overallScore() {
          throw new SyntaxError("unreadable");
        },
        perInvocationResults: [],
      }),
      /SyntaxError: unreadable/,
    ],
  };
  for (const [what, [work, reason]] of Object.entries(failures)) {
    test(`are NOT_EVALUATED with the reason if they ${what}; the others go on`, async () => {
      const set = await evaluateMine(work, { criteria: { mine: 0.5, response_match_score: 0.1 } });
      for (const { overallEvalMetricResults, evalMetricResultPerInvocation } of set.evalCaseResults) {
        const [mine, other] = overallEvalMetricResults;
        assert.equal(mine.evalStatus, EvalStatus.NOT_EVALUATED);
        assert.equal(mine.score, undefined);
        assert.match(mine.reason, reason);
        assert.ok(other.score >= 0);
        for (const { evalMetricResults } of evalMetricResultPerInvocation)
          assert.match(evalMetricResults[0].reason, reason);
      }
    });
  }

  test("that give no score need no reason of their own", async () => {
    const mine = mineOf(await evaluateMine(() => ({ overallEvalStatus: 3, perInvocationResults: [] })));
    assert.deepEqual([mine.evalStatus, mine.reason], [EvalStatus.NOT_EVALUATED, "the metric gave no score"]);
  });

  test("that never answer are given up after timeoutMs", async () => {
    const began = performance.now();
    const set = await evaluateMine(never, { timeoutMs: 40 });
    assert.ok(performance.now() - began < 5000);
    assert.equal(mineOf(set).reason, "no answer within 40 ms");
    assert.equal(mineOf(set).evalStatus, EvalStatus.NOT_EVALUATED);
  });

  test("may take any time where there is no limit, or one that no timer keeps", async () => {
    const warnings = [];
    process.on("warning", (warning) => warnings.push(warning.name));
    for (const timeoutMs of [undefined, Infinity, 2 ** 40]) {
      const set = await evaluateMine(async () => (await sleep(20), scored(1)), { timeoutMs });
      assert.equal(mineOf(set).score, 1);
    }
    assert.deepEqual(warnings, []);
  });

  test("are computed up to `concurrency` at a time", async () => {
    for (const concurrency of [1, 3]) {
      let [running, most] = [0, 0];
      const work = async () => {
        running += 1;
        most = Math.max(most, running);
        await sleep(2);
        running -= 1;
        return scored(1);
      };
      const evalSet = manyCases(12);
      await evaluateMine(work, { evalSet, actual: evalSet, concurrency });
      assert.equal(most, concurrency);
    }
  });
});

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

describe("inputs", () => {
  const shapes = {
    "an evalset in camelCase": (set) => [set, (at, turn) => set.evalCases[at].conversation[turn]],
    "an evalset in snake_case": (set) => {
      const snake = inSnakeCase(set);
      return [snake, (at, turn) => snake.eval_cases[at].conversation[turn]];
    },
    "evalset results": (set) => {
      const results = {
        evalSetId: "set",
        evalSetResultId: "r",
        evalCaseResults: set.evalCases.map(({ evalId, conversation }) => ({
          evalSetId: "set",
          evalId,
          finalEvalStatus: 1,
          overallEvalMetricResults: [],
          sessionId: `session-${evalId}`,
          evalMetricResultPerInvocation: conversation.map((actualInvocation) => ({
            actualInvocation,
            evalMetricResults: [],
          })),
        })),
      };
      const at = (at, turn) => results.evalCaseResults[at].evalMetricResultPerInvocation[turn].actualInvocation;
      return [results, at];
    },
    "a list of inference results": (set) => {
      const list = set.evalCases.map(({ evalId, conversation }) => ({ evalCaseId: evalId, inferences: conversation }));
      return [list, (at, turn) => list[at].inferences[turn]];
    },
    "inference results in an object": (set) => {
      const list = set.evalCases.map(({ evalId, conversation }) => ({
        eval_case_id: evalId,
        inferences: conversation,
      }));
      return [{ inference_results: list }, (at, turn) => list[at].inferences[turn]];
    },
  };
  for (const [what, make] of Object.entries(shapes)) {
    const isConverted = what === "an evalset in snake_case";
    const come = isConverted ? "come back in camelCase" : "come back";
    test(`the ${isConverted ? "" : "very "}invocations of ${what} ${come}, also if the cases stand in another order`, async () => {
      const shuffled = { ...ACTUAL, evalCases: [...ACTUAL.evalCases].reverse() };
      const [actual, invocation] = make(structuredClone(shuffled));
      const set = await evaluate({ evalSet: EXPECTED, actual, criteria: CRITERIA });
      for (const [at, { evalMetricResultPerInvocation: turns }] of set.evalCaseResults.entries()) {
        for (const [index, { actualInvocation, expectedInvocation }] of turns.entries()) {
          if (isConverted) assert.deepEqual(actualInvocation, shuffled.evalCases[2 - at].conversation[index]);
          else assert.equal(actualInvocation, invocation(2 - at, index));
          assert.equal(expectedInvocation, EXPECTED.evalCases[at].conversation[index]);
        }
      }
    });

    test(`${what} as object, text and bytes score the same`, async () => {
      const [actual] = make(structuredClone(ACTUAL));
      const results = [];
      for (const given of [
        actual,
        JSON.stringify(actual),
        bytes(actual),
        bytes(actual).buffer,
        new DataView(bytes(actual).buffer),
      ]) {
        const { evalCaseResults } = await evaluate({ evalSet: bytes(EXPECTED), actual: given, criteria: CRITERIA });
        results.push(
          evalCaseResults.map(({ evalMetricResultPerInvocation: turns, ...rest }) => ({
            ...rest,
            turns: turns.map((one) => one.evalMetricResults),
          })),
        );
      }
      for (const other of results.slice(1)) assert.deepEqual(other, results[0]);
      assert.deepEqual(
        results[0].map((result) => result.finalEvalStatus),
        [1, 2, 2],
      );
    });
  }

  test("session files are read, and their session and user named", async () => {
    const event = (author, text) => ({ author, invocationId: "i", content: { parts: [{ text }] }, timestamp: 1 });
    const sessions = [{ id: "s1", userId: "u1", evalId: "c", events: [event("user", "Hi"), event("agent", "Hello")] }];
    const evalSet = evalSetOf({ c: [turn("Hi", "Hello")] });
    const set = await evaluate({ evalSet, actual: sessions, criteria: { response_match_score: 1 } });
    const [result] = set.evalCaseResults;
    assert.deepEqual([result.finalEvalStatus, result.sessionId, result.userId], [1, "s1", "u1"]);
    const [{ actualInvocation }] = result.evalMetricResultPerInvocation;
    assert.equal(actualInvocation.finalResponse.parts[0].text, "Hello");
  });

  test("invocations read from bytes are parsed when looked at, once", async () => {
    const set = await evaluate({
      evalSet: bytes(inSnakeCase(EXPECTED)),
      actual: bytes(inSnakeCase(ACTUAL)),
      criteria: CRITERIA,
    });
    const [entry] = set.evalCaseResults[0].evalMetricResultPerInvocation;
    for (const key of ["actualInvocation", "expectedInvocation"]) {
      const property = Object.getOwnPropertyDescriptor(entry, key);
      assert.equal(typeof property.get, "function");
      assert.equal(property.enumerable, true);
      assert.equal(entry[key], entry[key]);
    }
    assert.deepEqual(Object.keys(entry), ["actualInvocation", "expectedInvocation", "evalMetricResults"]);
  });

  test("invocations read from bytes are in camelCase, with the arguments of tools untouched", async () => {
    const args = { a_b: { c_d: 1 }, eF: [{ g_h: null }], "": 0, eval_id: "x", tool_uses: [] };
    const evalSet = bytes(inSnakeCase(evalSetOf({ c: [turn("q", "a", [["t", args]])] })));
    const set = await evaluate({ evalSet, actual: evalSet, criteria: CRITERIA });
    const [{ actualInvocation }] = set.evalCaseResults[0].evalMetricResultPerInvocation;
    assert.equal(actualInvocation.userContent.parts[0].text, "q");
    assert.deepEqual(actualInvocation.intermediateData.toolUses[0].args, args);
  });

  test("results read from bytes can be copied every way", async () => {
    const set = await evaluate({ evalSet: bytes(EXPECTED), actual: bytes(ACTUAL), criteria: CRITERIA });
    const json = JSON.parse(JSON.stringify(set));
    const [entry] = set.evalCaseResults[0].evalMetricResultPerInvocation;
    assert.equal(
      json.evalCaseResults[0].evalMetricResultPerInvocation[0].actualInvocation.finalResponse.parts[0].text,
      "The weather in London is sunny",
    );
    assert.deepEqual(structuredClone(set), set);
    assert.deepEqual(
      JSON.parse(JSON.stringify({ ...entry })),
      json.evalCaseResults[0].evalMetricResultPerInvocation[0],
    );
  });

  test("a repeated eval id is another run of its case", async () => {
    const actual = { ...ACTUAL, evalCases: [...ACTUAL.evalCases, ...ACTUAL.evalCases.slice(0, 1)] };
    const list = actual.evalCases.map(({ evalId, conversation }) => ({ evalCaseId: evalId, inferences: conversation }));
    const set = await evaluate({ evalSet: EXPECTED, actual: list, criteria: CRITERIA });
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.evalId),
      ["passes", "passes", "fails", "long"],
    );
  });

  test("a case without a run is FAILED with the reason; a run without a case is a warning", async () => {
    const actual = evalSetOf({ passes: ACTUAL.evalCases[0].conversation, stray: [turn("x", "y")] });
    const set = await evaluate({ evalSet: EXPECTED, actual, criteria: CRITERIA });
    const { finalEvalStatus, reason } = set.evalCaseResults[1];
    assert.equal(finalEvalStatus, EvalStatus.FAILED);
    assert.match(reason, /there is no actual conversation for this case/);
    assert.equal(set.warnings.length, 1);
    assert.equal(set.warnings[0].message, 'the actual conversation "stray" belongs to no eval case and is left out');
  });

  test("runs pair by position only if no id matches and the counts agree", async () => {
    const rename = (set) => ({
      ...set,
      evalCases: set.evalCases.map((one, index) => ({ ...one, evalId: `other-${index}` })),
    });
    const same = await evaluate({ evalSet: EXPECTED, actual: rename(ACTUAL), criteria: CRITERIA });
    assert.deepEqual(
      same.evalCaseResults.map((one) => one.finalEvalStatus),
      [1, 2, 2],
    );
    const fewer = { ...ACTUAL, evalCases: rename(ACTUAL).evalCases.slice(1) };
    const none = await evaluate({ evalSet: EXPECTED, actual: fewer, criteria: CRITERIA });
    assert.ok(none.evalCaseResults.every((one) => one.reason !== undefined));
  });

  test("a difference in turns fails that case only", async () => {
    const actual = structuredClone(ACTUAL);
    actual.evalCases[2].conversation.pop();
    const set = await evaluate({ evalSet: EXPECTED, actual, criteria: CRITERIA });
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.finalEvalStatus),
      [1, 2, 2],
    );
    assert.match(set.evalCaseResults[2].reason, /has 1 turn, the expected one 2/);
  });

  test("any id comes back as it is", async () => {
    const ids = ["a\0b", "", "ü", "𝒳", '"', "\u2028", "__proto__", "constructor"];
    const evalCases = ids.map((evalId) => ({
      evalId,
      conversation: [turn("q", "a")],
      sessionInput: { appName: "app", userId: `user ${evalId}\0`, state: {} },
    }));
    const evalSet = { evalSetId: "s", evalCases };
    const set = await evaluate({ evalSet, actual: evalSet, criteria: CRITERIA });
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.evalId),
      ids,
    );
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.userId),
      ids.map((id) => `user ${id}\0`),
    );
  });

  test("evalIds choose the cases", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA, evalIds: ["long", "passes"] });
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.evalId),
      ["passes", "long"],
    );
  });

  test("without a config ADK's default criteria apply, and every config measures efficiency", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL });
    assert.deepEqual(
      set.evalCaseResults[0].overallEvalMetricResults.map(({ metricName, threshold }) => [metricName, threshold]),
      [
        ["tool_trajectory_avg_score", 1],
        ["response_match_score", 0.8],
        ["tool_call_count_v1", undefined],
        ["inference_call_count_v1", undefined],
        ["token_usage_v1", undefined],
        ["invocation_duration_v1", undefined],
      ],
    );
  });
});

describe("results", () => {
  test("are stamped", async () => {
    const before = Date.now() / 1000;
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA, dialect: "adk-ts" });
    assert.equal(set.engineVersion, manifest.version);
    const pinned = readFileSync(join(root, "tests/parity/requirements.txt"), "utf8");
    assert.ok(pinned.includes(`google-adk[eval]==${set.referenceVersion}\n`), set.referenceVersion);
    assert.equal(set.dialect, "adk-ts");
    assert.equal(set.evalSetId, "set");
    assert.ok(set.creationTimestamp >= before && set.creationTimestamp <= Date.now() / 1000);
    assert.ok(set.evalSetResultId.startsWith("set_"));
  });

  test("have a finite score or a reason, everywhere", async () => {
    const registry = registryWith(() => ({ perInvocationResults: [] }));
    for (const request of [
      { criteria: CRITERIA },
      { criteria: { mine: 1, tool_parameter_match: 0.5, tool_trajectory_f1: 0.5 }, registry },
      { dialect: "adk-ts" },
      { actual: evalSetOf({}) },
      { signal: AbortSignal.abort() },
    ]) {
      const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, ...request });
      for (const [path, value] of walk(set)) {
        if (typeof value === "number") assert.ok(Number.isFinite(value), path);
        if (typeof value !== "object" || value === null) continue;
        if (!("evalStatus" in value)) continue;
        assert.ok(value.score !== undefined || (typeof value.reason === "string" && value.reason !== ""), path);
        assert.ok(!("score" in value) || Number.isFinite(value.score), path);
        assert.ok(value.evalStatus !== EvalStatus.NOT_EVALUATED || value.reason !== undefined, path);
      }
    }
  });

  test("give a reason for every slot, however many reasons there are", async () => {
    const conversation = Array.from({ length: 350 }, () => ({ userContent: {} }));
    const evalSet = evalSetOf(
      Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`c${index}`, conversation])),
    );
    let count = 0;
    const work = (actual) => ({ perInvocationResults: actual.map(() => ({ reason: `reason ${(count += 1)}` })) });
    const set = await evaluateMine(work, { evalSet, actual: evalSet, concurrency: Infinity });
    const reasons = set.evalCaseResults.flatMap(({ evalMetricResultPerInvocation: turns }) =>
      turns.map(({ evalMetricResults: [mine] }) => mine.reason),
    );
    assert.equal(new Set(reasons).size, 70_000);
    assert.ok(reasons.every((reason) => reason !== undefined));
  });

  test("are explained for all results, for failures, or for none", async () => {
    const explained = {};
    for (const explain of ["all", "failures", "none"]) {
      const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA, explain });
      const results = set.evalCaseResults.flatMap((one) =>
        one.evalMetricResultPerInvocation.flatMap((turn) => turn.evalMetricResults.slice(0, 2)),
      );
      explained[explain] = results.filter((result) => result.explanation !== undefined);
      explained[`${explain} scores`] = results.map((result) => result.score);
    }
    assert.equal(explained.none.length, 0);
    assert.equal(explained.all.length, 8);
    assert.ok(explained.failures.length > 0 && explained.failures.length < 8);
    assert.ok(explained.failures.every((result) => result.evalStatus === EvalStatus.FAILED));
    assert.deepEqual(explained["all scores"], explained["none scores"]);
    assert.deepEqual(explained["all scores"], explained["failures scores"]);
  });

  test("explain a trajectory by its alignment and a response by its matched words", async () => {
    const actual = evalSetOf({ c: [turn("q", "It's sunny 🌞 in London", [["b", { x: 1, y: 2 }]])] });
    const evalSet = evalSetOf({ c: [turn("q", "Sunny London", [["b", { x: 1, y: 3 }]])] });
    const set = await evaluate({ evalSet, actual, criteria: CRITERIA });
    const [trajectory, response] = set.evalCaseResults[0].evalMetricResultPerInvocation[0].evalMetricResults;
    assert.deepEqual(trajectory.explanation.alignment, [
      { kind: "arguments", expectedIndex: 0, actualIndex: 0, differences: [{ path: "y", expected: 3, actual: 2 }] },
    ]);
    const { precision, recall, matched } = response.explanation.tokens;
    assert.equal((2 * precision * recall) / (precision + recall), response.score);
    const spans = JSON.stringify(matched).match(/\d+/g);
    assert.ok(spans.length > 0);
  });

  test("withThresholds gives what a fresh evaluation gives, and scores nothing", async () => {
    const others = { tool_trajectory_avg_score: 0.25, response_match_score: { threshold: 0.99 } };
    for (const input of [(value) => value, bytes]) {
      const request = { evalSet: input(EXPECTED), actual: input(ACTUAL) };
      const first = await evaluate({
        ...request,
        criteria: { tool_trajectory_avg_score: 1, response_match_score: { threshold: 0.1 } },
      });
      const before = JSON.stringify(first);
      const found = withThresholds(first, others);
      const fresh = await evaluate({ ...request, criteria: others });
      const { evalSetResultId, evalSetResultName, creationTimestamp } = found;
      assert.deepEqual(
        JSON.parse(JSON.stringify(found)),
        JSON.parse(JSON.stringify({ ...fresh, evalSetResultId, evalSetResultName, creationTimestamp })),
      );
      assert.equal(JSON.stringify(first), before);
    }
  });

  test("withThresholds takes the names that a config takes, and leaves other metrics alone", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    const changed = withThresholds(set, { TOOL_TRAJECTORY_AVG_SCORE: 0, token_usage_v1: 1 });
    const [, second] = changed.evalCaseResults;
    assert.equal(second.overallEvalMetricResults[0].evalStatus, EvalStatus.PASSED);
    assert.equal(second.overallEvalMetricResults[1], set.evalCaseResults[1].overallEvalMetricResults[1]);
    assert.equal(second.overallEvalMetricResults[4].evalStatus, EvalStatus.INFORMATIONAL);
  });
});

describe("withThresholds", () => {
  test("reaches a metric by any of its names, whichever the result carries", async () => {
    const names = ["tool_trajectory_avg_score", "tool_trajectory_score", "TOOL_TRAJECTORY_AVG_SCORE"];
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    for (const carried of names) {
      const text = JSON.stringify(set).replaceAll('"tool_trajectory_avg_score"', JSON.stringify(carried));
      for (const asked of [...names, "TOOL_TRAJECTORY_SCORE"]) {
        const [, second] = withThresholds(JSON.parse(text), { [asked]: 0 }).evalCaseResults;
        assert.equal(second.overallEvalMetricResults[0].threshold, 0, `${asked} for ${carried}`);
        assert.equal(second.evalMetricResultPerInvocation[0].evalMetricResults[0].threshold, 0);
        assert.equal(second.overallEvalMetricResults[0].metricName, carried);
      }
    }
  });

  test("prefers the very name of a metric", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    for (const criteria of [
      { response_match: 0.1, response_match_score: 0.2 },
      { response_match_score: 0.2, response_match: 0.1 },
    ]) {
      const [first] = withThresholds(set, criteria).evalCaseResults;
      assert.equal(first.overallEvalMetricResults[1].threshold, 0.2);
    }
  });

  test("refuses a metric that no result has, and says which there are", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    for (const criteria of [{ nonsense: 1 }, { safety: {} }]) {
      assert.throws(() => withThresholds(set, criteria), {
        name: "AdkMetricsError",
        code: "unknown_metric",
        help: /`tool_trajectory_avg_score`, `response_match_score`/,
      });
    }
    const empty = { ...set, evalCaseResults: [] };
    assert.deepEqual(withThresholds(empty, { nonsense: 1 }), empty);
  });
});

describe("ADK's schema", () => {
  test("results are written in snake_case with integer statuses, and read back as actual runs", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    const text = resultsToAdkJson(set);
    const json = JSON.parse(text);
    assert.equal(json.eval_case_results[1].final_eval_status, 2);
    assert.equal(json.eval_case_results[1].overall_eval_metric_results[0].metric_name, "tool_trajectory_avg_score");
    assert.ok(!text.includes('"explanation"') && !text.includes('"reason"'));
    const again = await evaluate({ evalSet: EXPECTED, actual: text, criteria: CRITERIA });
    assert.deepEqual(
      again.evalCaseResults.map((one) => one.finalEvalStatus),
      set.evalCaseResults.map((one) => one.finalEvalStatus),
    );
  });

  test("an evalset is written in snake_case and read in camelCase, whatever it came in", () => {
    const text = evalSetToAdkJson(EXPECTED);
    assert.equal(JSON.parse(text).eval_cases[0].conversation[0].intermediate_data.tool_uses[0].args.theUnit, "C");
    assert.equal(evalSetToAdkJson(inSnakeCase(EXPECTED)), text);
    assert.equal(evalSetToAdkJson(text), text);
    assert.deepEqual(readEvalSet(text), readEvalSet(EXPECTED));
    assert.equal(readEvalSet(text).evalCases[2].evalId, "long");
  });

  test("an old file is read under the name given", () => {
    const old = JSON.stringify([
      { query: "q", reference: "r", expected_tool_use: [{ tool_name: "t", tool_input: { a_b: 1 } }] },
    ]);
    const set = readEvalSet(old, "home");
    assert.equal(set.evalSetId, "home");
    assert.deepEqual(set.evalCases[0].conversation[0].intermediateData.toolUses, [{ name: "t", args: { a_b: 1 } }]);
    assert.equal(JSON.parse(evalSetToAdkJson(old)).eval_set_id, "evalset");
  });
});

describe("a request", () => {
  const request = { evalSet: EXPECTED, actual: ACTUAL };

  test("with both a config and criteria is refused", async () => {
    await assert.rejects(evaluate({ ...request, config: { criteria: CRITERIA }, criteria: CRITERIA }), {
      name: "AdkMetricsError",
      code: "invalid_input",
      message: "`config` and `criteria` are both given",
      help: "Give one of the two",
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

describe("errors", () => {
  const both = { evalSet: EXPECTED, actual: ACTUAL };
  const mistakes = [
    [
      { ...both, evalSet: '{\n "eval_set_id": "s",\n "eval_cases": [\n  {"eval_id": 7}\n ]\n}' },
      {
        code: "invalid_input",
        message: "expected a string, found the number 7",
        path: "evalSet: eval_cases[0].eval_id",
        line: 4,
      },
    ],
    [
      { ...both, evalSet: { evalSetId: "s", evalCases: [{ evalId: 7 }] } },
      {
        code: "invalid_input",
        message: "expected a string, found the number 7",
        path: "evalSet: evalCases[0].evalId",
        line: undefined,
      },
    ],
    [
      { ...both, actual: '{\n "eval_set_id": "s",\n oops' },
      { code: "invalid_json", message: "expected a key in double quotes, found 'o'", path: "actual", line: 3 },
    ],
    [
      { ...both, evalSet: "evals/weather.evalset.json" },
      {
        code: "invalid_input",
        message: 'expected JSON text, bytes or an object, found "evals/weather.evalset.json"',
        path: "evalSet",
        help: "Pass what the file holds: await readFile(…)",
      },
    ],
    [
      { ...both, actual: Promise.resolve({}) },
      { code: "invalid_input", message: "expected JSON text, bytes or an object, found a Promise", path: "actual" },
    ],
    [
      { ...both, actual: new Response("{}") },
      { code: "invalid_input", message: "expected JSON text, bytes or an object, found a Response", path: "actual" },
    ],
    [
      { ...both, criteria: { response_match_scor: 1 } },
      {
        code: "unknown_metric",
        message: "there is no metric `response_match_scor`",
        path: "config: criteria.response_match_scor",
        help: "Did you mean `response_match_score`?",
      },
    ],
    [
      { ...both, config: '{"criteria":\n{"response_match_score": {}}}' },
      {
        code: "threshold_required",
        message: "the metric `response_match_score` needs a threshold",
        path: "config: criteria.response_match_score",
        line: 2,
      },
    ],
    [
      { ...both, criteria: { token_usage_v1: 1 } },
      { code: "threshold_not_supported", path: "config: criteria.token_usage_v1" },
    ],
    [
      { ...both, criteria: { tool_trajectory_avg_score: { threshold: 1, match_typ: "EXACT" } } },
      {
        code: "invalid_criterion",
        message: "`tool_trajectory_avg_score` has no setting `match_typ`",
        help: "Did you mean `match_type`?",
      },
    ],
    [
      { ...both, evalIds: ["nope"] },
      { code: "invalid_input", message: 'the evalset has no case "nope"', path: "evalSet" },
    ],
    [
      { evalSet: EXPECTED },
      { code: "invalid_input", message: "expected JSON text, bytes or an object, found nothing", path: "actual" },
    ],
    [
      { ...both, dialect: "adk-java" },
      { code: "invalid_input", message: 'expected "adk-python" or "adk-ts", found "adk-java"', path: "dialect" },
    ],
    [
      { ...both, explain: "some" },
      { code: "invalid_input", path: "explain" },
    ],
    [
      { ...both, concurrency: 0 },
      { code: "invalid_input", message: "expected a number from 1 up, found 0", path: "concurrency" },
    ],
    [
      { ...both, timeoutMs: NaN },
      { code: "invalid_input", path: "timeoutMs" },
    ],
    [undefined, { code: "invalid_input", message: "expected an object, found nothing", path: "request" }],
  ];
  for (const [request, expected] of mistakes) {
    test(`${expected.path ?? expected.code}: ${expected.message ?? expected.code}`, async () => {
      await assert.rejects(evaluate(request), (error) => {
        assert.ok(error instanceof AdkMetricsError);
        assert.ok(error instanceof Error);
        assert.equal(error.name, "AdkMetricsError");
        for (const [key, value] of Object.entries(expected)) assert.equal(error[key], value, key);
        assert.equal("line" in error, expected.line !== undefined);
        return true;
      });
    });
  }

  test("say everything in one text", async () => {
    const error = await evaluate({ ...both, config: '{"criteria": {"x": 1}}' }).catch((thrown) => thrown);
    assert.equal(`${error}`, "there is no metric `x` (at config: criteria.x, line 1). " + error.help);
  });
});

describe("module systems", () => {
  test("require and import have the same names and give the same results", async () => {
    const required = requireEntry();
    assert.deepEqual(Object.keys(required).sort(), Object.keys(adk).sort());
    const scores = async ({ evaluate, rouge1 }) => {
      const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
      return [set.evalCaseResults, rouge1("The weather in London is sunny", "It's sunny in London today")];
    };
    assert.deepEqual(await scores(required), await scores(adk));
  });

  test("rouge1 knows both dialects", () => {
    assert.equal(rouge1("run", "running").fmeasure, 1);
    assert.equal(rouge1("run", "running", { dialect: "adk-ts" }).fmeasure, 0);
    assert.throws(() => rouge1("a", "b", { dialect: "other" }), { code: "invalid_input", path: "dialect" });
  });

  test("the report entry renders results", async () => {
    const report = await importEntry("./report");
    assert.deepEqual(Object.keys(report).sort(), Object.keys(requireEntry("./report")).sort());
    assert.ok(Object.keys(report).length > 0);
  });
});
