/** Writes results: to stdout, or to files that appear under their names when all of them is there. */

import { randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { kindOf, reasonOf } from "./files.js";
import { Mistake } from "./mistakes.js";
import { writeResult } from "./process.js";

/** What is written: a string, or pieces of one that may be longer than a string can be. */
export type Text = string | Iterable<string>;

/** Pieces are put together until they are worth a write. */
const WORTH_WRITING = 64 * 1024;

function* batched(text: Text): Generator<string> {
  if (typeof text === "string") {
    yield text;
    return;
  }
  let batch = "";
  for (const piece of text) {
    batch += piece;
    if (batch.length < WORTH_WRITING) continue;
    yield batch;
    batch = "";
  }
  yield batch;
}

/**
 * Writes to stdout, a piece when the one before it has left the process. A reader that has seen enough (`| head`) is no
 * error.
 *
 * @throws {Mistake} if stdout cannot take it.
 */
export async function writeOut(text: Text): Promise<void> {
  for (const piece of batched(text)) if (!(await writePiece(piece))) return;
}

/** Whether anybody reads on. */
async function writePiece(text: string): Promise<boolean> {
  return await new Promise<boolean>((resolve, reject) => {
    writeResult(text, (error) => {
      const code = (error as NodeJS.ErrnoException | null | undefined)?.code;
      if (error == null) resolve(true);
      else if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED") resolve(false);
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
      throw new Mistake("the output is a folder", { location: file, help: "Choose a file in it" });
    const folder = dirname(file);
    makeFolder(folder);
    accessSync(kindOf(file) === undefined ? folder : file, constants.W_OK);
    if (isPlainFile(file)) accessSync(dirname(realpathSync(file)), constants.W_OK);
    holdPipe(file);
  } catch (error) {
    throw unwritable(error, file);
  }
}

/** Prepares a file that must not exist yet, unless it may be overwritten. @throws {Mistake} if it cannot be written. */
export function prepareNewFile(file: string, overwrites: boolean): void {
  if (kindOf(file) === "file" && !overwrites) {
    throw new Mistake("the output already exists", { location: file, help: "To overwrite it, add --force" });
  }
  prepareFile(file);
}

/**
 * Opens an output that is a named pipe and leaves it open. Opened for writing, a pipe that nobody reads is waited for without
 * end; this way it is an error.
 */
function holdPipe(file: string): void {
  if (kindOf(file) !== "file" || !statSync(file).isFIFO()) return;
  try {
    openSync(file, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
    throw new Mistake("the output is a pipe that no program reads", {
      location: file,
      help: "Start the program that reads it first, or choose a file",
    });
  }
}

/** @throws {Mistake} for a link to nothing, through which a file would be made elsewhere. */
export function refuseLinkToNothing(file: string, option: "record" | "journal"): void {
  if (kindOf(file) !== undefined || lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  const what = option === "record" ? "recording" : option;
  throw new Mistake(`the ${what} is a link to a file that does not exist`, {
    location: file,
    help: `Pass the file itself as --${option}`,
  });
}

/** The one path of a plain file, however it was named; undefined for anything else, and for a file without a path. */
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
 * Writes a file, piece by piece: under another name in the same folder, then renamed. Anything but a plain file (a pipe, a
 * device) is written to directly.
 *
 * @throws {Mistake} if it cannot be written; what was there before is still there.
 */
export async function writeFile(file: string, text: Text): Promise<void> {
  if (kindOf(file) !== undefined && !isPlainFile(file)) {
    const device = await opened(file);
    await written(device, file, text);
    return;
  }
  const target = kindOf(file) === undefined ? file : realpathSync(file);
  const mode = kindOf(target) === undefined ? undefined : statSync(target).mode;
  const { path: draft, handle } = await openedDraft(file, target);
  try {
    await written(handle, file, text, mode);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw isOfSystem(error) ? unwritable(error, file) : error;
  } finally {
    drafts.delete(draft);
  }
}

/** Drafts go with the process, if it ends before they are whole. */
export const drafts = new Set<string>();
process.on("exit", () => {
  for (const draft of drafts) rmSync(draft, { force: true });
});

/**
 * A new file beside another. Its name is unpredictable: a link prepared there would be followed.
 *
 * @param file What messages call the other.
 */
export async function openedDraft(file: string, target: string): Promise<{ path: string; handle: FileHandle }> {
  const path = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomUUID()}.tmp`);
  try {
    const handle = await open(path, "wx");
    drafts.add(path);
    return { path, handle };
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw unwritable(isTaken ? new Error(`there is a file in the place of its draft, ${path}`) : error, file);
  }
}

async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file, "w");
  } catch (error) {
    throw unwritable(error, file);
  }
}

/** Writes all, and closes. An error while the text is made is not a write error. */
async function written(handle: FileHandle, file: string, text: Text, mode?: number): Promise<void> {
  try {
    if (mode !== undefined) await handle.chmod(mode);
    for (const piece of batched(text)) await handle.writeFile(piece);
  } catch (error) {
    await handle.close().catch(() => {});
    throw isOfSystem(error) ? unwritable(error, file) : error;
  }
  try {
    await handle.close();
  } catch (error) {
    throw unwritable(error, file);
  }
}

function isOfSystem(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException | null)?.syscall === "string";
}

/**
 * Writes results to a file or to stdout. Where that fails they go to a file in a new folder for temporary files, since
 * they may have cost money.
 *
 * @param text Returns the text, from the beginning each time.
 * @param name What the file is called that takes what stdout cannot.
 * @returns What could not be done, with the place of the results; undefined if all went well.
 */
export async function writeSafely(
  file: string | undefined,
  text: () => Text,
  name: string,
): Promise<Mistake | undefined> {
  try {
    if (file === undefined) await writeOut(text());
    else await writeFile(file, text());
    return undefined;
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return await writtenElsewhere(error, file === undefined ? name : basename(file), text);
  }
}

async function writtenElsewhere(mistake: Mistake, name: string, text: () => Text): Promise<Mistake> {
  const { message, location: place, cause } = mistake;
  for (const folder of [tmpdir(), homedir()]) {
    try {
      const elsewhere = join(mkdtempSync(join(folder, "adk-metrics-")), name);
      await writeFile(elsewhere, text());
      return new Mistake(message, { location: place, help: `The results are in ${elsewhere}`, cause });
    } catch (error) {
      if (!(error instanceof Mistake) && !isOfSystem(error)) throw error;
    }
  }
  return new Mistake(message, {
    location: place,
    help: "The results could not be written to a folder for temporary files either",
    cause,
  });
}

function isPlainFile(file: string): boolean {
  return kindOf(file) === "file" && statSync(file).isFile();
}

/** The mistake of a place that cannot be written to. */
export function unwritable(error: unknown, file: string): Mistake {
  if (error instanceof Mistake) return error;
  return new Mistake(`the output cannot be written: ${reasonOf(error)}`, { location: file, cause: error });
}
