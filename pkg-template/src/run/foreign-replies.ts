/** Replies of functions in a cache: nothing says whether the function that is asked now would give the same. */

import type { EngineError } from "../generated/contract.js";
import type { Replier } from "./target.js";

/** The most keys of replies that are known for a function. Beyond, a warning says too much rather than too little. */
const MOST_KEPT = 100_000;

/** Notes that a judge gave the reply that is kept under this key. */
export function noteGiven({ keptReplies }: Replier, key: string): void {
  if (keptReplies !== undefined && keptReplies.size < MOST_KEPT) keptReplies.add(key);
}

/** The replies that a cache had before the functions that are asked gave any. */
export class ForeignReplies {
  /** Their number by the name of the judge. */
  readonly #counts = new Map<string, number>();

  /** Counts a reply that a cache had, if a function is asked that did not give it. */
  found({ keptReplies, functionName = "" }: Replier, key: string): void {
    if (keptReplies === undefined || keptReplies.has(key)) return;
    this.#counts.set(functionName, (this.#counts.get(functionName) ?? 0) + 1);
  }

  /** Says so. */
  warnings(): EngineError[] {
    return [...this.#counts].map(([name, count]) => {
      const judge = name === "" ? "the judge, a function without a name," : `the judge ${JSON.stringify(name)}`;
      const replies = count === 1 ? "1 reply was" : `${count} replies were`;
      return {
        code: "invalid_input",
        message: `${replies} in the cache before ${judge} was asked: a function may have changed since`,
        help: 'Give the function a version, and change it whenever the function changes: Object.assign(judge, { cacheVersion: "1" }). Or use an empty cache',
      };
    });
  }
}
