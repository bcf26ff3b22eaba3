/**
 * Which options a function takes: an option that it does not take would be without effect, so it is an error, and the
 * error says what to do instead.
 */

import { closest } from "./closest.js";
import { isObject, reading, unexpected } from "./engine/values.js";
import { AdkMetricsError } from "./errors.js";
import { EVALUATOR_OPTIONS as ENGINE_OPTIONS, REQUEST_OPTIONS as ENGINE_REQUEST } from "./generated/options.js";
import type { EvalMetric, EvaluateRequest, EvaluatorOptions } from "./types.js";
import { definedProperties } from "./lists.js";

/** What options are called in errors, and what to do instead of giving one that belongs elsewhere. */
export interface OptionNames {
  /** Default: `options`. */
  path?: string;
  /** What to do, by the option's name. */
  instead?: Readonly<Record<string, string>>;
}

/**
 * Finds options that a function does not take. One that is `undefined` counts as absent.
 *
 * @throws {AdkMetricsError} `invalid_input` that names the option, never its value.
 */
export function checkOptions(
  options: unknown,
  known: readonly string[],
  { path = "options", instead = {} }: OptionNames = {},
): void {
  if (!isObject(options)) throw unexpected("an object", options, path);
  const key = reading(path, () =>
    Object.keys(options).find((name) => !known.includes(name) && Reflect.get(options, name) !== undefined),
  );
  if (key === undefined) return;
  const at = `${path}: ${key}`;
  if (Object.hasOwn(instead, key)) {
    throw new AdkMetricsError("invalid_input", `\`${key}\` does not apply here`, {
      path: at,
      help: instead[key] as string,
    });
  }
  const meant = closest(key, [...known, ...Object.keys(instead)]);
  const other = meant === undefined || known.includes(meant) ? undefined : instead[meant];
  const all = known.length === 0 ? "This function has no options" : `The options are ${known.join(", ")}`;
  const suggestion = meant === undefined ? all : `Did you mean \`${meant}\`?`;
  const help = other === undefined ? suggestion : `${suggestion} ${other}`;
  throw new AdkMetricsError("invalid_input", `there is no option \`${key}\``, { path: at, help });
}

/** What a function takes that has no options. */
export type NoOptions = Readonly<Record<string, never>>;

/** Refuses options where there are none. Other arguments, which `map` passes, are not options. */
export function refuseOptions(options: unknown): void {
  if (isObject(options) && !reading("options", () => Array.isArray(options))) checkOptions(options, []);
}

/**
 * Finds keys that a value among options does not have.
 *
 * @throws {AdkMetricsError} `invalid_input` that names the key, and the one that is meant.
 */
export function checkKeys(value: unknown, known: readonly string[], path: string): void {
  if (!isObject(value)) throw unexpected("an object", value, path);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = closest(unknown, known);
  throw new AdkMetricsError("invalid_input", `there is no \`${unknown}\` here`, {
    path,
    help: meant === undefined ? `The keys are ${known.join(", ")}` : `Did you mean \`${meant}\`?`,
  });
}

/**
 * Refuses misspelt keys of a value.
 *
 * @param isOpen Whether it may have other keys of the user.
 * @throws {AdkMetricsError} `invalid_input` that names the key that is meant.
 */
export function refuseMisspelt(value: unknown, known: readonly string[], place: string, isOpen = false): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = closest(key, known);
    if (meant === undefined && isOpen) continue;
    const help = meant === undefined ? `The keys are ${known.join(", ")}` : `Did you mean \`${meant}\`?`;
    throw new AdkMetricsError("invalid_input", `there is no \`${key}\` here`, { path: `${place}${key}`, help });
  }
}

/** A copy of options that are checked, each read once. */
export function optionsOf<T extends object>(options: T, known: readonly (keyof T & string)[], names?: OptionNames): T {
  if (reading(names?.path ?? "options", () => isQuestion(options))) throw notMade();
  checkOptions(options, known, names);
  return reading(names?.path ?? "options", () => ({ ...options }));
}

/** @throws {AdkMetricsError} `invalid_input` for an option that is neither true nor false. */
export function checkFlag(value: unknown, name: string): void {
  if (typeof value !== "boolean") throw unexpected("true or false", value, `options: ${name}`);
}

/** What functions take that make judges of something else than an account. */
const MAKERS_OF_OTHERS: Readonly<Record<string, string>> = {
  adkJudge: "llm",
  browserJudge: "",
  languageModelJudge: "model",
  ollamaJudge: "{ model }",
  openaiJudge: "{ model, apiKey }",
  panelJudge: "[judge, …]",
  recordJudge: "judge, sink",
  replayJudge: "recording",
  vertexJudge: "{ project, location, accessToken }",
};

/** The error for a function that makes judges where one of them is expected. */
export function notMade(path?: string, name = "geminiJudge"): AdkMetricsError {
  return new AdkMetricsError("invalid_input", "this function creates judges, and is not a judge itself", {
    ...definedProperties({ path }),
    help: `Call it, and pass what it returns: ${howToCall(name)}`,
  });
}

/** `openaiJudge({ model, apiKey })`: how a function that makes judges is called. */
export function howToCall(name: string): string {
  return `${name}(${MAKERS_OF_OTHERS[name] ?? "{ apiKey }"})`;
}

/** Whether it is what a judge is asked. */
function isQuestion(options: unknown): boolean {
  return isObject(options) && "prompt" in options && "metricName" in options && "sampleIndex" in options;
}

/** The options of evaluators that the engine does not read; the type makes sure that none is missing. */
const HOST_OPTIONS: Readonly<Record<Exclude<keyof EvaluatorOptions, (typeof ENGINE_OPTIONS)[number]>, true>> = {
  judge: true,
  vertex: true,
  cache: true,
  signal: true,
  onProgress: true,
};

export const EVALUATOR_OPTIONS = [
  ...ENGINE_OPTIONS,
  ...Object.keys(HOST_OPTIONS),
] as readonly (keyof EvaluatorOptions)[];

type RequestOption = Exclude<keyof EvaluateRequest, keyof EvaluatorOptions>;

/** What a request has besides that the engine reads as bytes, or not at all. */
const HOST_REQUEST: Readonly<Record<Exclude<RequestOption, (typeof ENGINE_REQUEST)[number]>, true>> = {
  evalSet: true,
  actual: true,
  config: true,
  criteria: true,
  registry: true,
  strict: true,
  advisory: true,
  journal: true,
  batch: true,
};

const REQUEST = [...Object.keys(HOST_REQUEST), ...ENGINE_REQUEST];

export const REQUEST_OPTIONS = [...REQUEST, ...EVALUATOR_OPTIONS] as readonly (keyof EvaluateRequest)[];

/** The options that are for running agents. */
const RUN_OPTIONS = ["parallelism", "turnTimeoutMs", "userSimulator", "onAgentProgress"] as const;

/** The options of everything that runs agents and scores what they do. */
export const AGENT_OPTIONS = [
  ...EVALUATOR_OPTIONS,
  ...RUN_OPTIONS,
  "registry",
  "strict",
  "advisory",
  "gates",
  "journal",
  "batch",
] as const;

/** What code says of a metric. */
export const METRIC_KEYS = [
  "metricName",
  "threshold",
  "criterion",
  "judgeModelOptions",
] as const satisfies (keyof EvalMetric)[];

/** The same help for several options. */
export function allInstead(names: readonly string[], help: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, help]));
}

const RUNS_NO_AGENT = /* @__PURE__ */ allInstead(
  [...RUN_OPTIONS, "numRuns", "printDetailedResults", "initialSessionFile"],
  "It is for running an agent: use AgentEvaluator or LocalEvalService",
);

/** @throws {AdkMetricsError} `invalid_input` for a key that `evaluate` does not take. */
export function checkRequest(request: object): void {
  checkOptions(request, REQUEST_OPTIONS, { path: "request", instead: RUNS_NO_AGENT });
}

/** @throws {AdkMetricsError} `invalid_input` for an option that evaluators do not take. */
export function checkEvaluatorOptions(options: object): void {
  checkOptions(options, EVALUATOR_OPTIONS, { instead: EVALUATORS_INSTEAD });
}

const EVALUATORS_INSTEAD: Readonly<Record<string, string>> = /* @__PURE__ */ Object.freeze({
  ...RUNS_NO_AGENT,
  ...allInstead(REQUEST, "It is for a whole evalset: use `evaluate`"),
  ...allInstead(METRIC_KEYS, "Pass it in the metric, the evaluator's first argument"),
});
