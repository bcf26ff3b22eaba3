/** What calibrations are made of and say. */

import type { TableOptions } from "../report/table.js";
import type { Estimate } from "../statistics/estimates.js";
import type { EvalCaseResult, EvalSetResult, JudgeStamp } from "../types.js";

/** How {@link calibrate} estimates. */
export interface CalibrationOptions {
  /** How often intervals contain the true value, above 0 and below 1. Default: 0.95. */
  confidence?: number;
  /** The model that judged, for results that do not name their judge, as those of google-adk never do. Only {@link calibrate} reads it. */
  judgeModel?: string;
}

/** How often a judge is right. */
export interface Calibration {
  /** How often the intervals contain the true value. */
  confidence: number;
  /** Who judged the metrics with labels, as far as the results say. */
  judges: JudgeStamp[];
  /** The metrics with labelled verdicts from unknown judges. Absent if there are none. */
  withoutJudge?: string[];
  /** The settings of the metrics, as the results have them. */
  criteria: Record<string, unknown>;
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
  alpha?: Estimate & { verdicts: number };
  passRate: PassRates;
  /** How far samples of one question agree; absent where the results have no votes. */
  consistency?: Consistency;
  /** Why `consistency` is absent although there are votes. */
  consistencyReason?: string;
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
   * What `corrected` rests on: which share the judge gets right of what people pass, and of what they fail, among labels drawn
   * at random, and as how many independent labels these count.
   */
  judgedRight?: Record<"ofPasses" | "ofFails", { share: number; count: number }>;
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

/** Two judges beside each other. */
export interface JudgeComparison {
  confidence: number;
  labels: LabelCounts;
  first: JudgePrice;
  second: JudgePrice;
  subjects: SubjectComparison[];
  /** What may make the comparison unfair. */
  notes: string[];
}

/** Who judged, and what a verdict took. */
export interface JudgePrice {
  judges: string[];
  /** Verdicts of metrics that ask a judge, one a turn and metric. */
  verdicts: number;
  callsPerVerdict?: number;
  tokensPerVerdict?: number;
  /** In the currency of the prices that were given; absent without prices. */
  costPerVerdict?: number;
}

/** Two judges of one metric or rubric, by the labels of verdicts that both gave. */
export interface SubjectComparison {
  metricName: string;
  rubricId?: string;
  rubrics?: number;
  /** Labelled verdicts that both gave. */
  labelled: number;
  bothRight: number;
  onlyFirst: number;
  onlySecond: number;
  bothWrong: number;
  /** In which share each agrees with people. */
  first: Estimate;
  second: Estimate;
  /** The first minus the second. */
  difference: Estimate;
  /**
   * How likely so large a difference is by chance alone, for judges that are right equally often: McNemar's exact test where a
   * case has one verdict, otherwise the paired t-test of cases.
   */
  pValue: number;
  /** Which is better; `unclear` where the difference may be chance, by its p-value or its interval. */
  better: "first" | "second" | "unclear";
}

/** What a number of samples gives, asked of each question. */
export interface SampleCount {
  samples: number;
  /** How often the verdict is the one of all samples. */
  same?: number;
  /** How often the verdict is the one of people; absent without labels. */
  right?: number;
  /** Whether it is foreseen for more samples than were asked, and not counted. */
  isForeseen: boolean;
}

/** How far the samples of one question agree. */
export interface Consistency {
  /** Questions with two votes or more. */
  questions: number;
  /** Questions whose samples were not all of one opinion. */
  split: number;
  /** How often two samples of one question agree. */
  agreement: number;
  /** Questions that ended early, since further samples could not have changed the verdict. */
  stoppedEarly: number;
  /** From one sample up. */
  counts: SampleCount[];
}

/** An estimate by prediction-powered inference. */
export interface PoweredEstimate extends Estimate {
  /** How much the judge's verdicts count, from 0 (not at all) to 1. */
  weight: number;
}

/** What a person says of a verdict that a judge gave. */
export interface Label {
  /** The case. */
  evalId: string;
  /** The metric. */
  metricName: string;
  /** The rubric, where the metric has rubrics. */
  rubricId?: string;
  /** The turn, counted from 1. Needed where the case has several. */
  turn?: number;
  /** Which run of the case, counted from 1. Needed where the case was run repeatedly. */
  run?: number;
  /** The evalset. Needed where several have a case of this id. */
  evalSetId?: string;
  /**
   * Whether it should pass: `true` or 1, `false` or 0, or a word (`pass`, `fail`, `yes`, `no`, `valid`, `invalid`, …). A score,
   * where the metric gives scores.
   */
  label: boolean | number | string;
  /** Who says so, where several people label. */
  annotator?: string;
  /** Why this verdict was chosen for labelling: at `random`, or because it looks `doubtful`. Default: at random. */
  chosen?: "random" | "doubtful";
  /** What the person says of it beside the label. Nothing is computed from it. */
  comment?: string;
}

/** Labels that were read, each with the verdict that it is about. */
export interface ReadLabels {
  /** Each names the evalset, the run and the turn of its verdict, also where the file left them out. */
  labels: (Label & Required<Pick<Label, "evalSetId" | "run">> & { label: boolean | number })[];
  /** What people wrote of verdicts that they gave no label. */
  comments: (Omit<Label, "label"> & Required<Pick<Label, "evalSetId" | "run" | "comment">>)[];
  /** Rows with neither label nor comment. */
  empty: number;
  /** Why the others are about no verdict of the results. */
  problems: LabelProblem[];
}

/** A verdict that people can label. */
export interface VerdictToLabel {
  evalSetId: string;
  evalId: string;
  run: number;
  /** Absent for a metric of whole conversations. */
  turn?: number;
  metricName: string;
  rubricId?: string;
  /** The words of the rubric. */
  rule?: string;
  /** The least and the most score of a label, for a metric whose labels are scores. */
  scale?: { least: number; most: number };
  /** What the judge says. */
  judge: { passes: boolean; score?: number };
  /** Why, in the judge's words. */
  rationale?: string;
}

/** Which verdicts to label, and in which order. */
export type VerdictOptions = Pick<LabelSheetOptions, "count" | "random" | "seed" | "metrics">;

/** Labels as text (CSV, JSON or lines of JSON) or its bytes, or as objects. */
export type LabelsInput = string | Uint8Array | readonly Label[];

/** What is wrong with a label, or with all of them. */
export interface LabelProblem {
  /** The line of the text, counted from 1; absent for labels that are objects. */
  line?: number;
  /** Which label, counted from 1. */
  label: number;
  message: string;
  help?: string;
}

/** Which verdicts to label, and what to show of them. */
export interface LabelSheetOptions {
  /** How many verdicts at most. Default: 50. */
  count?: number;
  /** Leaves out what the judge said, so that it does not sway people. Default: false. */
  blind?: boolean;
  /** Draws verdicts at random instead of the most doubtful first. Only these tell of all verdicts. Default: false. */
  random?: boolean;
  /** Where the drawing begins: any whole number. Default: 0. */
  seed?: number;
  /** The only metrics to label. Default: those that ask a judge, all if none does. */
  metrics?: readonly string[];
}

/**
 * Results of one evalset: as `evaluate` gives them, or as files hold them, as text, bytes or an object. JSON lines may also be an
 * iterable object of pieces of bytes, which is not an array.
 */
export type ResultsInput = EvalSetResult | string | Uint8Array | object;

/** Options of the renderers of calibrations. */
export type CalibrationTableOptions = Pick<TableOptions, "color" | "width">;

/** What the cases of a stream say of a calibration, see `tallyFor`. */
export interface CalibrationTally {
  /** Adds results of cases. The runs of a case come one after the other. */
  add(...results: readonly EvalCaseResult[]): void;
}
