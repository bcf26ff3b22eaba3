/** Runs an agent on an evalset and scores what it did. */

import { AdkMetricsError, strictErrorOf } from "../errors.js";
import { type CheckedEvaluation, checkEvaluation, evaluate, openEvaluation } from "../evaluate.js";
import type {
  ConfigInput,
  EvalSet,
  EvalSetResult,
  EvaluateRequest,
  EvaluatorOptions,
  Input,
  MetricRegistry,
} from "../types.js";
import type { Subject } from "./adapters.js";
import type { AgentEvaluationOptions } from "./options.js";
import {
  type AgentRunOptions,
  checkPlayer,
  checkPositive,
  checkScenarios,
  type InferenceResult,
  runCases,
} from "./run.js";
import { type Forecast, forecast } from "./scorable.js";
import { simulatorWarnings, type UserSimulatorOptions } from "./simulator.js";
import { Spending } from "./spending.js";

/** What is evaluated, and by which metrics. */
export interface Plan {
  evalSet: Input<EvalSet>;
  evalSetName?: string;
  /** ADK's default criteria if absent. */
  config?: ConfigInput;
  /** The cases; all if absent. */
  evalIds?: readonly string[];
}

/** How to score. */
export interface ScoringOptions extends EvaluatorOptions {
  registry?: MetricRegistry;
  strict?: boolean;
  advisory?: readonly string[];
}

/** Runs an agent `numRuns` times on every case and scores it. */
export async function evaluateAgent(
  subject: Subject,
  plan: Plan,
  numRuns: number,
  options: AgentEvaluationOptions,
): Promise<EvalSetResult> {
  const evaluation = await checkedEvaluation(subject, plan, numRuns, options);
  try {
    return await evaluation.run();
  } finally {
    evaluation.close();
  }
}

/** An evaluation of an agent in which nothing was found wrong. To be closed, whether or not it is run. */
export interface AgentEvaluation {
  run(): Promise<EvalSetResult>;
  close(): void;
}

/**
 * Finds out what is wrong with an evaluation of an agent before the agent is run.
 *
 * @throws {AdkMetricsError} for what is wrong with evalset, metrics, judges or simulated users.
 */
export async function checkedEvaluation(
  subject: Subject,
  plan: Plan,
  numRuns: number,
  options: AgentEvaluationOptions,
): Promise<AgentEvaluation> {
  checkPositive(numRuns, "numRuns");
  const ofUsers = simulatorWarnings(options.userSimulator);
  if (options.strict === true && ofUsers.length > 0) throw strictErrorOf(ofUsers);
  const { evalSet: _evalSet, ...scoring } = { ...withoutRunOptions(options), ...plan };
  const open = await openEvaluation({ ...quiet(scoring), evalSet: plan.evalSet }, true);
  let known: Forecast;
  try {
    checkCases(open.evalSet, options);
    known = forecast(open, { ...plan, strict: options.strict });
    checkUsers(open.evalSet, options, known.leftOut);
  } catch (error) {
    open.close();
    throw error;
  }
  const { leftOut } = known;
  const warnings = [...ofUsers, ...known.warnings];
  const run = async () => {
    const spending = new Spending(options.budget);
    const settings = runOptions(options);
    const inferenceResults = await runCases(subject, open.evalSet, numRuns, settings, spending, leftOut);
    // What was paid for is not refused any more.
    const budget = spending.left();
    const result = await open.evaluate({ ...scoring, actual: { inferenceResults }, strict: false, budget });
    if (warnings.length > 0) result.warnings = [...warnings, ...(result.warnings ?? [])];
    spending.noteIn(result);
    return result;
  };
  return { run, close: open.close };
}

/** @throws {AdkMetricsError} for an evalset without a case, or with a user who cannot be played. */
export function checkCases({ evalCases }: EvalSet, options: AgentEvaluationOptions, path = "evalSet"): void {
  if (evalCases.length === 0) {
    throw new AdkMetricsError("invalid_input", "the evalset has no case", { path });
  }
  checkScenarios(evalCases, runOptions(options).userSimulator);
}

/** @throws {AdkMetricsError} for an evalset with a user whom nobody plays, in a case that is not left out. */
export function checkUsers(
  { evalCases }: EvalSet,
  options: AgentEvaluationOptions,
  leftOut?: ReadonlyMap<string, string>,
): void {
  checkPlayer(evalCases, runOptions(options).userSimulator, new Spending(options.budget), leftOut);
}

/**
 * Finds out what is wrong with evalset, metrics and judges before the agent is run.
 *
 * @param foresees Whether to find out what cannot be scored.
 */
export async function check(
  plan: Plan & { actual?: EvaluateRequest["actual"] },
  options: ScoringOptions,
  foresees = false,
): Promise<CheckedEvaluation> {
  return await checkEvaluation({ ...quiet(options), ...plan }, foresees);
}

/** Options for looking at inputs alone, of which no progress is reported. */
function quiet({ onProgress: _onProgress, ...options }: ScoringOptions): ScoringOptions {
  return options;
}

/** Scores what an agent did. */
export function score(
  plan: Plan,
  inferenceResults: readonly InferenceResult[],
  options: ScoringOptions,
): Promise<EvalSetResult> {
  return evaluate({ ...options, ...plan, actual: { inferenceResults } });
}

/** The options that say how to run; the simulated user asks the judge of the evaluation unless it has its own. */
export function runOptions(options: AgentEvaluationOptions): AgentRunOptions {
  const { parallelism, turnTimeoutMs, signal, judge, retry, timeoutMs, userSimulator } = options;
  const { onAgentProgress } = options;
  const simulator: UserSimulatorOptions = {
    ...(judge === undefined ? {} : { judge }),
    ...(retry === undefined ? {} : { retry }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...userSimulator,
  };
  return {
    userSimulator: simulator,
    ...(parallelism === undefined ? {} : { parallelism }),
    ...(turnTimeoutMs === undefined ? {} : { turnTimeoutMs }),
    ...(signal === undefined ? {} : { signal }),
    ...(onAgentProgress === undefined
      ? {}
      : { onAgentProgress: (progress) => onAgentProgress.call(options, progress) }),
  };
}

/** The options that say how to score. */
export function withoutRunOptions({
  parallelism: _parallelism,
  turnTimeoutMs: _turnTimeoutMs,
  userSimulator: _userSimulator,
  onAgentProgress: _onAgentProgress,
  ...options
}: AgentEvaluationOptions): ScoringOptions {
  return options;
}
