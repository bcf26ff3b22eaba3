// This project's package as contenders: the way a user imports it from pkg/, through the exports of its package.json.

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const built = new URL("../../pkg/", import.meta.url);

/** The file that `import "adk-metrics"` loads in Node. */
function resolveExport(target) {
  if (typeof target === "string") return target;
  if (Array.isArray(target)) return target.map(resolveExport).find(Boolean);
  for (const [condition, inner] of Object.entries(target ?? {})) {
    const found = ["node", "import", "module-sync", "default"].includes(condition) && resolveExport(inner);
    if (found) return found;
  }
  return undefined;
}

/** Scores over a whole dataset in one call, with explanations of the results that `explain` names. */
const wholeSet = (evaluate, name, dialect, explain) => {
  const scores = async (dataset, evalSet, actual) => {
    const { metricName, threshold } = dataset.metric;
    const result = await evaluate({ evalSet, actual, criteria: { [metricName]: threshold }, explain, dialect });
    return result.evalCaseResults.map((one) => one.overallEvalMetricResults[0].score);
  };
  return {
    name: explain === "none" ? `${name}, evaluate()` : `${name}, explained`,
    semantics: dialect,
    /** The results themselves, for what they take of memory. */
    results: ({ metric: { metricName, threshold }, evalSet, actual }) =>
      evaluate({ evalSet, actual, criteria: { [metricName]: threshold }, explain, dialect }),
    fromObjects: (dataset) => scores(dataset, dataset.evalSet, dataset.actual),
    fromBytes: (dataset) => scores(dataset, dataset.evalSetBytes, dataset.actualBytes),
  };
};

/** A call of an evaluator per case: of one evaluator for all, or of one for each, as code written for ADK-TS makes it. */
const perCase = (classes, name, dialect, isKept) => ({
  name: `${name}, ${isKept ? "a call per case" : "evaluator per case"}`,
  semantics: dialect,
  async fromObjects({ metric, evalSet, actual }) {
    const make = () => new classes[metric.metricName](metric, { explain: "none", dialect });
    const evaluator = make();
    const runs = new Map(actual.evalCases.map((run) => [run.evalId, run.conversation]));
    const scores = [];
    for (const { evalId, conversation } of evalSet.evalCases) {
      const of = isKept ? evaluator : make();
      scores.push((await of.evaluateInvocations(runs.get(evalId), conversation)).overallScore);
    }
    return scores;
  },
});

/**
 * Our contenders in both dialects; empty, with the reason on stderr, before the package is built.
 *
 * @param folder Another build of the package, which is compared with this one.
 */
export async function ours(folder) {
  const root = folder === undefined ? built : pathToFileURL(`${resolve(folder)}/`);
  const manifest = new URL("package.json", root);
  if (!existsSync(manifest)) {
    console.error("adk-metrics is skipped: pkg/ does not exist. Run: npm run build");
    return [];
  }
  const { exports, name } = JSON.parse(readFileSync(manifest, "utf8"));
  const entry = resolveExport(exports?.["."] ?? exports);
  if (entry === undefined) throw new Error(`${manifest.pathname} exports nothing that Node can import`);
  const { evaluate, rouge1, RougeEvaluator, TrajectoryEvaluator } = await import(new URL(entry, root));
  const classes = { response_match_score: RougeEvaluator, tool_trajectory_avg_score: TrajectoryEvaluator };
  return ["adk-python", "adk-ts"].flatMap((dialect) => {
    const of = folder === undefined ? name : `${name} of ${folder}`;
    const label = dialect === "adk-python" ? of : `${of} (${dialect})`;
    const contenders = [
      wholeSet(evaluate, label, dialect, "none"),
      perCase(classes, label, dialect, true),
      perCase(classes, label, dialect, false),
    ];
    if (dialect === "adk-python") {
      contenders.push(wholeSet(evaluate, label, dialect, "all"), {
        name: `${of}, rouge1()`,
        semantics: dialect,
        pair: (reference, candidate) => rouge1(reference, candidate).fmeasure,
      });
    }
    return contenders;
  });
}
