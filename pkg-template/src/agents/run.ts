/**
 * Runs an agent on the cases of an evalset: each case and run in a session of its own, several at a time, each turn
 * within its time. What goes wrong in a case is its result, and the others continue.
 */

import { isObject, unexpected } from "../engine/values.js";
import { Stretch } from "../engine/steps.js";
import { readEvalSet } from "../adk-schema.js";
import { AdkMetricsError, isAdkMetricsError, strictErrorOf } from "../errors.js";
import type { Content, ConversationScenario, EvalCase, Invocation, SessionInput } from "../types.js";
import type { Conversation, Subject } from "./adapters.js";
import { untilAborted } from "../abort.js";
import { reasonOf } from "./failure.js";
import { TurnRecorder } from "./record.js";
import {
  checkScenario,
  checkSimulator,
  playerWarnings,
  simulatedUser,
  type UserSimulatorOptions,
} from "./simulator.js";
import { digestOf, type JournalSection } from "../journal/section.js";
import { hosted } from "../engine/hosted.js";
import type { Spending, SpendingState } from "./spending.js";
import { definedProperties } from "../lists.js";

/** How to run agents. */
export interface AgentRunOptions {
  /** Maximum number of conversations in progress at the same time. Default: 4. */
  parallelism?: number;
  /**
   * How long the agent may take for one turn, in milliseconds. Default: 300,000. A loop that never awaits anything cannot be
   * stopped: JavaScript has one thread.
   */
  turnTimeoutMs?: number;
  /** Who plays the user in cases with a conversation scenario. */
  userSimulator?: UserSimulatorOptions;
  /** Called whenever a run of a case is over; not for runs that are cancelled. What it throws ends the evaluation and passes through as it is. */
  onAgentProgress?(progress: AgentProgress): void;
  /** Stops the runs. Those that are done by then are scored without asking judges; the results are `cancelled`. */
  signal?: AbortSignal;
}

/** How far the runs of an agent are. */
export interface AgentProgress {
  /** Runs that are over. */
  done: number;
  /** Runs there will be: cases times runs. */
  total: number;
  /** The case whose run is over. */
  evalId: string;
  /** Whether the agent failed in it. */
  failed: boolean;
}

/** What an agent did in one run of a case: ADK's inference result, as `evaluate` reads it. */
export interface InferenceResult {
  evalSetId: string;
  evalCaseId: string;
  /** The turns; of a run that failed, those before, and the one in which it failed as far as that came. */
  inferences: Invocation[];
  sessionId: string;
  userId?: string;
  /** 1 if the agent finished, 2 if it failed, 0 if it was not run. */
  status: 0 | 1 | 2;
  /** Why it was not run. Or why it failed: in the first line the turn and the error, below it where it was thrown and what caused it. */
  errorMessage?: string;
  /** What was recorded otherwise than one might expect; `evaluate` passes it on. */
  warnings?: string[];
}

/** An evalset whose cases are run. */
interface RunnableSet {
  evalSetId: string;
  evalCases: readonly EvalCase[];
}

/** One run of one case. */
interface Task {
  /** The place of its result. */
  at: number;
  evalSetId: string;
  evalCase: EvalCase;
  /** Which run of the case it is, counted from 0. */
  run: number;
}

/** Maximum number of conversations in progress at the same time unless the options say otherwise. */
export const DEFAULT_PARALLELISM = 4;
/** How often every case is run, in code and on the command line, unless the caller says otherwise. */
export const DEFAULT_NUM_RUNS = 2;
/** How long an agent may take for a turn unless the options say otherwise. */
export const DEFAULT_TURN_TIMEOUT_MS = 300_000;

/** The runs of an evalset's cases. */
export interface Runs {
  /** How often each case is run. */
  numRuns: number;
  /** What simulated users may spend, and did; that of a case is the part of its id. */
  spending: Spending;
  /** Why cases are not run, by their ids. */
  leftOut?: ReadonlyMap<string, string> | undefined;
  /** Where runs are kept, and found. */
  journal?: JournalSection | undefined;
}

/**
 * Runs every case. The results come in the order of the cases, run by run.
 *
 * @throws {AdkMetricsError} `invalid_input` for numbers out of range. Whether users can be played is for {@link checkPlayer}.
 */
export async function runCases(
  subject: Subject,
  { evalSetId, evalCases }: RunnableSet,
  { numRuns, spending, leftOut, journal }: Runs,
  options: AgentRunOptions,
): Promise<InferenceResult[]> {
  const { parallelism = DEFAULT_PARALLELISM } = options;
  checkPositive(numRuns, "numRuns");
  checkPositive(parallelism, "parallelism");
  checkDuration(options.turnTimeoutMs);
  if (journal !== undefined) await beginRuns(journal, subject, { evalSetId, evalCases }, numRuns, options);
  const results: InferenceResult[] = [];
  const tasks: Task[] = [];
  for (let run = 0; run < numRuns; run += 1) {
    for (const [index, evalCase] of evalCases.entries()) {
      const at = run * evalCases.length + index;
      if (journal?.isOurs?.(evalCase.evalId, run) === false) continue;
      const errorMessage = leftOut?.get(evalCase.evalId);
      if (errorMessage === undefined) tasks.push({ at, evalSetId, evalCase, run });
      else results[at] = { ...emptyResult(evalSetId, evalCase), status: 0, errorMessage };
    }
  }
  const total = tasks.length;
  let next = 0;
  let done = 0;
  const stretch = new Stretch();
  const worker = async () => {
    while (next < total) {
      const task = tasks[next++] as Task;
      const result = await runOrFind(subject, task, options, spending.part(task.evalCase.evalId), journal);
      results[task.at] = result;
      // It was not begun, or is not over.
      if (wasCancelled(result)) continue;
      done += 1;
      options.onAgentProgress?.({ done, total, evalId: task.evalCase.evalId, failed: result.status === 2 });
      // An agent that answers at once leaves no turn to others.
      if (stretch.isOver) await stretch.leave();
    }
  };
  const release = subject.observe();
  try {
    await Promise.all(Array.from({ length: Math.min(parallelism, total) }, worker));
  } finally {
    // If a callback threw, the other workers are not to begin anything more.
    next = total;
    release();
  }
  await journal?.written();
  // Those of other processes are missing.
  return results.filter((result) => result !== undefined);
}

/** @throws {AdkMetricsError} `journal_failed` for the journal of other runs, or one that cannot be read. */
async function beginRuns(
  journal: JournalSection,
  { name }: Subject,
  evalSet: RunnableSet,
  numRuns: number,
  { userSimulator: { judge: _judge, retry: _retry, timeoutMs: _timeoutMs, ...userSimulator } = {} }: AgentRunOptions,
): Promise<void> {
  await journal.load();
  const digest = journal.evalSetDigest ?? (await digestOfCases(evalSet));
  journal.begin("runs", { evalSet: digest, agent: name, numRuns, userSimulator });
}

/** The digest of cases, by which a journal knows them. */
export async function digestOfCases({ evalSetId, evalCases }: RunnableSet): Promise<string> {
  return (await digestOf(new TextEncoder().encode(JSON.stringify({ evalSetId, evalCases })))) as string;
}

/** A run from the journal, or a new one, which the journal keeps if it was not cancelled. */
async function runOrFind(
  subject: Subject,
  task: Task,
  options: AgentRunOptions,
  spending: Spending,
  journal: JournalSection | undefined,
): Promise<InferenceResult> {
  if (journal === undefined) return await runCase(subject, task, options, spending);
  const { run, evalCase, evalSetId } = task;
  const { evalId } = evalCase;
  const found = journal.run(evalId, run);
  const own = spending.part(String(run));
  if (found !== undefined) {
    own.restore(found.spent as SpendingState);
    const result = found.result as InferenceResult;
    return { ...result, inferences: result.inferences.map(hosted) };
  }
  if (journal.isComplete) {
    const reason = journal.whyMissing?.(evalId, run);
    if (reason !== undefined) return { ...emptyResult(evalSetId, evalCase), status: 0, errorMessage: reason };
    const errorMessage = `no journal has run ${run + 1} of this case`;
    return { ...emptyResult(evalSetId, evalCase), status: 2, errorMessage };
  }
  journal.check();
  const began = performance.now();
  const result = await runCase(subject, task, options, own, journal);
  const ms = Math.round(performance.now() - began);
  if (!wasCancelled(result)) journal.keep({ type: "run", evalId, run, result, spent: own.state, ms }, true);
  return result;
}

/** @throws {AdkMetricsError} if a case says of its user what cannot be played. */
export function checkScenarios(evalCases: readonly EvalCase[], userSimulator: AgentRunOptions["userSimulator"]): void {
  for (const { evalId, conversationScenario } of evalCases.filter(isScenario)) {
    checkScenario(evalId, conversationScenario, userSimulator);
  }
}

/**
 * @param leftOut The cases that are not run: their users need no model.
 * @throws {AdkMetricsError} if no model can play the user of a case.
 */
export function checkPlayer(
  evalCases: readonly EvalCase[],
  userSimulator: AgentRunOptions["userSimulator"],
  spending: Spending,
  leftOut: ReadonlyMap<string, string> = new Map(),
): void {
  const isPlayed = (evalCase: EvalCase) => isScenario(evalCase) && !leftOut.has(evalCase.evalId);
  if (evalCases.some(isPlayed)) checkSimulator(userSimulator, spending);
}

/**
 * Finds out what is wrong with the settings of the model that plays the users of cases, before it is asked.
 *
 * @param known What is known of them besides.
 * @throws {AdkMetricsError} for a setting that no model can take, and for what results would warn of, if `strict`.
 */
export async function checkPlayed(
  evalCases: readonly EvalCase[],
  userSimulator: AgentRunOptions["userSimulator"] = {},
  {
    leftOut,
    strict,
    known = [],
  }: { leftOut?: ReadonlyMap<string, string> | undefined; strict?: boolean | undefined; known?: readonly string[] },
): Promise<void> {
  if (!evalCases.some((evalCase) => isScenario(evalCase) && leftOut?.has(evalCase.evalId) !== true)) return;
  const warnings = [...known, ...(await playerWarnings(userSimulator))];
  if (strict !== true || warnings.length === 0) return;
  throw strictErrorOf(warnings.map((message) => ({ code: "invalid_input", message })));
}

/** @throws {AdkMetricsError} `invalid_input` for anything but a whole number from 1 up. */
export function checkPositive(value: unknown, name: string): void {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return;
  throw unexpected("a whole number from 1 up", value, name);
}

function checkDuration(value: unknown): void {
  if (value === undefined || (typeof value === "number" && value > 0)) return;
  throw unexpected("milliseconds above 0", value, "turnTimeoutMs");
}

async function runCase(
  subject: Subject,
  task: Task,
  options: AgentRunOptions,
  spending: Spending,
  journal?: JournalSection,
): Promise<InferenceResult> {
  const { evalCase, evalSetId } = task;
  const result = emptyResult(evalSetId, evalCase);
  let turn: number | undefined;
  try {
    throwIfCancelled(options.signal);
    const conversation = await within(options, "opening a session", () => subject.open(sessionInputOf(evalCase)));
    result.sessionId = conversation.sessionId;
    result.userId = conversation.userId;
    turn = 1;
    for await (const message of userMessages(task, result.inferences, options, spending, journal)) {
      await runTurn(conversation, message, result, options);
      turn += 1;
    }
  } catch (error) {
    result.status = 2;
    result.errorMessage = reasonOf(error, turn);
  }
  return result;
}

function emptyResult(evalSetId: string, { evalId }: EvalCase): InferenceResult {
  return { evalSetId, evalCaseId: evalId, inferences: [], sessionId: "", status: 1 };
}

function sessionInputOf({ sessionInput }: EvalCase): SessionInput | undefined {
  return isObject(sessionInput) ? (sessionInput as SessionInput) : undefined;
}

/** What the user says, turn by turn. */
async function* userMessages(
  { evalCase, run }: Task,
  history: readonly Invocation[],
  options: AgentRunOptions,
  spending: Spending,
  journal: JournalSection | undefined,
): AsyncGenerator<Content> {
  if (isScenario(evalCase)) {
    const { evalId, conversationScenario } = evalCase;
    yield* simulatedUser({ evalId, run }, conversationScenario, history, options, spending, journal);
    return;
  }
  for (const { userContent } of evalCase.conversation ?? []) yield userContent;
}

type Scenario = EvalCase & { conversationScenario: ConversationScenario };

/** Whether the user of a case is simulated. */
export function isScenario(evalCase: EvalCase): evalCase is Scenario {
  return evalCase.conversationScenario !== undefined;
}

/** Runs a turn and adds it to those before, also what was done of one that fails. */
async function runTurn(
  conversation: Conversation,
  message: Content,
  result: InferenceResult,
  options: AgentRunOptions,
): Promise<void> {
  const history = result.inferences;
  const began = performance.now();
  const deadline = began + (options.turnTimeoutMs ?? DEFAULT_TURN_TIMEOUT_MS);
  const recorder = new TurnRecorder(message, began);
  const add = (invocation: Invocation) => {
    invocation.invocationId ??= `${conversation.sessionId}/${history.length}`;
    history.push(invocation);
    if (recorder.warnings.length > 0)
      result.warnings = [...new Set([...(result.warnings ?? []), ...recorder.warnings])];
  };
  try {
    await within(options, `turn ${history.length + 1}`, async (signal) => {
      const events = conversation.send(message, [...history], signal)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const step = await untilAborted(signal, () => events.next());
          if (step.done === true) return;
          const now = performance.now();
          recorder.add(step.value, now);
          // An agent that never waits for anything never lets a timer fire.
          if (now > deadline) await new Promise((resolve) => setTimeout(resolve));
        }
      } catch (error) {
        // Not awaited: an agent that hangs does not answer this either.
        void Promise.resolve(events.return?.()).catch(() => undefined);
        throw error;
      }
    });
    const invocation = recorder.finish(performance.now());
    checkReadable(invocation);
    add(invocation);
  } catch (error) {
    add(asFarAsReadable(recorder.partial(performance.now())));
    throw error;
  }
}

/**
 * Reads what an agent did as it is read to be scored: together with other cases, it would make them unreadable too.
 *
 * @throws {AdkMetricsError} if it is not an invocation, such as one with a misspelt key.
 */
function checkReadable(invocation: Invocation): void {
  try {
    readEvalSet({ evalSetId: "run", evalCases: [{ evalId: "run", conversation: [invocation] }] });
  } catch (cause) {
    if (!isAdkMetricsError(cause)) throw cause;
    const { code, message, help, path = "" } = cause;
    const [, within] = /conversation\[0\]\.?(.*)$/s.exec(path) ?? [];
    throw new AdkMetricsError(code, message, {
      ...(within ? { path: within } : {}),
      ...definedProperties({ help }),
    });
  }
}

/** A turn that failed, without what cannot be read. */
function asFarAsReadable(invocation: Invocation): Invocation {
  try {
    checkReadable(invocation);
    return invocation;
  } catch {
    const { userContent, creationTimestamp, duration } = invocation;
    return { userContent, creationTimestamp, duration } as Invocation;
  }
}

/** Does something of the agent's within the time of a turn; its signal aborts after that, and when the run is cancelled. */
async function within<T>(
  { turnTimeoutMs = DEFAULT_TURN_TIMEOUT_MS, signal }: AgentRunOptions,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = () => controller.abort(cancelled());
  const timer = Number.isFinite(turnTimeoutMs)
    ? setTimeout(
        () => {
          const message = `the agent did not finish ${what} within ${turnTimeoutMs} ms`;
          const help = "For slower agents, set turnTimeoutMs or --turn-timeout";
          controller.abort(new AdkMetricsError("timeout", message, { help }));
        },
        Math.min(turnTimeoutMs, 2 ** 31 - 1),
      )
    : undefined;
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted === true) cancel();
  try {
    return await untilAborted(controller.signal, () => work(controller.signal));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled();
}

function cancelled(): AdkMetricsError {
  return new AdkMetricsError("cancelled", "the evaluation was cancelled");
}

/** Whether a run was cancelled before its end, rather than failed. */
export function wasCancelled({ errorMessage }: InferenceResult): boolean {
  return errorMessage === reasonOf(cancelled());
}
