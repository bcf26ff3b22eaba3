/** Runs an agent on evalsets: what `run` and `record` share. */

import type { Subject } from "../agents/adapters.js";
import { evalSetOf, fileOf, initialSessionOf, simulatorOf } from "../agents/test-files.js";
import { nodeAgentHost } from "../agents/node.js";
import {
  type AgentRunOptions,
  DEFAULT_NUM_RUNS,
  DEFAULT_PARALLELISM,
  DEFAULT_TURN_TIMEOUT_MS,
  type InferenceResult,
  checkPlayed,
  checkPlayer,
  checkScenarios,
  isScenario,
  runCases,
  wasCancelled,
} from "../agents/run.js";
import { type UserSimulatorOptions, withinTurns } from "../agents/simulator.js";
import { Spending } from "../agents/spending.js";
import { recordOf } from "../engine/criteria.js";
import { snakeOf } from "../engine/spelling.js";
import type { ModuleName } from "../modules/load.js";
import { AdkMetricsError } from "../errors.js";
import type { JournalSection } from "../journal/section.js";
import { count } from "../report/text.js";
import type { Budget, EvalSet } from "../types.js";
import { agentModuleOf, isPython, loadAgent, pythonAgent } from "./agent.js";
import { api } from "./api.js";
import { type Arguments, countOf } from "./arguments.js";
import { commandVariables, readDotenvBeside } from "./environment.js";
import { baseName, kindOf } from "./files.js";
import { agentToRun, refuseModules } from "./find.js";
import { checkRuns, gatesOf } from "./gates.js";
import type { Input } from "./inputs.js";
import type { Interruption } from "./interruption.js";
import { Mistake } from "./mistakes.js";
import { hostUserCode, note, warn } from "./process.js";
import type { ProgressBar } from "./progress.js";

/** What an agent did in an evalset. */
export interface Runs {
  results: InferenceResult[];
  /** The cases with a run that was not cancelled; absent if they are all. */
  evalIds?: string[];
  spending: Spending;
  /** Whether runs were cancelled. */
  isCut: boolean;
}

/** What differs between the commands that run an agent. */
interface RunOptions {
  /** Whether the first run that fails ends the others. */
  bails?: boolean;
  /** Where runs are kept, and found. */
  journal?: JournalSection | undefined;
}

/** An agent on the command line. */
export class AgentRuns {
  readonly #module: ModuleName;
  readonly #numRuns: number;
  /** How often each case is run, in words. */
  readonly #often: string;
  /** The files of the evalsets whose runs were announced. */
  readonly #announced = new Set<string>();
  /** How many cases there are in all, of evalsets in parts. */
  readonly #cases = new Map<string, number>();
  readonly #warned = new Set<string>();
  readonly #options: AgentRunOptions;
  readonly #session: string | undefined;
  #subject: Subject | undefined;

  /**
   * Reads the arguments.
   *
   * @param isMerging Whether all runs are in journals, so that no agent is needed.
   * @throws {Mistake} if no agent is named, and for invalid numbers.
   */
  constructor(given: Arguments, command: string, isMerging = false) {
    const agent = given.one("agent") ?? (isMerging ? undefined : agentToRun(given.positionals));
    if (agent === undefined && !isMerging) {
      refuseModules(given.positionals);
      const [folder, ...others] = given.positionals;
      if (folder !== undefined && kindOf(folder) === "folder" && isPython(folder)) {
        throw pythonAgent(folder, [folder, ...others].join(" "));
      }
      throw new Mistake("no agent specified", { help: `adk-metrics ${command}` });
    }
    this.#module = agent === undefined ? { file: "" } : agentModuleOf(agent);
    if (agent !== undefined) readDotenvBeside(this.#module.file);
    const [numRuns, parallelism, timeout] = [
      given.one("num-runs"),
      given.one("parallelism"),
      given.one("turn-timeout"),
    ];
    this.#numRuns = numRuns === undefined ? DEFAULT_NUM_RUNS : countOf("num-runs", numRuns);
    const byDefault = numRuns === undefined ? " by default (for a single run: --num-runs 1)" : "";
    this.#often = `${count(this.#numRuns, "run")} each${byDefault}`;
    this.#options = {
      ...(parallelism === undefined ? {} : { parallelism: countOf("parallelism", parallelism) }),
      ...(timeout === undefined ? {} : { turnTimeoutMs: 1000 * secondsOf("turn-timeout", timeout) }),
    };
    const gates = gatesOf(given);
    if (gates !== undefined) checkRuns(gates, this.#numRuns);
    this.#session = given.one("session");
  }

  /** The files that are read, with what they are. */
  get files(): ReadonlyMap<string, string> {
    return new Map([
      ...(this.#module.file === "" ? [] : [[this.#module.file, "agent"] as const]),
      ...(this.#session === undefined ? [] : [[this.#session, "session"] as const]),
    ]);
  }

  /** The agent, once it is loaded. */
  get subject(): Subject | undefined {
    return this.#subject;
  }

  get turnTimeoutMs(): number | undefined {
    return this.#options.turnTimeoutMs;
  }

  /** How often each case is run. */
  get numRuns(): number {
    return this.#numRuns;
  }

  get #runNumbers(): number[] {
    return Array.from({ length: this.#numRuns }, (_, run) => run);
  }

  /** What the agent is called. */
  get name(): string {
    return this.#subject?.name ?? "";
  }

  /**
   * Gives evalsets in the old form the session of `--session`.
   *
   * @throws {AdkMetricsError} if it cannot be read, or an evalset is in today's form.
   */
  async prepare(inputs: readonly Input[]): Promise<void> {
    const session = await initialSessionOf(nodeAgentHost, this.#session);
    if (session === undefined) return;
    for (const input of inputs) {
      const text = evalSetOf(fileOf(input.files.evalSet, new TextDecoder().decode(input.evalSet)), session);
      input.evalSet = new TextEncoder().encode(text);
    }
  }

  /** @throws {Mistake | AdkMetricsError} if the user of a selected case cannot be played. */
  async check(input: Input): Promise<void> {
    await checking(input, checkScenarios);
  }

  /** @throws {Mistake | AdkMetricsError} if no model can play the user of a selected case that is not left out. */
  async checkUsers(input: Input, budget: Budget, strict: boolean): Promise<void> {
    const { leftOut } = input;
    await checking(input, async (evalCases, options, warning) => {
      checkPlayer(evalCases, options, new Spending(budget), leftOut);
      await checkPlayed(evalCases, options, { leftOut, strict, known: warning === undefined ? [] : [warning] });
    });
  }

  /** Takes all runs from merged journals, under the agent's name there: no agent is loaded. */
  useMerged(name: string): void {
    this.#subject = {
      name,
      open: () => Promise.reject(new Error("nothing is run")),
      observe: () => () => {},
    };
  }

  /** Loads the agent. @throws {Mistake} if there is none. */
  async load(): Promise<void> {
    hostUserCode();
    Object.assign(process.env, commandVariables().forAgent());
    this.#subject = await loadAgent(this.#module, this.#options.turnTimeoutMs ?? DEFAULT_TURN_TIMEOUT_MS);
  }

  /** Splits an evalset into parts of as many cases as run at a time, each of which can be scored before the next is run. */
  async portions(input: Input): Promise<Input[]> {
    const ids = await selectedIds(input);
    const size = Math.max(1, Math.floor((this.#options.parallelism ?? DEFAULT_PARALLELISM) / this.#numRuns));
    this.#cases.set(input.files.evalSet, ids.length);
    return Array.from({ length: Math.ceil(ids.length / size) }, (_, at) => {
      const evalIds = ids.slice(at * size, (at + 1) * size);
      return { ...input, selection: { ...input.selection, evalIds } };
    });
  }

  #announce({ files }: Input, ours: number): void {
    if (this.#announced.has(files.evalSet)) return;
    this.#announced.add(files.evalSet);
    const cases = this.#cases.get(files.evalSet) ?? ours;
    note(`running ${this.name}: ${files.evalSet}, ${count(cases, "case")}, ${this.#often}`);
  }

  /**
   * Runs the agent on the selected cases of an evalset.
   */
  async run(input: Input, stop: Interruption, bar: ProgressBar, budget: Budget, more: RunOptions = {}): Promise<Runs> {
    const { bails = false, journal } = more;
    const subject = this.#subject as Subject;
    const { files, config } = input;
    const { evalSetId, evalCases } = await selectedCases(input);
    const { leftOut } = input;
    const isOurs = ({ evalId }: { evalId: string }) =>
      leftOut?.has(evalId) !== true &&
      (journal?.isOurs === undefined || this.#runNumbers.some((run) => journal.isOurs?.(evalId, run)));
    // Not before it is run: all runs may be in the journal.
    const announced: Subject = {
      name: subject.name,
      observe: () => subject.observe(),
      open: (given) => {
        this.#announce(input, evalCases.filter(isOurs).length);
        return subject.open(given);
      },
    };
    const spending = new Spending(budget);
    const { options: userSimulator, warning } = withinTurns(simulatorOf(recordOf(config)));
    if (warning !== undefined && evalCases.some(isScenario) && !this.#warned.has(files.evalSet)) {
      this.#warned.add(files.evalSet);
      warn(warning, files.config);
    }
    const failed = new AbortController();
    const options: AgentRunOptions = {
      ...this.#options,
      userSimulator,
      signal: AbortSignal.any([stop.phase(), failed.signal]),
      onAgentProgress: (progress) => {
        bar.update(files.evalSet, progress);
        if (bails && progress.failed) failed.abort();
      },
    };
    const runs = { numRuns: this.#numRuns, spending, leftOut, journal };
    const all = await runCases(announced, { evalSetId, evalCases }, runs, options);
    bar.clear();
    const results = all.filter((result) => !wasCancelled(result));
    const isCut = results.length < all.length;
    // A shard scores what it ran only.
    if (!isCut && journal?.isOurs === undefined) return { results, spending, isCut };
    return { results, evalIds: [...new Set(results.map(({ evalCaseId }) => evalCaseId))], spending, isCut };
  }
}

/** Checks the users of the selected cases; an error says in which file the mistake is. */
async function checking(
  input: Input,
  check: (evalCases: EvalSet["evalCases"], options: UserSimulatorOptions, warning?: string) => void | Promise<void>,
): Promise<void> {
  const { files, config } = input;
  const { options, warning } = withinTurns(simulatorOf(recordOf(config)));
  const { evalCases } = await selectedCases(input);
  try {
    await check(evalCases, options, warning);
  } catch (error) {
    if (!(error instanceof AdkMetricsError) || error.path === undefined) throw error;
    const file = error.path.startsWith("userSimulator") ? files.config : files.evalSet;
    const path = error.path.replace(
      /^userSimulator: (\w+)/,
      (_, key: string) => `user_simulator_config.${snakeOf(key)}`,
    );
    const location = file === undefined ? path : `${file}, ${path}`;
    throw new Mistake(error.message, { location: location, help: error.help, cause: error });
  }
}

/** Evalsets that were read: those in portions are needed once for each. */
const known = new WeakMap<Uint8Array, EvalSet>();

/** An evalset with the cases that are selected, in order. */
export async function selectedCases({ selection, files, evalSet }: Input): Promise<EvalSet> {
  const { readEvalSet } = await api();
  const set = known.get(evalSet) ?? readEvalSet(evalSet, baseName(files.evalSet));
  known.set(evalSet, set);
  const { evalIds } = selection;
  if (evalIds === undefined) return set;
  const wanted = new Set(evalIds);
  return { ...set, evalCases: set.evalCases.filter(({ evalId }) => wanted.has(evalId)) };
}

/** The ids of the cases of an evalset that are selected, in order. */
export async function selectedIds(input: Input): Promise<string[]> {
  return (await selectedCases(input)).evalCases.map(({ evalId }) => evalId);
}

function secondsOf(option: string, value: string): number {
  const seconds = Number(value);
  if (/^[\d.]+$/.test(value) && seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw new Mistake(`--${option} cannot be \`${value}\``, { help: "Expected a number of seconds above 0" });
}
