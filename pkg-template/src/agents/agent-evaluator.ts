/** ADK's `AgentEvaluator`: an agent and evalset files in, an error if it does not pass. */

import { evalSetToAdkJson } from "../adk-schema.js";
import { checkMisplaced, criteriaIn } from "../engine/criteria.js";
import { isList, isObject, messageOf, unexpected, reading } from "../engine/values.js";
import { parseJson } from "../engine/json.js";
import { AdkMetricsError } from "../errors.js";
import type { Criteria, EvalSet, EvalSetResult, Input, Mistake } from "../types.js";
import { checkGateRuns } from "../statistics/gates.js";
import { subjectOf } from "./adapters.js";
import type { Agent } from "./agent.js";
import { type AgentEvaluation, checkedEvaluation, evaluateAgent, noteUnused, type Plan } from "./evaluation.js";
import { type AgentHost, agentHost } from "./host.js";
import { type AgentEvaluationOptions, checkRunOptions, DEFAULT_CRITERIA } from "./options.js";
import { failuresOf, printDetails } from "./pooled.js";
import { checkPassed, type EvaluationFailure, sayWarnings } from "./results.js";
import { checkPositive, DEFAULT_NUM_RUNS } from "./run.js";
import { type UserSimulatorOptions, withinTurns } from "./simulator.js";

/** Options of {@link AgentEvaluator.evaluate}. */
export interface AgentFileOptions extends AgentEvaluationOptions {
  /** What the score of each metric has to reach, instead of the criteria of the `test_config.json` beside each file. */
  criteria?: Criteria | undefined;
  /** Whether to print a table of the turns for every case and metric. Default: false. */
  printDetailedResults?: boolean;
}

const TEST_FILES = ".test.json";
const CONFIG_FILE = "test_config.json";

/**
 * Evaluates an agent with evalsets, and throws if it does not pass. It takes what ADK-TS's class of this name does; the
 * agent that is run is the one that it is given.
 *
 * ```ts
 * import { AgentEvaluator } from "adk-metrics";
 *
 * await AgentEvaluator.evaluate(agent, "evals/weather.test.json");
 * ```
 */
export class AgentEvaluator {
  /**
   * The criteria beside a test file: those of the `test_config.json` in its folder, else ADK's default criteria. A metric
   * may have settings in place of a number; code that looks at them names the type:
   * `const criteria: Criteria = await …`.
   *
   * @throws {AdkMetricsError} `invalid_json` or `invalid_input` for a config that cannot be read, or if there is no path.
   */
  static async findConfigForTestFile<C extends Criteria = Record<string, number>>(testFile: string | URL): Promise<C> {
    const host = nodeHost();
    const { criteria, name } = await configBeside(host, pathOf(host, testFile, "testFile"));
    checkCriteria(criteria, name);
    return criteria as C;
  }

  /**
   * Runs an agent on every case of an evalset. A metric passes in a case if the exact mean of its scores, over all turns
   * of all runs, reaches its threshold.
   *
   * @param criteria What the score of each metric has to reach, or its settings.
   * @param numRuns How often every case is run. Default: 2.
   * @param printDetailedResults Whether to print a table of the turns for every case and metric.
   * @returns The results. ADK-TS returns nothing.
   * @throws {AgentEvaluationError} if it does not pass. {@link AdkMetricsError} if an input cannot be used.
   */
  static async evaluateEvalSet(
    agent: Agent | Promise<Agent>,
    evalSet: Input<EvalSet>,
    criteria: Criteria,
    numRuns: number = DEFAULT_NUM_RUNS,
    printDetailedResults = false,
    options: AgentEvaluationOptions = {},
  ): Promise<EvalSetResult> {
    checkCriteria(criteria, "criteria");
    checkNoOptions(numRuns, "a number", "numRuns", OF_EVALSETS);
    if (typeof printDetailedResults !== "boolean") throw notBoolean(printDetailedResults, OF_EVALSETS);
    checkRunOptions(options, "evaluateEvalSet");
    if (options.gates !== undefined) checkGateRuns(options.gates, numRuns);
    const subject = await subjectOf(agent);
    const result = await evaluateAgent(subject, { evalSet, config: { criteria } }, numRuns, options);
    if (printDetailedResults) printDetails(result);
    checkPassed(failuresOf(result, subject.name), [result], options.gates);
    if (!printDetailedResults) sayWarnings([result]);
    return result;
  }

  /**
   * Runs an agent on an evalset file, or on all `*.test.json` under a folder, with the `test_config.json` beside each.
   * All files are read before the agent is run, and all are run, whether or not the agent
   * passes in one.
   *
   * @param evalDatasetFilePathOrDir A path, which begins in the working directory if it is relative, or a `file:` URL.
   * @param numRuns How often every case is run. Default: 2.
   * @param initialSessionFile The session that cases of a file in the old schema begin with, as JSON: its state, or
   * `{ state, app_name, user_id }`.
   * @returns The results of each file. ADK-TS returns nothing.
   * @throws {AgentEvaluationError} if it does not pass. {@link AdkMetricsError} if a file cannot be used.
   */
  static async evaluate(
    agent: Agent | Promise<Agent>,
    evalDatasetFilePathOrDir: string | URL,
    numRuns: number = DEFAULT_NUM_RUNS,
    initialSessionFile?: string,
    fileOptions: AgentFileOptions = {},
  ): Promise<EvalSetResult[]> {
    checkRunOptions(fileOptions, "evaluate");
    const { printDetailedResults = false, criteria, ...options } = fileOptions;
    if (typeof printDetailedResults !== "boolean") throw notBoolean(printDetailedResults);
    checkNoOptions(numRuns, "a number", "numRuns", OF_FILES);
    checkNoOptions(initialSessionFile, "a path", "initialSessionFile", OF_FILES);
    const host = nodeHost();
    if (criteria !== undefined) checkCriteria(criteria, "criteria");
    const subject = await subjectOf(agent);
    checkPositive(numRuns, "numRuns");
    if (options.gates !== undefined) checkGateRuns(options.gates, numRuns);
    const files = await testFiles(host, evalDatasetFilePathOrDir);
    const initialSession = await initialSessionOf(host, initialSessionFile);
    const failures: EvaluationFailure[] = [];
    const results: EvalSetResult[] = [];
    const evaluations: AgentEvaluation[] = [];
    try {
      for (const file of files) {
        const beside = await configBeside(host, file, criteria);
        checkCriteria(beside.criteria, beside.name);
        const text = await textOf(host, file);
        checkSamples(text, file, beside.criteria);
        const evalSet = evalSetOf(text, file, initialSession);
        const plan: Plan = { evalSet, evalSetName: nameOf(file), config: beside.config };
        const userSimulator = { ...beside.userSimulator, ...options.userSimulator };
        const names = { evalSet: file, config: beside.name };
        const { run, unused, close } = await naming(names, () =>
          checkedEvaluation(subject, plan, numRuns, { ...options, userSimulator }),
        );
        const isCut =
          beside.simulatorWarning !== undefined && options.userSimulator?.maxAllowedInvocations === undefined;
        const runNamed = async () => {
          const result = await naming(names, run);
          if (isCut && beside.simulatorWarning !== undefined) {
            const warning: Mistake = { code: "limit_exceeded", message: beside.simulatorWarning, path: beside.name };
            result.warnings = [...(result.warnings ?? []), warning];
          }
          return result;
        };
        evaluations.push({ run: runNamed, unused, close });
      }
      for (const { run } of evaluations) {
        const result = await run();
        if (printDetailedResults) printDetails(result);
        results.push(result);
        for (const failure of failuresOf(result, subject.name)) failures.push(failure);
      }
      noteUnused(results, evaluations);
    } finally {
      for (const { close } of evaluations) close();
    }
    checkPassed(failures, results, options.gates);
    if (!printDetailedResults) sayWarnings(results);
    return results;
  }

  /**
   * Writes an evalset file of any older form in today's schema.
   *
   * @param initialSessionFile The session that its cases begin with, as for {@link AgentEvaluator.evaluate}.
   * @throws {AdkMetricsError} if the file cannot be used.
   */
  static async migrateEvalDataToNewSchema(
    oldEvalDataFile: string | URL,
    newEvalDataFile: string | URL,
    initialSessionFile?: string,
  ): Promise<void> {
    const host = nodeHost();
    for (const [path, file] of Object.entries({ oldEvalDataFile, newEvalDataFile })) {
      if (!file) throw new AdkMetricsError("invalid_input", `\`${path}\` names no file`, { path });
    }
    const initialSession = await initialSessionOf(host, initialSessionFile);
    const file = pathOf(host, oldEvalDataFile, "oldEvalDataFile");
    const evalSet = evalSetOf(await textOf(host, file), file, initialSession);
    const json = await naming({ evalSet: file }, () => evalSetToAdkJson(evalSet, nameOf(file)));
    const text = `${JSON.stringify(JSON.parse(json), null, 2)}\n`;
    await host.writeText(pathOf(host, newEvalDataFile, "newEvalDataFile"), text).catch((cause: unknown) => {
      const help = "Name a file in a folder that is there and may be written to";
      const message = `The evalset cannot be written: ${messageOf(cause)}`;
      throw new AdkMetricsError("invalid_input", message, { path: "newEvalDataFile", help, cause });
    });
  }
}

const OF_EVALSETS =
  "Options are the sixth argument: evaluateEvalSet(agent, evalSet, criteria, numRuns, printDetailedResults, options)";
const OF_FILES = "Options are the fifth argument: evaluate(agent, path, numRuns, initialSessionFile, options)";

/** @throws {AdkMetricsError} `invalid_input` for an object, which is most likely the options. */
function checkNoOptions(value: unknown, what: string, name: string, help: string): void {
  if (isObject(value)) throw withHelp(unexpected(what, value, name), help);
}

function notBoolean(value: unknown, help?: string): AdkMetricsError {
  return withHelp(unexpected("true or false", value, "printDetailedResults"), help);
}

function withHelp({ code, message, path = "" }: AdkMetricsError, help?: string): AdkMetricsError {
  return new AdkMetricsError(code, message, help === undefined ? { path } : { path, help });
}

function nodeHost(): AgentHost {
  return agentHost("AgentEvaluator with files", "Use AgentEvaluator.evaluateEvalSet with objects");
}

async function testFiles(host: AgentHost, given: string | URL): Promise<string[]> {
  const path = pathOf(host, given, "evalDatasetFilePathOrDir");
  if (/^\s*[[{]/.test(path) && (path.includes("\n") || /[\]}]\s*$/.test(path))) {
    throw new AdkMetricsError("invalid_input", "expected the path of an evalset, found the text of one", {
      path: "evalDatasetFilePathOrDir",
      help: "Pass what JSON.parse gives for it, to evaluateEvalSet or the matcher",
    });
  }
  const kind = await host.kindOf(path).catch((cause: unknown) => {
    throw new AdkMetricsError(
      "invalid_input",
      `${path.slice(0, 200)} cannot be read: ${messageOf(cause).slice(0, 200)}`,
      {
        cause,
      },
    );
  });
  if (kind === undefined) {
    throw new AdkMetricsError("invalid_input", `there is no file or folder ${path}`, {
      help: `A relative path begins in the working directory, ${host.workingFolder()}`,
    });
  }
  if (kind === "file") return [path];
  const files = await host.filesUnder(path, TEST_FILES);
  if (files.length > 0) return files;
  throw new AdkMetricsError("invalid_input", `there is no *${TEST_FILES} in ${path} or a folder below it`, {
    help: `Name a file, or a folder with files whose names end with ${TEST_FILES}`,
  });
}

/** @throws {AdkMetricsError} `invalid_input` for what is no path. */
function pathOf(host: AgentHost, given: string | URL, name: string): string {
  const path: unknown = reading(name, () => (isObject(given) ? host.pathOf(given) : given));
  if (typeof path === "string") return path;
  const found = reading(name, () => (given instanceof URL ? String(given) : given));
  throw unexpected("a path or a `file:` URL", found, name);
}

/** @throws {AdkMetricsError} `invalid_input` without a criterion, since any agent would pass. */
function checkCriteria(criteria: Criteria, path: string): void {
  if (!isObject(criteria) || isList(criteria)) {
    throw withHelp(unexpected("an object of criteria", criteria, path), EXAMPLE);
  }
  reading(path, () => checkMisplaced(criteria, path));
  if (reading(path, () => Object.keys(criteria)).length > 0) return;
  throw new AdkMetricsError("invalid_input", "there is no criterion, so any agent would pass", {
    path,
    help: EXAMPLE,
  });
}

const EXAMPLE =
  'A config looks like {"criteria": {"response_match_score": 0.8}}: metrics by name, each with its threshold';

/** What a test file holds. ADK-TS takes a row of the old form for a list of one. */
async function textOf(host: AgentHost, file: string): Promise<string> {
  const text = await host.readText(file).catch((cause: unknown) => {
    throw new AdkMetricsError("invalid_input", `${file} cannot be read: ${messageOf(cause)}`, { cause });
  });
  if (text === undefined) throw new AdkMetricsError("invalid_input", `there is no file ${file}`);
  return isRow(text) ? `[${text}]` : text;
}

/** Whether a text is one row of the old form. What is no JSON is told where it is read. */
function isRow(text: string): boolean {
  if (!text.includes('"query"')) return false;
  try {
    const found = parseJson(text);
    return isObject(found) && "query" in found && !("eval_cases" in found || "evalCases" in found);
  } catch {
    return false;
  }
}

/** What a test file is evaluated by, and what that is called in errors. */
interface Beside {
  criteria: Criteria;
  config: NonNullable<Plan["config"]>;
  name: string;
  userSimulator: UserSimulatorOptions;
  /** What was changed of what it says of the simulated user. */
  simulatorWarning: string | undefined;
}

/** The config beside a test file, with other criteria if some are given. */
async function configBeside(host: AgentHost, testFile: string, instead?: Criteria): Promise<Beside> {
  const file = host.beside(testFile, CONFIG_FILE);
  const text = await host.readText(file);
  const config = text === undefined ? {} : parsed(text, file);
  const fields = isObject(config) ? (config as Record<string, unknown>) : {};
  const { options: userSimulator, warning: simulatorWarning } = withinTurns(simulatorOf(fields));
  const given = criteriaIn(fields);
  if (instead !== undefined || text === undefined) {
    const criteria = instead ?? { ...DEFAULT_CRITERIA };
    const others = Object.entries(fields).filter(([key]) => !Object.hasOwn(given, key));
    const changed = { ...Object.fromEntries(others), criteria };
    return { criteria, config: changed, name: "config", userSimulator, simulatorWarning };
  }
  return { criteria: given as Criteria, config: text, name: file, userSimulator, simulatorWarning };
}

/** The `user_simulator_config` of a config, in either spelling. */
export function simulatorOf(config: Record<string, unknown>): UserSimulatorOptions {
  const given = config.user_simulator_config ?? config.userSimulatorConfig;
  if (!isObject(given)) return {};
  const fields = given as Record<string, unknown>;
  const options: Record<string, unknown> = {};
  for (const [key, snake] of [
    ["model", "model"],
    ["modelConfiguration", "model_configuration"],
    ["maxAllowedInvocations", "max_allowed_invocations"],
    ["customInstructions", "custom_instructions"],
    ["includeFunctionCalls", "include_function_calls"],
  ] as const) {
    const value = fields[key] ?? fields[snake];
    if (value !== undefined && value !== null) options[key] = value;
  }
  return options as UserSimulatorOptions;
}

/**
 * The session that a file holds.
 *
 * @throws {AdkMetricsError} if there is no such file, or it holds no object.
 */
export async function initialSessionOf(host: AgentHost, file: string | null | undefined): Promise<object | undefined> {
  if (file === undefined || file === null || file === "") return undefined;
  if (typeof file !== "string") throw unexpected("a path", file, "initialSessionFile");
  const failed = (why: string, cause?: unknown) =>
    new AdkMetricsError("invalid_input", `the session file ${file} cannot be used: ${why}`, { cause });
  const text = await host.readText(file).catch((error: unknown) => {
    throw failed(messageOf(error), error);
  });
  if (text === undefined) throw failed("there is no such file");
  const session = parsed(text, file);
  if (!isObject(session) || Array.isArray(session)) {
    throw failed("it is not an object");
  }
  return Object.keys(session).length === 0 ? undefined : session;
}

/**
 * An evalset's text; one in the old schema with the session that its cases begin with.
 *
 * @throws {AdkMetricsError} `invalid_input` for a session and an evalset in today's schema, which has its own.
 */
export function evalSetOf(text: string, file: string, initialSession: object | undefined): string {
  if (initialSession === undefined) return text;
  const data = parsed(text, file);
  if (!Array.isArray(data)) {
    throw new AdkMetricsError(
      "invalid_input",
      "a session file is for rows of the old form, and this evalset is in today's form",
      { path: file, help: "Write the session into the evalset, as `session_input` of its cases" },
    );
  }
  const { state, app_name, user_id } = initialSession as Record<string, unknown>;
  const initial_session = isObject(state) ? { state, app_name, user_id } : { state: initialSession };
  return JSON.stringify([{ name: nameOf(file), data, initial_session }]);
}

/** What rows of the old form have to hold for a metric. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  tool_trajectory_avg_score: ["query", "expected_tool_use"],
  response_evaluation_score: ["query"],
  response_match_score: ["query", "reference"],
};

/**
 * Looks at the first row of a file in the old form, as ADK does.
 *
 * @throws {AdkMetricsError} `invalid_input` if it lacks what a metric compares with.
 */
function checkSamples(text: string, file: string, criteria: Criteria): void {
  if (!text.trimStart().startsWith("[")) return;
  const rows = parsed(text, file) as unknown[];
  if (rows.length === 0) {
    throw new AdkMetricsError("invalid_input", `${file} has no rows`, {
      help: "Give it a row for each turn: `query`, `expected_tool_use` and `reference`",
    });
  }
  const [first] = rows;
  if (!isObject(first) || "data" in first) return;
  for (const metric of Object.keys(criteria)) {
    const needed = Object.hasOwn(NEEDED, metric) ? (NEEDED[metric] as readonly string[]) : [];
    const missing = needed.filter((key) => !(key in first));
    if (missing.length === 0) continue;
    const keys = missing.map((key) => `\`${key}\``).join(" and ");
    throw new AdkMetricsError("invalid_input", `the first row has no ${keys}, which \`${metric}\` needs`, {
      path: `${file}: [0]`,
      help: `Add ${keys} to every row, or take the metric out of the criteria`,
    });
  }
}

function parsed(text: string, file: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new AdkMetricsError("invalid_json", `${file} is not JSON: ${messageOf(cause)}`, { cause });
  }
}

/** Does something with the content of files; errors name the file instead of the input that was made of it. */
async function naming<T>(files: Readonly<Record<string, string>>, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AdkMetricsError)) throw error;
    const { code, message, path = "evalSet", line, help } = error;
    const [input = "", ...rest] = path.split(": ");
    throw new AdkMetricsError(code, message, {
      path: [files[input] ?? input, ...rest].join(": "),
      ...(line === undefined ? {} : { line }),
      ...(help === undefined ? {} : { help }),
      cause: error,
    });
  }
}

/** What an evalset in an old form is called after its file. */
function nameOf(file: string): string {
  return file.replace(/^.*[\\/]/, "").replace(/(?:\.evalset|\.test)?\.json$/i, "") || file;
}
