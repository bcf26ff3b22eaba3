// What errors and warnings suggest for an eval id, and for a key, that there is not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { AgentEvaluator, evaluate, evaluateStream, MetricEvaluatorRegistry } = await importEntry();

const conversation = [{ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } }];
const setOf = (ids, more = {}) => ({
  eval_set_id: "s",
  eval_cases: ids.map((eval_id) => ({ eval_id, conversation, ...more })),
});
const IDS = ["paris", "oslo", "rome", "bern", "kyiv", "riga_weather", "lima"];
const criteria = { response_match_score: 0.5 };

test("an eval id that is used twice is said without a line where there is none", async () => {
  const twice = setOf(["a", "a"]);
  await assert.rejects(evaluate({ evalSet: twice, actual: twice, criteria }), {
    message: /^the eval id "a" is already used at eval_cases\[0\]\.eval_id$/,
  });
  const text = JSON.stringify(twice);
  await assert.rejects(evaluate({ evalSet: text, actual: text, criteria }), /eval_id \(line 1\)/);
});

test("the error that ended a turn of a session is said instead of a guess", async () => {
  const failed = { author: "w", error_code: "RESOURCE_EXHAUSTED", error_message: "quota gone" };
  const events = [
    { author: "user", invocation_id: "i", content: conversation[0].userContent },
    { ...failed, invocation_id: "i" },
  ];
  const { warnings } = await evaluate({
    evalSet: setOf(["s"]),
    actual: { id: "s", app_name: "w", user_id: "u", events },
    criteria,
  });
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ['the agent failed with an error: RESOURCE_EXHAUSTED: quota gone (turn 1) of "s"'],
  );
});

test("an unknown eval id is answered with the nearest, and with how many there are", async () => {
  const FIRST = 'It has "paris", "oslo", "rome", "bern", "kyiv"';
  for (const [ids, evalId, help] of [
    [IDS, "riga_wether", `Did you mean "riga_weather"? ${FIRST} and 2 more`],
    [IDS, "tokyo", `${FIRST} and 2 more`],
    [["paris", "oslo"], "osol", 'Did you mean "oslo"? It has "paris", "oslo"'],
  ]) {
    for (const evalSet of [setOf(ids), JSON.stringify(setOf(ids))]) {
      await assert.rejects(evaluate({ evalSet, actual: setOf(ids), criteria, evalIds: [ids[0], evalId] }), {
        code: "invalid_input",
        message: `the evalset has no case "${evalId}"`,
        path: "evalSet",
        help,
      });
    }
  }
});

test("evaluateStream returns every warning that evaluate gives", async () => {
  const evalSet = { ...setOf(["a"]), note_of_mine: 1 };
  const actual = setOf(["a"]);
  actual.eval_cases[0].conversation = [{ ...conversation[0], finalResponse: { parts: [{ text: "" }] } }];
  const own = new MetricEvaluatorRegistry();
  own.registerEvaluator({ metricName: "own" }, () => {
    throw new Error("no");
  });
  const request = { evalSet, actual, criteria: { own: 1 }, registry: own };
  const { warnings } = await evaluate(request);
  assert.ok(warnings.length >= 3, JSON.stringify(warnings));
  const stream = evaluateStream(request);
  let next = await stream.next();
  while (!next.done) next = await stream.next();
  assert.deepEqual(next.value.warnings, warnings);
});

const scenario = { starting_prompt: "Hi", conversation_plan: "Ask." };
const warningsOf = async (more, config = {}) => {
  const evalSet = { eval_set_id: "s", eval_cases: [{ eval_id: "a", conversation_scenario: { ...scenario, ...more } }] };
  const request = { evalSet, actual: setOf(["a"]), config: { criteria: { safety_v1: 0.5 }, ...config } };
  const { warnings } = await evaluate({ ...request, judge: () => '{"explanation": "", "score": 1}' });
  return warnings.map(({ path, help }) => [path, help]);
};

test("a key of a scenario that is none is answered with the key that is meant, or with all", async () => {
  for (const [key, help] of [
    ["persona", "Did you mean `user_persona`?"],
    ["plan", "Did you mean `conversation_plan`?"],
    ["startPrompt", "Did you mean `starting_prompt`?"],
    ["goal", "The keys are `starting_prompt`, `conversation_plan`, `user_persona`"],
  ]) {
    const path = `evalSet: eval_cases[0].conversation_scenario.${key}`;
    assert.deepEqual(await warningsOf({ [key]: "x" }), [[path, help]]);
  }
});

test("so is a setting of the simulated user, in a config and in code", async () => {
  for (const [key, help] of [
    ["maxTurns", /^Did you mean `max_allowed_invocations`\?$/],
    ["instructions", /^Did you mean `custom_instructions`\?$/],
    ["persona", /^The keys are `type`, `model`, `model_configuration`, /],
  ]) {
    const [[path, found]] = await warningsOf({}, { user_simulator_config: { [key]: 3 } });
    assert.equal(path, `config: user_simulator_config.${key}`);
    assert.match(found, help);
  }
  const options = { judge: () => "</finished>", userSimulator: { max_turns: 3 } };
  const evalSet = { eval_set_id: "s", eval_cases: [{ eval_id: "a", conversation_scenario: scenario }] };
  await assert.rejects(
    AgentEvaluator.evaluateEvalSet(() => "Hello", evalSet, { safety_v1: 0.5 }, 1, false, options),
    {
      path: "userSimulator: max_turns",
      help: /^(Did you mean `maxAllowedInvocations`\?|The keys are )/,
    },
  );
});

test("that no case has a run is said, however what the agent did is given", async () => {
  const warned = ({ warnings = [] }) => warnings.map(({ message }) => message);
  const evalSet = setOf(["a", "b"]);
  const message = "no case has an actual conversation";
  for (const actual of [[], "[]", setOf([]), { inferenceResults: [] }]) {
    assert.deepEqual(warned(await evaluate({ evalSet, actual, criteria })), [message]);
  }
  assert.deepEqual(warned(await evaluate({ evalSet, actual: setOf(["b"]), criteria })), []);
  assert.deepEqual(warned(await evaluate({ evalSet, actual: [], criteria: {}, countOnly: true })), [message]);
  const lines = (cases) => new Blob([cases.map((one) => `${JSON.stringify(one)}\n`).join("")]).stream();
  const streamed = async (runs) => {
    const results = evaluateStream({ evalSet: lines(evalSet.eval_cases), actual: lines(runs), criteria });
    for (;;) {
      const next = await results.next();
      if (next.done) return warned(next.value);
    }
  };
  assert.deepEqual(await streamed([]), [message]);
  assert.deepEqual(await streamed(evalSet.eval_cases.slice(0, 1)), []);
});

test("equal responses without words have a score of 0, and say why", async () => {
  const saying = (text) => [{ ...conversation[0], finalResponse: { parts: [{ text }] } }];
  const warned = async (expected, actual) => {
    const set = (turns) => ({ eval_set_id: "s", eval_cases: [{ eval_id: "a", conversation: turns }] });
    const { evalCaseResults } = await evaluate({
      evalSet: set(saying(expected)),
      actual: set(saying(actual)),
      criteria,
    });
    const [{ evalMetricResults }] = evalCaseResults[0].evalMetricResultPerInvocation;
    return evalMetricResults.find(({ metricName }) => metricName === "response_match_score").explanation.warnings ?? [];
  };
  const lacks = (side, what) => `the ${side} response has no ${what}, so the score is 0`;
  for (const text of ["👍", "…", "?", "  "]) {
    assert.deepEqual(await warned(text, text), [lacks("expected", "words"), lacks("actual", "words")], text);
  }
  assert.deepEqual(await warned("👍", "Fine"), [lacks("expected", "words")]);
  assert.deepEqual(await warned("Fine", ""), [lacks("actual", "text")]);
  assert.deepEqual(await warned("你好", "Fine"), []);
});

test("what is no JSON at all is told from a mistake in JSON", async () => {
  const helpFor = async (evalSet) => {
    const error = await evaluate({ evalSet, actual: [], criteria }).catch((thrown) => thrown);
    assert.equal(error.code, "invalid_json");
    return error.help;
  };
  for (const text of ["id,query\n1,2\n", "eval_set_id: x\n", "---\nid: x\n", '"id","query"\n', "<set/>", "  text"]) {
    assert.equal(await helpFor(text), "This is not JSON: convert it first", text);
  }
  assert.equal(await helpFor('{"eval_set_id" "x"}'), undefined);
  assert.equal(await helpFor("{'a': 1}"), "JSON strings are written in double quotes");
});
