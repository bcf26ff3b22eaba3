/** `calibrate`: how often a judge is right, by human labels. */

import { join } from "node:path";
import {
  calibrate,
  compareJudges,
  renderCalibrationHtml,
  renderCalibrationMarkdown,
  renderCalibrationTable,
} from "../calibration/index.js";
import type { Calibration, JudgeComparison, LabelCounts } from "../calibration/index.js";
import { JUDGE_HELP, judgeOf } from "../calibration/stored.js";
import { AdkMetricsError } from "../errors.js";
import { inertJson } from "../report/text.js";
import { type Arguments, oneOf, parseArguments } from "./arguments.js";
import { RESULTS, resultsIn } from "./compare.js";
import { kindOf, readBytes } from "./files.js";
import { readResultsOrJournal } from "./journal-results.js";
import { inFile, Mistake } from "./mistakes.js";
import { CALIBRATION_FORMATS, optionsOf } from "./options.js";
import { formatsOf } from "./outputs.js";
import { ExitStatus, note, refusedByStrict, screenOptions, warn, warningCount } from "./process.js";
import { plainFile, prepareNewFile, writeFile, writeOut } from "./write.js";

const HELP = "adk-metrics calibrate shop.evalset_result.json --labels labels.csv";

/** Runs `calibrate`. */
export async function calibrateCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("calibrate"));
  const labelsFile = given.one("labels");
  if (given.has("format")) oneOf("format", given.one("format") ?? "", CALIBRATION_FORMATS);
  const files = filesOf(given.positionals, HELP);
  if (labelsFile === undefined) {
    throw new Mistake("no labels specified", {
      help: `Specify a file with --labels: ${HELP}. To create one: adk-metrics labels export ${given.positionals[0]} --output labels.csv`,
    });
  }
  if (given.has("compare") && files.length !== 2) {
    throw new Mistake(`--compare takes two files of results, not ${files.length}`, {
      help: "Each contains the verdicts of one of the two judges",
    });
  }
  const judgeModel = given.one("judge-model");
  if (judgeModel !== undefined && given.has("compare")) throw new Mistake("--judge-model has no effect with --compare");
  const [first, second] = files.map((file) => plainFile(file));
  if (given.has("compare") && first !== undefined && first === second) {
    warn("the results are compared with themselves: nothing can differ", files[0]);
  }
  const output = outputOf(given, [...files, labelsFile]);
  const [format = "table"] = formatsOf(given, CALIBRATION_FORMATS);
  const results = files.map(readResultsOrJournal);
  const labels = readBytes(labelsFile, "file of labels");
  const { found, ...text } = texts(given.has("compare"), results, labels, judgeModel, output === undefined, (error) =>
    placed(error, files, labelsFile),
  );
  warnOf(found.labels, labelsFile);
  if ("judges" in found) checkJudges(found, format === "json", files);
  if (output === undefined) await writeOut(format === "json" ? inertJson(text.json()) : text[format]());
  else {
    await writeFile(output, text[format]());
    note(`wrote ${output}`);
  }
  if (given.has("strict") && warningCount() > 0) return refusedByStrict();
  return ExitStatus.Passed;
}

/**
 * Warns of verdicts by several judges, whose figures are those of none.
 *
 * @throws {Mistake} for them, and for results that name no judge, where the calibration is to be kept.
 */
function checkJudges(found: Calibration, isKept: boolean, files: readonly string[]): void {
  const location = files.length === 1 ? files[0] : undefined;
  for (const metricName of new Set(found.subjects.map((subject) => subject.metricName))) {
    const judge = judgeOf(found, metricName);
    const isNamed = found.judges.some((stamp) => stamp.metricName === metricName);
    if (typeof judge !== "string" || !(isNamed || found.withoutJudge?.includes(metricName))) continue;
    const message = `the calibration of \`${metricName}\` ${judge}`;
    if (isKept) throw new Mistake(`${message}, so it cannot be kept`, { location, help: JUDGE_HELP });
    if (isNamed) warn(message, location, JUDGE_HELP);
  }
}

/** What was found, in each format. */
function texts(
  isComparison: boolean,
  results: readonly ReturnType<typeof readResultsOrJournal>[],
  labels: Uint8Array,
  judgeModel: string | undefined,
  onScreen: boolean,
  mistakeOf: (error: unknown) => unknown,
): Record<"table" | "md" | "json" | "html", () => string> & { found: Calibration | JudgeComparison } {
  const screen = screenOptions(onScreen);
  try {
    const found = isComparison
      ? compareJudges(results[0] as object, results[1] as object, labels)
      : calibrate(results, labels, judgeModel === undefined ? {} : { judgeModel });
    return {
      found,
      table: () => renderCalibrationTable(found, screen),
      md: () => renderCalibrationMarkdown(found),
      html: () => renderCalibrationHtml(found),
      json: () => `${JSON.stringify(found, null, 2)}\n`,
    };
  } catch (error) {
    throw mistakeOf(error);
  }
}

/** An error in terms of files. */
function placed(error: unknown, files: readonly string[], labels: string): unknown {
  if (!(error instanceof AdkMetricsError)) return error;
  const [, input = "", index = "0"] = /^(results|first|second|labels)(?:\[(\d+)\])?/.exec(error.path ?? "") ?? [];
  const file = input === "labels" ? labels : files[input === "second" ? 1 : Number(input === "results" ? index : 0)];
  return inFile(error, file ?? labels, error.path ?? input);
}

function warnOf({ problems, empty, given }: LabelCounts, file: string): void {
  for (const { line, label, message, help } of problems) {
    warn(message, line === undefined ? `${file}, label ${label}` : `${file}:${line}`, help);
  }
  if (empty > 0) note(`${file}: ${empty} of ${given + empty} rows ${empty === 1 ? "is" : "are"} not labelled yet`);
}

/**
 * The files of results that arguments name, those in folders too.
 *
 * @throws {Mistake} for none.
 */
export function filesOf(positionals: readonly string[], help: string): string[] {
  if (positionals.length === 0) throw new Mistake("no results specified", { help });
  return positionals.flatMap((path) => {
    if (kindOf(path) !== "folder") return [path];
    const names = [...resultsIn(path).values()];
    if (names.length > 0) return names.map((name) => join(path, name));
    throw new Mistake("the folder contains no results", {
      location: path,
      help: `The names of result files end with ${RESULTS}`,
    });
  });
}

/**
 * The file to write; undefined for stdout.
 *
 * @throws {Mistake} for a file that is there already, unless it may be overwritten and is not an input.
 */
export function outputOf(given: Arguments, inputs: readonly string[]): string | undefined {
  const output = given.one("output");
  if (output === undefined || output === "-") return undefined;
  const file = plainFile(output);
  if (file !== undefined && inputs.some((input) => plainFile(input) === file)) {
    throw new Mistake("the output would overwrite an input", { location: output, help: "Choose another file" });
  }
  prepareNewFile(output, given.has("force"));
  return output;
}
