// An option that a function does not take is an error that says what to do, in every function that takes options.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { importEntry, target } from "./support/package.mjs";

const adk = await importEntry();
const report = await importEntry("./report");
const interop = await importEntry("./interop");
const { adkMatchers } = await import(pathToFileURL(target("./jest", "import")).href).catch(() => ({}));

const turn = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } };
const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [turn] }] };
const criteria = { response_match_score: 0.5 };
const agent = () => assert.fail("the agent is not to be run");
const metric = { metricName: "response_match_score", threshold: 0.5 };
const results = await adk.evaluate({ evalSet, actual: evalSet, criteria });
const comparison = adk.compareRuns(results, results);
const service = (options) => new adk.LocalEvalService(agent, 1, options);
const session = (evaluateConfig) =>
  service({})
    .evaluateSession({ evalSetId: "s", evalCases: [evalSet], evaluateConfig })
    .next();

/** What each function does with options. */
const FUNCTIONS = {
  evaluate: (options) => adk.evaluate({ evalSet, actual: evalSet, criteria, ...options }),
  evaluateStream: (options) => adk.evaluateStream({ evalSet, actual: evalSet, criteria, ...options }).next(),
  evaluators: (options) => new adk.RougeEvaluator(metric, options).evaluateInvocations([turn], [turn]),
  MetricEvaluatorRegistry: (options) => new adk.MetricEvaluatorRegistry(options),
  "AgentEvaluator.evaluateEvalSet": (options) =>
    adk.AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, options),
  "the second argument of evaluate": (options) => adk.evaluate({ evalSet, actual: evalSet, criteria }, options),
  "the second argument of evaluateStream": (options) =>
    adk.evaluateStream({ evalSet, actual: evalSet, criteria }, options).next(),
  checkInputs: (options) => adk.checkInputs({ criteria }, options),
  estimateCalls: (options) => adk.estimateCalls({ evalSet, actual: evalSet, criteria }, options),
  readResults: (options) => adk.readResults(results, options),
  resultLines: (options) => [...adk.resultLines(results, options)],
  resultsToAdkJson: (options) => adk.resultsToAdkJson(results, options),
  resultsToAdkJsonChunks: (options) => [...adk.resultsToAdkJsonChunks(results, options)],
  withThresholds: (options) => adk.withThresholds(results, criteria, options),
  checkGates: (options) => adk.checkGates(results, {}, options),
  panelJudge: (options) => adk.panelJudge([], options),
  replayJudge: (options) => adk.replayJudge("", options),
  "AgentEvaluator.evaluate": (options) => adk.AgentEvaluator.evaluate(agent, "nowhere", 1, undefined, options),
  LocalEvalService: service,
  "the metrics of LocalEvalService": (options) => session({ evalMetrics: [metric], ...options }),
  "a metric of LocalEvalService": (options) => session({ evalMetrics: [{ ...metric, ...options }] }),
  rouge1: (options) => adk.rouge1("a", "b", options),
  compareRuns: (options) => adk.compareRuns(results, results, options),
  loadCustomMetrics: (options) => adk.loadCustomMetrics({ criteria }, options),
  memoryCache: adk.memoryCache,
  recordJudge: (options) =>
    adk.recordJudge(
      async () => "",
      () => {},
      options,
    ),
  adkJudge: (options) => adk.adkJudge({ model: "m", generateContentAsync() {} }, options),
  browserJudge: adk.browserJudge,
  geminiJudge: (options) => adk.geminiJudge({ apiKey: "k", ...options }),
  openaiJudge: (options) => adk.openaiJudge({ apiKey: "k", ...options }),
  anthropicJudge: (options) => adk.anthropicJudge({ apiKey: "k", ...options }),
  ollamaJudge: adk.ollamaJudge,
  vertexJudge: (options) => adk.vertexJudge({ apiKey: "k", ...options }),
  "the vertex of evaluate": (vertex) =>
    adk.evaluate({ evalSet, actual: evalSet, criteria, vertex: { apiKey: "k", ...vertex } }),
  "the retry of evaluate": (retry) => adk.evaluate({ evalSet, actual: evalSet, criteria, retry }),
  "the budget of evaluate": (budget) => adk.evaluate({ evalSet, actual: evalSet, criteria, budget }),
  renderTable: (options) => report.renderTable(results, options),
  renderFailures: (options) => report.renderFailures(results, options),
  renderHtml: (options) => report.renderHtml(results, options),
  renderMarkdown: (options) => report.renderMarkdown(results, options),
  renderComparisonTable: (options) => report.renderComparisonTable(comparison, options),
  renderComparisonMarkdown: (options) => report.renderComparisonMarkdown(comparison, options),
  tableChunks: (options) => [...report.tableChunks(results, options)],
  htmlChunks: (options) => [...report.htmlChunks(results, options)],
  comparisonTableChunks: (options) => [...report.comparisonTableChunks(comparison, options)],
  readTraces: (options) => interop.readTraces({ resourceSpans: [] }, options),
  tracesToJson: (options) => interop.tracesToJson({ resourceSpans: [] }, options),
  readSessions: (options) => interop.readSessions([], options),
  evaluationEvents: (options) => interop.evaluationEvents(results, options),
};

/** The error of a call, thrown or rejected. */
async function errorOf(work) {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return assert.fail("there was no error");
}

describe("an option that nobody knows is refused by", () => {
  for (const [name, call] of Object.entries(FUNCTIONS)) {
    test(name, async () => {
      const { code, message, path, help } = await errorOf(() => call({ nonsenseOption: 1 }));
      assert.equal(code, "invalid_input");
      assert.match(`${message} ${path}`, /nonsenseOption/);
      assert.match(help, /\w/);
    });
  }
});

test("an argument after the options is refused with where these go", async () => {
  const { message, help } = await errorOf(() =>
    adk.AgentEvaluator.evaluate(agent, "nowhere", 1, undefined, undefined, { strict: true }),
  );
  assert.equal(message, "expected at most 5 arguments, found 6");
  assert.match(help, /^Options are the fifth argument/);
  const ofSet = await errorOf(() => adk.AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, {}, {}));
  assert.match(ofSet.help, /^Options are the sixth argument/);
});

test("an option that is undefined counts as absent", async () => {
  await adk.evaluate({ evalSet, actual: evalSet, criteria, note: undefined });
  report.renderTable(results, { title: undefined });
});

test("a misspelt one is refused with the one that is meant", async () => {
  for (const [name, key, meant] of [
    ["evaluate", "evalId", "evalIds"],
    ["evaluate", "critera", "criteria"],
    ["evaluators", "dialekt", "dialect"],
    ["AgentEvaluator.evaluateEvalSet", "turnTimeoutMS", "turnTimeoutMs"],
    ["AgentEvaluator.evaluate", "criterias", "criteria"],
    ["a metric of LocalEvalService", "treshold", "threshold"],
    ["renderTable", "colour", "color"],
    ["readTraces", "evalId", "evalIds"],
  ]) {
    const { help } = await errorOf(() => FUNCTIONS[name]({ [key]: 1 }));
    assert.equal(help, `Did you mean \`${meant}\`?`, name);
  }
});

test("one that belongs elsewhere is refused with where, before the agent is run", async () => {
  for (const [name, key, words] of [
    ["evaluate", "numRuns", /AgentEvaluator/],
    ["evaluate", "userSimulator", /AgentEvaluator/],
    ["evaluators", "evalIds", /use `evaluate`/],
    ["evaluators", "threshold", /in the metric/],
    ["AgentEvaluator.evaluateEvalSet", "evalIds", /only these cases/],
    ["AgentEvaluator.evaluateEvalSet", "numRuns", /fourth argument/],
    ["AgentEvaluator.evaluateEvalSet", "printDetailedResults", /fifth argument/],
    ["AgentEvaluator.evaluateEvalSet", "criteria", /third argument/],
    ["AgentEvaluator.evaluateEvalSet", "evalSetName", /readEvalSet/],
    ["AgentEvaluator.evaluate", "numRuns", /third argument/],
    ["AgentEvaluator.evaluate", "evalIds", /only these cases/],
    ["LocalEvalService", "parallelism", /second argument/],
    ["LocalEvalService", "criteria", /evaluateConfig/],
    ["LocalEvalService", "numRuns", /once/],
  ]) {
    const error = await errorOf(() => FUNCTIONS[name]({ [key]: 3 }));
    assert.equal(error.code, "invalid_input", name);
    assert.equal(error.message, `\`${key}\` does not apply here`, name);
    assert.match(error.help, words, name);
  }
  const { help } = await errorOf(() => FUNCTIONS["AgentEvaluator.evaluateEvalSet"]({ numRun: 3 }));
  assert.match(help, /^Did you mean `numRuns`\? Pass it as the fourth argument/);
});

test("matchers refuse what they do not take", { skip: adkMatchers === undefined }, async () => {
  const pass = (options, set = evalSet) => adkMatchers.toPassEvalSet.call({}, agent, set, criteria, options);
  for (const [options, words] of [
    [{ evalIds: ["c"] }, /only these cases/],
    [{ criteria }, /second argument/],
    [{ printDetailedResults: true }, /shows what did not pass/],
    [{ initialSessionFile: "s.json" }, /path of an evalset/],
    [{ nonsenseOption: 1 }, /nonsenseOption/],
    [{ numRun: 1 }, /Did you mean `numRuns`\?(?! Pass)/],
    [{ initialSesionFile: "s.json" }, /Did you mean `initialSessionFile`\?(?! Pass)/],
  ]) {
    const error = await errorOf(() => pass(options));
    assert.match(error.message, words);
  }
});
