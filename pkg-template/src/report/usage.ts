/** What a run spent on judges and simulated users, as every report tells it. */

import type { EvalSetResult, JudgeCalibration, JudgeStamp, JudgeUsage, SimulatorUsage } from "../types.js";
import { grouped, sum } from "../lists.js";
import { judgeName, withoutVersions } from "../judges/stamp.js";
import { hasTokens, isNumber, percentOf, tokensText } from "./judged.js";
import { ofMetric } from "./results.js";
import { amountText, count, percent, shorten } from "./text.js";

/** The names of the judges, each once: models, functions, Vertex AI. */
export function judgeNames(results: readonly EvalSetResult[]): string[] {
  return [...new Set(results.flatMap(({ judges }) => judges ?? []).map(judgeName))];
}

/** The name of a judge within a width: one that is longer goes without the versions of its models. */
export function shortName(stamp: Omit<JudgeStamp, "metricName">, width: number): string {
  const name = judgeName(stamp);
  return shorten(name.length > width ? judgeName(withoutVersions(stamp)) : name, width);
}

/** `model-a, safety_v1 and hallucinations_v1 by model-b (b-2026)`: who judged, and what others than the first judged. */
export function judgesByMetric(results: readonly EvalSetResult[]): string {
  const judged = new Map<string, Set<string>>();
  for (const stamp of results.flatMap(({ judges }) => judges ?? [])) {
    const name = shortName(stamp, 100);
    judged.set(name, (judged.get(name) ?? new Set()).add(shorten(stamp.metricName, 100)));
  }
  const [first, ...others] = [...judged].sort(([, one], [, other]) => other.size - one.size);
  return first === undefined
    ? ""
    : [first[0], ...others.map(([name, metrics]) => `${[...metrics].join(" and ")} by ${name}`)].join(", ");
}

/** Usages added up; undefined of none. */
function totalOf<Usage extends JudgeUsage | SimulatorUsage>(usages: readonly (Usage | undefined)[]): Usage | undefined {
  const known = usages.flatMap((usage) => (usage ? [usage] : []));
  return known.length === 0 ? undefined : known.reduce(sum, NOTHING as Usage);
}

const NOTHING = { calls: 0, retried: 0, cached: 0, saved: 0, lost: 0, inputTokens: 0, outputTokens: 0 };

/** Tokens in words, and that they are a guess as far as answers did not say. */
function usedTokensText(usage: JudgeUsage | SimulatorUsage): string {
  const { answered = 0, unreported = 0 } = usage;
  if (!hasTokens(usage)) return "";
  if (unreported === 0) return tokensText(usage);
  if (unreported >= answered) return `about ${tokensText(usage)} (estimated, because no answer reported them)`;
  return `${tokensText(usage)} (estimated for ${count(unreported, "answer")})`;
}

/** What of the saved samples rests on a risk: ` (at least 12 of them at a risk of 1%, for 9 verdicts)`; empty for nothing. */
export function atRiskText(
  { savedAtRisk = 0, verdictsAtRisk = 0 }: JudgeUsage,
  results: readonly EvalSetResult[],
): string {
  if (verdictsAtRisk === 0) return "";
  const risks = results.flatMap(({ judges = [] }) => judges.flatMap(({ earlyStop }) => earlyStop?.risk ?? []));
  const risk = [...new Set(risks)].map(percentOf).join(" or ");
  return ` (at least ${amountText(savedAtRisk)} of them at a risk of ${risk}, for ${count(verdictsAtRisk, "verdict")})`;
}

/** `3 replies reused`; empty for none. */
function reusedText(cached: number): string {
  return cached > 0 ? `${amountText(cached)} ${cached === 1 ? "reply" : "replies"} reused` : "";
}

/** What was spent, and whose price is missing; nothing without prices. */
export function spentText({ cost, unpriced = [] }: Pick<JudgeUsage, "cost" | "unpriced">): string | undefined {
  const without = unpriced.map((name) => shorten(name, 100)).join(", ");
  const known = isNumber(cost) ? costText(cost) : undefined;
  if (without === "") return known;
  return known === undefined ? `unknown (no price for ${without})` : `${known} without ${without} (no price)`;
}

/** An amount of money in a currency that only the user knows. */
export function costText(cost: number): string {
  if (cost > 0 && cost < 0.0001) return "less than 0.0001";
  return amountText(cost, cost < 1 ? 4 : 2);
}

/**
 * `judged by gpt-6-luna: 41 calls, 12 samples saved by early stopping, 51,200 tokens in, 3,100 out`; undefined for
 * results that no judge had a part in, or that do not say.
 */
export function judgesText(results: readonly EvalSetResult[]): string | undefined {
  const usage = totalOf(results.map(({ judgeUsage }) => judgeUsage));
  const names = judgesByMetric(results);
  if (usage === undefined && names === "") return undefined;
  const who = names === "" ? "judges" : `judged by ${names}`;
  if (usage === undefined) return who;
  const { calls, retried, cached, saved, lost, unsent = 0, unread = 0 } = usage;
  if (calls + cached + saved + lost === 0) return "no judge was asked";
  const spent = spentText(usage);
  const parts = [
    `${count(calls, "call")}${retried > 0 ? ` (${amountText(retried)} repeated)` : ""}`,
    saved > 0 ? `${count(saved, "sample")} saved by early stopping${atRiskText(usage, results)}` : "",
    reusedText(cached),
    unread > 0 ? `${amountText(unread)} unreadable ${unread === 1 ? "reply" : "replies"}` : "",
    lost > unsent ? `${count(lost - unsent, "sample")} without a reply` : "",
    unsent > 0 ? `${count(unsent, "sample")} not asked` : "",
    usedTokensText(usage),
    spent === undefined ? "" : `cost ${spent}`,
  ];
  return `${who}: ${parts.filter((part) => part !== "").join(", ")}`;
}

/**
 * `human labels agree with the judge: safety_v1 in 85% of 60 (74 to 92%)`; undefined for results without a
 * calibration.
 */
export function calibrationsText(results: readonly EvalSetResult[]): string | undefined {
  const share = ({ value, low, high }: JudgeCalibration["agreement"], of = ""): string => {
    const interval = isNumber(low) && isNumber(high) ? ` (${Math.round(100 * low)} to ${percent(high)})` : "";
    return `${percent(value)}${of}${interval}`;
  };
  const found = results.flatMap((set) =>
    (set.judgeCalibrations ?? []).map(
      ({ metricName, rubricId, rubrics, labelled, agreement, kappa, passRate, stale }) => {
        const beyondChance = isNumber(kappa?.value) ? `, kappa ${kappa.value.toFixed(2)}` : "";
        const rubric = rubricId === undefined ? "" : `, rubric ${shorten(rubricId, 100)}`;
        const about = shorten(metricName, 100) + (rubrics === undefined ? rubric : `, all ${rubrics} rubrics`);
        const corrected = isNumber(passRate?.corrected?.value) ? share(passRate.corrected) : undefined;
        const isOfNow = corrected !== undefined && passRate?.isEarlier !== true;
        return {
          text: `${about} in ${share(agreement, ` of ${amountText(labelled)}`)}${beyondChance}`,
          earlier:
            corrected === undefined || isOfNow ? "" : `, pass rate of the calibrated results corrected to ${corrected}`,
          rate: isOfNow ? `from ${percent(passRate?.judge ?? 0)} to ${corrected}` : "",
          set: results.length > 1 ? ` in ${shorten(set.evalSetId, 100)}` : "",
          old: stale === undefined ? "" : ", which may no longer hold",
          hasJudge: ofMetric(set.judges, metricName) !== undefined,
        };
      },
    ),
  );
  if (found.length === 0) return undefined;
  const texts = grouped(found, ({ text, earlier, old }) => text + earlier + old).map((same) => {
    const { text, earlier, old } = same[0] as (typeof found)[number];
    const rates = same.flatMap(({ rate, set }) => (rate === "" ? [] : rate + set));
    const more = rates.length > MOST_RATES ? ` and in ${count(rates.length - MOST_RATES, "more evalset")}` : "";
    const now = rates.length === 0 ? "" : `, pass rate corrected ${rates.slice(0, MOST_RATES).join(", ")}${more}`;
    return text + earlier + now + old;
  });
  return `human labels agree with the ${found.every(({ hasJudge }) => hasJudge) ? "judge" : "verdicts"}: ${texts.join("; ")}`;
}

/** The most evalsets whose corrected pass rate is shown. */
const MOST_RATES = 3;

/** `users played by gpt-6-luna: 12 calls, 9,100 tokens in, 300 out`; undefined where no model played a user. */
export function simulatorText(results: readonly Pick<EvalSetResult, "simulatorUsage">[]): string | undefined {
  const usage = totalOf(results.map(({ simulatorUsage }) => simulatorUsage));
  if (usage === undefined) return undefined;
  const { models, calls, retried, cached, lost } = usage;
  const spent = spentText(usage);
  const parts = [
    `${count(calls, "call")}${retried > 0 ? ` (${amountText(retried)} repeated)` : ""}`,
    reusedText(cached),
    lost > 0 ? `${amountText(lost)} without a reply` : "",
    usedTokensText(usage),
    spent === undefined ? "" : `cost ${spent}`,
  ];
  const who = [...(models ?? [])]
    .sort()
    .map((name) => shorten(name, 100))
    .join(", ");
  return `simulated users, by ${who === "" ? "a model" : who}: ${parts.filter((part) => part !== "").join(", ")}`;
}
