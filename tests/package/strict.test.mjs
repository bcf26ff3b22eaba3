// Warnings that are errors, and configs without a criterion: nothing is run or asked before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { evaluate, MetricEvaluatorRegistry, PrebuiltMetrics, ResponseEvaluator, RougeEvaluator } =
  await importEntry(".");
const { renderCsv, renderJUnit } = await importEntry("./report");

const turn = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } };
const setOf = (more) => ({ evalSetId: "s", evalCases: [{ evalId: "c", conversation: [turn] }], ...more });
const EVAL_SET = setOf({ owner: "me" });
const criteria = { response_match_score: 0.5 };

test("a warning is in the results and in JUnit", async () => {
  const set = await evaluate({ evalSet: EVAL_SET, actual: setOf({}), criteria });
  assert.deepEqual(set.warnings, [
    { code: "invalid_input", message: "`owner` is not a key of an evalset and is left out", path: "evalSet: owner" },
  ]);
  assert.match(
    renderJUnit(set),
    /<system-err>\nwarning: `owner` is not a key of an evalset and is left out \(evalSet: owner\)\n/,
  );
});

test("a warning has its line where the input is text or bytes", async () => {
  const lines = (value) => JSON.stringify(value, null, 1);
  const spoilt = (value) => lines(value).replace("{", '{\n"owner": "me",');
  const given = { evalSet: spoilt(setOf({})), actual: new TextEncoder().encode(`${spoilt(setOf({}))}\n`) };
  const config = `{"criteria": {"response_match_score": 0.5},\n\n"owner": "me"}`;
  const placesIn = ({ warnings }) => warnings.map(({ path, line }) => [path, line]);
  assert.deepEqual(placesIn(await evaluate({ ...given, config })), [
    ["config: owner", 3],
    ["evalSet: owner", 2],
    ["actual: owner", 2],
  ]);
  assert.deepEqual(
    placesIn(await evaluate({ ...given, evalSet: JSON.parse(given.evalSet), config: JSON.parse(config) })),
    [
      ["config: owner", undefined],
      ["evalSet: owner", undefined],
      ["actual: owner", 2],
    ],
  );
  await assert.rejects(evaluate({ ...given, criteria, actual: setOf({}), strict: true }), {
    path: "evalSet: owner",
    line: 2,
  });
});

test("a warning about a whole input has no line", async () => {
  const inference = { evalCaseId: "c", inferences: [turn], status: 1, warnings: ["one span is missing"] };
  const actual = JSON.stringify([inference], null, 1);
  const { warnings } = await evaluate({ evalSet: setOf({}), actual, criteria });
  assert.deepEqual(warnings, [{ code: "invalid_input", message: "one span is missing", path: "actual" }]);
});

test("keys of a persona that nobody reads are warned of", async () => {
  const behavior = {
    name: "Curious",
    description: "Asks.",
    behaviorInstructions: ["Ask."],
    violationRubrics: ["Asks not."],
    mood: 1,
  };
  const userPersona = { id: "ME", description: "Somebody.", behaviors: [behavior], owner: "me" };
  const conversationScenario = { startingPrompt: "Hi", conversationPlan: "Talk.", userPersona };
  const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversationScenario }] };
  const { warnings } = await evaluate({ evalSet, actual: setOf({}), criteria: {}, countOnly: true });
  const path = "evalSet: evalCases[0].conversationScenario.userPersona";
  assert.deepEqual(warnings, [
    {
      code: "invalid_input",
      message: "`mood` is not a key of a behavior of a persona and is not read",
      path: `${path}.behaviors[0].mood`,
    },
    { code: "invalid_input", message: "`owner` is not a key of a persona and is not read", path: `${path}.owner` },
  ]);
});

test("CSV has a column of warnings where there are any", async () => {
  const plain = await evaluate({ evalSet: setOf({}), actual: setOf({}), criteria });
  const set = await evaluate({ evalSet: EVAL_SET, actual: setOf({}), criteria });
  const own = { ...plain, evalSetId: "own" };
  const [first] = own.evalCaseResults;
  const [metric, ...others] = first.overallEvalMetricResults;
  const remarked = {
    ...metric,
    explanation: { ...metric.explanation, warnings: ["half of it is empty", 'so "to say"'] },
  };
  own.evalCaseResults = [{ ...first, overallEvalMetricResults: [remarked, ...others] }];
  assert.doesNotMatch(renderCsv(plain), /warning/);
  const [header, ...rows] = renderCsv([set, own, { ...set, evalSetId: "none", evalCaseResults: [] }]).split("\r\n");
  assert.equal(header, "evalSetId,evalId,run,turn,metricName,score,threshold,evalStatus,reason,warnings");
  const told = rows.filter((row) => row !== "" && !row.endsWith(","));
  const ofSet = '"[""`owner` is not a key of an evalset and is left out (evalSet: owner)""]"';
  assert.deepEqual(told, [
    `s,c,1,,response_match_score,1,0.5,passed,,${ofSet}`,
    'own,c,1,,response_match_score,1,0.5,passed,,"[""half of it is empty"",""so \\""to say\\""""]"',
    `none,,,,,,,,,${ofSet}`,
  ]);
  assert.ok(
    rows.every((row) => row === "" || /^(?:"(?:[^"]|"")*"|[^",]*)(?:,(?:"(?:[^"]|"")*"|[^",]*)){9}$/.test(row)),
  );
});

test("with `strict` a warning is an error, and no judge is asked", async () => {
  let asked = 0;
  const judge = () => {
    asked += 1;
    return "{}";
  };
  const request = { actual: setOf({}), judge, criteria: { final_response_match_v2: 0.5 }, strict: true };
  await assert.rejects(evaluate({ ...request, evalSet: EVAL_SET }), {
    code: "invalid_input",
    message: "`owner` is not a key of an evalset and is left out",
    path: "evalSet: owner",
  });
  await assert.rejects(evaluate({ ...request, evalSet: setOf({ owner: "me", team: "x" }) }), {
    message:
      "there are 2 warnings, which `strict` treats as errors:\n" +
      "- `owner` is not a key of an evalset and is left out (at evalSet: owner)\n" +
      "- `team` is not a key of an evalset and is left out (at evalSet: team)",
  });
  assert.equal(asked, 0);
});

test("without a criterion nothing is scored, unless counts alone are meant", async () => {
  for (const config of [{}, { criteria: {} }, { metrics: { response_match_score: 1 } }]) {
    await assert.rejects(evaluate({ evalSet: setOf({}), actual: setOf({}), config }), {
      code: "invalid_input",
      message: "there is no criterion, so nothing could pass or fail",
      help: /^A config looks like \{"criteria": /,
    });
  }
  const set = await evaluate({ evalSet: setOf({}), actual: setOf({}), criteria: {}, countOnly: true });
  assert.equal(set.evalCaseResults.length, 1);
});

test("metrics at the top of a config are criteria", async () => {
  const set = await evaluate({ evalSet: setOf({}), actual: setOf({}), config: { RESPONSE_MATCH_SCORE: 0.5 } });
  const [first] = set.evalCaseResults[0].overallEvalMetricResults;
  assert.deepEqual([first.metricName, first.score], ["response_match_score", 1]);
});

test("a misspelt key is an error with its place, also in an object", async () => {
  const misspelt = { ...turn, intermediateData: { toolUse: [{ name: "delete_account", args: {} }] } };
  const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [misspelt] }] };
  await assert.rejects(evaluate({ evalSet, actual: setOf({}), criteria }), {
    code: "invalid_input",
    message: "`toolUse` is not a key of intermediate data",
    path: "evalSet: evalCases[0].conversation[0].intermediateData.toolUse",
    help: "Did you mean `toolUses`?",
  });
});

test("a metric that is given in two spellings is an error: its results could not be told apart", async () => {
  const twice = {
    response_match_score: 1,
    [Object.keys(PrebuiltMetrics).find((key) => PrebuiltMetrics[key] === "response_match_score")]: 0.5,
  };
  assert.equal(Object.keys(twice).length, 2);
  await assert.rejects(evaluate({ evalSet: setOf({}), actual: setOf({}), criteria: twice }), {
    code: "invalid_criterion",
    message: "the metric `response_match_score` is given twice",
    path: "config: criteria",
  });
  const old = { evalSet: setOf({}), actual: setOf({}), criteria: { response_match_score: 1, response_match: 0.5 } };
  await assert.rejects(evaluate(old), { message: "the metric `response_match_score` is given twice" });
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "response_match" }, () => 1);
  const own = await evaluate({ ...old, registry });
  assert.equal(own.evalCaseResults[0].overallEvalMetricResults[1].metricName, "response_match");
});

test("a threshold that every score reaches, or none, is warned of", async () => {
  const warningsOf = async (criteria, more = {}) =>
    (await evaluate({ evalSet: setOf({}), actual: setOf({}), criteria, ...more })).warnings;
  assert.deepEqual(await warningsOf({ response_match: 5 }), [
    {
      code: "invalid_input",
      message: "no score reaches the threshold 5 of `response_match`, whose scores are from 0 to 1",
      path: "config: criteria.response_match",
      help: "Give it a threshold from 0 to 1; with 0 it always passes",
    },
  ]);
  const criteria = { response_match_score: { threshold: -1 }, response_evaluation_score: 0.8 };
  assert.deepEqual(
    (await warningsOf(criteria, { judge: async () => '{"explanation": "", "score": 5}' })).map(({ message, path }) => [
      message,
      path,
    ]),
    [
      [
        "every score reaches the threshold -1 of `response_match_score`, whose scores are from 0 to 1",
        "config: criteria.response_match_score.threshold",
      ],
      [
        "every score reaches the threshold 0.8 of `response_evaluation_score`, whose scores are from 1 to 5",
        "config: criteria.response_evaluation_score",
      ],
    ],
  );
  for (const fine of [0, 1, "1", false, true]) {
    assert.equal(await warningsOf({ response_match_score: fine, tool_trajectory_f1: { threshold: fine } }), undefined);
  }
  assert.equal(
    await warningsOf({ response_evaluation_score: 0 }, { judge: async () => '{"explanation": "", "score": 5}' }),
    undefined,
  );
  await assert.rejects(warningsOf({ tool_trajectory_avg_score: 1.5 }, { strict: true }), /no score reaches/);
});

test("an evaluator's results have the warnings about its settings and conversations", async () => {
  const warned = async (evaluator, ...turns) => (await evaluator.evaluateInvocations(...turns)).warnings;
  const metricName = PrebuiltMetrics.RESPONSE_MATCH_SCORE;
  assert.deepEqual(await warned(new RougeEvaluator({ metricName, threshold: 5 }), [turn], [turn]), [
    {
      code: "invalid_input",
      message: "no score reaches the threshold 5 of `response_match_score`, whose scores are from 0 to 1",
      path: "metric: threshold",
      help: "Give it a threshold from 0 to 1; with 0 it always passes",
    },
  ]);
  const criterion = { threshold: 2, color: 1 };
  const both = await warned(new RougeEvaluator({ metricName, threshold: 0.5, criterion }), [turn], [turn]);
  assert.deepEqual(
    both.map(({ path }) => path),
    ["metric: criterion.color", "metric: criterion.threshold"],
  );
  const judged = new ResponseEvaluator(
    { metricName: PrebuiltMetrics.RESPONSE_EVALUATION_SCORE, threshold: 0.5 },
    { judge: async () => JSON.stringify({ explanation: "Fine.", score: 4 }) },
  );
  assert.match((await warned(judged, [turn], [turn]))[0].message, /every score reaches the threshold 0.5/);
  const odd = { ...turn, mood: 1 };
  assert.deepEqual(
    (await warned(new RougeEvaluator({ metricName, threshold: 1 }), [odd], [turn])).map(({ path }) => path),
    ["actual: [0].mood"],
  );
  assert.equal(await warned(new RougeEvaluator({ metricName, threshold: 1 }), [turn], [turn]), undefined);
});
