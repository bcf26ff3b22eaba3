import { AdkMetricsError } from "../errors.js";
import { untilAborted } from "../abort.js";
import type { JournaledReply, JournalSection } from "../journal/section.js";
import { abortedBy } from "../judges/failure.js";
import { isReplayed, miscountedText, replyOf, unrecordedReply, withTokensOf } from "../judges/reply.js";
import { transfer, withToken } from "../judges/send.js";
import { isUnsent } from "../judges/unsent.js";
import type { RawAnswer } from "../judges/wire.js";
import type { EngineError, HttpRequest, JudgeCall, JudgeOutcome, TokenCounts } from "../generated/contract.js";
import type { Budget, EvaluatorOptions, JudgeProgress, JudgeReply, JudgeRequest } from "../types.js";
import { AskedQuestions, FORGOTTEN } from "./asked.js";
import { type FailedCall, failedBy } from "./failure.js";
import { ForeignReplies, keep } from "./foreign-replies.js";
import type { Judges } from "./judges.js";
import { ReplyCache } from "./reply-cache.js";
import { estimateWarning, NO_CORRECTION, type ProgressCorrection, unreadWarning } from "./judge-progress.js";
import { definedProperties } from "../lists.js";
import { unpricedWarning } from "./prices.js";
import { replyKey, type JudgeTarget } from "./target.js";

/** How a call ended. */
export type CallAnswer =
  /** `cached` if no call was made for it; `failedUsage` is what calls before it took of which the engine did not hear. */
  | { reply: JudgeReply; cached: boolean; failedUsage?: TokenCounts | undefined }
  | { failed: FailedCall }
  /** The answer of a server, which the engine reads; `take` is told what it found. */
  | { raw: RawAnswer; token: string | undefined; take(outcome: JudgeOutcome | undefined): void };

/** A question, and who is asked it. */
interface TargetedRequest {
  target: JudgeTarget;
  /** Identifies the question and the sample in this run; equal questions of several cases have the same. */
  question: string;
  /** Identifies the call: the case, the question and the sample. */
  callKey: string;
  request: JudgeRequest;
  http: HttpRequest | undefined;
  signal: AbortSignal;
  /** What waits until a failure is counted: equal questions, which may be asked then. */
  afterFailure: (() => void)[];
}

/** Takes the reply that was read from an answer; undefined if there is none. */
type TakeReply = (reply: JudgeReply | undefined) => void;

/** A call in progress or answered. */
interface KnownCall {
  /** Which sample of which question it is. */
  readonly key: string;
  readonly question: string;
  /** Ends the call, as long as it has no answer. */
  controller: AbortController | undefined;
  answer: Promise<CallAnswer>;
  /** Whether the engine gave it up. */
  isAborted?: boolean;
}

/** Who answers the calls of one run. */
export class JudgeDispatcher {
  readonly #judges: Judges;
  /** What went wrong without ending the run. */
  readonly #warnings: EngineError[] = [];
  /** The user's own. */
  readonly #cache: ReplyCache | undefined;
  /** What was asked, if there is no cache of the user's own. */
  readonly #asked = new AskedQuestions();
  /** What the journal had, for questions that are equal, if there is a cache: it may be gone, as one in memory is. */
  readonly #resumed = new AskedQuestions();
  readonly #calls = new Map<string, KnownCall>();
  /** The same, by the numbers that the engine gave them. */
  readonly #numbered = new Map<number, KnownCall>();
  /** How many calls ended without a reply. */
  #failures = 0;
  /** How many of these a restarted engine does not know of. */
  #failedBefore = 0;
  /** How many calls of the engine nobody made: a recording lacks the reply, or the journals of a merged run do. */
  #unsentCalls = 0;
  /** What parts of a merged run looked up in a recording in vain, which took no call. */
  #lookups = 0;
  readonly #timeoutMs: number | undefined;
  readonly #journal: JournalSection | undefined;
  /** How many calls failed for a question without a reply yet. */
  readonly #failedFor = new Map<string, number>();
  /** How many of them failed for one sample, by `callKey`. */
  readonly #attempts = new Map<string, number>();
  /** What the failed calls took, for each key of both. */
  readonly #failedUsage = new Map<string, TokenCounts>();
  /** The replies in the cache that functions did not give themselves. */
  readonly #foreign = new ForeignReplies();
  /** What the last call that failed said, if none was answered since. */
  lastFailure: string | undefined;
  readonly #warned = new Set<string>();
  #lastKey: Promise<void> = Promise.resolve();

  /** @param journal Where replies are kept, and found. */
  constructor(judges: Judges, { timeoutMs, cache }: EvaluatorOptions, journal?: JournalSection) {
    this.#judges = judges;
    this.#journal = journal;
    this.#timeoutMs = timeoutMs;
    if (cache !== undefined) this.#cache = new ReplyCache(cache, this.#warn.bind(this));
  }

  get warnings(): EngineError[] {
    return [...this.#judges.warnings, ...this.#warnings];
  }

  /** How many calls failed before the engine was restarted, of which it does not know. */
  get failedBefore(): number {
    return this.#failedBefore;
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

  /** Warns if replies were forgotten, since their questions are paid for again. */
  noteForgotten(): void {
    if (this.#asked.hasForgotten) this.#warnings.push(FORGOTTEN);
  }

  /**
   * Warns of replies that could not be read or that other functions may have given, and of a budget that counts what it can
   * only estimate.
   */
  noteDoubts(progress: JudgeProgress, budget: Budget = {}): void {
    const { answered, unreported } = progress;
    this.#warnings.push(...this.#foreign.warnings());
    const doubts = [unreadWarning(progress), estimateWarning("judges", answered, unreported, budget)];
    this.#warnings.push(...doubts.filter((doubt) => doubt !== undefined));
    const { names } = this.#judges.unpriced;
    if (answered > 0 && names.length > 0) this.#warnings.push(unpricedWarning(names));
  }

  /** Makes a call. What an engine asked before it was restarted is not asked twice. */
  ask(call: JudgeCall): Promise<CallAnswer> {
    const { purpose, invocationIndex, stepIndex, sampleIndex } = call.request;
    const key = [call.metric, call.case, call.run ?? "", purpose, invocationIndex, stepIndex, sampleIndex].join("/");
    const known = this.#calls.get(key) ?? this.#begin(key, call);
    this.#numbered.set(call.call, known);
    return known.answer;
  }

  #begin(key: string, { metric, digest, request, http }: JudgeCall): KnownCall {
    const target = this.#judges.target(metric);
    const controller = new AbortController();
    const question = [metric, request.purpose, request.sampleIndex, digest].join("/");
    const targeted: TargetedRequest = {
      target,
      question,
      callKey: key,
      request,
      http,
      signal: controller.signal,
      afterFailure: [],
    };
    const { sampleIndex } = request;
    const answer = this.#answer(targeted, (found) => this.#take(begun, metric, sampleIndex, found)).then((answer) => {
      begun.controller = undefined;
      if ("failed" in answer) {
        this.lastFailure = answer.failed.message;
        this.#fail(begun);
        for (const go of targeted.afterFailure) go();
      } else if ("reply" in answer) {
        this.lastFailure = undefined;
        const miscounted = miscountedText(answer.reply);
        if (miscounted !== undefined) this.#warn("invalid_input", miscounted);
        this.#judges.noteVersion(metric, answer.reply, sampleIndex);
      }
      return answer;
    });
    const begun: KnownCall = { key, question, controller, answer };
    this.#calls.set(key, begun);
    return begun;
  }

  /** Takes the reply that the engine read from an answer; undefined if there is none. */
  #take(call: KnownCall, metric: number, sampleIndex: number, reply: JudgeReply | undefined): void {
    if (reply !== undefined) this.lastFailure = undefined;
    if (reply === undefined) {
      this.#fail(call);
      return;
    }
    this.#judges.noteVersion(metric, reply, sampleIndex);
    // The raw answer is dropped: a long run would hold all of them.
    call.answer = Promise.resolve({ reply, cached: false });
  }

  /** A failed call is made again; one that was aborted has failed before its answer says so. */
  #fail(call: KnownCall): void {
    this.#failures += 1;
    if (!call.isAborted) this.#forget(call);
  }

  /** Forgets a call, so that the next one for the same sample is made. */
  #forget(call: KnownCall): void {
    if (this.#journal !== undefined) {
      increment(this.#failedFor, call.question);
      increment(this.#attempts, call.key);
    }
    if (this.#calls.get(call.key) === call) this.#calls.delete(call.key);
  }

  /**
   * Ends a call whose reply nobody waits for.
   *
   * @param ended What ended the run, and the call with it; nothing if the provider did not answer in time.
   */
  abort(number: number, ended?: AdkMetricsError): void {
    const call = this.#numbered.get(number);
    this.#numbered.delete(number);
    if (call?.controller === undefined) return;
    const inTime = this.#timeoutMs === undefined ? "in time" : `within ${this.#timeoutMs} ms`;
    const message = `the judge did not answer ${inTime}`;
    if (ended === undefined) {
      this.lastFailure = message;
      this.#keepFailure({ question: call.question, callKey: call.key }, { message, retryable: true });
    }
    this.#forget(call);
    call.isAborted = true;
    call.controller.abort(ended ?? new AdkMetricsError("timeout", message));
  }

  /** Forgets the numbers of an engine that is no more. Its calls go on: the next engine asks for them. */
  restarted(): void {
    this.#numbered.clear();
    this.#failedBefore = this.#failures;
  }

  /** Ends every call. */
  abortAll(): void {
    for (const { controller } of this.#calls.values()) controller?.abort();
    // Those of answers that nobody read.
    this.#cache?.releaseAll();
  }

  /** Waits until the cache has every reply, or until the signal aborts; not for ever. */
  async stored(signal: AbortSignal | undefined): Promise<void> {
    await this.#cache?.stored(signal);
  }

  /** Never rejects. */
  async #answer(targeted: TargetedRequest, take: TakeReply): Promise<CallAnswer> {
    const { target, request, signal } = targeted;
    const addressed = target.model === undefined ? request : { ...request, model: target.model };
    try {
      return await untilAborted(signal, () => this.#findOrAsk({ ...targeted, request: addressed }, take), abortedBy);
    } catch (error) {
      const failed = failedBy(error);
      // Nobody was asked.
      const wasUnsent = isUnsent(error);
      if (wasUnsent) this.#unsentCalls += 1;
      if (!signal.aborted) this.#keepFailure(targeted, failed, wasUnsent ? 0 : 1);
      return { failed };
    }
  }

  /** The journal's reply to a question. Failures before it count again. */
  #journaled({ question }: TargetedRequest): JournaledReply | undefined {
    const found = this.#journal?.reply(question);
    if (found !== undefined) this.#countFailed(found.failed ?? 0);
    return found;
  }

  /** Counts calls that failed, which the engine never hears of. */
  #countFailed(calls: number): void {
    this.#failures += calls;
    this.#failedBefore += calls;
  }

  #keep(
    { question, callKey, request, signal }: TargetedRequest,
    reply: JudgeReply,
    cached: boolean,
    began: number,
  ): void {
    if (this.#journal === undefined) return;
    // A reply that came after its call was given up is that call's own: it counts once.
    const failed = (this.#failedFor.get(question) ?? 0) - (signal.aborted ? 1 : 0);
    if (!signal.aborted) {
      this.#failedFor.delete(question);
      this.#attempts.delete(callKey);
    }
    const failedUsage = this.#failedUsage.get(question);
    for (const key of [question, callKey]) this.#failedUsage.delete(key);
    const more = {
      ...(cached ? { cached } : {}),
      ...(failed > 0 ? { failed } : {}),
      ...definedProperties({ failedUsage }),
    };
    const ms = Math.round(performance.now() - began);
    this.#journal.keep({ type: "reply", key: question, reply, ...more, evalId: request.evalId, ms });
  }

  /** @param calls How many were made. */
  #keepFailure(
    { question, callKey }: Pick<TargetedRequest, "question" | "callKey">,
    { usage, ...failure }: FailedCall,
    calls = 1,
  ): void {
    if (this.#journal === undefined) return;
    const attempt = (this.#attempts.get(callKey) ?? 0) + calls;
    if (usage !== undefined) {
      for (const key of [question, callKey]) {
        this.#failedUsage.set(key, withTokensOf(usage, this.#failedUsage.get(key)));
      }
    }
    const more = definedProperties({ failedUsage: this.#failedUsage.get(callKey) });
    this.#journal.keep({ type: "failure", key: question, failure, attempt, ...more });
  }

  /** The failure that a complete journal has instead of a reply. */
  #lost(journal: JournalSection, question: string, evalId = ""): CallAnswer {
    const found = journal.failure(question);
    if (found === undefined) {
      this.#unsentCalls += 1;
      const { message, help } = journal.refusal(question) ?? {
        message: journal.whyMissing?.(evalId) ?? "no shard asked it, for example because a budget was spent",
      };
      return { failed: { message, retryable: false, ...(help === undefined ? {} : { help }) } };
    }
    const { failure, attempt, failedUsage } = found;
    if (attempt === 0) this.#lookups += 1;
    else this.#countFailed(attempt - 1);
    const times = attempt > 1 ? `. It was asked ${attempt} times` : "";
    // Without the status, by which the engine gives up a judge: what one part was refused, others were answered.
    const { message, help } = failure;
    return {
      failed: {
        message: (message.endsWith(".") ? message.slice(0, -1) : message) + times,
        retryable: false,
        ...definedProperties({ help, usage: failedUsage }),
      },
    };
  }

  async #findOrAsk(targeted: TargetedRequest, take: TakeReply): Promise<CallAnswer> {
    const { question, request, target } = targeted;
    if (this.#cache === undefined) {
      for (let asked = this.#asked.get(question); asked !== undefined; asked = this.#asked.get(question)) {
        const reply = await asked;
        if (reply !== undefined) return { reply, cached: true };
      }
      const settle = this.#asked.begin(question, targeted.signal);
      const kept = this.#journaled(targeted);
      if (kept === undefined) return this.#send(targeted, settle, take);
      settle(kept.reply);
      return answerOf(kept);
    }
    const kept = this.#journaled(targeted);
    if (kept !== undefined) {
      this.#resumed.begin(question, targeted.signal)(kept.reply);
      return answerOf(kept);
    }
    const resumed = await this.#resumed.get(question);
    if (resumed !== undefined) {
      this.#keep(targeted, resumed, true, performance.now());
      return { reply: resumed, cached: true };
    }
    const cache = this.#cache;
    const { key, replier } = await this.#inOrder(replyKey(request, target));
    const began = performance.now();
    const hit = (reply: JudgeReply): CallAnswer => {
      this.#foreign.found(replier, key);
      this.#keep(targeted, reply, true, began);
      return { reply, cached: true };
    };
    const cached = await cache.get(key);
    if (cached !== undefined) return hit(cached);
    const release = await cache.claim(key, targeted.signal);
    // The call that held the claim may have stored the reply.
    const found = release === undefined ? undefined : await cache.get(key);
    if (found !== undefined) {
      release?.();
      return hit(found);
    }
    const settle = (reply: JudgeReply | undefined): void => {
      if (reply === undefined) {
        release?.();
        return;
      }
      keep(replier, key);
      cache.store(key, reply, release, this.#journal?.attempted());
    };
    return this.#send(targeted, settle, take);
  }

  /** Waits for those before: digests end in any order, and of equal questions the first is asked. */
  async #inOrder<T>(key: Promise<T>): Promise<T> {
    this.#lastKey = Promise.allSettled([this.#lastKey, key]).then(() => {});
    await this.#lastKey;
    return key;
  }

  /** @param settled Called once with the reply; with undefined if there is none. */
  async #send(
    targeted: TargetedRequest,
    settled: (reply: JudgeReply | undefined) => void,
    take: TakeReply,
  ): Promise<CallAnswer> {
    const { target, question, request, http, signal } = targeted;
    const began = performance.now();
    // A reply is in the journal before anybody uses it.
    const settle = (reply: JudgeReply | undefined): void => {
      if (reply !== undefined) this.#keep(targeted, reply, isReplayed(reply), began);
      settled(reply);
    };
    try {
      if (this.#journal?.isComplete === true) {
        settled(undefined);
        return this.#lost(this.#journal, question, request.evalId);
      }
      // Signals of jsdom, in which Jest may run, cannot `throwIfAborted`.
      if (signal.aborted) throw signal.reason;
      if (target.endpoint === undefined || http === undefined) {
        const reply = replyOf(await target.ask(request, signal));
        settle(reply);
        return { reply, cached: isReplayed(reply) };
      }
      const token = http.needsToken ? await target.endpoint.token() : undefined;
      const raw = await transfer(target.endpoint, withToken(http, token), signal);
      let isTaken = false;
      return {
        raw,
        token,
        take: (outcome) => {
          // An engine that was restarted reads it once more.
          if (isTaken) return;
          isTaken = true;
          const reply = outcome !== undefined && "reply" in outcome ? replyOf(outcome.reply) : undefined;
          if (outcome !== undefined && "failure" in outcome) {
            this.lastFailure = outcome.failure.message;
            this.#keepFailure(targeted, outcome.failure);
          }
          settle(reply);
          if (outcome !== undefined) take(reply);
        },
      };
    } catch (error) {
      const reply = unrecordedReply(error);
      if (reply !== undefined && !signal.aborted) {
        this.#warn("recording_failed" as EngineError["code"], (error as Error).message);
        settle(reply);
        return { reply, cached: isReplayed(reply) };
      }
      if (signal.aborted) settle(undefined);
      else targeted.afterFailure.push(() => settle(undefined));
      throw error;
    }
  }

  /** @param kind Warnings of the same kind are given once. */
  #warn(code: EngineError["code"], message: string, kind = message): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.#warnings.push({ code, message });
  }
}

function answerOf({ reply, cached = false, failedUsage }: JournaledReply): CallAnswer {
  return { reply, cached, failedUsage };
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
