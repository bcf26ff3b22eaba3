import { EvalStatus } from "../enums.js";
import { withEngine } from "./instance.js";

/** The status of a metric: PASSED if its score reaches the threshold, else FAILED. */
export function statusOfScore(score: number, threshold: number): EvalStatus {
  return withEngine((engine) => engine.scoreStatus(score, threshold)) as EvalStatus;
}

/** The status of a case by those of its metrics. */
export function statusOfCase(metrics: readonly EvalStatus[]): EvalStatus {
  return withEngine((engine) => engine.caseStatus(Uint8Array.from(metrics))) as EvalStatus;
}

interface Decided {
  score?: number | undefined;
  threshold?: number | undefined;
  evalStatus: EvalStatus;
}

/**
 * Whether all that passed or failed says, by score and status, that a lower score is the better one; undefined if they
 * differ.
 *
 * @param given The threshold of results that have none of their own.
 */
export function isLowerBetter(results: readonly Decided[], given?: number): boolean | undefined {
  const directions = new Set(
    results.flatMap(({ score, evalStatus, threshold = given }) => {
      if (score === undefined || threshold === undefined || score === threshold) return [];
      if (evalStatus !== EvalStatus.PASSED && evalStatus !== EvalStatus.FAILED) return [];
      return [score > threshold === (evalStatus === EvalStatus.FAILED)];
    }),
  );
  if (directions.size > 1) return undefined;
  return directions.has(true);
}
