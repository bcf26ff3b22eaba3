/**
 * How often a judge is right: its verdicts beside human labels, the pass rate corrected for its errors, two judges beside
 * each other, and sheets of verdicts to label. Needs no engine.
 */

export { calibrate } from "./calibrate.js";
export { compareJudges } from "./compare.js";
export { labelSheet, verdictsToLabel, writeLabels } from "./export.js";
export { readLabels } from "./read.js";
export { renderCalibrationMarkdown, renderCalibrationTable } from "./render.js";
export { renderCalibrationHtml } from "./render-html.js";
export { withCalibration } from "./stored.js";
export { tallyFor } from "./tally.js";
export type * from "./types.js";
export type { Estimate } from "../statistics/estimates.js";
