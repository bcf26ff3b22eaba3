// What users have today: ADK-TS's evaluators and js-rouge, as functions for the harness.
//
// Both come from tests/adk-ts/node_modules, so that the package itself stays without dependencies.
// A contender is { name, semantics, fromObjects?, fromBytes?, pair? }; the first two take a dataset and give the scores
// of its cases, the third scores two strings. Contenders of equal `semantics` must agree on every score.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const home = new URL("../../tests/adk-ts/", import.meta.url);
const require = createRequire(new URL("package.json", home));
const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, home), "utf8")).version;
const decoder = new TextDecoder();

const parsed = (dataset) => ({
  evalSet: JSON.parse(decoder.decode(dataset.evalSetBytes)),
  actual: JSON.parse(decoder.decode(dataset.actualBytes)),
});

/** Pairs each case with the run of the same id. */
function* paired({ evalSet, actual }) {
  const runs = new Map(actual.evalCases.map((run) => [run.evalId, run.conversation]));
  for (const { evalId, conversation } of evalSet.evalCases) yield [runs.get(evalId), conversation];
}

/** One evaluator per case and one await per case, as LocalEvalService does it. */
async function scoresOf(Evaluator, metric, sets) {
  const scores = [];
  for (const [actual, expected] of paired(sets)) {
    const result = await new Evaluator(metric).evaluateInvocations(actual, expected);
    scores.push(result.overallScore);
  }
  return scores;
}

/**
 * The package keeps its ROUGE-1 function to itself, so its text is taken from the installed file. Absent if that file no
 * longer has it where version 0.5.9 does.
 */
async function privateRouge1() {
  const source = readFileSync(require.resolve("@iqai/adk"), "utf8");
  const start = source.indexOf("function calculateRouge1Scores(");
  const end = source.indexOf("\n}\n", source.indexOf("\nfunction tokenizeText(", start));
  if (start < 0 || end < 0) return undefined;
  const text = `${source.slice(start, end)}\n}\nexport default calculateRouge1Scores;`;
  const module = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  return (reference, candidate) => module.default(candidate, reference).fmeasure;
}

async function adkTs() {
  const { RougeEvaluator, TrajectoryEvaluator } = require("@iqai/adk");
  const evaluatorOf = (metric) => (metric.metricName === "response_match_score" ? RougeEvaluator : TrajectoryEvaluator);
  return {
    name: `ADK-TS ${versionOf("@iqai/adk")}`,
    semantics: "adk-ts",
    fromObjects: (dataset) => scoresOf(evaluatorOf(dataset.metric), dataset.metric, dataset),
    fromBytes: (dataset) => scoresOf(evaluatorOf(dataset.metric), dataset.metric, parsed(dataset)),
    pair: await privateRouge1(),
  };
}

const textOf = (conversation) => conversation[0].finalResponse.parts[0].text;

function jsRouge() {
  const { n } = require("js-rouge");
  const options = { n: 1, caseSensitive: false };
  const pair = (reference, candidate) => n(candidate, reference, options);
  const scores = (sets) => [...paired(sets)].map(([actual, expected]) => pair(textOf(expected), textOf(actual)));
  return {
    name: `js-rouge ${versionOf("js-rouge")}`,
    semantics: "js-rouge",
    metrics: ["response_match_score"],
    fromObjects: scores,
    fromBytes: (dataset) => scores(parsed(dataset)),
    pair,
  };
}

/** The share of a run from bytes that any program using JSON.parse pays before it scores anything. */
const parseOnly = {
  name: "JSON.parse alone",
  semantics: "none",
  fromBytes: (dataset) => parsed(dataset).evalSet.evalCases.map(() => undefined),
};

/** The baseline contenders, ADK-TS first; empty, with the reason on stderr, if they are not installed. */
export async function baselines() {
  try {
    require.resolve("@iqai/adk");
  } catch {
    console.error("ADK-TS is skipped: it is not installed. Run: npm ci --ignore-scripts --prefix tests/adk-ts");
    return [];
  }
  return [await adkTs(), jsRouge(), parseOnly];
}
