/** The results of an evalset during a run: one row for every known case, in the order of the evalset. */

import type { EvalCaseResult, EvalSetResult } from "adk-metrics/web";
import type { Pair } from "./protocol.js";

/** The status of a case that is not scored yet. It is no member of `EvalStatus`. */
const PENDING = 0 as EvalCaseResult["finalEvalStatus"];

/** Collects case results. */
export class PartialResults {
  readonly #rows: EvalCaseResult[];
  /** The rows of cases that are not scored yet, by eval id. */
  readonly #pending = new Map<string, number[]>();
  readonly #dialect: EvalSetResult["dialect"];

  constructor({ evalIds = [] }: Pair, dialect: EvalSetResult["dialect"] = "adk-python") {
    this.#dialect = dialect;
    this.#rows = evalIds.map((evalId) => ({
      evalSetId: "",
      evalId,
      sessionId: "",
      finalEvalStatus: PENDING,
      overallEvalMetricResults: [],
      evalMetricResultPerInvocation: [],
    }));
    for (const [row, evalId] of evalIds.entries()) {
      const rows = this.#pending.get(evalId);
      if (rows === undefined) this.#pending.set(evalId, [row]);
      else rows.push(row);
    }
  }

  /** Adds the result of a case. Additional runs of a case are appended at the end until the evalset is complete. */
  add(result: EvalCaseResult): void {
    const row = this.#pending.get(result.evalId)?.shift();
    if (row === undefined) this.#rows.push(result);
    else this.#rows[row] = result;
  }

  /** The results so far. */
  result(): EvalSetResult {
    return {
      evalSetResultId: "",
      evalSetResultName: "",
      evalSetId: this.#rows.find(({ evalSetId }) => evalSetId !== "")?.evalSetId ?? "",
      evalCaseResults: [...this.#rows],
      creationTimestamp: Date.now() / 1000,
      engineVersion: "",
      referenceVersion: "",
      dialect: this.#dialect,
    };
  }
}
