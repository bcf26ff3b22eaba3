// The package's contract: evaluators, the registry, and metrics of the user's own.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ACTUAL, EXPECTED, evalSetOf, manyCases, turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";
import { evaluateMine, mineOf, never, registryWith, scored } from "./support/contract.mjs";

const adk = await importEntry();
const {
  DEFAULT_METRIC_EVALUATOR_REGISTRY,
  EvalStatus,
  evaluate,
  Evaluator,
  MetricEvaluatorRegistry,
  PrebuiltMetrics,
  ResponseEvaluator,
  RougeEvaluator,
  TrajectoryEvaluator,
} = adk;

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

  test("take the metric's name in snake_case too, and say what else is wrong", async () => {
    const metric = { metric_name: "response_evaluation_score", threshold: 4 };
    const judge = async () => '{"explanation": "Flows.", "score": 4}';
    const coherence = await new ResponseEvaluator(metric, { judge }).evaluateInvocations(
      [turn("q", "a")],
      [turn("q", "b")],
    );
    assert.equal(coherence.overallScore, 4);
    const misspelt = { metric_name: "tool_trajectory_avg_score", criterion: { threshold: 1, matchtype: "EXACT" } };
    await assert.rejects(new TrajectoryEvaluator(misspelt).evaluateInvocations([], []), { message: /matchtype/ });
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
        message: `there is no metric \`${metricName}\``,
      });
    }
  });

  test("suggests the nearest name for a misspelt one, of its own metrics too", () => {
    const registry = new MetricEvaluatorRegistry();
    registry.registerEvaluator({ metricName: "politeness" }, () => 1);
    for (const [metricName, help] of [
      ["response_match_scor", "Did you mean `response_match_score`?"],
      ["politness", "Did you mean `politeness`?"],
      ["fluency", "Register your own metrics with registerEvaluator"],
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
      /an error without a message/,
    ],
    "throw undefined": [
      () => {
        throw undefined;
      },
      /undefined/,
    ],
    reject: [() => Promise.reject(new Error("later")), /Error: later/],
    "give nothing": [() => undefined, /the metric returned no evaluation result/],
    "give a text": [() => "good", /the metric returned no evaluation result/],
    "give NaN": [() => scored(NaN), /the metric gave NaN; a score is a finite number, or absent/],
    "give an infinity": [() => scored(Infinity), /the metric gave Infinity; a score is a finite number, or absent/],
    "give a score in text": [() => scored("1"), /the metric returned no evaluation result/],
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
    assert.deepEqual([mine.evalStatus, mine.reason], [EvalStatus.NOT_EVALUATED, "the metric returned no score"]);
  });

  test("that never answer are given up after timeoutMs", async () => {
    const set = await evaluateMine(never, { timeoutMs: 40 });
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
