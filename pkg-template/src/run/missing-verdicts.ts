/** Warnings about judges that gave no verdict: beside metrics that pass, a case passes without it. */

import { EvalStatus } from "../enums.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult, Mistake } from "../types.js";

/** How many reasons are given for a metric. */
const MOST_REASONS = 3;

/** What differs from case to case: a reply that is quoted at the end of a reason, and the place that a recording lacks. */
const OWN_WORDS = [/(?:, found|:) ".*$/s, /, case "[^"]*"/, /, (?:turn|text|sample) \d+/g];

/** A reason without what differs from case to case. */
function sharedWords(reason: string): string {
  return OWN_WORDS.reduce((text, pattern) => text.replace(pattern, ""), reason);
}

/** Why a metric has no result somewhere, and in how many case results for that reason. */
export interface MissingVerdicts {
  cases: number;
  /** By what they have in common: the first, and in how many case results. */
  reasons: ReadonlyMap<string, { first: string; cases: number }>;
}

/** The judged metrics without a result in some case where a judge was to be asked. */
export function missingVerdictsIn(set: EvalSetResult): Map<string, MissingVerdicts> {
  const found = new Map<string, MissingVerdicts>();
  for (const { metricName, first, key } of missingIn(set)) {
    addMissing(found, new Map([[metricName, { cases: 1, reasons: new Map([[key, { first, cases: 1 }]]) }]]));
  }
  return found;
}

/**
 * The case results that lack the result of a metric that decides: a judge that was to be asked gave no verdict, or a custom
 * metric failed.
 *
 * @param failed The metrics that failed somewhere, where the results do not warn of them.
 */
export function undecidedIn(set: EvalSetResult, failed: Iterable<string> = []): Set<EvalCaseResult> {
  const { evalCaseResults, warnings = [], advisory = [] } = set;
  const missing = missingIn(set).filter(({ metricName }) => !advisory.includes(metricName));
  const undecided = new Set(missing.map(({ result }) => result));
  const own = new Set(failed);
  for (const { code, message } of warnings) {
    const name = code === "custom_metric_failed" ? FAILED_METRIC.exec(message)?.[1] : undefined;
    if (name !== undefined) own.add(name);
  }
  for (const result of own.size === 0 ? [] : evalCaseResults) {
    const isFailed = ({ metricName, evalStatus }: EvalMetricResult) =>
      own.has(metricName) && evalStatus === EvalStatus.NOT_EVALUATED;
    if (result.overallEvalMetricResults.some(isFailed)) undecided.add(result);
  }
  return undecided;
}

/** The metric in the warning of one that failed. */
const FAILED_METRIC = /^`(.{1,200}?)` failed in /;

interface Missing {
  result: EvalCaseResult;
  metricName: string;
  first: string;
  key: string;
}

function missingIn({ judges = [], judgeUsage, evalCaseResults }: EvalSetResult): Missing[] {
  if (judgeUsage === undefined) return [];
  const judged = new Set(judges.map(({ metricName }) => metricName));
  const open = evalCaseResults.flatMap((result) => {
    const missing = result.overallEvalMetricResults.filter(
      (metric) => judged.has(metric.metricName) && isMissing(metric, judgeUsage.lost > 0),
    );
    return missing.map(({ metricName, reason = "no reason is known" }) => {
      const ofTurns = result.evalMetricResultPerInvocation.flatMap(({ evalMetricResults }) => evalMetricResults);
      const hasQuestion = ofTurns.some((metric) => metric.metricName === metricName && metric.explanation?.samples?.of);
      return { result, metricName, first: reason, key: sharedWords(reason), hasQuestion };
    });
  });
  // After the judges were stopped there are no questions, but the same reason; what cannot be scored has another. Without
  // explanations it is not known which had questions.
  const reasonsOfQuestions = new Set(open.filter(({ hasQuestion }) => hasQuestion).map(({ key }) => key));
  return reasonsOfQuestions.size === 0 ? open : open.filter(({ key }) => reasonsOfQuestions.has(key));
}

/** Adds what is missing in a part to what is missing in the whole. */
export function addMissing(whole: Map<string, MissingVerdicts>, part: ReadonlyMap<string, MissingVerdicts>): void {
  for (const [metricName, { cases, reasons }] of part) {
    const known = whole.get(metricName);
    const all = new Map(known?.reasons);
    for (const [key, reason] of reasons) {
      const same = all.get(key);
      all.set(key, { first: same?.first ?? reason.first, cases: (same?.cases ?? 0) + reason.cases });
    }
    whole.set(metricName, { cases: (known?.cases ?? 0) + cases, reasons: all });
  }
}

/** A warning for each of these metrics. */
export function missingVerdictsWarnings(found: ReadonlyMap<string, MissingVerdicts>, results: number): Mistake[] {
  return [...found].map(([metricName, missing]) => ({
    code: "judge_failed",
    message: `\`${metricName}\` has no verdict in ${missing.cases} of ${results} case results: ${reasonsOf(missing)}`,
  }));
}

/** Whether a judged metric has no result although a judge was to be asked, and not because it cannot score the case. */
export function isMissing({ evalStatus, explanation, reason = "" }: EvalMetricResult, someWereLost: boolean): boolean {
  if (evalStatus !== EvalStatus.NOT_EVALUATED) return false;
  return someWereLost || (explanation?.samples?.asked ?? 0) > 0 || reason.startsWith(UNREADABLE);
}

/** How the engine begins the reason where there are replies, and none can be read. */
const UNREADABLE = "no reply of the judge could be read";

function reasonsOf({ cases, reasons }: MissingVerdicts): string {
  const sorted = [...reasons.values()].sort((a, b) => b.cases - a.cases);
  const shown = sorted.slice(0, MOST_REASONS);
  const parts = shown.map(({ cases: found, first }, at) => {
    const said = found === cases ? first : `in ${found}, ${first}`;
    const advice = first.slice(first.lastIndexOf(". "));
    return shown[at + 1]?.first.endsWith(advice) === true ? said.slice(0, -advice.length) : said;
  });
  const others = sorted.length - shown.length;
  if (others > 0) parts.push(`and ${others} other ${others === 1 ? "reason" : "reasons"}`);
  return parts.join("; ");
}
