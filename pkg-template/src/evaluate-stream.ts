import { resultsInBatches } from "./evaluate.js";
import type { EvalCaseResult, EvalSetResult, EvaluateRequest } from "./types.js";

/**
 * As {@link evaluate}, giving each case result when it is there, in the order of completion. Leaving the loop cancels
 * the evaluation. The generator returns the results of the whole evalset.
 */
export async function* evaluateStream(request: EvaluateRequest): AsyncGenerator<EvalCaseResult, EvalSetResult> {
  const batches = resultsInBatches(request);
  try {
    for (;;) {
      const next = await batches.next();
      if (next.done === true) return next.value;
      yield* next.value;
    }
  } finally {
    await batches.return(undefined as never);
  }
}
