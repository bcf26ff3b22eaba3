/** What a user can do wrong, in words: message, place, help; never a stack. */

import { AdkMetricsError, strictErrorOf, strictWarningsOf } from "../errors.js";
import { lineAt, withinLine } from "../lines/shape.js";
import { defused, visible } from "../report/text.js";
import { ExitStatus, noticeText, paint } from "./process.js";
import { definedProperties } from "../lists.js";

/** A mistake on the command line, in a file, or in where results should go. */
export class Mistake extends Error {
  /** Where: a path, with a line if one is known. */
  readonly location: string | undefined;
  /** What to do about it. */
  readonly help: string | undefined;

  constructor(
    message: string,
    more: { location?: string | undefined; help?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.location = more.location;
    this.help = more.help;
  }
}

/** Several mistakes, all worth knowing before the next try. */
export class Mistakes extends Error {
  readonly mistakes: readonly unknown[];

  constructor(mistakes: readonly unknown[]) {
    super(`${mistakes.length} errors`);
    this.mistakes = mistakes;
  }
}

/** The files that the engine's inputs were read from. */
export interface InputFiles {
  evalSet?: string;
  actual?: string | undefined;
  config?: string;
  /** Which case of the results was the first that the engine saw, where it was given some of them. */
  firstCase?: number;
  /** Where the items of an input are that was put together from lines: file and line of each. */
  lines?: { evalSet?: (item: number) => string; actual?: (item: number) => string };
}

/** A place in a portion of results as the place in all of them; lines are those of the portion and go. */
export function inWhole<T extends { path?: string; line?: number }>(mistake: T, firstCase: number): T {
  if (!mistake.path?.startsWith("actual")) return mistake;
  const path = mistake.path.replace(/esults\[(\d{1,15})\]/, (_, index) => `esults[${Number(index) + firstCase}]`);
  const { line: _, ...rest } = mistake;
  return { ...rest, path } as T;
}

let journalFile: string | undefined;

/** Says which file mistakes in the journal are in. */
export function nameJournal(file: string): void {
  journalFile = file;
}

/** Where an engine's mistake is, in terms of files: `travel.evalset.json:12, eval_cases[0].eval_id`. */
export function locationOf({ path, line }: { path?: string; line?: number }, files: InputFiles): string | undefined {
  const [, input, rest] = /^(evalSet|actual|config)(?:: (.*))?$/s.exec(path ?? "") ?? [];
  const file = input === undefined ? undefined : files[input as "evalSet" | "actual" | "config"];
  const placeOfItem = files.lines?.[input as "evalSet" | "actual"];
  if (placeOfItem !== undefined) {
    const item = lineAt(path ?? "");
    if (item !== undefined) return [placeOfItem(item), withinLine(path ?? "")].filter(Boolean).join(", ");
    if (line !== undefined) return placeOfItem(line - 1);
  }
  const at = (location: string | undefined) =>
    location === undefined || line === undefined ? location : `${location}:${line}`;
  const named = path === "journal" ? (journalFile ?? "--journal") : (OPTIONS[path ?? ""] ?? path);
  const parts = file === undefined ? [at(named)] : [at(file), rest];
  return parts.filter((part) => part !== undefined).join(", ") || undefined;
}

/** The options of the command line by which what errors name is given. */
const OPTIONS: Readonly<Record<string, string>> = {
  advisory: "--advisory",
  "budget: prices": "--price",
  "connection: url": "--queue",
};

/** An engine's error as a mistake in a file; anything else as it is. */
export function inFiles(error: unknown, files: InputFiles): unknown {
  if (!(error instanceof AdkMetricsError)) return error;
  const { path, line } = error;
  const location = { ...definedProperties({ path, line }) };
  const { firstCase } = files;
  return mistakeAt(error, locationOf(firstCase === undefined ? location : inWhole(location, firstCase), files));
}

/** As {@link inFiles}, where one file is the only input, which the error need not name. */
export function inFile(error: unknown, file: string, input = "evalSet"): unknown {
  if (!(error instanceof AdkMetricsError)) return error;
  const location = error.line === undefined ? file : `${file}:${error.line}`;
  const within = error.path === input ? undefined : error.path?.replace(`${input}: `, "");
  return mistakeAt(error, within === undefined ? location : `${location}, ${within}`);
}

function mistakeAt(error: AdkMetricsError, location: string | undefined): Mistake {
  return new Mistake(error.message, { location: location, help: error.help, cause: error });
}

/** The warnings that `--strict` refuses, as mistakes in files. */
export function refusedWarnings(error: unknown, files: InputFiles): unknown[] {
  const warnings = strictWarningsOf(error);
  if (warnings.length === 0) return [inFiles(error, files)];
  return warnings.map((warning) => inFiles(strictErrorOf([warning]), files));
}

/** Says on stderr what went wrong, and with which status to exit. */
export function report(error: unknown): ExitStatus {
  const all = error instanceof Mistakes ? error.mistakes : [error];
  // Evalsets that share a config share what is wrong with it.
  process.stderr.write([...new Set(all.map(text))].join("\n"));
  return ExitStatus.Unusable;
}

function text(error: unknown): string {
  const known = error instanceof Mistake ? error : unforeseen(error);
  const notice = noticeText(paint(process.stderr, "red", "error:"), known);
  if (process.env.ADK_METRICS_DEBUG !== "1" || !(error instanceof Error)) return notice;
  return `${notice}\n${defused(visible(String(error.stack)))}\n`;
}

function unforeseen(error: unknown): Mistake {
  if (error instanceof AdkMetricsError) return mistakeAt(error, locationOf(error, {}));
  return new Mistake(`unexpected error: ${error instanceof Error ? error.message : String(error)}`, {
    help: "This is a bug in adk-metrics; please report it with what ADK_METRICS_DEBUG=1 prints",
  });
}
