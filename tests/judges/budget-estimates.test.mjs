// Budgets in tokens and money where answers do not say what they took.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";

const { AgentEvaluator, evaluate, openaiJudge } = await importEntry();
const { renderTable } = await importEntry("./report");

const LONG = `{"is_the_agent_response_valid": "valid", "reasoning": "${"x".repeat(7_960)}"}`;
const names = Array.from({ length: 5 }, (_, at) => `case ${at}`);
const set = evalSetOf(
  Object.fromEntries(names.map((name) => [name, [turn(`question of ${name}`, `answer of ${name}`)]])),
);
const request = { evalSet: set, actual: set, criteria: { final_response_match_v2: 0.8 }, concurrency: 1 };

const estimates = ({ warnings = [] }) =>
  warnings.filter(({ message }) => /did not report (?:their|its) tokens, so the budget counts/.test(message));

/** A server of chat completions; `usage` as it says. */
async function serverOf(t, usage) {
  const message = { role: "assistant", content: LONG };
  const body = JSON.stringify({ choices: [{ message, finish_reason: "stop" }], model: "qwen", ...usage });
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end(body));
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  return openaiJudge({ model: "qwen", apiKey: "key", baseUrl: `http://127.0.0.1:${server.address().port}/v1` });
}

const prices = { qwen: { inputPerMillion: 1, outputPerMillion: 100 } };

for (const [what, usage] of Object.entries({
  "says nothing": {},
  "counts none": { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
  "counts the prompt alone": { usage: { prompt_tokens: 300 } },
})) {
  test(`a budget in money counts long replies of a server that ${what}`, async (t) => {
    const judge = await serverOf(t, usage);
    const result = await evaluate({ ...request, judge, budget: { cost: 0.5, prices } });
    const { calls, answered, unreported, outputTokens, cost } = result.judgeUsage;
    // Each reply costs about 0.2, which a third call is expected to cost, too.
    assert.deepEqual([calls, unreported, outputTokens], [2, answered, 2 * Math.floor(LONG.length / 4)]);
    assert.ok(cost > 0.4 && cost < 0.41, `${cost}`);
    const [warning, ...more] = estimates(result);
    assert.match(warning.message, /^2 of 2 answers of judges did not report their tokens, so the budget counts/);
    assert.deepEqual(more, []);
    assert.match(renderTable(result), /did not report their tokens, so the budget counts/);
  });
}

test("a server that says what a reply took, in all or for each side, needs no estimate", async (t) => {
  for (const usage of [{ prompt_tokens: 300, completion_tokens: 20 }, { total_tokens: 320 }]) {
    const judge = await serverOf(t, { usage });
    const result = await evaluate({ ...request, judge, budget: { cost: 0.5, prices } });
    const { unreported, inputTokens, outputTokens } = result.judgeUsage;
    assert.deepEqual([unreported, inputTokens + outputTokens], [0, result.judgeUsage.calls * 320]);
    assert.deepEqual(estimates(result), []);
  }
});

test("a budget of tokens counts replies of a function, and says that it is an estimate", async () => {
  const judge = async () => LONG;
  const result = await evaluate({ ...request, judge, budget: { tokens: 8_000 } });
  const { calls, inputTokens, outputTokens } = result.judgeUsage;
  assert.ok(calls < 5, `${calls} calls`);
  assert.ok(inputTokens + outputTokens >= 8_000 - 2_500);
  assert.equal(estimates(result).length, 1);
  const once = {
    ...request,
    evalIds: ["case 0"],
    criteria: { final_response_match_v2: { threshold: 0.8, judgeModelOptions: { numSamples: 1 } } },
  };
  const [single] = estimates(await evaluate({ ...once, judge, budget: { tokens: 8_000 } }));
  assert.match(single.message, /^the only answer of judges did not report its tokens, so the budget counts/);
  // Where nothing depends on it, usage itself says so.
  const free = await evaluate({ ...request, judge });
  assert.deepEqual([free.judgeUsage.unreported, estimates(free).length], [free.judgeUsage.answered, 0]);
  assert.equal(free.judgeUsage.outputTokens, free.judgeUsage.calls * Math.floor(LONG.length / 4));
});

test("what a simulated user says counts as well", async () => {
  const evalCases = [{ evalId: "scene", conversationScenario: { startingPrompt: "Hi", conversationPlan: "Go on." } }];
  const asked = [];
  const judge = async ({ prompt }) => {
    asked.push(prompt);
    return "y".repeat(4_000);
  };
  const result = await AgentEvaluator.evaluateEvalSet(
    async () => "Hello",
    { evalSetId: "s", evalCases },
    { hallucinations_v1: 0 },
    1,
    false,
    {
      userSimulator: { judge, maxAllowedInvocations: 4 },
      judge: async () => "",
      budget: { tokens: 2_500 },
    },
  ).then(
    () => assert.fail("nothing is scored"),
    (error) => error.results[0],
  );
  const { calls, unreported, outputTokens } = result.simulatorUsage;
  assert.deepEqual([calls, unreported, outputTokens], [2, 2, 2_000]);
  assert.match(estimates(result)[0].message, /^2 of 2 answers of the simulated user did not report their tokens/);
});
