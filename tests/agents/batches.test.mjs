// `batch`: the agent is run in all cases, then its judges are asked through the batch APIs of their providers.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { batchServer, filesOf, verdict } from "../cli/batching.mjs";
import { BARE, ended, folderOf, text } from "../cli/command.mjs";
import { at, KEY, MODELS } from "../cli/judging.mjs";
import { importEntry } from "../package/support/package.mjs";

const { AgentEvaluator, fileJournal, LocalEvalService, openaiJudge } = await importEntry();

/** A judge that finds the answers in every third case wrong. */
const reply = ({ prompt }) => verdict(Number(/question case-(\d+)\./.exec(prompt)[1]) % 3 !== 0);

async function setUp(t, count = 4) {
  const answering = await batchServer(t, { reply });
  const files = filesOf(count, { num_samples: 3 });
  const cwd = folderOf(t, files);
  let turns = 0;
  // Its every answer is another, so that a run that is repeated would ask other questions.
  const agent = async (message) => `answer ${(turns += 1)} to ${message}`;
  const journal = () => fileJournal(join(cwd, "run.jsonl"));
  const judge = openaiJudge({ apiKey: KEY, model: MODELS.openai, baseUrl: `${answering.url}/v1` });
  const batch = { folder: join(cwd, "replies"), pollMs: 1 };
  const { criteria } = JSON.parse(files["test_config.json"]);
  const evalSet = JSON.parse(files["many.evalset.json"]);
  return { answering, agent, turns: () => turns, cwd, criteria, evalSet, options: { judge, batch }, journal };
}

const sizes = ({ batches }) => batches.map(({ requests }) => requests.length);
const statuses = ({ evalCaseResults }) => evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus);
/** The results of an evaluation that does not pass. */
const resultsOf = (evaluation) =>
  evaluation.then(
    () => assert.fail("it passed"),
    (error) => {
      assert.equal(error.name, "AgentEvaluationError", error.stack);
      return error.results;
    },
  );

test("AgentEvaluator.evaluateEvalSet runs the agent, then asks in batches", async (t) => {
  const { answering, agent, turns, criteria, evalSet, options, journal } = await setUp(t);
  const given = { ...options, journal: journal() };
  const [result] = await resultsOf(AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 2, false, given));
  given.journal.close();
  assert.deepEqual(statuses(result), [2, 2, 1, 1, 1, 1, 2, 2]);
  // Two of three samples, which agree.
  assert.deepEqual(sizes(answering), [16]);
  assert.equal(answering.requests.length, 0, "nothing is asked live");
  assert.deepEqual([result.judgeUsage.calls, result.judgeUsage.cached], [0, 16]);
  assert.equal(turns(), 8);
  // The journal has all of it.
  const again = { ...options, journal: journal() };
  const [same] = await resultsOf(AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 2, false, again));
  again.journal.close();
  assert.deepEqual(same, result);
  assert.deepEqual([turns(), sizes(answering)], [8, [16]]);
});

test("AgentEvaluator.evaluate asks about all files in one batch, and the environment has the judge", async (t) => {
  const { answering, turns, cwd } = await setUp(t);
  const program = `
    import { AgentEvaluator, fileJournal } from ${JSON.stringify(import.meta.resolve("../../pkg/dist/esm/node.js"))};
    const batch = { pollMs: 1, onNotice: console.error };
    const agent = async (message) => "answer to " + message;
    const given = { batch, journal: fileJournal("run.jsonl") };
    const results = await AgentEvaluator.evaluate(agent, "sets", 1, undefined, given).catch(({ results }) => results);
    console.log(JSON.stringify(results.map(({ evalCaseResults }) => evalCaseResults.map((one) => one.finalEvalStatus))));
  `;
  mkdirSync(join(cwd, "sets"));
  const config = JSON.parse(readFileSync(join(cwd, "test_config.json"), "utf8"));
  for (const criterion of Object.values(config.criteria)) criterion.judge_model_options.judge_model = MODELS.openai;
  writeFileSync(join(cwd, "sets", "test_config.json"), JSON.stringify(config));
  for (const name of ["one", "two"]) {
    const text = readFileSync(join(cwd, "many.evalset.json"), "utf8").replaceAll("answer of", `${name} of`);
    writeFileSync(join(cwd, "sets", `${name}.test.json`), text);
  }
  writeFileSync(join(cwd, "program.mjs"), program);
  const env = { ...process.env, ...BARE, ...at.openai(answering) };
  const child = spawn(process.execPath, ["program.mjs"], { cwd, env });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)]);
  assert.equal(stdout, "[[2,1,1,2],[2,1,1,2]]\n", stderr);
  assert.deepEqual(sizes(answering), [16]);
  assert.match(stderr, /16 of 16 answered/);
  assert.ok(existsSync(join(cwd, "adk-metrics-replies")), "the folder of `batch: true`");
  assert.equal(turns(), 0);
});

test("LocalEvalService asks about all cases in one batch", async (t) => {
  const { answering, agent, turns, criteria, evalSet, options, journal } = await setUp(t);
  const evalMetrics = Object.entries(criteria).map(([metricName, criterion]) => ({ metricName, criterion }));
  const request = { evalSetId: "many", evalCases: [evalSet], evaluateConfig: { evalMetrics } };
  const given = { ...options, journal: journal() };
  const service = new LocalEvalService(agent, 4, given);
  const found = [];
  for await (const result of service.evaluateSession(request)) found.push(...statuses(result));
  given.journal.close();
  assert.deepEqual(found, [2, 1, 1, 2]);
  assert.deepEqual(sizes(answering), [8]);
  assert.equal(answering.requests.length, 0, "nothing is asked live");
  assert.equal(turns(), 4);
});

test("what was waited for is continued with the journal", async (t) => {
  const { answering, agent, turns, criteria, evalSet, options, journal } = await setUp(t);
  const stop = new AbortController();
  const onNotice = (text) => text.includes("questions to") && stop.abort(new Error("enough for today"));
  const first = { ...options, journal: journal(), signal: stop.signal, batch: { ...options.batch, onNotice } };
  const evaluation = AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, first);
  await assert.rejects(evaluation, /enough for today/);
  first.journal.close();
  const next = { ...options, journal: journal() };
  const [result] = await resultsOf(AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, next));
  next.journal.close();
  assert.deepEqual(statuses(result), [2, 1, 1, 2]);
  assert.deepEqual([turns(), sizes(answering)], [4, [8]]);
  // An agent that is cancelled asks nobody, and what it did is scored.
  const cancelled = new AbortController();
  const early = async (message) => {
    cancelled.abort();
    return message;
  };
  const last = {
    ...options,
    journal: fileJournal(`${options.batch.folder}.jsonl`),
    signal: cancelled.signal,
    parallelism: 1,
  };
  const [cut] = await resultsOf(AgentEvaluator.evaluateEvalSet(early, evalSet, criteria, 1, false, last));
  last.journal.close();
  assert.equal(cut.cancelled, true);
  assert.deepEqual(sizes(answering), [8]);
});

test("what a journal has answers to is not asked again", async (t) => {
  const { answering, agent, turns, criteria, evalSet, options, journal } = await setUp(t);
  const { batch: _, ...live } = options;
  const first = { ...live, journal: journal(), budget: { calls: 3 } };
  await resultsOf(AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, first));
  first.journal.close();
  assert.equal(answering.requests.length, 3);
  const next = { ...options, journal: journal() };
  const [result] = await resultsOf(AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, next));
  next.journal.close();
  assert.deepEqual(statuses(result), [2, 1, 1, 2]);
  assert.deepEqual([turns(), answering.requests.length, sizes(answering)], [4, 3, [5]]);
});

test("what cannot be asked in batches is said before the agent is run", async (t) => {
  const { agent, turns, criteria, evalSet, options, journal } = await setUp(t);
  const kept = journal();
  for (const [more, message] of [
    [{ journal: undefined }, /`batch` needs a journal, which keeps what the agent did until the batches are over/],
    [{ cache: new Map() }, /`cache` cannot be used with `batch`/],
    [{ budget: { calls: 5 } }, /`budget` cannot be used with `batch`/],
    [{ judge: async () => "yes" }, /this judge does not support batches/],
  ]) {
    const given = { ...options, journal: kept, ...more };
    await assert.rejects(AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, given), message);
    const evalMetrics = Object.entries(criteria).map(([metricName, criterion]) => ({ metricName, criterion }));
    const service = async () => {
      const request = { evalSetId: "many", evalCases: [evalSet], evaluateConfig: { evalMetrics } };
      for await (const _ of new LocalEvalService(agent, 4, given).evaluateSession(request));
    };
    await assert.rejects(service, message);
  }
  assert.equal(turns(), 0);
  kept.close();
});
