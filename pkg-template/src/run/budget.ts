/** What a run may spend on judges: the option of users, what is left of it after others, and how messages speak of it. */

import { isObject, unexpected } from "../engine/values.js";
import { BUDGET_RULES, PRICE_RULES } from "../generated/options.js";
import { judgeIdentityOf } from "../judges/default.js";
import { checkKeys } from "../known-options.js";
import type { Budget, EvaluatorOptions, Prices } from "../types.js";
import { checkRule, ruled } from "./rules.js";

/** What limits the judges. Nobody is paid for recorded replies, so only the time limits these. */
export function judgeBudget(options: EvaluatorOptions): Budget {
  const { vertex, budget = {} } = options;
  if (vertex !== undefined || judgeIdentityOf(options).isReplay !== true) return budget;
  const { calls: _calls, tokens: _tokens, cost: _cost, ...others } = budget;
  return others;
}

export function checkedBudget(budget: Budget): Budget {
  checkKeys(budget, [...Object.keys(BUDGET_RULES), "prices"], "budget");
  const { prices } = budget;
  // No limit may also be given as one without an end.
  const calls = budget.calls === Infinity ? { calls: undefined } : {};
  const limits = ruled<Budget>({ ...budget, ...calls }, BUDGET_RULES, "budget: ");
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

/** Of which budget another is what is left; beside it, since only messages tell of it. */
const wholes = /* @__PURE__ */ new WeakMap<Budget, Budget>();

/** Notes that a budget is what is left of another. */
export function leftOf(whole: Budget, left: Budget): Budget {
  wholes.set(left, wholeOf(whole));
  return left;
}

/**
 * Names the whole budget in a message of the engine, which knows what is left of it: `the budget of 10 calls for judges (7 spent
 * before) is spent`. Undefined for an unspent budget.
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

/** The whole budget that this is the rest of; itself, if nothing was spent. */
export function wholeOf(budget: Budget): Budget {
  return wholes.get(budget) ?? budget;
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
