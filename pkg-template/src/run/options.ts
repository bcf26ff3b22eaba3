import type { RunOptions } from "../generated/contract.js";
import { OPTION_RULES } from "../generated/options.js";
import { signalOf } from "../abort.js";
import type { Dialect, EvaluatorOptions } from "../types.js";
import { reading, unexpected } from "../engine/values.js";
import { judgeOptions } from "./judge-options.js";
import { earlyStopOf } from "./early-stop.js";
import { ruled } from "./rules.js";

/**
 * The part of the options that the engine reads, with the defaults filled in.
 *
 * @throws {AdkMetricsError} `invalid_input` for an option that is not what its type says.
 */
export function runOptions(options: EvaluatorOptions): RunOptions {
  return reading("options", () => readOptions(options));
}

function readOptions(options: EvaluatorOptions): RunOptions {
  checkObject(options);
  const { signal, onProgress } = options;
  signalOf(signal);
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw unexpected("a function", onProgress, "onProgress");
  }
  const { earlyStop: _, ...rules } = OPTION_RULES;
  const given = ruled<Partial<RunOptions>>(options, rules);
  const { seed = randomSeed() } = given;
  return {
    ...(given as Pick<RunOptions, keyof typeof rules>),
    ...earlyStopOf(options.earlyStop),
    seed,
    ...judgeOptions(options),
    custom: [],
    evalIds: undefined,
    evalSetName: "evalset",
    countOnly: false,
  };
}

/** A seed for runs whose user gave none: those of one evaluator must not wait for the same times. */
export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32);
}

/** The dialect that the options name. */
export function dialectOf(options: { dialect?: Dialect }): Dialect {
  checkObject(options);
  const { dialect } = OPTION_RULES;
  return reading("options", () => ruled<{ dialect: Dialect }>(options, { dialect }).dialect);
}

function checkObject(options: unknown): void {
  if (typeof options !== "object" || options === null) throw unexpected("an object", options, "options");
}
