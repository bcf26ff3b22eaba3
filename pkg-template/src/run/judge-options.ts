import { closest } from "../closest.js";
import { AdkMetricsError } from "../errors.js";
import type { RunOptions } from "../generated/contract.js";
import { PROMPTS } from "../generated/metrics.js";
import { defaultJudgeModel } from "../judges/default.js";
import { identityOf } from "../judges/judge.js";
import { vertexEndpoint } from "../judges/provider-endpoint.js";
import { canonicalName } from "../metric-info.js";
import type { Budget, EvaluatorOptions, PromptTemplates, RetryOptions } from "../types.js";
import { isObject, unexpected } from "../engine/input.js";

/** The part of a run's options that is about judges. */
export type JudgeRunOptions = Pick<
  RunOptions,
  "earlyStop" | "vertex" | "judgeModel" | "seed" | "prompts" | "retry" | "budget"
>;

/**
 * Reads what the options say of judges.
 *
 * @throws {AdkMetricsError} `invalid_input` for what is not as its type says.
 */
export function judgeOptions(options: EvaluatorOptions): JudgeRunOptions {
  const { judge, vertex, earlyStop = true, prompts, retry = {}, budget = {}, seed, cache } = options;
  if (judge !== undefined && typeof judge !== "function") throw unexpected("a judge", judge, "judge");
  if (typeof earlyStop !== "boolean") throw unexpected("true or false", earlyStop, "earlyStop");
  if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0)) {
    throw unexpected("a whole number from 0 up", seed, "seed");
  }
  if (cache !== undefined && !(typeof cache?.get === "function" && typeof cache.set === "function")) {
    throw unexpected("an object with `get` and `set`", cache, "cache");
  }
  if (vertex !== undefined) vertexEndpoint(vertex);
  return {
    earlyStop,
    vertex: vertex !== undefined,
    judgeModel: judge === undefined ? defaultJudgeModel() : identityOf(judge).model,
    seed: seed ?? Math.floor(Math.random() * 2 ** 32),
    prompts: checkedPrompts(prompts),
    retry: checkedRetry(retry),
    budget: checkedBudget(budget),
  };
}

const RETRY_KEYS: Readonly<Record<keyof RetryOptions, string>> = {
  attempts: "a whole number from 1 up",
  initialDelayMs: "a number of milliseconds",
  maxDelayMs: "a number of milliseconds",
  base: "a number from 1 up",
  jitter: "a number from 0 to 1",
};

function checkedRetry(retry: RetryOptions): RunOptions["retry"] {
  checkKeys(retry, Object.keys(RETRY_KEYS), "retry");
  const { attempts, initialDelayMs, maxDelayMs, base, jitter } = retry;
  const isFine: Record<keyof RetryOptions, boolean> = {
    attempts: attempts === undefined || (Number.isInteger(attempts) && attempts >= 1),
    initialDelayMs: initialDelayMs === undefined || isAmount(initialDelayMs),
    maxDelayMs: maxDelayMs === undefined || isAmount(maxDelayMs),
    base: base === undefined || (isAmount(base) && base >= 1),
    jitter: jitter === undefined || (isAmount(jitter) && jitter <= 1),
  };
  for (const key of Object.keys(RETRY_KEYS) as (keyof RetryOptions)[]) {
    if (!isFine[key]) throw unexpected(RETRY_KEYS[key], retry[key], `retry: ${key}`);
  }
  return { attempts, initialDelayMs, maxDelayMs, base, jitter };
}

function checkedBudget(budget: Budget): RunOptions["budget"] {
  checkKeys(budget, ["calls", "tokens", "cost", "prices", "timeMs"], "budget");
  const { calls, tokens, cost, timeMs, prices } = budget;
  for (const [key, amount] of Object.entries({ calls, tokens, cost, timeMs })) {
    if (amount !== undefined && !isAmount(amount)) throw unexpected("a number from 0 up", amount, `budget: ${key}`);
  }
  if (cost !== undefined && prices === undefined) {
    throw new AdkMetricsError("invalid_input", "a budget in money needs `prices`", {
      path: "budget: cost",
      help: 'For example: { cost: 1, prices: { "gpt-4.1-mini": { inputPerMillion: 0.4, outputPerMillion: 1.6 } } }',
    });
  }
  return { calls, tokens, cost, timeMs, prices: prices === undefined ? undefined : checkedPrices(prices) };
}

function checkedPrices(prices: NonNullable<Budget["prices"]>): RunOptions["budget"]["prices"] {
  if (!isObject(prices)) throw unexpected("an object from models to prices", prices, "budget: prices");
  const checked = Object.entries(prices).map(([model, price]) => {
    const path = `budget: prices: ${model}`;
    checkKeys(price, ["inputPerMillion", "outputPerMillion"], path);
    const { inputPerMillion, outputPerMillion } = price;
    if (!isAmount(inputPerMillion) || !isAmount(outputPerMillion)) {
      throw unexpected("`inputPerMillion` and `outputPerMillion`, numbers from 0 up", price, path);
    }
    return [model, { inputPerMillion, outputPerMillion }] as const;
  });
  return Object.fromEntries(checked);
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

function checkKeys(value: unknown, known: readonly string[], path: string): void {
  if (!isObject(value)) throw unexpected("an object", value, path);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = closest(unknown, known);
  throw new AdkMetricsError("invalid_input", `there is no \`${unknown}\` here`, {
    path,
    help: meant === undefined ? `There are ${known.join(", ")}` : `Did you mean \`${meant}\`?`,
  });
}

/** The templates by the engine's names of their prompts. */
function checkedPrompts(prompts: PromptTemplates | undefined): RunOptions["prompts"] {
  const templates: RunOptions["prompts"] = {};
  if (prompts === undefined) return templates;
  if (!isObject(prompts)) throw unexpected("an object from metrics to prompts", prompts, "prompts");
  for (const [metric, given] of Object.entries(prompts)) {
    const path = `prompts: ${metric}`;
    const name = canonicalName(metric);
    const own = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
    if (own === undefined) {
      const known = Object.keys(PROMPTS);
      const meant = closest(name, known) ?? known.find((longer) => longer.startsWith(`${name}_`));
      throw new AdkMetricsError("invalid_input", `\`${metric}\` has no prompt`, {
        path,
        help:
          meant === undefined ? `Those that ask a judge have one: ${known.join(", ")}` : `Did you mean \`${meant}\`?`,
      });
    }
    const purposes = Object.keys(own);
    const [only] = purposes;
    if (typeof given === "string" && purposes.length > 1) {
      throw unexpected(`an object with prompts for ${purposes.join(" and ")}`, given, path);
    }
    const texts = typeof given === "string" ? { [only as string]: given } : given;
    checkKeys(texts, purposes, path);
    for (const [purpose, text] of Object.entries(texts)) {
      if (text === undefined) continue;
      if (typeof text !== "string") throw unexpected("a string", text, `${path}: ${purpose}`);
      templates[own[purpose] as string] = text;
    }
  }
  return templates;
}
