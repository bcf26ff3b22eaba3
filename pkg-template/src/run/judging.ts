import { AdkMetricsError } from "../errors.js";
import { untilAborted } from "../abort.js";
import type { JournaledReply, JournalSection } from "../journal/section.js";
import { abortedBy } from "../judges/failure.js";
import { isReplayed, miscountedText, replyOf, unrecordedReply } from "../judges/reply.js";
import { transfer, withToken } from "../judges/send.js";
import { isUnsent } from "../judges/unsent.js";
import type { RawAnswer } from "../judges/wire.js";
import type { EngineError, HttpRequest, JudgeCall, JudgeOutcome, TokenCounts } from "../generated/contract.js";
import type { Budget, EvaluatorOptions, JudgeProgress, JudgeReply, JudgeRequest } from "../types.js";
import { AskedQuestions, FORGOTTEN } from "./asked.js";
import { type FailedCall, failedBy } from "./failure.js";
import { ForeignReplies, noteGiven } from "./foreign-replies.js";
import { type CallKeys, JournaledCalls } from "./journaled-calls.js";
import type { Judges } from "./judges.js";
import { ReplyCache } from "./reply-cache.js";
import { estimateWarning, type ProgressCorrection, unreadWarning } from "./judge-progress.js";
import { unpricedWarning } from "./prices.js";
import { replyKey, type JudgeTarget } from "./target.js";

/** How a call ended; `failedUsage` has the tokens of calls before it that the engine does not count. */
export type CallAnswer = { failedUsage?: TokenCounts | undefined } & (
  | {
      reply: JudgeReply;
      /** Whether no call was made for it. */
      cached: boolean;
    }
  | { failed: FailedCall }
  /** The answer of a server, which the engine reads; `take` gets what it found. */
  | { raw: RawAnswer; token: string | undefined; take(outcome: JudgeOutcome | undefined): void }
);

/** A question, and who is asked it. */
interface TargetedRequest extends CallKeys {
  target: JudgeTarget;
  request: JudgeRequest;
  http: HttpRequest | undefined;
  signal: AbortSignal;
  /** What waits until a failure is counted: equal questions, which may be asked then. */
  afterFailure: (() => void)[];
  /** What calls for it took that failed before the run was resumed. */
  failedUsage?: TokenCounts | undefined;
}

/** Takes the reply that was read from an answer; undefined if there is none. */
type TakeReply = (reply: JudgeReply | undefined) => void;

/** A call in progress or answered. */
interface KnownCall extends CallKeys {
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
  readonly #timeoutMs: number | undefined;
  readonly #journal: JournaledCalls;
  /** The replies in the cache that functions did not give themselves. */
  readonly #foreign = new ForeignReplies();
  /** What the last call that failed said, if none was answered since. */
  lastFailure: string | undefined;
  readonly #warned = new Set<string>();
  #lastKey: Promise<void> = Promise.resolve();

  /** @param journal Where replies are kept, and found. */
  constructor(judges: Judges, { timeoutMs, cache }: EvaluatorOptions, journal?: JournalSection) {
    this.#judges = judges;
    this.#journal = new JournaledCalls(journal);
    this.#timeoutMs = timeoutMs;
    if (cache !== undefined) this.#cache = new ReplyCache(cache, this.#warn.bind(this));
  }

  get warnings(): EngineError[] {
    return [...this.#judges.warnings, ...this.#warnings];
  }

  /** How many calls failed before the engine was restarted, which does not count them. */
  get failedBefore(): number {
    return this.#failedBefore;
  }

  /** What a merged run corrects of the engine's counts; what it did not need is known at its end. */
  correction(isFinished: boolean): ProgressCorrection {
    return this.#journal.correction(isFinished);
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
    const place = [call.metric, call.case, call.run ?? ""];
    const callKey = [...place, purpose, invocationIndex, stepIndex, sampleIndex].join("/");
    const known = this.#calls.get(callKey) ?? this.#begin(callKey, call);
    this.#numbered.set(call.call, known);
    return known.answer;
  }

  #begin(callKey: string, { metric, digest, request, http }: JudgeCall): KnownCall {
    const target = this.#judges.target(metric);
    const controller = new AbortController();
    const question = [metric, request.purpose, request.sampleIndex, digest].join("/");
    const targeted: TargetedRequest = {
      target,
      question,
      callKey,
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
    const begun: KnownCall = { callKey, question, controller, answer };
    this.#calls.set(callKey, begun);
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
    call.answer = call.answer.then(({ failedUsage }) => ({ reply, cached: false, failedUsage }));
  }

  /** A failed call is made again; one that was aborted has failed before its answer says so. */
  #fail(call: KnownCall): void {
    this.#failures += 1;
    if (!call.isAborted) this.#forget(call);
  }

  /** Forgets a call, so that the next one for the same sample is made. */
  #forget(call: KnownCall): void {
    this.#journal.noteFailed(call);
    if (this.#calls.get(call.callKey) === call) this.#calls.delete(call.callKey);
  }

  /**
   * Ends a call whose reply is not needed any more.
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
      this.#journal.keepFailure(call, { message, retryable: true });
    }
    this.#forget(call);
    call.isAborted = true;
    call.controller.abort(ended ?? new AdkMetricsError("timeout", message));
  }

  /** Forgets the call ids of an engine that crashed. Its calls go on: the next engine asks for them. */
  restarted(): void {
    this.#numbered.clear();
    this.#failedBefore = this.#failures;
  }

  /** Ends every call. */
  abortAll(): void {
    for (const { controller } of this.#calls.values()) controller?.abort();
    // Those of answers that were not read.
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
    const asked: TargetedRequest = { ...targeted, request: addressed };
    try {
      const answer = await untilAborted(signal, () => this.#findOrAsk(asked, take), abortedBy);
      return { failedUsage: asked.failedUsage, ...answer };
    } catch (error) {
      const failed = failedBy(error);
      const { failedUsage } = asked;
      // Nobody was asked.
      const wasUnsent = isUnsent(error);
      if (wasUnsent) this.#journal.noteUnsent();
      if (!signal.aborted) this.#journal.keepFailure(targeted, failed, wasUnsent ? 0 : 1);
      return { failed, failedUsage };
    }
  }

  /** The journal's reply to a question. Failures before it count again. */
  #journaled({ question }: TargetedRequest): JournaledReply | undefined {
    const found = this.#journal.reply(question);
    if (found !== undefined) this.#countFailed(found.failed ?? 0);
    return found;
  }

  /** Counts calls that failed, which the engine never hears of. */
  #countFailed(calls: number): void {
    this.#failures += calls;
    this.#failedBefore += calls;
  }

  #keep(targeted: TargetedRequest, reply: JudgeReply, cached: boolean, began: number): void {
    const { request, signal } = targeted;
    this.#journal.keepReply(targeted, reply, { cached, evalId: request.evalId, wasGivenUp: signal.aborted, began });
  }

  #findOrAsk(targeted: TargetedRequest, take: TakeReply): Promise<CallAnswer> {
    return this.#cache === undefined ? this.#askOnce(targeted, take) : this.#askWithCache(this.#cache, targeted, take);
  }

  /** Asks what neither this run asked nor the journal has. */
  async #askOnce(targeted: TargetedRequest, take: TakeReply): Promise<CallAnswer> {
    const { question } = targeted;
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

  /** Asks what neither the journal nor the cache has. */
  async #askWithCache(cache: ReplyCache, targeted: TargetedRequest, take: TakeReply): Promise<CallAnswer> {
    const { question, request, target } = targeted;
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
      noteGiven(replier, key);
      cache.store(key, reply, release, this.#journal.attempted());
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
      if (this.#journal.isComplete) {
        settled(undefined);
        const { failed, failedBefore } = this.#journal.lost(question, request.evalId);
        this.#countFailed(failedBefore);
        return { failed };
      }
      // Signals of jsdom, in which Jest may run, cannot `throwIfAborted`.
      if (signal.aborted) throw signal.reason;
      const { failedBefore, failedUsage } = this.#journal.resume(targeted);
      this.#countFailed(failedBefore);
      targeted.failedUsage = failedUsage;
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
            this.#journal.keepFailure(targeted, outcome.failure);
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
