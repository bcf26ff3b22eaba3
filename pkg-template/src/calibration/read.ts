/** Labels as objects, each with the verdict that it is about. */

import { reading } from "../engine/values.js";
import { definedProperties } from "../lists.js";
import { type LabelRow, rowsOf } from "./labels.js";
import { readingsOf, text } from "./matched.js";
import type { LabelsInput, ReadLabels, ResultsInput } from "./types.js";
import { foundIn, type Verdict } from "./verdicts.js";

/**
 * Reads labels of results, and says of each which verdict it is about.
 *
 * @param labels CSV, JSON or lines of JSON, or a list of {@link Label}.
 * @throws {AdkMetricsError} `invalid_input` for anything but results and labels.
 *
 * @example
 * const { labels, problems } = readLabels(results, await readFile("labels.csv", "utf8"));
 */
export function readLabels(results: ResultsInput | readonly ResultsInput[], labels: LabelsInput): ReadLabels {
  const { verdicts } = reading("results", () => foundIn(results));
  const rows = reading("labels", () => rowsOf(labels));
  return reading("labels", () => {
    const { readings, comments, empty, problems } = readingsOf(rows, verdicts);
    const labelled = readings.map(({ row, verdict, passes, score }) => {
      return { ...saidOf(row, verdict), label: score ?? passes } as ReadLabels["labels"][number];
    });
    return { labels: labelled, comments: comments.map(({ row, verdict }) => saidOf(row, verdict)), empty, problems };
  });
}

/** What a row says of a verdict besides its label. */
function saidOf({ fields }: LabelRow, verdict: Verdict): ReadLabels["comments"][number] {
  const { evalSetId, evalId, run, turn, metricName, rubricId } = verdict;
  const [annotator, comment] = [text(fields.annotator), text(fields.comment)];
  const { chosen } = fields;
  return {
    ...{ evalSetId, evalId, run, metricName },
    ...definedProperties({ turn, rubricId }),
    ...(annotator === "" ? {} : { annotator }),
    ...(chosen === "random" || chosen === "doubtful" ? { chosen } : {}),
    ...(comment === "" ? {} : { comment }),
  } as ReadLabels["comments"][number];
}
