// What `checkInputs` says of inputs before anything is scored.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { turn } from "./support/conversations.mjs";
import { seen } from "./support/crashes.mjs";
import { importEntry } from "./support/package.mjs";

const { checkInputs, DEFAULT_CRITERIA, evaluate, geminiJudge, openaiJudge } = await importEntry();

/** Answers of providers. */
const text = '{"is_the_agent_response_valid": "valid"}';
const answering = (body) => ({ apiKey: "k", fetch: async () => Response.json(body) });
const gemini = geminiJudge(answering({ candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }] }));
const openai = (more) =>
  openaiJudge({ ...answering({ choices: [{ message: { content: text }, finish_reason: "stop" }] }), ...more });
const named = openai({ model: "gpt-4.1" });
const judged = (judge_model_options, judge = gemini) => ({
  criteria: {
    final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 1, ...judge_model_options } },
  },
  judge,
  retry: { attempts: 1 },
});
const CONFIG = { criteria: { response_match_score: 0.8, safety_v1: 0.5, final_response_match_v2: 0.5 } };
const INFORMATIONAL = ["tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1"];
const judgesOf = ({ metrics }) =>
  Object.fromEntries(metrics.flatMap(({ metricName, judge }) => (judge === undefined ? [] : [[metricName, judge]])));

describe("the metrics of a config", () => {
  test("are named with what their scores have to reach, without a judge", async () => {
    const { metrics, warnings } = await checkInputs({ config: CONFIG });
    assert.deepEqual(metrics.slice(0, 3), [
      { metricName: "response_match_score", threshold: 0.8 },
      { metricName: "safety_v1", threshold: 0.5, judge: { scoredBy: "judge", model: "gemini-2.5-flash" } },
      {
        metricName: "final_response_match_v2",
        threshold: 0.5,
        judge: { scoredBy: "judge", model: "gemini-2.5-flash" },
      },
    ]);
    assert.deepEqual(
      metrics.slice(3),
      INFORMATIONAL.map((metricName) => ({ metricName })),
    );
    assert.deepEqual(warnings, []);
  });

  test("are left to Vertex AI's service where it is there and scores them", async () => {
    const checked = await checkInputs({ config: CONFIG, vertex: { apiKey: "none" } });
    assert.deepEqual(judgesOf(checked), {
      safety_v1: { scoredBy: "vertex" },
      final_response_match_v2: { scoredBy: "judge", model: "gemini-2.5-flash" },
    });
  });

  test("name the models of a panel", async () => {
    const final_response_match_v2 = { threshold: 0.5, judge_model_options: { judge_models: ["a", "b"] } };
    const judges = judgesOf(await checkInputs({ criteria: { final_response_match_v2 } }));
    assert.deepEqual(judges.final_response_match_v2.panel, ["a", "b"]);
  });

  test("are ADK's default criteria where there is no config, as in an evaluation", async () => {
    for (const inputs of [{}, { evalSet: { evalSetId: "set", evalCases: [] } }]) {
      assert.deepEqual(
        (await checkInputs(inputs)).metrics.map(({ metricName }) => metricName),
        [...Object.keys(DEFAULT_CRITERIA), ...INFORMATIONAL],
      );
    }
    assert.deepEqual(
      (await checkInputs({ countOnly: true })).metrics.map(({ metricName }) => metricName),
      INFORMATIONAL,
    );
  });
});

test("nothing is scored", async () => {
  const evalSet = { evalSetId: "set", evalCases: [{ evalId: "case", conversation: [turn("Hello?", "Hello!")] }] };
  seen.calls = {};
  await checkInputs({ evalSet, actual: evalSet, config: CONFIG });
  assert.equal(seen.calls.evalrunreader_new, 1);
  assert.equal(seen.calls.evalrun_poll ?? 0, 0);
  assert.equal((seen.calls.evalrunreader_step ?? 0) - (seen.calls.__wbg_evalrun_free ?? 0), 0);
});

describe("what is wrong", () => {
  for (const [what, inputs, code, path] of [
    [
      "a metric that is not there",
      { config: { criteria: { no_metric: 1 } } },
      "unknown_metric",
      "config: criteria.no_metric",
    ],
    ["a config that is no JSON", { config: "{" }, "invalid_json", "config"],
    [
      "what an agent did in no known form",
      { actual: '{"inference_results": 3}' },
      "invalid_input",
      "actual: inference_results",
    ],
    ["an evalset in no known form", { evalSet: { evalCases: 5 } }, "invalid_input", "evalSet: evalCases"],
    ["an option that is not there", { confg: CONFIG }, "invalid_input", "request: confg"],
    ["no object", null, "invalid_input", "request"],
  ]) {
    test(`is an error: ${what}`, () => assert.rejects(checkInputs(inputs), { code, path }));
  }

  test("is a warning where it is one for evaluations: a setting that no metric has, an evalset without a case", async () => {
    const config = { criteria: { response_match_score: { threshold: 1, my_note: "x" } } };
    const { warnings } = await checkInputs({ config, evalSet: { evalSetId: "set", evalCases: [] } });
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ["config: criteria.response_match_score.my_note", "evalSet"],
    );
  });
});

describe("checkInputs and evaluate", () => {
  const evalSet = { evalSetId: "set", evalCases: [{ evalId: "case", conversation: [turn("Hello?", "Hello!")] }] };
  const actual = { evalSetId: "set", evalCases: [{ evalId: "case", conversation: [turn("Hello?", "Hi!")] }] };
  const criteria = { response_match_score: 0.1 };
  const outcomeOf = (call) =>
    call.then(
      ({ warnings = [] }) => warnings,
      ({ code, message, path }) => ({ code, message, path }),
    );
  for (const [what, more, isError] of [
    ["a journal that is none", { journal: {} }, true],
    ["a batch that is none", { batch: 3 }, true],
    ["a case that is not there", { evalIds: ["other"] }, true],
    ["a metric of no registry", { criteria: { mine: 1 } }, true],
    ["an advisory metric that is not in the criteria", { advisory: ["safety_v1"] }, false],
    ["that with `strict`", { advisory: ["safety_v1"], strict: true }, true],
    ["an unknown key with `strict`", { evalSet: { ...evalSet, owner: "me" }, strict: true }, true],
    ["an evalset that is what the agent did", { actual: evalSet }, false],
    ["runs of another evalset", { actual: { ...actual, evalSetId: "other" } }, false],
    [
      "a metric that can score no case",
      { criteria: { per_turn_user_simulator_quality_v1: 1 }, judge: () => "" },
      false,
    ],
    ["options of judges that nobody needs", { judge: () => "yes" }, false],
    ["a model that its provider replaces", judged({ judge_model: "gemini-2.5-pro" }), false],
    ["a setting that a provider is not sent", judged({ judge_model_config: { topK: 1 } }, named), false],
    ["another model than the config names", judged({ judge_model: "gpt-6-luna" }, named), false],
    ["a judge that cannot have the model", judged({}, openai()), true],
    ["a limit in money without the price", { ...judged({}, named), budget: { cost: 1, prices: {} } }, true],
    ["a price that is missing", { ...judged({}, named), budget: { prices: {} } }, false],
    ["warnings about a judge with `strict`", { ...judged({ judge_model: "gpt-6-luna" }, named), strict: true }, true],
  ]) {
    test(`say the same of ${what}`, async () => {
      const request = { evalSet, actual, criteria, ...more };
      const expected = await outcomeOf(evaluate(request));
      assert.equal(Array.isArray(expected), !isError);
      assert.ok(isError || expected.length > 0);
      assert.deepEqual(await outcomeOf(checkInputs(request)), expected);
    });
  }

  test("differ in what is not there yet: cases, runs, and the rubrics in them", async () => {
    const rubrics = { rubric_based_final_response_quality_v1: 0.5 };
    for (const inputs of [{ evalSet }, { actual }, { evalSet, criteria: rubrics }]) {
      assert.deepEqual((await checkInputs(inputs)).warnings, []);
    }
    const { warnings } = await checkInputs({ evalSet, actual, criteria: rubrics });
    assert.match(warnings[0].message, /can score none of the cases/);
  });
});
