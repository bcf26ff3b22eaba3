// Node only: no bundle for browsers may reach this file.
import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { messageOf } from "../engine/values.js";
import { AdkMetricsError, type AdkMetricsErrorCode, isAdkMetricsError } from "../errors.js";

/** After how many milliseconds without renewal a lock counts as that of a process that has ended. */
const LEASE_MS = 15_000;
const RENEWAL_MS = 3_000;
/** The longest that taking a lock over takes, in milliseconds. */
const TAKEOVER_MS = 5_000;
/** The most attempts to take a lock, one every 20 ms. */
const MOST_ATTEMPTS = 1_000;

/** Whose a lock is. */
interface Holder {
  pid: number;
  host: string;
}

const NOBODY: Holder = { pid: 0, host: "" };

/** More than a lock holds. */
const MOST_BYTES = 1024;
/** A valid host name; a file that another program wrote may contain anything. */
const HOST = /^[\w.-]{1,253}$/;

/** What errors call it, and what to name instead. */
interface LockNames {
  code: AdkMetricsErrorCode;
  what: string;
  other: string;
}

/** The locks that this process holds; they go with it. */
const held = new Set<FileLock>();
let isWatchingExit = false;

/** A file beside another that says who writes to it, made exclusively and renewed as long as its process lives. */
export class FileLock {
  readonly file: string;
  readonly #of: string;
  readonly #names: LockNames;
  #descriptor = -1;
  #renewal: ReturnType<typeof setInterval> | undefined;
  #renewed = 0;

  /** @param shown What errors call the file. */
  constructor(
    of: string,
    names: LockNames = { code: "journal_failed", what: "the journal", other: "journal" },
    shown = of,
  ) {
    this.#of = shown;
    this.#names = names;
    this.file = `${of}.lock`;
  }

  /** @throws {AdkMetricsError} if another process holds it, or the system lets no file be made. */
  async take(): Promise<void> {
    try {
      await this.#acquire();
    } catch (cause) {
      if (isAdkMetricsError(cause)) throw cause;
      const { code, what, other } = this.#names;
      throw new AdkMetricsError(
        code,
        `the lock file of ${what} cannot be created: ${messageOf(cause).replace(/^Error: /, "")}`,
        {
          path: this.file,
          help: `It is a file beside ${what}: make the folder writable, or choose another ${other} in one that is`,
          cause,
        },
      );
    }
    this.#renewal = setInterval(() => this.#renew(), RENEWAL_MS);
    // Runtimes other than Node have plain numbers for timers.
    (this.#renewal as { unref?: () => void }).unref?.();
    if (isWatchingExit) return;
    isWatchingExit = true;
    process.on("exit", () => held.forEach((lock) => lock.release()));
  }

  async #acquire(): Promise<void> {
    for (let attempt = 1; !this.#opened(); attempt += 1) {
      const before = holderOf(this.file);
      if (before !== undefined && isAlive(before, this.file)) throw this.#heldBy(before);
      if (attempt > MOST_ATTEMPTS) throw this.#heldBy(before ?? NOBODY);
      // Of several processes that find the lock of a dead one, one may remove it: a second would remove the lock of the first.
      const takeover = `${this.file}.takeover`;
      if (exclusive(takeover) === undefined) {
        // A takeover with a date in the future is not in progress either: a clock was changed.
        if (isOlder(takeover, TAKEOVER_MS) || isOlder(takeover, TAKEOVER_MS, -1)) rmSync(takeover, { force: true });
        await new Promise((resolve) => setTimeout(resolve, 20));
        continue;
      }
      const now = holderOf(this.file);
      if (now === undefined || !isAlive(now, this.file)) rmSync(this.file, { force: true });
      const isTaken = this.#opened();
      rmSync(takeover, { force: true });
      if (isTaken) break;
    }
  }

  #opened(): boolean {
    const descriptor = exclusive(this.file);
    if (descriptor === undefined) return false;
    const holder: Holder = { pid: process.pid, host: hostname() };
    try {
      writeSync(descriptor, JSON.stringify(holder));
    } catch {
      // The disk is full: a lock without a holder counts by its age.
    }
    this.#descriptor = descriptor;
    this.#renewed = Date.now();
    // Before anything else of this process runs, which would take it for the lock of a process with the same number.
    held.add(this);
    return true;
  }

  /** @throws {Error} if another process took it over because it was not renewed in time. */
  check(): void {
    if (Date.now() - this.#renewed < LEASE_MS / 2) return;
    this.#renew();
    if (fstatSync(this.#descriptor).nlink > 0) return;
    throw new Error("another process took it over while this one was suspended");
  }

  #renew(): void {
    const now = new Date();
    this.#renewed = now.getTime();
    try {
      futimesSync(this.#descriptor, now, now);
    } catch {
      // It only looks older than it is.
    }
  }

  release(): void {
    if (this.#descriptor < 0) return;
    clearInterval(this.#renewal);
    held.delete(this);
    const isOurs = fstatSync(this.#descriptor).nlink > 0;
    closeSync(this.#descriptor);
    this.#descriptor = -1;
    if (isOurs) rmSync(this.file, { force: true });
  }

  #heldBy({ pid, host }: Holder): AdkMetricsError {
    const other = `process ${pid}${host === hostname() ? "" : ` on ${host}`}`;
    const who = pid === 0 ? "another process" : pid === process.pid ? "this process" : other;
    const { code, what, other: another } = this.#names;
    const help =
      pid === process.pid
        ? `Close it there first (a journal by its \`close()\`), or choose another ${another}`
        : `Wait for it, stop it, or choose another ${another}. If there is no such process any more, remove ${this.file}`;
    return new AdkMetricsError(code, `${who} is writing ${what}`, { path: this.#of, help });
  }
}

/** A new file; nothing if it exists. */
function exclusive(file: string): number | undefined {
  try {
    return openSync(file, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}

/** Whose a lock is; nothing if it is gone. */
function holderOf(file: string): Holder | undefined {
  try {
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    // A pipe would be waited for, and a link may lead to what has no end.
    const { pid, host } = found.isFile() ? (JSON.parse(headOf(file) || "{}") as Record<string, unknown>) : NOBODY;
    const isHost = typeof host === "string" && (HOST.test(host) || host === hostname());
    return isHost && Number.isSafeInteger(pid) && (pid as number) > 0 ? { pid: pid as number, host } : NOBODY;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : NOBODY;
  }
}

/** The beginning of a file. */
function headOf(file: string): string {
  // Windows knows neither flag. The file may have become another since it was looked at.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = Buffer.alloc(MOST_BYTES);
    return bytes.toString("utf8", 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a lock is held: on this machine by a process that runs, elsewhere by its age. */
function isAlive({ pid, host }: Holder, file: string): boolean {
  if (isOlder(file, LEASE_MS)) return false;
  if (pid === 0 || host !== hostname()) return true;
  // In a container that was restarted, processes have the numbers of those before them.
  if (pid === process.pid) return [...held].some((lock) => lock.file === file);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** @param sign -1 asks whether its date is that far in the future. A link counts by its own date: it may lead nowhere. */
function isOlder(file: string, limit: number, sign = 1): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found !== undefined && sign * (Date.now() - found.mtimeMs) > limit;
}
