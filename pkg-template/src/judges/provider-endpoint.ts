/** Where providers of models are asked, by the options of their judges. */

import { AdkMetricsError } from "../errors.js";
import type { EndpointSettings } from "../generated/contract.js";
import { PROVIDER_OPTIONS as ENGINE_OPTIONS, VERTEX_OPTIONS } from "../generated/options.js";
import type { Judge } from "../types.js";
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
  wrongType,
} from "./endpoint.js";
import { makeJudge } from "./judge.js";
import { optionsOf } from "../known-options.js";
import { isPage } from "./policy.js";
import { send } from "./send.js";
import type { ProviderJudgeOptions, VertexJudgeOptions } from "./providers.js";
import { definedProperties } from "../lists.js";

/** The options of the judges of all providers. */
export const PROVIDER_OPTIONS = [...ENGINE_OPTIONS, "fetch"] as const;

/**
 * Where Vertex AI is, by the options of a judge or of an evaluation.
 *
 * @throws {AdkMetricsError} `invalid_input`.
 */
export function vertexEndpoint(options: VertexJudgeOptions): Endpoint {
  const given = optionsOf(options, [...PROVIDER_OPTIONS, ...VERTEX_OPTIONS]);
  const { project, location, accessToken } = given;
  const settings = endpointSettings("vertex", given);
  const token = typeof accessToken === "string" ? checkedSecret(accessToken, "accessToken", VERTEX_TOKEN) : accessToken;
  if (token !== undefined && typeof token !== "string" && typeof token !== "function") {
    throw wrongType("a token or a function that returns one", token, "options: accessToken");
  }
  if (project !== undefined) settings.project = checkedPlace(project, "project");
  if (location !== undefined) settings.location = checkedPlace(location, "location");
  const isExpress = settings.apiKey !== undefined;
  if ([project, token].some((part) => (part === undefined) !== isExpress)) {
    throw new AdkMetricsError("invalid_input", "expected either `project` and `accessToken`, or `apiKey`", {
      path: "options",
      help: VERTEX_TOKEN,
    });
  }
  return makeEndpoint(settings, fetchOf(given), token);
}

const VERTEX_TOKEN = "`gcloud auth print-access-token` prints a token; in a program, google-auth-library renews it";

/**
 * Where a provider is, by the options of its judge.
 *
 * @param keyHelp Where keys come from, if there has to be one.
 */
export function providerEndpoint(
  provider: Provider,
  options: ProviderJudgeOptions,
  keyHelp: string | undefined,
): Endpoint {
  return makeEndpoint(endpointSettings(provider, options, keyHelp), fetchOf(options));
}

function fetchOf({ fetch }: ProviderJudgeOptions): Endpoint["fetch"] {
  return fetch === undefined ? undefined : checkedFetch(fetch, "fetch");
}

function endpointSettings(provider: Provider, options: ProviderJudgeOptions, keyHelp?: string): EndpointSettings {
  const { apiKey, model, baseUrl, headers } = options;
  const settings: EndpointSettings = { provider, headers: {}, inBrowser: isPage() };
  if (apiKey !== undefined || keyHelp !== undefined) settings.apiKey = checkedSecret(apiKey, "apiKey", keyHelp ?? "");
  if (model !== undefined) settings.model = checkedName(model, "model");
  if (baseUrl !== undefined) settings.baseUrl = checkedUrl(baseUrl, "baseUrl");
  if (headers !== undefined) settings.headers = checkedHeaders(headers, "headers");
  return settings;
}

/** A judge that asks at an endpoint. */
export function providerJudge(endpoint: Endpoint): Judge {
  const { model, label, provider } = endpoint;
  const identity = { label, provider, ...definedProperties({ model }) };
  const judge = makeJudge(identity, (request, signal) => send(endpoint, request, signal));
  setEndpoint(judge, endpoint);
  return judge;
}
