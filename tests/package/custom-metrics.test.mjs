// Metrics of one's own in code: functions and classes, registered or found in modules.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { importEntry, requireEntry } from "./support/package.mjs";

const {
  AgentEvaluator,
  DEFAULT_METRIC_EVALUATOR_REGISTRY,
  evaluate,
  EvalStatus,
  Evaluator,
  loadCustomMetrics,
  LocalEvalService,
  MetricEvaluatorRegistry,
} = await importEntry();

const said = (text) => ({ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text }] } });
const evalSet = { evalSetId: "e", evalCases: [{ evalId: "c", conversation: [said("Hello!"), said("Bye!")] }] };

const folder = mkdtempSync(join(tmpdir(), "adk-metrics-own-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "metrics.mjs");
writeFileSync(file, "export const half = () => 0.5; export const none = 1; export const safety_v1 = () => 0;");

/** The results of a metric: for the whole conversation, and the scores and statuses of turns. */
async function resultOf(registry, criteria = { own: 0.6 }, more = {}) {
  const { evalCaseResults } = await evaluate({ evalSet, actual: evalSet, criteria, registry, ...more });
  const [{ overallEvalMetricResults, evalMetricResultPerInvocation }] = evalCaseResults;
  const turns = evalMetricResultPerInvocation.map(({ evalMetricResults: [turn] }) => [turn.score, turn.evalStatus]);
  return { ...overallEvalMetricResults[0], turns };
}

const registered = (metric, metricName = "own") => {
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName }, metric);
  return registry;
};

test("a function gives a number, or a result whose statuses follow from the threshold", async () => {
  const { PASSED, FAILED } = EvalStatus;
  const number = await resultOf(registered(() => 0.75));
  assert.deepEqual([number.score, number.evalStatus], [0.75, PASSED]);
  const turns = await resultOf(registered(async () => ({ perInvocationResults: [{ score: 1 }, { score: 0 }] })));
  assert.deepEqual([turns.score, turns.evalStatus], [0.5, FAILED]);
  assert.deepEqual(turns.turns, [
    [1, PASSED],
    [0, FAILED],
  ]);
  const decided = await resultOf(registered(() => ({ overallScore: 0, overallEvalStatus: PASSED, reason: "why not" })));
  assert.deepEqual([decided.score, decided.evalStatus, decided.reason], [0, PASSED, "why not"]);
  const named = await resultOf(registered(() => ({ overallScore: 1, overallEvalStatus: "FAILED" })));
  assert.deepEqual([named.score, named.evalStatus], [1, FAILED]);
});

test("what is no number, no status and no text is refused, however JSON would write it", async () => {
  const written = { toJSON: () => 1 };
  for (const [answer, words] of [
    [{ overallScore: () => 1 }, /`overallScore` is not a number/],
    [{ overallScore: Symbol("1") }, /`overallScore` is not a number/],
    [{ overallScore: 1n }, /`overallScore` is not a number/],
    [{ overallScore: new Number(1) }, /`overallScore` is not a number/],
    [
      { perInvocationResults: [{ score: written }, { score: 1 }] },
      /`perInvocationResults\[0\]\.score` is not a number/,
    ],
    [{ overallScore: 1, overallEvalStatus: written }, /`overallEvalStatus` is not a status/],
    [{ overallScore: 1, overallEvalStatus: "GOOD" }, /`overallEvalStatus` is not a status.*PASSED/],
    [{ overallScore: 1, overallEvalStatus: "1" }, /`overallEvalStatus` is not a status/],
    [{ overallScore: 1, reason: () => "why" }, /`reason` is not a string/],
    [{ overallScore: 1, reason: NaN }, /`reason` is not a string/],
    [{ overallScore: 1, reason: new Date() }, /`reason` is not a string/],
    [{ overallScore: NaN }, /gave NaN; a score is a finite number/],
  ]) {
    const { score, evalStatus, reason } = await resultOf(registered(() => answer));
    assert.deepEqual([score, evalStatus], [undefined, EvalStatus.NOT_EVALUATED], String(words));
    assert.match(reason, words);
  }
});

test("a function is given the metric with its settings, both sides, and the scenario", async () => {
  let given;
  const registry = registered((...parameters) => {
    given = parameters;
    return 1;
  });
  await resultOf(registry, { own: { threshold: 0.5, max_words: 3 } });
  const [metric, actual, expected, scenario] = given;
  assert.deepEqual(metric, { metricName: "own", threshold: 0.5, criterion: { threshold: 0.5, max_words: 3 } });
  assert.deepEqual([actual.length, expected.length, scenario], [2, 2, undefined]);
});

test("a class is no function, whatever it is compiled to", async () => {
  class Modern extends Evaluator {
    evaluateInvocations = async (actual) => ({ perInvocationResults: actual.map(() => ({ score: 1 })) });
  }
  function Compiled() {}
  Compiled.prototype.evaluateInvocations = (actual) => ({ perInvocationResults: actual.map(() => ({ score: 1 })) });
  for (const metric of [Modern, Compiled]) assert.equal((await resultOf(registered(metric))).score, 1, metric.name);
});

test("a fork has the metrics of its registry, and neither gets what the other is given later", () => {
  const registry = registered(() => 1, "before");
  const fork = registry.fork();
  registry.registerEvaluator({ metricName: "later" }, () => 1);
  fork.registerEvaluator({ metricName: "own" }, () => 1);
  assert.deepEqual(registry.customMetricNames(), ["before", "later"]);
  assert.deepEqual(fork.customMetricNames(), ["before", "own"]);
});

test("modules are named by path or URL, or are there already", async () => {
  const criteria = { half: 0.1 };
  for (const module of [file, pathToFileURL(file), pathToFileURL(file).href, { half: () => 0.5 }]) {
    const registry = await loadCustomMetrics({ criteria }, { modules: [module] });
    assert.equal((await resultOf(registry, criteria)).score, 0.5);
  }
  assert.deepEqual(DEFAULT_METRIC_EVALUATOR_REGISTRY.customMetricNames(), []);
});

test("a config may be bytes, in either spelling; paths in it are relative to a folder", async () => {
  const config = { criteria: { own: 0.1 }, customMetrics: { own: { codeConfig: { name: "metrics.mjs#half" } } } };
  const bytes = new TextEncoder().encode(JSON.stringify(config));
  for (const given of [config, JSON.stringify(config), bytes]) {
    const registry = await loadCustomMetrics(given, { modules: [file], baseDir: folder });
    assert.equal((await resultOf(registry, { own: 0.1 })).score, 0.5);
  }
});

test("what the config says of a metric is known of it; without, values from 0 to 1", async () => {
  const infoOf = async (more) => {
    const config = { criteria: { half: 1 }, custom_metrics: { half: { code_config: { name: "a.b" }, ...more } } };
    const registry = await loadCustomMetrics(config, { modules: [file] });
    return registry.getRegisteredMetrics().find(({ metricName }) => metricName === "half");
  };
  const interval = { minValue: 0, maxValue: 1, openAtMin: false, openAtMax: false };
  assert.deepEqual(await infoOf({ description: "Half." }), {
    metricName: "half",
    description: "Half.",
    metricValueInfo: { interval },
  });
  const metric_value_info = { interval: { min_value: -10, max_value: 10, open_at_max: true } };
  assert.deepEqual(await infoOf({ metric_info: { metric_name: "other", description: "Own.", metric_value_info } }), {
    metricName: "half",
    description: "Own.",
    metricValueInfo: { interval: { ...interval, minValue: -10, maxValue: 10, openAtMax: true } },
  });
});

test("an export does not replace a metric of the engine unless the config says so", async () => {
  const judge = async () => '{"score": 1}';
  const criteria = { safety_v1: { threshold: 1, judgeModelOptions: { numSamples: 1 } } };
  const plain = await loadCustomMetrics({ criteria }, { modules: [file] });
  assert.equal((await resultOf(plain, criteria, { judge })).score, 1);
  const config = { criteria, custom_metrics: { safety_v1: { code_config: { name: "a.safety_v1" } } } };
  const replaced = await loadCustomMetrics(config, { modules: [file] });
  assert.equal((await resultOf(replaced, criteria)).score, 0);
});

test("the function that the config names comes before an export of the metric's name, and that before what is registered", async () => {
  const criteria = { own: 0.1 };
  const registry = registered(() => 0.25);
  const scoreBy = async (custom_metrics, modules) => {
    const found = await loadCustomMetrics({ criteria, custom_metrics }, { modules, registry });
    return (await resultOf(found, criteria)).score;
  };
  const module = { own: () => 0.5 };
  assert.equal(await scoreBy({}, []), 0.25);
  assert.equal(await scoreBy({ own: { code_config: { name: "a.own" } } }, []), 0.25);
  assert.equal(await scoreBy({}, [module]), 0.5);
  assert.equal(await scoreBy({ own: { code_config: { name: `${file}#half` } } }, [{ own: () => 0.75 }, file]), 0.5);
  assert.equal((await resultOf(registry, criteria)).score, 0.25);
});

test("scoring a config whose functions nobody registered is an error, and runs nothing", async () => {
  const config = {
    criteria: { response_match_score: 1 },
    custom_metrics: { response_match_score: { code_config: { name: file } } },
  };
  await assert.rejects(evaluate({ evalSet, actual: evalSet, config }), {
    code: "unknown_metric",
    path: /custom_metrics/,
  });
  await assert.rejects(loadCustomMetrics(config), {
    code: "invalid_input",
    message: /is in a module that is not allowed to run: /,
  });
});

test("says what is wrong with a module", async () => {
  for (const [module, words] of [
    [join(folder, "none.mjs"), /does not exist/],
    ["file://elsewhere/metrics.mjs", /not the address of a module/],
    [1, /expected the name of a module, or a module, found 1/],
  ]) {
    await assert.rejects(loadCustomMetrics("{}", { modules: [module] }), { code: "invalid_input", message: words });
  }
  const config = { criteria: { none: 1 }, custom_metrics: { none: { code_config: { name: "a.none" } } } };
  await assert.rejects(loadCustomMetrics(config, { modules: [file] }), {
    code: "unknown_metric",
    message: /is a Python function/,
  });
});

test("an entry of custom_metrics that names no function where it is read is an error that has the right form", async () => {
  for (const [entry, words, path] of [
    [{ name: "./metrics.mjs#none" }, /`name` is not read here/, "config: custom_metrics.half.name"],
    [{ codeconfig: { name: "a.b" } }, /`codeconfig` is not read here/, "config: custom_metrics.half.codeconfig"],
    [
      { code_config: "metrics.mjs#none" },
      /expected an object, found "metrics/,
      "config: custom_metrics.half.code_config",
    ],
    [{ code_config: { nmae: "a.b" } }, /found nothing/, "config: custom_metrics.half.code_config.name"],
    [{ code_config: { name: "a.b" }, metricinfo: {} }, /`metricinfo` is not/, "config: custom_metrics.half.metricinfo"],
    ["metrics.mjs#none", /expected an object/, "config: custom_metrics.half"],
  ]) {
    for (const criteria of [{ half: 0.1 }, { other: 1 }]) {
      const loading = loadCustomMetrics({ criteria, custom_metrics: { half: entry } }, { modules: [file] });
      const help = 'Write {"code_config": {"name": "./metrics.mjs#half"}}';
      await assert.rejects(loading, { code: "invalid_input", message: words, path, help });
    }
  }
});

test("a metric without a name is refused, in code and in a config", async () => {
  const registry = new MetricEvaluatorRegistry();
  for (const metricName of ["", " "]) {
    assert.throws(() => registry.registerEvaluator({ metricName }, () => 1), {
      code: "invalid_input",
      message: "the metric has no name",
      path: "info: metricName",
    });
  }
  assert.deepEqual(registry.customMetricNames(), []);
  const entry = { code_config: { name: "./metrics.mjs#half" } };
  for (const [custom_metrics, message, path] of [
    [{ "": entry }, /an entry of `custom_metrics` has no name/, 'config: custom_metrics[""]'],
    [[entry], /expected an object, found an array/, "config: custom_metrics"],
    [
      { half: { code_config: { name: "#half" } } },
      /`name` does not contain a module/,
      "config: custom_metrics.half.code_config.name",
    ],
  ]) {
    const config = JSON.stringify({ criteria: { half: 0.5 }, custom_metrics });
    await assert.rejects(loadCustomMetrics(config, { modules: [file] }), { code: "invalid_input", message, path });
  }
});

test("CommonJS has it too", async () => {
  const common = requireEntry();
  const registry = await common.loadCustomMetrics({ criteria: { half: 0.1 } }, { modules: [file] });
  assert.deepEqual(registry.customMetricNames(), ["half"]);
});

test("agents are evaluated by them", async () => {
  const registry = await loadCustomMetrics("{}", { modules: [file] });
  const agent = (message) => `You said ${message}`;
  const result = await AgentEvaluator.evaluateEvalSet(agent, evalSet, { half: 0.5 }, 1, false, { registry });
  assert.equal(result.evalCaseResults[0].overallEvalMetricResults[0].score, 0.5);
  const service = new LocalEvalService(agent, 1, { registry });
  const evaluateConfig = { evalMetrics: [{ metricName: "half", threshold: 0.5 }] };
  for await (const set of service.evaluateSession({ evalSetId: "e", evalCases: [evalSet], evaluateConfig })) {
    assert.equal(set.evalCaseResults[0].overallEvalMetricResults[0].score, 0.5);
  }
});

test("agents pass by metrics that are better when they are lower, as the metrics themselves say", async () => {
  const { PASSED, FAILED } = EvalStatus;
  const words = (metric, actual) => ({
    perInvocationResults: actual.map(({ finalResponse: { parts } }) => {
      const score = parts[0].text.split(" ").length;
      return { score, evalStatus: score <= metric.threshold ? PASSED : FAILED };
    }),
  });
  const judge = (limit) => {
    const agent = () => "Three words long.";
    return AgentEvaluator.evaluateEvalSet(agent, evalSet, { own: limit }, 1, false, { registry: registered(words) });
  };
  await judge(4);
  await judge(3);
  await assert.rejects(
    judge(2),
    /^AgentEvaluationError: The only case did not pass\.\n.*own is 3\.0000, threshold 2, and its turns/,
  );
});

test("a metric that two modules export is refused, unless the config names its module", async () => {
  const other = join(folder, "other.mjs");
  writeFileSync(other, "export const half = () => 1;");
  const modules = [file, other];
  const config = { criteria: { half: 0.5 } };
  await assert.rejects(loadCustomMetrics(config, { modules }), {
    message: "two modules export `half`",
    path: other,
    help: /^Rename one, or name its module in `custom_metrics`: /,
  });
  await loadCustomMetrics({ criteria: { response_match_score: 1 } }, { modules });
  await loadCustomMetrics(config, { modules: [file, file] });
  const named = { ...config, custom_metrics: { half: { code_config: { name: `${other}#half` } } } };
  const registry = await loadCustomMetrics(named, { modules });
  assert.equal((await resultOf(registry, config.criteria)).score, 1);
});

test("a result with a misspelt key does not pass without it", async () => {
  const { FAILED } = EvalStatus;
  for (const [result, key, meant] of [
    [{ overallScore: 0.9, overall_eval_status: FAILED }, "overall_eval_status", "overallEvalStatus"],
    [{ overallScore: 0.9, overallEvalStatuss: FAILED }, "overallEvalStatuss", "overallEvalStatus"],
    [{ overallScore: 0.9, evalStatus: FAILED }, "evalStatus", "overallEvalStatus"],
    [{ overallScore: 0.9, perInvocationResult: [] }, "perInvocationResult", "perInvocationResults"],
    [
      { perInvocationResults: [{ score: 1, eval_status: FAILED }] },
      "perInvocationResults[0].eval_status",
      "evalStatus",
    ],
  ]) {
    const { evalStatus, reason } = await resultOf(registered(() => result));
    assert.equal(evalStatus, EvalStatus.NOT_EVALUATED);
    assert.ok(
      reason.includes(`\`${key}\` is not a key of it`) && reason.includes(`Did you mean \`${meant}\`?`),
      reason,
    );
  }
  const own = { overallScore: 0.9, overallEvalStatus: EvalStatus.PASSED, details: 5, perInvocationResults: [] };
  assert.equal((await resultOf(registered(() => own))).evalStatus, EvalStatus.PASSED);
});

test("what a metric gives is read once: turns of an iterator count, and getters are not asked twice", async () => {
  const reads = [];
  class Findings {
    get overallScore() {
      reads.push("overallScore");
      return undefined;
    }
    get perInvocationResults() {
      reads.push("perInvocationResults");
      return [{ score: 1 }, { score: 0 }].values();
    }
  }
  class Own extends Evaluator {
    evaluateInvocations() {
      return new Findings();
    }
  }
  const { score, turns } = await resultOf(registered(Own));
  assert.deepEqual([score, turns.map(([one]) => one)], [0.5, [1, 0]]);
  assert.deepEqual(reads, ["overallScore", "perInvocationResults"]);
});
