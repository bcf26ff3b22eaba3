// Cases that no metric can score whatever the agent does: it is not run for them.

import assert from "node:assert/strict";
import test from "node:test";
import { AgentEvaluator, evaluate, LocalEvalService } from "../../pkg/dist/esm/node.js";
import { adkMatchers } from "../../pkg/dist/esm/jest.js";
import { countingTurns, errorOf, evalSetOf, turn } from "./evalsets.mjs";

const TALK = { conversationScenario: { startingPrompt: "Hi", conversationPlan: "Say it." } };
const PLAIN = [turn("Hi", "Hello!")];
const CALLING = [turn("Hi", "Hello!", [["greet", { name: "Ada" }]])];
const rubric = (rubricId, textProperty, type) => ({ rubricId, rubricContent: { textProperty }, type });
const judge = async ({ metricName }) => (metricName === "user_simulator" ? "</finished>" : '{"score": 1}');

/** An agent, and how often it was asked. */
function counted() {
  const agent = () => {
    agent.turns += 1;
    return "Hello!";
  };
  agent.turns = 0;
  return agent;
}

const evaluated = (agent, cases, criteria, options = {}) =>
  AgentEvaluator.evaluateEvalSet(agent, evalSetOf(cases), criteria, 1, false, { judge, ...options });

const REFUSED = {
  "expected turns": [
    { talk: TALK },
    { tool_trajectory_avg_score: 1, response_match_score: 0.5 },
    'no metric can score the case "talk", so the agent is not run: `tool_trajectory_avg_score` compares with expected turns, and there are none; `response_match_score` compares with expected turns, and there are none',
  ],
  "expected turns, which a judge compares with": [
    { one: TALK, two: TALK },
    { final_response_match_v2: 1, response_evaluation_score: 3 },
    'no metric can score any of the 2 cases, so the agent is not run: in "one", `final_response_match_v2` compares with expected turns, and there are none; `response_evaluation_score` compares with expected turns, and there are none',
  ],
  "expected calls": [
    { plain: PLAIN, talk: TALK },
    { tool_parameter_match: 1 },
    'no metric can score any of the 2 cases, so the agent is not run: in "plain", `tool_parameter_match`: no turn expects a tool call',
  ],
  "a scenario": [
    { plain: PLAIN },
    { per_turn_user_simulator_quality_v1: 1 },
    'no metric can score the case "plain", so the agent is not run: `per_turn_user_simulator_quality_v1` judges a simulated user, and the case has no scenario',
  ],
  rubrics: [
    { plain: { conversation: PLAIN, rubrics: [rubric("a", "It is polite.", "TOOL_USE_QUALITY")] }, talk: TALK },
    { rubric_based_final_response_quality_v1: 1 },
    'no metric can score any of the 2 cases, so the agent is not run: in "plain", `rubric_based_final_response_quality_v1`: there are no rubrics to judge turn 1 by',
  ],
  "one text for a rubric": [
    { plain: { conversation: PLAIN, rubrics: [rubric("a", "It is polite."), rubric("a", "It is rude.")] } },
    { response_match_score: 1 },
    /^no metric can score the case "plain", so the agent is not run: `response_match_score`: .*rubric/,
  ],
  "any turn": [
    { empty: [] },
    { response_match_score: 1, safety_v1: 1 },
    'no metric can score the case "empty", so the agent is not run: `response_match_score`: there are no turns to evaluate; `safety_v1`: there are no turns to evaluate',
  ],
};

for (const [what, [cases, criteria, words]] of Object.entries(REFUSED)) {
  test(`no agent is run where all cases lack ${what}`, async () => {
    const agent = counted();
    const error = await errorOf(() => evaluated(agent, cases, criteria));
    assert.deepEqual([error.code, error.path], ["invalid_input", "config: criteria"]);
    if (typeof words === "string") assert.equal(error.message, words);
    else assert.match(error.message, words);
    assert.match(error.help, /Add a metric .* `adk-metrics record` runs an agent without scoring it/);
    assert.equal(agent.turns, 0);
  });
}

test("an agent is run where a metric may score what it does", async () => {
  for (const [cases, criteria, options] of [
    [{ calling: CALLING }, { tool_parameter_match: 0 }],
    [{ plain: PLAIN }, { response_match_score: 1, tool_parameter_match: 0 }],
    [{ talk: TALK }, { safety_v1: 0.5 }],
    [{ talk: TALK, plain: PLAIN }, { turns: 1 }, { registry: countingTurns() }],
    [{ bare: [{ userContent: { parts: [{ text: "Hi" }] } }] }, { response_match_score: 0 }],
    [{ bare: [{ userContent: { parts: [{ text: "Hi" }] } }] }, { response_match_score: 0 }, { dialect: "adk-ts" }],
  ]) {
    const agent = counted();
    const result = await evaluated(agent, cases, criteria, options).catch(({ results: [first] }) => first);
    assert.equal(agent.turns, Object.keys(cases).length);
    assert.equal(result.evalCaseResults.length, agent.turns);
  }
});

test("an agent is not run in the cases that no metric can score, which are not evaluated for that reason", async () => {
  const agent = counted();
  const cases = { talk: TALK, written: PLAIN, walk: TALK };
  const criteria = { response_match_score: 0.5 };
  const progress = [];
  const onAgentProgress = ({ done, total, evalId }) => progress.push([done, total, evalId]);
  const error = await errorOf(() =>
    AgentEvaluator.evaluateEvalSet(agent, evalSetOf(cases), criteria, 2, false, { judge, onAgentProgress }),
  );
  assert.equal(agent.turns, 2);
  assert.deepEqual(progress, [
    [1, 2, "written"],
    [2, 2, "written"],
  ]);
  const [{ evalCaseResults, warnings, simulatorUsage }] = error.results;
  assert.equal(simulatorUsage, undefined);
  assert.deepEqual(
    evalCaseResults.map(({ evalId, finalEvalStatus }) => [evalId, finalEvalStatus]),
    ["talk", "talk", "written", "written", "walk", "walk"].map((id) => [id, id === "written" ? 1 : 3]),
  );
  const why = "`response_match_score` compares with expected turns, and there are none";
  assert.equal(evalCaseResults[0].reason, `the agent was not run: no metric can score the case: ${why}`);
  assert.equal(
    warnings[0].message,
    `no metric can score the cases "talk" and "walk", so the agent is not run there: in "talk", ${why}`,
  );
  assert.match(error.message, /\? talk \(2 of 2 runs\)\n {2}the agent was not run: no metric can score the case/);
  assert.equal(
    error.failures[0].message,
    `nothing was evaluated in case talk (2 of 2 runs): the agent was not run: no metric can score the case: ${why}`,
  );
  const strict = counted();
  const refused = await errorOf(() => evaluated(strict, cases, criteria, { strict: true }));
  assert.match(refused.message, /no metric can score the cases "talk" and "walk"/);
  assert.equal(strict.turns, 0);
});

test("a metric that can score none of the cases is warned of", async () => {
  const criteria = { response_match_score: 0.5, tool_parameter_match: 1 };
  const own = { judge: undefined };
  const error = await errorOf(() => evaluated(counted(), { plain: PLAIN }, criteria, own));
  const [{ warnings }] = error.results;
  assert.deepEqual(
    warnings.map(({ message, path }) => [message, path]),
    [
      [
        "`tool_parameter_match` can score none of the cases: no turn expects a tool call",
        "config: criteria.tool_parameter_match",
      ],
    ],
  );
  const both = { plain: PLAIN, calling: CALLING };
  const { results } = await errorOf(() => evaluated(counted(), both, criteria, own));
  assert.equal(results[0].warnings, undefined, "it can score one of them");
});

test("LocalEvalService runs no agent for what cannot be scored", async () => {
  const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0.5 }] };
  const session = async (agent, ...evalCases) => {
    const found = [];
    const service = new LocalEvalService(agent, 1, { judge });
    for await (const set of service.evaluateSession({ evalSetId: "s", evalCases, evaluateConfig })) found.push(set);
    return found;
  };
  const refused = counted();
  const error = await errorOf(() => session(refused, evalSetOf({ talk: TALK })));
  assert.match(error.message, /^no metric can score the case "talk"/);
  assert.equal(refused.turns, 0);
  const agent = counted();
  const sets = await session(agent, evalSetOf({ talk: TALK, written: PLAIN }));
  assert.deepEqual(
    sets.map(({ evalCaseResults: [{ evalId, finalEvalStatus }] }) => [evalId, finalEvalStatus]),
    [
      ["talk", 3],
      ["written", 1],
    ],
  );
  assert.match(sets[0].warnings[0].message, /^no metric can score the case "talk"/);
  assert.equal(agent.turns, 1);
});

test("a strategy for an argument that no expected call has is warned of", async () => {
  const criteria = (perArgStrategies) => ({ tool_parameter_match: { threshold: 0.5, perArgStrategies } });
  const warnings = async (strategies, conversation = CALLING) => {
    const evalSet = evalSetOf({ one: conversation });
    const actual = structuredClone(evalSet);
    const { warnings: found = [] } = await evaluate({ evalSet, actual, criteria: criteria(strategies) });
    return found.map(({ message, path, help }) => [message, path, help]);
  };
  const says = (names) => `no expected call has the argument ${names}, which \`per_arg_strategies\` names`;
  assert.deepEqual(await warnings({ nmae: "contains" }), [[says('"nmae"'), "config", 'Did you mean "name"?']]);
  const help = "It names arguments as they stand at the top of a call's `args`";
  assert.deepEqual(await warnings({ name: "contains", "a.b": "exact" }), [[says('"a.b"'), "config", help]]);
  assert.deepEqual(await warnings({ name: "contains" }), []);
  assert.deepEqual(
    (await warnings({ nmae: "contains" }, PLAIN)).map(([message]) => message),
    ["`tool_parameter_match` can score none of the cases: no turn expects a tool call"],
    "where no call is expected, that is what is told",
  );
});

const RUBRICS = { conversation: PLAIN, rubrics: [rubric("a", "It is polite.", "FINAL_RESPONSE_QUALITY")] };

test("nobody needs to be asked for cases that are left out, nor by metrics that can score none", async () => {
  const without = { judge: undefined };
  const agent = counted();
  const mixed = { talk: TALK, plain: PLAIN };
  const leftOut = await errorOf(() => evaluated(agent, mixed, { response_match_score: 0.5 }, without));
  assert.equal(agent.turns, 1);
  assert.deepEqual(
    leftOut.results[0].evalCaseResults.map(({ evalId, finalEvalStatus }) => [evalId, finalEvalStatus]),
    [
      ["talk", 3],
      ["plain", 1],
    ],
  );
  const criteria = { response_match_score: 0.5, per_turn_user_simulator_quality_v1: 1 };
  const unable = counted();
  const { results } = await errorOf(() => evaluated(unable, { plain: PLAIN }, criteria, without));
  assert.equal(unable.turns, 1);
  const [{ evalCaseResults, warnings, judges = [] }] = results;
  const [match, quality] = evalCaseResults[0].overallEvalMetricResults;
  assert.deepEqual([match.score, quality.score], [1, undefined]);
  assert.match(quality.reason, /the case has no scenario/);
  assert.match(
    warnings[0].message,
    /^`per_turn_user_simulator_quality_v1` can score none of the cases: it judges a simulated user,/,
  );
  assert.deepEqual(judges, []);
  // In code that scores what was done elsewhere alike.
  const evalSet = evalSetOf({ plain: PLAIN });
  const scored = await evaluate({ evalSet, actual: evalSet, criteria });
  assert.equal(scored.evalCaseResults[0].overallEvalMetricResults[0].score, 1);
});

test("a judge is missing where a case that is selected may need it", async () => {
  const criteria = { response_match_score: 0.5, rubric_based_final_response_quality_v1: 1 };
  const cases = { plain: PLAIN, judged: RUBRICS };
  const agent = counted();
  const error = await errorOf(() => evaluated(agent, cases, criteria, { judge: undefined }));
  assert.deepEqual([error.code, agent.turns], ["judge_required", 0]);
  const evalSet = evalSetOf(cases);
  const request = { evalSet, actual: evalSet, criteria };
  await assert.rejects(evaluate(request), { code: "judge_required" });
  const { evalCaseResults } = await evaluate({ ...request, evalIds: ["plain"] });
  assert.equal(evalCaseResults.length, 1);
});

const PRICES = { "gemini-2.5-flash": { inputPerMillion: 1, outputPerMillion: 1 } };
for (const [what, budget] of [
  ["calls", { calls: 0 }],
  ["tokens", { tokens: 0 }],
  ["money", { cost: 0, prices: PRICES }],
  ["time", { timeMs: 0 }],
]) {
  test(`a budget without ${what} lets nobody be asked, which is said before an agent is run`, async () => {
    const agent = counted();
    const refused = await errorOf(() => evaluated(agent, { plain: PLAIN }, { safety_v1: 1 }, { budget }));
    assert.equal(
      refused.message,
      `no metric can score the case "plain", so the agent is not run: \`safety_v1\`: the budget of ${what} is 0, so no judge can be asked`,
    );
    assert.equal(agent.turns, 0);
    const both = { response_match_score: 1, safety_v1: 1 };
    const { results } = await errorOf(() => evaluated(agent, { plain: PLAIN }, both, { budget, judge: undefined }));
    assert.equal(
      results[0].warnings[0].message,
      `\`safety_v1\` can score none of the cases: the budget of ${what} is 0, so no judge can be asked`,
    );
    assert.equal(results[0].evalCaseResults[0].overallEvalMetricResults[0].score, 1);
    if (what === "time") return;
    const user = await errorOf(() =>
      evaluated(counted(), { talk: TALK }, { turns: 1 }, { budget, registry: countingTurns() }),
    );
    assert.match(user.message, new RegExp(`^the budget of ${what} is 0, so the function judge cannot play the user`));
  });
}

test("matchers run no agent where no metric can score it, and say why", async () => {
  const toPassEvalSet = (agent, cases, options) =>
    adkMatchers.toPassEvalSet.call({}, agent, evalSetOf(cases), { response_match_score: 0.5 }, { judge, ...options });
  const refused = counted();
  const error = await errorOf(() => toPassEvalSet(refused, { talk: TALK }));
  assert.match(error.message, /^expect\(agent\)[^]*no metric can score the case "talk", so the agent is not run: /);
  assert.equal(refused.turns, 0);
  const agent = counted();
  const { pass, message } = await toPassEvalSet(agent, { talk: TALK, written: PLAIN }, { numRuns: 1 });
  assert.deepEqual([pass, agent.turns], [false, 1]);
  assert.match(message(), /1 of 2 cases did not pass/);
  assert.match(message(), /\? talk\n {2}the agent was not run: no metric can score the case: `response_match_score`/);
  assert.match(message(), /warning: no metric can score the case "talk", so the agent is not run there/i);
});
