// Node only: no bundle for browsers may reach this file.
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  realpathSync,
  writeSync,
} from "node:fs";
import { JsonLimitError, parseJson } from "../engine/json.js";
import { atOnce, inTurns, type Steps } from "../engine/steps.js";
import { messageOf, unexpected } from "../engine/values.js";
import { MAX_DEPTH } from "../generated/limits.js";
import { AdkMetricsError } from "../errors.js";
import type { Journal, JournalEntry } from "../types.js";
import { optionsOf } from "../known-options.js";
import { checkEntry } from "./entries.js";
import { FileLock } from "./lock.js";

/** The first line of a journal. */
const HEADER = '{"format":"adk-metrics journal","version":1}\n';

/** How long to wait between two syncs: cases that settle faster share one, since a sync takes as much of the processor as a call. */
const SYNC_MS = 25;

const READ_BYTES = 1024 * 1024;

/** How many bytes of lines are read in a step, which may be a line more. */
const STEP_BYTES = 64 * 1024;

/** What agents did may be as deep as the engine reads it, and is inside an entry. */
const MOST_LEVELS = MAX_DEPTH + 8;

/** A journal in a file. */
export interface FileJournal extends Journal {
  /** Releases the file, for another process or another journal of this one. Done when the process ends, too. */
  close(): void;
}

/** How a journal in a file is opened. */
export interface FileJournalOptions {
  /** Called with what was repaired, such as a last line that was cut off. */
  onNotice?(notice: string): void;
}

/**
 * A journal in a file of JSON lines. What is appended is with the operating system when the call is over, and so survives the
 * process; what is settled is on the disk. One process writes at a time: another is refused, unless the first has died. A last line that was cut off is dropped. Replies and what agents did are stored, keys are not. For Node, Deno and Bun.
 *
 * @param file Its path; made when an evaluation begins.
 */
export function fileJournal(file: string, options: FileJournalOptions = {}): FileJournal {
  const { onNotice } = optionsOf(options, ["onNotice"]);
  if (typeof file !== "string" || file === "") throw unexpected("the path of a file", file, "file");
  return new JournalFile(file, onNotice);
}

class JournalFile implements FileJournal {
  readonly #file: string;
  readonly #onNotice: ((notice: string) => void) | undefined;
  #lock: FileLock | undefined;
  #descriptor = -1;
  /** Whether it was read to its end: before that nothing is appended. */
  #isRead = false;
  /** Where the last whole line ends. */
  #end = 0;
  #sync: Promise<void> | undefined;
  /** The sync after the current one, for what was written since it began. */
  #nextSync: Promise<void> | undefined;
  /** When the last sync ended. */
  #syncedAt = -Infinity;

  constructor(file: string, onNotice: ((notice: string) => void) | undefined) {
    this.#file = file;
    this.#onNotice = onNotice;
  }

  async read(): Promise<JournalEntry[]> {
    try {
      this.close();
      this.#descriptor = openSync(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o666);
      if (!fstatSync(this.#descriptor).isFile()) throw new Error("it is not a regular file");
      // A link to the file is the file: both names have one lock.
      const lock = new FileLock(realpathSync(this.#file), undefined, this.#file);
      this.#lock = lock;
      await lock.take();
      const entries = await this.#entries(lock);
      if (this.#end === 0) this.#write(HEADER);
      this.#isRead = true;
      return entries;
    } catch (error) {
      if (!(error instanceof Abandoned)) this.close();
      throw this.#failed("read", error);
    }
  }

  /** Reads whole lines, and cuts off what follows them. */
  async #entries(lock: FileLock): Promise<JournalEntry[]> {
    // Whoever has the thread in between may close the journal and open it again with the same descriptor.
    const stillOpen = () => {
      if (this.#lock !== lock) throw new Abandoned("it was closed while it was being read");
    };
    stillOpen();
    const { entries, end, cutLine } = await inTurns(entriesInSteps(this.#descriptor, stillOpen));
    stillOpen();
    this.#end = end;
    if (cutLine !== undefined) {
      ftruncateSync(this.#descriptor, end);
      this.#onNotice?.(`the journal's last line was cut off and is ignored: ${this.#file}, line ${cutLine}`);
    }
    return entries;
  }

  async append(entries: readonly JournalEntry[], settles: boolean): Promise<void> {
    try {
      if (!this.#isRead) throw new Error(this.#descriptor < 0 ? "it is closed" : "it is still being read");
      this.#lock?.check();
      this.#write(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
      if (settles) await this.#synced();
    } catch (error) {
      throw this.#failed("written", error);
    }
  }

  #write(text: string): void {
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor, bytes, at);
      this.#end += bytes.length;
    } catch (error) {
      // Part of it may have been written, and would become one line with what follows.
      ftruncateSync(this.#descriptor, this.#end);
      throw error;
    }
  }

  /** Waits until all that was written is on the disk. Calls that come meanwhile share the next sync. */
  #synced(): Promise<void> {
    if (this.#sync === undefined) {
      const sync = this.#syncNow().finally(() => (this.#sync = undefined));
      return (this.#sync = sync);
    }
    return (this.#nextSync ??= this.#sync
      .catch(() => {})
      .then(() => {
        this.#nextSync = undefined;
        return this.#synced();
      }));
  }

  async #syncNow(): Promise<void> {
    const early = this.#syncedAt + SYNC_MS - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    // Whoever closed it meanwhile does not wait for the disk.
    if (this.#descriptor < 0) return;
    await new Promise<void>((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => (error === null ? resolve() : reject(error)));
    });
    this.#syncedAt = performance.now();
  }

  close(): void {
    if (this.#descriptor >= 0) closeSync(this.#descriptor);
    this.#descriptor = -1;
    this.#isRead = false;
    this.#lock?.release();
    this.#lock = undefined;
  }

  #failed(what: string, cause: unknown): AdkMetricsError {
    if (cause instanceof AdkMetricsError) return cause;
    const isFull = ["ENOSPC", "EDQUOT", "EFBIG"].includes((cause as NodeJS.ErrnoException).code ?? "");
    return new AdkMetricsError(
      "journal_failed",
      `the journal cannot be ${what}: ${messageOf(cause).replace(/^Error: /, "")}`,
      {
        path: this.#file,
        ...(isFull
          ? { help: "Free up space and run it again: what was written before is kept, and is not asked or run again" }
          : {}),
        cause,
      },
    );
  }
}

/** Why a journal is not read on: what belongs to it now is not this reader's to close. */
class Abandoned extends Error {
  // Only its message: the name of our class says nothing to a user.
  override readonly name = "";
}

/** The entries of a journal's whole lines, where these end, and the number of a last line that was cut off. */
interface ReadEntries {
  entries: JournalEntry[];
  end: number;
  cutLine?: number;
}

/**
 * Reads a journal and leaves it as it is.
 *
 * @throws {Error} for anything but a journal.
 */
export function readEntries(descriptor: number): ReadEntries {
  return atOnce(entriesInSteps(descriptor));
}

/** @param check Called before each step, and throws if the descriptor is no longer the journal's. */
function* entriesInSteps(descriptor: number, check: () => void = () => {}): Steps<ReadEntries> {
  const entries: JournalEntry[] = [];
  // The pieces of a line that has not ended, joined once: joining at each piece would take quadratic time.
  let rest: Buffer[] = [];
  let line = 0;
  let end = 0;
  let due = STEP_BYTES;
  const piece = Buffer.allocUnsafe(READ_BYTES);
  for (let at = 0; ;) {
    const count = readSync(descriptor, piece, 0, READ_BYTES, at);
    if (count === 0) break;
    at += count;
    const fresh = piece.subarray(0, count);
    let start = 0;
    for (let stop = fresh.indexOf(10); stop !== -1; stop = fresh.indexOf(10, start)) {
      const bytes = Buffer.concat([...rest, fresh.subarray(start, stop + 1)]);
      const text = bytes.toString("utf8");
      line += 1;
      if (line > 1) entries.push(entryOf(text, line));
      else if (text !== HEADER) throw notOurs();
      end += bytes.length;
      start = stop + 1;
      rest = [];
      if (end < due) continue;
      due = end + STEP_BYTES;
      yield;
      check();
    }
    if (start < count) rest.push(Buffer.from(fresh.subarray(start)));
    // A file that is not a journal may be large and have no lines.
    if (line === 0 && at > HEADER.length) throw notOurs();
    yield;
    check();
  }
  if (rest.length === 0) return { entries, end };
  if (line === 0 && !HEADER.startsWith(Buffer.concat(rest).toString("utf8"))) throw notOurs();
  return { entries, end, cutLine: line + 1 };
}

function entryOf(text: string, line: number): JournalEntry {
  let entry: unknown;
  try {
    entry = parseJson(text, MOST_LEVELS);
  } catch (error) {
    if (error instanceof JsonLimitError) throw new Error(`line ${line} cannot be read: ${error.message}`);
    throw new Error(`line ${line} is not JSON: ${messageOf(error)}`);
  }
  checkEntry(entry, `line ${line}`);
  return entry;
}

function notOurs(): Error {
  return new Error("it is not a journal of this package");
}
