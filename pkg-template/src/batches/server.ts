// Node only: no bundle for browsers may reach this file.
import { untilAborted } from "../abort.js";
import { parseJson } from "../engine/json.js";
import { messageOf } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { ANSWER_HEADERS, type EndpointSettings } from "../generated/contract.js";
import { PURPOSES } from "../generated/metrics.js";
import type { JudgeRequest } from "../types.js";
import type { Endpoint } from "../judges/endpoint.js";
import { LineBuffer } from "./lines.js";
import { isLasting } from "../judges/failure.js";
import { MAX_REPLY_LENGTH } from "../judges/reply.js";
import { bytesOf } from "../judges/send.js";
import { type ProviderQuestion, questionOf, read, render } from "../judges/wire.js";
import { definedProperties } from "../lists.js";

/** The most attempts at a request that fails for temporary reasons. */
const ATTEMPTS = 6;
const LONGEST_PAUSE_MS = 60_000;

/** The most bytes of an error that are read; its reason is at the beginning. */
const LONGEST_ERROR = 64 * 1024;
/** The most bytes of an answer in JSON, which may have all replies of a small batch. */
const LONGEST_JSON = 128 * 1024 * 1024;
/** The most bytes of a file of replies, however many there are. */
const LONGEST_FILE = 16 * 1024 ** 3;

/** A request. */
export interface Sent {
  method?: "GET" | "POST";
  body?: BodyInit;
  headers?: Record<string, string>;
  /** The most attempts; 1 for what must not be done twice. */
  attempts?: number;
}

/** A provider's server, asked with the key and headers of its judge. */
export class BatchServer {
  /** The address of the judge for single questions. */
  readonly url: string;
  readonly #send: typeof fetch;
  readonly #settings: EndpointSettings;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pauseMs: number;
  readonly signal: AbortSignal;

  /** @param send The user's own `fetch`, if there is one. */
  constructor(send: Endpoint["fetch"], settings: EndpointSettings, pauseMs: number, signal: AbortSignal) {
    const { url, headers } = render(settings, NO_QUESTION());
    this.url = url;
    this.#headers = Object.fromEntries(headers.filter(([name]) => name.toLowerCase() !== "content-type"));
    this.#send = send ?? fetch;
    this.#settings = settings;
    this.#pauseMs = Math.min(pauseMs, 1000);
    this.signal = signal;
  }

  /**
   * Sends a request, again after temporary failures.
   *
   * @throws {AdkMetricsError} `judge_failed`, without any key in its texts, for an answer that is not a success.
   */
  async ask(url: string, { method = "GET", body, headers, attempts = ATTEMPTS }: Sent = {}): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(url, {
          method,
          headers: { ...this.#headers, ...headers },
          ...definedProperties({ body }),
        });
      } catch (error) {
        if (!isAdkMetricsError(error) || error.retryable !== true || attempt >= attempts) throw error;
        await this.pause(attempt, error.retryAfterMs);
      }
    }
  }

  /** As {@link ask}, for an answer in JSON. */
  async json(url: string, sent?: Sent): Promise<Fields> {
    const response = await this.ask(url, sent);
    const { bytes, isWhole } = await this.#guarded(url, () => bytesOf(response, LONGEST_JSON));
    if (!isWhole) throw this.#failed(`${addressOf(url)} sent an answer of more than ${LONGEST_JSON} bytes`, false);
    try {
      return fieldsOf(parseJson(new TextDecoder().decode(bytes)));
    } catch {
      // Text that is not JSON may contain the key, and the parser's message quotes a part of the text.
      throw this.#failed(`${addressOf(url)} did not send JSON`, true);
    }
  }

  /**
   * The lines of an answer. A connection that breaks off is an error; the line that it cut is not given out. A line longer
   * than a reply can be is cut short.
   *
   * @param count How many there may be.
   */
  async *lines(url: string, count: number): AsyncGenerator<string> {
    const most = Math.min(LONGEST_FILE, LONGEST_JSON + count * MAX_REPLY_LENGTH);
    const { body } = await this.ask(url);
    if (body === null) return;
    const decoder = new TextDecoder();
    const line = new LineBuffer(MAX_REPLY_LENGTH);
    let length = 0;
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await this.#guarded(url, () => reader.read());
        length += value?.length ?? 0;
        if (length > most) {
          throw this.#failed(`${addressOf(url)} sent an answer of more than ${most} bytes`, false);
        }
        yield* line.push(done ? decoder.decode() : decoder.decode(value, { stream: true }));
        if (done) {
          yield* line.push("\n");
          return;
        }
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  /** What a server says, without keys. */
  redacted(text: string): string {
    try {
      const answer = { failed: { message: text, retryable: false } };
      read(this.#settings, NO_QUESTION(), { answer, body: new Uint8Array() });
    } catch (error) {
      if (isAdkMetricsError(error)) return error.message;
    }
    return "the server gave no reason";
  }

  /** Waits before another attempt. */
  async pause(attempt: number, least = 0): Promise<void> {
    await sleep(Math.min(Math.max(least, this.#pauseMs * 2 ** (attempt - 1)), LONGEST_PAUSE_MS), this.signal);
  }

  async #once(url: string, init: RequestInit): Promise<Response> {
    // Called as a bare function.
    const send = this.#send;
    const response = await this.#guarded(url, () => send(url, { ...init, redirect: "manual", signal: this.signal }));
    if (response.ok) return response;
    const { status } = response;
    if (status >= 300 && status < 400)
      throw this.#failed(`${addressOf(url)} redirects, and redirects are not followed`, false);
    const headers: Record<string, string> = {};
    for (const name of ANSWER_HEADERS) {
      const value = response.headers.get(name);
      if (value !== null) headers[name] = value;
    }
    const none = { bytes: new Uint8Array() };
    const { bytes: body } = await bytesOf(response, LONGEST_ERROR).catch(() => none);
    // The engine knows what errors of this provider mean, and takes keys out of them.
    read(this.#settings, NO_QUESTION(), { answer: { answered: { status, headers, now: Date.now() } }, body });
    throw this.#failed(`${addressOf(url)} answered with ${status}`, false);
  }

  async #guarded<T>(url: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (this.signal.aborted) throw this.signal.reason;
      throw this.#failed(`${addressOf(url)} cannot be reached: ${messageOf(cause)}`, !isLasting(cause), cause);
    }
  }

  #failed(message: string, retryable: boolean, cause?: unknown): AdkMetricsError {
    return new AdkMetricsError("judge_failed", message, { retryable, cause });
  }
}

/** Waits, or rejects when the signal aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await untilAborted(signal, () => new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))));
  } finally {
    clearTimeout(timer);
  }
}

/** An object from a server, with fields of any type. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value if it is an object, else one without fields. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The items of a list; none if it is not a list. */
export function itemsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

/** The value if it is a string that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** An address without its query. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

const NO_REQUEST: JudgeRequest = {
  id: "",
  metricName: "",
  purpose: PURPOSES[0],
  invocationIndex: 0,
  stepIndex: 0,
  sampleIndex: 0,
  model: "",
  prompt: "",
};

/** Errors are not about a question. */
const NO_QUESTION = (): ProviderQuestion => questionOf(NO_REQUEST);
