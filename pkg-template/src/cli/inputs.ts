/** The files of `eval`, `run` and `record`: evalsets, the configs that belong to them, and what an agent did. */

import { group } from "../lists.js";
import { criteriaIn } from "../engine/criteria.js";
import { isObject } from "../engine/values.js";
import { parseJson } from "../engine/json.js";
import { isResultLines } from "../result-lines.js";
import { isTraces } from "../interop/otlp.js";
import { tracesToJson } from "../interop/traces.js";
import { PROMPTS } from "../generated/metrics.js";
import { isPrebuilt } from "../metric-info.js";
import { canonicalName } from "../metric-names.js";
import { count } from "../report/text.js";
import type { MetricRegistry } from "../types.js";
import type { Arguments } from "./arguments.js";
import { configBeside, isResults, kindOf, readBytes, type Selection } from "./files.js";
import { findEvalSets, realPath } from "./find.js";
import { ACTUAL, EVAL_SET, isLineFile, isRunLines, linesAsText } from "./line-files.js";
import { inFile, type InputFiles, Mistake, Mistakes } from "./mistakes.js";
import { DEFAULT_CRITERIA_TEXT } from "./options.js";
import { isLargeResults } from "./portions.js";
import { note } from "./process.js";

/** An evalset with all that belongs to it. */
export interface Input {
  selection: Selection;
  files: Omit<InputFiles, "actual"> & { evalSet: string; actual?: string };
  evalSet: Uint8Array;
  /** What the agent did; absent where it is still to be run, or is too large to be read at once. */
  actual?: Uint8Array;
  config?: Uint8Array;
  /** The results that are scored in portions. */
  largeResults?: string;
  /** Why an agent is not run in cases, by their ids. */
  leftOut?: ReadonlyMap<string, string>;
  /** What its results are to say besides. */
  warning?: { code: "invalid_input"; message: string; path: string; help: string };
}

/**
 * The evalsets that are named.
 *
 * @throws {Mistake} if none is.
 */
export function selectionsOf(given: Arguments, command: string): Selection[] {
  const { positionals } = given;
  const folders = ["actual", "output"].flatMap((name) => given.all(name)).filter((path) => kindOf(path) === "folder");
  if (positionals.length > 0) {
    // A folder may hold both evalsets and runs; what is named itself is searched.
    return withLinesTogether(findEvalSets(positionals, folders));
  }
  throw new Mistake("no evalset specified", { help: `adk-metrics ${command}` });
}

/** Files of JSON lines that are named together are one evalset. @throws {Mistake} if cases of some of them are named. */
function withLinesTogether(selections: readonly Selection[]): Selection[] {
  const [first, ...others] = selections.filter(({ file }) => isLineFile(file));
  if (first === undefined || others.length === 0) return [...selections];
  if ([first, ...others].some(({ evalIds }) => evalIds !== undefined)) {
    throw new Mistake("cases are selected from one of several JSON lines files", {
      location: first.file,
      help: "JSON lines files together are one evalset. Specify only the file that contains these cases",
    });
  }
  return selections
    .filter((selection) => !others.includes(selection))
    .map((selection) => (selection === first ? { ...first, others: others.map(({ file }) => file) } : selection));
}

/**
 * Reads every file, so that all that are missing are named at once.
 *
 * @param actual The file of what the agent did for each evalset, if there are any; several for the only evalset, if they are
 * JSON lines.
 * @param config The config of all evalsets; of each the one beside it if absent.
 */
export async function readInputs(
  selections: readonly Selection[],
  actual: readonly string[] | undefined,
  config: string | undefined,
): Promise<Input[]> {
  const mistakes: unknown[] = [];
  const attempt = async (read: () => Uint8Array | Promise<Uint8Array>): Promise<Uint8Array> => {
    try {
      return await read();
    } catch (mistake) {
      mistakes.push(mistake);
      return new Uint8Array();
    }
  };
  const common = config === undefined ? undefined : await attempt(() => readBytes(config, "config"));
  const inputs: Input[] = [];
  for (const [at, selection] of selections.entries()) {
    const evalSet = selection.file;
    const input: Input = { selection, files: { evalSet }, evalSet: new Uint8Array() };
    const { files } = input;
    input.evalSet = await attempt(() =>
      isLineFile(evalSet)
        ? linesAsText([evalSet, ...(selection.others ?? [])], EVAL_SET, files)
        : readBytes(evalSet, EVAL_SET),
    );
    const did = actual?.[at];
    if (did !== undefined) {
      files.actual = did;
      if (realPath(did) === realPath(evalSet)) input.warning = COMPARED_WITH_ITSELF;
      if (isLargeResults(did)) input.largeResults = did;
      else {
        const all = selections.length === 1 ? (actual as readonly string[]) : [did];
        input.actual = await attempt(() => (isRunLines(did) ? linesAsText(all, ACTUAL, files) : actualBytes(did)));
      }
    }
    const beside = config === undefined ? configBeside(evalSet) : config;
    if (beside !== undefined) {
      files.config = beside;
      input.config = common ?? (await attempt(() => readBytes(beside, "config")));
    }
    inputs.push(input);
  }
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  refuseEqualIds(inputs);
  return inputs;
}

const COMPARED_WITH_ITSELF = {
  code: "invalid_input",
  message: "the evalset is compared with itself, so most metrics cannot fail",
  path: "actual",
  help: "Pass what the agent did as --actual",
} as const;

/** @throws {Mistakes} for evalsets with the same id, which identifies results; google-adk raises too. */
function refuseEqualIds(inputs: readonly Input[]): void {
  if (inputs.length < 2) return;
  const files = new Map<string, string[]>();
  for (const input of inputs) {
    const id = idOf(input.evalSet);
    if (id !== undefined) group(files, id, input.files.evalSet);
  }
  const mistakes = [...files].flatMap(([id, [first, ...others]]) =>
    others.map(
      (other) =>
        new Mistake(`two evalsets have the id \`${id}\``, {
          location: `${first}, ${other}`,
          help: "Give each its own `eval_set_id`, or score them one by one",
        }),
    ),
  );
  if (mistakes.length > 0) throw new Mistakes(mistakes);
}

/** The id in an evalset. The old form has none; text that is not JSON is reported where it is parsed. */
function idOf(evalSet: Uint8Array): string | undefined {
  try {
    const { eval_set_id: id, evalSetId = id } = parseJson(new TextDecoder().decode(evalSet)) as Record<string, unknown>;
    return typeof evalSetId === "string" ? evalSetId : undefined;
  } catch {
    return undefined;
  }
}

/** Traces become what the agent did; anything else is for the engine to read. */
function actualBytes(file: string): Uint8Array {
  const bytes = readBytes(file, ACTUAL);
  if (isResultLines(bytes)) {
    throw new Mistake("this file contains JSON lines, but its extension is not .jsonl", {
      location: file,
      help: "Change its extension to .jsonl",
    });
  }
  try {
    if (!isTraces(bytes)) return bytes;
    return new TextEncoder().encode(tracesToJson(bytes, { onNotice: (notice) => note(`${file}: ${notice}`) }));
  } catch (error) {
    throw inFile(error, file, "traces");
  }
}

/** Files that are named in a line. */
const MOST_NAMED = 3;

/** Says on stderr which files were found of what the agent did, where none was named. */
export function sayWhichActual(named: readonly string[], found: readonly string[]): void {
  if (found.length === 0 || found.every((file) => named.includes(file))) return;
  const described = found.map((file) =>
    isResults(file) ? `${file} (results: the agent's runs in them are scored again)` : file,
  );
  const [first] = described;
  const files = found.length > MOST_NAMED ? `${found.length} files, such as ${first}` : described.join(", ");
  note(`what the agent did: ${files}`);
}

/**
 * Says on stderr by which criteria evalsets are scored.
 *
 * @param registries The metrics of each input besides the engine's.
 */
export function sayWhichCriteria(inputs: readonly Input[], registries: readonly MetricRegistry[]): void {
  const configs = [...new Set(inputs.flatMap(({ files }) => files.config ?? []))];
  for (const file of configs) {
    const at = inputs.findIndex(({ files }) => files.config === file);
    note(`criteria: ${file}${criteriaText(inputs[at]?.config, registries[at]?.customMetricNames() ?? [])}`);
  }
  const bare = new Set(inputs.filter(({ files }) => files.config === undefined).map(({ files }) => files.evalSet));
  if (bare.size === 0) return;
  const which = bare.size === 1 ? [...bare].join() : count(bare.size, "evalset");
  note(`criteria: ADK's default, ${DEFAULT_CRITERIA_TEXT}, for ${which}`);
}

/** Whether a metric of an input may ask a judge. What cannot be read is for the engine to refuse. */
export function mayAskJudges({ config, files }: Input): boolean {
  if (config === undefined) return files.config !== undefined;
  try {
    const criteria = criteriaIn(parseJson(new TextDecoder().decode(config)) as Record<string, unknown>);
    return Object.keys(criteria).some((name) => Object.hasOwn(PROMPTS, canonicalName(name)));
  } catch {
    return true;
  }
}

/** Whether a case of an input may have a simulated user. Told without the engine, which is loaded after the judges are made. */
export function mayHaveUsers({ evalSet }: Input): boolean {
  return /"conversation(?:_s|S)cenario"\s*:\s*\{/.test(new TextDecoder().decode(evalSet));
}

/** The criteria and the settings of the simulated user in a config, in a line; nothing for what cannot be read. */
function criteriaText(config: Uint8Array | undefined, custom: readonly string[]): string {
  try {
    const value = parseJson(new TextDecoder().decode(config)) as Record<string, unknown>;
    // At the top of a config, the engine leaves out keys that are not metrics, with a warning.
    const isScored = (name: string) => isObject(value.criteria) || isPrebuilt(name) || custom.includes(name);
    const criteria = Object.entries(criteriaIn(value)).filter(([name]) => isScored(name));
    // Another file passed as a config has numbers at its top as well.
    if (!isObject(value.criteria) && OTHER_FILES.some((key) => key in value)) return "";
    const simulator = value.user_simulator_config ?? value.userSimulatorConfig;
    const user = simulator === undefined ? "" : `; user simulator: ${brief(simulator)}`;
    const named = criteria.map(([name, criterion]) => `${name} ${brief(criterion)}`);
    return `: ${named.length === 0 ? "none" : named.join(", ")}${user}`;
  } catch {
    return "";
  }
}

/** A setting on a line: what is nested stays JSON. Long texts are cut. */
function brief(value: unknown): string {
  const isCriterion = typeof value === "object" && value !== null && "threshold" in value;
  const { threshold, ...others } = (isCriterion ? value : {}) as { threshold?: unknown };
  const rest = Object.keys(others).length === 0 ? "" : ` ${brief(others)}`;
  if (isCriterion) return `${JSON.stringify(threshold)}${rest}`;
  const text = JSON.stringify(value) ?? "";
  return text.length > MAX_SETTINGS ? `${text.slice(0, MAX_SETTINGS)}…` : text;
}

const MAX_SETTINGS = 200;
const OTHER_FILES = ["eval_cases", "evalCases", "eval_case_results", "evalCaseResults", "inferenceResults", "events"];
