/** What is to be said of a comparison beside its numbers. */

import { EvalStatus } from "../enums.js";
import { comparable, judgeName } from "../judges/stamp.js";
import { REPEATED } from "../report/comparison.js";
import { statusWord } from "../report/results.js";
import { shorten } from "../report/text.js";
import type { CaseComparison, MetricComparison } from "../types.js";
import type { StoredRun } from "./read.js";
import type { CommonMetric } from "./cases.js";

const { PASSED, FAILED, NOT_EVALUATED } = EvalStatus;

/** That metrics no longer pass in cases whose own verdict is the same, which are therefore no regressions. */
export function lostVerdicts(cases: readonly CaseComparison[], metrics: readonly CommonMetric[]): string[] {
  const scored = new Set(metrics.flatMap(({ metricName, isInformational }) => (isInformational ? [] : metricName)));
  const lost = cases
    .filter(({ change }) => change === "worse")
    .filter((one) => one.metrics.some(({ metricName, change }) => change === "regressed" && scored.has(metricName)));
  if (lost.length === 0) return [];
  const some = lost.slice(0, 3).map(({ evalId }) => evalId.slice(0, 80));
  const names = `${some.join(", ")}${lost.length > some.length ? ", …" : ""}`;
  return [
    lost.length === 1
      ? `in 1 case with an unchanged verdict, a metric no longer passes, which is not a regression: ${names}`
      : `in ${lost.length} cases with unchanged verdicts, a metric no longer passes, which is not a regression: ${names}`,
  ];
}

/** That metrics differ which would have changed for sure if they were the only ones: with many, some differ by chance. */
export function tooMany(metrics: readonly MetricComparison[], { confidence }: { confidence: number }): string[] {
  const unsure = metrics.filter(
    ({ verdicts, change, chance = 1, interval }) =>
      verdicts !== undefined &&
      change === "unclear" &&
      chance <= 1 - confidence &&
      interval !== undefined &&
      (interval.low > 0 || interval.high < 0),
  );
  if (unsure.length === 0) return [];
  const among = metrics.filter(
    ({ verdicts, correctedChance }) => verdicts !== undefined && correctedChance !== undefined,
  ).length;
  const names = unsure.map(({ metricName }) => metricName.slice(0, 80)).join(", ");
  return [`${among} metrics changed; among so many, some differ by chance alone, perhaps also: ${names}`];
}

/**
 * That cases have another status than follows from their metrics, as after an edit by hand: such a case changes although
 * no metric of it does. A case with a reason, or without metrics, has its status from elsewhere.
 */
function contradictions({ cases, stamps: { advisory } }: StoredRun, where: string): string[] {
  const wrong: string[] = [];
  for (const [evalId, runs] of cases) {
    for (const { status, reason, scores } of runs) {
      if (reason !== undefined || scores.size === 0) continue;
      const statuses = [...scores].flatMap(([key, { status: found }]) => (advisory.has(key) ? [] : found));
      const implied = [FAILED, PASSED].find((one) => statuses.includes(one)) ?? NOT_EVALUATED;
      if (status === implied) continue;
      wrong.push(`${evalId.slice(0, 80)} is ${statusWord(status)}, its metrics say ${statusWord(implied)}`);
      break;
    }
  }
  if (wrong.length === 0) return [];
  const subject = wrong.length === 1 ? "1 case" : `${wrong.length} cases`;
  const some = `${wrong.slice(0, 3).join("; ")}${wrong.length > 3 ? "; …" : ""}`;
  return [`the status of ${subject} in ${where} contradicts ${wrong.length === 1 ? "its" : "their"} metrics: ${some}`];
}

/** That there is no metric to compare by: then verdicts alone are compared, which follow from different ones. */
export function nothingToCompare(
  metrics: readonly CommonMetric[],
  { metricNames: before }: StoredRun,
  { metricNames: after }: StoredRun,
): string[] {
  if (metrics.some(({ isInformational }) => !isInformational)) return [];
  const some = (names: StoredRun["metricNames"]): string =>
    names.size === 0 ? "none" : [...names.values()].map((name) => name.slice(0, 80)).join(", ");
  return [
    `the two runs have no pass/fail metric in common, so only verdicts are compared; the baseline has ${some(before)}; the current run has ${some(after)}`,
  ];
}

/** The longest settings that a note repeats, in characters. */
const LONGEST_SETTINGS = 200;

/** That metrics have other settings now. Files of google-adk write defaults out, so that they tell nothing. */
function otherSettings(before: StoredRun, after: StoredRun): string[] {
  if ([before, after].some(({ stamps: { referenceVersion } }) => referenceVersion === undefined)) return [];
  return [...after.metricNames].flatMap(([key, name]) => {
    if (!before.metricNames.has(key)) return [];
    const [old = "", now = ""] = [before, after].map(({ settings }) => settings.get(key));
    if (old === now) return [];
    const shown = (text: string) => (text === "" ? "none" : shorten(text, LONGEST_SETTINGS));
    return `the settings of ${name.slice(0, 80)} differ: ${shown(old)} in the baseline, ${shown(now)} in the current run`;
  });
}

/** In what else than their scores two runs differ, and what in them is odd. */
export function notesOf(before: StoredRun, after: StoredRun): string[] {
  const notes: string[] = [];
  const differ = (what: string, old: string | undefined, now: string | undefined) => {
    if (old !== undefined && now !== undefined && old !== now) {
      notes.push(`${what} differs: ${old} in the baseline, ${now} in the current run`);
    }
  };
  differ("the evalset", before.evalSetId, after.evalSetId);
  differ("the dialect", before.stamps.dialect, after.stamps.dialect);
  differ("the version of google-adk", before.stamps.referenceVersion, after.stamps.referenceVersion);
  const advisoryOf = ({ stamps: { advisory } }: StoredRun) =>
    advisory.size === 0 ? "none" : [...advisory].sort().join(", ");
  differ("which metrics are advisory", advisoryOf(before), advisoryOf(after));
  notes.push(...otherSettings(before, after));
  const stamps = new Map(before.stamps.judges.toReversed().map((stamp) => [stamp.metricName, stamp]));
  for (const { metricName, prompts, ...who } of after.stamps.judges) {
    const old = stamps.get(metricName);
    if (old === undefined) continue;
    const [before, now] = comparable(old, who);
    differ(`the judge of ${metricName}`, judgeName(before), judgeName(now));
    if (JSON.stringify(old.prompts) !== JSON.stringify(prompts)) notes.push(`the prompts of ${metricName} differ`);
  }
  notes.push(...contradictions(before, "the baseline"), ...contradictions(after, "the current run"));
  for (const [{ stamps }, where] of [
    [before, "the baseline"],
    [after, "the current run"],
  ] as const) {
    const [first, ...others] = stamps.warnings;
    const amount = others.length === 0 ? "a warning" : `${others.length + 1} warnings, the first`;
    if (first !== undefined) notes.push(`${where} has ${amount}: ${shorten(first, LONGEST_SETTINGS)}`);
  }
  if (before.stamps.cancelled) notes.push("the baseline was cancelled: some of its results are missing");
  if (after.stamps.cancelled) notes.push("the current run was cancelled: some of its results are missing");
  const isRepeated = ({ cases }: StoredRun) => [...cases.values()].some((runs) => runs.length > 1);
  if (isRepeated(before) || isRepeated(after)) {
    notes.push(REPEATED);
  }
  return notes;
}
