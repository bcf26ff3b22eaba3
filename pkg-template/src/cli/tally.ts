/** Counts the calls of judges, and remembers whether any got a reply and why the last failure happened. */

import { AdkMetricsError, withDetails } from "../errors.js";
import { PROVIDERS } from "../generated/providers.js";
import type { Endpoint } from "../judges/endpoint.js";
import { identified, identityOf } from "../judges/judge.js";
import { isMissing } from "../run/missing-verdicts.js";
import { replyOf } from "../judges/reply.js";
import { amountText, count } from "../report/text.js";
import type { EvalMetricResult, EvalSetResult, Judge, JudgeUsage, VertexOptions } from "../types.js";

/** How long, and how often, a server is tried that cannot be reached at first: it may be starting up. */
const REACHED_WITHIN_MS = 8_000;
const TRIED_EVERY_MS = 2_000;

/** What Vertex AI's service is asked for as, which is not told of metrics here. */
export const VERTEX = "vertex";

/** What the words of simulated users are asked for as. */
const USERS = "user_simulator";

/** The calls for a metric. */
interface Asked {
  calls: number;
  replied: number;
}

/** Whether anybody who was asked replied, and who that was, in words. */
export interface Reach {
  isUnreached: boolean;
  who: string;
  lastFailure?: AdkMetricsError | undefined;
}

/** Watches the calls of a command. */
export class Tally {
  /** By metric. */
  readonly #asked = new Map<string, Asked>();
  /** The last failure of each, the last of all at the end. */
  readonly #failures = new Map<Asked, AdkMetricsError>();
  #began: number | undefined;

  /** How many calls were made. */
  get calls(): number {
    return this.#all.reduce((sum, { calls }) => sum + calls, 0);
  }

  get #all(): Asked[] {
    return [...this.#asked.values()];
  }

  /** @param advisory The metrics that decide nothing. */
  reach(advisory: ReadonlySet<string>): Reach {
    const deciding = new Map([...this.#asked].filter(([metricName]) => !advisory.has(metricName)));
    const all = [...deciding.values()];
    const judge = this.#all.some(({ replied }) => replied > 0) ? "judge for a metric that decides" : "judge";
    return {
      isUnreached: all.length > 0 && all.every(({ replied }) => replied === 0),
      who: deciding.has(USERS) && all.length === 1 ? "simulated user" : judge,
      lastFailure: [...this.#failures].findLast(([asked]) => all.includes(asked))?.[1],
    };
  }

  /** The same judge, counted. @param endpoint Where it asks, if the command was told of it by a variable. */
  watch(judge: Judge, endpoint?: Endpoint): Judge {
    const watched: Judge = async (request, options) => {
      const asked = this.#ask(request.metricName);
      try {
        const reply = await judge(request, options);
        if (isReply(reply)) asked.replied += 1;
        return reply;
      } catch (error) {
        throw options.signal.aborted ? error : this.#failed(asked, error, endpoint);
      }
    };
    return identified(watched, identityOf(judge));
  }

  /** The same options for Vertex AI's evaluation service, with its calls counted. */
  watchVertex(options: VertexOptions): VertexOptions {
    const watched: typeof fetch = async (...request) => {
      const asked = this.#ask(VERTEX);
      const response = await fetch(...request);
      if (response.ok) asked.replied += 1;
      return response;
    };
    return { ...options, fetch: watched };
  }

  #ask(metricName: string): Asked {
    const asked = this.#asked.get(metricName) ?? { calls: 0, replied: 0 };
    this.#asked.set(metricName, asked);
    asked.calls += 1;
    this.#began ??= performance.now();
    return asked;
  }

  #failed(asked: Asked, error: unknown, endpoint: Endpoint | undefined): unknown {
    if (!(error instanceof AdkMetricsError)) return error;
    // On the command line a variable has the address.
    const help = endpoint && error.help?.replace("`baseUrl`", PROVIDERS[endpoint.provider].address);
    const told = help === undefined ? error : withDetails(error, { help });
    this.#failures.delete(asked);
    this.#failures.set(asked, told);
    if (this.#all.some(({ replied }) => replied > 0) || told.status !== undefined || told.retryable !== true)
      return told;
    const isHopeless = performance.now() - (this.#began ?? 0) > REACHED_WITHIN_MS;
    return withDetails(told, isHopeless ? { retryable: false } : { retryAfterMs: TRIED_EVERY_MS });
  }
}

/** Whether the user's judge gave what can be read; what cannot counts as no reply. */
function isReply(given: unknown): boolean {
  try {
    replyOf(given);
    return true;
  } catch {
    return false;
  }
}

/** `42 calls, 8 saved, 2 reused, 1 failed, 12,345 tokens`; what is zero is left out, except for the calls. */
export function usageText({
  calls,
  retried,
  saved,
  cached,
  lost,
  unsent = 0,
  unread = 0,
  inputTokens,
  outputTokens,
}: JudgeUsage): string {
  const parts = [count(calls, "call")];
  const more = { repeated: retried, saved, reused: cached, unreadable: unread, failed: lost - unsent };
  for (const [what, amount] of Object.entries(more)) if (amount > 0) parts.push(`${amountText(amount)} ${what}`);
  const tokens = inputTokens + outputTokens;
  if (tokens > 0) parts.push(count(tokens, "token"));
  return parts.join(", ");
}

/** Whether a result of a judged metric that decides is missing, of a case or of a turn, although a judge was to be asked. */
export function isUnjudged(results: readonly EvalSetResult[]): boolean {
  for (const { judges = [], judgeUsage, evalCaseResults, advisory = [] } of results) {
    if (judgeUsage === undefined) continue;
    const names = new Set(judges.map(({ metricName }) => metricName).filter((name) => !advisory.includes(name)));
    const lacks = (metric: EvalMetricResult) => names.has(metric.metricName) && isMissing(metric, judgeUsage.lost > 0);
    for (const { overallEvalMetricResults, evalMetricResultPerInvocation } of evalCaseResults) {
      if (overallEvalMetricResults.some(lacks)) return true;
      if (evalMetricResultPerInvocation.some(({ evalMetricResults }) => evalMetricResults.some(lacks))) return true;
    }
  }
  return false;
}
