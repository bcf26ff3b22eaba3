/** What a command may spend on models, and what they cost. */

import type { PriceList } from "../run/prices.js";
import type { Budget, EvalSetResult, Prices } from "../types.js";
import { type Arguments, countOf } from "./arguments.js";
import type { Useless } from "./judging.js";
import { Mistake } from "./mistakes.js";
import { warn } from "./process.js";
import { definedProperties } from "../lists.js";

const EXAMPLE = "--price gpt-6-luna=0.10,0.50";

/**
 * The budget that the arguments give.
 *
 * @throws {Mistake} for anything but an amount.
 */
export function budgetOf(given: Arguments): Budget {
  const [calls, tokens, cost] = [given.one("max-calls"), given.one("max-tokens"), given.one("max-cost")];
  const prices = pricesOf(given.all("price"));
  return {
    ...(calls === undefined ? {} : { calls: countOf("max-calls", calls) }),
    ...(tokens === undefined ? {} : { tokens: countOf("max-tokens", tokens) }),
    ...(cost === undefined ? {} : { cost: amountOf("max-cost", cost) }),
    ...definedProperties({ prices }),
  };
}

/**
 * The budget of those who are asked: without anybody who costs something, one in money has no effect.
 *
 * @throws {Mistake} for a budget in money without prices.
 */
export function budgetFor(isAsked: boolean, budget: Budget): Budget {
  const { cost, ...others } = budget;
  if (cost === undefined || budget.prices !== undefined) return budget;
  if (!isAsked) return others;
  throw new Mistake("--max-cost needs the price of every model that is asked", { help: EXAMPLE });
}

function amountOf(option: string, value: string): number {
  const amount = Number(value);
  if (/^[\d.]+$/.test(value) && Number.isFinite(amount)) return amount;
  throw new Mistake(`--${option} cannot be \`${value}\``, { help: "Expected a number from 0 up, such as 1.50" });
}

function pricesOf(given: readonly string[]): Record<string, Prices> | undefined {
  if (given.length === 0) return undefined;
  const prices = new Map<string, Prices>();
  for (const price of given) {
    const [, model = "", input = "", output = ""] = /^(.+)=([\d.]+),([\d.]+)$/.exec(price) ?? [];
    const [inputPerMillion, outputPerMillion] = [Number(input), Number(output)];
    if (model === "" || !Number.isFinite(inputPerMillion) || !Number.isFinite(outputPerMillion)) {
      throw new Mistake(`--price cannot be \`${price}\``, {
        help: `Expected a model with the prices of a million input tokens and a million output tokens: ${EXAMPLE}`,
      });
    }
    if (prices.has(model)) throw new Mistake(`--price gives two prices for ${model}`);
    prices.set(model, { inputPerMillion, outputPerMillion });
  }
  return Object.fromEntries(prices);
}

/** The names whose prices counted for judges, or would have. */
export function pricedInResult(
  { judges = [], judgeUsage }: Pick<EvalSetResult, "judges" | "judgeUsage">,
  prices: PriceList = {},
): string[] {
  return judges.flatMap(({ model, function: functionName = "", panel = [] }) => {
    // A panel is priced as a whole, or by its members.
    if (model !== undefined) return panel.length === 0 || Object.hasOwn(prices, model) ? [model] : panel;
    // A function is priced by its own name, or else by that of the model that it was asked for.
    if (Object.hasOwn(prices, functionName)) return [functionName];
    return judgeUsage?.unpriced === undefined ? Object.keys(prices) : [];
  });
}

/** The prices for what is not asked. */
export function uselessPrices(prices: PriceList = {}, models: ReadonlySet<string>, what: string): Useless[] {
  const help = models.size === 0 ? undefined : `Asked: ${[...models].join(", ")}`;
  const unused = Object.keys(prices).filter((model) => !models.has(model));
  return unused.map((model) => ({ message: `--price names ${model}, which ${what}`, help }));
}

/** Warns on stderr of prices for what was not asked. */
export function sayPrices(prices: PriceList | undefined, models: ReadonlySet<string>): void {
  for (const { message, help } of uselessPrices(prices, models, "was not asked")) warn(message, undefined, help);
}
