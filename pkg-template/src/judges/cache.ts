import { signalOf, untilAborted } from "../abort.js";
import { optionsOf } from "../known-options.js";
import { unexpected, reading } from "../engine/values.js";
import type { JudgeCache, JudgeReply, JudgeRequest } from "../types.js";
import { replyOf } from "./reply.js";
import { canonicalRequest, requestOf } from "./request.js";

/** Changes with what a key is made of, so that replies kept by older versions are not mistaken. */
const FORMAT = "adk-metrics judge request 1";

/**
 * The key under which a reply is kept: a SHA-256 of the whole question, the settings and the number of the sample, so
 * that no two samples share a reply. No keys and headers go into it.
 *
 * @param judge Who answers, where judges that give different replies share a cache.
 * @returns 64 hexadecimal digits; where the runtime has no WebCrypto, as in pages from plain `http:`, the text itself.
 */
export async function cacheKey(request: JudgeRequest, judge = ""): Promise<string> {
  if (typeof judge !== "string") throw unexpected("a string", judge, "judge");
  const text = `${FORMAT}\n${JSON.stringify(judge)}\n${reading("request", () => canonicalRequest(requestOf(request)))}`;
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return text;
  const digest = await subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A cache in memory. When it is full it gives up the reply that was not asked for longest.
 *
 * @param options `maxEntries`: how many replies it holds. Default: 10,000.
 */
export function memoryCache(options: { maxEntries?: number } = {}): JudgeCache {
  const { maxEntries = 10_000 } = optionsOf(options, ["maxEntries"]);
  if (!(Number.isInteger(maxEntries) && maxEntries >= 1)) {
    throw unexpected("a whole number from 1 up", maxEntries, "maxEntries");
  }
  // A Map keeps the order of insertion: first comes what was not asked for longest.
  const replies = new Map<string, JudgeReply>();
  /** What holds each claimed key: resolves when it is free. */
  const claims = new Map<string, Promise<void>>();
  return {
    async get(key) {
      const reply = replies.get(key);
      if (reply === undefined) return undefined;
      replies.delete(key);
      replies.set(key, reply);
      return replyOf(reply);
    },
    async set(key, reply) {
      replies.delete(key);
      replies.set(key, replyOf(reply));
      for (const oldest of replies.keys()) {
        if (replies.size <= maxEntries) break;
        replies.delete(oldest);
      }
    },
    async claim(key, given) {
      const signal = signalOf(given);
      for (let held = claims.get(key); held !== undefined; held = claims.get(key)) {
        const until = held;
        await untilAborted(signal, () => until);
      }
      let free!: () => void;
      claims.set(key, new Promise((resolve) => (free = resolve)));
      return () => {
        claims.delete(key);
        free();
      };
    },
  };
}

/** @throws {AdkMetricsError} `invalid_input` for what is not the path of a cache's folder. */
export function checkFolder(folder: unknown): void {
  if (typeof folder !== "string" || folder === "") throw unexpected("the path of a folder", folder, "folder");
}
