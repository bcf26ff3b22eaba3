/** Reads the calls of a run's judges from a journal, and writes them to it. */

import type { TokenCounts } from "../generated/contract.js";
import type { JournaledReply, JournalSection } from "../journal/section.js";
import { withTokensOf } from "../judges/reply.js";
import { definedProperties } from "../lists.js";
import type { JudgeReply } from "../types.js";
import type { FailedCall } from "./failure.js";
import { NO_CORRECTION, type ProgressCorrection } from "./judge-progress.js";

/** What tells a call from others. */
export interface CallKeys {
  /** The question and the sample in this run; equal questions of several cases have the same. */
  readonly question: string;
  /** The case, the question and the sample. */
  readonly callKey: string;
}

export class JournaledCalls {
  /** Without one, nothing is kept or found; calls that were not made are counted all the same. */
  readonly #journal: JournalSection | undefined;
  /** How many calls failed for a question without a reply yet. */
  readonly #failedFor = new Map<string, number>();
  /** How many of them failed for one sample, by `callKey`. */
  readonly #attempts = new Map<string, number>();
  /** What the failed calls took, for each key of both. */
  readonly #failedUsage = new Map<string, TokenCounts>();
  /** How many of the engine's calls were not made: a recording lacks the reply, or the journals of a merged run do. */
  #unsentCalls = 0;
  /** What parts of a merged run looked up in a recording in vain, which took no call. */
  #lookups = 0;

  constructor(journal: JournalSection | undefined) {
    this.#journal = journal;
  }

  /** Whether the journal is all there is, so that no judge is asked: the run is merged of parts. */
  get isComplete(): boolean {
    return this.#journal?.isComplete === true;
  }

  /** What a merged run corrects of the engine's counts; what it did not need is known at its end. */
  correction(isFinished: boolean): ProgressCorrection {
    const journal = this.#journal;
    if (journal?.isComplete !== true) return { ...NO_CORRECTION, unsentCalls: this.#unsentCalls };
    const { samples, calls } = isFinished ? journal.unusedFailures : { samples: 0, calls: 0 };
    const unsentSamples = this.#unsentCalls;
    const unsentCalls = unsentSamples + this.#lookups;
    return { unsentCalls, unsentSamples, unneededSamples: samples, unneededCalls: calls };
  }

  reply(question: string): JournaledReply | undefined {
    return this.#journal?.reply(question);
  }

  /**
   * The failure that a complete journal has instead of a reply.
   *
   * @returns Also how many calls failed before it, which the engine does not count.
   */
  lost(question: string, evalId = ""): { failed: FailedCall; failedBefore: number } {
    const found = this.#journal?.failure(question);
    if (found === undefined) {
      this.#unsentCalls += 1;
      const { message, help } = this.#journal?.refusal(question) ?? {
        message: this.#journal?.whyMissing?.(evalId) ?? "no shard asked it, for example because a budget was spent",
      };
      return { failed: { message, retryable: false, ...definedProperties({ help }) }, failedBefore: 0 };
    }
    const { failure, attempt, failedUsage } = found;
    if (attempt === 0) this.#lookups += 1;
    const times = attempt > 1 ? `. It was asked ${attempt} times` : "";
    // Without the status, by which the engine gives up a judge: what one part was refused, others were answered.
    const { message, help } = failure;
    const failed = {
      message: (message.endsWith(".") ? message.slice(0, -1) : message) + times,
      retryable: false,
      ...definedProperties({ help, usage: failedUsage }),
    };
    return { failed, failedBefore: Math.max(0, attempt - 1) };
  }

  /**
   * Keeps a reply, with what failed before it.
   *
   * @param wasGivenUp Whether the call was ended before.
   * @param began When it was made, in milliseconds of `performance.now()`.
   */
  keepReply(
    { question, callKey }: CallKeys,
    reply: JudgeReply,
    more: { cached: boolean; evalId: string | undefined; wasGivenUp: boolean; began: number },
  ): void {
    if (this.#journal === undefined) return;
    const { cached, evalId, wasGivenUp, began } = more;
    // A reply that came after its call was given up is that call's own: it counts once.
    const failed = (this.#failedFor.get(question) ?? 0) - (wasGivenUp ? 1 : 0);
    if (!wasGivenUp) {
      this.#failedFor.delete(question);
      this.#attempts.delete(callKey);
    }
    const failedUsage = this.#failedUsage.get(question);
    for (const key of [question, callKey]) this.#failedUsage.delete(key);
    this.#journal.keep({
      ...{ type: "reply", key: question, reply },
      ...(cached ? { cached } : {}),
      ...(failed > 0 ? { failed } : {}),
      ...definedProperties({ failedUsage }),
      evalId,
      ms: Math.round(performance.now() - began),
    });
  }

  /** @param calls How many were made. */
  keepFailure({ question, callKey }: CallKeys, { usage, ...failure }: FailedCall, calls = 1): void {
    if (this.#journal === undefined) return;
    const attempt = (this.#attempts.get(callKey) ?? 0) + calls;
    this.#noteUsage([question, callKey], usage);
    const more = definedProperties({ failedUsage: this.#failedUsage.get(callKey) });
    this.#journal.keep({ type: "failure", key: question, failure, attempt, ...more });
  }

  /**
   * The calls for a question that failed before the run was resumed, which the engine does not count. What is kept of it next
   * includes them.
   */
  resume({ question, callKey }: CallKeys): { failedBefore: number; failedUsage?: TokenCounts | undefined } {
    const found = this.#journal?.failure(question);
    if (found === undefined) return { failedBefore: 0 };
    const { attempt, failedUsage } = found;
    increment(this.#failedFor, question, attempt);
    increment(this.#attempts, callKey, attempt);
    this.#noteUsage([question, callKey], failedUsage);
    return { failedBefore: attempt, failedUsage };
  }

  #noteUsage(keys: readonly string[], usage: TokenCounts | undefined): void {
    if (usage === undefined) return;
    for (const key of keys) this.#failedUsage.set(key, withTokensOf(usage, this.#failedUsage.get(key)));
  }

  /** Counts a call without a reply, for the entry of the next one for its sample. */
  noteFailed({ question, callKey }: CallKeys): void {
    if (this.#journal === undefined) return;
    increment(this.#failedFor, question);
    increment(this.#attempts, callKey);
  }

  /** Counts a call that was not made. */
  noteUnsent(): void {
    this.#unsentCalls += 1;
  }

  /** Waits until the journal was given what it is to keep by now; nothing without one. */
  attempted(): Promise<void> | undefined {
    return this.#journal?.attempted();
  }
}

function increment(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
