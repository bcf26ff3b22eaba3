import type { EvalStatus } from "../enums.js";
import { withEngine } from "./instance.js";

/** The status of a metric: PASSED if its score reaches the threshold, else FAILED. */
export function statusOfScore(score: number, threshold: number): EvalStatus {
  return withEngine((engine) => engine.scoreStatus(score, threshold)) as EvalStatus;
}

/** The status of a case by those of its metrics. */
export function statusOfCase(metrics: readonly EvalStatus[]): EvalStatus {
  return withEngine((engine) => engine.caseStatus(Uint8Array.from(metrics))) as EvalStatus;
}
