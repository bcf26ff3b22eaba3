// Node only: no bundle for browsers may reach this file.
import { promises as files } from "node:fs";
import { join } from "node:path";
import { untilAborted } from "../abort.js";

/** A claim that was not renewed for so long belongs to a process that has ended, in milliseconds. */
const LEASE_MS = 15_000;
const RENEWAL_MS = 3_000;

/** The longest that a claim is renewed, in milliseconds: more than a call takes. */
const LONGEST_CLAIM_MS = 15 * 60_000;

/** What is written beside a reply before it takes its name; older ones are of processes that ended meanwhile. */
const DRAFT = /\.tmp$/;
const DRAFT_MS = 60 * 60_000;

const CLAIM = /\.claim$/;

/** Replies are in folders that have the first two characters of their keys for names. */
const FOLDER = /^[\w-]{2}$/;

/** How long to wait before looking at another's claim again, in milliseconds. */
const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 500;

/** A file that says that a process is asking a question. */
interface Claim {
  readonly handle: files.FileHandle;
  readonly begun: number;
}

/**
 * Claims in the folder of a cache: a file for each question that is being asked, made exclusively and renewed as long as its
 * process lives. One that a process left behind counts for nothing after 15 seconds; of two that find it at the same moment,
 * both may ask.
 */
export class FileClaims {
  /** The folder of the cache. */
  readonly #root: string;
  readonly #held = new Set<Claim>();
  #isSwept = false;
  #renewal: ReturnType<typeof setInterval> | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * @param file The file to make. Its folder exists.
   * @returns Releases it.
   */
  async claim(file: string, signal: AbortSignal): Promise<() => Promise<void>> {
    // Nobody waits for it: a large cache has many folders.
    if (!this.#isSwept) void this.#sweep().catch(() => {});
    this.#isSwept = true;
    let handle: files.FileHandle | undefined;
    await untilClaimed(async () => {
      handle = await opened(file);
      if (handle === undefined && (await isOlder(file, LEASE_MS))) {
        await removed(file);
        handle = await opened(file);
      }
      return handle !== undefined;
    }, signal);
    return this.#hold({ handle: handle as unknown as files.FileHandle, begun: Date.now() }, file);
  }

  #hold(claim: Claim, file: string): () => Promise<void> {
    this.#held.add(claim);
    this.#renewal ??= setInterval(() => this.#renew(), RENEWAL_MS);
    // Runtimes other than Node have plain numbers for timers.
    (this.#renewal as { unref?: () => void }).unref?.();
    return async () => {
      this.#held.delete(claim);
      if (this.#held.size === 0) {
        clearInterval(this.#renewal);
        this.#renewal = undefined;
      }
      await claim.handle.close();
      await removed(file);
    };
  }

  #renew(): void {
    const now = new Date();
    for (const { handle, begun } of this.#held) {
      // What cannot be renewed is asked by another as well, and nothing worse.
      if (now.getTime() - begun < LONGEST_CLAIM_MS) void handle.utimes(now, now).catch(() => {});
    }
  }

  /** Removes what processes left behind that were ended while they wrote or asked. */
  async #sweep(): Promise<void> {
    for (const folder of await files.readdir(this.#root)) {
      if (!FOLDER.test(folder)) continue;
      for (const name of await files.readdir(join(this.#root, folder))) {
        const limit = DRAFT.test(name) ? DRAFT_MS : CLAIM.test(name) ? LEASE_MS : undefined;
        const file = join(this.#root, folder, name);
        if (limit !== undefined && (await isOlder(file, limit))) await removed(file);
      }
    }
  }
}

/** Tries to claim something again and again, at longer and longer intervals. */
export async function untilClaimed(claim: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  for (let wait = FIRST_LOOK_MS; !(await claim()); wait = Math.min(wait * 2, LAST_LOOK_MS)) {
    await untilAborted(signal, () => new Promise<void>((resolve) => setTimeout(resolve, wait)));
  }
}

/** A new file, or nothing if it exists. */
async function opened(file: string): Promise<files.FileHandle | undefined> {
  try {
    return await files.open(file, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}

/** Whether a file has not been modified for a number of milliseconds; one that is gone counts as modified. */
async function isOlder(file: string, limit: number): Promise<boolean> {
  try {
    return Date.now() - (await files.lstat(file)).mtimeMs > limit;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function removed(file: string): Promise<void> {
  await files.rm(file, { force: true });
}
