/** Which of two judges is better. */

import { reading } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { count } from "../report/text.js";
import type { Estimate } from "../statistics/estimates.js";
import { meanTest } from "../statistics/significance.js";
import { difference, pairedDifference, shareOf, sum } from "./agreement.js";
import { answerOf, checkUsable, confidenceOf, groupOf, judgesOf, judgeText, labelledSubjects } from "./subjects.js";
import { rowsOf } from "./labels.js";
import { keyOf, type Labelled, matched } from "./matched.js";
import { type Found, foundIn, type Verdict } from "./verdicts.js";
import type {
  CalibrationOptions,
  JudgeComparison,
  JudgePrice,
  LabelsInput,
  ResultsInput,
  SubjectComparison,
} from "./types.js";
import { definedProperties, grouped } from "../lists.js";
import { isOther } from "./stored.js";

/**
 * Says which of two judges agrees with people more often, and at what price: from two results of the same conversations, each
 * judged by one of them, and labels.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results and labels, and for labels without verdicts in both.
 *
 * @example
 * const { subjects } = compareJudges(byLarge, bySmall, await readFile("labels.csv", "utf8"));
 */
export function compareJudges(
  first: ResultsInput,
  second: ResultsInput,
  labels: LabelsInput,
  options: CalibrationOptions = {},
): JudgeComparison {
  const confidence = confidenceOf(options);
  const [one, other] = [reading("first", () => foundIn(first)), reading("second", () => foundIn(second))];
  const rows = reading("labels", () => rowsOf(labels));
  const found = reading("labels", () => matched(rows, one.verdicts));
  checkUsable(found);
  return reading("results", () => {
    const others = new Map(other.verdicts.map((verdict) => [keyOf(verdict), verdict]));
    const both = found.labelled.flatMap((label) => {
      const verdict = others.get(keyOf(label.verdict));
      return verdict === undefined ? [] : [{ label, other: verdict }];
    });
    if (both.length === 0) {
      throw new AdkMetricsError("invalid_input", "the two judges have no labelled verdict in common", {
        path: "labels",
        help: "Compare results of the same cases, runs and metrics",
      });
    }
    const { given, used, empty, annotators, problems } = found;
    return {
      confidence,
      labels: { given, used, empty, annotators, problems },
      first: priceOf(
        one,
        both.map(({ label }) => label.verdict),
      ),
      second: priceOf(
        other,
        both.map((pair) => pair.other),
      ),
      subjects: subjectsOf(both, confidence),
      notes: [...notesOf(both, found.labelled.length), ...reusedIn(one, "first"), ...reusedIn(other, "second")],
    };
  });
}

interface Both {
  label: Labelled;
  other: Verdict;
}

function subjectsOf(both: readonly Both[], confidence: number): SubjectComparison[] {
  const byKey = new Map(both.map((one) => [keyOf(one.label.verdict), one]));
  const labels = both.map(({ label }) => label);
  return labelledSubjects(
    labels.map(({ verdict }) => verdict),
    labels,
  ).map(({ verdicts, ...about }) => {
    const pairs = verdicts.map((verdict) => {
      const { label, other } = byKey.get(keyOf(verdict)) as Both;
      return { first: verdict.passes === label.passes, second: other.passes === label.passes, group: groupOf(verdict) };
    });
    const count = (first: boolean, second: boolean): number =>
      pairs.filter((pair) => pair.first === first && pair.second === second).length;
    // The verdicts of a case go together: cases are what is drawn.
    const ofCases = grouped(pairs, ({ group }) => group).map((members) => sum(members.map(difference)));
    const pValue = meanTest(ofCases);
    const interval = pairedDifference(pairs, confidence);
    const { low = -1, high = 1 } = pValue < 1 - confidence ? interval : {};
    return {
      ...about,
      labelled: pairs.length,
      bothRight: count(true, true),
      onlyFirst: count(true, false),
      onlySecond: count(false, true),
      bothWrong: count(false, false),
      first: shareOf(pairs, (pair) => pair.first, confidence) as Estimate,
      second: shareOf(pairs, (pair) => pair.second, confidence) as Estimate,
      difference: interval,
      pValue,
      better: low > 0 ? "first" : high < 0 ? "second" : "unclear",
    };
  });
}

/** Replies that were reused cost nothing, whatever the judge would have cost. */
function reusedIn({ usages }: Found, which: string): string[] {
  const reused = sum(usages.map(({ cached }) => cached || 0));
  if (reused === 0) return [];
  const from = "reused from a cache, a recording or the same evaluation";
  return [
    `the price of the ${which} judge leaves out ${reused === 1 ? "1 reply that was" : `${reused} replies that were`} ${from}`,
  ];
}

/** @param compared The verdicts that are compared; the price is that of all. */
function priceOf({ verdicts, judges, usages }: Found, compared: readonly Verdict[]): JudgePrice {
  const asked = new Set(judges.map(({ metricName }) => metricName));
  const questions = new Set(
    verdicts
      .filter(({ metricName }) => asked.has(metricName))
      .map(({ evalSetId, evalId, run, turn, metricName }) =>
        JSON.stringify([evalSetId, evalId, run, turn, metricName]),
      ),
  ).size;
  // Without a call nothing tells what the judge costs.
  const isFree = usages.every((usage) => usage.calls === 0);
  const total = (of: (usage: (typeof usages)[number]) => number | undefined): number | undefined => {
    const values = usages.map(of);
    return isFree || values.length === 0 || questions === 0 || values.some((value) => typeof value !== "number")
      ? undefined
      : sum(values as number[]) / questions;
  };
  const calls = total((usage) => usage.calls);
  const tokens = total((usage) => usage.inputTokens + usage.outputTokens);
  const cost = total((usage) => (usage.unpriced === undefined ? usage.cost : undefined));
  return {
    judges: [...new Set(judgesOf(compared).map(judgeText))],
    verdicts: questions,
    ...definedProperties({ callsPerVerdict: calls, tokensPerVerdict: tokens, costPerVerdict: cost }),
  };
}

/** Settings without the models that are asked, which are named anyway. */
function withoutModel(criterion: unknown): unknown {
  return JSON.parse(
    JSON.stringify(criterion ?? null, (key, value: unknown) => (/^judge_?models?$/i.test(key) ? undefined : value)),
  );
}

function notesOf(both: readonly Both[], labelled: number): string[] {
  const notes: string[] = [];
  for (const [one] of grouped([...both], ({ label }) => label.verdict.metricName)) {
    const { label, other } = one as Both;
    const { metricName, judge, criterion } = label.verdict;
    const prompts = [judge?.prompts, other.judge?.prompts];
    if (!prompts.includes(undefined) && isOther(...(prompts as [unknown, unknown]))) {
      notes.push(`the prompts of ${metricName} differ`);
    }
    if (isOther(withoutModel(criterion), withoutModel(other.criterion))) {
      notes.push(`the settings of ${metricName} differ`);
    }
  }
  const left = labelled - both.length;
  if (left > 0) {
    notes.push(
      `${left} of ${count(labelled, "labelled verdict")} ${left === 1 ? "is" : "are"} left out, because only the first results have them`,
    );
  }
  const changed = both.filter(({ label, other }) => answerOf(label.verdict) !== answerOf(other)).length;
  if (changed > 0) {
    notes.push(
      `in ${changed} of ${both.length} labelled verdicts, the agent's answers differ, so the label is right for only one of them`,
    );
  }
  return notes;
}
