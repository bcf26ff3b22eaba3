import { AdkMetricsError, describe, type EngineMistake } from "../errors.js";
import { cacheKey, memoryCache } from "../judges/cache.js";
import { judgeOf } from "../judges/default.js";
import { type Endpoint, endpointOf, type Provider } from "../judges/endpoint.js";
import { untilAborted } from "../judges/failure.js";
import { identityOf } from "../judges/judge.js";
import { vertexEndpoint } from "../judges/providers.js";
import { replyOf } from "../judges/reply.js";
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
import type { Header, HeaderMetric } from "./decode.js";
import { messageOf } from "./input.js";

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
  retryAfterMs: number | undefined;
}

/** Asks one question of someone. */
interface Asked {
  ask(request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply | string>;
  /** Keeps the replies of different judges apart. */
  label: string;
  model: string | undefined;
  /** Whose protocol it speaks, if this package speaks to it itself. */
  provider?: Provider;
}

/** The code of a warning that only this side of the boundary knows. */
const CACHE_FAILED = "cache_failed" as EngineMistake["code"];

/** Who answers the calls of one run. */
export class Judges {
  /** What went wrong besides; the run went on. */
  readonly warnings: EngineMistake[] = [];
  readonly #asked = new Map<HeaderMetric, Asked>();
  readonly #cache: JudgeCache;
  readonly #replies = new Map<string, Promise<CallAnswer>>();
  readonly #open = new Map<number, AbortController>();

  /** @throws {AdkMetricsError} `judge_required` if a metric has no judge. */
  constructor(options: EvaluatorOptions, header: Header) {
    this.#cache = options.cache ?? memoryCache();
    for (const metric of header.metrics) {
      const { judge } = metric;
      if (judge === undefined) continue;
      const asked = askedBy(options, judge);
      this.#asked.set(metric, asked);
      if (asked.provider === undefined || judge.config === undefined) continue;
      for (const warning of configWarnings(asked.provider, asked.model ?? judge.model ?? "", judge.config)) {
        this.#warn("invalid_criterion", `${metric.metricName}: ${warning}`);
      }
    }
  }

  /** Whether there is anyone to ask. */
  get isNeeded(): boolean {
    return this.#asked.size > 0;
  }

  /** Who judged, for the results. */
  stamps(): JudgeStamp[] {
    return [...this.#asked].map(([{ metricName, judge }, { model }]) =>
      judge?.vertex === true
        ? { metricName, scoredBy: "vertex" }
        : { metricName, scoredBy: "judge", model: model ?? judge?.model ?? "", prompts: judge?.prompts ?? {} },
    );
  }

  /** Makes a call. An engine that was restarted asks again what it asked before: that is not asked twice. */
  ask(metric: HeaderMetric, call: HostCall): Promise<CallAnswer> {
    const { purpose, invocationIndex, stepIndex, sampleIndex } = call.request;
    const place = [call.metric, call.case, call.run ?? "", purpose, invocationIndex, stepIndex, sampleIndex].join("/");
    const known = this.#replies.get(place);
    if (known !== undefined) return known;
    const controller = new AbortController();
    this.#open.set(call.call, controller);
    const answer = this.#answer(metric, call.request, controller.signal).then((answer) => {
      this.#open.delete(call.call);
      // A failed call is made again.
      if ("failed" in answer) this.#replies.delete(place);
      return answer;
    });
    this.#replies.set(place, answer);
    return answer;
  }

  /** Ends a call whose reply nobody waits for. */
  abort(call: number): void {
    this.#open.get(call)?.abort();
    this.#open.delete(call);
  }

  /** Ends every call. */
  abortAll(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#open.clear();
  }

  async #answer(metric: HeaderMetric, request: JudgeRequest, signal: AbortSignal): Promise<CallAnswer> {
    const asked = this.#asked.get(metric) as Asked;
    const given = asked.model === undefined ? request : { ...request, model: asked.model };
    const key = await cacheKey(given, asked.label);
    const cached = await this.#cached(() => this.#cache.get(key));
    if (cached !== undefined) {
      try {
        return { reply: replyOf(cached), cached: true };
      } catch (error) {
        this.#warn(CACHE_FAILED, `a reply in the cache cannot be used: ${messageOf(error)}`);
      }
    }
    try {
      const reply = replyOf(await untilAborted(signal, () => asked.ask(given, signal)));
      await this.#cached(() => this.#cache.set(key, reply));
      return { reply, cached: false };
    } catch (error) {
      return { failed: failedBy(error) };
    }
  }

  /** What a cache does, or nothing if it fails: that costs money, but no result. */
  async #cached<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#warn(CACHE_FAILED, `the cache of replies failed: ${messageOf(error)}`);
      return undefined;
    }
  }

  #warn(code: EngineMistake["code"], message: string): void {
    if (!this.warnings.some((known) => known.message === message)) this.warnings.push({ code, message });
  }
}

function askedBy(options: EvaluatorOptions, { vertex, model = "" }: NonNullable<HeaderMetric["judge"]>): Asked {
  if (vertex) {
    const endpoint: Endpoint = vertexEndpoint(options.vertex as NonNullable<EvaluatorOptions["vertex"]>);
    return {
      ask: (request, signal) => evaluateInstances(endpoint, request.prompt, signal),
      label: `${endpoint.label} evaluateInstances`,
      model: undefined,
    };
  }
  const judge: Judge = judgeOf(options, model);
  const { label = "", model: own } = identityOf(judge);
  const provider = endpointOf(judge)?.provider;
  const ask: Asked["ask"] = (request, signal) => judge(request, { signal });
  return { ask, label, model: own, ...(provider === undefined ? {} : { provider }) };
}

/** Statuses of servers that are asked too often. */
const OVERLOADED: readonly unknown[] = [429, 503, 529];
/** Statuses of servers that refuse whoever asks. */
const UNAUTHORIZED: readonly unknown[] = [401, 403];

/** Only errors that say so are worth another call. */
function failedBy(error: unknown): CallFailure {
  const { status, retryable, retryAfterMs } = detailsOf(error);
  return {
    message: error instanceof AdkMetricsError ? describe(error) : messageOf(error),
    retryable: retryable === true,
    rateLimited: OVERLOADED.includes(status),
    isAuth: UNAUTHORIZED.includes(status),
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined,
  };
}

function detailsOf(error: unknown): { status?: unknown; retryable?: unknown; retryAfterMs?: unknown } {
  if (typeof error !== "object" || error === null) return {};
  try {
    const { status, retryable, retryAfterMs } = error as Partial<AdkMetricsError>;
    return { status, retryable, retryAfterMs };
  } catch {
    return {};
  }
}

const encoder = new TextEncoder();

/** Hands the engine what came of a call at a time. */
export function deliverAnswer(run: EvalRun, now: number, call: number, answer: CallAnswer): void {
  if ("failed" in answer) {
    run.handleFailure(now, call, answer.failed);
    return;
  }
  const { text, usage = {} } = answer.reply;
  const { inputTokens = usage.totalTokens, outputTokens } = usage;
  run.handleReply(now, call, encoder.encode(text), inputTokens, outputTokens, answer.cached);
}

/** How far the calls of a run are. */
export function judgeProgress(run: EvalRun, hasPrices: boolean): JudgeProgress {
  const numbers = run.progress();
  const at = (index: number) => numbers[index] as number;
  const progress: JudgeProgress = {
    calls: at(0),
    retried: at(1),
    inFlight: at(2),
    queued: at(3),
    cached: at(4),
    saved: at(5),
    lost: at(6),
    inputTokens: at(7),
    outputTokens: at(8),
  };
  if (hasPrices) progress.cost = at(9);
  if (!Number.isNaN(at(10))) progress.leftMs = at(10);
  return progress;
}
