import { messageOf, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { EndpointSettings } from "../generated/contract.js";
import { PROVIDERS } from "../generated/providers.js";
import type { Judge } from "../types.js";

/** Whose protocol a server speaks. */
export type Provider = EndpointSettings["provider"];

/** Whether a model is surely one that a provider does not have at its own address. */
export function isForeign(provider: Provider, model: string): boolean {
  return PROVIDERS[provider].foreign?.test(model) === true;
}

/** A server that judges are asked at. */
export interface Endpoint {
  readonly provider: Provider;
  /** Who answers, without keys: `openai https://example.com/v1`. */
  readonly label: string;
  readonly model: string | undefined;
  /** The address, if the user named one, without its query. */
  readonly address: string | undefined;
  /** What sends the requests, if not the runtime's own. */
  readonly fetch: typeof fetch | undefined;
  /**
   * What the next request is rendered from, with a fresh token.
   *
   * @throws {AdkMetricsError} `judge_failed` if the host gives no token.
   */
  settings(): Promise<EndpointSettings>;
  /** What the requests of a run are rendered from. */
  settingsOfRun(): EndpointSettings;
  /**
   * The token that a request lacks which is rendered from these.
   *
   * @throws {AdkMetricsError} `judge_failed` if the host gives no token.
   */
  token(): Promise<string | undefined>;
}

/** Beside the judges rather than on them, so that nothing that prints a judge shows a key. */
const endpoints = new WeakMap<Judge, Endpoint>();

/** Notes where a judge asks. */
export function setEndpoint(judge: Judge, endpoint: Endpoint): void {
  endpoints.set(judge, endpoint);
}

/** Where a judge of a built-in provider asks, so that the engine can do so itself; nothing for all other judges. */
export function endpointOf(judge: Judge): Endpoint | undefined {
  return endpoints.get(judge);
}

/** An endpoint with settings that stay, except for the token. */
export function makeEndpoint(
  settings: EndpointSettings,
  send: typeof fetch | undefined,
  accessToken?: string | (() => string | Promise<string>),
): Endpoint {
  const { provider, baseUrl, project, location } = settings;
  const address = baseUrl?.replace(/\?.*/s, "");
  return {
    provider,
    address,
    label: [provider, address, project, location].filter((part) => part !== undefined).join(" "),
    model: settings.model,
    fetch: send,
    settings: async () =>
      accessToken === undefined ? settings : { ...settings, accessToken: await tokenOf(accessToken) },
    settingsOfRun: () =>
      accessToken === undefined
        ? settings
        : { ...settings, ...(typeof accessToken === "string" ? { accessToken } : { tokenPerCall: true }) },
    token: async () => (typeof accessToken === "function" ? tokenOf(accessToken) : undefined),
  };
}

async function tokenOf(accessToken: string | (() => string | Promise<string>)): Promise<string> {
  if (typeof accessToken === "string") return accessToken;
  let token: unknown;
  try {
    token = await accessToken();
  } catch (cause) {
    throw new AdkMetricsError("judge_failed", `\`accessToken\` returned no token: ${messageOf(cause)}`, {
      cause,
      retryable: false,
    });
  }
  if (isSecret(token)) return token.trim();
  throw new AdkMetricsError("judge_failed", `\`accessToken\` returned ${secretProblem(token)}`, { retryable: false });
}

// ---- checks of options; none says what a secret is

/** A key or token, without white space around it. */
export function checkedSecret(value: unknown, name: string, help: string): string {
  if (isSecret(value)) return value.trim();
  throw new AdkMetricsError("invalid_input", `expected a key, found ${secretProblem(value)}`, {
    path: `options: ${name}`,
    help,
  });
}

/** Whether a text can be a key: one that a header can carry. */
function isSecret(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value.trim());
}

/** The error for what is of a wrong type, and may be a secret: no part of it is repeated. */
export function wrongType(what: string, value: unknown, path: string): AdkMetricsError {
  if (typeof value === "object") return unexpected(what, value, path);
  return new AdkMetricsError("invalid_input", `expected ${what}, found a ${typeof value}`, { path });
}

function secretProblem(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value !== "string") return `a ${typeof value}`;
  return value.trim() === "" ? "an empty string" : "a string with characters that keys cannot contain";
}

const NO_SCHEME = "the address has to begin with https:// or http://";

/** An address without the slash at its end, possibly with a query. */
export function checkedUrl(value: unknown, name: string): string {
  const wrong = (problem: string): AdkMetricsError =>
    new AdkMetricsError("invalid_input", problem, {
      path: `options: ${name}`,
      help: "An address looks like https://example.com/v1",
    });
  if (typeof value !== "string" && !(value instanceof URL)) throw wrong("expected an address");
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw wrong(/^https?:/i.test(value as string) ? "the address cannot be read" : NO_SCHEME);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw wrong(NO_SCHEME);
  if (url.username !== "" || url.password !== "") throw wrong("the address contains a user name or a password");
  url.hash = "";
  url.pathname = withoutSlashes(url.pathname);
  return withoutSlashes(url.href);
}

function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

/** Headers as plain texts. */
export function checkedHeaders(value: unknown, name: string): Record<string, string> {
  if (typeof value !== "object" || value === null) throw wrongType("an object of headers", value, `options: ${name}`);
  const headers: Record<string, string> = {};
  for (const [key, content] of Object.entries(value)) {
    const isHeader =
      /^[\w!#$%&'*+.^`|~-]+$/.test(key) && typeof content === "string" && /^[\t\x20-\x7e]*$/.test(content);
    if (!isHeader) {
      throw new AdkMetricsError("invalid_input", `\`${key}\` is not a header with a value in ASCII`, {
        path: `options: ${name}`,
      });
    }
    headers[key] = content;
  }
  return headers;
}

/** A name that is not empty. */
export function checkedName(value: unknown, name: string): string {
  if (typeof value !== "string" || value.trim() === "") throw unexpected("a name", value, `options: ${name}`);
  return value.trim();
}

/** A name of Google Cloud that becomes part of an address: a location, or a project, which may follow a domain. */
export function checkedPlace(value: unknown, name: "location" | "project"): string {
  const given = checkedName(value, name);
  if ((name === "location" ? /^[a-z0-9-]+$/ : /^[a-z0-9-][a-z0-9.:-]*$/).test(given)) return given;
  throw new AdkMetricsError("invalid_input", `\`${given}\` cannot be a ${name} of Google Cloud`, {
    path: `options: ${name}`,
    help:
      name === "location"
        ? "Use only lower-case letters, digits and -, as in us-central1"
        : "Use only lower-case letters, digits and -; with a domain, also . and :",
  });
}

/** A function such as `fetch`. */
export function checkedFetch(value: unknown, name: string): typeof fetch {
  if (typeof value !== "function") throw unexpected("a function like fetch", value, `options: ${name}`);
  return value as typeof fetch;
}
