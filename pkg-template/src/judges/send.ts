import { messageOf } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { ANSWER_HEADERS, type HostFailure, type HttpRequest } from "../generated/contract.js";
import type { JudgeReply, JudgeRequest } from "../types.js";
import type { Endpoint } from "./endpoint.js";
import { isLasting } from "./failure.js";
import { isPage, underPolicy } from "./policy.js";
import { MAX_REPLY_LENGTH, tooLong } from "./reply.js";
import { post, type ProviderQuestion, questionOf, type RawAnswer, read, render, requireFetch } from "./wire.js";
import { definedProperties } from "../lists.js";

/** Endpoints that answered before: a refusal of this page's origin is then unlikely. */
const reached = new WeakSet<Endpoint>();

/**
 * Asks a model at a server once.
 *
 * @throws {AdkMetricsError} `judge_failed`, without any key in its texts.
 */
export async function send(endpoint: Endpoint, request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply> {
  return exchange(endpoint, questionOf(request), signal);
}

/**
 * Puts one question to a server.
 *
 * @throws {AdkMetricsError} `judge_failed`, without any key in its texts.
 */
export async function exchange(
  endpoint: Endpoint,
  question: ProviderQuestion,
  signal: AbortSignal,
): Promise<JudgeReply> {
  const settings = await endpoint.settings();
  const answer = await transfer(endpoint, render(settings, question), signal);
  return read(settings, question, answer);
}

/**
 * Sends a request and takes in the whole answer, by the user's own `fetch` or the runtime's. What goes wrong is part of what
 * came of it: the engine says what it means, and takes keys out of it.
 *
 * @throws {AdkMetricsError} `judge_unavailable` if the runtime has no `fetch`.
 */
export async function transfer(endpoint: Endpoint, http: HttpRequest, signal: AbortSignal): Promise<RawAnswer> {
  if (endpoint.fetch === undefined) requireFetch();
  try {
    return await sent(endpoint, http, signal);
  } catch (error) {
    const body = new Uint8Array();
    if (isAdkMetricsError(error)) return { answer: { failed: hostFailure(error) }, body };
    return {
      answer: {
        nothing: { reason: isOffline() ? "this page is offline" : messageOf(error), mayPass: mayPass(endpoint, error) },
      },
      body,
    };
  }
}

async function sent(endpoint: Endpoint, http: HttpRequest, signal: AbortSignal): Promise<RawAnswer> {
  // Called as a bare function.
  const { fetch } = endpoint;
  const { url, headers, body } = http;
  // A redirect would carry keys in headers to wherever it leads.
  const response = await underPolicy(url, () =>
    fetch === undefined
      ? post(http, signal)
      : fetch(url, {
          method: "POST",
          headers: Object.fromEntries(headers),
          body: new TextDecoder().decode(body),
          signal,
          redirect: "manual",
        }),
  );
  const status = statusOf(response);
  reached.add(endpoint);
  if (status === 0 || (status >= 300 && status < 400)) throw redirectError(url, response.headers.get("location"));
  const received: Record<string, string> = {};
  for (const name of ANSWER_HEADERS) {
    const value = response.headers.get(name);
    if (typeof value === "string") received[name] = value;
  }
  const { bytes, isWhole } = await bytesOf(response);
  // The status and the beginning of the body say what an error is about.
  if (isWhole || status < 200 || status > 299) {
    return { answer: { answered: { status, headers: received, now: Date.now() } }, body: bytes };
  }
  throw tooLong(`${addressOf(url)} sent an answer`, `more than ${MAX_REPLY_LENGTH} bytes`, { status });
}

/** An error of this package as the engine reads it. */
function hostFailure({ message, help, retryable, retryAfterMs, status }: AdkMetricsError): HostFailure {
  return {
    message,
    retryable: retryable === true,
    ...definedProperties({ help, retryAfterMs, status }),
  };
}

/** The status of a response; 0 for a redirect, whose target pages are not shown. */
function statusOf(response: Response | null | undefined): number {
  const { status, type } = response ?? {};
  if (typeof status !== "number") throw new TypeError("fetch returned no response");
  const isStatus = Number.isInteger(status) && status >= 100 && status <= 599;
  if (isStatus || (status === 0 && type === "opaqueredirect")) return status;
  throw new TypeError(`fetch returned an invalid response with status ${status}`);
}

/** The body of a response, up to a number of bytes. */
export async function bytesOf(
  response: Response,
  most = MAX_REPLY_LENGTH,
): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  const { body } = response;
  // Where there are no streams all of it arrives at once.
  if (typeof body?.getReader !== "function") {
    const text: unknown = await response.text();
    if (typeof text !== "string") throw new TypeError("fetch returned a response without text");
    const isWhole = text.length <= most;
    return { bytes: new TextEncoder().encode(isWhole ? text : text.slice(0, most)), isWhole };
  }
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { bytes: joined(pieces), isWhole: true };
    pieces.push(value.subarray(0, most - length));
    length += value.length;
    if (length > most) {
      reader.cancel().catch(() => {});
      return { bytes: joined(pieces), isWhole: false };
    }
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function redirectError(url: string, location: string | null): AdkMetricsError {
  const to = typeof location !== "string" ? "another address" : addressOf(location, url);
  return new AdkMetricsError("judge_failed", `${addressOf(url)} redirects to ${to}`, {
    retryable: false,
    help: "Set `baseUrl` to that address; redirects are not followed, so that keys are sent only where you intend",
  });
}

/**
 * Whether there may be an answer next time. Pages are not told why there is none: it may well be that the server refuses
 * them, unless it answered before.
 */
function mayPass(endpoint: Endpoint, error: unknown): boolean {
  if (!isPage() || endpoint.fetch !== undefined) return !isLasting(error);
  return reached.has(endpoint) || isOffline();
}

function isOffline(): boolean {
  return isPage() && Reflect.get(navigator, "onLine") === false;
}

/** An address without its query, in which keys may be. */
function addressOf(url: string, base?: string): string {
  try {
    const { origin, pathname } = new URL(url, base);
    return `${origin}${pathname}`;
  } catch {
    return "the server";
  }
}

/** A request with the access token that it lacks. */
export function withToken(http: HttpRequest, token: string | undefined): HttpRequest {
  return token === undefined ? http : { ...http, headers: [...http.headers, ["authorization", `Bearer ${token}`]] };
}
