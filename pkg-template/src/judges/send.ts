import { messageOf } from "../engine/input.js";
import { AdkMetricsError, type ErrorDetails, isOurs } from "../errors.js";
import type { JudgeReply, JudgeRequest } from "../types.js";
import type { Endpoint, EndpointSettings } from "./endpoint.js";
import { isLasting } from "./failure.js";
import { isPage, underPolicy } from "./policy.js";
import { MAX_REPLY_LENGTH, replyOf, shortened, tooLong } from "./reply.js";
import {
  ANSWER_HEADERS,
  type HttpAnswer,
  type HttpRequest,
  post,
  type Question,
  questionOf,
  redact,
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
  const clean = cleanerOf(settings);
  const http = question.render(settings);
  const answer = await transfer(endpoint, http, signal).catch((error: unknown) => {
    if (isOurs(error)) throw withoutSecrets(error, clean);
    const { message, ...details } = unreachable(settings, shortened(clean(reasonOf(error))));
    const retryable = details.retryable && mayPass(endpoint, error);
    throw withoutSecrets(new AdkMetricsError("judge_failed", message, { ...details, retryable }), clean);
  });
  const { status, headers } = answer;
  if (status === 0 || (status >= 300 && status < 400)) {
    throw withoutSecrets(redirectError(http.url, headers.location), clean);
  }
  const outcome = question.read(settings, answer);
  if ("text" in outcome) return replyWithoutSecrets(replyOf(outcome), clean, http.body);
  const { message, ...details } = outcome;
  throw withoutSecrets(new AdkMetricsError("judge_failed", message, { ...details, status }), clean);
}

/** Sends a request and takes in the whole answer, by the user's own `fetch` or the runtime's. */
async function transfer(endpoint: Endpoint, http: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  // Called as a bare function.
  const { fetch } = endpoint;
  const { url, headers, body } = http;
  // A redirect would carry keys in headers to wherever it leads.
  const response = await underPolicy(url, () =>
    fetch === undefined
      ? post(http, signal)
      : fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }),
  );
  const status = statusOf(response);
  reached.add(endpoint);
  const received: Record<string, string> = {};
  for (const name of ANSWER_HEADERS) {
    const value = response.headers.get(name);
    if (typeof value === "string") received[name] = value;
  }
  const { text, isWhole } = await textOf(response);
  // What an error is about stands in its status and at the beginning.
  if (isWhole || status < 200 || status > 299) return { status, headers: received, body: text };
  throw tooLong(`${placeOf(url)} gave an answer`, `more than ${MAX_REPLY_LENGTH} bytes`, { status });
}

/** The status of what fetch gave; 0 for a redirect of which pages are told no more. */
function statusOf(response: Response | null | undefined): number {
  const { status, type } = response ?? {};
  if (typeof status !== "number") throw new TypeError("fetch gave no response");
  const isStatus = Number.isInteger(status) && status >= 100 && status <= 599;
  if (isStatus || (status === 0 && type === "opaqueredirect")) return status;
  throw new TypeError(`fetch gave no response, but the status ${status}`);
}

/** The text of a response, of which no more is taken in than {@link MAX_REPLY_LENGTH}. */
async function textOf(response: Response): Promise<{ text: string; isWhole: boolean }> {
  const { body } = response;
  // Where there are no streams, or those of Node, all of it arrives at once.
  if (typeof body?.getReader !== "function") {
    const text: unknown = await response.text();
    if (typeof text !== "string") throw new TypeError("fetch gave a response without a text");
    return { text: text.slice(0, MAX_REPLY_LENGTH), isWhole: text.length <= MAX_REPLY_LENGTH };
  }
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let [text, length] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), isWhole: true };
    text += decoder.decode(value.subarray(0, MAX_REPLY_LENGTH - length), { stream: true });
    length += value.length;
    if (length > MAX_REPLY_LENGTH) {
      reader.cancel().catch(() => {});
      return { text, isWhole: false };
    }
  }
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

/** Takes secrets out of texts, except for those that the question holds too. */
type Clean = (text: string, question?: string) => string;

/**
 * What takes keys, tokens, headers and the query of the address out of texts, which servers and runtimes may repeat
 * there. Words of the question are none: a reply has to be able to quote them.
 */
function cleanerOf(settings: EndpointSettings): Clean {
  return (text, question) => redact(settings, text, question === undefined ? undefined : () => question);
}

/** The same reply without secrets, which models repeat behind servers that show them headers. */
function replyWithoutSecrets(reply: JudgeReply, clean: Clean, question: string): JudgeReply {
  const { text, modelVersion } = reply;
  const cleaned: JudgeReply = { ...reply, text: clean(text, question) };
  if (modelVersion !== undefined) cleaned.modelVersion = clean(modelVersion, question);
  return cleaned;
}

/** The same error without secrets; without the cause too. */
function withoutSecrets(error: AdkMetricsError, clean: Clean): AdkMetricsError {
  const { code, message, help, retryable, retryAfterMs, status } = error;
  const details: ErrorDetails = {};
  if (help !== undefined) details.help = clean(help);
  if (retryable !== undefined) details.retryable = retryable;
  if (retryAfterMs !== undefined) details.retryAfterMs = retryAfterMs;
  if (status !== undefined) details.status = status;
  // A full stop is written before the help.
  return new AdkMetricsError(code, clean(help === undefined ? message : message.replace(/\.$/, "")), details);
}
