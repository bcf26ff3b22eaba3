/** The files that a user names: what is read, and the runs and configs that belong to an evalset. */

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isObject } from "../engine/values.js";
import { parseJson } from "../engine/json.js";
import { Mistake, Mistakes } from "./mistakes.js";
import { note } from "./process.js";

/** An evalset on the command line: `travel.evalset.json`, or `travel.evalset.json:case1,case2`. */
export interface Selection {
  file: string;
  /** The cases to evaluate; all if absent. */
  evalIds?: string[];
  /** More files of the same evalset, of JSON lines. */
  others?: string[];
}

/**
 * Reads an evalset argument. A list of cases follows the last colon before which there is a file, so that colons in
 * paths and in the names of cases mean no harm.
 *
 * @throws {Mistake} if no case follows the colon.
 */
export function selectionOf(argument: string): Selection {
  if (kindOf(argument) !== undefined) return { file: argument };
  const colons = [...argument.matchAll(/:/g)].map(({ index }) => index).reverse();
  const colon =
    colons.find((at) => kindOf(argument.slice(0, at)) === "file") ?? colons.find((at) => looksLikeCases(argument, at));
  if (colon === undefined) return { file: argument };
  const file = argument.slice(0, colon);
  const evalIds = argument
    .slice(colon + 1)
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
  if (evalIds.length === 0) {
    throw new Mistake(`no case follows the colon in ${argument}`, { help: `For all cases, write ${file}` });
  }
  return { file, evalIds };
}

/** Neither the colon of `C:\evals\travel.json` nor one followed by folders begins a list of cases. */
function looksLikeCases(argument: string, colon: number): boolean {
  return colon > 1 && !/[\\/]/.test(argument.slice(colon + 1));
}

/**
 * Reads a file.
 *
 * @throws {Mistake} if it is not there, is a folder, or cannot be read.
 */
export function readBytes(file: string, what: string, folderHelp?: string): Uint8Array {
  if (kindOf(file) === "folder") throw new Mistake(`the ${what} is a folder`, { location: file, help: folderHelp });
  const bytes = readIfThere(file, what);
  if (bytes === undefined) throw missing(file, what);
  return bytes;
}

/** The longest file that Node reads in one piece. The engine says itself what is too long for it. */
const MAX_BYTES = 2 ** 31 - 1;

/**
 * Reads a regular file, whatever links lead to it; nothing if there is none. A pipe or a device would be waited for, or
 * have no end.
 *
 * @throws {Mistake} if it is not a regular file, is too large, or cannot be read.
 */
export function readIfThere(file: string, what: string): Uint8Array | undefined {
  let opened: number | undefined;
  try {
    opened = openRegular(file, what);
    if (opened === undefined) return undefined;
    const { size } = fstatSync(opened);
    if (size > MAX_BYTES) {
      throw new Mistake(`the ${what} is larger than 2 GB, and one JSON text may have 256 MiB`, {
        location: file,
        help: "Split it into several files. Cases may be JSON lines (.jsonl): `eval` scores any number of them",
      });
    }
    return size > 0 ? readFileSync(opened) : readUnsized(opened, file, what);
  } catch (error) {
    throw error instanceof Mistake ? error : unreadable(error, file, what);
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** Some files in `/proc` report a size of 0 and never end. At most this much of such a file is read. */
const MAX_UNSIZED_BYTES = 64 * 1024 * 1024;

/** Reads a file whose size the system does not know. */
function readUnsized(opened: number, file: string, what: string): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let length = 0; ;) {
    const piece = new Uint8Array(PIECE_BYTES);
    const count = readSync(opened, piece);
    if (count === 0) return Buffer.concat(pieces);
    length += count;
    pieces.push(piece.subarray(0, count));
    if (length <= MAX_UNSIZED_BYTES) continue;
    throw new Mistake(`the ${what} is larger than 64 MiB and not a regular file`, {
      location: file,
      help: "Write its contents to a file first",
    });
  }
}

/** The first bytes of a regular file; none if there is none. */
export function headOf(file: string, what: string, most: number): Uint8Array {
  const opened = openRegular(file, what);
  if (opened === undefined) return new Uint8Array();
  try {
    const head = new Uint8Array(most);
    return head.subarray(0, readSync(opened, head));
  } catch (error) {
    throw unreadable(error, file, what);
  } finally {
    closeSync(opened);
  }
}

/** Opens a regular file; nothing if there is none. What was opened is what is looked at. */
export function openRegular(file: string, what: string): number | undefined {
  let opened: number;
  try {
    // Without waiting for a program that writes to a pipe.
    opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    throw error;
  }
  const found = fstatSync(opened);
  if (found.isFile()) return opened;
  closeSync(opened);
  if (found.isDirectory()) return undefined;
  throw new Mistake(`the ${what} is not a regular file`, {
    location: file,
    help: "Pipes and devices cannot be read here: write their contents to a file first",
  });
}

/** The bytes of a plain file; 0 for anything else. */
export function sizeOf(file: string): number {
  try {
    const status = statSync(file);
    return status.isFile() ? status.size : 0;
  } catch {
    return 0;
  }
}

const PIECE_BYTES = 4 * 1024 * 1024;

/**
 * Reads a file of any size in pieces.
 *
 * @throws {Mistake} as {@link readBytes}, when a piece is asked for.
 */
export function* readPieces(file: string, what: string): Generator<Uint8Array> {
  let descriptor: number | undefined;
  try {
    descriptor = openRegular(file, what);
    if (descriptor === undefined) throw missing(file, what);
    for (;;) {
      const piece = new Uint8Array(PIECE_BYTES);
      const length = readSync(descriptor, piece);
      if (length === 0) return;
      yield piece.subarray(0, length);
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : unreadable(error, file, what);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function unreadable(error: unknown, file: string, what: string): Mistake {
  return new Mistake(`the ${what} cannot be read: ${reasonOf(error)}`, { location: file });
}

export function missing(file: string, what: string): Mistake {
  return new Mistake(`the ${what} does not exist`, { location: file, help: `Paths are relative to ${process.cwd()}` });
}

/** Why the system refused, in a few words. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const words: Readonly<Record<string, string>> = {
    EACCES: "permission denied",
    EPERM: "the operation is not permitted",
    EROFS: "the file system is read-only",
    ENOSPC: "the disk is full",
    ENOTDIR: "a part of its path is a file, not a folder",
    EISDIR: "it is a folder",
    ENOENT: "its folder cannot be created",
    EEXIST: "a part of its path is a file, not a folder",
    EMFILE: "too many files are open",
    ENAMETOOLONG: "its name is too long",
  };
  return words[code ?? ""] ?? message;
}

/** Whether there is a file or a folder at a path; neither, too, if the system does not let us know. */
export function kindOf(path: string): "file" | "folder" | undefined {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return undefined;
  }
}

/** What an evalset is called after its file: `evals/travel.evalset.json` is `travel`. */
export function baseName(file: string): string {
  const name = basename(file);
  return name.replace(/(?:\.evalset|\.test)?\.(?:jsonl?|ndjson)$/i, "") || name;
}

/** The config beside an evalset, if there is one. */
export function configBeside(file: string): string | undefined {
  const config = join(dirname(file), "test_config.json");
  return kindOf(config) === "file" ? config : undefined;
}

/** The endings by which the runs of an evalset are known in a folder. */
const ACTUAL_ENDINGS = [
  ".actual.json",
  ".actual.jsonl",
  ".evalset_result.json",
  ".inferences.json",
  ".session.json",
  ".traces.json",
  ".traces.jsonl",
];
/** Those that are as good in a folder of runs; beside the evalset they may be another form of the evalset itself. */
const ENDINGS_ELSEWHERE = [...ACTUAL_ENDINGS, ".evalset.json", ".json", ".jsonl"];

/**
 * The file of what the agent did for each evalset: one `--actual` per evalset in the same order, or a folder for all,
 * which holds one file of the base name of each; without any, the folder of the evalset.
 *
 * @throws {Mistake} if their numbers differ, or a folder holds no file or several for an evalset.
 */
export function actualFiles(
  actual: readonly string[],
  evalSets: readonly string[],
  insteadOf: (evalSet: string) => string,
): string[] {
  const [only] = actual;
  if (only === undefined) {
    // All that lack one are named at once.
    const mistakes: unknown[] = [];
    const found = evalSets.flatMap((file) => {
      try {
        return actualIn(dirname(file), file, insteadOf(file));
      } catch (mistake) {
        mistakes.push(mistake);
        return [];
      }
    });
    if (mistakes.length > 0) throw new Mistakes(mistakes);
    return found;
  }
  if (actual.length === 1 && kindOf(only) === "folder") return evalSets.map((file) => actualIn(only, file));
  if (actual.length !== evalSets.length) {
    const count = evalSets.length === 1 ? "is 1 evalset" : `are ${evalSets.length} evalsets`;
    throw new Mistake(`there ${count} but ${actual.length} --actual`, {
      help: "Specify one --actual for each evalset, in the same order (an evalset that is repeated counts once), or one folder that contains them all",
    });
  }
  return actual.map((path, at) => (kindOf(path) === "folder" ? actualIn(path, evalSets[at] as string) : path));
}

function actualIn(folder: string, evalSet: string, instead?: string): string {
  if (kindOf(evalSet) === undefined) throw missing(evalSet, "evalset");
  const base = baseName(evalSet);
  const endings = resolve(folder) === resolve(dirname(evalSet)) ? ACTUAL_ENDINGS : ENDINGS_ELSEWHERE;
  const files = endings.map((ending) => join(folder, base + ending)).filter((file) => kindOf(file) === "file");
  // Results are what an earlier run has said of one of the others.
  const others = files.filter((file) => !isResults(file));
  const found = others.length > 0 ? others : files;
  if (others.length > 0 && files.length > others.length) {
    note(`${files.filter(isResults).join(", ")}: ignored, because there is another file of what the agent did`);
  }
  const [file] = found;
  if (file === undefined) {
    const other = otherThanEvalSet(evalSet);
    if (other !== undefined) throw new Mistake("this is not an evalset", { location: evalSet, help: other });
    throw new Mistake(`there is no file of what the agent did for the evalset ${base}`, {
      location: folder,
      help: `${instead ?? "Specify it with --actual <file>"}. Looked for ${endings.map((ending) => base + ending).join(", ")}`,
    });
  }
  if (found.length > 1) {
    throw new Mistake(`there are several files of what the agent did for the evalset ${base}`, {
      location: folder,
      help: `Choose one with --actual <file>: ${found.map((one) => basename(one)).join(", ")}`,
    });
  }
  return file;
}

/** Whether a file is named as `--format json` and `adk eval` name results. */
export function isResults(file: string): boolean {
  return file.endsWith(".evalset_result.json");
}

/** What to do with a file that was passed as an evalset but is clearly something else; undefined if it may be one. */
function otherThanEvalSet(file: string): string | undefined {
  let value: unknown;
  try {
    value = parseJson(new TextDecoder().decode(readBytes(file, "evalset")));
  } catch {
    return undefined;
  }
  if (!isObject(value) || "eval_cases" in value || "evalCases" in value) return undefined;
  return OTHER_FILES.find(([keys]) => keys.some((key) => key in value))?.[1];
}

const WITH_EVAL_SET = "pass it as --actual <file>, with an evalset that says what is expected";
const OTHER_FILES: readonly (readonly [keys: readonly string[], help: string])[] = [
  [["criteria"], "It looks like an eval config: pass it as --config <file>, with an evalset"],
  [
    ["eval_case_results", "evalCaseResults", "inference_results", "inferenceResults", "inferences"],
    `It looks like results, which say what an agent did: ${WITH_EVAL_SET}`,
  ],
  [["events"], `It looks like a session, which says what an agent did: ${WITH_EVAL_SET}`],
  [["resourceSpans", "resourceLogs"], `It looks like traces, which say what an agent did: ${WITH_EVAL_SET}`],
];
