import { messageOf } from "../engine/input.js";
import { withEngine } from "../engine/instance.js";
import { AdkMetricsError, type ErrorDetails, isOurs } from "../errors.js";
import { ANSWER_HEADERS, type RetryAdvice } from "../generated/contract.js";
import { shortened } from "./reply.js";

/** Codes of Node for connections that did not come about or broke off. */
const NETWORK_CODES = /^(?:E(?:CONN|TIMEDOUT|PIPE|AI_AGAIN|HOSTUNREACH|NETUNREACH)|UND_ERR_)/;

/** Codes of Node for what no second attempt changes: no such host, no valid certificate, no valid address. */
const LASTING_CODES = /^(?:ENOTFOUND|ERR_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** How far errors are followed to their causes. */
const MAX_CAUSES = 6;

/**
 * What a client library threw, as an error of ours. Understands, by their shape alone, the errors of the AI SDK, of the
 * SDKs of OpenAI, Anthropic and Google, and of `fetch`: the HTTP status, what the server says of when to come back, and
 * whether it makes sense to.
 */
export function failureOf(cause: unknown, what: string): AdkMetricsError {
  if (isOurs(cause)) return cause;
  return new AdkMetricsError("judge_failed", `${what} failed: ${shortened(messageOf(cause))}`, detailsOf(cause));
}

/** What an error of a client library says besides its message. */
export function detailsOf(cause: unknown): ErrorDetails {
  const chain = chainOf(cause);
  const status = first(chain, statusOf);
  const advice = adviceOf(chain, status);
  const retryAfterMs = first(chain, ownWait) ?? advice?.retryAfterMs;
  const details: ErrorDetails = { retryable: isRetryable(chain, status, advice), cause };
  if (status !== undefined) details.status = status;
  if (retryAfterMs !== undefined) details.retryAfterMs = retryAfterMs;
  return details;
}

type Bag = Readonly<Record<string, unknown>>;

/** An error, what it wraps and what caused it. */
function chainOf(error: unknown): Bag[] {
  const chain: Bag[] = [];
  let next = error;
  while (typeof next === "object" && next !== null && chain.length < MAX_CAUSES) {
    const bag = next as Bag;
    chain.push(bag);
    // The AI SDK's error after several attempts holds the last one's.
    next = get(bag, "lastError") ?? get(bag, "cause");
  }
  return chain;
}

/** A property of an object that may throw when it is read. */
function get(bag: unknown, key: string): unknown {
  try {
    return typeof bag === "object" && bag !== null ? (bag as Bag)[key] : undefined;
  } catch {
    return undefined;
  }
}

function first<T>(chain: readonly Bag[], read: (bag: Bag) => T | undefined): T | undefined {
  for (const bag of chain) {
    const found = read(bag);
    if (found !== undefined) return found;
  }
  return undefined;
}

function statusOf(bag: Bag): number | undefined {
  const candidates = [
    get(bag, "statusCode"),
    get(bag, "status"),
    get(get(bag, "response"), "status"),
    get(bag, "code"),
  ];
  return candidates.map(Number).find((status) => Number.isInteger(status) && status >= 400 && status < 600);
}

function isRetryable(chain: readonly Bag[], status: number | undefined, advice: RetryAdvice | undefined): boolean {
  const own = first(chain, (bag) => flag(bag, "retryable"));
  if (own !== undefined) return own;
  // A spent quota has the status of a rate limit, but waiting does not bring it back.
  if (chain.some((bag) => textsOf(bag).includes("insufficient_quota"))) return false;
  const ofLibrary = first(chain, (bag) => flag(bag, "isRetryable"));
  if (ofLibrary !== undefined) return ofLibrary;
  if (status !== undefined && advice !== undefined) return advice.retryable;
  return chain.some(isNetworkError) && !chain.some(hasLastingCode);
}

/** Whether a network error is one that stays: a wrong name, a certificate that is not valid. */
export function isLasting(error: unknown): boolean {
  return chainOf(error).some(hasLastingCode);
}

function hasLastingCode(bag: Bag): boolean {
  return LASTING_CODES.test(String(get(bag, "code")));
}

function flag(bag: Bag, key: string): boolean | undefined {
  const value = get(bag, key);
  return typeof value === "boolean" ? value : undefined;
}

function isNetworkError(bag: Bag): boolean {
  const { name } = (get(bag, "constructor") ?? {}) as { name?: unknown };
  if (/^APIConnection(?:Timeout)?Error$/.test(String(name))) return true;
  if (NETWORK_CODES.test(String(get(bag, "code") ?? ""))) return true;
  return get(bag, "name") === "TypeError" && /fetch|network|load failed/i.test(String(get(bag, "message")));
}

function textsOf(bag: Bag): string {
  const parts = [get(bag, "message"), get(bag, "code"), get(bag, "responseBody")];
  return parts.filter((part) => typeof part === "string").join("\n");
}

/** What the answer that a client library got says of asking again, as the engine reads the answers of its own calls. */
function adviceOf(chain: readonly Bag[], status: number | undefined): RetryAdvice | undefined {
  const headers: Record<string, string> = {};
  for (const name of ANSWER_HEADERS) {
    const value = first(chain, (bag) => header(headersOf(bag), name));
    if (value !== undefined) headers[name] = value;
  }
  const delay = first(chain, retryDelayOf);
  if (status === undefined && delay === undefined && Object.keys(headers).length === 0) return undefined;
  return withEngine((engine) => engine.retryAdvice(status ?? 0, headers, delay, Date.now()));
}

function ownWait(bag: Bag): number | undefined {
  const own = get(bag, "retryAfterMs");
  return typeof own === "number" && own >= 0 ? own : undefined;
}

function headersOf(bag: Bag): unknown {
  return get(bag, "responseHeaders") ?? get(bag, "headers") ?? get(get(bag, "response"), "headers");
}

/** Google's RetryInfo, which its SDK leaves in the text of the body. */
function retryDelayOf(bag: Bag): string | undefined {
  const [, delay] = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?s)"/.exec(textsOf(bag).replaceAll('\\"', '"')) ?? [];
  return delay;
}

/** A header, by whichever way of holding headers. */
function header(headers: unknown, name: string): string | undefined {
  try {
    if (typeof headers !== "object" || headers === null) return undefined;
    if (typeof (headers as Headers).get === "function") return (headers as Headers).get(name) ?? undefined;
    const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
    return typeof value === "string" && value !== "" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The error of a call that was aborted: `cancelled`, or `timeout` if the signal is that of a timeout. */
export function abortedBy(signal: AbortSignal): AdkMetricsError {
  const reason: unknown = signal.reason;
  const code = get(reason, "name") === "TimeoutError" ? "timeout" : "cancelled";
  return new AdkMetricsError(code, code === "timeout" ? "the judge took too long" : "the judge call was cancelled", {
    cause: reason,
  });
}
