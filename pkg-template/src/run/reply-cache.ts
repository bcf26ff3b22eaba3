import { untilAborted } from "../abort.js";
import type { EngineError } from "../generated/contract.js";
import { replyOf } from "../judges/reply.js";
import type { JudgeCache, JudgeReply } from "../types.js";
import { messageOf } from "../engine/values.js";

/** The code of a warning that only this side of the boundary knows. */
const CACHE_FAILED = "cache_failed" as EngineError["code"];
/** How long a run waits in the end for a cache to store what it was given, in milliseconds. */
const CACHE_PATIENCE = 10_000;

/** The user's own cache, as a run uses it: where it fails, that costs money and a warning, but no result. */
export class ReplyCache {
  readonly #cache: JudgeCache;
  readonly #warn: (code: EngineError["code"], message: string, kind?: string) => void;
  /** Release the keys that are claimed for calls of this run. */
  readonly #claims = new Set<() => void>();
  /** Replies on their way into the cache. */
  readonly #writes = new Set<Promise<void>>();

  /** @param warn Warnings of the same kind are given once. */
  constructor(cache: JudgeCache, warn: (code: EngineError["code"], message: string, kind?: string) => void) {
    this.#cache = cache;
    this.#warn = warn;
  }

  async get(key: string): Promise<JudgeReply | undefined> {
    try {
      const cached: JudgeReply | undefined | null = await this.#cache.get(key);
      return cached === undefined || cached === null ? undefined : replyOf(cached);
    } catch (error) {
      this.#warn(CACHE_FAILED, `the cache of replies cannot be read: ${messageOf(error)}`, "cache.get");
      return undefined;
    }
  }

  /** @returns Releases the key, once; nothing if the cache has no claims. */
  async claim(key: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (this.#cache.claim === undefined) return undefined;
    try {
      const free = await this.#cache.claim(key, signal);
      const release = (): void => {
        if (this.#claims.delete(release)) void (async () => free())().catch((error) => this.#unwritable(error));
      };
      this.#claims.add(release);
      // Nobody takes what comes of a call that was given up.
      if (signal.aborted) release();
      else signal.addEventListener("abort", release, { once: true });
      return release;
    } catch (error) {
      if (!signal.aborted) this.#unwritable(error);
      return undefined;
    }
  }

  /**
   * Begins to store a reply, and then releases its key. Nobody waits for it who needs the reply.
   *
   * @param after What comes first: who finds a reply here does not count its call, which is in a journal by then.
   */
  store(key: string, reply: JudgeReply, release: (() => void) | undefined, after?: Promise<void>): void {
    const store = async (): Promise<void> => {
      try {
        if (after !== undefined) await after;
        await this.#cache.set(key, reply);
      } catch (error) {
        this.#unwritable(error);
      }
    };
    const write = store().finally(() => {
      this.#writes.delete(write);
      release?.();
    });
    this.#writes.add(write);
  }

  /** Waits until it has every reply, or until the signal aborts; not for ever. */
  async stored(signal: AbortSignal | undefined): Promise<void> {
    if (this.#writes.size === 0) return;
    const end = new AbortController();
    const stop = (): void => end.abort();
    const timer = setTimeout(stop, CACHE_PATIENCE);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted === true) stop();
    await untilAborted(end.signal, () => Promise.all(this.#writes)).catch(() => {});
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    if (end.signal.aborted && signal?.aborted !== true) {
      const message = `the cache did not store ${this.#writes.size} of the replies within ${CACHE_PATIENCE / 1000} s`;
      this.#warn(CACHE_FAILED, message);
    }
  }

  /** Releases the keys that are still claimed. */
  releaseAll(): void {
    for (const release of this.#claims) release();
  }

  #unwritable(error: unknown): void {
    this.#warn(CACHE_FAILED, `the cache of replies cannot be written: ${messageOf(error)}`, "cache.set");
  }
}
