/** The results of an evalset while they come: a row for every case that is known, in the order of the evalset. */

import type { EvalCaseResult, EvalSetResult } from "adk-metrics/web";
import type { Pair } from "./protocol.js";

/** The status of a case that is not scored yet: none of `EvalStatus`. */
const TO_COME = 0 as EvalCaseResult["finalEvalStatus"];

/** Collects case results. */
export class Growing {
  readonly #rows: EvalCaseResult[];
  /** The places of cases that are to come, by eval id. */
  readonly #open = new Map<string, number[]>();
  readonly #dialect: EvalSetResult["dialect"];

  constructor({ evalIds = [] }: Pair, dialect: EvalSetResult["dialect"] = "adk-python") {
    this.#dialect = dialect;
    this.#rows = evalIds.map((evalId) => ({
      evalSetId: "",
      evalId,
      sessionId: "",
      finalEvalStatus: TO_COME,
      overallEvalMetricResults: [],
      evalMetricResultPerInvocation: [],
    }));
    for (const [place, evalId] of evalIds.entries()) {
      const known = this.#open.get(evalId);
      if (known === undefined) this.#open.set(evalId, [place]);
      else known.push(place);
    }
  }

  /** Adds a case; a further run of one stands at the end until all are there. */
  add(result: EvalCaseResult): void {
    const place = this.#open.get(result.evalId)?.shift();
    if (place === undefined) this.#rows.push(result);
    else this.#rows[place] = result;
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
