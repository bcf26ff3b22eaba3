/**
 * The verdicts as numbers. They are those of `EvalStatus` of adk-metrics, which the page does not import: the engine is in
 * the worker only. A type binds the two.
 */

import type { EvalStatus as PackageStatus } from "adk-metrics";

export enum EvalStatus {
  PASSED = 1,
  FAILED = 2,
  NOT_EVALUATED = 3,
  INFORMATIONAL = 4,
}

type Same<A extends `${number}`, B extends A> = B;
export type Checked = Same<`${PackageStatus}`, `${EvalStatus}`>;
