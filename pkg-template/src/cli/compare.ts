/** `compare`: what became better and what became worse since a baseline. */

import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { LARGE_BYTES } from "../result-lines.js";
import { REPORT_FORMATS, type ReportFormat } from "../report/formats.js";
import { changedMetrics, isWarning, remarksOf, verdictLine } from "../report/comparison.js";
import type { RunComparison } from "../types.js";
import { api } from "./api.js";
import { type Arguments, parseArguments } from "./arguments.js";
import { COMPARISON_FORMATS, optionsOf } from "./options.js";
import { headOf, kindOf, missing, readBytes, readPieces, sizeOf } from "./files.js";
import { inFile, Mistake, Mistakes } from "./mistakes.js";
import { sayNotReached } from "./gates.js";
import { ExitStatus, note, refusedByStrict, screenOptions, warn, warningCount } from "./process.js";
import { type Destination, formatsOf, isFolder, refuseOthers } from "./outputs.js";
import { plainFile, prepareFile, writeSafely } from "./write.js";

/** Runs `compare`. */
export async function compareCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("compare"));
  const pairs = pairsOf(given.positionals);
  const planned = destinationsOf(given);
  const details = given.has("print-detailed-results");
  if (details && planned.every(({ format }) => format !== "table")) {
    throw new Mistake("--print-detailed-results affects only the table, and no table is written", {
      help: "Add --format table --output -, or leave it out: json and csv have every turn anyway",
    });
  }
  const files = planned.flatMap(({ file }) => file ?? []);
  refuseInputs(files, pairs);
  if (!given.has("force")) refuseOthers(planned, "comparison");
  for (const file of files) prepareFile(file);

  const comparisons = await compareAll(pairs);
  const toStdout = planned.find(({ file }) => file === undefined);
  if (toStdout?.format !== "table") {
    for (const remark of comparisons.flatMap(remarksOf)) (isWarning(remark) ? warn : note)(remark);
  }
  const unwritten: Mistake[] = [];
  for (const { format, file } of planned) {
    const text = () => rendered(format, comparisons, file === undefined, details);
    const mistake = await writeSafely(file, text, `comparison${endingOf(format)}`);
    if (mistake !== undefined) unwritten.push(mistake);
    else if (file !== undefined) note(`wrote ${file}`);
  }
  if (toStdout === undefined) note(verdictLine(comparisons));
  if (unwritten.length > 0) throw new Mistakes(unwritten);
  if (given.has("strict") && (warningCount() > 0 || comparisons.flatMap(remarksOf).some(isWarning)))
    return refusedByStrict();
  if (comparisons.some(({ hasRegressions }) => hasRegressions)) return ExitStatus.Failed;
  const dropped = given.has("fail-on-drop") ? comparisons.flatMap(droppedIn) : [];
  if (dropped.length === 0) return ExitStatus.Passed;
  const metrics = [...new Set(dropped)].join(", ");
  sayNotReached(`--fail-on-drop: these metrics got worse, or no longer pass in some case: ${metrics}`);
  return ExitStatus.Failed;
}

function hasDropped({ verdicts, change }: RunComparison["metrics"][number]): boolean {
  return verdicts !== undefined && change === "worse";
}

/** The metrics that got worse, or no longer pass in some case. */
function droppedIn({ cases, metrics }: RunComparison): string[] {
  const lost = cases.flatMap((one) => changedMetrics(one, metrics).filter(({ change }) => change === "regressed"));
  return [...metrics.filter(hasDropped), ...lost].map(({ metricName }) => metricName);
}

/** A file of results with the one to compare it with. */
interface Pair {
  baseline: string;
  current: string;
}

const ENDINGS = [REPORT_FORMATS.json.ending, REPORT_FORMATS.jsonl.ending];
export const RESULTS = ENDINGS.join(" or ");

/** Two files, or those that go by the same name in two folders. */
function pairsOf(positionals: readonly string[]): Pair[] {
  const [baseline, current, ...others] = positionals;
  if (baseline === undefined || current === undefined) {
    throw new Mistake(
      baseline === undefined ? "no results specified" : "there is nothing to compare with the baseline",
      {
        help: "adk-metrics compare baseline.evalset_result.json travel.evalset_result.json",
      },
    );
  }
  if (others.length > 0) {
    throw new Mistake("compare takes a baseline and one other run", { help: `Left over: ${others.join(" ")}` });
  }
  const areFolders = [baseline, current].filter((path) => kindOf(path) === "folder").length;
  if (resolve(baseline) === resolve(current)) {
    warn("the baseline is compared with itself: nothing can differ", baseline);
  }
  if (areFolders === 0) return [{ baseline, current }];
  if (areFolders === 1) {
    const absent = [baseline, current].find((path) => kindOf(path) === undefined);
    if (absent !== undefined) throw missing(absent, "file or folder");
    throw new Mistake("a file cannot be compared with a folder", { help: "Specify two files or two folders" });
  }
  const [before, after] = [resultsIn(baseline), resultsIn(current)];
  const common = [...before.keys()].filter((stem) => after.has(stem));
  if (common.length === 0) {
    throw new Mistake("the two folders have no results in common", {
      location: `${baseline}, ${current}`,
      help: `Files are paired by name, and their names end with ${RESULTS}`,
    });
  }
  for (const [folder, names, others] of [
    [baseline, before, after],
    [current, after, before],
  ] as const) {
    for (const [stem, name] of names) {
      if (!others.has(stem)) warn("these results have no counterpart and are left out", join(folder, name));
    }
  }
  const inFolder = (folder: string, names: ReadonlyMap<string, string>, stem: string) =>
    join(folder, names.get(stem) as string);
  return common.map((stem) => ({
    baseline: inFolder(baseline, before, stem),
    current: inFolder(current, after, stem),
  }));
}

/**
 * The files of results in a folder, by their names without the ending. A command may have written the same results as JSON,
 * which counts, and as JSON lines.
 */
export function resultsIn(folder: string): Map<string, string> {
  const names = readdirSync(folder).sort();
  const [json, lines] = ENDINGS.map((ending) => names.filter((name) => name.endsWith(ending))) as [string[], string[]];
  const found = new Map(json.map((name) => [name.slice(0, -REPORT_FORMATS.json.ending.length), name]));
  const ids = new Set(lines.length === 0 ? [] : json.map((name) => idIn(join(folder, name))));
  for (const name of lines) {
    const stem = name.slice(0, -REPORT_FORMATS.jsonl.ending.length);
    const id = json.length === 0 ? undefined : idIn(join(folder, name));
    if (!found.has(stem) && (id === undefined || !ids.has(id))) found.set(stem, name);
  }
  return new Map([...found].sort());
}

/** How much of a file is looked at to tell whose results it has. */
const HEAD_BYTES = 4096;

/** The id of the results in a file, as it is written there; of the first evalset, if it has several. */
function idIn(file: string): string | undefined {
  const head = Buffer.from(headOf(file, "file of results", HEAD_BYTES)).toString("utf8");
  return /"(?:eval_set_result_id|evalSetResultId)":\s*"((?:[^"\\]|\\.)*)"/.exec(head)?.[1];
}

function readResults(file: string, what: string): Uint8Array | Iterable<Uint8Array> {
  if (sizeOf(file) > LARGE_BYTES) return readPieces(file, what);
  const bytes = readBytes(file, what);
  if (/^\s*\{"format":"adk-metrics recording"/.test(new TextDecoder().decode(bytes.subarray(0, 100)))) {
    throw new Mistake("this is a recording of a judge, not results", {
      location: file,
      help: "Results are what `eval` or `run` wrote with --format json or jsonl; --judge replay:<file> takes the recording",
    });
  }
  return bytes;
}

async function compareAll(pairs: readonly Pair[]): Promise<RunComparison[]> {
  const { compareRuns } = await api();
  const comparisons: RunComparison[] = [];
  const mistakes: unknown[] = [];
  for (const { baseline, current } of pairs) {
    try {
      const before = readResults(baseline, "baseline");
      const after = readResults(current, "file of results");
      comparisons.push(compareRuns(before, after));
    } catch (error) {
      const isOfBaseline = /^baseline\b/.test((error as { path?: string }).path ?? "");
      mistakes.push(isOfBaseline ? inFile(error, baseline, "baseline") : inFile(error, current, "current"));
    }
  }
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  return comparisons;
}

/** One output for each format, in the same order; stdout for a single format without one. */
function destinationsOf(given: Arguments): Destination[] {
  const formats = formatsOf(given, COMPARISON_FORMATS);
  const repeated = formats.find((format, at) => formats.indexOf(format) !== at);
  if (repeated !== undefined) throw new Mistake(`--format ${repeated} is specified twice`);
  const outputs = given.all("output").length === 0 && formats.length === 1 ? ["-"] : given.all("output");
  if (outputs.length !== formats.length) {
    throw new Mistake(`there are ${formats.length} formats, but ${outputs.length} outputs`, {
      help: "Specify one --output for each format, in the same order; - is stdout",
    });
  }
  const planned = formats.map((format, at): Destination => {
    const output = outputs[at] as string;
    if (output === "-") return { format };
    return { format, file: isFolder(output) ? join(output, `comparison${endingOf(format)}`) : output };
  });
  const targets = planned.map(({ file }) => (file === undefined ? "stdout" : resolve(file)));
  const shared = targets.find((target, at) => targets.indexOf(target) !== at);
  if (shared !== undefined)
    throw new Mistake(`two reports would be written to ${shared}`, { help: "Specify a different output for each" });
  return planned;
}

/** The ending of a comparison's file. */
function endingOf(format: ReportFormat): string {
  const { comparison, ending } = REPORT_FORMATS[format];
  return comparison?.ending ?? ending;
}

/** @throws {Mistake} for an output that is an input, by whatever path: its only copy would be lost. */
function refuseInputs(outputs: readonly string[], pairs: readonly Pair[]): void {
  const inputs = new Set(pairs.flatMap(({ baseline, current }) => [plainFile(baseline), plainFile(current)]));
  for (const output of outputs) {
    const file = plainFile(output);
    if (file === undefined || !inputs.has(file)) continue;
    throw new Mistake("the output would overwrite one of the compared results", {
      location: output,
      help: "Choose another file or folder with --output",
    });
  }
}

function rendered(
  format: ReportFormat,
  comparisons: readonly RunComparison[],
  onScreen: boolean,
  details: boolean,
): string | Iterable<string> {
  const options = { details, ...screenOptions(onScreen) };
  return REPORT_FORMATS[format].comparison?.render(comparisons, options) ?? "";
}
