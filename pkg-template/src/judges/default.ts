import { AdkMetricsError } from "../errors.js";
import type { Judge } from "../types.js";
import { checkJudge, identityOf, type JudgeIdentity } from "./judge.js";

/** What asks instead of each judge of an evaluation, by its signal. */
export const standIns = /* @__PURE__ */ new WeakMap<AbortSignal, (judge: Judge) => Judge>();

let defaultJudge: Judge | undefined;
let ofEnvironment: ((model: string) => Judge) | undefined;
let fixedOfEnvironment: (() => Judge | undefined) | undefined;

/**
 * Sets the judge of all evaluations that are not given one; `undefined` takes it back.
 *
 * @throws {AdkMetricsError} `invalid_input` if it is not a function.
 */
export function setDefaultJudge(judge: Judge | undefined): void {
  if (judge !== undefined) checkJudge(judge);
  defaultJudge = judge;
}

/** What is known of the judge of an evaluation, whatever model a criterion names: nothing if that decides who is asked. */
export function judgeIdentityOf(options: { judge?: Judge }): JudgeIdentity {
  const { judge = defaultJudge ?? fixedOfEnvironment?.() } = options;
  return judge === undefined ? {} : identityOf(judge);
}

/**
 * Says how the runtime's environment makes a judge for a model; the entries for Node do this once.
 *
 * @param fixed The judge that it makes for every model, if that is a panel or a recording.
 */
export function provideEnvironment(judgeFor: (model: string) => Judge, fixed?: () => Judge | undefined): void {
  if (ofEnvironment !== undefined) return;
  ofEnvironment = judgeFor;
  fixedOfEnvironment = fixed;
}

/**
 * The judge of an evaluation: the one of the options, else the one of {@link setDefaultJudge}, else one made from the
 * environment.
 *
 * @param model The judge model that the criterion names.
 * @throws {AdkMetricsError} `judge_required` if there is none.
 */
export function judgeOf(options: { judge?: Judge; signal?: AbortSignal }, model: string): Judge {
  const { judge = defaultJudge, signal } = options;
  if (judge !== undefined) checkJudge(judge);
  const asked = judge ?? (ofEnvironment ?? noJudge)(model);
  return (signal && standIns.get(signal)?.(asked)) ?? asked;
}

function noJudge(model: string): never {
  throw judgeRequired(model);
}

/** The error for a metric without a judge. */
export function judgeRequired(model: string, variables?: string): AdkMetricsError {
  const otherwise = variables === undefined ? "" : `, or set ${variables}`;
  return new AdkMetricsError("judge_required", `there is no judge to ask ${model}`, {
    help: `Pass one as \`judge\`, such as geminiJudge({ apiKey }), or to setDefaultJudge${otherwise}`,
  });
}
