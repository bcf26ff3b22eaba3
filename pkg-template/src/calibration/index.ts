/**
 * How often a judge is right: its verdicts beside labels of people, the pass rate corrected for its errors, two judges beside
 * each other, and sheets of verdicts to label. Needs no engine.
 */

export {
  calibrate,
  type Calibration,
  type CalibrationOptions,
  type Disagreement,
  type LabelCounts,
  type PassRates,
  type SubjectCalibration,
} from "./calibrate.js";
export { compareJudges, type JudgeComparison, type JudgePrice, type SubjectComparison } from "./compare.js";
export type { Consistency, SampleCount } from "./consistency.js";
export type { PoweredEstimate } from "./corrected.js";
export { labelSheet, type LabelSheetOptions } from "./export.js";
export type { Label, LabelProblem, LabelsInput } from "./labels.js";
export {
  type CalibrationTableOptions,
  renderCalibrationMarkdown,
  renderCalibrationTable,
  renderJudgesMarkdown,
  renderJudgesTable,
} from "./render.js";
export type { Estimate } from "../statistics/estimates.js";
export type { ResultsInput } from "./verdicts.js";
