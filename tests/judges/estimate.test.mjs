// What judges would be asked is said before any is.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, run } from "../cli/command.mjs";
import { importEntry } from "../package/support/package.mjs";

const { estimateCalls, evaluate } = await importEntry();

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
        judgeModelOptions: { judgeModel: "some-model", numSamples: 5, judgeModelConfig: { maxOutputTokens: 50 } },
      },
    },
  });
  assert.equal(limited.most.outputTokens, 50 * limited.most.calls);
});

test("nobody is asked, and metrics of one's own are not called", async () => {
  const fail = () => assert.fail("asked");
  const registry = { customMetricNames: () => ["own"], getEvaluator: fail };
  const cache = { get: fail, set: fail };
  const rows = await estimateCalls({ ...request, criteria: { ...criteria, own: 1 }, judge: fail, cache, registry });
  assert.equal(rows.length, 1);
  assert.deepEqual(await estimateCalls({ ...request, criteria: { response_match_score: 0.5 } }), []);
  await assert.rejects(estimateCalls({ ...request, criteria: { nothing_like_it: 1 } }), /nothing_like_it/);
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
  assert.match(found.stderr, /^dry run: nothing was asked, run or written\n/m);
  assert.equal(existsSync(join(cwd, "report.html")), false);
  const free = await run([...given, "--model", "other"], { cwd });
  assert.match(free.stdout, /^final_response_match_v2, other\n/);
  assert.match(free.stderr, /what it costs is said with --price/);
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
  const most = ({ stdout }) => Number(/at most: +(\d+) calls/.exec(stdout)[1]);
  assert.equal(most(thrice), 3 * most(once));
  assert.equal(most(once), 20);
  assert.match(once.stderr, /the agent's own calls are not counted/);
  assert.match(once.stderr, /1 case with a simulated user cannot be foreseen and is left out/);
});
