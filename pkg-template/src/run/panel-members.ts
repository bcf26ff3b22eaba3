/** What becomes of the judges of a panel in a run: which of them are not asked any more, and which never replied. */

import { AdkMetricsError, type ErrorDetails, isAdkMetricsError } from "../errors.js";
import { MAX_REFUSALS, REJECTED_STATUSES } from "../generated/limits.js";
import { failureOf } from "../judges/failure.js";
import { replyOf } from "../judges/reply.js";
import { MOST_VERSIONS } from "../judges/stamp.js";
import { isUnsent, markUnsent } from "../judges/unsent.js";
import type { JudgeReply } from "../types.js";
import { definedProperties } from "../lists.js";

interface Member {
  readonly name: string;
  isAnswered: boolean;
  /** What its last call failed with. */
  last?: string;
  refusal: string;
  refusals: number;
  isGone: boolean;
  /** The versions of models that its replies named. */
  readonly versions: Set<string>;
}

/** The judges of the panel of a metric in one run. */
export class PanelMembers {
  readonly #members: readonly Member[];

  constructor(names: readonly string[]) {
    this.#members = names.map((name) => {
      return { name, isAnswered: false, refusal: "", refusals: 0, isGone: false, versions: new Set() };
    });
  }

  /** Asks the judge of a sample, as long as it may reply. */
  async ask(
    sampleIndex: number,
    signal: AbortSignal,
    ask: () => Promise<JudgeReply | string>,
  ): Promise<JudgeReply | string> {
    const member = this.#memberOf(sampleIndex);
    if (member.isGone) {
      throw markUnsent(this.#failed(member.last ?? "", {}));
    }
    try {
      const reply = replyOf(await ask());
      member.isAnswered = true;
      return reply;
    } catch (error) {
      // Of those that end with the run nothing is known; those that take too long have a reason.
      if (signal.aborted && !isAdkMetricsError(signal.reason)) throw error;
      const failure = failureOf(signal.aborted ? signal.reason : error, member.name);
      const { code, message, help, status = 0, retryable, retryAfterMs } = failure;
      member.last = message;
      if (code === "replay_missing") throw error;
      const isMalformed = status >= 200 && status < 300;
      if (!member.isAnswered && (isMalformed || (retryable !== true && status >= 400 && status < 500))) {
        // Web pages differ in details, but none of them is a judge.
        const same = (isMalformed ? help : undefined) ?? message;
        member.refusals = member.refusal === same ? member.refusals + 1 : 1;
        member.refusal = same;
        member.isGone = member.refusals >= MAX_REFUSALS;
      }
      member.isGone ||= REJECTED_STATUSES.includes(status);
      const details = { help, retryable: retryable === true && !member.isGone, retryAfterMs, cause: error };
      const failed = this.#failed(message, definedProperties(details) as ErrorDetails);
      throw isUnsent(error) ? markUnsent(failed) : failed;
    }
  }

  /** Who gives a sample. */
  #memberOf(sampleIndex: number): Member {
    return this.#members[sampleIndex % this.#members.length] as Member;
  }

  /** Remembers the model that a reply names. */
  noteVersion(sampleIndex: number, version: string): void {
    const { versions } = this.#memberOf(sampleIndex);
    if (versions.size < MOST_VERSIONS) versions.add(version);
  }

  /** What the replies of each named; of those that named none nothing. */
  get versions(): Record<string, string[]> {
    const named = this.#members.filter(({ versions }) => versions.size > 0);
    return Object.fromEntries(named.map(({ name, versions }) => [name, [...versions].sort()]));
  }

  /** The judges whose replies named several models, each with these. */
  changed(): { name: string; versions: ReadonlySet<string> }[] {
    return this.#members.filter(({ versions }) => versions.size > 1);
  }

  /** A failure without a status: it says nothing of the other judges. Where none of them is asked any more, it says that. */
  #failed(message: string, details: ErrorDetails): AdkMetricsError {
    if (!this.#members.every(({ isGone }) => isGone)) return new AdkMetricsError("judge_failed", message, details);
    const all = this.#members.map(({ last }) => last).join("; ");
    // The engine then asks the judge of the metric no more.
    const status = REJECTED_STATUSES[0] as number;
    return new AdkMetricsError("judge_failed", all, { status, retryable: false, cause: details.cause });
  }

  /** Which of them never replied, and why. Where none is asked any more, the failure of the metric says it of all. */
  *silent(): Iterable<string> {
    if (this.#members.every(({ isGone }) => isGone)) return;
    for (const { name, isAnswered, last } of this.#members) {
      if (!isAnswered && last !== undefined) yield `${name} of the panel did not answer a single call: ${last}`;
    }
  }
}
