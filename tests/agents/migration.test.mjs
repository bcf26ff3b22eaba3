// The table of docs/from-adk-ts.md: what `@iqai/adk` 0.5.9 and this package answer to the same, both run here. With
// UPDATE_SAMPLES=1 the table is written anew.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import theirs from "@iqai/adk";
import * as ours from "../../pkg/dist/esm/node.js";
import { CRITERIA, errorOf, evalSetOf, said, scoreOf, turn } from "./evalsets.mjs";
import { LIBRARIES, say, weatherAgent } from "./libraries.mjs";

const PAGE = fileURLToPath(new URL("../../docs/from-adk-ts.md", import.meta.url));
const TABLE = /^\| the same input .*\n(?:\|.*\n)+/m;

/** Without keys no model is reached, and nothing leaves this machine. */
for (const name of ["GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"]) delete process.env[name];
// Without these `safety_v1` of @iqai/adk has no score at all.
Object.assign(process.env, { GOOGLE_CLOUD_PROJECT: "project", GOOGLE_CLOUD_LOCATION: "nowhere" });

const PARIS = turn("Weather in Paris?", "It is sunny in Paris.", [["get_weather", { city: "Paris" }]]);
const SET = evalSetOf({ paris: [PARIS] });
const library = LIBRARIES.find(({ name }) => name === "@iqai/adk");
const agent = () => weatherAgent(library);
const answers = (text) => [{ userContent: said("user", "Go"), finalResponse: said("model", text) }];
const VERDICT = '{"is_the_agent_response_valid": "valid", "score": 1, "explanation": "It is."}';
const judge = async () => VERDICT;
theirs.LLMRegistry.registerModel("judge", library.agent({ name: "judge", script: () => say(VERDICT) }).model);

/** What a metric gives for two answers; the scores of two runs where they differ. */
async function scored(library, Class, metric, [expected, actual], options) {
  const run = async () => {
    const evaluator = new library[Class](metric, options);
    return (await evaluator.evaluateInvocations(answers(actual), answers(expected))).overallScore;
  };
  const [first, second] = [await run(), await run()];
  if (Object.is(first, second)) return rounded(first);
  assert.ok([first, second].every((score) => score >= 0.5 && score <= 1));
  return "a random number from 0.5 to 1";
}

const rounded = (score) => (score === undefined ? "none" : String(Math.round(score * 1000) / 1000));

/** The rows: what is evaluated, what they answer, what we answer. */
async function rows() {
  const rows = [];
  const texts = (words, expected, actual) =>
    `\`response_match_score\`, ${words}: expected “${expected}”, found “${actual}”`;
  for (const [words, expected, actual] of [
    ["Thai", "วันนี้ฝนตก", "วันนี้ฝนตก"],
    ["Chinese", "今天下雨", "今天下雨"],
    ["another form of a word", "It rains today", "It is raining today"],
    ["repeated words", "no no yes", "no yes yes"],
  ]) {
    const of = (library, options) =>
      scored(
        library,
        "RougeEvaluator",
        { metricName: "response_match_score", threshold: 0.8 },
        [expected, actual],
        options,
      );
    const inDialect = await of(ours, { dialect: "adk-ts" });
    const row = [texts(words, expected, actual), await of(theirs), await of(ours)];
    assert.equal(inDialect, row[1], words);
    rows.push(row);
  }
  const same = ["It is sunny.", "It is sunny."];
  for (const [metricName, Class] of [
    ["safety_v1", "SafetyEvaluatorV1"],
    ["final_response_match_v2", "FinalResponseMatchV2Evaluator"],
  ]) {
    const metric = { metricName, threshold: 0.8, judgeModelOptions: { judgeModel: "judge" } };
    rows.push([
      `\`${metricName}\` of the expected answer itself`,
      await scored(theirs, Class, metric, same),
      `${await scored(ours, Class, metric, same, { judge })}, by the judge's verdict`,
    ]);
  }
  const { message } = await errorOf(() => theirs.AgentEvaluator.evaluateEvalSet(agent(), SET, CRITERIA, 1));
  const theirScores = Object.keys(CRITERIA).map(
    (name) => new RegExp(`${name} for .* got ([\\d.]+)\\.`).exec(message)[1],
  );
  const { evalCaseResults } = await ours.AgentEvaluator.evaluateEvalSet(agent(), SET, CRITERIA, 1);
  for (const [index, name] of Object.keys(CRITERIA).entries()) {
    rows.push([
      `\`AgentEvaluator\`: \`${name}\` of an agent that does what is expected`,
      rounded(Number(theirScores[index])),
      rounded(scoreOf(evalCaseResults[0], name)),
    ]);
  }
  return rows;
}

const cellsOf = (line) =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

test("what @iqai/adk exports for evaluations is exported here", () => {
  const names = Object.keys(theirs.Evaluation);
  assert.ok(names.includes("AgentEvaluator"));
  assert.deepEqual(
    names.filter((name) => !(name in ours)),
    [],
  );
  for (const [name, value] of Object.entries(theirs.PrebuiltMetrics)) assert.equal(ours.PrebuiltMetrics[name], value);
});

test("the guide for users of @iqai/adk shows what both answer", async (t) => {
  for (const what of ["log", "warn", "error", "table"]) t.mock.method(console, what, () => {});
  const found = await rows();
  const page = readFileSync(PAGE, "utf8");
  const [table] = TABLE.exec(page) ?? [""];
  if (process.env.UPDATE_SAMPLES !== undefined) {
    const [head, line] = table.split("\n");
    writeFileSync(
      PAGE,
      page.replace(table, [head, line, ...found.map((row) => `| ${row.join(" | ")} |`), ""].join("\n")),
    );
    return;
  }
  assert.deepEqual(table.trim().split("\n").slice(2).map(cellsOf), found);
});
