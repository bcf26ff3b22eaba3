/** Where the results go: which formats into which files, or one to stdout. */

import { join } from "node:path";
import { REPORT_FORMATS, type ReportFormat } from "../report/formats.js";
import { type Arguments, oneOf } from "./arguments.js";
import { baseName, headOf, kindOf } from "./files.js";
import { Mistake } from "./mistakes.js";
import { FORMATS, shortEndings } from "./options.js";
import { count } from "../report/text.js";
import { note, warn } from "./process.js";
import { plainFile } from "./write.js";

/** The names of evalsets after their files; repeated ones are numbered, since each gets a file of its own. */
export function distinctNames(files: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return files.map(baseName).map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  });
}

/**
 * The formats of outputs: those that `--format` names, else those of the outputs' endings, else the table.
 *
 * @param known The formats that the command writes.
 * @throws {Mistake} for one of several outputs that has no ending of a format, and for an ending of another format.
 */
export function formatsOf<Format extends ReportFormat>(
  given: Arguments,
  known: readonly Format[],
): (Format | "table")[] {
  const formats = given.all("format").map((format) => oneOf("format", format, known));
  const outputs = given.all("output");
  if (formats.length > 0) return formats;
  return outputs.length === 0 ? ["table"] : formatsByEnding(outputs, known);
}

function formatsByEnding<Format extends ReportFormat>(
  outputs: readonly string[],
  known: readonly Format[],
): (Format | "table")[] {
  const formats = outputs.map((output) =>
    output === "-" || isFolder(output)
      ? undefined
      : FORMATS.find((format) => REPORT_FORMATS[format].fileNames.test(output)),
  );
  const other = formats.findIndex((format) => format !== undefined && !known.some((one) => one === format));
  if (other >= 0) {
    throw new Mistake(`this is the extension of the format ${formats[other]}, which this command cannot write`, {
      location: outputs[other],
      help: `Choose a file that ends with one of ${shortEndings(known)}, or set --format: ${known.join(", ")}`,
    });
  }
  const unknown = formats.indexOf(undefined);
  if (outputs.length > 1 && unknown >= 0) {
    throw new Mistake(
      `the format of ${outputs[unknown] ?? "an output"} is unknown: its extension does not tell, and there is no --format for it`,
      {
        help: `Specify one --format for each --output, in the same order: ${known.join(", ")}`,
      },
    );
  }
  const [output] = outputs;
  if (unknown === 0 && output !== undefined && output !== "-" && !isFolder(output)) {
    note(`${output}: written as a table, because its extension is none of ${shortEndings(known)}`);
  }
  return [...new Set(formats.map((format) => (format ?? "table") as Format | "table"))];
}

/**
 * @param what Whether reports are written, or comparisons.
 * @throws {Mistake} for an output whose name a file has already that is not an older one of its format. Pipes and devices are
 * written to.
 */
export function refuseOthers(planned: readonly Destination[], what: "report" | "comparison"): void {
  for (const { format, file } of planned) {
    if (file === undefined || plainFile(file) === undefined) continue;
    const head = Buffer.from(headOf(file, "output", HEAD)).toString("utf8");
    const { signature, comparison } = REPORT_FORMATS[format];
    const isOlder = (what === "comparison" ? comparison?.signature : signature)?.test(head) ?? false;
    if (head === "" || isOlder) continue;
    throw new Mistake(`the output already exists, and is not a ${what} in the format ${format}`, {
      location: file,
      help: "Choose another file, or overwrite this one with --force",
    });
  }
}

/** How much of a file is looked at. */
const HEAD = 4096;

/** One text to write. */
export interface Destination {
  format: ReportFormat;
  /** The file; stdout if absent. */
  file?: string;
  /** The one evalset that it holds, by position; all if absent. */
  evalSet?: number;
  /** Whether the file is for this command only, and not mentioned elsewhere. */
  isTemporary?: true;
}

/**
 * Which texts to write where. ADK's schema holds one evalset, so `json` makes a file of each.
 *
 * @param evalSets The names of the evalsets, as they may be used in file names.
 * @throws {Mistake} if that cannot be told, or two reports would be written to one place.
 */
export function destinations(
  formats: readonly ReportFormat[],
  outputs: readonly string[],
  evalSets: readonly string[],
): Destination[] {
  const repeated = formats.find((format, at) => formats.indexOf(format) !== at);
  if (repeated !== undefined) throw new Mistake(`--format ${repeated} is specified twice`);
  const planned = placed(formats, outputs, evalSets);
  const targets = planned.map(({ file }) => file ?? "stdout");
  const shared = targets.find((target, at) => targets.indexOf(target) !== at);
  if (shared !== undefined)
    throw new Mistake(`two results would be written to ${shared}`, { help: "Specify a different output for each" });
  return planned;
}

/** Warns of outputs whose names end as those of another format do. */
export function sayOddEndings(planned: readonly Destination[]): void {
  for (const { format, file } of planned) {
    const other = file && FORMATS.find((one) => REPORT_FORMATS[one].fileNames.test(file));
    if (other && other !== format)
      warn(`the output has the extension of ${other}, but --format makes it ${format}`, file);
  }
}

function placed(
  formats: readonly ReportFormat[],
  outputs: readonly string[],
  evalSets: readonly string[],
): Destination[] {
  const [output] = outputs;
  if (outputs.length === formats.length) {
    return formats.flatMap((format, at) => toNamed(format, outputs[at] as string, evalSets));
  }
  if (output === undefined) {
    const [only] = formats;
    if (formats.length === 1 && only !== undefined) return toNamed(only, "-", evalSets);
    throw new Mistake(`${formats.length} formats cannot all go to stdout`, {
      help: `Add --output report, which writes ${formats.map((format) => `report${REPORT_FORMATS[format].ending}`).join(", ")}; or one --output for each format, in the same order`,
    });
  }
  if (outputs.length > 1 || output === "-") {
    throw new Mistake(
      `there ${formats.length === 1 ? "is" : "are"} ${count(formats.length, "format")} but ${count(outputs.length, "output")}`,
      {
        help: "Specify one --output for each format, in the same order (- is stdout), or one name without extension for all",
      },
    );
  }
  if (isFolder(output)) return formats.flatMap((format) => toNamed(format, output, evalSets));
  const ending =
    FORMATS.map((format) => REPORT_FORMATS[format].ending).find((known) => output.endsWith(known)) ??
    /\.json$/.exec(output)?.[0];
  if (ending !== undefined) {
    throw new Mistake(`${formats.length} formats cannot go into one file`, {
      location: output,
      help: `Leave out ${ending}, so that each format adds its own extension; or specify one --output for each format`,
    });
  }
  return formats.flatMap((format): Destination[] =>
    format === "json" && evalSets.length > 1
      ? evalSets.map((name, evalSet) => ({ format, file: `${output}-${name}${REPORT_FORMATS.json.ending}`, evalSet }))
      : [{ format, file: output + REPORT_FORMATS[format].ending, ...(format === "json" ? { evalSet: 0 } : {}) }],
  );
}

/** One format to the output that the user named for it: stdout, a folder or a file. */
function toNamed(format: ReportFormat, output: string, evalSets: readonly string[]): Destination[] {
  if (format !== "json") {
    if (output === "-") return [{ format }];
    return [{ format, file: isFolder(output) ? join(output, `report${REPORT_FORMATS[format].ending}`) : output }];
  }
  if (evalSets.length === 1 && !isFolder(output))
    return [{ format, evalSet: 0, ...(output === "-" ? {} : { file: output }) }];
  if (output === "-" || output.endsWith(".json")) {
    throw new Mistake(`a file in ADK's schema has one evalset, and there are ${evalSets.length}`, {
      help: "Choose a folder: --output results/ gets a file for each evalset",
    });
  }
  return evalSets.map((name, evalSet) => ({ format, file: join(output, name + REPORT_FORMATS.json.ending), evalSet }));
}

export function isFolder(output: string): boolean {
  return /[\\/]$/.test(output) || kindOf(output) === "folder";
}
