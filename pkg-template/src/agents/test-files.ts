/** The files that an agent is evaluated by: evalsets in any form, the config beside each, and initial sessions. */

import { readEvalSet } from "../adk-schema.js";
import { checkMisplaced, criteriaIn } from "../engine/criteria.js";
import { parseJson } from "../engine/json.js";
import { isObject, messageOf, unexpected } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { checkEvaluation } from "../evaluate.js";
import { USER_SIMULATOR_KEYS } from "../generated/keys.js";
import { definedProperties } from "../lists.js";
import type { Criteria, Mistake } from "../types.js";
import type { Plan } from "./evaluation.js";
import type { AgentHost } from "./host.js";
import { naming } from "./naming.js";
import { DEFAULT_CRITERIA } from "./options.js";
import { type UserSimulatorOptions, withinTurns } from "./simulator.js";

const TEST_FILES = ".test.json";
const CONFIG_FILE = "test_config.json";

/** The test files of a path: itself, or those in a folder. */
export async function testFilesAt(host: AgentHost, path: string): Promise<string[]> {
  if (/^\s*[[{]/.test(path) && (path.includes("\n") || /[\]}]\s*$/.test(path))) {
    throw new AdkMetricsError("invalid_input", "expected the path of an evalset, found the text of one", {
      path: "evalDatasetFilePathOrDir",
      help: "Parse it with JSON.parse, and pass the result to evaluateEvalSet or the matcher",
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
      help: `Paths are relative to ${host.workingFolder()}`,
    });
  }
  if (kind === "file") return [path];
  const files = await host.filesUnder(path, TEST_FILES);
  if (files.length > 0) return files;
  throw new AdkMetricsError("invalid_input", `there is no *${TEST_FILES} in ${path} or a folder below it`, {
    help: `Pass a file, or a folder with files whose names end with ${TEST_FILES}`,
  });
}

/** A test file, whose JSON is parsed at most once. */
export interface TestFile {
  readonly name: string;
  readonly text: string;
  /** @throws {AdkMetricsError} `invalid_json` for anything but JSON. */
  json(): unknown;
}

/** Reads a test file. ADK-TS takes a row of the old form for a list of one. */
export async function testFileOf(host: AgentHost, name: string): Promise<TestFile> {
  const text = await host.readText(name).catch((cause: unknown) => {
    throw new AdkMetricsError("invalid_input", `${name} cannot be read: ${messageOf(cause)}`, { cause });
  });
  if (text === undefined) throw new AdkMetricsError("invalid_input", `there is no file ${name}`);
  const file = fileOf(name, text);
  return isRow(file) ? { name, text: `[${text}]`, json: () => [file.json()] } : file;
}

/** A test file that was read. */
export function fileOf(name: string, text: string): TestFile {
  let known: { value: unknown } | undefined;
  return { name, text, json: () => (known ??= { value: parsed(text, name) }).value };
}

/** Whether a file is one row of the old form. Text that is not JSON is reported where it is parsed. */
function isRow({ text, json }: TestFile): boolean {
  if (!text.includes('"query"')) return false;
  try {
    const found = json();
    return isObject(found) && "query" in found && !("eval_cases" in found || "evalCases" in found);
  } catch {
    return false;
  }
}

/** What a test file is evaluated by, and what that is called in errors. */
export interface Beside {
  criteria: Criteria;
  config: NonNullable<Plan["config"]>;
  name: string;
  userSimulator: UserSimulatorOptions;
  /** What was changed of what it says of the simulated user. */
  simulatorWarning: string | undefined;
  /** Whether there is neither a config nor criteria instead, so that ADK's default criteria apply. */
  isDefault: boolean;
}

/**
 * The config beside a test file, with other criteria if some are given.
 *
 * @throws {AdkMetricsError} for a config that is not JSON, or has no criteria.
 */
export async function configBeside(host: AgentHost, testFile: string, instead?: Criteria): Promise<Beside> {
  const file = host.beside(testFile, CONFIG_FILE);
  const text = await host.readText(file);
  const config = text === undefined ? {} : parsed(text, file);
  const fields = isObject(config) ? (config as Record<string, unknown>) : {};
  const { options: userSimulator, warning: simulatorWarning } = withinTurns(simulatorOf(fields));
  const given = criteriaIn(fields);
  const isDefault = instead === undefined && text === undefined;
  if (instead !== undefined || text === undefined) {
    const criteria = instead ?? { ...DEFAULT_CRITERIA };
    const others = Object.entries(fields).filter(([key]) => !Object.hasOwn(given, key));
    const changed = { ...Object.fromEntries(others), criteria };
    return { criteria, config: changed, name: "config", userSimulator, simulatorWarning, isDefault };
  }
  if (Object.keys(given).length === 0) await refuseConfig(text, file);
  checkMisplaced(given, file);
  return { criteria: given as Criteria, config: text, name: file, userSimulator, simulatorWarning, isDefault };
}

/** Has a config without criteria read as it is read to score by, which says what is wrong with it, and where. */
async function refuseConfig(text: string, file: string): Promise<void> {
  const evalSet = { evalSetId: "none", evalCases: [] };
  await naming({ config: file }, () => checkEvaluation({ evalSet, config: text }));
}

/** The `user_simulator_config` of a config, in either spelling. */
export function simulatorOf(config: Record<string, unknown>): UserSimulatorOptions {
  const given = config.user_simulator_config ?? config.userSimulatorConfig;
  if (!isObject(given)) return {};
  const fields = given as Record<string, unknown>;
  const options: Record<string, unknown> = {};
  for (const [key, snake] of USER_SIMULATOR_KEYS) {
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
export function evalSetOf(
  { name, text, json }: TestFile,
  initialSession: object | undefined,
  evalSetName = nameOf(name),
): string {
  if (initialSession === undefined) return text;
  const data = json();
  if (!Array.isArray(data)) {
    throw new AdkMetricsError(
      "invalid_input",
      "a session file is only for the old format, and this evalset is in the current format",
      { path: name, help: "Put the session into the evalset, as `session_input` of its cases" },
    );
  }
  const { state, app_name, user_id } = initialSession as Record<string, unknown>;
  const initial_session = isObject(state) ? { state, app_name, user_id } : { state: initialSession };
  return JSON.stringify([{ name: evalSetName, data, initial_session }]);
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
 * @returns Warnings about metrics that are only among the default criteria.
 * @throws {AdkMetricsError} `invalid_input` if it lacks what a metric compares with that somebody chose.
 */
export function checkSamples({ name, text, json }: TestFile, { criteria, isDefault }: Beside): Mistake[] {
  if (!text.trimStart().startsWith("[")) return [];
  const rows = json() as unknown[];
  if (rows.length === 0) {
    throw new AdkMetricsError("invalid_input", `${name} has no rows`, {
      help: "Add a row for each turn: `query`, `expected_tool_use` and `reference`",
    });
  }
  const [first] = rows;
  if (!isObject(first) || "data" in first) return [];
  const path = `${name}: [0]`;
  const warnings: Mistake[] = [];
  for (const metric of Object.keys(criteria)) {
    const needed = Object.hasOwn(NEEDED, metric) ? (NEEDED[metric] as readonly string[]) : [];
    const missing = needed.filter((key) => !(key in first));
    if (missing.length === 0) continue;
    const keys = missing.map((key) => `\`${key}\``).join(" and ");
    const message = `the first row has no ${keys}, which \`${metric}\` needs`;
    if (!isDefault) {
      const help = `Add ${keys} to every row, or remove the metric from the criteria`;
      throw new AdkMetricsError("invalid_input", message, { path, help });
    }
    warnings.push({
      code: "invalid_input",
      message: `${message}; the metric is one of ADK's default criteria, which apply because there is no ${CONFIG_FILE}`,
      path,
      help: `Add ${keys} to every row, or write a ${CONFIG_FILE} with the metrics that you want`,
    });
  }
  return warnings;
}

function parsed(text: string, file: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw faultIn(text, file, cause);
  }
}

/** The error for a file that is not JSON: the engine knows the line, and often what to do. */
function faultIn(text: string, file: string, cause: unknown): AdkMetricsError {
  try {
    readEvalSet(text);
  } catch (error) {
    if (isAdkMetricsError(error) && error.code === "invalid_json") {
      const { message, line, help } = error;
      return new AdkMetricsError("invalid_json", message, { path: file, ...definedProperties({ line, help }), cause });
    }
  }
  return new AdkMetricsError("invalid_json", `${file} is not JSON: ${messageOf(cause)}`, { cause });
}

/** What evalsets in an old form are called after their files: with the folders that tell files of one name apart. */
export function namesOf(files: readonly string[]): string[] {
  const folders = files.map((file) => file.split(/[\\/]/).slice(0, -1));
  const name = (at: number, depth: number) => [...(folders[at] ?? []).slice(-depth), nameOf(files[at] ?? "")].join("/");
  return files.map((file, at) => {
    const alike = files.flatMap((other, place) => (nameOf(other) === nameOf(file) && place !== at ? [place] : []));
    const most = Math.max(0, ...[at, ...alike].map((place) => folders[place]?.length ?? 0));
    let depth = 1;
    while (depth < most && alike.some((place) => name(place, depth) === name(at, depth))) depth += 1;
    return alike.length === 0 ? nameOf(file) : name(at, depth);
  });
}

/** What an evalset in an old form is called after its file. */
export function nameOf(file: string): string {
  return file.replace(/^.*[\\/]/, "").replace(/(?:\.evalset|\.test)?\.json$/i, "") || file;
}
