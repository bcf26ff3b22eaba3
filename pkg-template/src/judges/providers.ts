import { unexpected } from "../engine/input.js";
import { AdkMetricsError } from "../errors.js";
import type { EndpointSettings } from "../generated/contract.js";
import type { Judge, VertexOptions } from "../types.js";
import {
  checkedFetch,
  checkedHeaders,
  checkedName,
  checkedPlace,
  checkedSecret,
  checkedUrl,
  type Endpoint,
  makeEndpoint,
  type Provider,
  setEndpoint,
} from "./endpoint.js";
import { makeJudge } from "./judge.js";
import { optionsOf } from "../known-options.js";
import { isPage } from "./policy.js";
import { send } from "./send.js";

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

const OPTIONS = ["apiKey", "model", "baseUrl", "headers", "fetch"] as const;

/**
 * A judge that asks the Gemini API.
 *
 * ```ts
 * await evaluate({ evalSet, actual, config, judge: geminiJudge({ apiKey }) });
 * ```
 *
 * @param options `baseUrl` stands for `https://generativelanguage.googleapis.com`.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export function geminiJudge(options: GeminiJudgeOptions): Judge {
  return providerJudge(providerEndpoint("gemini", optionsOf(options, OPTIONS), GEMINI_KEY));
}

const GEMINI_KEY = "Keys are made at https://aistudio.google.com/apikey";

/**
 * A judge that asks a Gemini model at Vertex AI: with a project and an access token, or with an API key.
 *
 * ```ts
 * const judge = vertexJudge({ project: "my-project", location: "us-central1", accessToken: () => auth.getAccessToken() });
 * ```
 *
 * @param options `baseUrl` stands for `https://{location}-aiplatform.googleapis.com`.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export function vertexJudge(options: VertexJudgeOptions): Judge {
  return providerJudge(vertexEndpoint(options));
}

/**
 * Where Vertex AI is, by the options of a judge or of an evaluation.
 *
 * @throws {AdkMetricsError} `invalid_input`.
 */
export function vertexEndpoint(options: VertexJudgeOptions): Endpoint {
  const given = optionsOf(options, [...OPTIONS, "project", "location", "accessToken"]);
  const { project, location, accessToken } = given;
  const settings = settingsOf("vertex", given);
  const token = typeof accessToken === "string" ? checkedSecret(accessToken, "accessToken", VERTEX_TOKEN) : accessToken;
  if (token !== undefined && typeof token !== "string" && typeof token !== "function") {
    throw unexpected("a token or a function that gets one", undefined, "options: accessToken");
  }
  if (project !== undefined) settings.project = checkedPlace(project, "project");
  if (location !== undefined) settings.location = checkedPlace(location, "location");
  const hasProject = project !== undefined && token !== undefined;
  if (hasProject === (settings.apiKey !== undefined)) {
    throw new AdkMetricsError("invalid_input", "expected either `project` and `accessToken`, or `apiKey`", {
      path: "options",
      help: VERTEX_TOKEN,
    });
  }
  return makeEndpoint(settings, fetchOf(given), token);
}

const VERTEX_TOKEN = "`gcloud auth print-access-token` prints a token; google-auth-library renews it in a program";

/**
 * A judge that asks OpenAI, or any server that speaks its protocol.
 *
 * ```ts
 * const cloud = openaiJudge({ apiKey, model: "gpt-4.1-mini" });
 * const local = openaiJudge({ baseUrl: "http://127.0.0.1:1234/v1", model: "qwen3-8b" });
 * ```
 *
 * @param options `baseUrl` stands for `https://api.openai.com/v1`; with one of your own, `apiKey` may be left out.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export function openaiJudge(options: OpenaiJudgeOptions): Judge {
  const { api = "chat", ...given } = optionsOf(options, [...OPTIONS, "api"]);
  if (api !== "chat" && api !== "responses") throw unexpected('"chat" or "responses"', api, "options: api");
  const keyHelp = given.baseUrl === undefined ? OPENAI_KEY : undefined;
  return providerJudge(providerEndpoint(api === "chat" ? "openai" : "openai-responses", given, keyHelp));
}

const OPENAI_KEY = "Keys are made at https://platform.openai.com/api-keys; a server without keys is named by `baseUrl`";

/**
 * A judge that asks Anthropic. In a page it says so to the server, which would refuse it otherwise; mind that visitors
 * can read keys in pages.
 *
 * @param options `baseUrl` stands for `https://api.anthropic.com`.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export function anthropicJudge(options: AnthropicJudgeOptions): Judge {
  return providerJudge(providerEndpoint("anthropic", optionsOf(options, OPTIONS), ANTHROPIC_KEY));
}

const ANTHROPIC_KEY = "Keys are made at https://console.anthropic.com/settings/keys";

/**
 * A judge that asks Ollama.
 *
 * ```ts
 * const judge = ollamaJudge({ model: "llama3.2" });
 * ```
 *
 * @param options `baseUrl` stands for `http://127.0.0.1:11434`.
 * @throws {AdkMetricsError} `invalid_input` for options that cannot be right. The judge itself rejects with
 * `judge_failed`.
 */
export function ollamaJudge(options: ProviderJudgeOptions = {}): Judge {
  return providerJudge(providerEndpoint("ollama", optionsOf(options, OPTIONS), undefined));
}

/** @param keyHelp Where keys come from, if there has to be one. */
function providerEndpoint(provider: Provider, options: ProviderJudgeOptions, keyHelp: string | undefined): Endpoint {
  return makeEndpoint(settingsOf(provider, options, keyHelp), fetchOf(options));
}

function fetchOf({ fetch }: ProviderJudgeOptions): Endpoint["fetch"] {
  return fetch === undefined ? undefined : checkedFetch(fetch, "fetch");
}

function settingsOf(provider: Provider, options: ProviderJudgeOptions, keyHelp?: string): EndpointSettings {
  const { apiKey, model, baseUrl, headers } = options;
  const settings: EndpointSettings = { provider, headers: {}, inBrowser: isPage() };
  if (apiKey !== undefined || keyHelp !== undefined) settings.apiKey = checkedSecret(apiKey, "apiKey", keyHelp ?? "");
  if (model !== undefined) settings.model = checkedName(model, "model");
  if (baseUrl !== undefined) settings.baseUrl = checkedUrl(baseUrl, "baseUrl");
  if (headers !== undefined) settings.headers = checkedHeaders(headers, "headers");
  return settings;
}

function providerJudge(endpoint: Endpoint): Judge {
  const { model, label, provider } = endpoint;
  const identity = { label, provider, ...(model === undefined ? {} : { model }) };
  const judge = makeJudge(identity, (request, signal) => send(endpoint, request, signal));
  setEndpoint(judge, endpoint);
  return judge;
}
