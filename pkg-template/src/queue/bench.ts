/** An evalset of a queue on a worker: read and checked once, then evaluated case by case. */

import type { Subject } from "../agents/adapters.js";
import { checkUsers } from "../agents/evaluation.js";
import type { AgentEvaluationOptions } from "../agents/options.js";
import { recordedFor } from "../agents/record.js";
import { digestOfCases, runCases } from "../agents/run.js";
import { forecast } from "../agents/scorable.js";
import { Spending } from "../agents/spending.js";
import { AdkMetricsError } from "../errors.js";
import { type OpenEvaluation, openEvaluation } from "../evaluate.js";
import { JournalSection } from "../journal/section.js";
import { definedProperties } from "../lists.js";
import type { EvalSetResult, EvaluateRequest, Journal } from "../types.js";
import type { QueueInput } from "./plan.js";

/** How cases are run and scored. */
export type BenchOptions = Pick<
  AgentEvaluationOptions,
  "judge" | "vertex" | "cache" | "retry" | "timeoutMs" | "turnTimeoutMs" | "registry" | "prompts" | "budget"
>;

/** What is evaluated, and by which metrics. */
export function scoringOf(
  { stored, evalSet, evalSetName, config }: QueueInput,
  { turnTimeoutMs: _, ...options }: BenchOptions,
): Omit<EvaluateRequest, "actual"> {
  const { evalIds, dialect, earlyStop, advisory } = stored;
  return { ...options, evalSet, evalSetName, ...definedProperties({ config, evalIds, dialect, earlyStop, advisory }) };
}

/** How the agent is run. The simulated user asks the judge of the evaluation. */
export function runningOf({ userSimulator }: QueueInput, options: BenchOptions): Parameters<typeof runCases>[3] {
  const { judge, retry, timeoutMs, turnTimeoutMs } = options;
  return {
    userSimulator: { ...definedProperties({ judge, retry, timeoutMs }), ...userSimulator },
    parallelism: 1,
    ...definedProperties({ turnTimeoutMs }),
  };
}

/** What is known of the cases before any is run. */
export async function leftOutOf(
  open: OpenEvaluation,
  input: QueueInput,
  options: BenchOptions,
): Promise<ReturnType<typeof forecast>> {
  const known = forecast(open, { evalIds: input.stored.evalIds });
  await checkUsers(input.cases, { ...options, ...runningOf(input, options) }, known.leftOut);
  return known;
}

export class Bench {
  readonly #input: QueueInput;
  readonly #options: BenchOptions;
  readonly #subject: Subject | undefined;
  readonly #open: OpenEvaluation;
  readonly #leftOut: ReadonlyMap<string, string>;
  readonly #digest: string;

  private constructor(
    input: QueueInput,
    options: BenchOptions,
    subject: Subject | undefined,
    open: OpenEvaluation,
    digest: string,
    leftOut: ReadonlyMap<string, string>,
  ) {
    this.#input = input;
    this.#options = options;
    this.#subject = subject;
    this.#open = open;
    this.#digest = digest;
    this.#leftOut = leftOut;
  }

  /** @throws {AdkMetricsError} for what is wrong with files, metrics, judges and agent. */
  static async open(input: QueueInput, options: BenchOptions, subject: Subject | undefined): Promise<Bench> {
    const isRun = input.actual === undefined;
    if (isRun && subject === undefined) {
      throw new AdkMetricsError("invalid_input", `${input.stored.evalSet} needs an agent, and this worker has none`, {
        path: "agent",
        help: "Start every worker with the agent, or add the evalset together with what an agent did",
      });
    }
    const open = await openEvaluation(scoringOf(input, options), isRun);
    try {
      const leftOut = isRun ? (await leftOutOf(open, input, options)).leftOut : new Map<string, string>();
      return new Bench(input, options, isRun ? subject : undefined, open, await digestOfCases(input.cases), leftOut);
    } catch (error) {
      open.close();
      throw error;
    }
  }

  close(): void {
    this.#open.close();
  }

  /** Runs a case once, if there is an agent, and scores it. */
  async evaluate(evalId: string, run: number, at: number, journal: Journal): Promise<EvalSetResult> {
    const section = new JournalSection(journal, `${at}/0`);
    section.evalSetDigest = this.#digest;
    section.selected = { evalIds: this.#input.stored.evalIds };
    const { actual, cases, stored } = this.#input;
    const { evalSet: _, ...scoring } = scoringOf(this.#input, this.#options);
    const request = { ...scoring, evalIds: [evalId], explain: "none" as const, journal: section };
    if (this.#subject === undefined) return await this.#open.evaluate({ ...request, actual: actual as Uint8Array });
    section.isOurs = (id, number) => id === evalId && number === run;
    const inferenceResults = await runCases(
      this.#subject,
      cases,
      {
        numRuns: stored.numRuns as number,
        spending: new Spending(this.#options.budget),
        leftOut: this.#leftOut,
        journal: section,
      },
      runningOf(this.#input, this.#options),
    );
    return await this.#open.evaluate({
      ...request,
      actual: { inferenceResults: recordedFor(inferenceResults, scoring.dialect) },
    });
  }
}
