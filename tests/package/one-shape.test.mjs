// What hosts see of invocations has one shape, whatever came in: bytes, text, objects in either spelling or both.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageFolder, importEntry, root } from "./support/package.mjs";

const {
  evaluate,
  finalText,
  MetricEvaluatorRegistry,
  readEvalSet,
  resultsToAdkJson,
  toolCallsOf,
  TrajectoryEvaluator,
} = await importEntry();
const { renderFailures } = await importEntry("./report");

const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));

/** A random source with a seed: the same numbers every time. */
function randomOf(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Names that are not ADK's and look as if they were. */
const KEYS = ["city", "user_content", "toolUses", "a_b", "rubric_id", "functionCall", "__proto__"];

/** Invocations of both files with everything that an invocation can hold, in snake_case. */
function documentOf(seed) {
  const random = randomOf(seed);
  const maybe = (key, value) => (random(3) === 0 ? {} : { [key]: random(8) === 0 ? null : value });
  const free = () =>
    Object.fromEntries(Array.from({ length: random(3) }, () => [KEYS[random(KEYS.length)], { x_y: 1 }]));
  const call = () => ({ name: `tool_${random(2)}`, ...maybe("args", free()), ...maybe("id", `id_${random(9)}`) });
  const response = () => ({ name: `tool_${random(2)}`, ...maybe("response", free()) });
  const part = () =>
    [
      () => ({ text: `Word_${random(9)}`, ...maybe("thought", random(2) === 0) }),
      () => ({ function_call: call() }),
      () => ({ function_response: response() }),
      () => ({ inline_data: { mime_type: "image/png", data: "" } }),
    ][random(4)]();
  const some = (make) => Array.from({ length: random(4) }, make);
  const content = () => ({ parts: some(part), ...maybe("role", "model") });
  const event = () => ({
    author: `agent_${random(2)}`,
    ...maybe("content", content()),
    ...maybe("usage_metadata", { prompt_token_count: random(9), total_token_count: 1 }),
    ...maybe("grounding_metadata", { grounding_chunks: [{ web: { uri: "u" } }] }),
    ...maybe("model_version", "m"),
  });
  const data = () =>
    random(2) === 0
      ? { invocation_events: some(event) }
      : {
          tool_uses: some(call),
          ...maybe("tool_responses", some(response)),
          ...maybe("intermediate_responses", [["agent_0", some(part)]]),
        };
  const invocation = () => ({
    user_content: content(),
    ...maybe("invocation_id", `i_${random(9)}`),
    ...maybe("final_response", content()),
    ...maybe("intermediate_data", data()),
    ...maybe("creation_timestamp", random(9)),
    ...maybe("model_duration", 0.5),
    ...maybe("app_details", { agent_details: { agent_a: { name: "agent_a", tool_declarations: [] } } }),
    ...maybe("rubrics", [{ rubric_id: "r_1", rubric_content: { text_property: "Is it_so?" } }]),
  });
  const turns = 1 + random(2);
  const set = () => ({
    eval_set_id: "set_1",
    eval_cases: [{ eval_id: "case_1", conversation: Array.from({ length: turns }, invocation) }],
  });
  return { expected: set(), actual: set() };
}

/** What holds names that are not ADK's. */
const FREE = new Set(["args", "response", "agent_details"]);

/** A document with the keys of ADK's records spelt otherwise, where `isCamel` says so. */
function respelt(value, isCamel) {
  if (Array.isArray(value)) return value.map((item) => respelt(item, isCamel));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = isCamel() ? key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()) : key;
      if (key === "agent_details" && item !== null) {
        return [name, Object.fromEntries(Object.entries(item).map(([agent, of]) => [agent, respelt(of, isCamel)]))];
      }
      return [name, FREE.has(key) ? item : respelt(item, isCamel)];
    }),
  );
}

/** All that hosts see of an evaluation: what a metric of one's own is given, results, and a report. */
async function seen(expected, actual) {
  const views = [];
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "calls_named_tool_0" }, (_metric, turns, wanted) => {
    views.push(structuredClone([turns, wanted]));
    return {
      perInvocationResults: turns.map((turn) => ({
        score: (turn.intermediateData?.toolUses ?? []).filter(({ name }) => name === "tool_0").length,
      })),
    };
  });
  const criteria = { calls_named_tool_0: 9, tool_trajectory_avg_score: 1, response_match_score: 1 };
  const set = await evaluate({ evalSet: expected, actual, criteria, registry });
  const { evalCaseResults, warnings } = set;
  const messages = warnings?.map(({ message }) => message.replaceAll(/[_A-Z`]/g, ""));
  return { views, messages, evalCaseResults: structuredClone(evalCaseResults), report: renderFailures(set) };
}

test("the same documents give hosts the same, as bytes, as text and as objects in every spelling", async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const { expected, actual } = documentOf(seed);
    const first = await seen(bytes(expected), bytes(actual));
    assert.equal(first.views.length, 1);
    const random = randomOf(seed);
    const forms = {
      text: (value) => JSON.stringify(value),
      "objects in snake_case": (value) => structuredClone(value),
      "objects in camelCase": (value) => respelt(value, () => true),
      "objects in both": (value) => respelt(value, () => random(2) === 0),
      "bytes in camelCase": (value) => bytes(respelt(value, () => true)),
    };
    for (const [what, form] of Object.entries(forms)) {
      assert.deepEqual(await seen(form(expected), form(actual)), first, `${what}, seed ${seed}`);
    }
  }
});

test("calls and texts are read in either spelling; camelCase counts where both are there", () => {
  const content = { parts: [{ text: "Hello" }] };
  const events = [{ content: { parts: [{ function_call: { name: "t" } }] } }];
  const summary = { intermediate_data: { tool_uses: [{ name: "t" }] }, final_response: content };
  for (const turn of [summary, { ...summary, intermediate_data: { invocation_events: events } }]) {
    assert.deepEqual(toolCallsOf(turn), [{ name: "t" }]);
    assert.equal(finalText(turn), "Hello");
  }
  const both = { ...summary, finalResponse: { parts: [{ text: "Hi" }] }, intermediateData: { toolUses: [] } };
  assert.deepEqual([finalText(both), toolCallsOf(both)], ["Hi", []]);
  assert.deepEqual(toolCallsOf({ ...summary, intermediateData: null }), [{ name: "t" }]);
});

test("an object that has the shape comes back as it is, also beside one that has not", async () => {
  const turn = {
    userContent: { parts: [{ text: "Hi" }] },
    intermediateData: { toolUses: [{ name: "t", args: { a_b: 1 } }] },
  };
  const other = { user_content: { parts: [{ text: "Hi" }] }, final_response: { parts: [{ text: "Hello" }] } };
  const set = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [turn, other] }] };
  const { evalCaseResults } = await evaluate({ evalSet: set, actual: set, criteria: { response_match_score: 1 } });
  const [first, second] = evalCaseResults[0].evalMetricResultPerInvocation;
  assert.equal(first.actualInvocation, turn);
  assert.equal(first.expectedInvocation, turn);
  assert.equal(finalText(second.actualInvocation), "Hello");
  assert.deepEqual(other, { user_content: other.user_content, final_response: other.final_response });
});

test("metrics and results are given one object, however often it is looked at", async () => {
  const given = { user_content: {}, final_response: { parts: [{ text: "Hello" }] } };
  const set = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [given] }] };
  const registry = new MetricEvaluatorRegistry();
  let seen;
  registry.registerEvaluator({ metricName: "own" }, (_metric, [turn]) => ((seen = turn), 1));
  const { evalCaseResults } = await evaluate({ evalSet: set, actual: set, criteria: { own: 1 }, registry });
  const [{ actualInvocation }] = evalCaseResults[0].evalMetricResultPerInvocation;
  assert.equal(actualInvocation, seen);
  assert.equal(actualInvocation, evalCaseResults[0].evalMetricResultPerInvocation[0].actualInvocation);
});

test("an evaluator gives back what it was given in the shape of hosts", async () => {
  const turn = { user_content: {}, intermediate_data: { tool_uses: [{ name: "t" }] } };
  const evaluator = new TrajectoryEvaluator({ metricName: "tool_trajectory_avg_score", threshold: 1 });
  const { perInvocationResults } = await evaluator.evaluateInvocations([turn], [turn]);
  assert.deepEqual(toolCallsOf(perInvocationResults[0].actualInvocation), [{ name: "t" }]);
  assert.deepEqual(toolCallsOf(perInvocationResults[0].expectedInvocation), [{ name: "t" }]);
});

test("an object that writes itself as JSON is seen as it was written", async () => {
  const turn = { toJSON: () => ({ user_content: {}, final_response: { parts: [{ text: "written" }] } }) };
  const set = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [turn] }] };
  const { evalCaseResults } = await evaluate({ evalSet: set, actual: set, criteria: { response_match_score: 1 } });
  assert.equal(finalText(evalCaseResults[0].evalMetricResultPerInvocation[0].actualInvocation), "written");
});

describe("an invocation with events", () => {
  const events = [
    { author: "a", content: { parts: [{ functionCall: { name: "one" } }, { text: "…" }] } },
    { author: "a", content: { parts: [{ functionCall: { name: "two", args: {} } }] } },
  ];
  const set = () => ({
    evalSetId: "s",
    evalCases: [{ evalId: "c", conversation: [{ userContent: {}, intermediateData: { invocationEvents: events } }] }],
  });
  const calls = [{ name: "one" }, { name: "two", args: {} }];

  for (const [what, form] of Object.entries({ bytes, objects: (value) => value })) {
    test(`has its calls as toolUses too, read from ${what}, and what is written of it has not`, async () => {
      const result = await evaluate({
        evalSet: form(set()),
        actual: form(set()),
        criteria: { tool_trajectory_avg_score: 1 },
      });
      const [{ actualInvocation, expectedInvocation, evalMetricResults }] =
        result.evalCaseResults[0].evalMetricResultPerInvocation;
      for (const { intermediateData } of [actualInvocation, expectedInvocation]) {
        assert.deepEqual(intermediateData.toolUses, calls);
        assert.deepEqual(Object.keys(intermediateData), ["invocationEvents"]);
      }
      assert.equal(evalMetricResults[0].explanation.alignment.length, 2);
      assert.doesNotMatch(JSON.stringify(result) + resultsToAdkJson(result), /tool_?uses/i);
      const again = await evaluate({ evalSet: set(), actual: result, criteria: { tool_trajectory_avg_score: 1 } });
      assert.equal(again.evalCaseResults[0].finalEvalStatus, 1);
    });
  }

  test("of which the caller's object is left as it is", async () => {
    const given = set();
    await evaluate({ evalSet: given, actual: given, criteria: { tool_trajectory_avg_score: 1 } });
    assert.equal("toolUses" in given.evalCases[0].conversation[0].intermediateData, false);
  });

  test("is so in an evalset that is read", () => {
    const [{ conversation }] = readEvalSet(bytes(set())).evalCases;
    assert.deepEqual(conversation[0].intermediateData.toolUses, calls);
  });
});

test("every field of an invocation whose spellings differ is known", () => {
  const { definitions } = JSON.parse(readFileSync(join(packageFolder, "schema/evalset.schema.json"), "utf8"));
  const source = readFileSync(join(root, "pkg-template/src/engine/hosted.ts"), "utf8");
  const records = [
    "Content",
    "FunctionCall",
    "FunctionResponse",
    "IntermediateSummary",
    "Invocation",
    "InvocationEvent",
  ];
  for (const name of [...records, "InvocationEvents", "Part", "Rubric", "RubricContent"]) {
    for (const key of Object.keys(definitions[name].properties)) {
      if (!key.includes("_") && !/[A-Z]/.test(key)) continue;
      const camel = key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
      assert.match(source, new RegExp(`\\b${camel}\\b`), `${name}: ${camel}`);
    }
  }
});
