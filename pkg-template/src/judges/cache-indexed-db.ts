import { signalOf } from "../abort.js";
import { messageOf, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { JudgeCache } from "../types.js";
import { type NoOptions, refuseOptions } from "../known-options.js";
import { memoryCache } from "./cache.js";
import { replyOf } from "./reply.js";

const STORE = "replies";

/**
 * A cache in the browser's IndexedDB, which outlives the page. Pages and workers that share it ask each question once. `indexedDB.deleteDatabase(name)` empties it.
 *
 * @param name The name of its database. Default: `adk-metrics`.
 */
export function indexedDbCache(name = "adk-metrics", options: NoOptions = {}): JudgeCache {
  if (typeof name !== "string" || name === "") throw unexpected("a name", name, "name");
  refuseOptions(options);
  const { claim: ofThisPage } = memoryCache() as Required<JudgeCache>;
  let opened: Promise<IDBDatabase> | undefined;
  /** Forgets the connection, so that the next access opens another. */
  const forget = (): void => void (opened = undefined);

  async function access<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    try {
      opened ??= open(name, forget);
      const database = await opened;
      return await finished(work(database.transaction(STORE, mode).objectStore(STORE)));
    } catch (cause) {
      forget();
      throw new AdkMetricsError("cache_failed", `the cache in IndexedDB failed: ${messageOf(cause)}`, { cause });
    }
  }

  return {
    async get(key) {
      const found = await access("readonly", (store) => store.get(key) as IDBRequest<unknown>);
      return found === undefined ? undefined : replyOf(found);
    },
    async set(key, reply) {
      const copy = replyOf(reply);
      await access("readwrite", (store) => store.put(copy, key));
    },
    async claim(key, given) {
      // Pages that do not come by https: have no locks, and claims are those of one page.
      const locks = globalThis.navigator?.locks as LockManager | undefined;
      if (locks === undefined) return await ofThisPage(key, given);
      return await new Promise((resolve, reject) => {
        // A page that is gone holds none.
        const held = () => new Promise<void>((free) => resolve(free));
        locks.request(`adk-metrics ${name} ${key}`, { signal: signalOf(given) }, held).catch(reject);
      });
    },
  };
}

async function open(name: string, forget: () => void): Promise<IDBDatabase> {
  if (typeof indexedDB === "undefined") throw new Error("this runtime has none");
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => void request.result.createObjectStore(STORE);
  const database = await finished(request);
  database.onclose = forget;
  // Another page deletes the database or brings a newer version: it has to wait for all connections to close.
  database.onversionchange = () => {
    forget();
    database.close();
  };
  return database;
}

function finished<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("an unknown error"));
  });
}
