// Nothing is evaluated in silence, and what is given in the wrong place is told what it is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { AgentEvaluator, compareRuns, evaluate, LocalEvalService } = await importEntry(".");
const {
  renderComparisonMarkdown,
  renderComparisonTable,
  renderCsv,
  renderFailures,
  renderHtml,
  renderMarkdown,
  renderTable,
} = await importEntry("./report");

const turn = (text = "Hello") => ({
  userContent: { parts: [{ text: "Hi" }] },
  finalResponse: { parts: [{ text }] },
});
const caseOf = (evalId, text) => ({ evalId, conversation: [turn(text)] });
const setOf = (...evalCases) => ({ evalSetId: "s", evalCases });
const SET = setOf(caseOf("c"));
const criteria = { response_match_score: 0.5 };

let runs = 0;
const agent = async () => {
  runs += 1;
  return "Hello";
};

test("an evaluation of nothing is an error, or warned of", async () => {
  await assert.rejects(evaluate({ evalSet: SET, actual: SET, criteria, evalIds: [] }), {
    code: "invalid_input",
    message: "`evalIds` is empty",
    path: "evalIds",
  });
  const { warnings } = await evaluate({ evalSet: setOf(), actual: setOf(), criteria });
  assert.deepEqual(
    warnings.map(({ message, path }) => [message, path]),
    [["the evalset has no cases: there is nothing to score", "evalSet"]],
  );
  await assert.rejects(evaluate({ evalSet: setOf(), actual: setOf(), criteria, strict: true }), /has no case/);
});

test("so it is where an agent is run, which is not run", async () => {
  runs = 0;
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.5 }] };
  const all = async (results) => {
    for await (const _ of results);
  };
  const service = () => new LocalEvalService(agent);
  for (const [evalCases, path] of [
    [[], "evalCases"],
    [[SET, setOf()], "evalCases[1]"],
  ]) {
    const expected = { code: "invalid_input", path };
    await assert.rejects(all(service().performInference({ evalSetId: "s", evalCases })), expected);
    await assert.rejects(all(service().evaluateSession({ evalSetId: "s", evalCases, evaluateConfig })), expected);
  }
  const nothing = service().evaluate({ inferenceResults: [], evaluateConfig });
  await assert.rejects(all(nothing), { code: "invalid_input", path: "inferenceResults" });
  await assert.rejects(AgentEvaluator.evaluateEvalSet(agent, setOf(), criteria), /the evalset has no cases/);
  await assert.rejects(AgentEvaluator.evaluateEvalSet(agent, SET, criteria, 0), { path: "numRuns" });
  assert.equal(runs, 0);
});

test("the users of all evalsets are looked at before the agent is run for any", async () => {
  runs = 0;
  const scenario = { startingPrompt: "Hi", conversationPlan: "Talk.", userPersona: "NOBODY_AT_ALL" };
  const unknown = setOf({ evalId: "d", conversationScenario: scenario });
  const service = new LocalEvalService(agent, 1, { judge: async () => "Hi" });
  const inferences = service.performInference({ evalSetId: "s", evalCases: [SET, unknown] });
  await assert.rejects(inferences.next(), /there is no persona `NOBODY_AT_ALL`/);
  assert.equal(runs, 0);
});

test("an empty eval id is warned of, and has a name in reports", async () => {
  const set = setOf(caseOf(""), caseOf("c"));
  const actual = setOf(caseOf("", "No."), caseOf("c", "No."));
  const result = await evaluate({ evalSet: set, actual, criteria });
  assert.deepEqual(
    result.warnings.map(({ message, path }) => [message, path]),
    ["evalSet: evalCases[0].evalId", "actual: evalCases[0].evalId"].map((path) => [
      "the case has an empty eval id; reports call it `(no id)`",
      path,
    ]),
  );
  const { warnings: _, ...silent } = result;
  for (const text of [renderTable(silent), renderFailures(silent), renderMarkdown(silent), renderHtml(silent)]) {
    assert.match(text, /(\(|&#40;)no id/);
  }
  assert.match(renderCsv(result), /^s,,/m);
  const comparison = compareRuns(result, await evaluate({ evalSet: set, actual: set, criteria }));
  for (const text of [renderComparisonTable(comparison), renderComparisonMarkdown(comparison)]) {
    assert.match(text, /(\(|&#40;)no id/);
  }
  const named = await evaluate({
    evalSet: [{ name: " ", data: [{ query: "Hi" }] }],
    actual: setOf(caseOf(" ")),
    criteria,
  });
  assert.match(named.warnings[0].message, /empty eval id/);
});

test("what is no evalset is told what it looks like, and what to do", async () => {
  const event = { author: "user", content: { parts: [{ text: "Hi" }] } };
  const helpOf = (request) =>
    evaluate({ evalSet: SET, actual: SET, criteria, ...request }).then(
      () => assert.fail("it was taken"),
      ({ code, help }) => {
        assert.equal(code, "invalid_input");
        return help;
      },
    );
  const session = { id: "s", app_name: "a", user_id: "u", state: {}, events: [event] };
  assert.match(await helpOf({ evalSet: session }), /looks like a session, .* as the actual runs/);
  assert.match(await helpOf({ evalSet: [session] }), /looks like sessions/);
  assert.match(await helpOf({ evalSet: [event] }), /looks like sessions or their events/);
  assert.match(await helpOf({ evalSet: { evalSetResultId: "r", evalCaseResults: [] } }), /looks like results/);
  assert.match(await helpOf({ evalSet: { criteria } }), /looks like an eval config/);
  assert.match(await helpOf({ evalSet: caseOf("c") }), /looks like one eval case/);
  assert.match(await helpOf({ evalSet: [caseOf("c")] }), /looks like the cases of an evalset/);
  assert.match(await helpOf({ evalSet: [SET] }), /looks like a list of evalsets/);
  for (const what of [{ conversations: [[turn()]] }, [{ conversations: [] }], { messages: [] }]) {
    assert.match(await helpOf({ evalSet: what }), /An evalset looks like/);
    assert.match(await helpOf({ actual: what }), /An evalset looks like/);
  }
  assert.match(await helpOf({ actual: [SET] }), /looks like a list of evalsets: give one of them by itself/);
  const inCase = (key) => ({ evalSet: setOf({ evalId: "c", [key]: [[turn()]] }) });
  assert.equal(await helpOf(inCase("conversations")), "Did you mean `conversation`?");
  assert.match(await helpOf(inCase("messages")), /`messages` is not read: .* belong in `conversation`/);
});
