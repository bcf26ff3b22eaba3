// Records what @iqai/adk's TrajectoryEvaluator and RougeEvaluator answer: `npm run vectors`.
// `npm run check` runs them again and fails if an answer differs from the committed file.

import { readFileSync, writeFileSync } from "node:fs";
import { RougeEvaluator, TrajectoryEvaluator } from "@iqai/adk";
import { rougeCases } from "./rouge-cases.mjs";
import { textCases } from "./text-cases.mjs";
import { trajectoryCases } from "./trajectory-cases.mjs";

const SEED = 0x0a0d_4b75;

const EVALUATORS = {
  tool_trajectory_avg_score: TrajectoryEvaluator,
  tool_trajectory_score: TrajectoryEvaluator,
  response_match_score: RougeEvaluator,
  response_match: RougeEvaluator,
};

/** A score as the vectors write it: NaN and an absent score are both null. */
const scoreOrNull = (score) => (Number.isFinite(score) ? score : null);

async function record(metric, actual, expected) {
  try {
    const evaluator = new EVALUATORS[metric.metricName](metric);
    const result = await evaluator.evaluateInvocations(actual, expected);
    return {
      overallScore: scoreOrNull(result.overallScore),
      overallEvalStatus: result.overallEvalStatus,
      perInvocationResults: result.perInvocationResults.map(({ score, evalStatus }) => ({
        score: scoreOrNull(score),
        evalStatus,
      })),
    };
  } catch (error) {
    return { error: error.message };
  }
}

/** One case per line, so that a change shows up as a small diff. */
const render = (cases) => `{"cases":[\n${cases.map((one) => JSON.stringify(one)).join(",\n")}\n]}\n`;

async function recordObjects() {
  const cases = [...trajectoryCases(SEED, 1000), ...rougeCases(SEED + 1, 1000)];
  const recorded = [];
  for (const { name, metric, actual, expected } of cases) {
    const read = JSON.parse(JSON.stringify({ metric, actual, expected }));
    recorded.push({ name, ...read, result: await record(read.metric, read.actual, read.expected) });
  }
  return recorded;
}

async function recordTexts() {
  const recorded = [];
  for (const one of textCases()) {
    const result = await record(one.metric, JSON.parse(one.actualText), JSON.parse(one.expectedText));
    recorded.push({ ...one, result });
  }
  return recorded;
}

const files = {
  "vectors.json": await recordObjects(),
  "vectors-text.json": await recordTexts(),
};
for (const [name, cases] of Object.entries(files)) {
  const path = new URL(name, import.meta.url);
  const text = render(cases);
  if (process.argv.includes("--check")) {
    if (readFileSync(path, "utf8") !== text) {
      console.error(`${name} is not what @iqai/adk answers; run: npm run vectors`);
      process.exitCode = 1;
    }
  } else {
    writeFileSync(path, text);
  }
  console.log(`${name}: ${cases.length} cases, ${(Buffer.byteLength(text) / 1024).toFixed(0)} KiB`);
}
