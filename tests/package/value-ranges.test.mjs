// The values that a metric of one's own declares: scores and thresholds outside them, and misspelt keys.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { evaluate, evaluateStream, Evaluator, loadCustomMetrics, MetricEvaluatorRegistry } = await importEntry();

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
    "`own` gave scores outside the range that it declares, from 0 to below 1",
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

test("they are warned of once where cases come as streams", async () => {
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

test("misspelt keys of what is said of a metric are refused, and ranges that are none", () => {
  const metric = () => 1;
  for (const [info, key, meant] of [
    [{ metricValueInf: { interval } }, "info: metricValueInf", "metricValueInfo"],
    [{ metric_value_info: { interval } }, "info: metric_value_info", "metricValueInfo"],
    [{ metricValueInfo: { intervall: interval } }, "info: metricValueInfo.intervall", "interval"],
    [{ metricValueInfo: { interval: { minValu: 0 } } }, "info: metricValueInfo.interval.minValu", "minValue"],
  ]) {
    assert.throws(() => registered(metric, info), {
      code: "invalid_input",
      path: key,
      help: `Did you mean \`${meant}\`?`,
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
  ]) {
    await assert.rejects(declared({ code_config, metric_info }), {
      path: `config: custom_metrics.own.metric_info.${place}`,
      help: `Did you mean \`${meant}\`?`,
    });
  }
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
