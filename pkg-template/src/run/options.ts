import type { Dialect, EvaluatorOptions } from "../types.js";
import { jsonOf, reading, unexpected } from "../engine/input.js";
import { judgeOptions } from "./judge-options.js";

/** The options as the engine reads them. */
export interface EngineOptions {
  dialect: Dialect;
  explain: "none" | "failures" | "all";
  concurrency: number;
  timeoutMs: number | undefined;
  earlyStop: boolean;
  /** Whether Vertex AI scores what google-adk leaves to it. */
  vertex: boolean;
  /** The model to ask, whatever criteria name. */
  judgeModel: string | undefined;
  seed: number | undefined;
  /** The names of prompts, and the texts that replace them. */
  promptIds: readonly string[];
  promptTexts: readonly string[];
  attempts: number | undefined;
  initialDelayMs: number | undefined;
  maxDelayMs: number | undefined;
  base: number | undefined;
  jitter: number | undefined;
  maxCalls: number | undefined;
  maxTokens: number | undefined;
  maxCost: number | undefined;
  timeMs: number | undefined;
  /** The names of models, and for each the prices of a million tokens of input and of output. */
  pricedModels: readonly string[];
  prices: readonly number[];
  /** The metrics that the host computes. */
  custom: readonly string[];
  /** The cases to run; all if undefined. */
  cases: readonly string[] | undefined;
  /** What an evalset without an id is called. */
  name: string;
  /** Whether a config without criteria is meant. */
  countOnly: boolean;
}

/**
 * The part of the options that the engine reads, with the defaults filled in.
 *
 * @throws {AdkMetricsError} `invalid_input` for an option that is not what its type says.
 */
export function engineOptions(options: EvaluatorOptions): EngineOptions {
  return reading("options", () => readOptions(options));
}

/** The options as the engine takes them. */
export function written(options: EngineOptions): Uint8Array {
  return jsonOf(options, (number) => Math.min(Number(number), Number.MAX_VALUE));
}

function readOptions(options: EvaluatorOptions): EngineOptions {
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
    timeoutMs: timeoutMs === Infinity ? undefined : timeoutMs,
    ...judgeOptions(options),
    custom: [],
    cases: undefined,
    name: "evalset",
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
