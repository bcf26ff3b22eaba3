/** The results of an evalset while they come: a row for every case that is known, in the order of the evalset. */

import type { EvalCaseResult, EvalSetResult } from "adk-metrics/web";
import type { Pair } from "./protocol.js";

/** The status of a case that is not scored yet: none of `EvalStatus`. */
const PENDING = 0 as EvalCaseResult["finalEvalStatus"];

/** Collects case results. */
export class PartialResults {
  readonly #rows: EvalCaseResult[];
  /** The places of cases that are to come, by eval id. */
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

  /** Adds a case; a further run of one stands at the end until all are there. */
  add(result: EvalCaseResult): void {
    const row = this.#pending.get(result.evalId)?.shift();
    if (row === undefined) this.#rows.push(result);
    else this.#rows[row] = result;
  }

  /** What there is so far. */
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
