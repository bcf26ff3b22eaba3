import { messageOf, reading } from "../engine/input.js";
import { AdkMetricsError, type ErrorDetails } from "../errors.js";
import type { JudgeReply, JudgeRequest } from "../types.js";
import type { Endpoint, EndpointSettings, Provider } from "./endpoint.js";
import { detailsOf } from "./failure.js";
import { replyOf } from "./reply.js";

/** A request as it goes over the wire. */
export interface HttpRequest {
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

/** Why an answer of a server is no reply. */
export interface JudgeFailure {
  message: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  retryAfterMs?: number;
  help?: string;
}

/** What the engine knows of the providers' protocols. */
export interface Wire {
  /** Turns a question into a request. */
  render(settings: EndpointSettings, request: JudgeRequest): HttpRequest;
  /** Understands an answer, whatever its status. The names of headers are in lower case. */
  read(
    settings: EndpointSettings,
    status: number,
    headers: Record<string, string>,
    body: string,
  ): { reply: JudgeReply } | { failure: JudgeFailure };
}

let provided: Wire | undefined;

/** Says what renders and reads; the engine's side does this once. */
export function provideWire(wire: Wire): void {
  provided ??= wire;
}

/** What a page can do about a server that refuses it, by provider. */
const CROSS_ORIGIN_HELP: Readonly<Record<Provider, string>> = {
  gemini: "If the key is restricted to websites, allow this one",
  vertex: "Vertex AI does not answer pages: call it from a server, or pass the address of your own as `baseUrl`",
  openai:
    "Allow this page's origin in the server's cross-origin settings, or pass the address of your own as `baseUrl`",
  anthropic: "Allow requests from browsers for this organisation, or pass the address of your own server as `baseUrl`",
  ollama: "Start Ollama with OLLAMA_ORIGINS set to this page's origin",
};

/** Endpoints that answered before: a refusal of this page's origin is then unlikely. */
const reached = new WeakSet<Endpoint>();

/**
 * Asks a server once.
 *
 * @throws {AdkMetricsError} `judge_failed`, without any key in its texts.
 */
export async function send(endpoint: Endpoint, request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply> {
  const wire = provided;
  if (wire === undefined) throw new AdkMetricsError("engine_unavailable", "no entry of the package was loaded");
  const settings = await endpoint.settings();
  const http = wire.render(settings, request);
  const { status, headers, body } = await exchange(endpoint, http, signal).catch((error: unknown) => {
    throw withoutSecrets(networkError(endpoint, http.url, error), settings);
  });
  reached.add(endpoint);
  if (status === 0 || (status >= 300 && status < 400)) {
    throw withoutSecrets(redirectError(http.url, headers.location), settings);
  }
  const outcome = wire.read(settings, status, headers, body);
  if ("reply" in outcome) return replyOf(outcome.reply);
  const { message, ...details } = outcome.failure;
  throw withoutSecrets(new AdkMetricsError("judge_failed", message, { ...details, status }), settings);
}

interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

async function exchange(
  endpoint: Endpoint,
  { url, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  // Called as a bare function, which a browser's own insists on.
  const fetch = endpoint.fetch ?? (globalThis.fetch as Endpoint["fetch"]);
  if (fetch === undefined) {
    throw new AdkMetricsError("judge_unavailable", "this runtime has no fetch", {
      help: "Pass one as `fetch`",
      retryable: false,
    });
  }
  // A redirect would carry keys in headers to wherever it leads.
  const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
  const text = await response.text();
  return reading("fetch", () => {
    const received: Record<string, string> = {};
    response.headers.forEach((value, name) => (received[name.toLowerCase()] = value));
    return { status: Number(response.status), headers: received, body: String(text) };
  });
}

function redirectError(url: string, location: string | undefined): AdkMetricsError {
  const to = location === undefined ? "another address" : placeOf(location, url);
  return new AdkMetricsError("judge_failed", `${placeOf(url)} redirects to ${to}`, {
    retryable: false,
    help: "Pass the address it leads to as `baseUrl`; redirects are not followed, so that keys stay where they belong",
  });
}

/** The error for a request without an answer. In pages the reason stays secret, so it says what there may be. */
function networkError(endpoint: Endpoint, url: string, error: unknown): AdkMetricsError {
  if (error instanceof AdkMetricsError) return error;
  const { retryable = false } = detailsOf(error);
  const place = placeOf(url);
  if (!isPage() || endpoint.fetch !== undefined) {
    return new AdkMetricsError("judge_failed", `the request to ${place} failed: ${reasonOf(error)}`, { retryable });
  }
  if (Reflect.get(navigator, "onLine") === false) {
    return new AdkMetricsError("judge_failed", `the request to ${place} failed: this page is offline`, {
      retryable: true,
    });
  }
  const wasReached = reached.has(endpoint);
  return new AdkMetricsError(
    "judge_failed",
    wasReached
      ? `the connection to ${place} failed`
      : `${place} cannot be reached from this page: there is no connection, or it refuses pages of this origin`,
    { retryable: wasReached, help: CROSS_ORIGIN_HELP[endpoint.provider] },
  );
}

function isPage(): boolean {
  return typeof navigator === "object" && typeof location === "object";
}

/** What failed, with the code of the cause, in which Node says more than in the message. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  try {
    const { code } = ((error as Error).cause ?? {}) as { code?: unknown };
    return typeof code === "string" ? `${message} (${code})` : message;
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
function withoutSecrets(error: AdkMetricsError, { apiKey, accessToken, headers }: EndpointSettings): AdkMetricsError {
  const values = [apiKey, accessToken, ...Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)])];
  const secrets = values.filter((value): value is string => value !== undefined && value.length >= SHORTEST_SECRET);
  // Longer ones first, of which others may be a part.
  secrets.sort((a, b) => b.length - a.length);
  const clean = (text: string): string =>
    secrets.reduce(
      (rest, secret) => rest.replaceAll(secret, "•••").replaceAll(encodeURIComponent(secret), "•••"),
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
