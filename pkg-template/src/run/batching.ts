/** Judges that are asked in batches: what an entry for Node provides, since batches are kept in files. */

import { isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { BatchOptions, EvalSetResult, EvaluateRequest, Judge } from "../types.js";

/** An evaluation whose judges are asked in batches. */
export interface BatchTask {
  /** What they are asked about. */
  request: EvaluateRequest;
  /** Scores with what batches found out. */
  score(found: Pick<EvaluateRequest, "cache" | "signal">): Promise<EvalSetResult>;
}

/** What an entry for Node provides. */
export interface BatchHost {
  /** As `evaluate`, for a request with `batch`. */
  evaluate(request: EvaluateRequest): Promise<EvalSetResult>;
  /** Asks the judges of evaluations in common batches, then scores one after the other. */
  evaluateAll(tasks: readonly BatchTask[], batch: BatchOptions, signal?: AbortSignal): AsyncIterable<EvalSetResult>;
  /** Gives what throws `invalid_input` for a judge that cannot be asked in batches. */
  judgeCheck(): Promise<(judge: Judge) => void>;
}

let provided: BatchHost | undefined;

/** Says how judges are asked in batches; the entries for Node do this once. */
export function provideBatches(host: BatchHost): void {
  provided ??= host;
}

/** @throws {AdkMetricsError} `engine_unavailable` in runtimes without files. */
export function batchHost(): BatchHost {
  if (provided !== undefined) return provided;
  throw new AdkMetricsError("engine_unavailable", "`batch` needs Node's files, and this build has none", {
    path: "batch",
    help: "Use the package's entry for Node, or the command: adk-metrics eval --batch",
  });
}

/** How judges are to be asked in batches; nothing if they are asked live. */
export function batchOf(options: { batch?: EvaluateRequest["batch"] }): BatchOptions | undefined {
  const batch = reading("batch", () => (isObject(options) ? options.batch : undefined));
  if (typeof batch !== "boolean" && batch !== undefined && !isObject(batch)) {
    throw unexpected("true or an object of options", batch, "batch");
  }
  return batch === true ? {} : batch || undefined;
}
