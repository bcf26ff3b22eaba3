import { withPath } from "../errors.js";
import { untilAborted } from "../abort.js";
import { cacheKey } from "../judges/cache.js";
import { abortedBy } from "../judges/failure.js";
import { replyOf } from "../judges/reply.js";
import { transfer } from "../judges/send.js";
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
import type { EvaluatorOptions, JudgeCache, JudgeProgress, JudgeReply, JudgeRequest, JudgeStamp } from "../types.js";
import { messageOf } from "../engine/values.js";
import { AskedQuestions, MOST_REPLIES } from "./asked.js";
import { failedBy } from "./failure.js";
import { checkModel, type JudgeTarget, notSentTo, targetOf } from "./target.js";

/** What came of a call. */
export type CallAnswer =
  | { reply: JudgeReply; cached: boolean }
  | { failed: HostFailure }
  /** Of a request over the wire, which the engine reads: it says what that is. */
  | { raw: RawAnswer; token: string | undefined; take(outcome: JudgeOutcome | undefined): void };

/** A question on its way to whoever is asked. */
interface TargetedRequest {
  target: JudgeTarget;
  /** What identifies the question and the number of its sample in this run. */
  question: string;
  request: JudgeRequest;
  http: HttpRequest | undefined;
  signal: AbortSignal;
}

/** Takes what was read of an answer: the reply, or that there is none. */
type TakeReply = (reply: JudgeReply | undefined) => void;

/** A call that is under way or answered. */
interface KnownCall {
  /** Which sample of which question it is. */
  readonly key: string;
  /** Ends the call, as long as it has no answer. */
  controller: AbortController | undefined;
  answer: Promise<CallAnswer>;
}

/** The code of a warning that only this side of the boundary knows. */
const CACHE_FAILED = "cache_failed" as EngineError["code"];

/** Who answers the calls of one run. */
export class Judges {
  /** What went wrong besides; the run went on. */
  readonly warnings: EngineError[] = [];
  readonly #metrics: readonly HeaderMetric[];
  /** By the place of the metric. */
  readonly #targets = new Map<number, JudgeTarget>();
  /** Why metrics without a judge lack one, by their place: none of the cases can be scored by them, so nobody is to be asked. */
  readonly #missing = new Map<number, unknown>();
  /** The user's own. */
  readonly #cache: JudgeCache | undefined;
  /** What was asked, if there is no cache of the user's own. */
  readonly #asked = new AskedQuestions();
  readonly #calls = new Map<string, KnownCall>();
  /** The same, by the numbers that the engine gave them. */
  readonly #numbered = new Map<number, KnownCall>();
  /** Release the keys of the cache that are claimed for calls of this run. */
  readonly #claims = new Set<() => void>();
  /** Replies on their way into the cache. */
  readonly #writes = new Set<Promise<void>>();
  /** The versions of models that replies named, by the place of the metric. */
  readonly #versions = new Map<number, Set<string>>();
  /** How many calls ended without a reply. */
  #failures = 0;
  /** How many of these the engine does not know of, because it was started afresh. */
  #failedBefore = 0;
  /** The kinds of warnings that were given. */
  readonly #warned = new Set<string>();

  /**
   * @param isNeeded Whether a metric may ask anybody; asked of metrics without a judge only, since it takes a while.
   * @throws {AdkMetricsError} `judge_required` if a metric has no judge, `invalid_input` for a judge that cannot have the
   * metric's model, or a budget in money without that model's price.
   */
  constructor(options: EvaluatorOptions, { metrics }: RunHeader, isNeeded: (metric: number) => boolean) {
    this.#cache = options.cache;
    this.#metrics = metrics;
    for (const [metric, { metricName, judge }] of metrics.entries()) {
      if (judge === undefined) continue;
      let target: JudgeTarget;
      try {
        target = targetOf(options, judge);
      } catch (error) {
        // An error says which metric lacks a judge: the run may be of many files.
        const located = withPath(error, `config: criteria.${metricName}`);
        if (isNeeded(metric)) throw located;
        this.#missing.set(metric, located);
        continue;
      }
      this.#targets.set(metric, target);
      if (!judge.vertex) checkModel(options, target, judge.model ?? "");
      if (target.retirement !== undefined) this.#warn("invalid_criterion", target.retirement);
      for (const warning of notSentTo(target, judge)) this.#warn("invalid_criterion", `${metricName}: ${warning}`);
    }
  }

  /** Tells an engine that was just given the run which servers it speaks to itself. */
  attach(run: EvalRun): void {
    for (const [metric, { endpoint, provider, model }] of this.#targets) {
      if (endpoint !== undefined) run.setEndpoint(metric, endpoint.settingsOfRun());
      // Judges that wrap one of a provider send no more than it does.
      if (provider === undefined) continue;
      const settings = { provider, headers: {}, inBrowser: false, ...(model === undefined ? {} : { model }) };
      const { metricName } = this.#metrics[metric] as HeaderMetric;
      for (const warning of run.settingsNotSent(metric, settings)) {
        this.#warn("invalid_criterion", `${metricName}: ${warning}`);
      }
    }
  }

  /** Whether there is anyone to ask. */
  get isNeeded(): boolean {
    return this.#targets.size > 0;
  }

  /** Who judged, for the results. */
  stamps(): JudgeStamp[] {
    return [...this.#targets].map(([metric, { model, functionName }]) => {
      const { metricName, judge } = this.#metrics[metric] as HeaderMetric;
      if (judge?.vertex === true) return { metricName, scoredBy: "vertex" };
      const stamp: JudgeStamp = { metricName, scoredBy: "judge" };
      // A function may ask any model, or none: only it knows.
      const target = functionName === undefined ? (model ?? judge?.model ?? "") : model;
      if (target !== undefined) stamp.model = target;
      if (functionName !== undefined) stamp.function = functionName;
      const versions = this.#versions.get(metric);
      if (versions !== undefined) stamp.modelVersions = [...versions].sort();
      stamp.prompts = judge?.prompts ?? {};
      return stamp;
    });
  }

  /** How many calls failed before the engine was started afresh, of which it does not know. */
  get failedBefore(): number {
    return this.#failedBefore;
  }

  #noteVersion(metric: number, { modelVersion }: JudgeReply): void {
    if (modelVersion === undefined || modelVersion === "") return;
    const versions = this.#versions.get(metric) ?? new Set();
    this.#versions.set(metric, versions);
    if (versions.size < MOST_VERSIONS) versions.add(modelVersion);
  }

  /** Warns where replies were given up: what a run costs depends on it. */
  noteForgotten(): void {
    if (!this.#asked.hasForgotten) return;
    const most = MOST_REPLIES.toLocaleString("en");
    this.warnings.push({
      code: "limit_exceeded",
      message: `more than ${most} questions were asked, and the replies to the latest ${most} were kept: an identical question is asked again, and paid for again, if its reply was an older one`,
      help: "Pass a `cache` that holds more, such as memoryCache({ maxEntries: 100_000 }), or --cache on the command line",
    });
  }

  /** Warns of metrics that more than one model judged: a service may replace a model in the middle of a run. */
  noteChanges(): void {
    for (const [metric, versions] of this.#versions) {
      if (versions.size < 2) continue;
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
    const targeted: TargetedRequest = { target, question, request, http, signal: controller.signal };
    const answer = this.#answer(targeted, (found) => this.#take(begun, metric, found)).then((answer) => {
      begun.controller = undefined;
      if ("failed" in answer) this.#fail(begun);
      else if ("reply" in answer) this.#noteVersion(metric, answer.reply);
      return answer;
    });
    const begun: KnownCall = { key, controller, answer };
    this.#calls.set(key, begun);
    return begun;
  }

  /** Takes what the engine read of a raw answer: the reply, or that there is none. */
  #take(call: KnownCall, metric: number, reply: JudgeReply | undefined): void {
    if (reply === undefined) {
      this.#fail(call);
      return;
    }
    this.#noteVersion(metric, reply);
    // The raw answer is let go: a long run would hold all of them.
    call.answer = Promise.resolve({ reply, cached: false });
  }

  /** A failed call is made again. */
  #fail(call: KnownCall): void {
    this.#failures += 1;
    this.#forget(call);
  }

  /** Has the next call for the same sample made anew. */
  #forget(call: KnownCall): void {
    if (this.#calls.get(call.key) === call) this.#calls.delete(call.key);
  }

  /** Ends a call whose reply nobody waits for. */
  abort(number: number): void {
    const call = this.#numbered.get(number);
    this.#numbered.delete(number);
    if (call?.controller === undefined) return;
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
    for (const release of this.#claims) release();
  }

  /** Waits until the cache has every reply, or until the signal aborts; not for ever. */
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
      const message = `the cache of replies did not store ${this.#writes.size} of them within ${CACHE_PATIENCE / 1000} s`;
      this.#warn(CACHE_FAILED, message);
    }
  }

  /** Never rejects. */
  async #answer(targeted: TargetedRequest, take: TakeReply): Promise<CallAnswer> {
    const { target, request, signal } = targeted;
    const addressed = target.model === undefined ? request : { ...request, model: target.model };
    try {
      return await untilAborted(signal, () => this.#findOrAsk({ ...targeted, request: addressed }, take), abortedBy);
    } catch (error) {
      return { failed: failedBy(error) };
    }
  }

  async #findOrAsk(targeted: TargetedRequest, take: TakeReply): Promise<CallAnswer> {
    const { question, request, target } = targeted;
    if (this.#cache === undefined) {
      for (let asked = this.#asked.get(question); asked !== undefined; asked = this.#asked.get(question)) {
        const reply = await asked;
        if (reply !== undefined) return { reply, cached: true };
      }
      return this.#send(targeted, this.#asked.begin(question, targeted.signal), take);
    }
    const cache = this.#cache;
    const key = await cacheKey(request, target.cacheOwner);
    const cached = await this.#cached(cache, key);
    if (cached !== undefined) return { reply: cached, cached: true };
    const release = await this.#claim(cache, key, targeted.signal);
    // Whoever held it may have got the reply.
    const found = release === undefined ? undefined : await this.#cached(cache, key);
    if (found !== undefined) {
      release?.();
      return { reply: found, cached: true };
    }
    const settle = (reply: JudgeReply | undefined): void => {
      if (reply === undefined) release?.();
      else this.#store(cache, key, reply, release);
    };
    return this.#send(targeted, settle, take);
  }

  /** @returns Releases the key, once; nothing if the cache has no claims. A claim that fails costs money, but no result. */
  async #claim(cache: JudgeCache, key: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (cache.claim === undefined) return undefined;
    try {
      const free = await cache.claim(key, signal);
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

  #unwritable(error: unknown): void {
    this.#warn(CACHE_FAILED, `the cache of replies cannot be written: ${messageOf(error)}`, "cache.set");
  }

  /** @param settle Is told what came of it, once: nothing if there is no reply. */
  async #send(
    { target, request, http, signal }: TargetedRequest,
    settle: (reply: JudgeReply | undefined) => void,
    take: TakeReply,
  ): Promise<CallAnswer> {
    try {
      // Signals of jsdom, in which Jest may run, cannot `throwIfAborted`.
      if (signal.aborted) throw signal.reason;
      if (target.endpoint === undefined || http === undefined) {
        const reply = replyOf(await target.ask(request, signal));
        settle(reply);
        return { reply, cached: false };
      }
      const token = http.needsToken ? await target.endpoint.token() : undefined;
      const raw = await transfer(target.endpoint, withToken(http, token), signal);
      let isTaken = false;
      return {
        raw,
        token,
        take: (outcome) => {
          // An engine that was started afresh reads it once more.
          if (isTaken) return;
          isTaken = true;
          const reply = outcome !== undefined && "reply" in outcome ? replyOf(outcome.reply) : undefined;
          settle(reply);
          if (outcome !== undefined) take(reply);
        },
      };
    } catch (error) {
      settle(undefined);
      throw error;
    }
  }

  /** A reply from the cache. A cache that fails costs money, but no result. */
  async #cached(cache: JudgeCache, key: string): Promise<JudgeReply | undefined> {
    try {
      const cached: JudgeReply | undefined | null = await cache.get(key);
      return cached === undefined || cached === null ? undefined : replyOf(cached);
    } catch (error) {
      this.#warn(CACHE_FAILED, `the cache of replies cannot be read: ${messageOf(error)}`, "cache.get");
      return undefined;
    }
  }

  /** Puts a reply into the cache, for which nobody waits who needs the reply. */
  #store(cache: JudgeCache, key: string, reply: JudgeReply, release: (() => void) | undefined): void {
    const store = async (): Promise<void> => {
      try {
        await cache.set(key, reply);
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

  /** @param kind Warnings of the same kind are given once. */
  #warn(code: EngineError["code"], message: string, kind = message): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.warnings.push({ code, message });
  }
}

/** Fails every call, with the reason why there is nobody to ask. */
function noTarget(reason: unknown): JudgeTarget {
  return { ask: () => Promise.reject(reason), label: "", cacheOwner: "", model: undefined };
}

/** A request with the access token that it lacks. */
function withToken(http: HttpRequest, token: string | undefined): HttpRequest {
  return token === undefined ? http : { ...http, headers: [...http.headers, ["authorization", `Bearer ${token}`]] };
}

/** How long a run waits in the end for a cache to store what it was given, in milliseconds. */
const CACHE_PATIENCE = 10_000;
/** The most versions of models that a stamp names. */
const MOST_VERSIONS = 20;

const encoder = /* @__PURE__ */ new TextEncoder();

/** Hands the engine what came of a call at a time. */
export function deliverAnswer(run: EvalRun, now: number, call: number, answer: CallAnswer): void {
  if ("failed" in answer) {
    run.handleFailure(now, call, answer.failed);
  } else if ("reply" in answer) {
    const { text, usage = {} } = answer.reply;
    run.handleReply(now, call, encoder.encode(text), usage, answer.cached);
  } else {
    answer.take(run.handleAnswer(now, call, answer.raw.answer, answer.raw.body, answer.token));
  }
}

/**
 * How far the calls of a run are.
 *
 * @param failedBefore Calls that failed before the engine was started afresh, of which it does not know.
 */
export function judgeProgress(run: EvalRun, hasPrices: boolean, failedBefore: number): JudgeProgress {
  const { cost, leftMs, ...found } = run.progress();
  const { calls, failed, retried } = found;
  return {
    ...found,
    calls: calls + failedBefore,
    failed: failed + failedBefore,
    retried: retried + failedBefore,
    ...(hasPrices ? { cost } : {}),
    ...(leftMs === undefined ? {} : { leftMs }),
  };
}
