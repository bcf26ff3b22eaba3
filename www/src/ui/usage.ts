/** The usage of judges and simulated users, for display. */

import { amountText, costText, count, CURRENCY } from "./format.js";
import type { SetSummary } from "../worker/protocol.js";

/** A line of a run's summary. */
export type Fact = readonly [name: string, value: string];

type Usage = NonNullable<SetSummary["judgeUsage"] | SetSummary["simulatorUsage"]>;

/** The usage of judges and simulated users in a run, and the users' models. Zeros are left out. */
export function usageFacts(sets: readonly Pick<SetSummary, "judgeUsage" | "simulatorUsage" | "config">[]): Fact[] {
  const isOfThisPage = areOfThisPage(sets);
  const judges = sets.flatMap(({ judgeUsage }) => judgeUsage ?? []);
  const users = sets.flatMap(({ simulatorUsage }) => simulatorUsage ?? []);
  const models = [...new Set(users.flatMap(({ models }) => models))];
  return [
    ...amount("Calls", sum(judges, "calls")),
    ...amount("Retries", sum(judges, "retried")),
    ...amount("Skipped (vote decided)", sum(judges, "saved")),
    ...riskFacts(judges),
    ...amount("Replies reused", sum(judges, "cached")),
    ...amount("Unreadable replies", sum(judges, "unread")),
    ...amount("Samples without a reply", sum(judges, "lost") - sum(judges, "unsent")),
    ...amount("Samples not asked", sum(judges, "unsent")),
    ...tokenFacts(judges),
    ...costFacts("Cost", judges, isOfThisPage),
    ...(users.length > 0 ? [["Simulated user", models.join(", ") || "a model"] as const] : []),
    ...amount("Calls for simulated users", sum(users, "calls")),
    ...amount("Replies reused for simulated users", sum(users, "cached")),
    ...amount("Simulated users without a reply", sum(users, "lost")),
    ...tokenFacts(users).map(([name, value]): Fact => [`${name} for simulated users`, value]),
    ...costFacts("Cost of simulated users", users, isOfThisPage),
  ];
}

/** Whether they were scored here: the name of another's config is unknown. */
export function areOfThisPage(sets: readonly Pick<SetSummary, "config">[]): boolean {
  return sets.some(({ config }) => config !== undefined);
}

/** Input and output tokens, and for how many answers they are estimated, since some servers do not report them. */
export function tokenFacts(usages: readonly Usage[]): Fact[] {
  const estimated = sum(usages, "unreported");
  const [input, output] = [sum(usages, "inputTokens"), sum(usages, "outputTokens")];
  const remark = estimated > 0 ? ` (estimated for ${count(estimated, "answer")})` : "";
  return [...amount("Tokens in", input, remark), ...amount("Tokens out", output)];
}

/** How many verdicts rest on a risk, and what it saved. */
export function riskFacts(usages: readonly { verdictsAtRisk?: number; savedAtRisk?: number }[]): Fact[] {
  const saved = count(sum(usages, "savedAtRisk"), "sample");
  return amount("Verdicts at a risk", sum(usages, "verdictsAtRisk"), ` (saved at least ${saved})`);
}

function amount(name: string, value: number, remark = ""): Fact[] {
  return value > 0 ? [[name, amountText(value) + remark]] : [];
}

/** What was spent, and whose price is missing. */
export function costFacts(name: string, usages: readonly Usage[], isOfThisPage: boolean): Fact[] {
  const costs = usages.flatMap(({ cost }) => cost ?? []);
  const unpriced = [...new Set(usages.flatMap((usage) => usage.unpriced ?? []))].join(", ");
  if (costs.length === 0) return unpriced === "" ? [] : [[name, `unknown (no price for ${unpriced})`]];
  const amount = costText(costs.reduce((all, cost) => all + cost, 0)) + (unpriced && ` without ${unpriced} (no price)`);
  // Only who scored results elsewhere knows the currency of their prices.
  return [[name, isOfThisPage ? `${CURRENCY} ${amount}` : `${amount}, in the currency of the prices`]];
}

function sum<K extends string>(usages: readonly { readonly [key in K]?: number }[], key: K): number {
  return usages.reduce((all, usage) => all + (usage[key] ?? 0), 0);
}
