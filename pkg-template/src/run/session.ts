/** Runs of the engine: reading what they are made of, opening and closing them. */

import type { EvalRun, EvalRunReader } from "../generated/adk_metrics.js";
import type { EngineError, RunHeader } from "../generated/contract.js";
import type { EvaluatorOptions, MetricRegistry } from "../types.js";
import { call, type ErrorContext } from "../engine/call.js";
import { type Engine, engineGeneration, keep, release } from "../engine/instance.js";
import type { Stretch } from "../engine/steps.js";
import type { Sources } from "../engine/turn.js";
import type { JournalSection } from "../journal/section.js";
import { emptyBudget, judgeBudget } from "./budget.js";
import { Judges } from "./judges.js";
import { otherQuestions } from "./questions.js";
import { thresholdWarnings } from "./ranges.js";
import { withNearestId } from "./unknown-case.js";
import { withoutEffect } from "./without-effect.js";

/** A run before it is started: everything needed to start it, and to start it again. */
export interface RunPlan extends ErrorContext {
  /** Begins to read what the engine's run is made of. Called again if the engine had to be restarted. */
  read(engine: Engine): EvalRunReader;
  sources: Sources;
  options: EvaluatorOptions;
  registry: MetricRegistry;
  /** The cases; all if absent. */
  evalIds?: readonly string[] | undefined;
  /** The ids in the evalset, for those who name another. */
  knownIds?(): string[];
  /** When its time began to count. */
  began: number;
  /** Where what it pays for is kept, and what of its inputs that is known by. */
  journal?: { section: JournalSection; inputs: Readonly<Record<string, unknown>> } | undefined;
  /** The reasons that custom metrics gave for having no score. */
  declined?: Set<string>;
}

/** A run that is open in the engine. */
export interface Session {
  run: EvalRun;
  header: RunHeader;
  generation: number;
  kept: WeakRef<object>;
}

/**
 * Reads the inputs and makes a run of them. Leaves the thread to others on the way, who may restart the engine.
 *
 * @returns Nothing if it was cancelled meanwhile.
 */
export async function openSession(
  plan: RunPlan,
  stretch: Stretch,
  isCancelled = (): boolean => false,
): Promise<Session | undefined> {
  for (;;) {
    const session = await readSession(plan, stretch, isCancelled);
    if (session === undefined) {
      if (isCancelled()) return undefined;
    } else {
      if (session.generation === engineGeneration()) {
        const other = await otherQuestions(plan, session, stretch, isCancelled);
        if (other !== undefined) session.header.warnings.push(other);
        const { warnings, metrics } = session.header;
        warnings.push(...withoutEffect(plan.options, metrics), ...thresholdWarnings(plan.registry, metrics));
        if (isOpen(session)) return session;
      }
      release(session.kept);
    }
  }
}

/** As {@link openSession}; nothing also if the engine was restarted meanwhile. */
async function readSession(plan: RunPlan, stretch: Stretch, isCancelled: () => boolean): Promise<Session | undefined> {
  const reader = call(plan, (engine) => plan.read(engine));
  const generation = engineGeneration();
  const kept = keep(reader);
  try {
    for (;;) {
      const session = call(plan, () => stepOf(reader, plan.began));
      if (session !== undefined) return session;
      if (!stretch.isOver) continue;
      await stretch.leave();
      if (isCancelled() || generation !== engineGeneration()) return undefined;
    }
  } catch (error) {
    throw withNearestId(error, plan);
  } finally {
    if (generation === engineGeneration()) reader.free();
    release(kept);
  }
}

/** Reads on. The run, once everything is read. */
function stepOf(reader: EvalRunReader, began: number): Session | undefined {
  const run = reader.step();
  return run === undefined ? undefined : sessionOf(run, began);
}

/** Starts the time of a run; the engine is kept as it is until the session is closed. */
export function sessionOf(run: EvalRun, began: number): Session {
  run.start(began);
  return { run, header: run.header(), generation: engineGeneration(), kept: keep(run) };
}

/** Whether a session is still there: an engine that is restarted takes it along. */
export function isOpen({ generation }: Session): boolean {
  return generation === engineGeneration();
}

export function closeSession({ run, generation, kept }: Session): void {
  if (generation === engineGeneration()) run.free();
  release(kept);
}

/** Says whether a metric may ask a judge: whether the budget lets it, and it can score one of the selected cases. */
export function maySomebodyBeAsked(plan: RunPlan, { run }: Session): (metric: number) => boolean {
  const { evalIds } = plan;
  const selected = evalIds && new Set(evalIds);
  return (metric) => {
    if (emptyBudget(judgeBudget(plan.options)) !== undefined) return false;
    for (let first = 0; ;) {
      const text = call(plan, () => run.casesToJs(first));
      const cases = JSON.parse(text) as { evalId?: string }[];
      // A run of one conversation has a case without an id, which may always be scored.
      if (first === 0 && (cases.length === 0 || cases[0]?.evalId === undefined)) return true;
      if (cases.length === 0) return false;
      for (const [at, { evalId = "" }] of cases.entries()) {
        if (selected?.has(evalId) === false) continue;
        if (!call(plan, () => run.unscorable(first + at))[metric]) return true;
      }
      first += cases.length;
    }
  };
}

/** What may surprise in the inputs and the judges of a run, in which nothing is scored yet; and the names whose prices count. */
export function foreseenIn(
  plan: RunPlan,
  session: Session,
): { warnings: readonly EngineError[]; priced: readonly string[] } {
  const { run, header } = session;
  const judges = new Judges(plan.options, header, maySomebodyBeAsked(plan, session));
  call(plan, () => judges.attach(run));
  return { warnings: [...header.warnings, ...judges.warnings], priced: judges.priced };
}
