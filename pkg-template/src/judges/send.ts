import { messageOf } from "../engine/input.js";
import { AdkMetricsError, type ErrorDetails } from "../errors.js";
import type { JudgeReply, JudgeRequest } from "../types.js";
import type { Endpoint, EndpointSettings } from "./endpoint.js";
import { isLasting } from "./failure.js";
import { replyOf } from "./reply.js";
import {
  ANSWER_HEADERS,
  type HttpAnswer,
  type HttpRequest,
  post,
  type Question,
  questionOf,
  unreachable,
} from "./wire.js";

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
export async function exchange(endpoint: Endpoint, question: Question, signal: AbortSignal): Promise<JudgeReply> {
  const settings = await endpoint.settings();
  const http = question.render(settings);
  const answer = await transfer(endpoint, http, signal).catch((error: unknown) => {
    if (error instanceof AdkMetricsError) throw withoutSecrets(error, settings);
    const { message, ...details } = unreachable(settings, reasonOf(error));
    const retryable = details.retryable && mayPass(endpoint, error);
    throw withoutSecrets(new AdkMetricsError("judge_failed", message, { ...details, retryable }), settings);
  });
  const { status, headers } = answer;
  if (status === 0 || (status >= 300 && status < 400)) {
    throw withoutSecrets(redirectError(http.url, headers.location), settings);
  }
  const outcome = question.read(settings, answer);
  if ("text" in outcome) return replyOf(outcome);
  const { message, ...details } = outcome;
  throw withoutSecrets(new AdkMetricsError("judge_failed", message, { ...details, status }), settings);
}

/** Sends a request and takes in the whole answer, by the user's own `fetch` or the runtime's. */
async function transfer(endpoint: Endpoint, http: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  // Called as a bare function.
  const { fetch } = endpoint;
  const { url, headers, body } = http;
  // A redirect would carry keys in headers to wherever it leads.
  const response =
    fetch === undefined
      ? await post(http, signal)
      : await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
  const { status } = response;
  if (!Number.isInteger(status)) throw new TypeError("fetch gave no response");
  reached.add(endpoint);
  const received: Record<string, string> = {};
  for (const name of ANSWER_HEADERS) {
    const value = response.headers.get(name);
    if (typeof value === "string") received[name] = value;
  }
  const text: unknown = await response.text();
  if (typeof text !== "string") throw new TypeError("fetch gave a response without a text");
  return { status, headers: received, body: text };
}

function redirectError(url: string, location: string | undefined): AdkMetricsError {
  const to = location === undefined ? "another address" : placeOf(location, url);
  return new AdkMetricsError("judge_failed", `${placeOf(url)} redirects to ${to}`, {
    retryable: false,
    help: "Pass the address it leads to as `baseUrl`; redirects are not followed, so that keys stay where they belong",
  });
}

/**
 * Whether there may be an answer next time. Pages are not told why there is none: it may well be that the server refuses
 * them, unless it answered before.
 */
function mayPass(endpoint: Endpoint, error: unknown): boolean {
  if (!isPage() || endpoint.fetch !== undefined) return !isLasting(error);
  return reached.has(endpoint) || Reflect.get(navigator, "onLine") === false;
}

/** Whether this is a page or one of its workers. */
export function isPage(): boolean {
  return typeof navigator === "object" && typeof location === "object";
}

/** What failed, with its cause, in which Node says more than in the message. */
function reasonOf(error: unknown): string {
  if (isPage() && Reflect.get(navigator, "onLine") === false) return "this page is offline";
  const message = messageOf(error);
  try {
    const { code, message: why } = ((error as Error).cause ?? {}) as { code?: unknown; message?: unknown };
    const more = code ?? why;
    return typeof more === "string" && more !== "" ? `${message} (${more})` : message;
  } catch {
    return message;
  }
}

/** An address without its query, in which keys may be. */
function placeOf(url: string, base?: string): string {
  try {
    const { origin, pathname } = new URL(url, base);
    return `${origin}${pathname}`;
  } catch {
    return "the server";
  }
}

/** The same error without the keys that servers and runtimes may repeat in theirs; without the cause too. */
function withoutSecrets(error: AdkMetricsError, settings: EndpointSettings): AdkMetricsError {
  const { apiKey, accessToken, headers, baseUrl = "" } = settings;
  const ofHeaders = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const values = [apiKey, accessToken, ...ofHeaders, ...baseUrl.split(/[?&=]/).slice(1)];
  const secrets = values.filter((value): value is string => value !== undefined && value.length >= SHORTEST_SECRET);
  // Longer ones first, of which others may be a part.
  secrets.sort((a, b) => b.length - a.length);
  const clean = (text: string): string =>
    secrets.reduce(
      (rest, secret) => rest.replaceAll(secret, "[redacted]").replaceAll(encodeURIComponent(secret), "[redacted]"),
      text,
    );
  const { code, message, help, retryable, retryAfterMs, status } = error;
  const details: ErrorDetails = {};
  if (help !== undefined) details.help = clean(help);
  if (retryable !== undefined) details.retryable = retryable;
  if (retryAfterMs !== undefined) details.retryAfterMs = retryAfterMs;
  if (status !== undefined) details.status = status;
  return new AdkMetricsError(code, clean(message), details);
}

/** Values of headers that are shorter keep no secret, and words of messages would vanish with them. */
const SHORTEST_SECRET = 6;
