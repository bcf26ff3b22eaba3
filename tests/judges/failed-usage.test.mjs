// Tokens that an answer reports are paid for, whatever becomes of its reply.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { journalInMemory } from "../journal/journal.mjs";
import { importEntry } from "../package/support/package.mjs";

const {
  AdkMetricsError,
  AgentEvaluator,
  anthropicJudge,
  evaluate,
  geminiJudge,
  languageModelJudge,
  openaiJudge,
  panelJudge,
  recordJudge,
} = await importEntry();

const names = Array.from({ length: 5 }, (_, at) => `case ${at}`);
const set = evalSetOf(
  Object.fromEntries(names.map((name) => [name, [turn(`question of ${name}`, `answer of ${name}`)]])),
);
const retry = { attempts: 3, initialDelayMs: 1, maxDelayMs: 1 };
const request = { evalSet: set, actual: set, criteria: { final_response_match_v2: 0.8 }, concurrency: 1, retry };
const one = { ...request, evalIds: ["case 0"] };
const VALID = `{"is_the_agent_response_valid": "valid", "reasoning": "."}`;

async function urlOf(t, bodyOf) {
  let asked = 0;
  const server = createServer((_, response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify(bodyOf((asked += 1)))),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

const chat = (content, finish = "stop") => ({
  choices: [{ message: { role: "assistant", content }, finish_reason: finish }],
  model: "qwen",
  usage: { prompt_tokens: 300, completion_tokens: 50 },
});
const openai = async (t, bodyOf) => {
  const url = await urlOf(t, bodyOf);
  return openaiJudge({ model: "qwen", apiKey: "key", baseUrl: `${url}/v1` });
};
const gemini = async (t, more) => {
  const body = { ...more, usageMetadata: { promptTokenCount: 300, candidatesTokenCount: 20, thoughtsTokenCount: 30 } };
  return geminiJudge({ model: "qwen", apiKey: "key", baseUrl: await urlOf(t, () => body) });
};
const named = (name, judge) => Object.defineProperty((...given) => judge(...given), "name", { value: name });
const prices = { qwen: { inputPerMillion: 1_000, outputPerMillion: 10_000 } };

for (const [what, judgeOf] of [
  ["has no text", (t) => openai(t, () => chat(""))],
  ["is refused", (t) => openai(t, () => chat("", "content_filter"))],
  ["is cut off", (t) => openai(t, () => chat("", "length"))],
  ["is in another format", (t) => openai(t, () => ({ id: 1, usage: chat("").usage }))],
  ["is an error", (t) => openai(t, () => ({ ...chat(""), error: { code: 400, message: "no" } }))],
  ["is a blocked prompt", (t) => gemini(t, { promptFeedback: { blockReason: "SAFETY" } })],
  [
    "is a refusal of Anthropic's",
    async (t) =>
      anthropicJudge({
        model: "qwen",
        apiKey: "key",
        baseUrl: await urlOf(t, () => ({
          content: [],
          stop_reason: "refusal",
          usage: { input_tokens: 300, output_tokens: 50 },
        })),
      }),
  ],
  [
    "is an error of a function that says what it took",
    async () => async () => {
      const usage = { inputTokens: 300, outputTokens: 50 };
      throw new AdkMetricsError("judge_failed", "no", { retryable: true, usage });
    },
  ],
  [
    "is an error of a judge of a panel",
    async () => {
      const fail = async () => {
        throw Object.assign(new Error("no"), { usage: { inputTokens: 300, outputTokens: 50 } });
      };
      return panelJudge([named("a", fail), named("b", fail)]);
    },
  ],
  ["is no reply, of a function", async () => async () => ({ text: 7, usage: { inputTokens: 300, outputTokens: 50 } })],
  [
    "is empty, of the AI SDK",
    async () =>
      languageModelJudge({
        specificationVersion: "v2",
        provider: "p",
        modelId: "qwen",
        doGenerate: async () => ({
          content: [],
          finishReason: "stop",
          usage: { inputTokens: 300, outputTokens: 50, totalTokens: 350 },
        }),
      }),
  ],
]) {
  test(`what an answer took counts if it ${what}`, async (t) => {
    const judge = await judgeOf(t);
    const own = {
      ...prices,
      "": prices.qwen,
      judge: prices.qwen,
      a: prices.qwen,
      b: prices.qwen,
      "gemini-2.5-flash": prices.qwen,
    };
    const result = await evaluate({ ...one, judge, budget: { prices: own } });
    const { calls, answered, failed, inputTokens, outputTokens, cost } = result.judgeUsage;
    assert.deepEqual([answered, failed, failed > 0], [0, calls, true]);
    assert.deepEqual([inputTokens, outputTokens], [300 * calls, 50 * calls]);
    assert.equal(Number(cost.toFixed(6)), Number((0.8 * calls).toFixed(6)));
  });
}

test("budgets of tokens and money hold where no reply can be used", async (t) => {
  for (const budget of [{ tokens: 1_000 }, { cost: 2.4, prices }]) {
    const judge = await openai(t, () => chat(""));
    const { judgeUsage } = await evaluate({ ...request, judge, budget });
    assert.ok(judgeUsage.calls > 0 && judgeUsage.calls <= 3, JSON.stringify(judgeUsage));
  }
});

test("a journal keeps what failed calls took, and so does the run that is resumed", async (t) => {
  const { begin } = journalInMemory();
  const single = {
    ...one,
    criteria: { final_response_match_v2: { threshold: 0.8, judgeModelOptions: { numSamples: 1 } } },
  };
  let calls = 0;
  const judge = await openai(t, (asked) => {
    calls = asked;
    return chat(asked % 2 === 1 ? "" : VALID);
  });
  const whole = await evaluate({ ...single, judge, journal: begin() });
  const resumed = await evaluate({ ...single, judge, journal: begin() });
  const { failed, inputTokens, outputTokens } = whole.judgeUsage;
  assert.deepEqual([failed > 0, inputTokens, outputTokens], [true, 300 * calls, 50 * calls]);
  assert.deepEqual([calls, resumed.judgeUsage], [2, whole.judgeUsage]);
  assert.deepEqual(
    resumed.evalCaseResults[0].overallEvalMetricResults,
    whole.evalCaseResults[0].overallEvalMetricResults,
  );
});

for (const [what, judgeOf] of [
  ["an answer that was read here", (t, bodyOf) => openai(t, bodyOf)],
  [
    "a function",
    async (t, bodyOf) => {
      let asked = 0;
      return named("qwen", async () => {
        const { choices, usage } = bodyOf((asked += 1));
        const counts = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
        const text = choices[0].message.content;
        if (text === "") throw Object.assign(new Error("no"), { retryable: true, usage: counts });
        return { text, usage: counts };
      });
    },
  ],
]) {
  test(`what calls took that failed before a run was killed or given up counts in the one that goes on: ${what}`, async (t) => {
    const config = { threshold: 0.8, judgeModelOptions: { numSamples: 1 } };
    const single = { ...one, criteria: { final_response_match_v2: config }, budget: { prices } };
    const { entries, begin } = journalInMemory();
    let calls = 0;
    // Three calls each fail for good, and are killed after two; the ninth is answered.
    const judge = await judgeOf(t, (asked) => {
      calls = asked;
      return chat(asked < 9 ? "" : VALID);
    });
    const figures = ({ judgeUsage: { calls, answered, failed, retried, lost, inputTokens, outputTokens, cost } }) => [
      [calls, answered, failed, retried, lost],
      [inputTokens, outputTokens, Number(cost.toFixed(6))],
    ];
    const spent = (times) => [300 * times, 50 * times, Number((0.8 * times).toFixed(6))];
    const first = await evaluate({ ...single, judge, journal: begin() });
    assert.deepEqual(figures(first), [[3, 0, 3, 2, 1], spent(3)]);
    const second = await evaluate({ ...single, judge, journal: begin() });
    assert.deepEqual(figures(second), [[6, 0, 6, 5, 1], spent(6)]);
    const killed = new AbortController();
    const isOver = evaluate({
      ...single,
      judge,
      journal: begin(),
      signal: killed.signal,
      retry: { ...retry, initialDelayMs: 50, maxDelayMs: 50 },
    });
    while (entries.filter(({ type }) => type === "failure").length < 8) await new Promise((go) => setTimeout(go, 5));
    killed.abort();
    await isOver;
    assert.equal(calls, 8);
    const third = await evaluate({ ...single, judge, journal: begin() });
    assert.deepEqual(figures(third), [[9, 1, 8, 8, 0], spent(9)]);
    const again = await evaluate({ ...single, judge, journal: begin() });
    assert.deepEqual([calls, again.judgeUsage], [9, third.judgeUsage]);
  });
}

test("what failed calls of a simulated user took counts, and ends its budget", async () => {
  const evalCases = [{ evalId: "scene", conversationScenario: { startingPrompt: "Hi", conversationPlan: "Go on." } }];
  const usage = { inputTokens: 300, outputTokens: 50 };
  let asked = 0;
  const player = async () => {
    asked += 1;
    throw new AdkMetricsError("judge_failed", "no", { retryable: true, usage });
  };
  const evaluation = AgentEvaluator.evaluateEvalSet(
    async () => "Hello",
    { evalSetId: "s", evalCases },
    { hallucinations_v1: 0 },
    1,
    false,
    {
      judge: async () => "",
      userSimulator: { judge: player, retry },
      budget: { tokens: 600 },
    },
  );
  const error = await evaluation.then(
    () => assert.fail("nothing is scored"),
    (thrown) => thrown,
  );
  const { calls, inputTokens, outputTokens } = error.results[0].simulatorUsage;
  assert.deepEqual([asked, calls, inputTokens, outputTokens], [2, 2, 600, 100]);
});

test("a recording that cannot be written any more loses no reply that was paid for, and asks nobody", async () => {
  let asked = 0;
  const grade = async () => {
    asked += 1;
    return { text: VALID, usage: { inputTokens: 300, outputTokens: 50 } };
  };
  const full = (line) => {
    if (line.includes("question of case 2")) throw new Error("the disk is full");
  };
  const criteria = {
    final_response_match_v2: { threshold: 0.8, judgeModelOptions: { numSamples: 1, judgeModel: "gemini-2.5-flash" } },
  };
  const judge = recordJudge(grade, full);
  const { judgeUsage, evalCaseResults, warnings } = await evaluate({ ...request, criteria, judge });
  assert.deepEqual([asked, judgeUsage.calls, judgeUsage.answered, judgeUsage.inputTokens], [3, 3, 3, 900]);
  const statuses = evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus);
  assert.deepEqual(statuses, [1, 1, 1, 3, 3]);
  assert.match(evalCaseResults[4].overallEvalMetricResults[0].reason, /the disk is full/);
  assert.match(warnings.find(({ code }) => code === "recording_failed").message, /the disk is full/);
});

test("a panel whose recordings cannot be written loses no reply either", async () => {
  const grade = async () => ({ text: VALID, usage: { inputTokens: 300, outputTokens: 50 } });
  const full = () => {
    throw new Error("the disk is full");
  };
  const judge = panelJudge([recordJudge(named("a", grade), full), named("b", grade)]);
  const { judgeUsage, evalCaseResults, warnings } = await evaluate({ ...one, judge });
  assert.deepEqual([judgeUsage.answered > 1, judgeUsage.inputTokens], [true, 300 * judgeUsage.calls]);
  assert.equal(evalCaseResults[0].finalEvalStatus, 1);
  assert.ok(warnings.some(({ code }) => code === "recording_failed"));
});

test("a misspelt count of whoever plays the user is a warning that names what was meant", async () => {
  const evalCases = [{ evalId: "scene", conversationScenario: { startingPrompt: "Hi", conversationPlan: "Go on." } }];
  const player = async () => ({ text: "</finished>", usage: { inputToken: 5, outputTokens: 3 } });
  const results = await AgentEvaluator.evaluateEvalSet(
    async () => "Hello",
    { evalSetId: "s", evalCases },
    { hallucinations_v1: 0 },
    1,
    false,
    { judge: async () => VALID, userSimulator: { judge: player } },
  ).catch(({ results: [found] }) => found);
  const { warnings } = Array.isArray(results) ? results[0] : results;
  assert.ok(warnings.some(({ message }) => message.includes("did you mean `inputTokens` by `inputToken`?")));
});
