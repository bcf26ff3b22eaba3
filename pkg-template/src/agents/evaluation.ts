/** Runs an agent on an evalset and scores what it did. */

import { AdkMetricsError, strictErrorOf } from "../errors.js";
import { type CheckedEvaluation, checkEvaluation, evaluateOneOf, openEvaluation } from "../evaluate.js";
import type {
  ConfigInput,
  EvalSet,
  EvalSetResult,
  EvaluateRequest,
  EvaluatorOptions,
  Input,
  Journal,
  MetricRegistry,
  Mistake,
} from "../types.js";
import { sectionOf } from "../journal/section.js";
import { standIns } from "../judges/default.js";
import { batchHost, batchOf, type BatchTask } from "../run/batching.js";
import { asksNobody } from "../run/waiting.js";
import { unusedPrices } from "../run/without-effect.js";
import type { Subject } from "./adapters.js";
import { noteMissingRuns } from "./missing.js";
import type { AgentEvaluationOptions } from "./options.js";
import {
  type AgentRunOptions,
  checkPlayed,
  checkPlayer,
  checkPositive,
  checkScenarios,
  type InferenceResult,
  isScenario,
  runCases,
  wasCancelled,
} from "./run.js";
import { recordedFor } from "./record.js";
import { type Forecast, forecast } from "./scorable.js";
import { pricedPlayer, type UserSimulatorOptions } from "./simulator.js";
import { Spending } from "./spending.js";
import { definedProperties } from "../lists.js";

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
  journal?: Journal;
  batch?: NonNullable<AgentEvaluationOptions["batch"]>;
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
    const unused = unusedIn([evaluation], options);
    const { value } = await resultsOf([evaluation], options).next();
    const result = value as EvalSetResult;
    noteUnused([result], unused);
    return result;
  } finally {
    evaluation.close();
  }
}

/** Which options an evaluation of an agent has a use for. */
export interface Uses {
  /** The warning about options for judges if no judge is asked. */
  readonly unused: Mistake | undefined;
  readonly asksJudges: boolean;
  /** Whether a case has a simulated user. */
  readonly hasUsers: boolean;
  /** The names whose prices count. */
  readonly priced: readonly string[];
  /** The config that has settings for simulated users, if it does. */
  readonly usersIn?: string | undefined;
}

/** An evaluation of an agent in which nothing was found wrong. To be closed, whether or not it is run. */
export interface AgentEvaluation extends Uses {
  /** Runs the agent. */
  run(): Promise<AgentRuns>;
  close(): void;
}

/** What an agent did in an evaluation, which is to be scored once. */
export interface AgentRuns extends BatchTask {
  /** Whether runs were cancelled. */
  isCut: boolean;
  /** Scores what was done, without asking judges. */
  scoreAlone(): Promise<EvalSetResult>;
  /** Leaves it to another evaluation of the same journal. */
  abandon(): void;
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
  const { evalSet: _evalSet, ...scoring } = { ...withoutRunOptions(options), ...plan };
  const checked = { ...quiet(scoring), evalSet: plan.evalSet, ...(await onlyBatched(options)) };
  const open = await openEvaluation(checked, true);
  let known: Forecast;
  try {
    checkCases(open.evalSet, options);
    known = forecast(open, { ...plan, strict: options.strict });
    await checkUsers(open.evalSet, options, known.leftOut);
  } catch (error) {
    open.close();
    throw error;
  }
  const { leftOut, warnings } = known;
  const run = async (): Promise<AgentRuns> => {
    const spending = new Spending(options.budget);
    const settings = runOptions(options);
    const journal = sectionOf(options.journal);
    const runs = runCases(subject, open.evalSet, { numRuns, spending, leftOut, journal }, settings);
    const all = await runs.catch((error: unknown) => {
      journal?.abandon();
      throw error;
    });
    const inferenceResults = recordedFor(all, options.dialect);
    // What was paid for is not refused any more.
    const given = { ...scoring, strict: false, budget: spending.left() };
    const done = inferenceResults.filter((result) => !wasCancelled(result));
    const isCut = done.length < inferenceResults.length;
    if (isCut) journal?.abandon();
    const noted = (result: EvalSetResult): EvalSetResult => {
      if (isCut && done.length === 0) result.evalCaseResults = [];
      if (isCut) noteMissingRuns(result, new Map(idsOf(open.evalSet).map((id) => [id, numRuns])));
      if (warnings.length > 0) result.warnings = [...warnings, ...(result.warnings ?? [])];
      spending.noteIn(result);
      return result;
    };
    const request = { ...given, actual: { inferenceResults }, ...(journal && { journal }) };
    return {
      isCut,
      request: { ...request, evalSet: plan.evalSet },
      score: async (found) => noted(await open.evaluate({ ...request, ...found })),
      scoreAlone: async () => noted(await open.evaluate(scoringDone(given, done))),
      abandon: () => journal?.abandon(),
    };
  };
  return { run, ...usesOf(open, options, leftOut), close: open.close };
}

/** Runs the agent of evaluations, and scores what it did: one after the other, or, if judges are asked in batches, all in the end. */
export async function* resultsOf(
  evaluations: readonly Pick<AgentEvaluation, "run">[],
  options: AgentEvaluationOptions,
): AsyncGenerator<EvalSetResult, void> {
  const batch = batchOf(options);
  const done: AgentRuns[] = [];
  for (const { run } of evaluations) {
    const runs = await run();
    if (batch !== undefined) done.push(runs);
    else yield await (runs.isCut ? runs.scoreAlone() : runs.score({}));
  }
  if (batch === undefined) return;
  const abandon = (): void => done.forEach((runs) => runs.abandon());
  if (done.some(({ isCut }) => isCut)) {
    abandon();
    for (const { scoreAlone } of done) yield await scoreAlone();
    return;
  }
  try {
    yield* batchHost().evaluateAll(done, batch, options.signal);
  } catch (error) {
    abandon();
    throw error;
  }
}

/** Has judges refused that cannot be asked in batches, if they are to be. */
export async function onlyBatched(options: AgentEvaluationOptions): Promise<Pick<EvaluateRequest, "signal">> {
  if (batchOf(options) === undefined) return {};
  const check = await batchHost().judgeCheck();
  const { signal } = new AbortController();
  standIns.set(signal, (judge) => (check(judge), judge));
  return { signal };
}

/**
 * A request to score the runs that were done when the others were cancelled. Judges cost, so they are not asked any more;
 * without a run, nothing is scored.
 */
function scoringDone(options: ScoringOptions, done: readonly InferenceResult[]): Omit<EvaluateRequest, "evalSet"> {
  const { journal: _journal, signal, ...others } = options;
  const evalIds = [...new Set(done.map(({ evalCaseId }) => evalCaseId))];
  const request = { ...others, actual: { inferenceResults: done } };
  if (evalIds.length === 0) return { ...request, ...definedProperties({ signal }) };
  const unasked = new AbortController().signal;
  asksNobody.add(unasked);
  return { ...request, evalIds, signal: unasked };
}

function idsOf({ evalCases }: EvalSet): string[] {
  return evalCases.map(({ evalId }) => evalId);
}

export function usesOf(
  { evalSet, unused, asksJudges, priced }: CheckedEvaluation,
  options: AgentEvaluationOptions,
  leftOut: ReadonlyMap<string, string>,
): Uses {
  const users = evalSet.evalCases.filter(isScenario);
  const { userSimulator = {} } = runOptions(options);
  const isPlayed = users.some(({ evalId }) => !leftOut.has(evalId));
  return {
    unused,
    asksJudges,
    hasUsers: users.length > 0,
    priced: [...priced, ...(isPlayed ? pricedPlayer(userSimulator, options.budget?.prices) : [])],
  };
}

/**
 * The warnings about options that have no effect in any of these evaluations.
 *
 * @throws {AdkMetricsError} with them, if they are errors.
 */
export function unusedIn(
  evaluations: readonly Uses[],
  { userSimulator, budget, strict }: Pick<AgentEvaluationOptions, "userSimulator" | "budget" | "strict">,
): Mistake[] {
  const warnings = evaluations.every(({ unused }) => unused !== undefined) ? [evaluations[0]?.unused as Mistake] : [];
  if (evaluations.some(({ asksJudges, hasUsers }) => asksJudges || hasUsers)) {
    const prices = unusedPrices(
      budget,
      evaluations.flatMap(({ priced }) => priced),
    );
    if (prices !== undefined) warnings.push(prices);
  }
  if (!evaluations.some(({ hasUsers }) => hasUsers)) {
    const warned = (name: string, path: string) => {
      warnings.push({ code: "invalid_input", message: withoutUsers(name), path });
    };
    if (userSimulator !== undefined) warned("userSimulator", "options");
    const config = evaluations.find(({ usersIn }) => usersIn !== undefined)?.usersIn;
    if (config !== undefined) warned("user_simulator_config", config);
  }
  if (strict === true && warnings.length > 0) throw strictErrorOf(warnings);
  return warnings;
}

export const NO_USER = "no case has a simulated user";

/** The warning about settings of simulated users where there are none. */
export function withoutUsers(name: string): string {
  return `${NO_USER}, so \`${name}\` has no effect`;
}

/** Adds warnings about all results to the first. */
export function noteUnused([first]: readonly EvalSetResult[], unused: readonly Mistake[]): void {
  if (first !== undefined && unused.length > 0) first.warnings = [...(first.warnings ?? []), ...unused];
}

/** @throws {AdkMetricsError} for an evalset without a case, or with a user who cannot be played. */
export function checkCases({ evalCases }: EvalSet, options: AgentEvaluationOptions, path = "evalSet"): void {
  if (evalCases.length === 0) {
    throw new AdkMetricsError("invalid_input", "the evalset has no cases", { path });
  }
  checkScenarios(evalCases, runOptions(options).userSimulator);
}

/**
 * @throws {AdkMetricsError} for an evalset with a user that no model plays, in a case that is not left out, for settings that no
 * model can take, and for warnings about them if they are errors.
 */
export async function checkUsers(
  { evalCases }: EvalSet,
  options: AgentEvaluationOptions,
  leftOut?: ReadonlyMap<string, string>,
): Promise<void> {
  const { userSimulator } = runOptions(options);
  checkPlayer(evalCases, userSimulator, new Spending(options.budget), leftOut);
  await checkPlayed(evalCases, userSimulator, { leftOut, strict: options.strict });
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

/** Options for checking inputs only, without progress. */
function quiet({ onProgress: _onProgress, journal: _journal, ...options }: ScoringOptions): ScoringOptions {
  return options;
}

/** Scores what an agent did. */
export function score(
  plan: Plan,
  inferenceResults: readonly InferenceResult[],
  options: ScoringOptions,
): Promise<EvalSetResult> {
  return evaluateOneOf({ ...options, ...plan, actual: { inferenceResults } });
}

/** The options that say how to run; the simulated user asks the judge of the evaluation unless it has its own. */
export function runOptions(options: AgentEvaluationOptions): AgentRunOptions {
  const { parallelism, turnTimeoutMs, signal, judge, retry, timeoutMs, userSimulator } = options;
  const { onAgentProgress } = options;
  const simulator: UserSimulatorOptions = {
    ...definedProperties({ judge, retry, timeoutMs }),
    ...userSimulator,
  };
  return {
    userSimulator: simulator,
    ...definedProperties({ parallelism, turnTimeoutMs, signal }),
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
  gates: _gates,
  ...options
}: AgentEvaluationOptions): ScoringOptions {
  return options;
}
