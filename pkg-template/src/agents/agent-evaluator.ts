/** ADK's `AgentEvaluator`: an agent and evalset files in, an error if it does not pass. */

import { evalSetToAdkJson } from "../adk-schema.js";
import { checkMisplaced } from "../engine/criteria.js";
import { isList, isObject, messageOf, unexpected, reading } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { Criteria, EvalSet, EvalSetResult, Input } from "../types.js";
import { checkGateRuns } from "../statistics/gates.js";
import { subjectOf } from "./adapters.js";
import type { Agent } from "./agent.js";
import { evaluateAgent, noteUnused, resultsOf, unusedIn } from "./evaluation.js";
import { closeAll, openFiles } from "./file-evaluations.js";
import { naming } from "./naming.js";
import { type AgentHost, agentHost } from "./host.js";
import { type AgentEvaluationOptions, checkRunOptions } from "./options.js";
import { failuresOf, printDetails } from "./pooled.js";
import { checkPassed, sayWarnings } from "./results.js";
import { checkPositive, DEFAULT_NUM_RUNS } from "./run.js";
import { configBeside, evalSetOf, initialSessionOf, nameOf, testFileOf, testFilesAt } from "./test-files.js";

/** Options of {@link AgentEvaluator.evaluate}. */
export interface AgentFileOptions extends AgentEvaluationOptions {
  /** What the score of each metric has to reach, instead of the criteria of the `test_config.json` beside each file. */
  criteria?: Criteria | undefined;
  /** Whether to print a table of the turns for every case and metric. Default: false. */
  printDetailedResults?: boolean;
}

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
   * may have settings instead of a number; code that looks at them names the type:
   * `const criteria: Criteria = await …`.
   *
   * @throws {AdkMetricsError} `invalid_json` or `invalid_input` for a config that cannot be read, or if there is no path.
   */
  static async findConfigForTestFile<C extends Criteria = Record<string, number>>(testFile: string | URL): Promise<C> {
    const host = nodeHost();
    const { criteria } = await configBeside(host, pathOf(host, testFile, "testFile"));
    return criteria as C;
  }

  /**
   * Runs an agent on every case of an evalset. A metric passes in a case if the exact mean of its scores, over all turns
   * of all runs, reaches its threshold; or does not exceed it, if all statuses that an evaluator of your own gives say that
   * lower scores are better.
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
    refuseMore(arguments, 6, OF_EVALSETS);
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
   * passes in one. It passes as in {@link AgentEvaluator.evaluateEvalSet}.
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
    refuseMore(arguments, 5, OF_FILES);
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
    const files = await testFilesAt(host, pathOf(host, evalDatasetFilePathOrDir, "evalDatasetFilePathOrDir"));
    const initialSession = await initialSessionOf(host, initialSessionFile);
    const evaluations = await openFiles(host, subject, files, { numRuns, criteria, initialSession, options });
    const results: EvalSetResult[] = [];
    try {
      const unused = unusedIn(evaluations, options);
      for await (const result of resultsOf(evaluations, options)) {
        if (printDetailedResults) printDetails(result);
        results.push(result);
      }
      noteUnused(results, unused);
    } finally {
      closeAll(evaluations);
    }
    const failures = results.flatMap((result, at) => failuresOf(result, subject.name, at));
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
      if (!file) throw new AdkMetricsError("invalid_input", `\`${path}\` does not contain a file name`, { path });
    }
    const initialSession = await initialSessionOf(host, initialSessionFile);
    const file = pathOf(host, oldEvalDataFile, "oldEvalDataFile");
    const evalSet = evalSetOf(await testFileOf(host, file), initialSession);
    const json = await naming({ evalSet: file }, () => evalSetToAdkJson(evalSet, nameOf(file)));
    const text = `${JSON.stringify(JSON.parse(json), null, 2)}\n`;
    await host.writeText(pathOf(host, newEvalDataFile, "newEvalDataFile"), text).catch((cause: unknown) => {
      const help = "Choose a file in a folder that exists and is writable";
      const message = `The evalset cannot be written: ${messageOf(cause)}`;
      throw new AdkMetricsError("invalid_input", message, { path: "newEvalDataFile", help, cause });
    });
  }
}

const OF_EVALSETS =
  "Options are the sixth argument: evaluateEvalSet(agent, evalSet, criteria, numRuns, printDetailedResults, options)";
const OF_FILES = "Options are the fifth argument: evaluate(agent, path, numRuns, initialSessionFile, options)";

/** @throws {AdkMetricsError} `invalid_input` for arguments that would be ignored. */
function refuseMore({ length }: IArguments, most: number, help: string): void {
  if (length <= most) return;
  throw new AdkMetricsError("invalid_input", `expected at most ${most} arguments, found ${length}`, { help });
}

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

/** @throws {AdkMetricsError} `invalid_input` for anything but a path. */
function pathOf(host: AgentHost, given: string | URL, name: string): string {
  const path: unknown = reading(name, () => (isObject(given) ? host.pathOf(given) : given));
  if (typeof path === "string") return path;
  const found = reading(name, () => (given instanceof URL ? String(given) : given));
  const isEvalSet = isObject(found) && reading(name, () => "evalCases" in found || "eval_cases" in found);
  const help = isEvalSet
    ? "For an evalset that is not a file, call evaluateEvalSet(agent, evalSet, criteria)"
    : undefined;
  throw unexpected("a path or a `file:` URL", found, name, help);
}

/** @throws {AdkMetricsError} `invalid_input` without a criterion, since any agent would pass. */
function checkCriteria(criteria: Criteria, path: string): void {
  if (!isObject(criteria) || isList(criteria)) {
    throw withHelp(unexpected("an object of criteria", criteria, path), EXAMPLE);
  }
  reading(path, () => checkMisplaced(criteria, path));
  if (reading(path, () => Object.keys(criteria)).length > 0) return;
  throw new AdkMetricsError("invalid_input", "there are no criteria, so any agent would pass", {
    path,
    help: EXAMPLE,
  });
}

const EXAMPLE = 'A config contains metrics with their thresholds: {"criteria": {"response_match_score": 0.8}}';
