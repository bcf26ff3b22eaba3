export { PrebuiltMetrics } from "./generated/metrics.js";

/** How an evaluation ended. */
export enum EvalStatus {
  /** The score reaches the threshold. */
  PASSED = 1,
  /** It does not. */
  FAILED = 2,
  /** There is no score; `reason` says why. */
  NOT_EVALUATED = 3,
  /** There is a value that neither passes nor fails. */
  INFORMATIONAL = 4,
}
