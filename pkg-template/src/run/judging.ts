import { AdkMetricsError, describe, type EngineMistake, isOurs } from "../errors.js";
import { cacheKey, memoryCache } from "../judges/cache.js";
import { judgeOf } from "../judges/default.js";
import { type Endpoint, isForeign, type Provider } from "../judges/endpoint.js";
import { untilAborted } from "../judges/failure.js";
import { identityOf } from "../judges/judge.js";
import { vertexEndpoint } from "../judges/providers.js";
import { replyOf, tokensOf } from "../judges/reply.js";
import { canonicalJson } from "../judges/request.js";
import { evaluateInstances } from "../judges/vertex-evaluate.js";
import { configWarnings } from "../judges/wire.js";
import type { EvalRun } from "../generated/adk_metrics.js";
import type {
  EvaluatorOptions,
  Judge,
  JudgeCache,
  JudgeProgress,
  JudgeReply,
  JudgeRequest,
  JudgeStamp,
} from "../types.js";
import type { Header, HeaderMetric } from "../engine/decode.js";
import { messageOf } from "../engine/input.js";

/** A call of a judge that the engine asks for. */
export interface HostCall {
  call: number;
  metric: number;
  case: number;
  run?: number;
  vertex: boolean;
  request: JudgeRequest;
}

/** What came of a call. */
export type CallAnswer = { reply: JudgeReply; cached: boolean } | { failed: CallFailure };

/** Why a call gave no reply, as the engine reads it. */
export interface CallFailure {
  message: string;
  retryable: boolean;
  /** Whether the server wants to be asked less often. */
  rateLimited: boolean;
  /** Whether the server refuses whoever asks. */
  isAuth: boolean;
  /** Whether it is a server that refused the call, by its status. */
  isRefusal: boolean;
  /** Whether the connection did not come about, or broke off. */
  isDisconnected: boolean;
  retryAfterMs: number | undefined;
}

/** Who is asked: besides, what {@link JudgeIdentity} says of it. */
interface Asked {
  ask(request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply | string>;
  label: string;
  /** Under whose name replies are kept. */
  keeper: string;
  model: string | undefined;
  /** The name of a function of the user's own, empty if it has none. */
  functionName?: string;
  provider?: Provider;
  notSent?: (settings: object) => string[];
}

/** A call that is under way or answered. */
interface KnownCall {
  /** Which sample of which question it is. */
  readonly place: string;
  readonly controller: AbortController;
  readonly answer: Promise<CallAnswer>;
  isAnswered: boolean;
}

/** The code of a warning that only this side of the boundary knows. */
const CACHE_FAILED = "cache_failed" as EngineMistake["code"];

/** Who answers the calls of one run. */
export class Judges {
  /** What went wrong besides; the run went on. */
  readonly warnings: EngineMistake[] = [];
  readonly #metrics: readonly HeaderMetric[];
  /** By the place of the metric. */
  readonly #asked = new Map<number, Asked>();
  readonly #cache: JudgeCache;
  readonly #calls = new Map<string, KnownCall>();
  /** The same, by the numbers that the engine gave them. */
  readonly #numbered = new Map<number, KnownCall>();
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
  /** What the server says to every call of a metric, and how often it did, where no call was answered yet. */
  readonly #refusals = new Map<number, { message: string; times: number }>();
  /** The longest wait that a server may ask for, in milliseconds. */
  readonly #longestPause: number;

  /**
   * @throws {AdkMetricsError} `judge_required` if a metric has no judge, `invalid_input` for a judge that cannot have the
   * metric's model, or a budget in money without that model's price.
   */
  constructor(options: EvaluatorOptions, { metrics }: Header) {
    this.#cache = options.cache ?? memoryCache();
    this.#longestPause = Math.max(LONGEST_PAUSE, options.retry?.maxDelayMs ?? 0);
    this.#metrics = metrics;
    for (const [place, { metricName, judge }] of metrics.entries()) {
      if (judge === undefined) continue;
      const asked = askedBy(options, judge);
      this.#asked.set(place, asked);
      if (!judge.vertex) checkModel(options, asked, judge.model ?? "");
      for (const warning of notSentTo(asked, judge)) this.#warn("invalid_criterion", `${metricName}: ${warning}`);
    }
  }

  /** Whether there is anyone to ask. */
  get isNeeded(): boolean {
    return this.#asked.size > 0;
  }

  /** Who judged, for the results. */
  stamps(): JudgeStamp[] {
    return [...this.#asked].map(([place, { model, functionName }]) => {
      const { metricName, judge } = this.#metrics[place] as HeaderMetric;
      if (judge?.vertex === true) return { metricName, scoredBy: "vertex" };
      const stamp: JudgeStamp = { metricName, scoredBy: "judge" };
      // A function may ask any model, or none: only it knows.
      const asked = functionName === undefined ? (model ?? judge?.model ?? "") : model;
      if (asked !== undefined) stamp.model = asked;
      if (functionName !== undefined) stamp.function = functionName;
      const versions = this.#versions.get(place);
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

  /** Makes a call. What an engine asked before it was restarted is not asked twice. */
  ask(call: HostCall): Promise<CallAnswer> {
    const { purpose, invocationIndex, stepIndex, sampleIndex } = call.request;
    const place = [call.metric, call.case, call.run ?? "", purpose, invocationIndex, stepIndex, sampleIndex].join("/");
    const known = this.#calls.get(place) ?? this.#begin(place, call);
    this.#numbered.set(call.call, known);
    return known.answer;
  }

  #begin(place: string, { metric, request }: HostCall): KnownCall {
    const asked = this.#asked.get(metric) as Asked;
    const controller = new AbortController();
    const answer = this.#answer(asked, request, controller.signal).then((answer) => {
      begun.isAnswered = true;
      if ("failed" in answer) {
        this.#failures += 1;
        // A failed call is made again.
        this.#forget(begun);
        this.#judgeFailure(metric, answer.failed);
      } else {
        this.#refusals.set(metric, { message: "", times: -Infinity });
        this.#noteVersion(metric, answer.reply);
      }
      return answer;
    });
    const begun: KnownCall = { place, controller, answer, isAnswered: false };
    this.#calls.set(place, begun);
    return begun;
  }

  /** A server that says the same no to several calls, and yes to none, need not be asked again. */
  #judgeFailure(metric: number, failed: CallFailure): void {
    if (failed.retryAfterMs !== undefined && failed.retryAfterMs > this.#longestPause) {
      failed.message += `. It asks to be left alone for ${Math.round(failed.retryAfterMs / 1000)} s, which is too long to wait`;
      failed.retryable = false;
      // Nor do the others wait.
      failed.rateLimited = false;
      failed.retryAfterMs = undefined;
    }
    if (!failed.isRefusal || failed.retryable) return;
    const known = this.#refusals.get(metric);
    if (known === undefined) this.#refusals.set(metric, { message: failed.message, times: 1 });
    else if (known.message === failed.message) failed.isAuth ||= (known.times += 1) >= REFUSALS;
  }

  /** Has the next call for the same sample made anew. */
  #forget(call: KnownCall): void {
    if (this.#calls.get(call.place) === call) this.#calls.delete(call.place);
  }

  /** Ends a call whose reply nobody waits for. */
  abort(number: number): void {
    const call = this.#numbered.get(number);
    this.#numbered.delete(number);
    if (call === undefined || call.isAnswered) return;
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
    for (const { controller, isAnswered } of this.#calls.values()) {
      if (!isAnswered) controller.abort();
    }
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
  async #answer(asked: Asked, request: JudgeRequest, signal: AbortSignal): Promise<CallAnswer> {
    const given = asked.model === undefined ? request : { ...request, model: asked.model };
    try {
      return await untilAborted(signal, () => this.#findOrAsk(asked, given, signal));
    } catch (error) {
      return { failed: failedBy(error) };
    }
  }

  async #findOrAsk(asked: Asked, request: JudgeRequest, signal: AbortSignal): Promise<CallAnswer> {
    const key = await cacheKey(request, asked.keeper);
    const cached = await this.#cached(key);
    if (cached !== undefined) return { reply: cached, cached: true };
    // Signals of jsdom, in which Jest may run, cannot `throwIfAborted`.
    if (signal.aborted) throw signal.reason;
    const reply = replyOf(await asked.ask(request, signal));
    this.#store(key, reply);
    return { reply, cached: false };
  }

  /** A reply from the cache. A cache that fails costs money, but no result. */
  async #cached(key: string): Promise<JudgeReply | undefined> {
    try {
      const cached: JudgeReply | undefined | null = await this.#cache.get(key);
      return cached === undefined || cached === null ? undefined : replyOf(cached);
    } catch (error) {
      this.#warn(CACHE_FAILED, `the cache of replies cannot be read: ${messageOf(error)}`, "cache.get");
      return undefined;
    }
  }

  /** Puts a reply into the cache, for which nobody waits who needs the reply. */
  #store(key: string, reply: JudgeReply): void {
    const store = async (): Promise<void> => {
      try {
        await this.#cache.set(key, reply);
      } catch (error) {
        this.#warn(CACHE_FAILED, `the cache of replies cannot be written: ${messageOf(error)}`, "cache.set");
      }
    };
    const write = store().finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  /** @param kind Warnings of the same kind are given once. */
  #warn(code: EngineMistake["code"], message: string, kind = message): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.warnings.push({ code, message });
  }
}

function askedBy(options: EvaluatorOptions, { vertex, model = "" }: NonNullable<HeaderMetric["judge"]>): Asked {
  if (vertex) {
    const endpoint: Endpoint = vertexEndpoint(options.vertex as NonNullable<EvaluatorOptions["vertex"]>);
    const label = `${endpoint.label} evaluateInstances`;
    return {
      ask: (request, signal) => evaluateInstances(endpoint, request.prompt, signal),
      label,
      keeper: label,
      model: undefined,
    };
  }
  const judge: Judge = judgeOf(options, model);
  const { label = "", variant, model: own, provider, functionName, notSent } = identityOf(judge);
  const ask: Asked["ask"] = (request, signal) => judge(request, { signal });
  return {
    ask,
    label,
    keeper: variant === undefined || Object.keys(variant).length === 0 ? label : `${label} ${jsonOf(variant)}`,
    model: own,
    ...(functionName === undefined ? {} : { functionName }),
    ...(provider === undefined ? {} : { provider }),
    ...(notSent === undefined ? {} : { notSent }),
  };
}

/** Options as JSON. Those that JSON cannot hold are like no others, so that no reply is taken for another's. */
function jsonOf(variant: object): string {
  try {
    return canonicalJson(JSON.parse(JSON.stringify(variant)));
  } catch {
    return String(Math.random());
  }
}

/** What of the settings in a criterion whoever is asked is not sent. */
function notSentTo({ provider, model, notSent }: Asked, judge: NonNullable<HeaderMetric["judge"]>): string[] {
  if (judge.config === undefined) return [];
  if (provider !== undefined) return configWarnings(provider, model ?? judge.model ?? "", judge.config);
  return notSent?.(judge.config) ?? [];
}

function checkModel({ budget }: EvaluatorOptions, { label, model, provider }: Asked, named: string): void {
  // The label of a judge at another address has that address besides.
  if (model === undefined && provider !== undefined && label === provider && isForeign(provider, named)) {
    throw new AdkMetricsError("invalid_input", `the judge asks ${provider}, which has no model ${named}`, {
      help: "Give the judge a `model`, or name one in `judge_model_options`",
    });
  }
  const asked = model ?? named;
  if (budget?.cost !== undefined && !Object.hasOwn(budget.prices ?? {}, asked)) {
    throw new AdkMetricsError("invalid_input", `there is no price for the model ${asked}, which is asked`, {
      path: "budget: prices",
      help: "A budget in money needs the prices of every model that is asked",
    });
  }
}

/** The longest wait that a server may ask for, in milliseconds, unless the options allow more. */
const LONGEST_PAUSE = 600_000;
/** How long a run waits in the end for a cache to store what it was given, in milliseconds. */
const CACHE_PATIENCE = 10_000;
/** The most versions of models that a stamp names. */
const MOST_VERSIONS = 20;
/** After how many refusals in the same words, and no answer, a server is not asked any more. */
const REFUSALS = 4;
/** Characters of an error that a result repeats. */
const LONGEST_MESSAGE = 1000;

/** Statuses of servers that are asked too often. */
const OVERLOADED: readonly unknown[] = [429, 503, 529];
/** Statuses of servers that refuse whoever asks. */
const UNAUTHORIZED: readonly unknown[] = [401, 403];

/** Only errors that say so are worth another call. */
function failedBy(error: unknown): CallFailure {
  const { status, retryable, retryAfterMs } = detailsOf(error);
  return {
    message: shortened(wordsOf(error)),
    retryable: retryable === true,
    // A spent quota has the status of a rate limit, but no waiting brings it back.
    rateLimited: retryable !== false && OVERLOADED.includes(status),
    isAuth: UNAUTHORIZED.includes(status),
    isRefusal: typeof status === "number" && status >= 400 && status < 500,
    // Whoever got an answer says its status.
    isDisconnected: status === undefined,
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined,
  };
}

/** What was thrown, in words. Some throw plain objects with a message, and some nothing at all. */
function wordsOf(error: unknown): string {
  if (isOurs(error)) return describe(error);
  if (error === undefined || error === null || error === "") return "the judge failed without a reason";
  return messageOf(error);
}

function shortened(text: string): string {
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}…`;
}

/** What the properties of something that was thrown say; they may be anything, and throw themselves. */
function detailsOf(error: unknown): Partial<Record<"message" | "status" | "retryable" | "retryAfterMs", unknown>> {
  if (typeof error !== "object" || error === null) return {};
  try {
    const { message, status, retryable, retryAfterMs } = error as Partial<AdkMetricsError>;
    return { message, status, retryable, retryAfterMs };
  } catch {
    return {};
  }
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** Hands the engine what came of a call at a time. */
export function deliverAnswer(run: EvalRun, now: number, call: number, answer: CallAnswer): void {
  if ("failed" in answer) {
    const { message, retryable, rateLimited, isAuth, isDisconnected, retryAfterMs } = answer.failed;
    run.handleFailure(now, call, message, retryable, rateLimited, isAuth, isDisconnected, retryAfterMs);
    return;
  }
  const { text, usage = {} } = answer.reply;
  const { inputTokens, outputTokens } = tokensOf(usage);
  run.handleReply(now, call, encoder.encode(text), inputTokens, outputTokens, answer.cached);
}

/**
 * How far the calls of a run are.
 *
 * @param failedBefore Calls that failed before the engine was started afresh, of which it does not know.
 */
export function judgeProgress(run: EvalRun, hasPrices: boolean, failedBefore: number): JudgeProgress {
  const numbers = run.progress();
  const at = (index: number) => numbers[index] as number;
  const progress: JudgeProgress = {
    calls: at(0) + failedBefore,
    answered: at(1),
    failed: at(2) + failedBefore,
    retried: at(3) + failedBefore,
    inFlight: at(4),
    asked: at(5),
    queued: at(6),
    cached: at(7),
    saved: at(8),
    lost: at(9),
    unreported: at(10),
    inputTokens: at(11),
    outputTokens: at(12),
  };
  if (hasPrices) progress.cost = at(13);
  if (!Number.isNaN(at(14))) progress.leftMs = at(14);
  return progress;
}
