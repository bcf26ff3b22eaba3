/**
 * A copy of the package's `EvalStatus`. The page does not import the package's values, since the engine is loaded in the
 * worker only. A type checks that both enums are equal.
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
