/** Runs an agent on evalsets: what `run` and `record` share. */

import type { Subject } from "../agents/adapters.js";
import { evalSetOf, initialSessionOf, simulatorOf } from "../agents/agent-evaluator.js";
import { nodeAgentHost } from "../agents/node.js";
import {
  type AgentRunOptions,
  DEFAULT_TURN_TIMEOUT_MS,
  type InferenceResult,
  isScenario,
  runCases,
  wasCancelled,
} from "../agents/run.js";
import { withinTurns } from "../agents/simulator.js";
import { Spending } from "../agents/spending.js";
import { isObject } from "../engine/input.js";
import type { ModuleName } from "../modules/load.js";
import { count } from "../report/text.js";
import type { Budget, EvalSet } from "../types.js";
import { agentModuleOf, loadAgent } from "./agent.js";
import { api } from "./api.js";
import { type Arguments, countOf } from "./arguments.js";
import { commandVariables, readDotenvBeside } from "./environment.js";
import { baseName } from "./files.js";
import { agentFolderOf } from "./find.js";
import type { Input } from "./inputs.js";
import type { Interruption } from "./interruption.js";
import { Mistake } from "./mistakes.js";
import { hostUserCode, note, warn } from "./process.js";
import type { ProgressBar } from "./progress.js";

/** The options about the agent. */
export const AGENT_OPTIONS = {
  agent: { type: "string" },
  "num-runs": { type: "string" },
  parallelism: { type: "string" },
  session: { type: "string" },
  "turn-timeout": { type: "string" },
} as const;

/** What an agent did in an evalset. */
export interface Runs {
  results: InferenceResult[];
  /** The cases with a run that was not cancelled; absent if none was. */
  evalIds?: string[];
  spending: Spending;
}

/** An agent on the command line. */
export class AgentRuns {
  readonly #module: ModuleName;
  readonly #numRuns: number;
  readonly #options: AgentRunOptions;
  readonly #session: string | undefined;
  #subject: Subject | undefined;

  /**
   * Reads the arguments.
   *
   * @throws {Mistake} if no agent is named, and for numbers that are none.
   */
  constructor(given: Arguments, command: string) {
    const agent = given.one("agent") ?? agentFolderOf(given.positionals);
    if (agent === undefined) {
      throw new Mistake("no agent is named", { help: `adk-metrics ${command}` });
    }
    this.#module = agentModuleOf(agent);
    readDotenvBeside(this.#module.file);
    const [numRuns, parallelism, timeout] = [
      given.one("num-runs"),
      given.one("parallelism"),
      given.one("turn-timeout"),
    ];
    this.#numRuns = numRuns === undefined ? 1 : countOf("num-runs", numRuns);
    this.#options = {
      ...(parallelism === undefined ? {} : { parallelism: countOf("parallelism", parallelism) }),
      ...(timeout === undefined ? {} : { turnTimeoutMs: 1000 * secondsOf("turn-timeout", timeout) }),
    };
    this.#session = given.one("session");
  }

  /** The files that are read, with what they are. */
  get files(): ReadonlyMap<string, string> {
    return new Map([
      [this.#module.file, "agent"],
      ...(this.#session === undefined ? [] : [[this.#session, "session"] as const]),
    ]);
  }

  /** What the agent is called. */
  get name(): string {
    return this.#subject?.name ?? "";
  }

  /**
   * Has evalsets in an old form begin with the session of `--session`.
   *
   * @throws {AdkMetricsError} if it cannot be read, or an evalset is in today's form.
   */
  async prepare(inputs: readonly Input[]): Promise<void> {
    const session = await initialSessionOf(nodeAgentHost, this.#session);
    if (session === undefined) return;
    for (const input of inputs) {
      const text = evalSetOf(new TextDecoder().decode(input.evalSet), input.files.evalSet, session);
      input.evalSet = new TextEncoder().encode(text);
    }
  }

  /** Loads the agent. @throws {Mistake} if there is none. */
  async load(): Promise<void> {
    hostUserCode();
    Object.assign(process.env, commandVariables().forAgent());
    this.#subject = await loadAgent(this.#module, this.#options.turnTimeoutMs ?? DEFAULT_TURN_TIMEOUT_MS);
  }

  /** Runs the agent on the selected cases of an evalset. */
  async run(input: Input, stop: Interruption, bar: ProgressBar, budget: Budget): Promise<Runs> {
    const subject = this.#subject as Subject;
    const { readEvalSet } = await api();
    const { selection, files, evalSet, config } = input;
    const set = readEvalSet(evalSet, baseName(files.evalSet));
    const selected = ({ evalId }: EvalSet["evalCases"][number]) => selection.evalIds?.includes(evalId) ?? true;
    const evalCases = set.evalCases.filter(selected);
    const often = this.#numRuns === 1 ? "" : `, ${this.#numRuns} runs each`;
    note(`running ${subject.name}: ${files.evalSet}, ${count(evalCases.length, "case")}${often}`);
    const spending = new Spending(budget);
    const { options: userSimulator, warning } = withinTurns(simulatorOf(recordOf(config)));
    if (warning !== undefined && evalCases.some(isScenario)) warn(warning, files.config);
    const options: AgentRunOptions = {
      ...this.#options,
      userSimulator,
      signal: stop.phase(),
      onAgentProgress: (progress) => bar.update(files.evalSet, progress),
    };
    const all = await runCases(subject, { evalSetId: set.evalSetId, evalCases }, this.#numRuns, options, spending);
    bar.clear();
    const results = all.filter((result) => !wasCancelled(result));
    if (results.length === all.length) return { results, spending };
    return { results, evalIds: [...new Set(results.map(({ evalCaseId }) => evalCaseId))], spending };
  }
}

/** A config as an object; whoever scores by it says what is wrong with it. */
export function recordOf(config: Uint8Array | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(config));
    return isObject(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function secondsOf(option: string, value: string): number {
  const seconds = Number(value);
  if (/^[\d.]+$/.test(value) && seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw new Mistake(`--${option} cannot be \`${value}\``, { help: "It is a number of seconds above 0" });
}
