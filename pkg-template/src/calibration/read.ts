/** Labels as objects, each with the verdict that it is about. */

import { reading } from "../engine/values.js";
import { definedProperties } from "../lists.js";
import { rowsOf } from "./labels.js";
import { readingsOf, text } from "./matched.js";
import type { LabelsInput, ReadLabels, ResultsInput } from "./types.js";
import { foundIn } from "./verdicts.js";

/**
 * Reads labels of results, and says of each which verdict it is about.
 *
 * @param labels CSV, JSON or lines of JSON, or a list of {@link Label}.
 * @throws {AdkMetricsError} `invalid_input` for what are no results or no labels.
 *
 * @example
 * const { labels, problems } = readLabels(results, await readFile("labels.csv", "utf8"));
 */
export function readLabels(results: ResultsInput | readonly ResultsInput[], labels: LabelsInput): ReadLabels {
  const { verdicts } = reading("results", () => foundIn(results));
  const rows = reading("labels", () => rowsOf(labels));
  return reading("labels", () => {
    const { readings, empty, problems } = readingsOf(rows, verdicts);
    const read = readings.map(({ row, verdict, annotator, passes, score }) => {
      const { evalSetId, evalId, run, turn, metricName, rubricId } = verdict;
      const comment = text(row.fields.comment);
      const { chosen } = row.fields;
      return {
        ...{ evalSetId, evalId, run, metricName, label: score ?? passes },
        ...definedProperties({ turn, rubricId }),
        ...(annotator === "" ? {} : { annotator }),
        ...(chosen === "random" || chosen === "doubtful" ? { chosen } : {}),
        ...(comment === "" ? {} : { comment }),
      } as ReadLabels["labels"][number];
    });
    return { labels: read, empty, problems };
  });
}
