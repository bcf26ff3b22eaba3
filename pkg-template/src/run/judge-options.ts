import { closest } from "../closest.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import type { RunOptions } from "../generated/contract.js";
import { PROMPTS } from "../generated/metrics.js";
import { BUDGET_RULES, PRICE_RULES, RETRY_RULES } from "../generated/options.js";
import { judgeIdentityOf } from "../judges/default.js";
import { checkJudge } from "../judges/judge.js";
import { vertexEndpoint } from "../judges/provider-endpoint.js";
import { checkKeys } from "../known-options.js";
import { definedProperties } from "../lists.js";
import { canonicalName } from "../metric-names.js";
import type { Budget, EvaluatorOptions, Prices, PromptTemplates, RetryOptions, VertexOptions } from "../types.js";
import { isObject, unexpected } from "../engine/values.js";
import { checkRule, ruled } from "./rules.js";

/** The part of a run's options that is about judges and takes more than a rule for each. */
export type JudgeRunOptions = Pick<RunOptions, "vertex" | "judgeModel" | "panel" | "prompts" | "retry" | "budget">;

/** Of which budget another is what is left; beside it, since only messages tell of it. */
const wholes = /* @__PURE__ */ new WeakMap<Budget, Budget>();

/** Notes that a budget is what is left of another. */
export function leftOf(whole: Budget, left: Budget): Budget {
  wholes.set(left, wholeOf(whole));
  return left;
}

/**
 * Names the whole budget in a message of the engine, which knows what is left of it: `the budget of 10 calls for judges (7 spent
 * before) is spent`. Undefined for a budget of which nothing was spent.
 */
export function wholeNamed(left: Budget | undefined): ((message: string) => string) | undefined {
  const whole = left && wholes.get(left);
  if (whole === undefined) return undefined;
  return (message) =>
    message.replace(
      /(more than )?the budget of ([\d.e+-]+)( calls?| tokens|) for judges/,
      (all, more: string | undefined, amount: string, unit: string) => {
        const most = (unit === "" ? whole.cost : unit === " tokens" ? whole.tokens : whole.calls) ?? 0;
        const before = most - Number(amount);
        if (before <= 0) return all;
        const units = unit.startsWith(" call") ? (most === 1 ? " call" : " calls") : unit;
        const start = more === undefined ? "" : `${more}is left of `;
        return `${start}the budget of ${most}${units} for judges (${Number(before.toPrecision(6))} spent before)`;
      },
    );
}

/** The budget of which this is what is left; itself, if nothing was spent of it. */
export function wholeOf(budget: Budget): Budget {
  return wholes.get(budget) ?? budget;
}

/**
 * Reads what the options say of judges.
 *
 * @throws {AdkMetricsError} `invalid_input` for what is not as its type says.
 */
export function judgeOptions(options: EvaluatorOptions): JudgeRunOptions {
  const { judge, vertex, prompts, retry, cache } = options;
  const budget = judgeBudget(options);
  if (judge !== undefined) checkJudge(judge);
  if (cache !== undefined && !(typeof cache?.get === "function" && typeof cache.set === "function")) {
    throw unexpected("an object with `get` and `set`", cache, "cache");
  }
  if (vertex !== undefined) checkVertex(vertex);
  const { model, panel = [] } = judgeIdentityOf(options);
  return {
    vertex: vertex !== undefined,
    judgeModel: model,
    panel: [...panel],
    prompts: checkedPrompts(prompts),
    retry: retry === undefined ? DEFAULT_RETRY : checkedRetry(retry),
    budget: checkedBudget(budget),
  };
}

/** Checks where Vertex AI is, under the name that an evaluation has for it. */
function checkVertex(vertex: VertexOptions): void {
  try {
    vertexEndpoint(vertex);
  } catch (error) {
    if (!isAdkMetricsError(error)) throw error;
    const { code, message, path = "options", help } = error;
    const details = definedProperties({ path: path.replace(/^options/, "vertex"), help });
    throw new AdkMetricsError(code, message, details);
  }
}

/** What limits the judges. Nobody is paid for recorded replies, so only the time limits these. */
export function judgeBudget(options: EvaluatorOptions): Budget {
  const { vertex, budget = {} } = options;
  if (vertex !== undefined || judgeIdentityOf(options).isReplay !== true) return budget;
  const { calls: _calls, tokens: _tokens, cost: _cost, ...others } = budget;
  return others;
}

/** That a budget leaves nothing from the start: `the budget of calls is 0`; nothing if it does. */
export function emptyBudget(budget: Budget = {}): string | undefined {
  const { calls = 1, tokens = 1, cost = 1, timeMs = 1 } = budget;
  const whole = wholeOf(budget);
  const said = (most: number | undefined, unit: string, name = ` ${unit}`) =>
    most === undefined || most <= 0 ? `the budget of ${unit} is 0` : `the budget of ${most}${name} is spent`;
  if (calls < 1) return said(whole.calls, "calls");
  if (tokens < 1) return said(whole.tokens, "tokens");
  if (cost <= 0) return said(whole.cost, "money", "");
  return timeMs <= 0 ? "the budget of time is 0" : undefined;
}

const DEFAULT_RETRY = /* @__PURE__ */ ruled<RetryOptions>({}, RETRY_RULES);

export function checkedRetry(retry: RetryOptions, path = "retry"): RetryOptions {
  checkKeys(retry, Object.keys(RETRY_RULES), path);
  return ruled<RetryOptions>(retry, RETRY_RULES, `${path}: `);
}

export function checkedBudget(budget: Budget): Budget {
  checkKeys(budget, [...Object.keys(BUDGET_RULES), "prices"], "budget");
  const { prices } = budget;
  // No limit may also be given as one without an end.
  const calls = budget.calls === Infinity ? { calls: undefined } : {};
  const limits = ruled<Budget>({ ...budget, ...calls }, BUDGET_RULES, "budget: ");
  if (limits.cost !== undefined && prices === undefined) {
    throw new AdkMetricsError("invalid_input", "a budget in money needs `prices`", {
      path: "budget: cost",
      help: 'For example: { cost: 1, prices: { "gpt-6-luna": { inputPerMillion: 0.1, outputPerMillion: 0.5 } } }',
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
        help: meant === undefined ? `The metrics with a prompt are ${known.join(", ")}` : `Did you mean \`${meant}\`?`,
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
