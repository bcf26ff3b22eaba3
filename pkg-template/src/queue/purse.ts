/** What the judges of all workers share: one budget, and the replies. */

import { randomUUID } from "node:crypto";
import { AdkMetricsError } from "../errors.js";
import { untilClaimed } from "../judges/cache-claims.js";
import { memoryCache } from "../judges/cache.js";
import { identified, identityOf } from "../judges/judge.js";
import { countedTokens, isReplayed, replyOf, unrecordedReply, usageOfError, withTokensOf } from "../judges/reply.js";
import { isUnsent } from "../judges/unsent.js";
import { pricedName } from "../run/prices.js";
import type { Budget, Judge, JudgeCache, JudgeReply, JudgeRequest, VertexOptions } from "../types.js";
import { amountText } from "../report/text.js";
import type { Store } from "./store.js";

export type SharedBudget = Omit<Budget, "timeMs">;

/** What was spent. */
export type Spent = Record<"calls" | "tokens" | "cost", number>;

const KINDS = ["calls", "tokens", "cost"] as const;

/** @returns What was spent so far. */
export async function spentOf(store: Store): Promise<Spent> {
  const known = new Map(await store.all("spent"));
  const [calls, tokens, cost] = KINDS.map((kind) => Number(known.get(kind) ?? 0)) as [number, number, number];
  return { calls, tokens, cost };
}

export async function budgetIn(store: Store): Promise<SharedBudget> {
  return JSON.parse((await store.get("plan", "budget")) ?? "{}") as SharedBudget;
}

/** `the budget of 1,000 calls is spent`, if one is. */
export function spentText(spent: Spent, budget: SharedBudget): string | undefined {
  const kind = KINDS.find((one) => spent[one] >= (budget[one] ?? Infinity));
  if (kind === undefined) return undefined;
  const what = kind === "cost" ? "in money" : kind;
  return `the budget of ${amountText(budget[kind], 4)} ${what} is spent`;
}

/** The budget of all workers, as one of them has it. */
export class Purse {
  readonly #store: Store;
  readonly #onSpent: () => void;
  readonly #judges = new WeakMap<Judge, Judge>();
  #budget: SharedBudget;
  /** Why calls were refused. */
  readonly #refusals = new Set<string>();

  constructor(store: Store, budget: SharedBudget, onSpent: () => void) {
    this.#store = store;
    this.#budget = budget;
    this.#onSpent = onSpent;
  }

  /** What an evaluation needs of it: prices, which every model must have if money is limited. */
  get ofEvaluation(): { budget?: Budget } {
    const { prices, cost } = this.#budget;
    return prices === undefined
      ? {}
      : { budget: { prices, ...(cost === undefined ? {} : { cost: Number.MAX_VALUE }) } };
  }

  /** The same judge, asked as long as the budget lasts. */
  judge(judge: Judge): Judge {
    const identity = identityOf(judge);
    if (identity.isReplay === true) return judge;
    const known = this.#judges.get(judge);
    if (known !== undefined) return known;
    const paying: Judge = async (request, options) => {
      await this.#pay();
      let reply: JudgeReply | string;
      let read: JudgeReply;
      try {
        reply = await judge(request, options);
        read = replyOf(reply);
      } catch (error) {
        const usage = usageOfError(error);
        const unrecorded = unrecordedReply(error);
        if (unrecorded !== undefined) await this.#charge(judge, request, unrecorded);
        else if (isUnsent(error)) await this.#refund();
        else if (usage !== undefined) await this.#count(judge, request, withTokensOf(usage));
        throw error;
      }
      await this.#charge(judge, request, read);
      return reply;
    };
    const { panelFor } = identity;
    const made = panelFor && ((models: readonly string[]) => this.judge(panelFor(models)));
    identified(paying, { ...identity, ...(made === undefined ? {} : { panelFor: made }) });
    this.#judges.set(judge, paying);
    return paying;
  }

  /** The same evaluation service, asked as long as the budget lasts. */
  vertex(options: VertexOptions): VertexOptions {
    const { fetch: send = fetch } = options;
    const paying: typeof fetch = async (...request) => {
      await this.#pay();
      return await send(...request);
    };
    return { ...options, fetch: paying };
  }

  /** Whether a text says that a call was refused. */
  isRefusal(text: string | undefined): boolean {
    return [...this.#refusals].some((refusal) => text?.includes(refusal) === true);
  }

  /** Takes a call from the budget. Workers ask at the same time, so each counts before it asks. */
  async #pay(): Promise<void> {
    const sums = (await this.#store.add("spent", { calls: 1, tokens: 0, cost: 0 })) as Spent;
    const before = { ...sums, calls: sums.calls - 1 };
    // It may have been raised meanwhile.
    if (spentText(before, this.#budget) !== undefined) this.#budget = await budgetIn(this.#store);
    const reason = spentText(before, this.#budget);
    if (reason === undefined) return;
    await this.#refund();
    this.#refusals.add(reason);
    this.#onSpent();
    throw new AdkMetricsError("budget_exceeded", reason, { retryable: false });
  }

  /** Gives back a call that was not made: it was refused, or its reply is recorded. */
  async #refund(): Promise<void> {
    await this.#store.add("spent", { calls: -1 });
  }

  /** Counts what a reply took: nothing, if it is recorded. */
  async #charge(judge: Judge, request: JudgeRequest, reply: JudgeReply): Promise<void> {
    if (isReplayed(reply)) await this.#refund();
    else await this.#count(judge, request, countedTokens(request.prompt, reply));
  }

  async #count(
    judge: Judge,
    { model }: JudgeRequest,
    { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
  ): Promise<void> {
    const price = this.#budget.prices?.[pricedName(identityOf(judge), model, this.#budget.prices)];
    const cost =
      price === undefined ? 0 : (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1e6;
    await this.#store.add("spent", { tokens: inputTokens + outputTokens, cost });
  }
}

/**
 * The replies of all workers. Of those who ask the same, one asks.
 *
 * @param leaseMs After how long a worker that does not renew its claim counts as dead.
 */
export function sharedReplies(store: Store, leaseMs: number): JudgeCache {
  // Calls of this process do not all look for the claim of the one that asks.
  const { claim: claimHere } = memoryCache() as Required<JudgeCache>;
  const owner = randomUUID();
  return {
    async get(key) {
      const found = await store.get("replies", key);
      return found === undefined ? undefined : replyOf(JSON.parse(found));
    },
    set: (key, reply) => store.set("replies", key, JSON.stringify(replyOf(reply))),
    async claim(key, signal) {
      const claim = (): Promise<boolean> => store.claim(key, owner, leaseMs);
      const freeHere = await claimHere(key, signal);
      try {
        await untilClaimed(claim, signal);
      } catch (error) {
        await freeHere();
        throw error;
      }
      const renewal = setInterval(() => void claim().catch(() => {}), leaseMs / 3);
      return async () => {
        clearInterval(renewal);
        try {
          await store.release(key, owner);
        } finally {
          await freeHere();
        }
      };
    },
  };
}
