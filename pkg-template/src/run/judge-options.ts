import { closest } from "../closest.js";
import { AdkMetricsError } from "../errors.js";
import type { RunOptions } from "../generated/contract.js";
import { PROMPTS } from "../generated/metrics.js";
import { BUDGET_RULES, PRICE_RULES, RETRY_RULES } from "../generated/options.js";
import { judgeIdentityOf } from "../judges/default.js";
import { checkJudge } from "../judges/judge.js";
import { vertexEndpoint } from "../judges/provider-endpoint.js";
import { checkKeys } from "../known-options.js";
import { canonicalName } from "../metric-names.js";
import type { Budget, EvaluatorOptions, Prices, PromptTemplates, RetryOptions } from "../types.js";
import { isObject, unexpected } from "../engine/values.js";
import { checkRule, ruled } from "./rules.js";

/** The part of a run's options that is about judges and takes more than a rule for each. */
export type JudgeRunOptions = Pick<RunOptions, "vertex" | "judgeModel" | "panel" | "prompts" | "retry" | "budget">;

/**
 * Reads what the options say of judges.
 *
 * @throws {AdkMetricsError} `invalid_input` for what is not as its type says.
 */
export function judgeOptions(options: EvaluatorOptions): JudgeRunOptions {
  const { judge, vertex, prompts, retry, budget, cache } = options;
  if (judge !== undefined) checkJudge(judge);
  if (cache !== undefined && !(typeof cache?.get === "function" && typeof cache.set === "function")) {
    throw unexpected("an object with `get` and `set`", cache, "cache");
  }
  if (vertex !== undefined) vertexEndpoint(vertex);
  const { model, panel = [] } = judgeIdentityOf(options);
  return {
    vertex: vertex !== undefined,
    judgeModel: model,
    panel: [...panel],
    prompts: checkedPrompts(prompts),
    retry: retry === undefined ? DEFAULT_RETRY : checkedRetry(retry),
    budget: budget === undefined ? {} : checkedBudget(budget),
  };
}

/** Which limit of a budget leaves nothing from the start, in words; nothing if none does. */
export function emptyBudget(budget: Budget | undefined): string | undefined {
  const { calls = 1, tokens = 1, cost = 1, timeMs = 1 } = budget ?? {};
  if (calls < 1) return "calls";
  if (tokens < 1) return "tokens";
  if (cost <= 0) return "money";
  return timeMs <= 0 ? "time" : undefined;
}

const DEFAULT_RETRY = /* @__PURE__ */ ruled<RetryOptions>({}, RETRY_RULES);

function checkedRetry(retry: RetryOptions): RetryOptions {
  checkKeys(retry, Object.keys(RETRY_RULES), "retry");
  return ruled<RetryOptions>(retry, RETRY_RULES, "retry: ");
}

function checkedBudget(budget: Budget): Budget {
  checkKeys(budget, [...Object.keys(BUDGET_RULES), "prices"], "budget");
  const { prices } = budget;
  const limits = ruled<Budget>(budget, BUDGET_RULES, "budget: ");
  if (limits.cost !== undefined && prices === undefined) {
    throw new AdkMetricsError("invalid_input", "a budget in money needs `prices`", {
      path: "budget: cost",
      help: 'For example: { cost: 1, prices: { "gpt-4.1-mini": { inputPerMillion: 0.4, outputPerMillion: 1.6 } } }',
    });
  }
  return prices === undefined ? limits : { ...limits, prices: checkedPrices(prices) };
}

function checkedPrices(prices: Readonly<Record<string, Prices>>): Record<string, Prices> {
  if (!isObject(prices)) throw unexpected("an object from models to prices", prices, "budget: prices");
  const names = Object.keys(PRICE_RULES);
  const checked = Object.entries(prices).map(([model, price]) => {
    const path = `budget: prices: ${model}`;
    checkKeys(price, names, path);
    const amounts = { ...price };
    for (const name of names as (keyof Prices)[]) checkRule(amounts[name], PRICE_RULES[name], `${path}: ${name}`);
    return [model, amounts] as const;
  });
  return Object.fromEntries(checked);
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
          meant === undefined
            ? `The metrics that ask a judge have one: ${known.join(", ")}`
            : `Did you mean \`${meant}\`?`,
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
