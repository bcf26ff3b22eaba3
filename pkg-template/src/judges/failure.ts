import { messageOf, shortened } from "../engine/values.js";
import { withEngine } from "../engine/instance.js";
import { AdkMetricsError, type ErrorDetails, isAdkMetricsError } from "../errors.js";
import { ANSWER_HEADERS, type RetryAdvice } from "../generated/contract.js";

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
  if (isAdkMetricsError(cause)) return cause;
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

type Fields = Readonly<Record<string, unknown>>;

/** An error, what it wraps and what caused it. */
function chainOf(error: unknown): Fields[] {
  const chain: Fields[] = [];
  let next = error;
  while (typeof next === "object" && next !== null && chain.length < MAX_CAUSES) {
    const fields = next as Fields;
    chain.push(fields);
    // The AI SDK's error after several attempts holds the last one's.
    next = get(fields, "lastError") ?? get(fields, "cause");
  }
  return chain;
}

/** A property of an object that may throw when it is read. */
function get(fields: unknown, key: string): unknown {
  try {
    return typeof fields === "object" && fields !== null ? (fields as Fields)[key] : undefined;
  } catch {
    return undefined;
  }
}

function first<T>(chain: readonly Fields[], read: (fields: Fields) => T | undefined): T | undefined {
  for (const source of chain) {
    const found = read(source);
    if (found !== undefined) return found;
  }
  return undefined;
}

function statusOf(fields: Fields): number | undefined {
  const candidates = [
    get(fields, "statusCode"),
    get(fields, "status"),
    get(get(fields, "response"), "status"),
    get(fields, "code"),
  ];
  return candidates.map(Number).find((status) => Number.isInteger(status) && status >= 400 && status < 600);
}

function isRetryable(chain: readonly Fields[], status: number | undefined, advice: RetryAdvice | undefined): boolean {
  const own = first(chain, (fields) => flag(fields, "retryable"));
  if (own !== undefined) return own;
  // A spent quota has the status of a rate limit, but waiting does not bring it back.
  if (chain.some((fields) => textsOf(fields).includes("insufficient_quota"))) return false;
  const ofLibrary = first(chain, (fields) => flag(fields, "isRetryable"));
  if (ofLibrary !== undefined) return ofLibrary;
  if (status !== undefined && advice !== undefined) return advice.retryable;
  return chain.some(isNetworkError) && !chain.some(hasLastingCode);
}

/** Whether a network error is one that stays: a wrong name, a certificate that is not valid. */
export function isLasting(error: unknown): boolean {
  return chainOf(error).some(hasLastingCode);
}

function hasLastingCode(fields: Fields): boolean {
  return LASTING_CODES.test(String(get(fields, "code")));
}

function flag(fields: Fields, key: string): boolean | undefined {
  const value = get(fields, key);
  return typeof value === "boolean" ? value : undefined;
}

function isNetworkError(fields: Fields): boolean {
  const { name } = (get(fields, "constructor") ?? {}) as { name?: unknown };
  if (/^APIConnection(?:Timeout)?Error$/.test(String(name))) return true;
  if (NETWORK_CODES.test(String(get(fields, "code") ?? ""))) return true;
  return get(fields, "name") === "TypeError" && /fetch|network|load failed/i.test(String(get(fields, "message")));
}

function textsOf(fields: Fields): string {
  const parts = [get(fields, "message"), get(fields, "code"), get(fields, "responseBody")];
  return parts.filter((part) => typeof part === "string").join("\n");
}

/** What the answer that a client library got says of asking again, as the engine reads the answers of its own calls. */
function adviceOf(chain: readonly Fields[], status: number | undefined): RetryAdvice | undefined {
  const headers: Record<string, string> = {};
  for (const name of ANSWER_HEADERS) {
    const value = first(chain, (fields) => header(headersOf(fields), name));
    if (value !== undefined) headers[name] = value;
  }
  const delay = first(chain, retryDelayOf);
  if (status === undefined && delay === undefined && Object.keys(headers).length === 0) return undefined;
  return withEngine((engine) => engine.retryAdvice(status ?? 0, headers, delay, Date.now()));
}

function ownWait(fields: Fields): number | undefined {
  const own = get(fields, "retryAfterMs");
  return typeof own === "number" && own >= 0 ? own : undefined;
}

function headersOf(fields: Fields): unknown {
  return get(fields, "responseHeaders") ?? get(fields, "headers") ?? get(get(fields, "response"), "headers");
}

/** Google's RetryInfo, which its SDK leaves in the text of the body. */
function retryDelayOf(fields: Fields): string | undefined {
  const [, delay] = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?s)"/.exec(textsOf(fields).replaceAll('\\"', '"')) ?? [];
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
