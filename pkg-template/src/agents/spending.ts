/** What simulated users cost: their calls are counted as those of judges are, and kept within the same budget. */

import { AdkMetricsError } from "../errors.js";
import { emptyBudget, leftOf, wholeOf } from "../run/budget.js";
import { estimateWarning } from "../run/judge-progress.js";
import { checkPrices, functionText, pricedName, unpricedWarning, withoutPrice } from "../run/prices.js";
import { definedProperties } from "../lists.js";
import { countedTokens, withTokensOf } from "../judges/reply.js";
import { MOST_VERSIONS } from "../judges/stamp.js";
import type { TokenCounts } from "../generated/contract.js";
import type { Budget, EvalSetResult, JudgeReply, JudgeUsage, SimulatorUsage } from "../types.js";

/** Who plays the user. */
export interface Player {
  /** The model that is asked; of a custom function the one that it is asked for. */
  model: string;
  /** The name of the function, empty if it has none. */
  functionName?: string | undefined;
  /** Whether all its replies are recorded, so that no judge is asked and nothing is spent. */
  isReplay?: boolean | undefined;
}

/** What is summed up. `cost` is there once somebody has a price. */
type Used = Omit<SimulatorUsage, "models" | "unpriced">;

/** What was counted, as a journal keeps it. */
export interface SpendingState {
  used: Used;
  unpriced?: readonly string[];
  players: readonly (readonly [name: string, versions: readonly string[]])[];
  models: readonly string[];
  warnings: readonly string[];
}

/** What results call a player; as they call judges. */
function playerName({ model, functionName }: Player): string {
  return functionName === undefined ? model : functionText(functionName);
}

/** Who is asked, to price lists. */
function payeeOf({ model, functionName }: Player) {
  return functionName === undefined ? { model } : { model: undefined, functionName };
}

/** What was spent of a budget. */
export class Spending {
  /** The names of the models that were asked. */
  readonly models = new Set<string>();
  /** Who was asked, as results say it: models, and functions with the versions that their replies name. */
  readonly #players = new Map<string, Set<string>>();
  /** Who was asked and has no price, although there are prices. */
  readonly #unpriced = new Set<string>();
  /** What to know of them. */
  readonly #warnings = new Set<string>();
  readonly #budget: Budget;
  /** What this is a part of: its budget holds, and it counts everything too. */
  readonly #whole: Spending | undefined;
  readonly #parts = new Map<string, Spending>();
  readonly #used: Used = {
    calls: 0,
    answered: 0,
    failed: 0,
    retried: 0,
    cached: 0,
    lost: 0,
    unreported: 0,
    inputTokens: 0,
    outputTokens: 0,
  };

  constructor(budget: Budget = {}, whole?: Spending) {
    this.#budget = budget;
    this.#whole = whole;
  }

  /** A part of this, by its name: it counts apart what is counted here too. */
  part(name: string): Spending {
    const part = this.#parts.get(name) ?? new Spending(this.#budget, this);
    this.#parts.set(name, part);
    return part;
  }

  /**
   * @throws {AdkMetricsError} `invalid_input` for a budget that allows no call, or one in money without the price of a
   * model that will be.
   */
  check(player: Player): void {
    if (player.isReplay === true) return;
    const { timeMs: _, ...limits } = this.#budget;
    const spent = emptyBudget(leftOf(this.#budget, limits));
    if (spent !== undefined) {
      throw new AdkMetricsError("invalid_input", `${spent}, so ${playerName(player)} cannot play the user`, {
        path: "budget",
        help: "Raise the budget, or leave out the cases with a scenario",
      });
    }
    if (this.#budget.cost === undefined) return;
    checkPrices(payeeOf(player), player.model, this.#budget.prices, "which plays the user");
  }

  /**
   * Counts a call that is about to be made; none of a player whose replies are recorded.
   *
   * @param player The model; the function, where one is asked that alone knows which model it asks.
   * @throws {AdkMetricsError} `budget_exceeded` if nothing is left for it.
   */
  call(player: Player, isRepeated: boolean): void {
    this.#whole?.call(player, isRepeated);
    const { calls = Infinity, tokens = Infinity, cost = Infinity, prices } = this.#budget;
    const used = this.#used;
    const unpriced = prices && withoutPrice(payeeOf(player), player.model, prices);
    if (player.isReplay !== true) {
      const whole = wholeOf(this.#budget);
      const amount = (limit: number, most = limit, unit = most === 1 ? "call" : "calls") =>
        `${most} ${unit}${most === limit ? "" : ` (${Number((most - limit).toPrecision(6))} spent before)`}`;
      const spent = [
        used.calls < calls ? "" : amount(calls, whole.calls),
        used.inputTokens + used.outputTokens < tokens ? "" : amount(tokens, whole.tokens, "tokens"),
        (used.cost ?? 0) < cost ? "" : amount(cost, whole.cost, "in money"),
      ].find((what) => what !== "");
      if (spent !== undefined) {
        throw new AdkMetricsError("budget_exceeded", `the budget of ${spent} was spent before the user answered`);
      }
      used.calls += 1;
      if (isRepeated) used.retried += 1;
      for (const name of unpriced ?? []) this.#unpriced.add(name);
    }
    if (unpriced?.length === 0) used.cost ??= 0;
    if (player.functionName === undefined) this.models.add(player.model);
    this.#versionsOf(playerName(player));
  }

  /** The versions of a model that replies of a player name; it counts as asked. */
  #versionsOf(player: string): Set<string> {
    const versions = this.#players.get(player) ?? new Set();
    this.#players.set(player, versions);
    return versions;
  }

  /**
   * Counts what a reply took; what that does not say is estimated as the engine does, tokens of four bytes.
   *
   * @param reply Undefined if the message is lost.
   * @param isReplay Whether no call was made: the reply is recorded, or the recording lacks it.
   */
  reply(player: Player, prompt: string, reply: JudgeReply | undefined, isReplay: boolean): void {
    this.#whole?.reply(player, prompt, reply, isReplay);
    const used = this.#used;
    // A function handed on what is recorded.
    if (isReplay && player.isReplay !== true) used.calls -= 1;
    if (reply === undefined) {
      used.lost += 1;
      return;
    }
    const { modelVersion } = reply;
    if (player.functionName !== undefined && modelVersion !== undefined) {
      this.#versionsOf(playerName(player)).add(modelVersion);
    }
    if (isReplay) {
      used.cached += 1;
      return;
    }
    const { inputTokens, outputTokens, isEstimate } = countedTokens(prompt, reply);
    used.answered += 1;
    if (isEstimate) used.unreported += 1;
    this.#charge(player, { inputTokens, outputTokens });
  }

  /** Counts what calls of a player took that failed. */
  charge(player: Player, usage: TokenCounts | undefined): void {
    if (usage === undefined || player.isReplay === true) return;
    this.#whole?.charge(player, usage);
    this.#charge(player, withTokensOf(usage));
  }

  #charge(player: Player, { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): void {
    const used = this.#used;
    used.inputTokens += inputTokens;
    used.outputTokens += outputTokens;
    const price = this.#budget.prices?.[pricedName(payeeOf(player), player.model, this.#budget.prices)];
    if (price === undefined) return;
    used.cost ??= 0;
    used.cost += (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1e6;
  }

  /** Keeps what the results have to say of a model. */
  warn(warning: string): void {
    this.#whole?.warn(warning);
    this.#warnings.add(warning);
  }

  /** What was spent. */
  get used(): SimulatorUsage {
    const used = this.#used;
    // A call that was cancelled has no answer either.
    const players = [...this.#players].map(([name, versions]) =>
      versions.size === 0 ? name : `${name} (${[...versions].sort().slice(0, MOST_VERSIONS).join(", ")})`,
    );
    const unpriced = this.#unpriced.size === 0 ? {} : { unpriced: [...this.#unpriced].sort() };
    return { models: players.sort(), ...used, failed: used.calls - used.answered, ...unpriced };
  }

  /** Counts what others spent. */
  add(usage: JudgeUsage | SimulatorUsage | undefined): void {
    if (usage === undefined) return;
    if ("models" in usage) for (const player of usage.models) this.#versionsOf(player);
    for (const name of usage.unpriced ?? []) this.#unpriced.add(name);
    this.#sum(usage);
  }

  #sum({ cost, ...counts }: Partial<Used>): void {
    const used = this.#used;
    const { cost: _, ...known } = used;
    for (const key of Object.keys(known) as (keyof typeof known)[]) used[key] += counts[key] ?? 0;
    if (cost !== undefined) used.cost = (used.cost ?? 0) + cost;
  }

  /** All that was counted, as JSON has it. */
  get state(): SpendingState {
    const players = [...this.#players].map(([name, versions]) => [name, [...versions]] as const);
    return {
      used: { ...this.#used },
      unpriced: [...this.#unpriced],
      players,
      models: [...this.models],
      warnings: [...this.#warnings],
    };
  }

  /** Counts what was counted before, by another. */
  restore(state: SpendingState): void {
    this.#whole?.restore(state);
    this.#sum(state.used);
    for (const name of state.unpriced ?? []) this.#unpriced.add(name);
    for (const [player, versions] of state.players) {
      const known = this.#versionsOf(player);
      for (const version of versions) known.add(version);
    }
    for (const model of state.models) this.models.add(model);
    for (const warning of state.warnings) this.#warnings.add(warning);
  }

  /** What is left of the budget. */
  left(): Budget {
    const { calls, tokens, cost } = this.#budget;
    const used = this.#used;
    const rest = (limit: number | undefined, spent: number) =>
      limit === undefined ? limit : Math.max(0, limit - spent);
    const left = {
      ...this.#budget,
      calls: rest(calls, used.calls),
      tokens: rest(tokens, used.inputTokens + used.outputTokens),
      cost: rest(cost, used.cost ?? 0),
    };
    return leftOf(this.#budget, definedProperties(left));
  }

  /** Says in the results what was spent. */
  noteIn(result: EvalSetResult): void {
    const { calls, cached, lost, answered, unreported } = this.#used;
    if (calls + cached + lost > 0) result.simulatorUsage = this.used;
    const estimated = estimateWarning("the simulated user", answered, unreported, this.#budget);
    const known = (result.warnings ?? []).map(({ message }) => message);
    const warnings = [...this.#warnings].filter((message) => !known.includes(message));
    const more = [
      ...(estimated === undefined ? [] : [estimated]),
      ...(this.#unpriced.size === 0 ? [] : [unpricedWarning([...this.#unpriced])]),
    ];
    if (warnings.length === 0 && more.length === 0) return;
    result.warnings = [
      ...warnings.map((message) => ({ code: "invalid_input" as const, message })),
      ...more.filter(({ message }) => !known.includes(message)),
      ...(result.warnings ?? []),
    ];
  }
}
