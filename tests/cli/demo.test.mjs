// The examples that ask a judge, replayed as the demo does: without a key, without a network.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { judgedExamples, recordingFile, staleRecordings } from "../../scripts/record-examples.mjs";
import { importEntry } from "../package/support/package.mjs";
import { root, run } from "./command.mjs";

const { evaluate, PrebuiltMetrics, replayJudge } = await importEntry();

const fileOf = (name, ending) => `examples/${name}/${name}.${ending}`;
const replaying = (name) => ["eval", fileOf(name, "evalset.json"), "--judge", `replay:${recordingFile(name)}`];
const bytes = (file) => readFileSync(join(root, file));

/** The results of an example, by case and metric. */
async function resultsOf(name, options) {
  const { evalCaseResults } = await evaluate({
    evalSet: bytes(fileOf(name, "evalset.json")),
    actual: bytes(fileOf(name, "actual.json")),
    config: bytes(`examples/${name}/test_config.json`),
    judge: replayJudge(bytes(recordingFile(name))),
    ...options,
  });
  return Object.fromEntries(
    evalCaseResults.map(({ evalId, overallEvalMetricResults, evalMetricResultPerInvocation }) => [
      evalId,
      {
        scores: Object.fromEntries(overallEvalMetricResults.map(({ metricName, score }) => [metricName, score])),
        turns: evalMetricResultPerInvocation.map(({ evalMetricResults }) =>
          Object.fromEntries(evalMetricResults.map((result) => [result.metricName, result])),
        ),
      },
    ]),
  );
}

test("the recordings are of today's prompts", async () => {
  assert.deepEqual(await staleRecordings(), [], "run: node scripts/record-examples.mjs");
});

test("the recordings say that no model wrote them", () => {
  for (const name of judgedExamples) {
    const [header] = readFileSync(join(root, recordingFile(name)), "utf8").split("\n");
    assert.match(JSON.parse(header).note, /written by hand for this project, not by a model/);
  }
});

test("the judged examples score what they say", async () => {
  const counts = {
    "bike-workshop": "3 cases: 1 passed, 2 failed",
    "cake-orders": "3 cases: 1 passed, 2 failed",
    "ferry-press": "3 cases: 2 passed, 1 failed",
    "museum-guide": "6 cases: 2 passed, 4 failed",
  };
  assert.deepEqual(Object.keys(counts), judgedExamples);
  for (const [name, count] of Object.entries(counts)) {
    const { stdout, stderr, status } = await run(replaying(name));
    assert.equal(status, 1, stderr);
    assert.ok(stdout.includes(`\n${count}\njudged by written-by-hand: `), `${name}\n${stdout}`);
  }
});

test("the examples use every metric", async () => {
  const used = new Set();
  for (const name of readdirSync(join(root, "examples"))) {
    const folder = join("examples", name);
    if (!statSync(join(root, folder)).isDirectory()) continue;
    const files = readdirSync(join(root, folder)).filter((file) => /\.(evalset|test)\.json$/.test(file));
    const judge = judgedExamples.includes(name) ? ["--judge", `replay:${recordingFile(name)}`] : [];
    const { stdout } = await run(["eval", ...files.map((file) => join(folder, file)), ...judge, "--format", "csv"]);
    for (const line of stdout.split("\n").slice(1)) used.add(line.split(",")[4]);
  }
  const legacy = ["tool_trajectory_score", "response_match", "safety"];
  const unused = Object.values(PrebuiltMetrics).filter((metric) => !used.has(metric) && !legacy.includes(metric));
  assert.deepEqual(unused, []);
});

test("votes stop as soon as the outcome is certain, and come to the same without that", async () => {
  for (const name of judgedExamples) {
    const [early, all] = [await resultsOf(name), await resultsOf(name, { earlyStop: false })];
    for (const [evalId, { scores }] of Object.entries(all)) assert.deepEqual(early[evalId].scores, scores, evalId);
  }
  const asked = async (options) => {
    const results = await resultsOf("museum-guide", options);
    return Object.fromEntries(
      Object.entries(results).map(([evalId, { turns }]) => [
        evalId,
        turns[0].final_response_match_v2.explanation.samples.asked,
      ]),
    );
  };
  assert.deepEqual(await asked(), {
    sunday_hours: 3,
    student_ticket: 3,
    lighthouse_lamp: 4,
    audio_guide: 5,
    with_children: 5,
    guides_address: 3,
  });
  assert.deepEqual(new Set(Object.values(await asked({ earlyStop: false }))), new Set([5]));
});

test("a tie with a reply that cannot be read is invalid", async () => {
  const { audio_guide: guide } = await resultsOf("museum-guide");
  const { score, explanation } = guide.turns[0].final_response_match_v2;
  assert.equal(score, 0);
  assert.deepEqual(
    explanation.samples.votes.map((vote) => vote.score),
    [1, 0, undefined, 1, 0],
  );
});

test("every label of a sentence occurs", async () => {
  const results = await resultsOf("ferry-press");
  const labels = Object.values(results).flatMap(({ turns }) =>
    turns.flatMap(({ hallucinations_v1: { explanation } }) => explanation.sentences.map(({ label }) => label)),
  );
  assert.deepEqual([...new Set(labels)].sort(), [
    "contradictory",
    "disputed",
    "not_applicable",
    "supported",
    "unsupported",
  ]);
});

test("rubrics of the criterion, of the case and of the turn are in force", async () => {
  const { birthday_inscription: birthday, nut_allergy: nuts } = await resultsOf("cake-orders");
  const metric = "rubric_based_final_response_quality_v1";
  const met = (turn) =>
    Object.fromEntries(turn[metric].details.rubricScores.map(({ rubricId, score }) => [rubricId, score]));
  assert.deepEqual(birthday.turns.map(met), [
    { right_price: 1, brief: 1 },
    { right_price: 0, brief: 1, repeats_inscription: 1 },
  ]);
  assert.deepEqual(nuts.turns.map(met), [{ right_price: 1, brief: 1, says_nut_free: 0 }]);
});
