// The values that a metric of one's own declares: scores and thresholds outside them, and misspelt keys.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { joined } = await import("../../pkg-template/src/lines/whole.ts");
const { evaluate, evaluateStream, Evaluator, loadCustomMetrics, MetricEvaluatorRegistry, ResponseEvaluator } =
  await importEntry();

const said = (text) => ({ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text }] } });
const evalCases = ["a", "b"].map((evalId) => ({ evalId, conversation: [said("Hello!")] }));
const evalSet = { evalSetId: "e", evalCases };
const actual = { inferenceResults: evalCases.map(({ evalId }) => ({ evalId, inferences: [said("Hello")] })) };
const interval = { minValue: 0, maxValue: 1, openAtMin: false, openAtMax: false };

const registered = (metric, info) => {
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "own", ...info }, metric);
  return registry;
};
const scored = async (registry, threshold = 0.5, more = {}) => {
  const { warnings } = await evaluate({ evalSet, actual, criteria: { own: threshold }, registry, ...more });
  return warnings?.map(({ message }) => message);
};
const OUTSIDE = "`own` gave scores outside the range that it declares, from 0 to 1";

test("scores outside the declared range are warned of, once for each metric", async () => {
  const ranged = (metric, range = {}) =>
    registered(metric, { metricValueInfo: { interval: { ...interval, ...range } } });
  assert.deepEqual(await scored(ranged(() => 40)), [OUTSIDE]);
  assert.deepEqual(await scored(ranged(() => ({ overallScore: 0, perInvocationResults: [{ score: -1 }] }))), [OUTSIDE]);
  assert.equal(await scored(ranged(() => 1)), undefined);
  assert.deepEqual(await scored(ranged(() => 1, { openAtMax: true })), [
    "`own` gave scores outside the range that it declares, at least 0 and below 1",
  ]);
  assert.equal(await scored(ranged(() => undefined)).then((all) => all?.includes(OUTSIDE) ?? false), false);
  for (const info of [
    {},
    { metricValueInfo: {} },
    { metricValueInfo: null },
    { metricValueInfo: { interval: null } },
  ]) {
    assert.equal(await scored(registered(() => 40, info)), undefined);
  }
  const forked = ranged(() => 40).fork();
  const { warnings } = await evaluate({ evalSet, actual, criteria: { own: 0.5 }, registry: forked });
  assert.deepEqual(warnings, [{ code: "invalid_input", message: OUTSIDE, help: warnings[0].help }]);
  assert.match(warnings[0].help, /^The first is 40, in a$/m);
});

test("they are warned of once where cases come as streams, and where a file is scored in portions", async () => {
  async function* lines(rows) {
    for (const row of rows) yield `${JSON.stringify(row)}\n`;
  }
  const registry = registered(() => 40, { metricValueInfo: { interval } });
  const streams = { evalSet: lines(evalCases), actual: lines(evalCases), criteria: { own: 0.5 }, registry };
  const results = evaluateStream(streams);
  for (;;) {
    const { done, value } = await results.next();
    if (!done) continue;
    assert.equal(value.warnings.filter(({ message }) => message === OUTSIDE).length, 1);
    break;
  }
});

test("results that are joined say once what several parts of them say", () => {
  const part = (evalId, more = {}) => ({
    evalSetId: "e",
    evalCaseResults: [],
    warnings: [{ code: "invalid_input", message: OUTSIDE, help: `The first is 40, in ${evalId}`, ...more }],
  });
  const at = (index) => ({ path: `eval_cases[${index}].conversation` });
  const { warnings } = joined([part("a"), part("b"), part("a", at(0)), part("b", at(1))]);
  assert.deepEqual(
    warnings.map(({ help, path }) => [help, path]),
    [
      ["The first is 40, in a", undefined],
      ["The first is 40, in a", "eval_cases[0].conversation"],
    ],
  );
});

test("a threshold outside the declared range is warned of before anything is scored, as one of the engine's is", async () => {
  let calls = 0;
  const registry = registered(() => (calls += 1) && 1, { metricValueInfo: { interval } });
  const message = "no score reaches the threshold 5 of `own`, whose scores are from 0 to 1";
  assert.deepEqual(await scored(registry, 5), [message]);
  calls = 0;
  await assert.rejects(scored(registry, 5, { strict: true }), { code: "invalid_input", message });
  assert.equal(calls, 0);
  assert.deepEqual(await scored(registry, -1), [
    "every score reaches the threshold -1 of `own`, whose scores are from 0 to 1",
  ]);
});

test("open ends of a range count, and ends that it does not have are not named", async () => {
  const said = async (range, threshold, score = 1) => {
    const info = { metricValueInfo: { interval: range } };
    const criteria = { own: { threshold } };
    const { warnings } = await evaluate({ evalSet, actual, criteria, registry: registered(() => score, info) });
    return warnings?.map(({ message, path, help }) => [message, path, help].join("; "));
  };
  const path = "config: criteria.own.threshold";
  const orCorrect = "or correct the range that the metric declares";
  assert.deepEqual(await said({ ...interval, openAtMax: true }, 1, 0.5), [
    `no score reaches the threshold 1 of \`own\`, whose scores are at least 0 and below 1; ${path}; Give it a threshold that is at least 0 and below 1, ${orCorrect}`,
  ]);
  assert.equal(await said({ ...interval, openAtMin: true }, 0.5, 0.5), undefined);
  assert.equal(await said({ minValue: 1 }, 5, 5), undefined);
  assert.deepEqual(await said({ minValue: 1, openAtMin: true }, 1, 5), [
    `every score reaches the threshold 1 of \`own\`, whose scores are above 1; ${path}; Give it a threshold that is above 1, ${orCorrect}`,
  ]);
  assert.deepEqual(await said({ minValue: 1 }, 0.5, 5), [
    `every score reaches the threshold 0.5 of \`own\`, whose scores are at least 1; ${path}; Give it a threshold that is at least 1, ${orCorrect}`,
  ]);
  assert.deepEqual(await said({ maxValue: 1 }, 1, 5), [
    "`own` gave scores outside the range that it declares, at most 1; ; The first is 5, in a",
  ]);
});

test("misspelt keys of what is said of a metric are refused, and ranges that are none", () => {
  const metric = () => 1;
  for (const [info, key, meant] of [
    [{ metricValueInf: { interval } }, "info: metricValueInf", "metricValueInfo"],
    [{ metric_value_info: { interval } }, "info: metric_value_info", "metricValueInfo"],
    [{ metricValueInfo: { intervall: interval } }, "info: metricValueInfo.intervall", "interval"],
    [{ metricValueInfo: { interval: { minValu: 0 } } }, "info: metricValueInfo.interval.minValu", "minValue"],
    [{ metricValueInfo: { interval: { min: 0 } } }, "info: metricValueInfo.interval.min"],
    [{ metricValueInfo: { minValue: 0, maxValue: 1 } }, "info: metricValueInfo.minValue"],
  ]) {
    assert.throws(() => registered(metric, info), {
      code: "invalid_input",
      path: key,
      help: meant === undefined ? /^The keys are (interval|minValue, .*)$/ : `Did you mean \`${meant}\`?`,
    });
  }
  assert.throws(() => registered(metric, { metricValueInfo: { interval: { ...interval, maxValue: "1" } } }), {
    message: 'expected a number, found "1"',
    path: "info: metricValueInfo.interval.maxValue",
  });
  registered(metric, { defaultThreshold: 1, experimental: true, requiresThreshold: true, owner: "me" });
});

const folder = mkdtempSync(join(tmpdir(), "adk-metrics-ranges-"));
after(() => rmSync(folder, { recursive: true }));

test("configs and classes in modules declare ranges as well; nothing is declared by default", async () => {
  const file = join(folder, "metrics.mjs");
  writeFileSync(file, "export const own = () => 40;");
  const declared = async (entry, module = file) => {
    const config = { criteria: { own: 1 }, ...(entry && { custom_metrics: { own: entry } }) };
    return await scored(await loadCustomMetrics(config, { modules: [module] }), 1);
  };
  const code_config = { name: "a.own" };
  assert.equal(await declared(undefined), undefined);
  assert.equal(await declared({ code_config }), undefined);
  const metric_value_info = { interval: { min_value: 0, max_value: 1 } };
  assert.deepEqual(await declared({ code_config, metric_info: { metric_value_info } }), [OUTSIDE]);
  for (const [metric_info, place, meant] of [
    [{ metric_value_inf: {} }, "metric_value_inf", "metric_value_info"],
    [{ metric_value_info: { interva: {} } }, "metric_value_info.interva", "interval"],
    [{ metricValueInfo: { interval: { maxvalues: 1 } } }, "metricValueInfo.interval.maxvalues", "max_value"],
    [{ metric_value_info: null, metricValueInfo: { intervals: {} } }, "metricValueInfo.intervals", "interval"],
  ]) {
    await assert.rejects(declared({ code_config, metric_info }), {
      path: `config: custom_metrics.own.metric_info.${place}`,
      help: `Did you mean \`${meant}\`?`,
    });
  }
  const both = { code_config, metric_info: { metric_value_info }, metricInfo: { metricValueInf: {} } };
  await assert.rejects(declared(both), { help: "Did you mean `metric_value_info`?" });
  await assert.rejects(
    declared({ code_config, metric_info: { metric_value_info: { interval: { min_value: "0" } } } }),
    {
      message: 'expected a number, found "0"',
      path: "config: custom_metrics.own.metric_info.metric_value_info.interval.min_value",
    },
  );
  assert.deepEqual(
    await declared({ code_config, metric_info: { metric_value_info: { interval: { max_value: 1 } } } }),
    ["`own` gave scores outside the range that it declares, at most 1"],
  );
  class own extends Evaluator {
    static getMetricInfo() {
      return { metricName: "another", description: "Ours.", metricValueInfo: { interval } };
    }
    evaluateInvocations() {
      return { overallScore: 40 };
    }
  }
  assert.deepEqual(await declared(undefined, { own }), [OUTSIDE]);
  const registry = await loadCustomMetrics({ criteria: { own: 1 } }, { modules: [{ own }] });
  assert.equal(registry.getRegisteredMetrics().find(({ metricName }) => metricName === "own").description, "Ours.");
  own.getMetricInfo = () => ({ metricName: "own", metricValueInf: { interval } });
  await assert.rejects(declared(undefined, { own }), {
    path: "info: metricValueInf",
    help: "Did you mean `metricValueInfo`?",
  });
});

test("a getMetricInfo that throws is an error, unless it is that of a class which knows nothing of the metric", async () => {
  const load = async (own) => await loadCustomMetrics({ criteria: { own: 1 } }, { modules: [{ own }] });
  class Plain extends Evaluator {}
  class Foreign {
    static getMetricInfo() {
      throw new Error("getMetricInfo() must be implemented by subclass");
    }
    evaluateInvocations() {}
  }
  for (const base of [Plain, class extends Foreign {}, class extends ResponseEvaluator {}]) {
    const metrics = (await load(base)).getRegisteredMetrics();
    assert.deepEqual(metrics.find(({ metricName }) => metricName === "own").metricValueInfo, { interval });
  }
  class Broken extends Evaluator {
    static getMetricInfo() {
      return this.info.range;
    }
  }
  for (const broken of [Broken, class extends Broken {}]) {
    await assert.rejects(load(broken), (error) => {
      assert.equal(error.code, "invalid_input");
      assert.match(error.message, /^getMetricInfo\(\) of the metric `own` failed: .*undefined/);
      return true;
    });
  }
});
