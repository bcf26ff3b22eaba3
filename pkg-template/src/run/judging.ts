import { isAdkMetricsError, withPath } from "../errors.js";
import { untilAborted } from "../abort.js";
import { cacheKey } from "../judges/cache.js";
import type { JournaledReply, JournalSection } from "../journal/section.js";
import { abortedBy } from "../judges/failure.js";
import { isReplayed, replyOf } from "../judges/reply.js";
import { transfer, withToken } from "../judges/send.js";
import type { RawAnswer } from "../judges/wire.js";
import type { EvalRun } from "../generated/adk_metrics.js";
import type {
  EngineError,
  HeaderMetric,
  HostFailure,
  HttpRequest,
  JudgeCall,
  JudgeOutcome,
  RunHeader,
} from "../generated/contract.js";
import type {
  Budget,
  EvaluatorOptions,
  JudgeProgress,
  JudgeReply,
  JudgeRequest,
  JudgeStamp,
  VotePrior,
} from "../types.js";
import { AskedQuestions, FORGOTTEN } from "./asked.js";
import { failedBy } from "./failure.js";
import { ForeignReplies, keep } from "./foreign-replies.js";
import { type JournaledJudge, journaledTarget, noTarget } from "./journaled.js";
import { ReplyCache } from "./reply-cache.js";
import { estimateWarning, NO_CORRECTION, type ProgressCorrection } from "./judge-progress.js";
import { pricedName, type PriceList, unpricedAmong, unpricedWarning } from "./prices.js";
import { checkModel, type JudgeTarget, targetOf, targetWarnings } from "./target.js";

/** How a call ended. */
export type CallAnswer =
  /** `cached` if no call was made for it. */
  | { reply: JudgeReply; cached: boolean }
  | { failed: HostFailure }
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
}

/** Who answers the calls of one run. */
export class JudgeDispatcher {
  /** What went wrong without ending the run. */
  readonly warnings: EngineError[] = [];
  readonly #metrics: readonly HeaderMetric[];
  /** By the index of the metric. */
  readonly #targets = new Map<number, JudgeTarget>();
  /** Why metrics lack a judge, by their index. They can score none of the cases, so nobody is to be asked. */
  readonly #missing = new Map<number, unknown>();
  /** The user's own. */
  readonly #cache: ReplyCache | undefined;
  /** What was asked, if there is no cache of the user's own. */
  readonly #asked = new AskedQuestions();
  readonly #calls = new Map<string, KnownCall>();
  /** The same, by the numbers that the engine gave them. */
  readonly #numbered = new Map<number, KnownCall>();
  /** The versions of models that replies named, by the index of the metric. */
  readonly #versions = new Map<number, Set<string>>();
  /** How many calls ended without a reply. */
  #failures = 0;
  /** How many of these a restarted engine does not know of. */
  #failedBefore = 0;
  /** How many calls of the engine nobody made: a recording lacks the reply, or the journals of a merged run do. */
  #unsentCalls = 0;
  readonly #timeoutMs: number | undefined;
  readonly #prices: PriceList | undefined;
  readonly #journal: JournalSection | undefined;
  /** How many calls failed for a sample without a reply yet, by `callKey`. */
  readonly #failedFor = new Map<string, number>();
  /** The replies in the cache that functions did not give themselves. */
  readonly #foreign = new ForeignReplies();
  /** What the last call that failed said, if none was answered since. */
  lastFailure: string | undefined;
  /** The kinds of warnings that were given. */
  readonly #warned = new Set<string>();

  /**
   * @param isNeeded Whether a metric may ask anybody. Takes a while, so it is called for metrics without a judge only.
   * @param journal Where replies are kept, and found.
   * @throws {AdkMetricsError} `judge_required` if a metric has no judge, `invalid_input` for a judge that cannot have the
   * metric's model, or a budget in money without that model's price.
   */
  constructor(
    options: EvaluatorOptions,
    { metrics }: RunHeader,
    isNeeded: (metric: number) => boolean,
    journal?: JournalSection,
  ) {
    this.#journal = journal;
    this.#timeoutMs = options.timeoutMs;
    this.#prices = options.budget?.prices;
    if (options.cache !== undefined) this.#cache = new ReplyCache(options.cache, this.#warn.bind(this));
    this.#metrics = metrics;
    for (const [metric, { metricName, judge }] of metrics.entries()) {
      if (judge === undefined) continue;
      let target: JudgeTarget;
      try {
        target = journal?.isComplete === true ? journaledTarget(journal, metricName) : targetOf(options, judge);
      } catch (error) {
        // An error says which metric lacks a judge: the run may be of many files.
        const located = withPath(error, `config: criteria.${metricName}`);
        if (isNeeded(metric)) throw located;
        this.#missing.set(metric, located);
        continue;
      }
      this.#targets.set(metric, target);
      if (!judge.vertex) checkModel(options, target, judge.model ?? "");
      for (const warning of targetWarnings(metricName, target, judge)) this.#warn("invalid_criterion", warning);
    }
  }

  /** Tells an engine that was just given the run which models are asked, and which servers it speaks to itself. */
  attach(run: EvalRun): void {
    for (const [metric, target] of this.#targets) {
      const { endpoint, provider, model } = target;
      const named = this.#metrics[metric]?.judge?.model ?? "";
      if (endpoint !== undefined) run.setEndpoint(metric, endpoint.settingsOfRun());
      run.setAskedModel(metric, pricedName(target, named, this.#prices));
      // Judges that wrap one of a provider send no more than it does.
      if (provider === undefined) continue;
      const settings = { provider, headers: {}, inBrowser: false, ...(model === undefined ? {} : { model }) };
      const { metricName } = this.#metrics[metric] as HeaderMetric;
      for (const warning of run.settingsNotSent(metric, settings)) {
        this.#warn("invalid_criterion", `${metricName}: ${warning}`);
      }
    }
  }

  /** Whether any metric has a judge. */
  get isNeeded(): boolean {
    return this.#targets.size > 0;
  }

  /** The judges as a journal identifies them: without keys, and the same in every run. */
  identities(): JournaledJudge[] {
    return [...this.#targets].map(([metric, target]) => {
      const { label, model, provider, functionName, retirement, notSent, panel, settings } = target;
      const { metricName, judge } = this.#metrics[metric] as HeaderMetric;
      const unsent = judge?.config === undefined ? [] : (notSent?.(judge.config) ?? []);
      const vertex = judge?.vertex === true ? true : undefined;
      return { metricName, label, model, provider, functionName, retirement, unsent, vertex, panel, settings };
    });
  }

  /** Who is asked and has no price, if prices are given; with whether anybody has one. */
  get unpriced(): { names: string[]; hasPrice: boolean } {
    const asked = [...this.#targets].map(([metric, target]) => [target, this.#metrics[metric]?.judge] as const);
    return unpricedAmong(asked, this.#prices);
  }

  /** How the samples of metrics voted, where that decided when to stop. */
  priors(run: EvalRun): ReadonlyMap<number, VotePrior> {
    const known = [...this.#targets.keys()].map((metric) => [metric, run.votePrior(metric)] as const);
    return new Map(known.filter((one): one is [number, VotePrior] => one[1] !== undefined));
  }

  /** Who judged, for the results, and on what votes ended that were not certain. */
  stamps(risk: number | undefined, priors: ReadonlyMap<number, VotePrior>): JudgeStamp[] {
    return [...this.#targets].map(([metric, { model, functionName, panel }]) => {
      const { metricName, judge } = this.#metrics[metric] as HeaderMetric;
      if (judge?.vertex === true) return { metricName, scoredBy: "vertex" };
      const stamp: JudgeStamp = { metricName, scoredBy: "judge" };
      // A function may ask any model, or none: only it knows.
      const target = functionName === undefined ? (model ?? judge?.model ?? "") : model;
      if (target !== undefined) stamp.model = target;
      if (functionName !== undefined) stamp.function = functionName;
      if (panel !== undefined) stamp.panel = [...panel];
      const versions = this.#versions.get(metric);
      if (versions !== undefined) stamp.modelVersions = [...versions].sort();
      const prior = priors.get(metric);
      if (risk !== undefined && prior !== undefined) stamp.earlyStop = { risk, prior };
      stamp.prompts = judge?.prompts ?? {};
      return stamp;
    });
  }

  /** How many calls failed before the engine was restarted, of which it does not know. */
  get failedBefore(): number {
    return this.#failedBefore;
  }

  /** What a merged run corrects of the engine's counts; what it did not need is known at its end. */
  correction(isFinished: boolean): ProgressCorrection {
    const journal = this.#journal;
    if (journal?.isComplete !== true) return { ...NO_CORRECTION, unsentCalls: this.#unsentCalls };
    const { samples, calls } = isFinished ? journal.unneededFailures : { samples: 0, calls: 0 };
    return { unsentCalls: this.#unsentCalls, unneededSamples: samples, unneededCalls: calls };
  }

  #noteVersion(metric: number, { modelVersion }: JudgeReply): void {
    if (modelVersion === undefined || modelVersion === "") return;
    const versions = this.#versions.get(metric) ?? new Set();
    this.#versions.set(metric, versions);
    if (versions.size < MOST_VERSIONS) versions.add(modelVersion);
  }

  /** Warns if replies were forgotten, since their questions are paid for again. */
  noteForgotten(): void {
    if (this.#asked.hasForgotten) this.warnings.push(FORGOTTEN);
  }

  /** Warns of replies that other functions may have given, and of a budget that counts what it can only estimate. */
  noteGuesses({ answered, unreported }: JudgeProgress, budget: Budget = {}): void {
    this.warnings.push(...this.#foreign.warnings());
    const warning = estimateWarning("judges", answered, unreported, budget);
    if (warning !== undefined) this.warnings.push(warning);
    const { names } = this.unpriced;
    if (answered > 0 && names.length > 0) this.warnings.push(unpricedWarning(names));
  }

  /** Warns of metrics that more than one model judged: a service may replace a model in the middle of a run. */
  noteChanges(): void {
    for (const [metric, versions] of this.#versions) {
      if (versions.size < 2 || this.#targets.get(metric)?.panel !== undefined) continue;
      const { metricName } = this.#metrics[metric] as HeaderMetric;
      const named = [...versions].sort().join(", ");
      const message = `${metricName}: its replies come from more than one model (${named}), whose verdicts may differ`;
      this.#warn("invalid_criterion", message, `versions of ${metricName}`);
    }
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
    const target = this.#targets.get(metric) ?? noTarget(this.#missing.get(metric));
    const controller = new AbortController();
    const question = [metric, request.purpose, request.sampleIndex, digest].join("/");
    const targeted: TargetedRequest = { target, question, callKey: key, request, http, signal: controller.signal };
    const answer = this.#answer(targeted, (found) => this.#take(begun, metric, found)).then((answer) => {
      begun.controller = undefined;
      if ("failed" in answer) {
        this.lastFailure = answer.failed.message;
        this.#fail(begun);
      } else if ("reply" in answer) {
        this.lastFailure = undefined;
        this.#noteVersion(metric, answer.reply);
      }
      return answer;
    });
    const begun: KnownCall = { key, question, controller, answer };
    this.#calls.set(key, begun);
    return begun;
  }

  /** Takes the reply that the engine read from an answer; undefined if there is none. */
  #take(call: KnownCall, metric: number, reply: JudgeReply | undefined): void {
    if (reply !== undefined) this.lastFailure = undefined;
    if (reply === undefined) {
      this.#fail(call);
      return;
    }
    this.#noteVersion(metric, reply);
    // The raw answer is dropped: a long run would hold all of them.
    call.answer = Promise.resolve({ reply, cached: false });
  }

  /** A failed call is made again. */
  #fail(call: KnownCall): void {
    this.#failures += 1;
    this.#forget(call);
  }

  /** Forgets a call, so that the next one for the same sample is made. */
  #forget(call: KnownCall): void {
    if (this.#journal !== undefined) this.#failedFor.set(call.key, (this.#failedFor.get(call.key) ?? 0) + 1);
    if (this.#calls.get(call.key) === call) this.#calls.delete(call.key);
  }

  /** Ends a call whose reply nobody waits for. */
  abort(number: number): void {
    const call = this.#numbered.get(number);
    this.#numbered.delete(number);
    if (call?.controller === undefined) return;
    const inTime = this.#timeoutMs === undefined ? "in time" : `within ${this.#timeoutMs} ms`;
    const message = `the judge did not answer ${inTime}`;
    this.lastFailure = message;
    this.#keepFailure({ question: call.question, callKey: call.key }, { message, retryable: true });
    this.#forget(call);
    call.controller.abort();
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
      if (isAdkMetricsError(error) && error.code === "replay_missing") this.#unsentCalls += 1;
      if (!signal.aborted) this.#keepFailure(targeted, failed);
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

  #keep({ question, callKey, request }: TargetedRequest, reply: JudgeReply, cached: boolean, began: number): void {
    if (this.#journal === undefined) return;
    const failed = this.#failedFor.get(callKey);
    this.#failedFor.delete(callKey);
    const more = { ...(cached ? { cached } : {}), ...(failed === undefined ? {} : { failed }) };
    const ms = Math.round(performance.now() - began);
    this.#journal.keep({ type: "reply", key: question, reply, ...more, evalId: request.evalId, ms });
  }

  #keepFailure({ question, callKey }: Pick<TargetedRequest, "question" | "callKey">, failure: HostFailure): void {
    const attempt = (this.#failedFor.get(callKey) ?? 0) + 1;
    this.#journal?.keep({ type: "failure", key: question, failure, attempt });
  }

  /** The failure that a complete journal has instead of a reply. */
  #lost(journal: JournalSection, question: string, evalId = ""): CallAnswer {
    const found = journal.failure(question);
    if (found === undefined) {
      this.#unsentCalls += 1;
      const message = journal.whyMissing?.(evalId) ?? "no shard asked it, for example because a budget was spent";
      return { failed: { message, retryable: false } };
    }
    const { failure, attempt } = found;
    this.#countFailed(attempt - 1);
    const times = attempt > 1 ? `. It was asked ${attempt} times` : "";
    // Without the status, by which the engine gives up a judge: what one part was refused, others were answered.
    const { message, help } = failure;
    return {
      failed: {
        message: (message.endsWith(".") ? message.slice(0, -1) : message) + times,
        retryable: false,
        ...(help === undefined ? {} : { help }),
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
      return { reply: kept.reply, cached: kept.cached === true };
    }
    const kept = this.#journaled(targeted);
    if (kept !== undefined) return { reply: kept.reply, cached: kept.cached === true };
    const cache = this.#cache;
    const key = await cacheKey(request, target.cacheOwner);
    const began = performance.now();
    const hit = (reply: JudgeReply): CallAnswer => {
      this.#foreign.found(target, key);
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
      keep(target, key);
      cache.store(key, reply, release, this.#journal?.attempted());
    };
    return this.#send(targeted, settle, take);
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
      settle(undefined);
      throw error;
    }
  }

  /** @param kind Warnings of the same kind are given once. */
  #warn(code: EngineError["code"], message: string, kind = message): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.warnings.push({ code, message });
  }
}

/** The most versions of models that a stamp names. */
const MOST_VERSIONS = 20;
