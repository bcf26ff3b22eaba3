/** Whether what an agent does can be scored at all, which is checked before it is run. */

import type { CheckedEvaluation } from "../evaluate.js";
import { AdkMetricsError, strictErrorOf } from "../errors.js";
import { count } from "../report/text.js";
import { unscorableWarning } from "../run/unscorable.js";
import type { Mistake } from "../types.js";

/** What is known of the scores of an agent before it is run. */
export interface Forecast {
  /** Why the agent is not run in a case, by its id. */
  leftOut: ReadonlyMap<string, string>;
  /** What results are to say of it. */
  warnings: readonly Mistake[];
}

/**
 * Finds out which cases none of the metrics can score, and which metrics can score none of the cases.
 *
 * @param evalIds The cases that are selected; all if absent.
 * @throws {AdkMetricsError} `invalid_input` if none of the metrics can score any of the cases.
 */
export function forecast(
  { evalSet, metrics, unscorable }: CheckedEvaluation,
  { evalIds, strict }: { evalIds?: readonly string[] | undefined; strict?: boolean | undefined },
): Forecast {
  const wanted = evalIds && new Set(evalIds);
  const leftOut = new Map<string, string>();
  let total = 0;
  for (const [at, { evalId }] of evalSet.evalCases.entries()) {
    if (wanted?.has(evalId) === false) continue;
    total += 1;
    const whys = unscorable[at] ?? [];
    const able = metrics.filter((_, metric) => !whys[metric]);
    if (metrics.length > 0 && able.length === 0) leftOut.set(evalId, sentence(metrics, whys));
  }
  const path = "config: criteria";
  const [[firstId, why] = ["", ""]] = leftOut;
  const firstWhy = leftOut.size > 1 ? `in ${JSON.stringify(firstId)}, ${why}` : why;
  if (leftOut.size > 0 && leftOut.size === total) {
    const which = total === 1 ? `the case ${JSON.stringify(firstId)}` : `any of the ${count(total, "case")}`;
    const message = `no metric can score ${which}, so the agent is not run: ${firstWhy}`;
    throw new AdkMetricsError("invalid_input", message, { path, help: HELP });
  }
  const warnings: Mistake[] = [];
  if (leftOut.size > 0) {
    const ids = [...leftOut.keys()].slice(0, MOST_IDS).map((id) => JSON.stringify(id));
    if (leftOut.size > ids.length) ids.push(`${leftOut.size - ids.length} more`);
    const cases = `${leftOut.size === 1 ? "the case" : "the cases"} ${new Intl.ListFormat("en").format(ids)}`;
    const message = `no metric can score ${cases}, so the agent is not run there: ${firstWhy}`;
    warnings.push({ code: "invalid_input", message, path, help: HELP });
  }
  warnings.push(...unscorableMetrics({ evalSet, metrics, unscorable }, evalIds));
  if (strict === true && warnings.length > 0) throw strictErrorOf(warnings);
  const prefixed = [...leftOut].map(([id, reason]) => [id, `no metric can score the case: ${reason}`] as const);
  return { leftOut: new Map(prefixed), warnings };
}

/**
 * Warnings about the metrics that can score none of the selected cases.
 *
 * @param hasOwn Whether what the agent did may have of its own what a metric needs.
 */
export function unscorableMetrics(
  { evalSet, metrics, unscorable }: Pick<CheckedEvaluation, "evalSet" | "metrics" | "unscorable">,
  evalIds: readonly string[] | undefined,
  hasOwn = (_: string) => false,
): Mistake[] {
  const wanted = evalIds && new Set(evalIds);
  const selected = unscorable.filter((_, at) => wanted?.has(evalSet.evalCases[at]?.evalId ?? "") ?? true);
  return metrics.flatMap((name, metric) => {
    const whys = selected.map((reasons) => reasons[metric]);
    const why = whys.at(-1);
    return why && whys.every(Boolean) && !hasOwn(name) ? [unscorableWarning(name, why)] : [];
  });
}

/** How many cases are named. */
const MOST_IDS = 3;
const HELP =
  "Add a metric that can score them, such as `safety_v1`, or add what the cases lack. `adk-metrics record` runs an agent without scoring it";

/** Reasons with the metric that each is about. */
function sentence(metrics: readonly string[], whys: readonly string[]): string {
  const named = metrics.map((name, at) => {
    const why = whys[at] ?? "";
    return why.startsWith(`\`${name}\``) ? why : `\`${name}\`: ${why}`;
  });
  return named.join("; ");
}
