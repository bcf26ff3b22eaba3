import { recordedFor } from "../agents/record.js";
import { runCases } from "../agents/run.js";
import { Spending } from "../agents/spending.js";
import type { Subject } from "../agents/adapters.js";
import { AdkMetricsError } from "../errors.js";
import { evaluateOneOf, openEvaluation } from "../evaluate.js";
import { optionsOf } from "../known-options.js";
import { JournalSection } from "../journal/section.js";
import { count } from "../report/text.js";
import { nobody, standInsOf } from "../run/journaled.js";
import type { EvalSetResult, EvaluatorOptions, JournalEntry } from "../types.js";
import { type BenchOptions, leftOutOf, runningOf, scoringOf } from "./bench.js";
import { OPEN_STATES, type OpenQueue, openQueue } from "./connect.js";
import { begunIn, entriesOf } from "./journal.js";
import { jobsOf, queuedInput, type QueueInput, storedPlan, type StoredPlan } from "./plan.js";
import { budgetIn, spentOf, spentText } from "./purse.js";
import type { CollectOptions, QueueConnection } from "./types.js";

/** How many jobs are read at a time. */
const JOBS_AT_ONCE = 500;

const COLLECT_OPTIONS = ["registry", "prompts", "explain", "partial"] as const;

/** What workers left of an evalset. */
export interface Collected {
  input: QueueInput;
  /** In the order of the cases. */
  entries: JournalEntry[];
  /** Why a run of a case, or what was asked about it, is missing. */
  whyMissing(evalId: string, run?: number): string | undefined;
}

export async function collectFrom(
  connection: QueueConnection | string,
  options: CollectOptions,
): Promise<EvalSetResult[]> {
  const { partial = false, ...scoring } = optionsOf(options, COLLECT_OPTIONS);
  const open = await openQueue(connection);
  try {
    const { prices } = await budgetIn(open.store);
    const results: EvalSetResult[] = [];
    const { parts } = await gathered(open, partial);
    for (const [at, part] of parts.entries()) {
      results.push(await resultOf(part, at, { ...scoring, ...(prices === undefined ? {} : { budget: { prices } }) }));
    }
    return results;
  } finally {
    await open.close();
  }
}

/** What workers left. @param isPartial Whether runs may be missing. */
export async function gathered(
  { queue, store, name }: OpenQueue,
  isPartial: boolean,
): Promise<{ plan: StoredPlan; parts: Collected[] }> {
  const plan = await storedPlan(store, name);
  const [open, failed] = [await queue.getJobs(OPEN_STATES), await queue.getFailed()];
  const spent = spentText(await spentOf(store), await budgetIn(store));
  if (open.length > 0 && !isPartial && spent === undefined) {
    throw new AdkMetricsError("queue_failed", `${count(open.length, "run")} are not done yet`, {
      help: "Wait for the workers, start more of them, or write the finished results: `partial`, --partial",
    });
  }
  const reasons = new Map(open.map(({ id }) => [id, spent ?? "no worker finished this run"]));
  for (const { id, failedReason = "" } of failed) reasons.set(id, `the run failed permanently: ${failedReason}`);
  const parts: Collected[] = [];
  for (const [at, stored] of plan.evalSets.entries()) {
    const input = queuedInput(stored);
    const entries: JournalEntry[] = await begunIn(store, at);
    if (entries.length === 0) {
      throw new AdkMetricsError("queue_failed", `no worker has started with ${stored.evalSet}`, {
        help: "Start a worker",
      });
    }
    const missing = new Map<string, string>();
    const jobs = jobsOf(plan.id, at, input);
    for (const { id, data } of jobs) {
      const reason = reasons.get(id);
      if (reason === undefined) continue;
      missing.set(JSON.stringify([data.evalId, data.run]), reason);
      missing.set(JSON.stringify([data.evalId, undefined]), reason);
    }
    for (let first = 0; first < jobs.length; first += JOBS_AT_ONCE) {
      const some = jobs.slice(first, first + JOBS_AT_ONCE);
      for (const own of await Promise.all(some.map(({ id }) => entriesOf(store, id)))) entries.push(...own);
    }
    parts.push({ input, entries, whyMissing: (evalId, run) => missing.get(JSON.stringify([evalId, run])) });
  }
  return { plan, parts };
}

async function resultOf(
  { input, entries, whyMissing }: Collected,
  at: number,
  { explain, ...options }: BenchOptions & Pick<EvaluatorOptions, "explain">,
): Promise<EvalSetResult> {
  const section = new JournalSection({ read: async () => entries, append: async () => {} }, `${at}/0`, true);
  section.whyMissing = whyMissing;
  await section.load();
  const scoring = {
    ...scoringOf(input, options),
    ...standInsOf(entries),
    ...(explain && { explain }),
    journal: section,
  };
  if (input.actual !== undefined) return await evaluateOneOf({ ...scoring, actual: input.actual });
  const { agent, numRuns = 1 } = section.inputsOf("runs") as { agent?: string; numRuns?: number };
  const asked = { ...options, judge: nobody };
  const open = await openEvaluation(scoringOf(input, asked), true);
  try {
    const { leftOut, warnings } = await leftOutOf(open, input, asked);
    const spending = new Spending(options.budget);
    const plan = { numRuns, spending, leftOut, journal: section };
    const runs = await runCases(ranBefore(agent), input.cases, plan, runningOf(input, {}));
    const result = await evaluateOneOf({
      ...scoring,
      actual: { inferenceResults: recordedFor(runs, scoring.dialect) },
    });
    if (warnings.length > 0) result.warnings = [...warnings, ...(result.warnings ?? [])];
    spending.noteIn(result);
    return result;
  } finally {
    open.close();
  }
}

/** An agent whose runs are there. */
function ranBefore(name = ""): Subject {
  return { name, open: () => Promise.reject(new Error("nothing is run")), observe: () => () => {} };
}
