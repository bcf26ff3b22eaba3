import { AdkMetricsError } from "../errors.js";
import { PROVIDERS } from "../generated/providers.js";
import type { Judge, JudgeReply, JudgeRequest } from "../types.js";
import type { Provider } from "./endpoint.js";
import { signalOf, untilAborted } from "../abort.js";
import { isObject, reading, unexpected } from "../engine/values.js";
import { howToCall, notMade } from "../known-options.js";
import { abortedBy } from "./failure.js";
import { requestOf } from "./request.js";
import { definedProperties } from "../lists.js";

/** What is known of a judge besides how to ask it. */
export interface JudgeIdentity {
  /** The model that it asks, whatever a criterion names. */
  readonly model?: string;
  /** Who answers, without keys: `openai https://api.openai.com/v1`. Keeps the replies of different judges apart. */
  readonly label?: string;
  /** What else changes its requests: options of its own, as JSON has them. Keeps replies apart too. */
  readonly variant?: object;
  /** Whose protocol it speaks, if this package speaks it itself. */
  readonly provider?: Provider;
  /** The name of the function that answers, where it is the user's own; empty if it has none. */
  readonly functionName?: string;
  /** Whether a function without a `cacheVersion` is among those that answer: nothing says when it would reply differently. */
  readonly hasFunction?: boolean;
  /** Whether its model was chosen instead of what configs name. */
  readonly isChosen?: boolean;
  /** Whether all its replies are recorded, so that no judge is asked and nothing is spent. */
  readonly isReplay?: boolean;
  /** That its recording has several replies to one question. */
  readonly contradiction?: string;
  /** The judges of a panel by name. Each sample asks the next one. */
  readonly panel?: readonly string[];
  /** Those judges. */
  readonly members?: readonly { name: string; judge: Judge }[];
  /** The judge of a criterion that names several models, if that is not this one for each of them. */
  readonly panelFor?: (models: readonly string[]) => Judge;
  /** What of the settings of a `judge_model_config` it does not send, one sentence each. */
  readonly notSent?: (settings: object) => string[];
}

/** Beside the judges rather than on them, so that nothing that prints a judge shows it. */
const identities = new WeakMap<Judge, JudgeIdentity>();

/** Notes what is known of a judge. */
export function identified(judge: Judge, identity: JudgeIdentity): Judge {
  identities.set(judge, identity);
  return judge;
}

/**
 * A judge of this package: it reads each request once, ends when its signal does, and is known by its identity.
 *
 * @param ask Asks the model. What it throws is what the judge rejects with.
 */
export function makeJudge(
  identity: JudgeIdentity,
  ask: (request: JudgeRequest, signal: AbortSignal) => Promise<JudgeReply>,
): Judge {
  const judge: Judge = async (given, options?: { signal?: AbortSignal }) => {
    const request = requestOf(given);
    const signal = signalOf(reading("options", () => options?.signal));
    return untilAborted(signal, () => ask(request, signal), abortedBy);
  };
  return identified(judge, identity);
}

/** The functions that make judges, and are none themselves. */
const makers = /* @__PURE__ */ new WeakSet<object>();

/** Notes that a function makes judges, and gives it its name, which no bundler sees in the function itself. */
export function makesJudges<Make extends (...given: never) => Judge>(name: string, make: Make): Make {
  makers.add(make);
  return Object.defineProperty(make, "name", { value: name, configurable: true });
}

/** @throws {AdkMetricsError} `invalid_input` for anything but a judge, such as a function that makes one. */
export function checkJudge(judge: unknown, path = "judge"): void {
  if (typeof judge !== "function") throw unexpected("a judge", judge, path, helpFor(judge));
  if (makers.has(judge)) throw notMade(path, judge.name);
}

/** How to make a judge of what is none. */
function helpFor(given: unknown): string {
  const has = (method: string): boolean =>
    reading("judge", () => isObject(given) && typeof (given as Record<string, unknown>)[method] === "function");
  if (has("generateContentAsync")) return "Create a judge from this model: adkJudge(llm)";
  if (has("doGenerate")) return "Create a judge from this model: languageModelJudge(model)";
  if (typeof given === "string" && Object.hasOwn(PROVIDERS, given)) {
    return `Create a judge of this provider: ${howToCall(`${given.replace(/-.*/, "")}Judge`)}`;
  }
  const model = typeof given === "string" && given.length <= LONGEST_NAME ? JSON.stringify(given) : undefined;
  if (model !== undefined)
    return `To ask this model: openaiJudge({ model: ${model}, apiKey }), or the judge of another provider`;
  return "A judge is an async function that answers a request, or the result of geminiJudge({ apiKey }) or similar";
}

/** What is known of a judge; of those that users write no more than the name, and the version they give it. */
export function identityOf(judge: Judge): JudgeIdentity {
  const known = identities.get(judge);
  if (known !== undefined) return known;
  const [functionName = "", cacheVersion] = (["name", "cacheVersion"] as const).map((key) => textOf(judge, key));
  if (cacheVersion === undefined) return { functionName, hasFunction: true };
  return { functionName, variant: { cacheVersion } };
}

/** A property of a function, which may be anything. */
function textOf(judge: Judge, key: "name" | "cacheVersion"): string | undefined {
  try {
    const value: unknown = judge[key as keyof Judge];
    return typeof value === "string" ? value.slice(0, LONGEST_NAME) : undefined;
  } catch {
    return undefined;
  }
}

const LONGEST_NAME = 100;

/** The error for a panel that was made in code: a batch is resumed by provider and model. */
export function panelTakesNone(path?: string): AdkMetricsError {
  return new AdkMetricsError("invalid_input", "a panel created in code cannot be asked in batches", {
    ...definedProperties({ path }),
    help: "Instead, list its models as `judge_models` in the criteria, and pass a judge without `model`",
  });
}
