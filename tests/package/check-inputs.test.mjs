// What `checkInputs` says of inputs before anything is scored.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { turn } from "./support/conversations.mjs";
import { seen } from "./support/crashes.mjs";
import { importEntry } from "./support/package.mjs";

const { checkInputs } = await importEntry();

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

  test("are not ADK's default criteria where there is no config", async () => {
    assert.deepEqual(
      (await checkInputs({})).metrics.map(({ metricName }) => metricName),
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
