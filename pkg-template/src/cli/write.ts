/** Writes results: to stdout, or to files that appear under their names when all of them is there. */

import { accessSync, constants, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { kindOf, reasonOf } from "./files.js";
import { Mistake } from "./mistakes.js";
import { writeResult } from "./process.js";

/**
 * Writes to stdout and waits until the text has left the process. A reader that has seen enough (`| head`) is no error.
 *
 * @throws {Mistake} if stdout cannot take it.
 */
export async function writeOut(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    writeResult(text, (error) => {
      const code = (error as NodeJS.ErrnoException | null | undefined)?.code;
      if (error == null || code === "EPIPE" || code === "ERR_STREAM_DESTROYED") resolve();
      else reject(unwritable(error, "stdout"));
    });
  });
}

/**
 * Makes sure that a file can be written before any work is done for it; makes its folder.
 *
 * @throws {Mistake} if it cannot.
 */
export function prepareFile(file: string): void {
  try {
    if (kindOf(file) === "folder")
      throw new Mistake("the output is a folder", { place: file, help: "Name a file in it" });
    const folder = dirname(file);
    makeFolder(folder);
    accessSync(kindOf(file) === undefined ? folder : file, constants.W_OK);
    if (isPlainFile(file)) accessSync(dirname(realpathSync(file)), constants.W_OK);
  } catch (error) {
    throw unwritable(error, file);
  }
}

/** The one path of a plain file, however it was named; undefined for what is none, or has no path any more. */
export function plainFile(file: string): string | undefined {
  try {
    return isPlainFile(file) ? realpathSync.native(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a folder and those above it. `mkdirSync` can do this too, but never returns for a folder below `/proc`. */
function makeFolder(folder: string): void {
  if (kindOf(folder) === "folder") return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  mkdirSync(folder);
}

/**
 * Writes a file: under another name in the same folder, then renamed. What is no plain file (a pipe, a device) is
 * written to directly.
 *
 * @throws {Mistake} if it cannot be written; what was there before is still there.
 */
export function writeFile(file: string, text: string): void {
  if (kindOf(file) !== undefined && !isPlainFile(file)) {
    try {
      writeFileSync(file, text);
    } catch (error) {
      throw unwritable(error, file);
    }
    return;
  }
  const target = kindOf(file) === undefined ? file : realpathSync(file);
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  try {
    writeFileSync(draft, text, kindOf(target) === undefined ? {} : { mode: statSync(target).mode });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw unwritable(error, file);
  }
}

function isPlainFile(file: string): boolean {
  return kindOf(file) === "file" && statSync(file).isFile();
}

/** The mistake of a place that cannot be written to. */
export function unwritable(error: unknown, file: string): Mistake {
  if (error instanceof Mistake) return error;
  return new Mistake(`the output cannot be written: ${reasonOf(error)}`, { place: file, cause: error });
}
