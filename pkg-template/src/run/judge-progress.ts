/** How far the calls of judges are. */

import type { EvalRun } from "../generated/adk_metrics.js";
import type { EngineError } from "../generated/contract.js";
import type { Budget, JudgeProgress } from "../types.js";

/** How the counts of the engine differ from what the parts of a merged run did. */
export interface ProgressCorrection {
  /** Calls that the engine counts and no part made. */
  unsentCalls: number;
  /** Samples that the engine takes for asked and no part asked. */
  unsentSamples: number;
  /** Samples that a part asked in vain and the merged run did not need. */
  unneededSamples: number;
  /** The failed calls for these. */
  unneededCalls: number;
}

export const NO_CORRECTION: ProgressCorrection = {
  unsentCalls: 0,
  unsentSamples: 0,
  unneededSamples: 0,
  unneededCalls: 0,
};

/**
 * How far the calls of a run are.
 *
 * @param failedBefore Calls that failed before the engine was restarted, which it does not count.
 */
export function judgeProgress(
  run: EvalRun,
  hasPrices: boolean,
  failedBefore = 0,
  { unsentCalls, unsentSamples, unneededSamples, unneededCalls } = NO_CORRECTION,
): JudgeProgress {
  const { cost, leftMs, savedAtRisk, verdictsAtRisk, unread, ...found } = run.progress();
  const failedElsewhere = failedBefore + unneededCalls;
  return {
    ...found,
    unsent: found.unsent + unsentSamples,
    calls: found.calls + failedElsewhere - unsentCalls,
    failed: found.failed + failedElsewhere - unsentCalls,
    retried: found.retried + failedElsewhere - unneededSamples,
    ...(verdictsAtRisk === 0 ? {} : { savedAtRisk, verdictsAtRisk }),
    ...(unread === 0 ? {} : { unread }),
    ...(hasPrices ? { cost } : {}),
    ...(leftMs === undefined ? {} : { leftMs }),
  };
}

/** The share of replies from which on it is a warning that they could not be read. */
const MANY_UNREAD = 0.2;

/**
 * The warning of many replies that could not be read: what they would have said is missing from the verdicts. Where none could
 * be read, there are no verdicts; each metric has a warning.
 */
export function unreadWarning({ answered, cached, unread = 0 }: JudgeProgress): EngineError | undefined {
  const replies = answered + cached;
  if (unread === 0 || unread === replies || unread < MANY_UNREAD * replies) return undefined;
  return {
    code: "judge_failed",
    message: `${unread} of ${replies} replies of the judges could not be read; verdicts rest on the others`,
    help: "The explanations show these replies. Judges that support JSON schemas, and larger models, write readable replies more often",
  };
}

/**
 * The warning of a budget in tokens or money that counts estimates.
 *
 * @param who Who answered.
 */
export function estimateWarning(
  who: string,
  answered: number,
  unreported: number,
  { tokens, cost }: Budget,
): EngineError | undefined {
  if (unreported === 0 || (tokens === undefined && cost === undefined)) return undefined;
  return {
    code: "invalid_input",
    message: `${answered === 1 ? `the only answer of ${who} did not report its` : `${unreported} of ${answered} answers of ${who} did not report their`} tokens, so the budget counts an estimate of one token per four bytes of prompt and reply`,
    help: "Your own judge can return `usage`; otherwise set a lower budget than you can spend",
  };
}
