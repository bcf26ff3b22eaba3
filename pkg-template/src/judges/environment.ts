// Node only: elsewhere there is no environment, and keys do not belong into pages.
import { KEYED_PROVIDERS, type KeyedProvider, PROVIDERS } from "../generated/providers.js";
import { definedProperties } from "../lists.js";
import type { Judge } from "../types.js";
import { judgeRequired } from "./default.js";
import type { Provider } from "./endpoint.js";
import { providerEndpoint, providerJudge } from "./provider-endpoint.js";
import { ollamaJudge, openaiJudge } from "./providers.js";

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Family {
  provider: Provider;
  /** Names of models. */
  models: RegExp;
  /** The provider's name before a slash, as LiteLLM writes it. */
  prefix: RegExp;
  /** What has to be set, for errors. */
  variables: string;
  /** The judge, if what it needs is set. */
  make(read: (...names: string[]) => string | undefined, model: string, isPrefixed: boolean): Judge | undefined;
}

/** A function, so that bundles without a judge have none of it. */
function families(): readonly Family[] {
  return [...KEYED_PROVIDERS.map(keyed), others()];
}

/** A provider that needs nothing but a key; to OpenAI's protocol there are servers without keys too. */
function keyed(provider: KeyedProvider): Family {
  const { keys, address, models } = PROVIDERS[provider];
  return {
    provider,
    models: models as RegExp,
    prefix: provider === "gemini" ? /^(?:models|gemini)\// : new RegExp(`^${provider}/`),
    variables: keys.join(" or "),
    make: (read, model) => {
      const [apiKey, baseUrl] = [read(...keys), read(address)];
      if (provider === "openai") return openaiOf(read, model);
      if (apiKey === undefined) return undefined;
      const options = { apiKey, model, ...definedProperties({ baseUrl }) };
      return providerJudge(providerEndpoint(provider, options, `Default: the environment's ${keys.join(" or ")}`));
    },
  };
}

/** All other models: Ollama's, or those of a server that speaks OpenAI's protocol. */
function others(): Family {
  return {
    provider: "ollama",
    models: /(?:)/,
    prefix: /^ollama(?:_chat)?\//,
    variables: "OLLAMA_HOST, or OPENAI_BASE_URL for any server with OpenAI's protocol",
    make: (read, model, isPrefixed) => {
      const host = read("OLLAMA_HOST");
      if (host !== undefined) return ollamaJudge({ baseUrl: ollamaUrl(host), model });
      if (isPrefixed) return ollamaJudge({ model });
      return read("OPENAI_BASE_URL") === undefined ? undefined : openaiOf(read, model);
    },
  };
}

function openaiOf(read: (...names: string[]) => string | undefined, model: string): Judge | undefined {
  const [apiKey, baseUrl] = [read("OPENAI_API_KEY"), read("OPENAI_BASE_URL")];
  return apiKey === undefined && baseUrl === undefined
    ? undefined
    : openaiJudge({ model, ...definedProperties({ apiKey, baseUrl }) });
}

/**
 * A judge for a model, made from the environment as the providers' own clients read it: `gemini-…` needs
 * `GOOGLE_API_KEY` or `GEMINI_API_KEY`, `gpt-…` and `o…` need `OPENAI_API_KEY`, `claude-…` needs `ANTHROPIC_API_KEY`;
 * any other model is asked at `OLLAMA_HOST`, else at `OPENAI_BASE_URL`. A provider may precede the name:
 * `openai/gpt-6-luna`.
 *
 * @throws {AdkMetricsError} `judge_required` that names the variables that are missing.
 */
export function judgeFromEnvironment(model: string, environment: Environment): Judge {
  const read = (...names: string[]): string | undefined => {
    const values = names.map((name) => environment[name]?.trim());
    return values.find((value) => value !== undefined && value !== "");
  };
  const { family, isPrefixed } = familyOf(model);
  const judge = family.make(read, modelAtProvider(model), isPrefixed);
  if (judge === undefined) throw judgeRequired(model, family.variables);
  return judge;
}

/** The provider that a model's name leads to; `ollama` for a name that tells nothing. */
export function providerOfModel(model: string): Provider {
  return familyOf(model).family.provider;
}

/** A model's name without a leading provider. */
export function modelAtProvider(model: string): string {
  return familyOf(model).isPrefixed ? model.slice(model.indexOf("/") + 1) : model;
}

function familyOf(model: string): { family: Family; isPrefixed: boolean } {
  const known = families();
  const prefixed = known.find(({ prefix }) => prefix.test(model));
  const family = prefixed ?? (known.find(({ models }) => models.test(model)) as Family);
  return { family, isPrefixed: prefixed !== undefined };
}

/**
 * The address of Ollama by the rules of its own variable: scheme, host and port may be missing, and the host may be the
 * address of all interfaces.
 */
function ollamaUrl(value: string): string {
  const [, scheme = "", authority = "", path = ""] = /^(https?:\/\/)?([^/]*)([^]*)/.exec(value) ?? [];
  const [, host = "", port = ""] = /^(.*?)(:\d+)?$/.exec(authority) ?? [];
  const reachable = host === "" || host === "0.0.0.0" ? "127.0.0.1" : host;
  return `${scheme || "http://"}${reachable}${port || (scheme === "" ? ":11434" : "")}${path}`;
}
