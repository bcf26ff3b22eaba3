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
