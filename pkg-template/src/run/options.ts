import type { RunOptions } from "../generated/contract.js";
import type { Dialect, EvaluatorOptions } from "../types.js";
import { reading, unexpected } from "../engine/input.js";
import { judgeOptions } from "./judge-options.js";

/**
 * The part of the options that the engine reads, with the defaults filled in.
 *
 * @throws {AdkMetricsError} `invalid_input` for an option that is not what its type says.
 */
export function runOptions(options: EvaluatorOptions): RunOptions {
  return reading("options", () => readOptions(options));
}

function readOptions(options: EvaluatorOptions): RunOptions {
  checkOptions(options);
  const { explain = "all", concurrency = 8, timeoutMs = Infinity, signal, onProgress } = options;
  if (!["none", "failures", "all"].includes(explain)) {
    throw unexpected('"none", "failures" or "all"', explain, "explain");
  }
  if (!(typeof concurrency === "number" && concurrency >= 1)) {
    throw unexpected("a number from 1 up", concurrency, "concurrency");
  }
  if (!(typeof timeoutMs === "number" && timeoutMs > 0)) {
    throw unexpected("a number of milliseconds above 0", timeoutMs, "timeoutMs");
  }
  if (signal !== undefined && !isSignal(signal)) {
    throw unexpected("an AbortSignal", signal, "signal");
  }
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw unexpected("a function", onProgress, "onProgress");
  }
  return {
    dialect: dialectOf(options),
    explain,
    concurrency,
    timeoutMs,
    ...judgeOptions(options),
    custom: [],
    evalIds: undefined,
    evalSetName: "evalset",
    countOnly: false,
  };
}

function isSignal(signal: AbortSignal | null): boolean {
  return typeof signal?.addEventListener === "function" && typeof signal.removeEventListener === "function";
}

/** The dialect that the options name. */
export function dialectOf(options: { dialect?: Dialect }): Dialect {
  checkOptions(options);
  const { dialect = "adk-python" } = reading("options", () => ({ dialect: options.dialect }));
  if (dialect !== "adk-python" && dialect !== "adk-ts") {
    throw unexpected('"adk-python" or "adk-ts"', dialect, "dialect");
  }
  return dialect;
}

function checkOptions(options: unknown): void {
  if (typeof options !== "object" || options === null) throw unexpected("an object", options, "options");
}
