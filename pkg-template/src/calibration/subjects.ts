/** What verdicts are counted under, and what calibrations and comparisons of judges share. */

import { unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { judgeName } from "../judges/stamp.js";
import type { JudgeStamp } from "../types.js";
import { finalText } from "../invocation.js";
import { optionsOf } from "../known-options.js";
import { definedProperties, grouped } from "../lists.js";
import { asksFor, voteWords } from "../metric-names.js";
import type { Labelled, Matched } from "./matched.js";
import type { CalibrationOptions } from "./types.js";
import type { Verdict } from "./verdicts.js";

/** The settings of the metrics of verdicts. */
export function criteriaOf(verdicts: readonly Verdict[]): Record<string, unknown> {
  return Object.fromEntries(
    verdicts.map(({ metricName, criterion, threshold }) => [
      metricName,
      criterion ?? (threshold === undefined ? {} : { threshold }),
    ]),
  );
}

/** Who judged, where several judges may be named one after the other. */
export function judgeText(stamp: Omit<JudgeStamp, "metricName">): string {
  return Array.isArray(stamp.panel) ? `the panel ${judgeName(stamp)}` : judgeName(stamp);
}

/** The judges of verdicts, each once. */
export function judgesOf(verdicts: readonly Verdict[]): JudgeStamp[] {
  return [...new Set(verdicts.flatMap(({ judge }) => judge ?? []))];
}

/** The confidence that options ask for. */
export function confidenceOf(options: CalibrationOptions): number {
  const { confidence = 0.95 } = optionsOf(options, ["confidence", "judgeModel"]);
  if (typeof confidence === "number" && confidence > 0 && confidence < 1) return confidence;
  throw unexpected("a number above 0 and below 1", confidence, "confidence");
}

/** @throws {AdkMetricsError} where no label can be used. */
export function checkUsable({ labelled, given, problems }: Matched): void {
  if (labelled.length > 0) return;
  const [first] = problems;
  throw new AdkMetricsError(
    "invalid_input",
    given === 0 ? "no labels are filled in" : `none of the labels can be used: ${first?.message ?? ""}`,
    {
      path: "labels",
      ...(first?.line === undefined ? {} : { line: first.line }),
      help: given === 0 ? "Write pass or fail (or a score) into the column label" : (first?.help ?? ""),
    },
  );
}

/** Verdicts with what they are counted under. */
export interface Subject {
  metricName: string;
  rubricId?: string;
  rubrics?: number;
  verdicts: Verdict[];
}

/** Metrics and rubrics that are labelled, in the order of the verdicts. */
export function labelledSubjects(verdicts: readonly Verdict[], labelled: readonly Labelled[]): Subject[] {
  const nameOf = ({ metricName, rubricId }: Verdict): string => JSON.stringify([metricName, rubricId ?? null]);
  const names = new Set(labelled.map(({ verdict }) => nameOf(verdict)));
  const subjects = grouped(
    verdicts.filter((verdict) => names.has(nameOf(verdict))),
    nameOf,
  ).map((all): Subject => {
    const { metricName, rubricId } = all[0] as Verdict;
    return { metricName, ...definedProperties({ rubricId }), verdicts: all };
  });
  return grouped(subjects, ({ metricName }) => metricName).flatMap((ofMetric) => {
    const ofRubrics = ofMetric.filter(({ rubricId }) => rubricId !== undefined);
    if (ofRubrics.length < 2) return ofMetric;
    const { metricName } = ofRubrics[0] as Subject;
    const together = { metricName, rubrics: ofRubrics.length, verdicts: ofRubrics.flatMap((one) => one.verdicts) };
    return [...ofMetric.filter(({ rubricId }) => rubricId === undefined), together, ...ofRubrics];
  });
}

export const groupOf = ({ evalSetId, evalId }: Verdict): string => JSON.stringify([evalSetId, evalId]);

/** Whether a metric's verdict is what most of its samples say. */
export function isMajority({ metricName }: Verdict): boolean {
  return voteWords(metricName) !== undefined || asksFor(metricName, "verdict");
}

/** How many samples of a verdict pass, by themselves, and how many do not. */
export function tallyOf(verdict: Verdict): { yes: number; no: number } {
  const read = (verdict.votes ?? []).filter((vote): vote is number => vote !== null);
  // A vote for or against is 1 or 0; other samples are scores on the metric's scale.
  const passing = isMajority(verdict) ? 1 : (verdict.threshold ?? 0.5);
  const yes = read.filter((vote) => vote >= passing).length;
  return { yes, no: read.length - yes };
}

/** The share of samples that say what became the verdict. */
export function certaintyOf(verdict: Verdict): number {
  const { yes, no } = tallyOf(verdict);
  return yes + no === 0 ? 1 : (verdict.passes ? yes : no) / (yes + no);
}

/** What the agent answered in the end, however the results spell it. */
export function answerOf({ source }: Verdict): string {
  const turn = source as Record<string, unknown>;
  return saidIn(turn["actualInvocation"] ?? turn["actual_invocation"], "finalResponse");
}

/** The text that an invocation has under a name. */
export function saidIn(invocation: unknown, key: "finalResponse" | "userContent"): string {
  const turn = (invocation ?? {}) as Record<string, unknown>;
  const content = turn[key] ?? turn[key === "finalResponse" ? "final_response" : "user_content"];
  return content === undefined ? "" : (finalText({ finalResponse: content } as never) ?? "");
}
