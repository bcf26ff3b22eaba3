/** The verdicts that are worth labelling, as a file that people fill in. */

import { isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { optionsOf } from "../known-options.js";
import { cell } from "../report/csv.js";
import { wordsOfRubrics } from "../report/judged.js";
import { answerOf, certaintyOf, saidIn } from "./subjects.js";
import { scaleOf } from "./matched.js";
import { foundIn, type Verdict } from "./verdicts.js";
import { definedProperties } from "../lists.js";
import type { Label, LabelSheetOptions, ResultsInput, VerdictOptions, VerdictToLabel } from "./types.js";

const COLUMNS = ["evalset", "case", "run", "turn", "metric", "rubric", "label", "annotator", "chosen"];
const JUDGED_COLUMNS = ["judge", "why"];
const SHOWN_COLUMNS = ["rule", "question", "answer", "expected"];

/**
 * A sheet of labels to fill in, as CSV: a row for each verdict, the most doubtful first (samples that disagree, scores near the
 * threshold) or, with `random`, drawn at random. {@link calibrate} reads it when the column `label` is filled in.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * await writeFile("labels.csv", labelSheet(results, { count: 40, blind: true, random: true }));
 */
export function labelSheet(results: ResultsInput | readonly ResultsInput[], options: LabelSheetOptions = {}): string {
  const given = optionsOf(options, ["count", "blind", "random", "seed", "metrics"]);
  const { blind = false, random = false } = given;
  return reading("results", () => {
    const header = [...COLUMNS, ...(blind ? [] : JUDGED_COLUMNS), ...SHOWN_COLUMNS];
    const rows = chosen(results, { count: 50, ...given }).map((verdict) => rowOf(verdict, blind, random));
    return linesOf([header, ...rows]);
  });
}

/**
 * The verdicts of results that people can label, in the order of {@link labelSheet}: the most doubtful first or, with `random`,
 * drawn at random.
 *
 * @param options Without a `count`, all of them.
 * @throws {AdkMetricsError} `invalid_input` for anything but results, and for results without such a verdict.
 *
 * @example
 * const [first] = verdictsToLabel(results);
 */
export function verdictsToLabel(
  results: ResultsInput | readonly ResultsInput[],
  options: VerdictOptions = {},
): VerdictToLabel[] {
  const given = optionsOf(options, ["count", "random", "seed", "metrics"]);
  return reading("results", () => chosen(results, given).map(toLabel));
}

function toLabel(verdict: Verdict): VerdictToLabel {
  const { evalSetId, evalId, run, turn, metricName, rubricId, passes, score, rationale } = verdict;
  const rule = ruleOf(verdict);
  return {
    ...{ evalSetId, evalId, run, metricName, judge: { passes, ...definedProperties({ score }) } },
    ...definedProperties({ turn, rubricId, rule: rule === "" ? undefined : rule, scale: scaleOf(verdict), rationale }),
  };
}

/** The verdicts that options ask for, in their order. */
function chosen(results: ResultsInput | readonly ResultsInput[], options: VerdictOptions): Verdict[] {
  const { count = Infinity, random = false, seed = 0, metrics } = options;
  if (!((Number.isSafeInteger(count) || count === Infinity) && count > 0)) {
    throw unexpected("a whole number from 1 up", count, "count");
  }
  if (!Number.isSafeInteger(seed)) throw unexpected("a whole number", seed, "seed");
  const { verdicts, judges } = foundIn(results);
  const asked = new Set(metrics ?? judges.map(({ metricName }) => metricName));
  const ofRubrics = new Set(verdicts.flatMap(({ metricName, rubricId }) => (rubricId === undefined ? [] : metricName)));
  // People label rubrics, not the share of them that is met.
  const isAsked = ({ metricName, rubricId }: Verdict) => rubricId !== undefined || !ofRubrics.has(metricName);
  const wanted = verdicts.filter((verdict) => (asked.size === 0 || asked.has(verdict.metricName)) && isAsked(verdict));
  if (wanted.length === 0) {
    const names = [...new Set(verdicts.map(({ metricName }) => metricName))];
    throw new AdkMetricsError("invalid_input", "there are no verdicts to label", {
      path: "results",
      help: names.length === 0 ? "The results have no verdicts at all" : `There are verdicts of ${names.join(", ")}`,
    });
  }
  const ordered = random
    ? shuffled(wanted, seed)
    : wanted
        .map((verdict) => ({ verdict, doubt: doubtOf(verdict) }))
        .sort((a, b) => b.doubt - a.doubt)
        .map(({ verdict }) => verdict);
  return ordered.slice(0, count);
}

/**
 * Writes labels as CSV that {@link readLabels}, {@link calibrate} and the command read, with a column for comments.
 *
 * @example
 * await writeFile("labels.csv", writeLabels(labels));
 */
export function writeLabels(labels: readonly Label[]): string {
  return reading("labels", () => {
    if (!Array.isArray(labels)) throw unexpected("a list of labels", labels, "labels");
    const rows = labels.map((one: Label, at) => {
      if (!isObject(one)) throw unexpected("a label, which is an object", one, `labels[${at}]`);
      const { evalSetId, evalId, run, turn, metricName, rubricId, label, annotator, chosen: why, comment } = one;
      const word = label === true ? "pass" : label === false ? "fail" : label;
      return [evalSetId, evalId, run, turn, metricName, rubricId, word, annotator, why, comment].map((value) =>
        cell(String(value ?? "")),
      );
    });
    return linesOf([[...COLUMNS, "comment"], ...rows]);
  });
}

function linesOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.join(",")}\r\n`).join("");
}

/** How doubtful a verdict is, from 0 to 1: how its samples disagree, and how near its score is to the threshold. */
function doubtOf(verdict: Verdict): number {
  const { score, threshold, votes } = verdict;
  const scale = scaleOf(verdict);
  const { least, most } = scale ?? { least: 0, most: 1 };
  // A plain yes or no is not near any threshold.
  const isPlain = scale === undefined && (score === 0 || score === 1);
  const near =
    score === undefined || threshold === undefined || verdict.rubricId !== undefined || isPlain
      ? 0
      : 1 - Math.abs(score - threshold) / (most - least);
  const unread = votes === undefined ? 0 : votes.filter((vote) => vote === null).length / Math.max(1, votes.length);
  return Math.max(votes === undefined ? 0 : 2 * (1 - certaintyOf(verdict)), near, unread);
}

/** A random order that is the same for the same seed: R. A. Fisher's and F. Yates' shuffle with mulberry32. */
function shuffled(all: readonly Verdict[], seed: number): Verdict[] {
  let state = seed | 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
  const drawn = [...all];
  for (let at = drawn.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [drawn[at], drawn[other]] = [drawn[other] as Verdict, drawn[at] as Verdict];
  }
  return drawn;
}

function rowOf(verdict: Verdict, blind: boolean, random: boolean): string[] {
  const { evalSetId, evalId, run, runs, turn, metricName, rubricId = "", passes, score, rationale = "" } = verdict;
  const source = verdict.source as Record<string, unknown>;
  const actual = source["actualInvocation"] ?? source["actual_invocation"];
  const expected = source["expectedInvocation"] ?? source["expected_invocation"];
  const said = scaleOf(verdict) === undefined ? (passes ? "pass" : "fail") : String(score ?? "");
  return [
    ...[evalSetId, evalId, runs > 1 ? String(run) : "", turn === undefined ? "" : String(turn), metricName, rubricId],
    ...["", "", random ? "random" : "doubtful"],
    ...(blind ? [] : [said, rationale]),
    ...[ruleOf(verdict), saidIn(actual, "userContent"), answerOf(verdict), saidIn(expected, "finalResponse")],
  ].map(cell);
}

/** The words of a verdict's rubric. */
function ruleOf({ rubricId, criterion, source }: Verdict): string {
  if (rubricId === undefined) return "";
  const turn = source as Record<string, Record<string, unknown> | undefined>;
  const rubrics = [
    turn["actualInvocation"] ?? turn["actual_invocation"],
    turn["expectedInvocation"] ?? turn["expected_invocation"],
  ].flatMap((invocation) => (Array.isArray(invocation?.["rubrics"]) ? (invocation["rubrics"] as unknown[]) : []));
  const metrics = [{ criterion }, { criterion: { rubrics } }];
  return wordsOfRubrics(undefined, ...(metrics as never[])).get(rubricId) ?? "";
}
