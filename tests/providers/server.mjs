/**
 * One loopback server that speaks every provider's protocol, so that the official SDKs and this project's requests can
 * be held side by side, and so that end-to-end tests in Node and in browsers meet replies and errors in their real
 * shapes without a network.
 *
 * const server = await startServer({ reply: ({ prompt }) => `You asked: ${prompt}` });
 * server.url        // http://127.0.0.1:…; OpenAI-compatible clients add /v1, see `baseUrl(server.url, provider)`
 * server.requests   // everything that was asked, in order
 * await server.close();
 */
import { createServer } from "node:http";

/**
 * @typedef {"gemini" | "vertex" | "vertex-evaluate" | "openai" | "openai-responses" | "anthropic" | "ollama"} Provider
 *
 * @typedef {object} Asked What a request asks, in no provider's words.
 * @property {Provider} provider
 * @property {number} index How many requests came before.
 * @property {string} model
 * @property {string} system "" if there is none.
 * @property {string} prompt
 * @property {object} [schema] The schema of the reply.
 * @property {Record<string, string | string[] | undefined>} headers
 * @property {any} body
 *
 * @typedef {object} Said A reply that is more than a text.
 * @property {string} [text]
 * @property {string[]} [parts] Instead of a text: several parts.
 * @property {string} [thoughts] Thoughts before the text.
 * @property {{ name: string, args: object }[]} [calls] Calls of functions after the text, which only Google's protocol has
 *   here.
 * @property {boolean} [truncated] The limit of tokens was reached.
 * @property {{ input: number, output: number }} [usage]
 * @property {number} [score] For evaluateInstances, with `explanation`, `rubricVerdicts`, `error`.
 *
 * @typedef {object} Fault Something that goes wrong.
 * @property {keyof typeof STATUS | "blocked" | "refusal" | "truncated" | "empty" | "hang" | "reset" | "half" |
 *   "malformed" | "html" | "redirect"} fault
 * @property {number | Date} [retryAfter] The header: seconds, or a date.
 * @property {number} [retryAfterMs] The header of OpenAI and Anthropic.
 * @property {string} [retryInfo] Google's `RetryInfo.retryDelay`, such as "1.5s".
 * @property {string} [message] Instead of the usual one.
 * @property {string} [location] Where a redirect leads.
 */

/** The faults that are an HTTP status, with Google's, OpenAI's and Anthropic's names for them. */
const STATUS = {
  bad_request: [400, "INVALID_ARGUMENT", "invalid_request_error", "invalid_request_error"],
  auth: [401, "UNAUTHENTICATED", "invalid_api_key", "authentication_error"],
  forbidden: [403, "PERMISSION_DENIED", "insufficient_permissions", "permission_error"],
  not_found: [404, "NOT_FOUND", "model_not_found", "not_found_error"],
  timeout: [408, "DEADLINE_EXCEEDED", "timeout", "timeout_error"],
  rate_limit: [429, "RESOURCE_EXHAUSTED", "rate_limit_exceeded", "rate_limit_error"],
  quota: [429, "RESOURCE_EXHAUSTED", "insufficient_quota", "rate_limit_error"],
  server: [500, "INTERNAL", "server_error", "api_error"],
  bad_gateway: [502, "UNAVAILABLE", "server_error", "api_error"],
  unavailable: [503, "UNAVAILABLE", "server_error", "api_error"],
  gateway_timeout: [504, "DEADLINE_EXCEEDED", "server_error", "timeout_error"],
  overloaded: [529, "UNAVAILABLE", "server_error", "overloaded_error"],
};

const words = (text) => Math.max(1, String(text).split(/\s+/).length);
const textOf = (content) =>
  typeof content === "string" ? content : (content?.parts ?? content ?? []).map((part) => part.text ?? "").join("\n");
const partsOf = (said) => said.parts ?? (said.text ? [said.text] : []);

const chatMessages = (body) => ({
  model: body.model,
  system: textOf(body.messages?.find(({ role }) => role === "system" || role === "developer")?.content ?? ""),
  prompt: textOf(body.messages?.findLast(({ role }) => role === "user")?.content ?? ""),
});

const google = {
  ask: (body, path) => ({
    model: /models\/([^:]+):/.exec(decodeURIComponent(path))?.[1] ?? "",
    system: textOf(body.systemInstruction ?? ""),
    prompt: textOf(body.contents?.at(-1) ?? ""),
    schema: body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema,
  }),
  say: (said, asked) => {
    const usageMetadata = {
      promptTokenCount: said.usage.input,
      candidatesTokenCount: said.usage.output,
      ...(said.thoughts && { thoughtsTokenCount: words(said.thoughts) }),
      totalTokenCount: said.usage.input + said.usage.output + (said.thoughts ? words(said.thoughts) : 0),
    };
    const rest = { usageMetadata, modelVersion: `${asked.model}-001`, responseId: `r${asked.index}` };
    if (said.fault === "blocked") return { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, ...rest };
    if (said.fault === "empty") return { candidates: [], ...rest };
    if (said.fault === "refusal") {
      return { candidates: [{ content: { role: "model" }, finishReason: "SAFETY", index: 0 }], ...rest };
    }
    const calls = (said.calls ?? []).map((functionCall) => ({ functionCall }));
    const parts = [...partsOf(said).map((text) => ({ text })), ...calls];
    if (said.thoughts) parts.unshift({ text: said.thoughts, thought: true });
    const finishReason = said.truncated ? "MAX_TOKENS" : "STOP";
    return { candidates: [{ content: { parts, role: "model" }, finishReason, index: 0 }], ...rest };
  },
  error: ([code, status], fault, message) => ({
    error: {
      code,
      message,
      status,
      ...(fault.retryInfo && {
        details: [
          { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId: "RequestsPerMinute" }] },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: fault.retryInfo },
        ],
      }),
    },
  }),
};

const openAiError = ([, , code], fault, message) => ({
  error: { message, type: fault.fault === "quota" ? "insufficient_quota" : code, param: fault.param ?? null, code },
});

/** How each provider is recognised, asked, and answers. */
const PROTOCOLS = {
  gemini: {
    route: /^\/v1(beta)?\/(models|tunedModels)\/[^/]+:generateContent$/,
    credential: ["x-goog-api-key"],
    ...google,
  },
  vertex: {
    route: /^\/v1(beta1)?\/(projects\/[^/]+\/locations\/[^/]+\/)?publishers\/[^/]+\/models\/[^/]+:generateContent$/,
    credential: ["authorization", "x-goog-api-key"],
    ...google,
  },
  "vertex-evaluate": {
    // google-cloud-aiplatform writes a slash before the colon.
    route: /^\/v1beta1(\/projects\/[^/]+\/locations\/[^/]+)?\/?:evaluateInstances$/,
    credential: ["authorization", "x-goog-api-key"],
    ask: (body) => ({
      model: body.metrics?.[0]?.predefinedMetricSpec?.metricSpecName ?? "coherence",
      system: "",
      prompt: JSON.stringify(body.instance ?? body.coherenceInput ?? {}),
    }),
    say: ({ score, explanation, rubricVerdicts, error, text }, asked) => {
      const value = score ?? (text ? Number(text) : undefined);
      if (asked.body.coherenceInput) return { coherenceResult: { score: value, explanation, confidence: 1 } };
      return { metricResults: [{ score: value, explanation, rubricVerdicts, error }] };
    },
    error: google.error,
  },
  openai: {
    route: /\/chat\/completions$/,
    credential: ["authorization", "api-key"],
    ask: (body) => ({ ...chatMessages(body), schema: body.response_format?.json_schema?.schema }),
    say: (said, asked) => ({
      id: `chatcmpl-${asked.index}`,
      object: "chat.completion",
      created: 1_790_000_000,
      model: `${asked.model}-2026-08-01`,
      choices:
        said.fault === "empty"
          ? []
          : [
              {
                index: 0,
                message: {
                  role: "assistant",
                  content: said.fault ? null : partsOf(said).join(""),
                  refusal: said.fault === "refusal" ? "I can't help with that." : null,
                  ...(said.thoughts && { reasoning_content: said.thoughts }),
                },
                logprobs: null,
                finish_reason: said.truncated ? "length" : said.fault === "blocked" ? "content_filter" : "stop",
              },
            ],
      usage: {
        prompt_tokens: said.usage.input,
        completion_tokens: said.usage.output,
        total_tokens: said.usage.input + said.usage.output,
      },
    }),
    error: openAiError,
  },
  "openai-responses": {
    route: /\/responses$/,
    credential: ["authorization", "api-key"],
    ask: (body) => ({
      model: body.model,
      system: body.instructions ?? "",
      prompt: typeof body.input === "string" ? body.input : textOf(body.input?.at(-1)?.content ?? ""),
      schema: body.text?.format?.schema,
    }),
    say: (said, asked) => {
      const content =
        said.fault === "refusal"
          ? [{ type: "refusal", refusal: "I can't help with that." }]
          : partsOf(said).map((text) => ({ type: "output_text", text, annotations: [] }));
      const output =
        content.length > 0 ? [{ type: "message", id: "m", status: "completed", role: "assistant", content }] : [];
      if (said.thoughts)
        output.unshift({ type: "reasoning", id: "r", summary: [{ type: "summary_text", text: said.thoughts }] });
      const incomplete = said.truncated ? "max_output_tokens" : said.fault === "blocked" ? "content_filter" : undefined;
      return {
        id: `resp_${asked.index}`,
        object: "response",
        created_at: 1_790_000_000,
        status: incomplete ? "incomplete" : "completed",
        error: null,
        incomplete_details: incomplete ? { reason: incomplete } : null,
        model: `${asked.model}-2026-08-01`,
        output,
        usage: {
          input_tokens: said.usage.input,
          output_tokens: said.usage.output,
          total_tokens: said.usage.input + said.usage.output,
        },
      };
    },
    error: openAiError,
  },
  anthropic: {
    route: /\/v1\/messages$/,
    credential: ["authorization", "x-api-key"],
    ask: (body) => ({
      model: body.model,
      system: textOf(body.system ?? ""),
      prompt: textOf(body.messages?.at(-1)?.content ?? ""),
      schema: body.output_config?.format?.schema,
    }),
    /** Real refusals of requests that another version of the API would take. */
    refuse: ({ headers, body }) => {
      const version = headers["anthropic-version"];
      if (!version) return { fault: "bad_request", message: "anthropic-version: header is required" };
      if (headers.origin && headers["anthropic-dangerous-direct-browser-access"] !== "true") {
        return {
          fault: "auth",
          message: "CORS requests must set 'anthropic-dangerous-direct-browser-access' header",
        };
      }
      const sampling = ["temperature", "top_p", "top_k"].find((name) => name in body);
      if (version === "2026-10-21" && sampling) {
        return { fault: "bad_request", message: `${sampling}: Extra inputs are not permitted` };
      }
      if (body.max_tokens === undefined) return { fault: "bad_request", message: "max_tokens: Field required" };
    },
    say: (said, asked) => {
      const content = said.fault ? [] : partsOf(said).map((text) => ({ type: "text", text }));
      if (said.thoughts) content.unshift({ type: "thinking", thinking: said.thoughts, signature: "c2ln" });
      const refused = said.fault === "refusal" || said.fault === "blocked";
      return {
        id: `msg_${asked.index}`,
        type: "message",
        role: "assistant",
        model: `${asked.model}-20260901`,
        content,
        stop_reason: refused ? "refusal" : said.truncated ? "max_tokens" : "end_turn",
        stop_sequence: null,
        stop_details: refused
          ? { type: "refusal", category: "general_harms", explanation: "This may be harmful." }
          : null,
        usage: {
          input_tokens: said.usage.input,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: said.usage.output,
        },
      };
    },
    error: ([, , , type], _fault, message) => ({ type: "error", error: { type, message }, request_id: "req_1" }),
  },
  ollama: {
    route: /^\/api\/chat$/,
    credential: [],
    ask: (body) => ({ ...chatMessages(body), schema: typeof body.format === "object" ? body.format : undefined }),
    say: (said, asked) => ({
      model: asked.model,
      created_at: "2026-11-01T00:00:00Z",
      message: {
        role: "assistant",
        content: said.fault ? "" : partsOf(said).join(""),
        ...(said.thoughts && { thinking: said.thoughts }),
      },
      done: true,
      done_reason: said.truncated ? "length" : "stop",
      total_duration: 1000,
      load_duration: 1,
      prompt_eval_count: said.usage.input,
      eval_count: said.usage.output,
    }),
    error: (_names, _fault, message) => ({ error: message }),
  },
};

/** The faults that are an answer with status 200. */
const ANSWERED = new Set(["blocked", "refusal", "truncated", "empty"]);

/** Every fault that is an HTTP status. */
export const STATUS_FAULTS = Object.keys(STATUS);

/** The `baseUrl` that a provider's own SDK and this project are given for a server. */
export const baseUrl = (url, provider) => (provider.startsWith("openai") ? `${url}/v1` : url);

/**
 * What a provider answers to one question, as a status and a body in JSON: for questions that arrive in batches.
 *
 * @param {string} path Where the question alone would be asked.
 */
export async function answerTo(provider, path, body, index, reply) {
  const protocol = PROTOCOLS[provider];
  const asked = { provider, index, headers: {}, body, ...protocol.ask(body, path) };
  const answer = await reply(asked);
  const said = typeof answer === "string" ? { text: answer } : { ...answer };
  said.usage ??= { input: words(asked.prompt), output: words(partsOf(said).join(" ")) };
  if (!said.fault || ANSWERED.has(said.fault)) return { status: 200, body: protocol.say(said, asked) };
  const names = STATUS[said.fault];
  const message = said.message ?? `The server plays ${said.fault}`;
  return { status: names[0], body: protocol.error(names, said, message) };
}

/**
 * Starts the server on a free port of 127.0.0.1.
 *
 * @param {object} [options]
 * @param {(asked: Asked) => string | Said | Fault | Promise<string | Said | Fault>} [options.reply] What to answer;
 *   "Yes." if absent.
 * @param {boolean} [options.cors] Whether pages of other origins may read the answers. Default: true.
 * @param {number} [options.latencyMs] How long every answer takes.
 * @param {(request: import("node:http").IncomingMessage, body: Buffer, response: import("node:http").ServerResponse) =>
 *   Promise<boolean>} [options.other] Answers what is no question, and says whether it did.
 */
export async function startServer({ reply = () => "Yes.", cors = true, latencyMs = 0, other } = {}) {
  /** @type {(Asked & { method: string, path: string, at: number, socket: import("node:net").Socket })[]} */
  const requests = [];

  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://host").pathname;
    const allow = cors ? { "access-control-allow-origin": "*", "access-control-expose-headers": "*" } : {};
    if (request.method === "OPTIONS") {
      const asked = request.headers["access-control-request-headers"] ?? "";
      const headers = cors && { "access-control-allow-methods": "POST", "access-control-allow-headers": asked };
      response.writeHead(cors ? 204 : 405, { ...allow, ...headers }).end();
      return;
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const found = Object.entries(PROTOCOLS).find(([, { route }]) => route.test(path));
    const send = (status, type, text, headers = {}) =>
      response.writeHead(status, { ...allow, "content-type": type, ...headers }).end(text);
    if (!found && (await other?.(request, Buffer.concat(chunks), response))) return;
    if (request.method !== "POST" || !found) {
      send(404, "text/html", "<!doctype html><title>404</title><p>There is nothing at this address.</p>");
      return;
    }
    const [provider, protocol] = found;
    let body;
    try {
      body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    } catch (error) {
      send(400, "application/json", JSON.stringify(protocol.error(STATUS.bad_request, {}, String(error))));
      return;
    }
    const { headers } = request;
    const index = requests.length;
    const asked = { provider, index, headers, body, ...protocol.ask(body, path) };
    requests.push({ ...asked, method: request.method, path, at: performance.now(), socket: request.socket });

    const known = protocol.credential;
    const keyed = known.length === 0 || known.some((name) => headers[name]);
    const refused = keyed ? protocol.refuse?.(asked) : { fault: "auth", message: "No credentials were sent" };
    const answer = refused ?? (await reply(asked));
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    const said = typeof answer === "string" ? { text: answer } : { ...answer };
    said.usage ??= { input: words(asked.prompt), output: words(partsOf(said).join(" ")) };
    said.truncated ||= said.fault === "truncated";
    const text = () => JSON.stringify(protocol.say(said, asked));

    if (!said.fault || ANSWERED.has(said.fault)) return send(200, "application/json", text());
    switch (said.fault) {
      case "hang":
        return;
      case "reset":
        return request.socket.destroy();
      case "half": {
        const whole = JSON.stringify(protocol.say({ ...said, fault: undefined, text: "half of this is lost" }, asked));
        response.writeHead(200, { ...allow, "content-type": "application/json", "content-length": whole.length });
        return response.write(whole.slice(0, whole.length / 2), () => request.socket.destroy());
      }
      case "malformed":
        return send(200, "application/json", text().slice(0, -20));
      case "redirect":
        return send(307, "text/plain", "", { location: said.location });
      case "html":
        return send(200, "text/html", "<!doctype html><title>Sign in</title><p>Please sign in to this network.</p>");
    }
    const names = STATUS[said.fault];
    const { retryAfter, retryAfterMs } = said;
    const wait = {
      ...(retryAfter !== undefined && {
        "retry-after": retryAfter instanceof Date ? retryAfter.toUTCString() : String(retryAfter),
      }),
      ...(retryAfterMs !== undefined && { "retry-after-ms": String(retryAfterMs) }),
    };
    const message = said.message ?? `The server plays ${said.fault}`;
    send(names[0], "application/json", JSON.stringify(protocol.error(names, said, message)), wait);
  });

  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { url, requests, close };
}
