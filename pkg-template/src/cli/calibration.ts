/** The calibration of a judge, in a file beside a config. */

import { dirname, join } from "node:path";
import { AdkMetricsError } from "../errors.js";
import type { CalibrationTally } from "../calibration/types.js";
import type { EvalSetResult } from "../types.js";
import { readIfThere } from "./files.js";
import { inFile, type InputFiles, type Mistake } from "./mistakes.js";
import { warn } from "./process.js";

/** What `calibrate --output` writes, by the name under which it is found. */
const CALIBRATION_FILE = "judge.calibration.json";

type Calibrating = typeof import("../calibration/index.js");

/**
 * Counts what the cases of a stream say of the calibration beside their config; undefined if there is none. One that cannot be
 * read is a warning.
 */
export async function tallyBeside(files: InputFiles): Promise<CalibrationTally | undefined> {
  return await withFileBeside(files, ({ tallyFor }, bytes) => tallyFor(bytes));
}

/**
 * Results with what the calibration beside their config says of their metrics. One that cannot be read is a warning.
 *
 * @param tally What their cases say, for results without them.
 */
export async function withCalibrationBeside(
  result: EvalSetResult,
  files: InputFiles,
  tally?: CalibrationTally,
): Promise<EvalSetResult> {
  const calibrated = await withFileBeside(files, ({ withCalibration }, bytes, file) => {
    const found = withCalibration(result, tally ?? bytes);
    const warnings = found.warnings?.map((one) => (one.path === "calibration" ? { ...one, path: file } : one));
    return warnings === undefined ? found : { ...found, warnings };
  });
  return calibrated ?? result;
}

async function withFileBeside<T>(
  { config, evalSet = "" }: InputFiles,
  use: (calibrating: Calibrating, bytes: Uint8Array, file: string) => T,
): Promise<T | undefined> {
  const file = join(dirname(config ?? evalSet), CALIBRATION_FILE);
  const bytes = readIfThere(file, "calibration");
  if (bytes === undefined) return undefined;
  const calibrating = await import("../calibration/index.js");
  try {
    return use(calibrating, bytes, file);
  } catch (error) {
    if (!(error instanceof AdkMetricsError)) throw error;
    const { message, location, help } = inFile(error, file, "calibration") as Mistake;
    warn(message, location, help);
    return undefined;
  }
}
