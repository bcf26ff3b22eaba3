// What judges would be asked is said before any is.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, run } from "../cli/command.mjs";
import { importEntry } from "../package/support/package.mjs";

const { estimateCalls, evaluate, memoryCache, openaiJudge } = await importEntry();

const turn = (text) => [{ userContent: { parts: [{ text: "When?" }] }, finalResponse: { parts: [{ text }] } }];
const ids = ["rome", "oslo", "bern", "kyiv"];
const evalSet = {
  evalSetId: "trains",
  evalCases: ids.map((evalId) => ({ evalId, conversation: turn(`Nine, ${evalId}.`) })),
};
const actual = {
  evalSetId: "trains",
  evalCases: ids.map((evalId) => ({ evalId, conversation: turn(`At 9, ${evalId}.`) })),
};
const criteria = {
  final_response_match_v2: { threshold: 0.5, judgeModelOptions: { judgeModel: "some-model", numSamples: 5 } },
  response_match_score: 0.5,
};
const request = { evalSet, actual, criteria };

/** How many calls an evaluation takes with a judge that says so of each sample. */
async function callsWith(verdictOf, options = {}) {
  let calls = 0;
  const judge = async ({ sampleIndex }) => {
    calls += 1;
    return JSON.stringify({
      reasoning: "Because.",
      is_the_agent_response_valid: verdictOf(sampleIndex) ? "valid" : "invalid",
    });
  };
  await evaluate({ ...request, judge, ...options });
  return calls;
}

test("the calls are those that an evaluation makes, at least and at most", async () => {
  const [row, ...others] = await estimateCalls(request);
  assert.deepEqual([others.length, row.metricName, row.model], [0, "final_response_match_v2", "some-model"]);
  assert.equal(row.least.calls, await callsWith(() => true));
  assert.equal(row.most.calls, await callsWith(() => true, { earlyStop: false }));
  assert.ok(row.least.calls < row.most.calls);
  assert.ok(row.least.calls <= row.likely.calls && row.likely.calls <= row.most.calls);
  const dissenting = await callsWith((sample) => sample % 2 === 0);
  assert.ok(row.least.calls <= dissenting && dissenting <= row.most.calls);
  assert.equal(row.most.inputTokens, Math.ceil(row.most.characters / 4));
  assert.equal(row.most.outputTokens, 1000 * row.most.calls);
  const [limited] = await estimateCalls({
    ...request,
    criteria: {
      final_response_match_v2: {
        threshold: 0.5,
        judgeModelOptions: { judgeModel: "some-model", numSamples: 5, judgeModelConfig: { max_output_tokens: 50 } },
      },
    },
  });
  assert.equal(limited.most.outputTokens, 50 * limited.most.calls);
});

test("rows come in the order of the questions, however long it takes to hash them", async (t) => {
  const digest = crypto.subtle.digest.bind(crypto.subtle);
  let hashed = 0;
  t.mock.method(crypto.subtle, "digest", async (...given) => {
    if ((hashed += 1) === 1) await new Promise((resolve) => setTimeout(resolve, 100));
    return digest(...given);
  });
  const models = ["one", "two", "three"];
  const rows = await estimateCalls({
    ...request,
    criteria: {
      final_response_match_v2: { threshold: 0.5, judge_model_options: { judge_models: models, num_samples: 1 } },
    },
  });
  assert.ok(hashed > 0);
  assert.deepEqual(
    rows.map(({ model }) => model),
    models,
  );
});

test("nobody is asked, and metrics of one's own are not called", async () => {
  const fail = () => assert.fail("asked");
  const registry = { customMetricNames: () => ["own"], getEvaluator: fail };
  const cache = { get: () => undefined, set: fail };
  const rows = await estimateCalls({ ...request, criteria: { ...criteria, own: 1 }, judge: fail, cache, registry });
  assert.equal(rows.length, 1);
  assert.deepEqual(await estimateCalls({ ...request, criteria: { response_match_score: 0.5 } }), []);
  await assert.rejects(estimateCalls({ ...request, criteria: { nothing_like_it: 1 } }), /nothing_like_it/);
});

test("replies that the cache has are not counted, nor calls that the budget leaves no room for", async () => {
  const cache = memoryCache();
  const judge = openaiJudge({
    apiKey: "key",
    model: "some-model",
    fetch: async () => {
      const content = '{"reasoning": "Because.", "is_the_agent_response_valid": "valid"}';
      return new Response(JSON.stringify({ choices: [{ message: { content } }] }));
    },
  });
  const given = { ...request, judge, cache };
  const bounds = async (more) => {
    const [row] = await estimateCalls({ ...given, ...more });
    return ["least", "likely", "most"].map((bound) => row?.[bound].calls ?? 0);
  };
  const [least, , most] = await bounds({});
  assert.deepEqual([least, most], [12, 20]);
  await evaluate({ ...given, evalIds: ["rome", "oslo"] });
  assert.deepEqual(await bounds({ evalIds: ["rome", "oslo"] }), [0, 0, 4]);
  assert.equal((await bounds({}))[0], 6);
  assert.deepEqual(await bounds({ cache: undefined, budget: { calls: 5 } }), [5, 5, 5]);
});

test("under a budget, no metric is asked more at least than at most", async () => {
  const rubrics = [{ rubricId: "brief", rubricContent: { textProperty: "The answer is brief." } }];
  const judgeModelOptions = { judgeModel: "some-model", numSamples: 5 };
  const both = { ...criteria, rubric_based_final_response_quality_v1: { threshold: 0.5, judgeModelOptions, rubrics } };
  // The same answer is asked about once at least, and for each case at most.
  const same = { ...actual, evalCases: ids.map((evalId) => ({ evalId, conversation: turn("At 9.") })) };
  const expected = { ...evalSet, evalCases: ids.map((evalId) => ({ evalId, conversation: turn("Nine.") })) };
  for (let calls = 1; calls < 42; calls += 1) {
    const rows = await estimateCalls({
      ...request,
      evalSet: expected,
      actual: same,
      criteria: both,
      budget: { calls },
    });
    assert.ok(rows.length > 0);
    for (const { metricName, least, likely, most } of rows) {
      for (const amount of ["calls", "characters", "inputTokens", "outputTokens"]) {
        const bounds = [least, likely, most].map((one) => one[amount]);
        const sorted = bounds.toSorted((a, b) => a - b);
        assert.deepEqual(bounds, sorted, `${metricName}, ${amount} with ${calls} calls`);
      }
      assert.ok(most.calls <= calls);
    }
  }
});

const files = {
  "trains.evalset.json": JSON.stringify(evalSet),
  "trains.actual.json": JSON.stringify(actual),
  "test_config.json": JSON.stringify({ criteria }),
  "agent.mjs": `throw new Error("the agent was loaded");`,
};

test("eval --dry-run says calls, tokens and money, without a key, and writes nothing", async (t) => {
  const cwd = folderOf(t, files);
  const given = ["eval", "trains.evalset.json", "--actual", "trains.actual.json", "--dry-run"];
  const found = await run([...given, "--price", "some-model=1000,2000", "--output", "report.html"], { cwd });
  assert.equal(found.status, 0, found.stderr);
  const [row] = await estimateCalls(request);
  const cost = ({ inputTokens, outputTokens }) => (inputTokens * 1000 + outputTokens * 2000) / 1e6;
  const lines = found.stdout.trimEnd().split("\n");
  assert.equal(lines[0], "final_response_match_v2, some-model");
  for (const [at, bound] of ["least", "likely", "most"].entries()) {
    const [, calls, , , money] = /^ {2}[a-z ]+: +(\d+) calls, ([\d,]+) tokens in, ([\d,]+) out, cost ([\d.]+)$/.exec(
      lines[at + 1],
    );
    assert.equal(Number(calls), row[bound].calls);
    assert.ok(Math.abs(Number(money) - cost(row[bound])) < 1e-3, lines[at + 1]);
  }
  assert.match(found.stderr, /^dry run: no calls were made, no agent was run and nothing was written\n/m);
  assert.equal(existsSync(join(cwd, "report.html")), false);
  const free = await run([...given, "--model", "other"], { cwd });
  assert.match(free.stdout, /^final_response_match_v2, other\n/);
  assert.match(free.stderr, /to estimate the cost, add --price <model>=<input>,<output>/);
});

test("--cache and --max-calls lower what is foreseen", async (t) => {
  const cwd = folderOf(t, files);
  const given = ["eval", "trains.evalset.json", "--actual", "trains.actual.json", "--dry-run"];
  const found = await run([...given, "--max-calls", "7", "--cache", "kept"], { cwd });
  assert.match(found.stdout, /at least: +7 calls/);
  assert.match(found.stdout, /at most: +7 calls/);
  assert.match(
    found.stderr,
    /--max-calls 7 ends the run before everything is scored, and cuts these estimates: without it, at least (\d+) calls, likely \d+, at most \d+\n/,
  );
  const whole = (await run([...given], { cwd })).stdout;
  const need = /without it, (.*)/.exec(found.stderr)[1].match(/\d+/g);
  assert.deepEqual(need, [...whole.matchAll(/: +(\d+) calls/g)].map(([, calls]) => calls).slice(-3));
  const enough = await run([...given, "--max-calls", need[2]], { cwd });
  assert.doesNotMatch(enough.stderr, /--max-calls/);
  const perhaps = await run([...given, "--max-calls", need[0]], { cwd });
  assert.match(perhaps.stderr, /--max-calls \d+ may end the run/);
  assert.match(found.stderr, /nor are replies in --cache/);
  assert.equal(existsSync(join(cwd, "kept")), false);
});

test("run --dry-run counts every run of every case, and runs no agent", async (t) => {
  const cwd = folderOf(t, {
    ...files,
    "trains.evalset.json": JSON.stringify({
      ...evalSet,
      evalCases: [
        ...evalSet.evalCases,
        { evalId: "asked", conversationScenario: { startingPrompt: "Hi", conversationPlan: "Ask when." } },
      ],
    }),
  });
  const given = ["run", "--agent", "agent.mjs", "trains.evalset.json", "--dry-run"];
  const [once, thrice] = await Promise.all(["1", "3"].map((runs) => run([...given, "--num-runs", runs], { cwd })));
  assert.equal(once.status, 0, once.stderr);
  const calls = ({ stdout }, bound) => Number(new RegExp(`${bound}: +(\\d+) calls`).exec(stdout)[1]);
  assert.equal(calls(once, "at most"), 20);
  assert.equal(calls(thrice, "at most"), 3 * 20);
  // Answers of several runs are the same at least, so that they share verdicts; likely they are not.
  assert.equal(calls(thrice, "at least"), calls(once, "at least"));
  assert.ok(calls(thrice, "likely") >= 2.5 * calls(once, "likely"), thrice.stdout);
  assert.match(once.stderr, /the agent's own calls are not counted/);
  assert.match(once.stderr, /1 case with a simulated user cannot be estimated and is left out/);
  const asked = await run([...given.with(3, "trains.evalset.json:asked")], { cwd });
  assert.equal(asked.stdout, "nothing can be estimated\n", asked.stderr);
});

const RETIRED =
  /^warning: the Gemini API retire[sd] gemini-2\.5-flash on 1 December 2026: .*; to choose another model, set (.*)/gm;
const toldIn = ({ stderr }) => [...stderr.matchAll(RETIRED)].map(([, where]) => where);

test("--dry-run warns of a default model that is replaced, with and without a key", async (t) => {
  const scenario = { evalId: "asked", conversationScenario: { startingPrompt: "Hi", conversationPlan: "Ask when." } };
  const cwd = folderOf(t, {
    ...files,
    "asked.evalset.json": JSON.stringify({ evalSetId: "asked", evalCases: [scenario] }),
    "test_config.json": JSON.stringify({ criteria: { final_response_match_v2: 0.5, response_match_score: 0.5 } }),
    "plain.json": JSON.stringify({ criteria: { response_match_score: 0.5 } }),
  });
  const scored = ["eval", "trains.evalset.json", "--actual", "trains.actual.json", "--dry-run"];
  const ran = ["run", "--agent", "agent.mjs", "--dry-run"];
  const ofJudges = "the judge's `model`, the criterion's `judge_model` or --model";
  const ofUsers = "the `model` of `userSimulator` or `user_simulator_config`";
  for (const env of [{}, { GOOGLE_API_KEY: "key-4711" }]) {
    assert.deepEqual(toldIn(await run(scored, { cwd, env })), [ofJudges]);
    assert.deepEqual(toldIn(await run([...ran, "trains.evalset.json"], { cwd, env })), [ofJudges]);
    const users = [...ran, "asked.evalset.json", "--config", "plain.json"];
    assert.deepEqual(toldIn(await run(users, { cwd, env })), [ofUsers]);
    assert.deepEqual(toldIn(await run([...users, "--model", "gemini-3.5-flash-lite"], { cwd, env })), []);
  }
  assert.deepEqual(toldIn(await run([...scored, "--model", "gpt-6-luna"], { cwd })), []);
  const own = { GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1" };
  assert.deepEqual(toldIn(await run(scored, { cwd, env: own })), []);
});
