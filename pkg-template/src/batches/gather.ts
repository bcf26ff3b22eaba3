// Node only: no bundle for browsers may reach this file.
import { AdkMetricsError } from "../errors.js";
import type { Judge, JudgeCache, JudgeReply, JudgeRequest } from "../types.js";
import type { BatchFailure } from "./folder.js";
import type { BatchStore } from "./store.js";
import { batchProtocolOf, noBatches } from "./protocols.js";
import { cacheKey } from "../judges/cache.js";
import { markUnsent } from "../judges/unsent.js";
import { type Endpoint, endpointOf } from "../judges/endpoint.js";
import { replyOf } from "../judges/reply.js";
import { identityOf, makeJudge, panelTakesNone } from "../judges/judge.js";
import { definedProperties } from "../lists.js";

/** How many files of a cache are read at a time: many calls are begun at once, and each looks for its reply. */
const FILES_AT_A_TIME = 64;

/**
 * Stands between metrics and their judges. While it gathers, a question without a reply is noted and its call stays open.
 * When a run waits for such calls only, nothing more can be asked without replies, and the run is ended. After that, only the
 * questions that a batch could not answer reach a judge, and those that follow from them.
 */
export class BatchGatherer {
  isGathering = true;
  /** The cases with an open question in this pass, the one that asked last at the end. */
  readonly #cases = new Set<string>();
  /** Whether calls could not be begun because too many were open. */
  isCut = false;
  readonly #store: BatchStore;
  readonly #cache: JudgeCache;
  readonly #goesLive: boolean;
  readonly #mostOpen: number;
  /** How many questions may still be noted, or asked one by one. */
  #left: number;
  #held = 0;
  /** How many calls the run waits for; undefined while it has something else to do. */
  #waitsFor: number | undefined;
  #end = new AbortController();
  readonly #judges = new Map<Judge, Judge>();
  #failure: unknown;

  /**
   * @param cache Where the store puts replies.
   * @param goesLive Whether questions that failed for a temporary reason are asked one by one at the end.
   * @param mostOpen How many calls a run begins.
   * @param most How many questions may be asked in all.
   */
  constructor(store: BatchStore, cache: JudgeCache, goesLive: boolean, mostOpen: number, most = Infinity) {
    this.#store = store;
    this.#cache = manyReaders(cache);
    this.#goesLive = goesLive;
    this.#mostOpen = mostOpen;
    this.#left = most;
  }

  /** Begins a pass. @returns Aborts when it is to end. */
  begin(): AbortSignal {
    this.#cases.clear();
    this.isCut = false;
    this.#held = 0;
    this.#waitsFor = undefined;
    this.#end = new AbortController();
    return this.#end.signal;
  }

  /** Takes how many calls a run waits for; undefined while it has something else to do. */
  waits(calls: { inFlight: number; queued: number } | undefined): void {
    this.#waitsFor = calls?.inFlight;
    this.isCut = calls !== undefined && (calls.queued > 0 || calls.inFlight >= this.#mostOpen);
    this.#check();
  }

  /** The cases of a pass that was cut that need another one; none if another would get no further. */
  rest(evalIds: readonly string[]): string[] {
    // The last one may have more questions.
    const last = [...this.#cases].at(-1);
    const rest = evalIds.filter((id) => !this.#cases.has(id) || id === last);
    return rest.length < evalIds.length ? rest : [];
  }

  /** @throws What went wrong while questions were noted. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** The same judge, whose questions are gathered. */
  judgeOf(judge: Judge): Judge {
    const known = this.#judges.get(judge) ?? this.#make(judge);
    this.#judges.set(judge, known);
    return known;
  }

  #make(judge: Judge): Judge {
    const endpoint = batchEndpointOf(judge);
    const identity = identityOf(judge);
    const { label = "" } = identity;
    return makeJudge(identity, async (request, signal) => {
      const key = await cacheKey(request, label);
      const kept = await this.#kept(key);
      if (kept !== undefined) return kept;
      const isForLive = this.#goesLive && this.#store.hasFailed(key);
      const failure = isForLive ? undefined : this.#store.failureOf(key);
      if (failure !== undefined) throw markUnsent(errorOf(failure));
      if (!this.isGathering) return this.#askLive(judge, request, signal);
      try {
        if (!isForLive && !this.#store.isOpen(key) && this.#left > 0) {
          this.#left -= 1;
          await this.#store.note(endpoint, request, key);
        }
      } catch (error) {
        this.#failure ??= error;
        this.#end.abort();
      }
      if (request.evalId !== undefined) {
        this.#cases.delete(request.evalId);
        this.#cases.add(request.evalId);
      }
      this.#held += 1;
      this.#check();
      return new Promise<never>(() => {});
    });
  }

  /** The reply that has come since the run looked for it. */
  async #kept(key: string): Promise<JudgeReply | undefined> {
    try {
      return await this.#cache.get(key);
    } catch (error) {
      // What cannot be found would be paid for again.
      if (this.isGathering) {
        this.#failure ??= error;
        this.#end.abort();
      }
      throw error;
    }
  }

  /** Asks in the run that gives the results, which counts its calls and makes no more at a time than it was told to. */
  async #askLive(judge: Judge, request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply> {
    if (!this.#goesLive || this.#left <= 0) throw markUnsent(errorOf({ message: UNASKED }));
    this.#left -= 1;
    return replyOf(await judge(request, { signal }));
  }

  #check(): void {
    if (this.#held === this.#waitsFor) this.#end.abort();
  }
}

/**
 * Where a judge is asked in batches.
 *
 * @throws {AdkMetricsError} `invalid_input` for one that cannot be.
 */
export function batchEndpointOf(judge: Judge): Endpoint {
  const { panel, label = "this judge" } = identityOf(judge);
  if (panel !== undefined) throw panelTakesNone();
  const endpoint = endpointOf(judge);
  if (endpoint === undefined || batchProtocolOf(endpoint.provider) === undefined) throw noBatches(label);
  return endpoint;
}

const UNASKED = "the question was not asked: the batches ended earlier, or --max-calls was reached";

function errorOf({ message, status }: Pick<BatchFailure, "message" | "status">): AdkMetricsError {
  return new AdkMetricsError("judge_failed", message, {
    retryable: false,
    ...definedProperties({ status }),
  });
}

/** A cache that many calls read at once, without claims. */
export function manyReaders(cache: JudgeCache): JudgeCache {
  let reading = 0;
  const waiting: (() => void)[] = [];
  return {
    async get(key) {
      if (reading >= FILES_AT_A_TIME) await new Promise<void>((resolve) => waiting.push(resolve));
      reading += 1;
      try {
        return await cache.get(key);
      } finally {
        reading -= 1;
        waiting.shift()?.();
      }
    },
    set: (key, reply) => cache.set(key, reply),
  };
}
