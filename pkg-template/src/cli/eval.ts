/** `eval`: scores evalsets against what an agent did. */

import { resolve } from "node:path";
import { EvalStatus } from "../enums.js";
import { isTraces } from "../interop/otlp.js";
import { tracesToJson } from "../interop/traces.js";
import { renderCsv, renderHtml, renderJUnit, renderMarkdown, renderTable, type ReportFormat } from "../report/index.js";
import { countCases, countsText } from "../report/results.js";
import { count } from "../report/text.js";
import type { Dialect, EvalSetResult, EvaluatorOptions, Progress } from "../types.js";
import { api } from "./api.js";
import { type Arguments, countOf, oneOf, parseArguments } from "./arguments.js";
import { actualFiles, baseName, configBeside, readBytes, type Selection, selectionOf } from "./files.js";
import { judgeChoiceOf } from "./judge.js";
import { Judging } from "./judging.js";
import { inFile, inFiles, type InputFiles, Mistake, Mistakes, placeOf } from "./mistakes.js";
import { type Destination, destinations, FORMATS } from "./outputs.js";
import { ExitStatus, hasColor, note, warn } from "./process.js";
import { ProgressBar } from "./progress.js";
import { plainFile, prepareFile, writeFile, writeOut } from "./write.js";

const OPTIONS = {
  actual: { type: "string", multiple: true },
  concurrency: { type: "string" },
  config: { type: "string" },
  dialect: { type: "string" },
  explain: { type: "string" },
  format: { type: "string", multiple: true },
  judge: { type: "string" },
  model: { type: "string" },
  output: { type: "string", multiple: true },
  "print-detailed-results": { type: "boolean" },
  record: { type: "string" },
  help: { type: "boolean" },
} as const;

type Explain = NonNullable<EvaluatorOptions["explain"]>;

/** Runs `eval`. */
export async function evalCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, OPTIONS);
  const formats = formatsOf(given);
  const options = optionsOf(given, formats);
  const judges = judgeChoiceOf(given);
  const selections = given.positionals.map(selectionOf);
  if (selections.length === 0) {
    throw new Mistake("no evalset is named", {
      help: "adk-metrics eval travel.evalset.json --actual travel.actual.json",
    });
  }
  const evalSets = selections.map(({ file }) => file);
  const planned = destinations(formats, given.all("output"), distinctNames(evalSets));
  const inputs = readInputs(selections, actualFiles(given.all("actual"), evalSets), given.one("config"));
  const files = planned.flatMap(({ file }) => file ?? []);
  const outputs = judges.record === undefined ? files : [...files, judges.record];
  refuseInputs(outputs, inputs, judges.replay);
  refuseShared(files, judges.record);
  for (const file of files) prepareFile(file);

  const stop = new AbortController();
  const judging = new Judging(judges, () => stop.abort());
  const { results, interrupted } = await evaluateAll(inputs, options, judging, stop);
  judging.check();
  const toStdout = planned.find(({ file }) => file === undefined);
  if (toStdout?.format !== "table") sayWarnings(results, inputs);
  await writeResults(planned, results, given.has("print-detailed-results"));
  judging.report(results, toStdout?.format === "table");
  if (toStdout === undefined) note(summaryOf(results));
  if (interrupted) {
    note("interrupted: the results are those of the cases that were done");
    return ExitStatus.Interrupted;
  }
  const failure = judging.failure(results);
  if (failure !== undefined) return failure;
  const cases = results.flatMap((set) => set.evalCaseResults);
  if (cases.length === 0) warn("there was no case to score");
  const passed = cases.length > 0 && cases.every(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.PASSED);
  return passed ? ExitStatus.Passed : ExitStatus.Failed;
}

function formatsOf(given: Arguments): ReportFormat[] {
  const formats = given.all("format").map((format) => oneOf("format", format, FORMATS));
  return formats.length === 0 ? ["table"] : formats;
}

/** How to evaluate. Explanations are made only for the reports that show them, unless asked for. */
function optionsOf(given: Arguments, formats: readonly ReportFormat[]): EvaluatorOptions {
  const detailed = given.has("print-detailed-results");
  if (detailed && !formats.includes("table")) {
    throw new Mistake("--print-detailed-results is about the table, and none is written", {
      help: "Add --format table --output -, or leave it out: html has all details anyway",
    });
  }
  const shown: Explain = formats.includes("html") || detailed ? "all" : formats.every(isBare) ? "none" : "failures";
  const explain = given.one("explain");
  const dialect = given.one("dialect");
  const concurrency = given.one("concurrency");
  return {
    explain: explain === undefined ? shown : oneOf<Explain>("explain", explain, ["none", "failures", "all"]),
    ...(dialect === undefined ? {} : { dialect: oneOf<Dialect>("dialect", dialect, ["adk-python", "adk-ts"]) }),
    ...(concurrency === undefined ? {} : { concurrency: countOf("concurrency", concurrency) }),
  };
}

function isBare(format: ReportFormat): boolean {
  return format === "json" || format === "csv";
}

/** The names of the evalsets; repeated ones are numbered, since each gets a file of its own. */
function distinctNames(files: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return files.map(baseName).map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  });
}

/** An evalset with all that belongs to it. */
interface Input {
  selection: Selection;
  files: { evalSet: string; actual: string; config?: string };
  evalSet: Uint8Array;
  actual: Uint8Array;
  config?: Uint8Array;
}

/** Reads every file, so that all that are missing are named at once. */
function readInputs(selections: readonly Selection[], actual: readonly string[], config: string | undefined): Input[] {
  const mistakes: unknown[] = [];
  const attempt = (read: () => Uint8Array): Uint8Array => {
    try {
      return read();
    } catch (mistake) {
      mistakes.push(mistake);
      return new Uint8Array();
    }
  };
  const common = config === undefined ? undefined : attempt(() => readBytes(config, "config"));
  const inputs = selections.map((selection, at): Input => {
    const evalSet = selection.file;
    const files = { evalSet, actual: actual[at] as string };
    const input = {
      selection,
      files,
      evalSet: attempt(() =>
        readBytes(evalSet, "evalset", "Name the evalsets in it; the shell can: folder/*.evalset.json"),
      ),
      actual: attempt(() => actualBytes(files.actual)),
    };
    const beside = config === undefined ? configBeside(evalSet) : config;
    if (beside === undefined) return input;
    const bytes = common ?? attempt(() => readBytes(beside, "config"));
    return { ...input, files: { ...files, config: beside }, config: bytes };
  });
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  return inputs;
}

/** Traces become what the agent did; anything else is for the engine to read. */
function actualBytes(file: string): Uint8Array {
  const bytes = readBytes(file, "file of what the agent did");
  try {
    return isTraces(bytes) ? new TextEncoder().encode(tracesToJson(bytes)) : bytes;
  } catch (error) {
    throw inFile(error, file, "traces");
  }
}

const INPUT_NAMES = { evalSet: "evalset", actual: "file of what the agent did", config: "config" } as const;

/** @throws {Mistake} for an output that is an input, by whatever path: its only copy would be lost. */
function refuseInputs(outputs: readonly string[], inputs: readonly Input[], replay: string | undefined): void {
  const names = new Map<string, string>();
  const recording = replay === undefined ? undefined : plainFile(replay);
  if (recording !== undefined) names.set(recording, "recording");
  for (const { files } of inputs) {
    for (const input of ["config", "actual", "evalSet"] as const) {
      const path = files[input] === undefined ? undefined : plainFile(files[input]);
      if (path !== undefined) names.set(path, INPUT_NAMES[input]);
    }
  }
  for (const output of outputs) {
    const name = names.get(plainFile(output) ?? "");
    if (name === undefined) continue;
    throw new Mistake(`the output would overwrite the ${name}`, {
      place: output,
      help: "Name another file or folder with --output",
    });
  }
}

/** @throws {Mistake} for results and a recording in one place. */
function refuseShared(files: readonly string[], record: string | undefined): void {
  if (record === undefined || !files.some((file) => resolve(file) === resolve(record))) return;
  throw new Mistake("the results and the recording would go to one file", {
    place: record,
    help: "Name another file with --record",
  });
}

function sayWhichCriteria(inputs: readonly Input[]): void {
  const configs = [...new Set(inputs.flatMap(({ files }) => files.config ?? []))];
  if (configs.length > 1) note("criteria: the test_config.json beside each evalset");
  else if (configs.length > 0) note(`criteria: ${configs.join()}`);
  const bare = new Set(inputs.filter(({ files }) => files.config === undefined).map(({ files }) => files.evalSet));
  if (bare.size === 0) return;
  const which = bare.size === 1 ? [...bare].join() : count(bare.size, "evalset");
  note(`criteria: ADK's default, tool_trajectory_avg_score 1.0 and response_match_score 0.8, for ${which}`);
}

async function evaluateAll(
  inputs: readonly Input[],
  options: EvaluatorOptions,
  judging: Judging,
  stop: AbortController,
): Promise<{ results: EvalSetResult[]; interrupted: boolean }> {
  const { evaluate } = await api();
  const judges = judging.options();
  let interrupted = false;
  const interrupt = () => {
    if (interrupted) process.exit(ExitStatus.Interrupted);
    interrupted = true;
    stop.abort();
  };
  process.on("SIGINT", interrupt);
  sayWhichCriteria(inputs);
  const bar = new ProgressBar();
  const results: EvalSetResult[] = [];
  const mistakes = new Set<unknown>();
  for (const { selection, files, evalSet, actual, config } of inputs) {
    let done = 0;
    const onProgress = (progress: Progress) => {
      if (stop.signal.aborted) return;
      done = progress.done;
      bar.update(files.evalSet, progress);
    };
    bar.begin(files.evalSet, () => judging.calls);
    try {
      const result = await evaluate({
        ...options,
        ...judges,
        evalSet,
        actual,
        ...(config === undefined ? {} : { config }),
        ...(selection.evalIds === undefined ? {} : { evalIds: selection.evalIds }),
        evalSetName: baseName(files.evalSet),
        signal: stop.signal,
        onProgress,
      });
      // A cancelled run gives the cases that it left out too; those that were done come first.
      if (result.cancelled === true) result.evalCaseResults.length = done;
      results.push(result);
    } catch (error) {
      mistakes.add(inFiles(error, files));
    }
    // One turn of the event loop, in which Ctrl-C is heard.
    await new Promise((resolve) => setImmediate(resolve));
    if (stop.signal.aborted) break;
  }
  bar.clear();
  process.off("SIGINT", interrupt);
  if (mistakes.size > 0) throw new Mistakes([...mistakes]);
  return { results, interrupted };
}

function sayWarnings(results: readonly EvalSetResult[], inputs: readonly Input[]): void {
  for (const [at, { warnings = [] }] of results.entries()) {
    const files: InputFiles = inputs[at]?.files ?? {};
    for (const warning of warnings) warn(warning.message, placeOf(warning, files), warning.help);
  }
}

async function writeResults(
  planned: readonly Destination[],
  results: readonly EvalSetResult[],
  details: boolean,
): Promise<void> {
  const { resultsToAdkJson } = await api();
  for (const { format, file, evalSet } of planned) {
    const shown = evalSet === undefined ? results : results.slice(evalSet, evalSet + 1);
    if (evalSet !== undefined && shown.length === 0) continue;
    const text =
      format === "json" ? shown.map(resultsToAdkJson).join("") : rendered(format, shown, file === undefined, details);
    if (file === undefined) {
      await writeOut(text);
    } else {
      writeFile(file, text);
      note(`wrote ${file}`);
    }
  }
}

function rendered(
  format: Exclude<ReportFormat, "json">,
  results: readonly EvalSetResult[],
  onScreen: boolean,
  details: boolean,
): string {
  const { stdout } = process;
  switch (format) {
    case "table":
      return renderTable(results, {
        details,
        color: onScreen && hasColor(stdout),
        width: onScreen && stdout.isTTY ? stdout.columns : 100,
      });
    case "junit":
      return renderJUnit(results);
    case "md":
      return renderMarkdown(results);
    case "csv":
      return renderCsv(results);
    case "html":
      return renderHtml(results);
  }
}

function summaryOf(results: readonly EvalSetResult[]): string {
  const cases = results.reduce((sum, { evalCaseResults }) => sum + evalCaseResults.length, 0);
  return `${count(cases, "case")}: ${countsText(countCases(results))}`;
}
