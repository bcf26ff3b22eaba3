// Recorded replies: nobody is asked for them, so they are no calls, cost nothing, and no budget leaves them out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { journalInMemory } from "../package/support/journals.mjs";
import { importEntry } from "../package/support/package.mjs";

const { AgentEvaluator, estimateCalls, evaluate, memoryCache, panelJudge, recordJudge, replayJudge } =
  await importEntry();
const { renderTable } = await importEntry("./report");

const names = Array.from({ length: 5 }, (_, at) => `case ${at}`);
const set = evalSetOf(
  Object.fromEntries(names.map((name) => [name, [turn(`question of ${name}`, `answer of ${name}`)]])),
);
const actual = evalSetOf(
  Object.fromEntries(names.map((name) => [name, [turn(`question of ${name}`, `reply of ${name}`)]])),
);
const request = { evalSet: set, actual, criteria: { final_response_match_v2: 0.8 } };
const VALID = '{"is_the_agent_response_valid": "valid"}';
const prices = { live: { inputPerMillion: 1, outputPerMillion: 100 } };

const live = async () => ({ text: VALID, usage: { inputTokens: 300, outputTokens: 20 } });

/** The lines of a recording of all that is asked. */
async function recorded(more = {}, model = { model: "live" }) {
  const lines = [];
  const judge = recordJudge(live, (line) => lines.push(line), model);
  const result = await evaluate({ ...request, ...more, judge });
  return { lines, result };
}

const usageOf = ({ judgeUsage }) => {
  const { calls, answered, cached, lost, inputTokens, outputTokens } = judgeUsage;
  return { calls, answered, cached, lost, inputTokens, outputTokens };
};
const REUSED = { calls: 0, answered: 0, cached: 15, lost: 0, inputTokens: 0, outputTokens: 0 };

const scoresOf = ({ evalCaseResults }) =>
  evalCaseResults.map(({ overallEvalMetricResults: [{ score, reason }] }) => score ?? reason);

test("a recording is replayed as `cached`, with what each reply took and nothing spent", async () => {
  const { lines, result } = await recorded();
  assert.deepEqual(usageOf(result), {
    ...REUSED,
    calls: 15,
    answered: 15,
    cached: 0,
    inputTokens: 4500,
    outputTokens: 300,
  });
  const replayed = await evaluate({ ...request, judge: replayJudge(lines) });
  assert.deepEqual(usageOf(replayed), REUSED);
  assert.deepEqual(scoresOf(replayed), scoresOf(result));
  const [{ explanation }] = replayed.evalCaseResults[0].overallEvalMetricResults
    .concat(replayed.evalCaseResults[0].evalMetricResultPerInvocation[0].evalMetricResults)
    .filter((metric) => metric.explanation?.samples !== undefined);
  for (const { cached, usage } of explanation.samples.votes) {
    assert.deepEqual([cached, usage], [true, { inputTokens: 300, outputTokens: 20 }]);
  }
  assert.match(
    renderTable(replayed),
    /judged by live: 0 calls, \d+ samples? saved by early stopping, 15 replies reused$/m,
  );
});

for (const [what, budget] of Object.entries({
  "no calls": { calls: 0 },
  "few calls": { calls: 2 },
  "no tokens": { tokens: 0 },
  "few tokens": { tokens: 10 },
  "no money": { cost: 0, prices },
  "money, and no price": { cost: 0.000001, prices: {} },
})) {
  test(`a budget of ${what} leaves no recorded reply out`, async () => {
    const { lines } = await recorded();
    const judge = replayJudge(lines);
    const replayed = await evaluate({ ...request, judge, budget });
    assert.deepEqual(scoresOf(replayed), [1, 1, 1, 1, 1]);
    const { cost, unpriced } = replayed.judgeUsage;
    assert.deepEqual([cost ?? 0, unpriced, replayed.warnings], [0, undefined, undefined]);
    const agent = async (text) => text.replace("question", "reply");
    const { results } = await AgentEvaluator.evaluateEvalSet(agent, set, request.criteria, 1, false, {
      judge,
      budget,
    }).then(
      (found) => ({ results: [].concat(found) }),
      (error) => error,
    );
    assert.deepEqual(scoresOf(results[0]), [1, 1, 1, 1, 1]);
  });
}

test("time limits recordings too", async () => {
  const { lines } = await recorded();
  const late = await evaluate({ ...request, judge: replayJudge(lines), budget: { timeMs: 0 } });
  assert.equal(late.judgeUsage?.cached ?? 0, 0);
});

test("judges of your own hand recorded replies on, and are paid for the others alone", async () => {
  const { lines } = await recorded({ evalIds: names.slice(0, 2) }, {});
  const replay = replayJudge(lines);
  const judge = async (question, options) => {
    try {
      return await replay(question, options);
    } catch (error) {
      if (error.code !== "replay_missing") throw error;
      return live();
    }
  };
  const result = await evaluate({ ...request, judge: Object.assign(judge, { cacheVersion: "1" }) });
  const { calls, cached, inputTokens } = usageOf(result);
  assert.deepEqual([calls, cached, inputTokens], [9, 6, 2700]);
});

test("of a panel, only those are paid who are asked", async () => {
  const samples = (numSamples) => ({
    final_response_match_v2: { threshold: 0.8, judgeModelOptions: { numSamples } },
  });
  const { lines } = await recorded({ criteria: samples(10), earlyStop: false });
  const named = Object.assign(async () => live(), { cacheVersion: "1" });
  Object.defineProperty(named, "name", { value: "other" });
  const judge = panelJudge([named, replayJudge(lines)]);
  const half = await evaluate({ ...request, criteria: samples(5), judge, earlyStop: false });
  const { calls, cached, lost } = usageOf(half);
  assert.deepEqual([calls, cached, lost], [25, 25, 0]);
});

test("what a cache keeps of a recording, and the same question again, are `cached` as well", async () => {
  const { lines } = await recorded();
  const cache = memoryCache();
  const judge = replayJudge(lines);
  assert.deepEqual(usageOf(await evaluate({ ...request, judge, cache })), REUSED);
  assert.deepEqual(usageOf(await evaluate({ ...request, judge, cache })), REUSED);
});

test("a journal remembers which replies were recorded", async () => {
  const { lines } = await recorded();
  const { begin } = journalInMemory();
  const judge = replayJudge(lines);
  const whole = await evaluate({ ...request, judge, journal: begin() });
  const again = await evaluate({ ...request, judge, journal: begin() });
  assert.deepEqual([usageOf(whole), usageOf(again)], [REUSED, REUSED]);
});

test("no calls are foreseen for recorded replies", async () => {
  const { lines } = await recorded();
  assert.deepEqual(await estimateCalls({ ...request, judge: replayJudge(lines), earlyStop: true }), []);
});

test("what a recording lacks is no call", async () => {
  const { lines } = await recorded();
  const other = evalSetOf(Object.fromEntries(names.map((name) => [name, [turn(`question of ${name}`, "new")]])));
  const result = await evaluate({ ...request, actual: other, judge: replayJudge(lines) });
  const { calls, failed, cached, lost, unsent } = result.judgeUsage;
  assert.deepEqual([calls, failed, cached, lost], [0, 0, 0, 25]);
  const text = renderTable(result, { width: 400 });
  assert.match(text, new RegExp(`judged by live: 0 calls, ${lost - unsent} samples without a reply`));
});

test("what a recording lacks is told by turns and samples from 1 up, alike reasons together", async () => {
  const { lines } = await recorded({ earlyStop: "none" });
  const isKept = (line) => {
    const { request: asked } = JSON.parse(line);
    return asked === undefined || (asked.evalId !== "case 4" && asked.sampleIndex === 0);
  };
  const judge = replayJudge(lines.filter(isKept));
  const { warnings } = await evaluate({ ...request, judge, earlyStop: "none" });
  const lacks = "the recording has no reply for final_response_match_v2 \\(verdict\\), ";
  assert.match(
    warnings[0].message,
    new RegExp(
      "^`final_response_match_v2` has no verdict in 5 of 5 case results: " +
        `in 4, ${lacks}case "case \\d", turn 1, sample \\d: the recording only has sample 1; ` +
        `in 1, ${lacks}case "case 4", turn 1, sample \\d: nothing is recorded for this case\\. Record it again with`,
    ),
  );
});

test("two replies to one question are a warning that says which counts, and where they are", async () => {
  const lines = [];
  let asked = 0;
  const reply = { text: '{"is_the_agent_response_valid": "valid"}', usage: { inputTokens: 5, outputTokens: 3 } };
  const grade = async () => ({ ...reply, usage: { ...reply.usage, outputTokens: (asked += 1) } });
  const evalSet = evalSetOf({ one: [turn("When?", "At noon.")], two: [turn("Where?", "Here.")] });
  const criteria = { final_response_match_v2: { threshold: 0.5, judgeModelOptions: { numSamples: 1 } } };
  const request = { evalSet, actual: evalSet, criteria };
  const record = (judge) => evaluate({ ...request, judge: recordJudge(judge, (line) => void lines.push(line)) });
  const warningsOf = async () => {
    const { warnings = [] } = await evaluate({ ...request, judge: replayJudge(lines) });
    return warnings.map(({ message }) => message).filter((message) => message.includes("recording"));
  };
  await record(grade);
  await record(grade);
  assert.deepEqual(await warningsOf(), []);
  await record(async () => ({ ...reply, text: reply.text.replace('"valid"', '"invalid"') }));
  assert.deepEqual(await warningsOf(), [
    "the recording has different replies to 2 questions, for example in line 2 and line 8; the first is used",
  ]);
});
