// What google-adk answered, replayed through the package: by the evaluator classes, which take objects, and by
// `evaluate`, which takes text, where numbers keep their digits. The native tests replay the same vectors and name the same
// deliberate differences (tests/engine/metrics/parity.rs).

import assert from "node:assert/strict";
import { test } from "node:test";
import { elements, members, survivesJavaScript } from "./support/json-text.mjs";
import { importEntry, testFile } from "./support/package.mjs";
import { asEvaluation, assertClassified, attempt, compareNumber, deviation, evalSetText } from "./support/replay.mjs";

const {
  AdkMetricsError,
  DEFAULT_METRIC_EVALUATOR_REGISTRY,
  EvalStatus,
  evaluate,
  Evaluator,
  MetricEvaluatorRegistry,
  rouge1,
  withThresholds,
} = await importEntry();

const starts =
  (...names) =>
  (deviation) =>
    names.some((name) => deviation.name.startsWith(name));

const camelCase = (key) => key.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

const DETAILS = {
  token_usage_details: [
    "total_tokens",
    "input_tokens",
    "prompt_tokens",
    "cached_tokens",
    "tool_use_tokens",
    "output_tokens",
    "candidates_tokens",
    "reasoning_tokens",
  ],
  duration_details: ["total_seconds", "model_seconds", "tool_seconds", "framework_seconds"],
};

function compareDetails(what, recorded, found, prefix, differences) {
  for (const [details, keys] of Object.entries(DETAILS)) {
    const recordedKey = prefix === "" ? details : `overall_${details}`;
    const [ofRecorded, ofFound] = [
      recorded[recordedKey] ?? {},
      found?.[camelCase(prefix === "" ? details : recordedKey)] ?? {},
    ];
    for (const key of keys) compareNumber(`${what} ${key}`, ofRecorded[key], ofFound[camelCase(key)], differences);
  }
}

/** Compares with what an evaluator class gives. */
function evaluationDifferences(recorded, found) {
  const differences = [];
  compareNumber("overall score", recorded.overall_score, found.overallScore, differences);
  compareNumber("overall status", recorded.overall_eval_status, found.overallEvalStatus, differences);
  compareDetails("overall", recorded, found, "overall", differences);
  compareNumber("turns", recorded.per_invocation_results.length, found.perInvocationResults.length, differences);
  for (const [index, turn] of recorded.per_invocation_results.entries()) {
    const of = found.perInvocationResults[index];
    compareNumber(`turn ${index} score`, turn.score, of?.score, differences);
    compareNumber(`turn ${index} status`, turn.eval_status, of?.evalStatus, differences);
    compareDetails(`turn ${index}`, turn, of, "", differences);
  }
  return differences;
}

/** Every case of a file as the texts of its parts. */
const casesOf = (file) => elements(members(testFile(`parity/vectors/${file}.json`)).cases).map(members);

/** Replays the cases whose numbers JavaScript holds through the evaluator classes; says how many it left out. */
async function replayThroughClasses(file, classes) {
  const deviations = [];
  let left = 0;
  for (const texts of casesOf(file)) {
    if (![texts.metric, texts.actual, texts.expected].every(survivesJavaScript)) {
      left += 1;
      continue;
    }
    const { name, metric, actual, expected, result } = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, JSON.parse(text)]),
    );
    const { metric_name: metricName, ...settings } = metric;
    const found = await attempt(() =>
      DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator({ metricName, ...settings }).evaluateInvocations(
        actual,
        expected ?? undefined,
      ),
    );
    deviations.push(deviation(name, result.error, found, (value) => evaluationDifferences(result, value)));
  }
  assertClassified(deviations.filter(Boolean), classes);
  return left;
}

/** The config of a metric: undefined where a config cannot say the same. */
function configText(metric) {
  const { metric_name: metricName, threshold, criterion, ...others } = metric;
  if (Object.keys(others).length > 0) return undefined;
  const ofCriterion = criterion === undefined || criterion === "null" ? undefined : members(criterion).threshold;
  if (threshold !== undefined && threshold !== "null" && criterion !== undefined && ofCriterion === undefined) {
    return undefined;
  }
  const settings = criterion !== undefined && criterion !== "null" ? criterion : threshold;
  if (settings === undefined || settings === "null") return '{"criteria":{}}';
  return `{"criteria":{${metricName}:${settings}}}`;
}

/**
 * Replays all cases through `evaluate`, from text. A metric that the evaluator refuses is NOT_EVALUATED there, and a
 * difference in turns fails the case: both answer a recorded error. Returns how many cases a config cannot express.
 */
async function replayThroughEvaluate(file, classes) {
  const deviations = [];
  let left = 0;
  for (const { name, metric, actual, expected, result } of casesOf(file)) {
    const recorded = JSON.parse(result);
    const metricName = JSON.parse(members(metric).metric_name);
    const config = configText(members(metric));
    // A metric without any threshold is not part of a config.
    if (config === undefined || (config === '{"criteria":{}}' && !metricName.endsWith("_v1"))) {
      left += 1;
      continue;
    }
    const found = await attempt(async () => {
      const actualSet = `[{"eval_case_id":"c","inferences":${actual}}]`;
      const set = await evaluate({
        evalSet: evalSetText(expected, metricName),
        actual: actualSet,
        config,
        countOnly: true,
        explain: "none",
      });
      const [only] = set.evalCaseResults;
      if (only.overallEvalMetricResults.length === 0) throw new AdkMetricsError("length_mismatch", only.reason);
      const overall = only.overallEvalMetricResults.find((one) => one.metricName === metricName);
      const turns = only.evalMetricResultPerInvocation.length;
      if (
        recorded.error !== undefined &&
        overall.evalStatus === EvalStatus.NOT_EVALUATED &&
        overall.reason !== undefined
      ) {
        throw new AdkMetricsError("invalid_input", overall.reason);
      }
      return { ...asEvaluation(only, metricName), turns };
    });
    deviations.push(
      deviation(JSON.parse(name), recorded.error, found, (value) => evaluationDifferences(recorded, value)),
    );
  }
  assertClassified(deviations.filter(Boolean), classes);
  return left;
}

test("rouge1 answers as google-adk's scorer", () => {
  const { pairs } = JSON.parse(testFile("parity/vectors/rouge.json"));
  const different = pairs.filter(({ reference, candidate, ...recorded }) => {
    const found = rouge1(reference, candidate);
    return !["precision", "recall", "fmeasure"].every((key) => Object.is(found[key], recorded[key]));
  });
  assert.deepEqual(different.slice(0, 3), []);
  assert.ok(pairs.length > 6000);
});

const TRAJECTORY_DIFFERENCES = [
  [
    "a setting that is null counts as absent",
    8,
    (d) =>
      d.accepted !== undefined &&
      starts("match_type spelling 42", "matchType spelling 42", "ignore_args spelling 24", "ignoreArgs spelling 24")(d),
  ],
  [
    "an unknown setting that resembles a known one is an error, not ignored",
    4,
    (d) => d.refused?.help !== undefined && starts("MATCH_TYPE spelling 0", "unknown criterion key")(d),
  ],
];

const LONE_THRESHOLD = [
  "the threshold beside a criterion that has none counts",
  1,
  (d) => d.accepted !== undefined && d.name === "criterion without threshold, metric with",
];

const INFINITE_THRESHOLD = [
  "a threshold is finite",
  1,
  (d) => d.refused !== undefined && d.name === "infinite threshold",
];

test("trajectories score as in google-adk, by TrajectoryEvaluator", async () => {
  const left = await replayThroughClasses("trajectory", [...TRAJECTORY_DIFFERENCES, LONE_THRESHOLD]);
  assert.equal(left, 1342);
});

test("trajectories score as in google-adk, by evaluate from text", async () => {
  const left = await replayThroughEvaluate("trajectory", [...TRAJECTORY_DIFFERENCES, INFINITE_THRESHOLD]);
  assert.equal(left, 6);
});

test("responses score as in google-adk, by RougeEvaluator", async () => {
  assert.equal(await replayThroughClasses("response_match", []), 0);
});

test("responses score as in google-adk, by evaluate from text", async () => {
  assert.equal(await replayThroughEvaluate("response_match", []), 2);
});

const efficiencyDifferences = (count) => [
  [
    "counts and durations are numbers (not text or booleans), finite, and counts below 2^63",
    count,
    (d) => d.refused !== undefined && starts("lenient: ")(d),
  ],
];

test("efficiency is measured as in google-adk, by the evaluator classes", async () => {
  assert.equal(await replayThroughClasses("efficiency", efficiencyDifferences(15)), 40);
});

test("efficiency is measured as in google-adk, by evaluate from text", async () => {
  assert.equal(await replayThroughEvaluate("efficiency", efficiencyDifferences(17)), 0);
});

/** A registry in which the metrics of a config's `custom_metrics` are registered. */
function registryFor(text) {
  const registry = new MetricEvaluatorRegistry();
  class Custom extends Evaluator {
    evaluateInvocations(actual) {
      const perInvocationResults = actual.map((actualInvocation) => ({ actualInvocation, score: 1, evalStatus: 1 }));
      return { overallScore: 1, overallEvalStatus: EvalStatus.PASSED, perInvocationResults };
    }
  }
  const config = parseOrNothing(text);
  for (const metricName of Object.keys(config?.custom_metrics ?? config?.customMetrics ?? {})) {
    registry.registerEvaluator({ metricName }, Custom);
  }
  return registry;
}

function parseOrNothing(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ONE_TURN = '[{"user_content":{"parts":[{"text":"hi"}]},"final_response":{"parts":[{"text":"hi"}]}}]';

const ONE_CASE = `{"eval_set_id":"s","eval_cases":[{"eval_id":"c","conversation":${ONE_TURN}}]}`;

test("configs are read as google-adk reads them", async () => {
  const deviations = [];
  for (const { name, text, result } of JSON.parse(testFile("parity/vectors/config.json")).configs) {
    const later = result.metrics?.find((metric) => metric.evaluator_error !== undefined)?.evaluator_error;
    const config = text === null ? {} : { config: text };
    const judge = async () => "";
    const request = { evalSet: ONE_CASE, actual: ONE_CASE, ...config, registry: registryFor(text), judge };
    const found = await attempt(async () => (await evaluate(request)).evalCaseResults[0].overallEvalMetricResults);
    deviations.push(
      deviation(name, result.error ?? later, found, (metrics) => {
        const differences = [];
        const names = (list, key) => list.map((metric) => metric[key]).join();
        if (names(result.metrics, "metric_name") !== names(metrics, "metricName")) {
          return [`recorded ${names(result.metrics, "metric_name")}, found ${names(metrics, "metricName")}`];
        }
        for (const [index, { metric_name, threshold }] of result.metrics.entries()) {
          compareNumber(metric_name, threshold, metrics[index].threshold, differences);
        }
        return differences;
      }),
    );
  }
  assertClassified(deviations.filter(Boolean), [
    ["no more than 1000 samples may be asked", 2, (d) => d.refused?.message.includes("the number 1000000")],
    [
      "a rubric id that is given twice is an error of the config, not of every case",
      1,
      (d) => d.refused?.message.includes("is given twice"),
    ],
    ["a config without a criterion is refused", 3, (d) => d.refused?.message.startsWith("there is no criterion")],
    [
      "metrics at the top of a config are criteria, as ADK-TS's documentation has them",
      1,
      (d) => d.name === "whole text 26",
    ],
    [
      "metrics may be named as ADK-TS's enum names them",
      1,
      (d) => d.accepted !== undefined && d.name === "whole text 28",
    ],
    [
      "a setting that is null counts as absent",
      12,
      (d) =>
        d.accepted !== undefined &&
        /(?:trajectory_avg_score: extras [56]|: judge options (?:1|6|16)|: rubrics 1|_v[12]: extras 3)$/.test(d.name),
    ],
    [
      "an unknown setting that resembles a known one is an error",
      3,
      (d) => d.refused?.message.includes("has no setting"),
    ],
    [
      "a threshold is finite, and has no underscores in text",
      6,
      (d) => d.refused !== undefined && starts("threshold spelling")(d),
    ],
    [
      "what stands beside `criteria` is for running agents in Python",
      4,
      (d) => d.accepted !== undefined && starts("beside criteria")(d),
    ],
  ]);
});

/** A custom metric that says what each case's result is, by eval id. */
function scripted(metricName, answers) {
  return class extends Evaluator {
    static getMetricInfo() {
      return { metricName };
    }
    evaluateInvocations(actual) {
      const answer = answers(actual[0].userContent.parts[0].text);
      return { perInvocationResults: [], ...answer };
    }
  };
}

const caseSays = (text, index) => ({
  evalId: `${index}`,
  conversation: [{ userContent: { parts: [{ text }] }, finalResponse: { parts: [{ text: "a" }] } }],
});

test("the status of a case follows from its metrics as in google-adk", async () => {
  const rows = JSON.parse(testFile("parity/vectors/statuses.json")).case;
  const most = Math.max(...rows.map(([statuses]) => statuses.length));
  const registry = new MetricEvaluatorRegistry();
  for (let place = 0; place < most; place += 1) {
    const metricName = `metric_${place}`;
    const answers = (text) => {
      const overallEvalStatus = JSON.parse(text)[place] ?? EvalStatus.NOT_EVALUATED;
      return overallEvalStatus === EvalStatus.NOT_EVALUATED
        ? { overallEvalStatus }
        : { overallEvalStatus, overallScore: 1 };
    };
    registry.registerEvaluator({ metricName }, scripted(metricName, answers));
  }
  const evalSet = {
    evalSetId: "s",
    evalCases: rows.map(([statuses], index) => caseSays(JSON.stringify(statuses), index)),
  };
  const criteria = Object.fromEntries(Array.from({ length: most }, (_, place) => [`metric_${place}`, 0.5]));
  const { evalCaseResults } = await evaluate({ evalSet, actual: evalSet, criteria, registry, concurrency: Infinity });
  const found = new Map(evalCaseResults.map((result) => [result.evalId, result.finalEvalStatus]));
  const wrong = rows.filter(([, status], index) => found.get(`${index}`) !== status);
  assert.deepEqual(wrong, []);
  assert.ok(rows.length > 300);
});

test("a score passes where google-adk passes it, in evaluate and withThresholds alike", async () => {
  const recorded = JSON.parse(testFile("parity/vectors/statuses.json")).threshold;
  const registry = new MetricEvaluatorRegistry();
  const answers = (text) => {
    const score = JSON.parse(text);
    return score === null ? {} : { overallScore: score };
  };
  registry.registerEvaluator({ metricName: "m" }, scripted("m", answers));
  for (const threshold of new Set(recorded.map(([, threshold]) => threshold))) {
    const rows = recorded.filter((row) => Object.is(row[1], threshold));
    const evalCases = rows.map(([score], index) =>
      caseSays(Object.is(score, -0) ? "-0" : JSON.stringify(score), index),
    );
    const evalSet = { evalSetId: "s", evalCases };
    const fresh = await evaluate({ evalSet, actual: evalSet, criteria: { m: threshold }, registry });
    const other = await evaluate({
      evalSet,
      actual: evalSet,
      criteria: { m: threshold === 0 ? 1 : -threshold },
      registry,
    });
    for (const set of [fresh, withThresholds(other, { m: threshold })]) {
      const status = new Map(
        set.evalCaseResults.map((one) => [one.evalId, one.overallEvalMetricResults[0].evalStatus]),
      );
      const wrong = rows.filter(([, , passed], index) => status.get(`${index}`) !== passed);
      assert.deepEqual(wrong, []);
    }
  }
});
