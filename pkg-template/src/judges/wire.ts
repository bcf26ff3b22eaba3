import { call, type ErrorContext } from "../engine/call.js";
import { toBytes } from "../engine/input.js";
import { withEngine } from "../engine/instance.js";
import { AdkMetricsError } from "../errors.js";
import type { EndpointSettings, HttpAnswer, HttpRequest, JudgeOutcome } from "../generated/contract.js";
import type { JudgeReply, JudgeRequest } from "../types.js";
import { replyOf } from "./reply.js";

/** What is asked of a server, as the engine reads it. */
export interface ProviderQuestion {
  readonly bytes: Uint8Array;
  /** Whether these are a body for Vertex AI's `evaluateInstances`, whose answer is the reply. */
  readonly isEvaluation: boolean;
}

/** A question to a model. */
export function questionOf(request: JudgeRequest): ProviderQuestion {
  return { bytes: toBytes(request, "request"), isEvaluation: false };
}

/** A body for Vertex AI's `evaluateInstances`. */
export function evaluationOf(body: string): ProviderQuestion {
  return { bytes: encoder.encode(body), isEvaluation: true };
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** What came of a request over the wire. */
export interface RawAnswer {
  answer: HttpAnswer;
  /** Of an error, possibly the beginning only. */
  body: Uint8Array;
}

/**
 * A question as a server is sent it.
 *
 * @throws {AdkMetricsError} `judge_failed` for what cannot be part of an address.
 */
export function render(settings: EndpointSettings, { bytes, isEvaluation }: ProviderQuestion): HttpRequest {
  const found = call(WRITTEN_HERE, (engine) => engine.renderCall(settings, bytes, isEvaluation));
  if ("url" in found) return found;
  throw failureIn(found);
}

/**
 * The reply that an answer holds.
 *
 * @throws {AdkMetricsError} `judge_failed`, without any key in its texts.
 */
export function read(settings: EndpointSettings, question: ProviderQuestion, { answer, body }: RawAnswer): JudgeReply {
  const { bytes, isEvaluation } = question;
  return replyIn(call(WRITTEN_HERE, (engine) => engine.readAnswer(settings, bytes, isEvaluation, answer, body)));
}

function replyIn(outcome: JudgeOutcome): JudgeReply {
  if ("reply" in outcome) return replyOf(outcome.reply);
  throw failureIn(outcome);
}

function failureIn(outcome: JudgeOutcome): AdkMetricsError {
  if (!("failure" in outcome)) return new AdkMetricsError("judge_failed", "there was no failure");
  const { message, ...details } = outcome.failure;
  // A full stop is written before the help.
  const text = details.help === undefined ? message : message.replace(/\.$/, "");
  return new AdkMetricsError("judge_failed", text, details);
}

/** @throws {AdkMetricsError} `judge_unavailable` if the runtime has no `fetch`. */
export function requireFetch(): void {
  if (typeof fetch === "function" && typeof Request === "function") return;
  throw new AdkMetricsError("judge_unavailable", "this runtime has no fetch", {
    help: "Pass one as `fetch`",
    retryable: false,
  });
}

/**
 * Posts a request by the runtime's own `fetch`. The promise is the runtime's: it settles even if the engine is
 * restarted in the meantime.
 */
export function post({ url, headers, body }: HttpRequest, signal: AbortSignal): Promise<Response> {
  return withEngine((engine) => engine.fetchCall(url, new Headers(headers), body, { signal }));
}

/** What the engine reads here is written by this package. */
export const WRITTEN_HERE: ErrorContext = { hasLines: () => false };
