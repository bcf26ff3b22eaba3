import { call, type MistakeContext } from "../engine/call.js";
import { stringify } from "../engine/input.js";
import { withEngine } from "../engine/instance.js";
import { AdkMetricsError } from "../errors.js";
import type { JudgeReply, JudgeRequest } from "../types.js";
import type { EndpointSettings, Provider } from "./endpoint.js";

/** A request as it goes over the wire. */
export interface HttpRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** An answer as it came over the wire. */
export interface HttpAnswer {
  status: number;
  /** Those that {@link ANSWER_HEADERS} names, as far as they are there. */
  headers: Record<string, string>;
  /** Of an error, possibly the beginning only. */
  body: string;
}

/** Why an answer of a server is no reply. */
export interface JudgeFailure {
  message: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  retryAfterMs?: number;
  help?: string;
}

/** What is asked of a server, in the words of its protocol. */
export interface Question {
  /** @throws {AdkMetricsError} `judge_failed` for what cannot be part of an address. */
  render(settings: EndpointSettings): HttpRequest;
  /** Understands an answer, whatever its status. */
  read(settings: EndpointSettings, answer: HttpAnswer): JudgeReply | JudgeFailure;
}

/** The headers of answers that matter: those that the engine looks at, and where a redirect leads. */
export const ANSWER_HEADERS = ["retry-after", "retry-after-ms", "date", "x-should-retry", "location"] as const;

/** A question to a model. */
export function questionOf(request: JudgeRequest): Question {
  return {
    render: (settings) => render({ settings, request }),
    read: (settings, { body, ...answer }) =>
      read({ settings, ...answer, now: Date.now() }, body) as JudgeReply | JudgeFailure,
  };
}

/** A body for Vertex AI's `evaluateInstances`; the reply is what it answers. */
export function evaluationOf(body: string): Question {
  return {
    render: (settings) => render({ settings }, body),
    read: (settings, { body, ...answer }) =>
      read({ settings, ...answer, now: Date.now(), evaluation: true }, body) ?? { text: body },
  };
}

/** What of the settings of a `judge_model_config` a provider is not sent, one sentence each. */
export function configWarnings(provider: Provider, model: string, config: object): string[] {
  const json = stringify({ settings: { provider, model }, config }, "judge_model_config");
  return JSON.parse(judgeCall(json, "")) as string[];
}

/**
 * A text without what is secret about an endpoint, in whatever form it stands there; except for what a text that is known
 * anyway holds too.
 */
export function redact(settings: EndpointSettings, text: string, known?: () => string): string {
  const clean = judgeCall(JSON.stringify({ settings, redact: "" }), text);
  // Mostly there is none, and what is known may be long.
  return clean === text || known === undefined ? clean : judgeCall(JSON.stringify({ settings, redact: known() }), text);
}

/** Explains that no answer came, and what to do about it. */
export function unreachable(settings: EndpointSettings, reason: string): JudgeFailure {
  return read({ settings, status: 0 }, reason) as JudgeFailure;
}

/**
 * Posts a request by the runtime's own `fetch`. The promise is the runtime's: it settles even if the engine is started
 * afresh in the meantime.
 *
 * @throws {AdkMetricsError} `judge_unavailable` if the runtime has no `fetch`.
 */
export function post({ url, headers, body }: HttpRequest, signal: AbortSignal): Promise<Response> {
  if (typeof fetch !== "function" || typeof Request !== "function") {
    throw new AdkMetricsError("judge_unavailable", "this runtime has no fetch", {
      help: "Pass one as `fetch`",
      retryable: false,
    });
  }
  return withEngine((engine) => engine.fetchCall(url, new Headers(headers), body, { signal }));
}

/** What the engine reads here is written by this package. */
const WRITTEN_HERE: MistakeContext = { hasLines: () => false };

function render(given: object, body = ""): HttpRequest {
  const written = JSON.parse(judgeCall(stringify(given, "call"), body)) as string[] | JudgeFailure;
  if (!Array.isArray(written)) {
    const { message, ...details } = written;
    throw new AdkMetricsError("judge_failed", message, details);
  }
  const headers: Record<string, string> = {};
  for (let at = 2; at < written.length; at += 2) headers[written[at] as string] = written[at + 1] as string;
  return { url: written[0] as string, headers, body: written[1] as string };
}

function read(given: object, body: string): JudgeReply | JudgeFailure | undefined {
  const found = judgeCall(JSON.stringify(given), body);
  return found === "" ? undefined : (JSON.parse(found) as JudgeReply | JudgeFailure);
}

function judgeCall(given: string, body: string): string {
  return call(WRITTEN_HERE, (engine) => engine.judgeCall(given, body));
}
