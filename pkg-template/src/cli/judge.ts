/** The judge that the command line asks: a provider, chosen by the environment, or a recording. */

import { basename } from "node:path";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { KEYED_PROVIDERS, PROVIDERS } from "../generated/providers.js";
import { endpointOf, isForeign, setEndpoint } from "../judges/endpoint.js";
import { DEFAULT_MODEL } from "../generated/metrics.js";
import { modelName } from "../judges/foreign-default.js";
import { type Environment, judgeFromEnvironment, providerOfModel } from "../judges/environment.js";
import { replayJudge, vertexJudge } from "../judges/index.js";
import { identified, identityOf } from "../judges/judge.js";
import { exportOf, layersOf, loadModule, type ModuleName } from "../modules/load.js";
import type { Judge, VertexOptions } from "../types.js";
import { moduleOf } from "./agent.js";
import { type Arguments, oneOf } from "./arguments.js";
import { commandVariables, type Variables } from "./environment.js";
import { kindOf, readBytes } from "./files.js";
import { inFile, Mistake } from "./mistakes.js";
import { ASKED_PROVIDERS, type AskedProvider as Provider } from "./options.js";
import { hostUserCode, note } from "./process.js";
import { vertexFromEnvironment } from "./vertex.js";

const REPLAY = "replay:";

/** What the arguments say of judges. */
export interface JudgeChoice {
  /** The provider to ask; by the name of the model if absent. */
  provider?: Provider;
  /** The model to ask, whatever criteria name. */
  model?: string;
  /** The recording that replies instead. */
  replay?: string;
  /** The module that holds the user's judge. */
  module?: ModuleName;
  /** The file that replies are recorded in. */
  record?: string;
  /** The folder that replies are kept in from run to run. */
  cache?: string;
}

/**
 * Reads the arguments about judges.
 *
 * @throws {Mistake} for an unknown provider, and for arguments that cannot be combined.
 */
export function judgeChoiceOf(given: Arguments): JudgeChoice {
  const choice: JudgeChoice = {};
  const [judge, model, record, cache] = [
    given.one("judge"),
    given.one("model"),
    given.one("record"),
    given.one("cache"),
  ];
  if (model !== undefined) choice.model = model;
  if (record !== undefined) choice.record = record;
  if (cache !== undefined) choice.cache = cacheFolder(cache);
  if (judge === undefined) return choice;
  if (isModule(judge)) {
    choice.module = moduleOf(judge);
    if (model === undefined) return choice;
    throw new Mistake("--model has no effect on your own judge: its module decides which model it asks", {
      help: `Leave out --model, or set the model in ${choice.module.file}`,
    });
  }
  if (!judge.startsWith(REPLAY)) {
    if (judge === "replay") throw new Mistake("--judge replay needs a recording", { help: "--judge replay:<file>" });
    if (judge.endsWith(".jsonl")) {
      throw new Mistake(`--judge ${judge} is not a module`, { help: `For a recording: --judge replay:${judge}` });
    }
    choice.provider = oneOf<string>("judge", judge, [
      ...ASKED_PROVIDERS,
      `${REPLAY}<file>`,
      "./module.mjs",
    ]) as Provider;
    return choice;
  }
  choice.replay = judge.slice(REPLAY.length);
  if (choice.replay === "") throw new Mistake("--judge replay needs a recording", { help: "--judge replay:<file>" });
  if (model !== undefined) {
    throw new Mistake("--model has no effect on a recording, which already contains its replies", {
      help: "Leave out --model, or choose a provider with --judge",
    });
  }
  if (cache !== undefined) {
    throw new Mistake("--cache has no effect on a recording, which already contains its replies", {
      help: "Leave out --cache, or choose a provider with --judge",
    });
  }
  if (record !== undefined) {
    throw new Mistake("--record would record replies that are already recorded", {
      help: `Copy ${choice.replay} instead`,
    });
  }
  return choice;
}

/** @throws {Mistake} for what cannot be the folder of a cache. */
function cacheFolder(folder: string): string {
  if (kindOf(folder) !== "file") return folder;
  throw new Mistake("the cache is a file, not a folder", { location: folder, help: "Choose a folder with --cache" });
}

/** Whether `--judge` names a module rather than a provider or a recording. */
function isModule(judge: string): boolean {
  if (judge.startsWith(REPLAY) || judge.endsWith(".jsonl")) return false;
  return /[\\/]/.test(judge) || /\.[cm]?[jt]sx?(?:[#:][\w$]+)?$/.test(judge);
}

/**
 * Loads the user's judge: the export that is named, else the default export or the one called `judge`.
 *
 * @throws {Mistake} if the module exports none.
 */
async function loadJudge({ file, name }: ModuleName): Promise<Judge> {
  const exports = await loadModule(file, "judge");
  const names = [...new Set(layersOf(exports).flatMap((layer) => Object.keys(layer)))];
  const others = names.filter((key) => key !== "default" && key !== "module.exports");
  const has = others.length === 0 ? "It has no named exports" : `It exports ${others.join(", ")}`;
  const found = (name === undefined ? ["default", "judge"] : [name])
    .map((key) => exportOf(exports, key))
    .find((value) => typeof value === "function");
  if (typeof found !== "function") {
    const wrong = name === undefined ? undefined : exportOf(exports, name);
    const what =
      name === undefined
        ? "the module exports no judge"
        : wrong === undefined
          ? `the judge's module does not export \`${name}\``
          : `the export \`${name}\` is not a judge`;
    throw new Mistake(what, {
      location: file,
      help: `A judge is a function, or what openaiJudge() and the like return. Export it as default or as judge, or specify its export: --judge ${basename(file)}#name. ${has}`,
    });
  }
  const judge = found as Judge;
  const identity = identityOf(judge);
  // A custom function is known in reports by its module; judges of this package say themselves what they ask.
  if (identity.functionName === undefined) return judge;
  const functionName = basename(file) + (name === undefined ? "" : `#${name}`);
  return identified((request, options) => judge(request, options), { ...identity, functionName });
}

/** Makes the judges of one command. */
export class JudgeMaker {
  readonly #choice: JudgeChoice;
  readonly #isAsked: boolean;
  #recorded: Judge | undefined;
  /** Each judge that was made, or why it cannot be: every evalset asks for it again. */
  readonly #made = new Map<string, { judge: Judge } | { mistake: unknown }>();
  readonly #printed = new Set<string>();
  #vertex: VertexOptions | undefined;

  /**
   * The environment is read when something of it is needed.
   *
   * @param isAsked Whether judges are asked: those that are not need no key.
   * @throws {Mistake} for a recording that cannot be read.
   */
  constructor(choice: JudgeChoice, isAsked = true) {
    this.#choice = choice;
    this.#isAsked = isAsked;
    if (choice.replay !== undefined) this.#recorded = recordingOf(choice.replay);
  }

  /** Loads the user's judge, if one is named. @throws {Mistake} if there is none. */
  async load(): Promise<void> {
    const { module } = this.#choice;
    if (module === undefined) return;
    hostUserCode();
    this.#recorded = await loadJudge(module);
    const { hasFunction, members } = identityOf(this.#recorded);
    if (this.#choice.cache !== undefined && hasFunction === true) {
      const names = members?.filter(({ judge }) => identityOf(judge).hasFunction === true).map(({ name }) => name);
      const assigned = (name: string) => `Object.assign(${name}, { cacheVersion: "1" })`;
      throw new Mistake("--cache cannot keep the replies of a function: nothing tells when its replies change", {
        location: module.file,
        help:
          names === undefined
            ? `Give the function a version, and change it whenever the function changes: export default ${assigned("judge")}`
            : `Give each function of the panel a version (here ${names.join(", ")}), and change it whenever that function changes: panelJudge([${names.map(assigned).join(", ")}])`,
      });
    }
  }

  /** The judge whatever models a criterion names, if the user's own one is a panel or a recording. */
  get fixed(): Judge | undefined {
    if (this.#recorded === undefined) return undefined;
    const { panel, isReplay } = identityOf(this.#recorded);
    return panel === undefined && isReplay !== true ? undefined : this.#recorded;
  }

  /**
   * The judge for a model that a criterion names.
   *
   * @param isSaid Whether to say who is asked.
   * @throws {Mistake} that says what the environment lacks.
   */
  judgeFor(model: string, isSaid = true): Judge {
    if (this.#recorded !== undefined) return this.#recorded;
    const { model: own, provider } = this.#choice;
    const made = this.#made.get(own ?? model) ?? this.#make(own, model);
    this.#made.set(own ?? model, made);
    if (isSaid && own === undefined && provider !== undefined && "judge" in made)
      this.#print(`asking ${provider} for ${model}, ${originOf(model)}; --model names another`);
    if (isSaid && own !== undefined && model !== DEFAULT_MODEL && modelName(own) !== modelName(model))
      this.#print(`asking ${own} (--model) instead of ${model}, ${originOf(model)}`);
    if ("mistake" in made) throw made.mistake;
    return made.judge;
  }

  /**
   * Where Vertex AI's evaluation service is, if Vertex AI is who to ask; its scores cannot be recorded.
   *
   * @throws {Mistake} that says what the environment lacks.
   */
  evaluationService(): VertexOptions | undefined {
    if (this.#choice.provider !== "vertex" || this.#choice.record !== undefined) return undefined;
    const options = this.#vertexOptions();
    this.#sayAddress("vertex", options.baseUrl);
    return options;
  }

  #make(own: string | undefined, model: string): { judge: Judge } | { mistake: unknown } {
    try {
      return { judge: own === undefined ? this.#nameless(model) : this.#chosen(own) };
    } catch (mistake) {
      return { mistake };
    }
  }

  /** The judge of --model, which says itself where that is not the model of a config. */
  #chosen(model: string): Judge {
    const judge = this.#ask(model, true);
    return identified(judge, { ...identityOf(judge), isChosen: true });
  }

  /** A judge whose requests name the model as the criterion does, so that recordings fit any judge. */
  #nameless(model: string): Judge {
    const { provider } = this.#choice;
    if (provider !== undefined) refuseForeignModel(provider, model, this.#variables().environment);
    const judge = this.#ask(model, false);
    const { model: _model, ...identity } = identityOf(judge);
    const nameless = identified((request, options) => judge(request, options), identity);
    const endpoint = endpointOf(judge);
    if (endpoint !== undefined) setEndpoint(nameless, endpoint);
    return nameless;
  }

  /** @param isOwn Whether the name of the model is the user's own, to be sent as it is. */
  #ask(model: string, isOwn: boolean): Judge {
    const { provider } = this.#choice;
    const variables = this.#variables();
    const { environment } = variables;
    const byName = providerOfModel(model) as Provider;
    const meansVertex = provider === undefined && byName === "gemini" && usesVertex(environment);
    // A provider before the name says whom to ask; the name that the provider knows comes after it.
    const hasPrefix = !isOwn && model.includes("/") && byName === provider;
    const name = provider === undefined || hasPrefix ? model : `${provider}/${model}`;
    try {
      if (provider === "vertex" || meansVertex) {
        const judge = vertexJudge({ ...this.#vertexOptions(), model: model.replace(/^gemini\//, "") });
        this.#sayAddress("vertex", this.#vertex?.baseUrl);
        return judge;
      }
      const judge = judgeFromEnvironment(name, this.#isAsked ? environment : withKeys(environment));
      const { provider: judgeProvider = "gemini", address } = endpointOf(judge) ?? {};
      const who = judgeProvider === "openai-responses" ? "openai" : judgeProvider;
      if (address !== undefined)
        variables.checkAddress(variablesOf(who).baseUrl, variables.keyFor(variablesOf(who).baseUrl));
      this.#sayAddress(who, address);
      return judge;
    } catch (error) {
      // The caller adds the place of a model that no option names.
      if (!isOwn && isAdkMetricsError(error) && error.path === "options: model") {
        throw new AdkMetricsError(error.code, error.message);
      }
      throw explained(error, meansVertex ? "vertex" : (provider ?? byName), model, provider !== undefined);
    }
  }

  #variables(): Variables {
    return commandVariables();
  }

  #vertexOptions(): VertexOptions {
    if (this.#vertex !== undefined) return this.#vertex;
    const options = vertexFromEnvironment(this.#variables());
    try {
      vertexJudge(options);
    } catch (error) {
      throw explained(error, "vertex", "", true);
    }
    return (this.#vertex = options);
  }

  /** Says once who is asked, if that is not the provider's own address. */
  #sayAddress(provider: Provider, address: string | URL | undefined): void {
    if (address === undefined) return;
    const { origin } = new URL(address);
    if (isOwnOrigin(provider, origin)) return;
    const name = variablesOf(provider).baseUrl;
    const file = this.#variables().fileOf(name);
    this.#print(`asking ${provider} at ${origin} (${name}${file === undefined ? "" : ` in ${file}`})`);
  }

  /** Prints a note, once. */
  #print(text: string): void {
    if (!this.#printed.has(text)) note(text);
    this.#printed.add(text);
  }
}

function recordingOf(file: string): Judge {
  const bytes = readBytes(file, "recording");
  try {
    return replayJudge(bytes);
  } catch (error) {
    throw inFile(error, file, "recording");
  }
}

/** What has to be set, where that is more than a key. */
const NEEDS: Readonly<Record<string, string>> = {
  vertex: "GOOGLE_CLOUD_PROJECT or GOOGLE_API_KEY",
  openai: "OPENAI_API_KEY, or OPENAI_BASE_URL for your own server that needs no key",
  ollama: "OLLAMA_HOST, or OPENAI_BASE_URL for any server with OpenAI's protocol",
};

/** An environment with a key for every provider. */
function withKeys(environment: Environment): Environment {
  const keys = KEYED_PROVIDERS.flatMap((provider) => PROVIDERS[provider].keys);
  return { ...environment, ...Object.fromEntries(keys.map((key) => [key, environment[key]?.trim() || "none"])) };
}

/** The variables of a provider: what has to be set, and what its address is. */
function variablesOf(provider: Provider): { needs: string; baseUrl: string } {
  const { keys, address } = PROVIDERS[provider];
  return { needs: NEEDS[provider] ?? keys.join(" or "), baseUrl: address };
}

/** The addresses of providers that have several. */
const OWN_ORIGINS: Readonly<Record<string, RegExp>> = {
  vertex:
    /^https:\/\/(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com$|^https:\/\/aiplatform\.[a-z]+\.rep\.googleapis\.com$/,
  ollama: /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):11434$/,
};

/** Whether a provider itself is there. */
function isOwnOrigin(provider: Provider, origin: string): boolean {
  return OWN_ORIGINS[provider]?.test(origin) ?? origin === PROVIDERS[provider].origin;
}

/** Whether Gemini is to be asked at Vertex AI, as ADK and Google's own clients read it. */
function usesVertex(environment: Environment): boolean {
  return /^(?:true|1)$/i.test(environment.GOOGLE_GENAI_USE_VERTEXAI?.trim() ?? "");
}

/** Where a model comes from that no option names. */
function originOf(model: string): string {
  return model === DEFAULT_MODEL ? "ADK's default model" : "the model in the config";
}

/** @throws {Mistake} for a model of another's, as ADK's default is, at a provider that cannot have it. */
function refuseForeignModel(provider: Provider, model: string, environment: Environment): void {
  if (!isForeign(provider, model)) return;
  // Servers that forward to many providers, such as LiteLLM's, may have it.
  if (provider !== "ollama" && (environment[variablesOf(provider).baseUrl] ?? "").trim() !== "") return;
  throw new Mistake(`--judge ${provider} cannot ask ${model}, ${originOf(model)}`, {
    help: "Choose a model with --model, or in the config",
  });
}

/** What is wrong with an environment, in its own words. */
function explained(error: unknown, provider: Provider, model: string, isChosen: boolean): unknown {
  if (!(error instanceof AdkMetricsError)) return error;
  const { needs, baseUrl } = variablesOf(provider);
  if (error.code === "judge_required") {
    const other = isChosen ? "" : "; or choose another judge with --judge";
    // One of ours, so that the caller adds the place in the config.
    const message = isChosen ? `--judge ${provider} needs an API key` : `there is no judge to ask ${model}`;
    return new AdkMetricsError(error.code, message, {
      help: `Set ${needs}, in the environment or in a .env file${other}`,
    });
  }
  const names: Readonly<Record<string, string>> = {
    baseUrl,
    apiKey: needs.replace(/,.*/, ""),
    model: "--model",
    location: "GOOGLE_CLOUD_LOCATION",
    project: "GOOGLE_CLOUD_PROJECT",
  };
  const location = names[error.path?.replace("options: ", "") ?? ""] ?? error.path;
  const isHelpful = location === names.location || location === names.project;
  const file = location === baseUrl ? commandVariables().fileOf(baseUrl) : undefined;
  return new Mistake(error.message, {
    location: file === undefined ? location : `${location} in ${file}`,
    help: isHelpful ? error.help : undefined,
  });
}
