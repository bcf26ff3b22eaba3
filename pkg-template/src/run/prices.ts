/** Which price counts for whom. */

import { AdkMetricsError } from "../errors.js";
import type { EngineError, HeaderJudge } from "../generated/contract.js";
import type { Prices } from "../types.js";
import type { JudgeTarget } from "./target.js";

export type PriceList = Readonly<Record<string, Prices>>;

/** What results and messages call the service whose price is not one of tokens. */
const VERTEX = "Vertex AI";

type Payee = { readonly [Key in "model" | "functionName" | "panel"]?: JudgeTarget[Key] | undefined };

/**
 * The name whose price counts. A function alone knows which model it asks: it is priced by its own name, or else by the model
 * that it is asked for.
 *
 * @param named The model that the criterion names.
 */
export function pricedName({ model, functionName }: Payee, named: string, prices: PriceList = {}): string {
  if (model !== undefined) return model;
  return functionName !== undefined && Object.hasOwn(prices, functionName) ? functionName : named;
}

/** Who has no price: of a panel that has none as a whole, its members. */
export function withoutPrice(payee: Payee, named: string, prices: PriceList = {}): string[] {
  const { functionName, model, panel = [] } = payee;
  const name = pricedName(payee, named, prices);
  if (Object.hasOwn(prices, name)) return [];
  const who = model === undefined && functionName !== undefined ? functionText(functionName) : name;
  return (panel.length === 0 ? [who] : panel).filter((one) => !Object.hasOwn(prices, one));
}

/** Whose price is missing among those who are asked, and whether anybody has one. */
export function unpricedAmong(
  asked: readonly (readonly [payee: Payee, judge: HeaderJudge | undefined])[],
  prices: PriceList | undefined,
): { names: string[]; hasPrice: boolean } {
  const names = new Set<string>();
  let hasPrice = false;
  for (const [payee, judge] of prices === undefined ? [] : asked) {
    const missing = judge?.vertex === true ? [VERTEX] : withoutPrice(payee, judge?.model ?? "", prices);
    for (const name of missing) names.add(name);
    hasPrice ||= missing.length < Math.max(1, payee.panel?.length ?? 0);
  }
  return { names: [...names], hasPrice };
}

/** What messages call a custom function. */
export function functionText(name: string): string {
  return name === "" ? "a function" : `the function ${name}`;
}

/**
 * Checks that a budget in money has the price of everybody who is asked.
 *
 * @param does What they do, for the message: "which is asked".
 * @throws {AdkMetricsError} `invalid_input` if a price is missing.
 */
export function checkPrices(payee: Payee, named: string, prices: PriceList | undefined, does: string): void {
  if (prices === undefined) throw withoutPrices();
  const unpriced = withoutPrice(payee, named, prices);
  if (unpriced.length === 0) return;
  const { model, functionName, panel } = payee;
  const isFunction = model === undefined && functionName !== undefined && panel === undefined;
  const own = functionName === "" ? "" : `"${functionName}", or of `;
  const who = isFunction ? unpriced.join(", ") : `the model ${unpriced.join(", ")}`;
  throw new AdkMetricsError("invalid_input", `there is no price for ${who}, ${does}`, {
    path: "budget: prices",
    help: isFunction
      ? `A budget in money needs the price of ${own}"${named}", the model that the function is asked for`
      : "A budget in money needs the price of every model that is asked",
  });
}

/** The error of a budget in money without any price. */
export function withoutPrices(): AdkMetricsError {
  return new AdkMetricsError("invalid_input", "a budget in money needs `prices`", {
    path: "budget: cost",
    help: 'For example: { cost: 1, prices: { "gpt-6-luna": { inputPerMillion: 0.1, outputPerMillion: 0.5 } } }',
  });
}

/** The warning of a cost that is not all of it. */
export function unpricedWarning(names: readonly string[]): EngineError {
  return {
    code: "invalid_input",
    message: `the cost does not include ${names.join(", ")}: there is no price`,
    help: names.every((name) => name === VERTEX)
      ? "Vertex AI's evaluation service is not priced by tokens"
      : "Set one in `budget.prices`, or with --price on the command line",
  };
}
