import { evalSetOf } from "./adk-schema.js";
import { call } from "./engine/call.js";
import { abortedSince, drive, type RunEnd } from "./run/run.js";
import { batchHost, batchOf } from "./run/batching.js";
import { contradictions, failuresIn, failureWarnings } from "./run/failed-metrics.js";
import { noteScores } from "./run/ranges.js";
import { type MissingVerdicts, missingVerdictsIn, missingVerdictsWarnings } from "./run/missing-verdicts.js";
import { negativeAmounts, recordedErrors, recordedText } from "./run/recorded.js";
import { type Silence, silenceIn, silenceWarnings } from "./run/silence.js";
import { mayHaveRubrics, unscorableWarning } from "./run/unscorable.js";
import { unusedOptions, unusedPrices } from "./run/without-effect.js";
import { closeSession, foreseenIn, isOpen, openSession, type RunPlan, type Session } from "./run/session.js";
import { reading } from "./engine/values.js";
import { inTurns, type Steps, Stretch } from "./engine/steps.js";
import { digestOf, type JournalSection, sectionOf } from "./journal/section.js";
import { emptyBudget, judgeBudget } from "./run/budget.js";
import type { EngineError, RunHeader } from "./generated/contract.js";
import { advisoryOf, decidedStatus } from "./advisory.js";
import type { NoOptions } from "./known-options.js";
import { AdkMetricsError, strictErrorOf, warningOf } from "./errors.js";
import { copyOf, type PlanOfBytes, planInSteps, type ReadEvalSet } from "./request-plan.js";
import type {
  EvalCaseResult,
  EvalSet,
  EvalSetResult,
  EvaluateRequest,
  Input,
  JudgeProgress,
  Mistake,
} from "./types.js";

/**
 * Scores what an agent did against an evalset.
 *
 * Runs are matched with cases by eval id; a repeated id is another run of its case. A case without a run is FAILED with the
 * reason, and a metric that cannot be computed is NOT_EVALUATED with the reason; the others continue. Results are in the
 * order of the evalset.
 *
 * @throws {AdkMetricsError} if an input cannot be used. What `onProgress` throws passes through.
 */
export async function evaluate(request: EvaluateRequest, options?: NoOptions): Promise<EvalSetResult> {
  const given = reading("request", () => copyOf(request, options));
  if (batchOf(given) !== undefined) return await batchHost().evaluate(given);
  // Not by resultOf: a stack has ten frames, and this is the one that users know.
  for (const batches = evaluateBatches(given); ;) {
    const next = await batches.next();
    if (next.done === true) return next.value;
  }
}

/** As {@link evaluate}, whatever the request says of batches. */
export async function evaluateAlone(request: EvaluateRequest): Promise<EvalSetResult> {
  return await resultOf(evaluateBatches(request));
}

/** As {@link evaluate}, with options that are for other evaluations as well: not all need have an effect in each. */
export async function evaluateOneOf(request: EvaluateRequest): Promise<EvalSetResult> {
  return await resultOf(evaluateBatches(request, undefined, "one of many"));
}

/** As {@link evaluate}, giving results when they are there. */
export function resultsInBatches(request: EvaluateRequest): AsyncGenerator<EvalCaseResult[], EvalSetResult> {
  return evaluateBatches(request);
}

async function resultOf(batches: AsyncGenerator<EvalCaseResult[], EvalSetResult>): Promise<EvalSetResult> {
  for (;;) {
    const next = await batches.next();
    if (next.done === true) return next.value;
  }
}

/** The warnings about an evaluation as a whole, from all of its parts. */
export interface PartNotes {
  /** How silent the agent was, if it said nothing. */
  silence: Silence | undefined;
  /** In how many case results custom metrics could not be computed, and what happened first. */
  failures: ReadonlyMap<string, { cases: number; first: string }>;
  /** In how many case results judged metrics have no verdict, and why. */
  missing: ReadonlyMap<string, MissingVerdicts>;
  /** Whether the evalset is what is scored. */
  isItself: boolean;
  unused: Mistake | undefined;
  /** Why metrics can score none of the cases, by name; absent without cases. */
  unscorable: ReadonlyMap<string, string> | undefined;
}

/**
 * Scores a part of a larger evaluation. If it is cancelled, the results are those of the cases that were done by then.
 *
 * @param note Takes what only the whole can say.
 */
export async function evaluatePart(request: EvaluateRequest, note: (notes: PartNotes) => void): Promise<EvalSetResult> {
  const done = new Set<EvalCaseResult>();
  const batches = evaluateBatches(request, undefined, note);
  for (;;) {
    const next = await batches.next();
    if (next.done === true) {
      const set = next.value;
      if (set.cancelled === true) set.evalCaseResults = set.evalCaseResults.filter((result) => done.has(result));
      return set;
    }
    if (request.signal?.aborted !== true) for (const result of next.value) done.add(result);
  }
}

/** An evaluation in which nothing was found wrong. */
export interface CheckedEvaluation {
  /** The evalset, as {@link readEvalSet} gives it. */
  readonly evalSet: EvalSet;
  /** The metrics that pass or fail, by name. */
  readonly metrics: readonly string[];
  /** For each case why each of these metrics cannot score it, whatever the agent does; empty for one that may. If asked for. */
  readonly unscorable: readonly (readonly string[])[];
  /** What may surprise in inputs and judges. */
  readonly warnings: readonly Mistake[];
  /** Whether any metric asks a judge. */
  readonly asksJudges: boolean;
  /** The names whose prices count. */
  readonly priced: readonly string[];
  /** The warning about options for judges if no model is asked, not even to play a user. */
  readonly unused: Mistake | undefined;
}

/** An evaluation in which nothing was found wrong, before it is known what the agent did. To be closed. */
export interface OpenEvaluation extends CheckedEvaluation {
  /** Scores what the agent did, by the same evalset, which is not read again. */
  evaluate(request: Omit<EvaluateRequest, "evalSet">): Promise<EvalSetResult>;
  close(): void;
}

type RequestToCheck = Omit<EvaluateRequest, "actual"> & Partial<Pick<EvaluateRequest, "actual">>;

/**
 * Finds out what is wrong with an evaluation before there is anything to score; nothing is scored.
 *
 * @param foresees Whether to find out what cannot be scored.
 * @throws {AdkMetricsError} if an input cannot be used, or a judge is missing.
 */
export async function checkEvaluation(request: RequestToCheck, foresees = false): Promise<CheckedEvaluation> {
  const evaluation = await openEvaluation(request, foresees);
  evaluation.close();
  return evaluation;
}

/** As {@link readEvalSet}, leaving the thread to others on the way. */
export async function readEvalSetInTurns(evalSet: Input<EvalSet>, evalSetName: string): Promise<EvalSet> {
  return (await checkEvaluation({ evalSet, evalSetName, criteria: {}, countOnly: true })).evalSet;
}

/** As {@link checkEvaluation}, for an evaluation that is to follow. */
export async function openEvaluation(request: RequestToCheck, foresees = false): Promise<OpenEvaluation> {
  const stretch = new Stretch();
  const given = reading("request", () => copyOf({ actual: { inferenceResults: [] }, ...request }));
  const plan = await inTurns(planInSteps(given), stretch);
  for (;;) {
    const session = (await openSession(plan, stretch)) as Session;
    try {
      const { warnings, priced } = foreseenIn(plan, session);
      if (given.strict === true && warnings.length > 0) throw strictError(warnings, plan);
      const known = advisoryOf(given.advisory ?? [], namesOf(session.header.metrics)).warnings;
      if (given.strict === true && known.length > 0) throw strictErrorOf(known);
      const evalSet = await inTurns(evalSetInSteps(plan, session), stretch);
      const count = foresees ? (evalSet?.evalCases.length ?? 0) : 0;
      const unscorable = await inTurns(unscorableInSteps(plan, session, count), stretch);
      if (evalSet === undefined || unscorable === undefined) {
        closeSession(session);
        continue;
      }
      return {
        evalSet,
        metrics: namesOf(session.header.metrics),
        priced,
        asksJudges: session.header.metrics.some(({ judge }) => judge !== undefined),
        unscorable,
        warnings: [...warnings.map((warning) => warningOf(warning, plan)), ...known],
        unused: evalSet.evalCases.some(({ conversationScenario }) => conversationScenario !== undefined)
          ? undefined
          : unusedOptions(given, session.header.metrics),
        evaluate: (next) =>
          resultOf(evaluateBatches({ ...next, evalSet: given.evalSet }, { bytes: plan.evalSet, session })),
        close: () => closeSession(session),
      };
    } catch (error) {
      closeSession(session);
      throw error;
    }
  }
}

/** The evalset of a run as {@link readEvalSet} gives it; nothing if the engine was restarted on the way. */
function* evalSetInSteps(plan: RunPlan, session: Session): Steps<EvalSet | undefined> {
  const set = evalSetOf(call(plan, () => session.run.evalSetToJs()) as string);
  while (isOpen(session)) {
    const cases = call(plan, () => session.run.casesToJs(set.evalCases.length));
    const { evalCases } = evalSetOf(`{"evalCases":${cases}}`);
    if (evalCases.length === 0) return set;
    set.evalCases.push(...evalCases);
    yield;
  }
  return undefined;
}

/** Why each metric that passes or fails cannot score each case; nothing if the engine was restarted meanwhile. */
function* unscorableInSteps(plan: RunPlan, session: Session, count: number): Steps<string[][] | undefined> {
  const { metrics } = session.header;
  const spent = emptyBudget(judgeBudget(plan.options));
  const none = spent === undefined ? "" : `${spent}, so no judge can be asked`;
  const all: string[][] = [];
  while (all.length < count) {
    if (!isOpen(session)) return undefined;
    const reasons = call(plan, () => session.run.unscorable(all.length));
    const known = reasons.map((why, at) => (metrics[at]?.judge === undefined ? why : why || none));
    all.push(known.filter((_, at) => passesOrFails(metrics[at])));
    yield;
  }
  return all;
}

/** The metrics that pass or fail. */
function namesOf(metrics: RunHeader["metrics"]): string[] {
  return metrics.filter(passesOrFails).map(({ metricName }) => metricName);
}

function passesOrFails(metric: { threshold?: number } | undefined): boolean {
  return metric?.threshold !== undefined;
}

/** What an evaluation belongs to: nothing; others, which warn themselves of what has no effect; or a whole that gets the warnings. */
type Belonging = "alone" | "one of many" | ((notes: PartNotes) => void);

/** Case results in batches: a step of an async generator for each of 10,000 would cost more than scoring them. */
async function* evaluateBatches(
  request: EvaluateRequest,
  readBefore?: ReadEvalSet,
  belonging: Belonging = readBefore === undefined ? "alone" : "one of many",
): AsyncGenerator<EvalCaseResult[], EvalSetResult> {
  const given = reading("request", () => copyOf(request));
  const journal = sectionOf(given.journal);
  let isDone = false;
  try {
    const set = yield* evaluateWith(given, journal, readBefore, belonging);
    isDone = set.cancelled !== true;
    return set;
  } finally {
    if (!isDone) journal?.abandon();
  }
}

async function* evaluateWith(
  given: EvaluateRequest,
  journal: JournalSection | undefined,
  readBefore: ReadEvalSet | undefined,
  belonging: Belonging,
): AsyncGenerator<EvalCaseResult[], EvalSetResult> {
  const stretch = new Stretch();
  // Without one, an evaluation begins at once.
  if (journal !== undefined) await journal.load();
  const set = emptySet(given, journal?.began ?? Date.now());
  // Not by inTurns, for the same reason as in evaluate.
  const isCancelled = abortedSince(given.signal);
  // A journal identifies inputs by all of their content, and `strict` reports every mistake.
  const purpose = journal === undefined && given.strict !== true ? "scoring" : "all";
  const planning = planInSteps(given, purpose, readBefore);
  let planned = planning.next();
  for (; planned.done !== true; planned = planning.next()) {
    if (!stretch.isOver) continue;
    await stretch.leave();
    if (isCancelled()) return { ...set, cancelled: true };
  }
  const plan = planned.value;
  if (journal !== undefined) plan.journal = { section: journal, inputs: await journaledInputs(given, plan, journal) };
  let total = 0;
  let unused: Mistake | undefined;
  let unscorable: ReadonlyMap<string, string> | undefined;
  let judge: JudgeProgress | undefined;
  const keys: number[] = [];
  const output = drive(plan, stretch);
  try {
    for (;;) {
      const next = await output.next();
      if (next.done === true) {
        putInOrder(set.evalCaseResults, keys);
        noteEnd(set, next.value, plan, { unused, unscorable }, belonging);
        return set;
      }
      if ("judge" in next.value) {
        judge = next.value.judge;
        given.onProgress?.({ done: set.evalCaseResults.length, total, judge });
        continue;
      }
      if ("header" in next.value) {
        const { header } = next.value;
        total = header.total;
        const found = unusedOptions(given, header.metrics) ?? unusedPrices(given.budget, next.value.priced);
        unused = total > 0 ? found : undefined;
        // What is one of many was looked at before, with the agent.
        if (total > 0 && belonging !== "one of many") {
          const none = (await inTurns(next.value.unscorable(), stretch, isCancelled)) ?? [];
          unscorable = new Map([...none].filter(([name]) => !mayHaveRubrics(name, plan.actual)));
        }
        const ofWhole = typeof belonging === "function" ? undefined : unscorable;
        const known = { ...next.value, unscorable: ofWhole, unused: belonging === "one of many" ? undefined : unused };
        noteHeader(set, known, given, plan, typeof belonging !== "function");
        continue;
      }
      const results = next.value.cases.map(({ result }) => result);
      addResults(set, results);
      for (const { key } of next.value.cases) keys.push(key);
      yield results;
      const done = set.evalCaseResults.length;
      given.onProgress?.(judge === undefined ? { done, total } : { done, total, judge });
    }
  } finally {
    await output.return({ cancelled: true });
  }
}

/** Adds case results, which metrics that only advise do not decide. */
function addResults(set: EvalSetResult, results: readonly EvalCaseResult[]): void {
  if (set.advisory !== undefined) {
    for (const result of results) result.finalEvalStatus = decidedStatus(result, set);
  }
  for (const result of results) set.evalCaseResults.push(result);
}

/** Notes how the run ended, who judged, and what to know of the results as a whole. */
function noteEnd(
  set: EvalSetResult,
  { cancelled, judges }: RunEnd,
  plan: PlanOfBytes,
  { unused, unscorable }: Pick<PartNotes, "unused" | "unscorable">,
  belonging: Belonging,
): void {
  if (cancelled) set.cancelled = true;
  if (judges !== undefined) noteJudges(set, judges, plan);
  noteScores(set, plan.registry);
  const [silence, failures, missing] = cancelled
    ? [undefined, new Map(), new Map()]
    : [silenceIn(set), failuresIn(set, plan), missingVerdictsIn(set)];
  // The warnings about metrics that can score no case are not repeated.
  for (const name of unscorable?.keys() ?? []) {
    failures.delete(name);
    missing.delete(name);
  }
  if (typeof belonging === "function") {
    belonging({ silence, failures, missing, isItself: plan.isItself, unused, unscorable });
    return;
  }
  const text = cancelled ? "" : recordedText(plan.actual);
  const recorded = recordedErrors(text);
  const more = [
    // Who knows of an error need not guess why nothing was said.
    ...(recorded.length > 0 ? recorded : silenceWarnings(silence)),
    ...negativeAmounts(text, set),
    ...failureWarnings(failures, set.evalCaseResults.length),
    ...contradictions(set, plan),
    ...missingVerdictsWarnings(missing, set.evalCaseResults.length),
    ...(unused === undefined || belonging === "one of many" ? [] : [unused]),
  ];
  if (more.length > 0) set.warnings = [...(set.warnings ?? []), ...more];
}

/** Results before anything is scored. */
function emptySet({ dialect = "adk-python" }: EvaluateRequest, beganMs: number): EvalSetResult {
  return {
    evalSetResultId: "",
    evalSetResultName: "",
    evalSetId: "",
    evalCaseResults: [],
    creationTimestamp: beganMs / 1000,
    engineVersion: "",
    referenceVersion: "",
    dialect,
  };
}

/** Notes what is known once the inputs are read: what is scored, how, and what may be surprising. */
export function noteHeader(
  set: EvalSetResult,
  {
    header,
    warnings,
    unscorable = new Map(),
    unused,
  }: { header: RunHeader; warnings: readonly EngineError[] } & Pick<PartNotes, "unused" | "unscorable">,
  { strict, advisory }: EvaluateRequest,
  plan: PlanOfBytes,
  isWhole: boolean,
): void {
  const metrics = namesOf(header.metrics);
  const ofInputs = isWhole && plan.isItself && header.total > 0 && metrics.length > 0 ? [ITSELF] : [];
  if (plan.otherSet !== undefined && header.total > 0) ofInputs.push(otherSetWarning(plan.otherSet));
  ofInputs.push(...Array.from(unscorable, ([name, why]) => unscorableWarning(name, why)));
  const all = [...warnings, ...ofInputs, ...(unused === undefined ? [] : [unused])];
  if (strict === true && all.length > 0) throw strictError(all, plan);
  set.engineVersion = header.engineVersion;
  set.referenceVersion = header.referenceVersion;
  set.evalSetId = header.evalSetId;
  // It may continue one that was left.
  if (plan.journal !== undefined) set.creationTimestamp = plan.journal.section.began / 1000;
  Object.assign(set, namedResult(header.evalSetId, set.creationTimestamp));
  const noted = [...header.warnings, ...ofInputs];
  if (noted.length > 0) set.warnings = noted.map((warning) => warningOf(warning, plan));
  if (advisory !== undefined) noteAdvisory(set, advisory, metrics, strict);
}

/** What google-adk calls results that were begun at a time in seconds. */
export function namedResult(
  evalSetId: string,
  creationTimestamp: number,
): Pick<EvalSetResult, "evalSetResultId" | "evalSetResultName" | "creationTimestamp"> {
  const evalSetResultId = `${evalSetId}_${creationTimestamp}`;
  return { evalSetResultId, evalSetResultName: evalSetResultId.replaceAll("/", "_"), creationTimestamp };
}

/** What of a request decides the results, as a journal knows it by. What an agent did is in the journal itself. */
async function journaledInputs(
  { evalIds, advisory, dialect }: EvaluateRequest,
  { evalSet, actual, config }: PlanOfBytes,
  { hasRuns, selected = { evalIds } }: JournalSection,
): Promise<Readonly<Record<string, unknown>>> {
  return {
    evalSet: await digestOf(evalSet),
    config: await digestOf(config),
    dialect,
    advisory,
    ...(hasRuns ? {} : { actual: await digestOf(actual), evalIds: selected.evalIds }),
  };
}

/** The warning about an evalset that is scored by itself. */
export const ITSELF: EngineError = {
  code: "invalid_input",
  message: "the evalset is compared with itself, so most metrics cannot fail",
  path: "actual",
  help: "Pass what the agent actually did",
};

/** The warning about actual runs that name another evalset. */
function otherSetWarning([evalSet, actual]: NonNullable<PlanOfBytes["otherSet"]>): EngineError {
  return {
    code: "invalid_input",
    message: `the actual runs are of the evalset ${JSON.stringify(actual)}, not of ${JSON.stringify(evalSet)}`,
    path: "actual",
    help: "Cases and runs are matched by eval id alone: check that these are what the agent did for this evalset",
  };
}

/** Puts results, which come as they are done, in the order of the evalset; each has a key that tells its place. */
function putInOrder(results: EvalCaseResult[], keys: readonly number[]): void {
  if (keys.every((key, at) => at === 0 || (keys[at - 1] as number) <= key)) return;
  const places = Array.from(keys, (_, at) => at).sort((a, b) => (keys[a] as number) - (keys[b] as number));
  const ordered = places.map((place) => results[place] as EvalCaseResult);
  for (const [at, result] of ordered.entries()) results[at] = result;
}

/** Says which metrics decide nothing. */
function noteAdvisory(set: EvalSetResult, wanted: readonly string[], metrics: readonly string[], strict = false): void {
  const { advisory, warnings } = advisoryOf(wanted, metrics);
  if (strict && warnings.length > 0) throw strictErrorOf(warnings);
  if (advisory.length > 0) set.advisory = advisory;
  if (warnings.length > 0) set.warnings = [...(set.warnings ?? []), ...warnings];
}

/** Says who judged, and what that took. */
function noteJudges(
  set: EvalSetResult,
  { stamps, progress, unpriced, warnings }: NonNullable<RunEnd["judges"]>,
  plan: RunPlan,
) {
  set.judges = stamps;
  // What no result waits for any more is given up when the run ends.
  const { inFlight, queued, leftMs: _leftMs, lastFailure: _lastFailure, ...usage } = progress;
  const [failed, lost, asked] = [usage.failed + inFlight, usage.lost + inFlight, usage.asked - queued];
  set.judgeUsage = { ...usage, failed, lost, asked, ...(unpriced.length === 0 ? {} : { unpriced }) };
  if (warnings.length > 0) {
    set.warnings = [...(set.warnings ?? []), ...warnings.map((warning) => warningOf(warning, plan))];
  }
}

/** Warnings as an error; they are its `cause`. */
function strictError(warnings: readonly EngineError[], plan: RunPlan): AdkMetricsError {
  return strictErrorOf(warnings.map((warning) => warningOf(warning, plan)));
}
