/** Verdicts that people label, and how often the judge is right. */

import type { EvalSetResult } from "adk-metrics/web";
import {
  calibrate,
  type Label,
  readLabels,
  renderCalibrationHtml,
  verdictsToLabel,
  writeLabels,
} from "adk-metrics/calibration";
import { fileName } from "./exporting.js";
import { outcomeOf } from "./problems.js";
import type { GivenLabel, Labelling } from "./protocol-label.js";

/** The most verdicts that are sent to the page at once: more than a person labels in one sitting. */
const MOST_VERDICTS = 500;

/** @param resultsOf The results of a run with the current thresholds. */
export function labelling(resultsOf: (run: string) => readonly EvalSetResult[]): Labelling {
  return {
    verdictsToLabel: (run, { random, metric }) =>
      outcomeOf(() => {
        const results = resultsOf(run);
        const all = verdictsToLabel(results, { random, ...(metric === undefined ? {} : { metrics: [metric] }) });
        const rowOf = rowsOf(results);
        const verdicts = all.slice(0, MOST_VERDICTS).map((verdict) => ({ ...verdict, row: rowOf(verdict) }));
        return { verdicts, total: all.length };
      }),

    verdictsOfCase: (run, row) =>
      outcomeOf(() => {
        const results = resultsOf(run);
        const cases = results.flatMap((set, index) =>
          set.evalCaseResults.map(({ evalId }) => ({ evalSetId: set.evalSetId, evalId, index })),
        );
        const shown = cases[row];
        if (shown === undefined) return [];
        // Its other runs too, since runs are counted.
        const own = results
          .filter(({ evalSetId }) => evalSetId === shown.evalSetId)
          .map((set) => ({
            ...set,
            evalCaseResults: set.evalCaseResults.filter(({ evalId }) => evalId === shown.evalId),
          }));
        const metrics = own.flatMap(({ evalCaseResults }) =>
          evalCaseResults.flatMap((one) => one.overallEvalMetricResults.map(({ metricName }) => metricName)),
        );
        const rowOf = rowsOf(results);
        return verdictsToLabel(own, { metrics: [...new Set(metrics)] }).filter((verdict) => rowOf(verdict) === row);
      }),

    calibration: (run, labels) =>
      outcomeOf(() => {
        const results = resultsOf(run);
        const found = calibrate(results, complete(labels));
        const rowOf = rowsOf(results);
        return { ...found, disagreements: found.disagreements.map((one) => ({ ...one, row: rowOf(one) })) };
      }),

    readLabels: (run, { bytes }) => outcomeOf(() => readLabels(resultsOf(run), bytes)),

    labelsFile: (run, labels, format) =>
      outcomeOf(() => {
        const results = resultsOf(run);
        const [first] = results;
        const name = first === undefined || results.length > 1 ? "evaluation" : first.evalSetId;
        if (format === "html") {
          const content = renderCalibrationHtml(calibrate(results, complete(labels)));
          return { name: fileName(name, ".calibration.html"), type: "text/html", content };
        }
        if (format === "csv") {
          // A comment alone is a row whose label is empty.
          const content = writeLabels(labels.map((one) => ({ ...one, label: one.label ?? "" })));
          return { name: fileName(name, ".labels.csv"), type: "text/csv", content };
        }
        const content = labels.map((one) => `${JSON.stringify({ label: "", ...one })}\n`).join("");
        return { name: fileName(name, ".labels.jsonl"), type: "application/jsonl", content };
      }),
  };
}

function complete(labels: readonly GivenLabel[]): Label[] {
  return labels.filter((one): one is GivenLabel & Label => one.label !== undefined);
}

type Place = Pick<GivenLabel, "evalSetId" | "evalId" | "run">;

/** Finds the row of a case: by its evalset and id, and by how many runs of it come before. */
function rowsOf(results: readonly EvalSetResult[]): (place: Place) => number {
  const rows = new Map<string, number[]>();
  let row = 0;
  for (const { evalSetId, evalCaseResults } of results) {
    for (const one of evalCaseResults) {
      const key = JSON.stringify([one.evalSetId ?? evalSetId, one.evalId]);
      const known = rows.get(key);
      if (known === undefined) rows.set(key, [row]);
      else known.push(row);
      row += 1;
    }
  }
  return ({ evalSetId, evalId, run }) => rows.get(JSON.stringify([evalSetId, evalId]))?.[run - 1] ?? -1;
}
