/** `--dry-run`: what judges would be asked, and what that would cost, before anything is asked or run. */

import {
  estimated,
  type CallEstimate,
  type JudgeEstimateRow,
  LIKELY_REPLY_TOKENS,
  MOST_REPLY_TOKENS,
} from "../estimate.js";
import { amountText, count } from "../report/text.js";
import { functionText, pricedName } from "../run/prices.js";
import type { Budget, EvaluateRequest, JudgeCache, Prices } from "../types.js";
import type { Arguments } from "./arguments.js";
import { uselessPrices } from "./budget.js";
import { reportUseless } from "./judging.js";
import { ExitStatus, note, warn, writeResult } from "./process.js";

/** What judges would be asked about one evalset. */
export interface Foreseen {
  request?: EvaluateRequest;
  /** Whether the agent is still to be run: its answers are taken to be those that are expected. */
  isRun: boolean;
  /** The cases that nothing is known about before an agent is run. */
  unknown: number;
}

/** What it takes to foresee. */
interface Foresight {
  model: string | undefined;
  budget: Budget;
  cache: JudgeCache | undefined;
  /** What to know of the models of simulated users. */
  users: readonly string[];
}

const BOUNDS = ["least", "likely", "most"] as const;

/** Prints what the judges of all evalsets would be asked, and what it would cost. */
export async function dryRun(
  foreseen: readonly Foreseen[],
  { model, budget, cache, users }: Foresight,
  given: Arguments,
): Promise<ExitStatus> {
  const { calls, ...unlimited } = budget;
  const { prices } = unlimited;
  const rows = new Map<string, JudgeEstimateRow>();
  let left = calls;
  // Without the limit.
  const needed: JudgeEstimateRow[] = [];
  for (const { request, isRun } of foreseen) {
    if (request !== undefined && calls !== undefined) {
      needed.push(...(await estimated({ ...request, ...(cache && { cache }), budget: unlimited }, !isRun)));
    }
    const limited = {
      ...(cache && { cache }),
      budget: { ...unlimited, ...(left === undefined ? {} : { calls: left }) },
    };
    for (const row of request === undefined ? [] : await estimated({ ...request, ...limited }, !isRun)) {
      if (left !== undefined) left = Math.max(0, left - row.most.calls);
      const asked = row.model === undefined || row.panel !== undefined ? row.model : (model ?? row.model);
      const key = JSON.stringify([row.metricName, asked, row.function, row.panel]);
      const known = rows.get(key);
      rows.set(
        key,
        known === undefined ? { ...row, ...(asked === undefined ? {} : { model: asked }) } : sum(known, row),
      );
    }
  }
  const lines = [...rows.values()].flatMap((row) => rowLines(row, prices));
  const unknown = foreseen.reduce((total, one) => total + one.unknown, 0);
  const text =
    lines.length === 0
      ? `${unknown > 0 ? "nothing can be estimated" : "no judge would be called"}\n`
      : `${[...lines, ...totalLines([...rows.values()], budget)].join("\n")}\n`;
  // The user's module may have been loaded, which may print to stdout.
  await new Promise<void>((resolve) => writeResult(text, () => resolve()));
  note("dry run: no calls were made, no agent was run and nothing was written");
  if (rows.size > 0) {
    note(
      `tokens are estimates: 4 characters per token; replies of about ${LIKELY_REPLY_TOKENS} tokens, and at most maxOutputTokens or, where it is not set, ${amountText(MOST_REPLY_TOKENS)}; retries after failures are not counted${cache === undefined ? "" : ", nor are replies in --cache"}`,
    );
    if (calls !== undefined) noteCalls(needed, calls);
    noteLimits([...rows.values()], budget);
    noteUnpriced([...rows.values()], prices);
    if (prices === undefined) note("to estimate the cost, add --price <model>=<input>,<output>");
  }
  const retirements = [...rows.values()].flatMap(({ retirement = [] }) => retirement);
  for (const text of new Set([...retirements, ...users])) warn(text);
  if (foreseen.some(({ isRun }) => isRun)) {
    note(
      "the agent's own calls are not counted, and its answers are assumed to be as long as the expected ones; at least, those of all runs are the same",
    );
  }
  if (unknown > 0)
    warn(
      `${count(unknown, "case")} with a simulated user cannot be estimated and ${unknown === 1 ? "is" : "are"} left out`,
    );
  const names = [...rows.values()].flatMap((row) => pricedAs(row, prices) ?? []);
  // Who plays the users of other cases is asked too.
  if (rows.size > 0 && unknown === 0) reportUseless(uselessPrices(prices, new Set(names), "would not be asked"), given);
  return ExitStatus.Passed;
}

/** Says whether a limit of calls may end the run, or will, and what is needed without it: the estimates end there. */
function noteCalls(rows: readonly JudgeEstimateRow[], limit: number): void {
  const [least, likely, most] = BOUNDS.map((bound) => rows.reduce((sum, row) => sum + row[bound].calls, 0)) as [
    number,
    number,
    number,
  ];
  if (most <= limit) return;
  const how = least > limit ? "ends" : "may end";
  const needed = `at least ${count(least, "call")}, likely ${amountText(likely)}, at most ${amountText(most)}`;
  note(
    `--max-calls ${limit} ${how} the run before everything is scored, and cuts these estimates: without it, ${needed}`,
  );
}

/** Says which limits in tokens and money may end the run, or will. */
function noteLimits(rows: readonly JudgeEstimateRow[], { tokens, cost, prices }: Budget): void {
  const total = (of: (row: JudgeEstimateRow, bound: (typeof BOUNDS)[number]) => number) =>
    BOUNDS.map((bound) => rows.reduce((sum, row) => sum + of(row, bound), 0)) as [number, number, number];
  const limits = [
    ["--max-tokens", tokens, total((row, bound) => row[bound].inputTokens + row[bound].outputTokens)],
    ["--max-cost", cost, total((row, bound) => costOf(row[bound], priceOf(row, prices)) ?? 0)],
  ] as const;
  for (const [name, limit, [least, , most]] of limits) {
    if (limit === undefined || most <= limit) continue;
    const [amount, atLeast] = [amountText(limit, 6), amountText(least, 4)];
    if (least > limit)
      note(`${name} ${amount} ends the run before everything is scored, which takes at least ${atLeast}`);
    else note(`${name} ${amount} may end the run before everything is scored`);
  }
}

/** Says whose calls the cost leaves out. */
function noteUnpriced(rows: readonly JudgeEstimateRow[], prices: PriceList): void {
  if (prices === undefined) return;
  const unpriced = new Set(rows.filter((row) => priceOf(row, prices) === undefined).map(askedText));
  const hasCost = rows.some((row) => priceOf(row, prices) !== undefined);
  for (const who of unpriced) {
    warn(`${hasCost ? "the cost does not include" : "no cost is estimated for"} ${who}, for which there is no --price`);
  }
}

function sum(one: JudgeEstimateRow, other: JudgeEstimateRow): JudgeEstimateRow {
  const all = { ...one };
  for (const bound of BOUNDS) all[bound] = added(one[bound], other[bound]);
  return all;
}

function added(one: CallEstimate, other: CallEstimate): CallEstimate {
  return {
    calls: one.calls + other.calls,
    characters: one.characters + other.characters,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

/** What calls cost; undefined without the price of their model. */
function costOf({ inputTokens, outputTokens }: CallEstimate, prices: Prices | undefined): number | undefined {
  if (prices === undefined) return undefined;
  return (inputTokens * prices.inputPerMillion + outputTokens * prices.outputPerMillion) / 1e6;
}

type PriceList = Readonly<Record<string, Prices>> | undefined;

/** What has a price: a panel as a whole if it is priced so, or else its members, as in the run itself. */
function pricedAs({ model, function: functionName, panel }: JudgeEstimateRow, prices: PriceList): string | undefined {
  if (panel !== undefined && Object.hasOwn(prices ?? {}, panel)) return panel;
  return functionName === undefined ? model : pricedName({ model: undefined, functionName }, model ?? "", prices);
}

/** Who is asked, in words. */
function askedText({ model, function: functionName }: JudgeEstimateRow): string {
  return functionName === undefined ? (model ?? "Vertex AI's evaluation service") : functionText(functionName);
}

function priceOf(row: JudgeEstimateRow, prices: PriceList): Prices | undefined {
  const name = pricedAs(row, prices);
  return name !== undefined && prices !== undefined && Object.hasOwn(prices, name) ? prices[name] : undefined;
}

function rowLines(row: JudgeEstimateRow, prices: PriceList): string[] {
  const price = priceOf(row, prices);
  const name = `${row.metricName}, ${askedText(row)}`;
  const costs = price === undefined ? undefined : BOUNDS.map((bound) => costOf(row[bound], price) ?? 0);
  return [name, ...boundLines(row, costs)];
}

function totalLines(rows: readonly JudgeEstimateRow[], { prices, calls = Infinity }: Budget): string[] {
  const [first, ...others] = rows;
  if (first === undefined || others.length === 0) return [];
  const unpriced = rows.filter((row) => priceOf(row, prices) === undefined);
  const costs =
    unpriced.length === rows.length
      ? undefined
      : BOUNDS.map((bound) => rows.reduce((total, row) => total + (costOf(row[bound], priceOf(row, prices)) ?? 0), 0));
  const total = others.reduce(sum, first);
  // What one metric can take at most, another cannot take as well.
  const most = { ...total.most, calls: Math.min(total.most.calls, calls) };
  return ["in total", ...boundLines({ ...total, most }, costs)];
}

/** At least, likely and at most, a line each. */
function boundLines(row: JudgeEstimateRow, costs: readonly number[] | undefined): string[] {
  const names = { least: "at least", likely: "likely", most: "at most" };
  return BOUNDS.map((bound, at) => {
    const { calls, inputTokens, outputTokens } = row[bound];
    const cost = costs === undefined ? "" : `, cost ${amountText(costs[at] ?? 0, 4)}`;
    const tokens = `${amountText(inputTokens)} tokens in, ${amountText(outputTokens)} out`;
    return `  ${`${names[bound]}:`.padEnd(10)}${count(calls, "call")}, ${tokens}${cost}`;
  });
}
