/** How often a judge is right: its verdicts beside the labels of people. */

import { reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { PROMPTS } from "../generated/metrics.js";
import { optionsOf } from "../known-options.js";
import { grouped } from "../lists.js";
import type { Estimate } from "../statistics/estimates.js";
import type { JudgeStamp } from "../types.js";
import { alphaOf, effectiveCount, kappaOf, shareOf, sum } from "./agreement.js";
import { type Consistency, consistencyOf, type Question } from "./consistency.js";
import { corrected, type PoweredEstimate, predictionPowered } from "./corrected.js";
import { type LabelProblem, type LabelsInput, rowsOf } from "./labels.js";
import { keyOf, type Labelled, type Matched, matched, scaleOf } from "./matched.js";
import { foundIn, type ResultsInput, type Verdict } from "./verdicts.js";

/** How {@link calibrate} estimates. */
export interface CalibrationOptions {
  /** How often intervals contain the true value, above 0 and below 1. Default: 0.95. */
  confidence?: number;
}

/** How often a judge is right. */
export interface Calibration {
  /** How often the intervals contain the true value. */
  confidence: number;
  /** Who judged, as far as the results say. */
  judges: JudgeStamp[];
  labels: LabelCounts;
  /** One a metric, and one for each rubric that was labelled. In the order of the results. */
  subjects: SubjectCalibration[];
  /** Verdicts that people do not share, the worst first: those that the judge was surest of. */
  disagreements: Disagreement[];
}

/** What labels came to. */
export interface LabelCounts {
  /** Labels that were given, those that count, and rows without a label. */
  given: number;
  used: number;
  empty: number;
  annotators: number;
  /** What is wrong with the others. */
  problems: LabelProblem[];
}

/** How often a judge is right about one metric, or one rubric of it. */
export interface SubjectCalibration {
  metricName: string;
  /** The rubric; absent for the metric as a whole. */
  rubricId?: string;
  /** How many rubrics are taken together, where they are. */
  rubrics?: number;
  /** Verdicts that the results have, those that are labelled, and those of the latter that were chosen as doubtful. */
  verdicts: number;
  labelled: number;
  doubtful: number;
  /** How many verdicts the judge and people pass or fail. */
  confusion: { bothPass: number; onlyJudge: number; onlyPeople: number; bothFail: number };
  /** In which share of them both say the same. */
  agreement: Estimate;
  /** The same beyond what chance would give: Cohen's kappa. Absent where everything passes, or everything fails. */
  kappa?: Estimate;
  /** Of scores: how often each score of the judge's (rows) meets each of people's (columns), and the weighted kappa. */
  scores?: { least: number; most: number; counts: number[][]; weightedKappa?: Estimate };
  /** What the judge passes of what people pass. */
  sensitivity?: Estimate;
  /** What it fails of what people fail. */
  specificity?: Estimate;
  /** How far people agree with each other: Krippendorff's alpha, over the verdicts that several of them labelled. */
  alpha?: { value: number; verdicts: number };
  passRate: PassRates;
  /** How far samples of one question agree; absent where the results have no votes. */
  consistency?: Consistency;
}

/** Which share passes: by the judge, and as people would say. */
export interface PassRates {
  /** The share of all verdicts that the judge passes. */
  judge: number;
  /** The share of the labelled ones that people pass, if they were chosen at random. */
  people?: Estimate;
  /**
   * The judge's, corrected for its errors. Absent unless five labels pass and five fail, and for a judge that does no better
   * than chance.
   */
  corrected?: Estimate;
  /**
   * From the labels, and from the judge's verdicts where there are none. Absent unless five labels pass and five fail, and
   * some verdicts have none.
   */
  powered?: PoweredEstimate;
  /** Why something is missing. */
  reason?: string;
}

/** A verdict that people do not share. */
export interface Disagreement {
  evalSetId: string;
  evalId: string;
  run: number;
  /** Absent for a metric of whole conversations. */
  turn?: number;
  metricName: string;
  rubricId?: string;
  judge: { passes: boolean; score?: number };
  people: { passes: boolean; score?: number };
  /** How wrong the judge is, from 0 to 1: the share of its samples that say so, or how far scores are apart on their scale. */
  severity: number;
  /** Why, in the judge's words. */
  rationale?: string;
}

/**
 * Says how often a judge is right: compares the verdicts of results with labels that people gave.
 *
 * @param results One evalset's results or several: as `evaluate` gives them, or as files hold them.
 * @param labels CSV, JSON or lines of JSON, or a list of {@link Label}. Labels that cannot be used are told of in
 * `labels.problems`; the others count.
 * @throws {AdkMetricsError} `invalid_input` for what are no results, no labels, or labels of which none can be used.
 *
 * @example
 * const { subjects } = calibrate(results, await readFile("labels.csv", "utf8"));
 */
export function calibrate(
  results: ResultsInput | readonly ResultsInput[],
  labels: LabelsInput,
  options: CalibrationOptions = {},
): Calibration {
  const confidence = confidenceOf(options);
  const { verdicts, judges } = reading("results", () => foundIn(results));
  const rows = reading("labels", () => rowsOf(labels));
  const found = reading("labels", () => matched(rows, verdicts));
  checkUsable(found);
  const subjects = subjectsOf(verdicts, found, confidence);
  const { given, used, empty, annotators, problems } = found;
  return {
    confidence,
    judges,
    labels: { given, used, empty, annotators, problems },
    subjects,
    disagreements: found.labelled.flatMap(disagreementOf).sort((a, b) => b.severity - a.severity),
  };
}

/** The confidence that options ask for. */
export function confidenceOf(options: CalibrationOptions): number {
  const { confidence = 0.95 } = optionsOf(options, ["confidence"]);
  if (typeof confidence === "number" && confidence > 0 && confidence < 1) return confidence;
  throw unexpected("a number above 0 and below 1", confidence, "confidence");
}

/** @throws {AdkMetricsError} where no label can be used. */
export function checkUsable({ labelled, given, problems }: Matched): void {
  if (labelled.length > 0) return;
  const [first] = problems;
  throw new AdkMetricsError(
    "invalid_input",
    given === 0 ? "no label is filled in" : `none of the labels can be used: ${first?.message ?? ""}`,
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
    return { metricName, ...(rubricId === undefined ? {} : { rubricId }), verdicts: all };
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

function subjectsOf(verdicts: readonly Verdict[], found: Matched, confidence: number): SubjectCalibration[] {
  const labels = new Map(found.labelled.map((one) => [keyOf(one.verdict), one]));
  return labelledSubjects(verdicts, found.labelled).map((subject) => subjectOf(subject, labels, confidence));
}

function subjectOf(
  { verdicts, ...about }: Subject,
  labels: ReadonlyMap<string, Labelled>,
  confidence: number,
): SubjectCalibration {
  const labelled = verdicts.flatMap((verdict) => labels.get(keyOf(verdict)) ?? []);
  const pairs = labelled.map(({ verdict, passes }) => ({
    judge: Number(verdict.passes),
    people: Number(passes),
    group: groupOf(verdict),
  }));
  const count = (judge: number, people: number): number =>
    pairs.filter((pair) => pair.judge === judge && pair.people === people).length;
  const passing = pairs.filter(({ people }) => people === 1);
  const failing = pairs.filter(({ people }) => people === 0);
  const agreement = shareOf(pairs, ({ judge, people }) => judge === people, confidence) as Estimate;
  const kappa = kappaOf(pairs, 2, false, confidence);
  const sensitivity = shareOf(passing, ({ judge }) => judge === 1, confidence);
  const specificity = shareOf(failing, ({ judge }) => judge === 0, confidence);
  const alpha = agreementOfPeople(labelled);
  const scores = scoresOf(labelled, confidence);
  const consistency = consistencyIn(verdicts, labels);
  return {
    ...about,
    verdicts: verdicts.length,
    labelled: labelled.length,
    doubtful: labelled.filter(({ isDoubtful }) => isDoubtful).length,
    confusion: { bothPass: count(1, 1), onlyJudge: count(1, 0), onlyPeople: count(0, 1), bothFail: count(0, 0) },
    agreement,
    ...(kappa === undefined ? {} : { kappa }),
    ...(scores === undefined ? {} : { scores }),
    ...(sensitivity === undefined ? {} : { sensitivity }),
    ...(specificity === undefined ? {} : { specificity }),
    ...(alpha === undefined ? {} : { alpha }),
    passRate: passRatesOf(verdicts, labels, confidence),
    ...(consistency === undefined ? {} : { consistency }),
  };
}

function agreementOfPeople(labelled: readonly Labelled[]): { value: number; verdicts: number } | undefined {
  const scale = labelled[0] === undefined ? undefined : scaleOf(labelled[0].verdict);
  const units = labelled.map(({ categories }) => categories);
  const value = alphaOf(units, scale === undefined ? 2 : scale.most - scale.least + 1, scale !== undefined);
  return value === undefined ? undefined : { value, verdicts: units.filter(({ length }) => length > 1).length };
}

function scoresOf(labelled: readonly Labelled[], confidence: number): SubjectCalibration["scores"] {
  const scale = labelled[0] === undefined ? undefined : scaleOf(labelled[0].verdict);
  if (scale === undefined) return undefined;
  const { least, most } = scale;
  const pairs = labelled.flatMap(({ verdict, score }) =>
    score === undefined || verdict.score === undefined
      ? []
      : [{ judge: Math.round(verdict.score) - least, people: Math.round(score) - least, group: groupOf(verdict) }],
  );
  if (pairs.length === 0) return undefined;
  const size = most - least + 1;
  const counts = Array.from({ length: size }, () => Array.from({ length: size }, () => 0));
  for (const { judge, people } of pairs) {
    const row = counts[judge];
    if (row !== undefined) row[people] = (row[people] ?? 0) + 1;
  }
  const weightedKappa = kappaOf(pairs, size, true, confidence);
  return { least, most, counts, ...(weightedKappa === undefined ? {} : { weightedKappa }) };
}

/** With fewer that people pass, or that they fail, intervals would span everything, or be far too narrow. */
const LEAST_OF_EACH = 5;

/** What was chosen because it looks doubtful says nothing of the rest: rates are made without it. */
function passRatesOf(
  verdicts: readonly Verdict[],
  labels: ReadonlyMap<string, Labelled>,
  confidence: number,
): PassRates {
  const judge = verdicts.filter(({ passes }) => passes).length / verdicts.length;
  const judged = verdicts.map((verdict) => {
    const label = labels.get(keyOf(verdict));
    const about = { passes: verdict.passes, group: groupOf(verdict) };
    return label === undefined || label.isDoubtful ? about : { ...about, people: label.passes };
  });
  const random = judged.filter((one): one is typeof one & { people: boolean } => "people" in one);
  if (random.length === 0) {
    return {
      judge,
      reason:
        "all labels are of verdicts that were chosen because they look doubtful, which says nothing of the others",
    };
  }
  const people = shareOf(random, (one) => one.people, confidence) as Estimate;
  const [passing, failing] = [random.filter((one) => one.people), random.filter((one) => !one.people)];
  if (passing.length < LEAST_OF_EACH || failing.length < LEAST_OF_EACH) {
    const all = passing.length === 0 ? "fails" : failing.length === 0 ? "passes" : undefined;
    return {
      judge,
      people,
      reason:
        all === undefined
          ? "it takes five labels that pass and five that fail"
          : `every labelled verdict ${all}, so it is not known how often the judge errs about others`,
    };
  }
  const powered = predictionPowered(judged, confidence);
  const shareIn = <P extends { group: string }>(of: readonly P[], counts: (one: P) => boolean) => ({
    share: of.filter(counts).length / of.length,
    count: effectiveCount(of, counts),
  });
  const estimate = corrected(
    shareIn(judged, ({ passes }) => passes),
    shareIn(passing, ({ passes }) => passes),
    shareIn(failing, ({ passes }) => !passes),
    confidence,
  );
  return {
    judge,
    people,
    ...(estimate === undefined ? { reason: "the judge does no better than chance" } : { corrected: estimate }),
    ...(powered === undefined ? {} : { powered }),
  };
}

/** Whether a metric's verdict is what most of its samples say. */
function isMajority({ metricName }: Verdict): boolean {
  const purposes = Object.hasOwn(PROMPTS, metricName) ? Object.keys(PROMPTS[metricName] ?? {}) : [];
  return purposes.includes("verdict") || metricName === "safety_v1";
}

function consistencyIn(verdicts: readonly Verdict[], labels: ReadonlyMap<string, Labelled>): Consistency | undefined {
  const questions = verdicts.flatMap((verdict): Question[] => {
    const { votes, of, threshold = 0.5 } = verdict;
    if (votes === undefined || of === undefined) return [];
    const read = votes.filter((vote): vote is number => vote !== null);
    const yes = sum(read.map((vote) => Number(isMajority(verdict) ? vote > 0.5 : vote >= threshold)));
    return [{ yes, no: read.length - yes, of, people: labels.get(keyOf(verdict))?.passes }];
  });
  return consistencyOf(questions, verdicts.every(isMajority));
}

function disagreementOf({ verdict, passes, score }: Labelled): Disagreement[] {
  const { evalSetId, evalId, run, turn, metricName, rubricId, rationale } = verdict;
  const scale = scaleOf(verdict);
  const apart =
    scale === undefined || score === undefined || verdict.score === undefined
      ? undefined
      : Math.abs(verdict.score - score) / (scale.most - scale.least);
  if (verdict.passes === passes && (apart === undefined || apart < NOTEWORTHY)) return [];
  return [
    {
      evalSetId,
      evalId,
      run,
      ...(turn === undefined ? {} : { turn }),
      metricName,
      ...(rubricId === undefined ? {} : { rubricId }),
      judge: { passes: verdict.passes, ...(verdict.score === undefined ? {} : { score: verdict.score }) },
      people: { passes, ...(score === undefined ? {} : { score }) },
      severity: apart ?? certaintyOf(verdict),
      ...(rationale === undefined ? {} : { rationale }),
    },
  ];
}

/** Scores that are apart by less than this share of their scale are as good as equal: one of the points from 1 to 5. */
const NOTEWORTHY = 0.5;

/** The share of samples that say what became the verdict. */
export function certaintyOf({ votes, passes, threshold = 0.5 }: Verdict): number {
  const read = (votes ?? []).filter((vote): vote is number => vote !== null);
  if (read.length === 0) return 1;
  const passing = read.filter((vote) => (vote === 0 || vote === 1 ? vote === 1 : vote >= threshold)).length;
  return (passes ? passing : read.length - passing) / read.length;
}
