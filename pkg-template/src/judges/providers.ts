/** The judges of the providers of models; all that this exports is public. */

import { unexpected } from "../engine/values.js";
import { optionsOf } from "../known-options.js";
import type { Judge, VertexOptions } from "../types.js";
import { PROVIDER_OPTIONS, providerEndpoint, providerJudge, vertexEndpoint } from "./provider-endpoint.js";
import { makesJudges } from "./judge.js";

/** How to ask a provider of models. */
export interface ProviderJudgeOptions {
  /** The key, as `process.env` gives it. It is sent to the provider, and shows up nowhere else. */
  apiKey?: string | undefined;
  /** The model to ask, whatever a criterion names. */
  model?: string;
  /** Another address than the provider's, such as that of your own server. */
  baseUrl?: string | URL;
  /** Further HTTP headers. */
  headers?: Record<string, string>;
  /** What sends the requests. Default: the runtime's own `fetch`. */
  fetch?: typeof fetch;
}

/** How to ask Gemini. */
export interface GeminiJudgeOptions extends ProviderJudgeOptions {
  apiKey: string | undefined;
}

/** How to ask a model of Vertex AI. */
export interface VertexJudgeOptions extends VertexOptions {
  /** The model to ask, whatever a criterion names. */
  model?: string;
}

/** How to ask OpenAI, or a server that speaks its protocol. */
export interface OpenaiJudgeOptions extends ProviderJudgeOptions {
  /** The protocol: chat completions, which most servers speak, or responses. Default: `chat`. */
  api?: "chat" | "responses";
}

/** How to ask Anthropic. */
export interface AnthropicJudgeOptions extends ProviderJudgeOptions {
  apiKey: string | undefined;
}

/**
 * A judge that asks the Gemini API.
 *
 * ```ts
 * await evaluate({ evalSet, actual, config, judge: geminiJudge({ apiKey, model: "gemini-3.5-flash-lite" }) });
 * ```
 *
 * @param options `baseUrl` replaces `https://generativelanguage.googleapis.com`.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export const geminiJudge = /* @__PURE__ */ makesJudges("geminiJudge", (options: GeminiJudgeOptions): Judge => {
  return providerJudge(providerEndpoint("gemini", optionsOf(options, PROVIDER_OPTIONS), GEMINI_KEY));
});

const GEMINI_KEY = "Create a key at https://aistudio.google.com/apikey";

/**
 * A judge that asks a Gemini model at Vertex AI: with a project and an access token, or with an API key.
 *
 * ```ts
 * const accessToken = () => auth.getAccessToken();
 * const model = "gemini-3.5-flash-lite";
 * const judge = vertexJudge({ project: "my-project", location: "global", accessToken, model });
 * ```
 *
 * @param options `baseUrl` replaces `https://{location}-aiplatform.googleapis.com`.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export const vertexJudge = /* @__PURE__ */ makesJudges("vertexJudge", (options: VertexJudgeOptions): Judge => {
  return providerJudge(vertexEndpoint(options));
});

/**
 * A judge that asks OpenAI, or any server that speaks its protocol.
 *
 * ```ts
 * const cloud = openaiJudge({ apiKey, model: "gpt-6-luna" });
 * const local = openaiJudge({ baseUrl: "http://127.0.0.1:1234/v1", model: "qwen3-8b" });
 * ```
 *
 * @param options `baseUrl` replaces `https://api.openai.com/v1`; with one of your own, `apiKey` may be left out.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export const openaiJudge = /* @__PURE__ */ makesJudges("openaiJudge", (options: OpenaiJudgeOptions): Judge => {
  const { api = "chat", ...given } = optionsOf(options, [...PROVIDER_OPTIONS, "api"]);
  if (api !== "chat" && api !== "responses") throw unexpected('"chat" or "responses"', api, "options: api");
  const keyHelp = given.baseUrl === undefined ? OPENAI_KEY : undefined;
  return providerJudge(providerEndpoint(api === "chat" ? "openai" : "openai-responses", given, keyHelp));
});

const OPENAI_KEY =
  "Create a key at https://platform.openai.com/api-keys. For a server that needs no key, set `baseUrl`";

/**
 * A judge that asks Anthropic. In a page it says so to the server, which would refuse it otherwise; mind that visitors
 * can read keys in pages.
 *
 * @param options `baseUrl` replaces `https://api.anthropic.com`.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export const anthropicJudge = /* @__PURE__ */ makesJudges("anthropicJudge", (options: AnthropicJudgeOptions): Judge => {
  return providerJudge(providerEndpoint("anthropic", optionsOf(options, PROVIDER_OPTIONS), ANTHROPIC_KEY));
});

const ANTHROPIC_KEY = "Create a key at https://console.anthropic.com/settings/keys";

/**
 * A judge that asks Ollama.
 *
 * ```ts
 * const judge = ollamaJudge({ model: "llama3.2" });
 * ```
 *
 * @param options `baseUrl` replaces `http://127.0.0.1:11434`.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export const ollamaJudge = /* @__PURE__ */ makesJudges("ollamaJudge", (options: ProviderJudgeOptions = {}): Judge => {
  return providerJudge(providerEndpoint("ollama", optionsOf(options, PROVIDER_OPTIONS), undefined));
});

/** The functions that make judges, by the provider's name: for forms in which users choose whom to ask. */
export const PROVIDER_JUDGES = {
  /** The Gemini API. */
  gemini: geminiJudge,
  /** A Gemini model at Vertex AI. */
  vertex: vertexJudge,
  /** OpenAI, or a server that speaks its protocol. */
  openai: openaiJudge,
  /** Anthropic. */
  anthropic: anthropicJudge,
  /** Ollama. */
  ollama: ollamaJudge,
} as const;
