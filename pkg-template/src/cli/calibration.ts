/** The calibration of a judge, in a file beside a config. */

import { dirname, join } from "node:path";
import { AdkMetricsError } from "../errors.js";
import type { EvalCaseResult, EvalSetResult } from "../types.js";
import { readIfThere } from "./files.js";
import { inFile, type InputFiles, type Mistake } from "./mistakes.js";
import { warn } from "./process.js";

/** What `calibrate --output` writes, by the name under which it is found. */
const CALIBRATION_FILE = "judge.calibration.json";

/**
 * Results with what the calibration beside their config says of their metrics. One that cannot be read is a warning.
 *
 * @param settingsOf Some of their cases, for results without them.
 */
export async function withCalibrationBeside(
  result: EvalSetResult,
  { config, evalSet = "" }: InputFiles,
  settingsOf?: readonly EvalCaseResult[],
): Promise<EvalSetResult> {
  const file = join(dirname(config ?? evalSet), CALIBRATION_FILE);
  const bytes = readIfThere(file, "calibration");
  if (bytes === undefined) return result;
  const { withCalibration } = await import("../calibration/index.js");
  try {
    const found = withCalibration(result, bytes, settingsOf === undefined ? {} : { settingsOf });
    const warnings = found.warnings?.map((one) => (one.path === "calibration" ? { ...one, path: file } : one));
    return warnings === undefined ? found : { ...found, warnings };
  } catch (error) {
    if (!(error instanceof AdkMetricsError)) throw error;
    const { message, location, help } = inFile(error, file, "calibration") as Mistake;
    warn(message, location, help);
    return result;
  }
}
