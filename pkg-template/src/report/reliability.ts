/** What repeated runs tell of those to come: in lines, in tables, and as names and values. */

import { type Estimate } from "../statistics/estimates.js";
import {
  type CaseMetricReliability,
  type CaseReliability,
  type PassEstimate,
  type Reliability,
  reliabilityOf,
} from "../statistics/reliability.js";
import type { EvalSetResult } from "../types.js";
import { caseName } from "./results.js";
import { count, oneLine, percent, scoreText, shorten } from "./text.js";

/** The most flaky cases that are named in a line. */
const MOST_NAMED = 3;
/** The most rows of a table. */
const MOST_ROWS = 20;
/** The numbers of runs that are reported, as far as there are as many. */
const SHOWN_RUNS: readonly number[] = [2, 3, 5, 10, 20, 50, 100];

/** A table of a report: its title, its columns and its rows. The first column is of names, the others of what they have. */
export interface ReliabilityTable {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

/**
 * What repeated runs tell, or cases in groups; undefined where no case was run repeatedly or has a group, unless a precision is wanted. Also for results that cannot be read: whoever renders
 * them says where they are damaged.
 */
export function repeatedOf(sets: readonly EvalSetResult[]): Reliability | undefined {
  const isTold = sets.some(
    ({ evalCaseResults, precision }) =>
      precision !== undefined ||
      new Set(evalCaseResults.map(({ evalId }) => evalId)).size < evalCaseResults.length ||
      evalCaseResults.some(({ group }) => typeof group === "string"),
  );
  if (!isTold) return undefined;
  try {
    return reliabilityOf(sets);
  } catch {
    return undefined;
  }
}

/**
 * `pass rate 83% (95% interval 24 to 99%), pass^3 50%; 1 of 2 cases is flaky: moody (2 of 3)`; empty where no case was run
 * repeatedly.
 */
export function reliabilityText(sets: readonly EvalSetResult[], found = repeatedOf(sets)): string {
  if (found?.passRate === undefined) return "";
  const { cases, confidence, passRate } = found;
  // The longest row that every case can tell of.
  const row = common(found, found.passHatK).findLast(({ k }) => k > 1);
  const flaky = cases.filter(({ isFlaky }) => isFlaky);
  const named = flaky.slice(0, MOST_NAMED).map(flakyText).join(", ");
  const more = flaky.length > MOST_NAMED ? ` and ${flaky.length - MOST_NAMED} more` : "";
  const of = `${flaky.length} of ${count(cases.length, "case")} ${flaky.length === 1 ? "is" : "are"} flaky`;
  return [
    `pass rate ${rateText(passRate, confidence)}${row === undefined ? "" : `, pass^${row.k} ${percent(row.value)}`}`,
    ...(found.isOneCase && passRate.low !== undefined ? ["intervals are about this case only"] : []),
    ...(found.groups === undefined ? [] : [`intervals respect the ${count(found.groups, "group")} of cases`]),
    ...(flaky.length > 0 ? [`${of}: ${named}${more}`] : isRepeated(found) ? ["no case is flaky"] : []),
    ...(found.notes ?? []),
  ].join("; ");
}

/** Whether some case was run more than once. */
function isRepeated({ cases }: Reliability): boolean {
  return cases.some(({ runs, notEvaluated }) => runs + notEvaluated > 1);
}

/** Where verdicts vary, and what it takes to know the pass rate better; only what there is to tell. */
export function reliabilityNotes(found: Reliability | undefined): string[] {
  return found === undefined ? [] : [varianceText(found), neededText(found)].filter((text) => text !== "");
}

/** `variance of the verdicts: 0.1000 between cases, 0.0500 between runs of a case` */
function varianceText({ variance }: Pick<Reliability, "variance">): string {
  if (variance === undefined) return "";
  return `variance of the verdicts: ${scoreText(variance.between)} between cases, ${scoreText(variance.within)} between runs of a case`;
}

/** What it takes to know the pass rate better, or how well it is known. */
function neededText({ needed, cases, isOneCase, passRate, precision }: Reliability): string {
  const points = `to within ${count(Number((100 * precision).toFixed(1)), "point")}`;
  if (needed === undefined) return passRate === undefined ? "" : `the pass rate is known ${points}`;
  const { runs } = needed;
  const each = cases.length === 0 ? 1 : cases.reduce((sum, one) => sum + one.runs, 0) / cases.length;
  const often = Number.isInteger(each) ? ` run ${each === 1 ? "once" : `${each} times`}` : "";
  const ofEach = count(runs ?? 0, "run");
  const of = isOneCase ? `; that of this case alone, ${ofEach}` : `, or ${ofEach} of each of these`;
  return `estimating the pass rate ${points} takes about ${count(needed.cases, "case")}${often}${runs === undefined ? "" : of}`;
}

/** How likely runs pass, what is known of each metric, and of each case; only what there is to tell. */
export function reliabilityTables(found: Reliability): ReliabilityTable[] {
  const tables = [chancesTable, metricsTable, varianceTable, casesTable, flakyMetricsTable].map((table) =>
    table(found),
  );
  return tables.filter(({ rows }) => rows.length > 0);
}

/** pass@k and pass^k for a few k. */
function chancesTable(found: Reliability): ReliabilityTable {
  const [some, every] = [found.passAtK, found.passHatK].map((all) =>
    common(found, all).filter(({ k }) => SHOWN_RUNS.includes(k)),
  ) as [PassEstimate[], PassEstimate[]];
  const rows = some.map((one, at): string[] => [
    count(one.k, "run"),
    shortRate(one),
    shortRate(every[at] as PassEstimate),
  ]);
  const level = levelText(found);
  const columns = [`at least one passes (pass@k), ${level}`, `all pass (pass^k), ${level}`];
  return { title: "Several runs", columns, rows };
}

function metricsTable({ metrics, confidence, cases }: Reliability): ReliabilityTable {
  const rows = metrics
    .filter(({ runs }) => runs > 0)
    .slice(0, MOST_ROWS)
    .map(({ metricName, passRate, score }) => [
      shorten(oneLine(metricName), 60),
      passRate === undefined ? "–" : `${shortRate(passRate)}${missingRuns(metricName, cases)}`,
      score === undefined ? "–" : shortMean(score),
    ]);
  const level = levelText({ confidence });
  return { title: "Metric", columns: [`Runs that pass, ${level}`, `Mean score, ${level}`], rows };
}

/** `, 2 of 10 runs missing`: those in which a metric has no verdict, of the evalsets that it judges. */
function missingRuns(metricName: string, cases: readonly CaseReliability[]): string {
  const runsOf = ({ metrics }: CaseReliability) => metrics.find((one) => one.metricName === metricName)?.runs;
  const sets = new Set(cases.filter((one) => runsOf(one) !== undefined).map(({ evalSetId }) => evalSetId));
  const judged = cases.filter(({ evalSetId }) => sets.has(evalSetId));
  const all = judged.reduce((sum, { runs, notEvaluated }) => sum + runs + notEvaluated, 0);
  const missing = judged.reduce((rest, one) => rest - (runsOf(one) ?? 0), all);
  return missing > 0 ? `, ${missing} of ${count(all, "run")} missing` : "";
}

/** How the scores of metrics vary. */
function varianceTable({ metrics }: Pick<Reliability, "metrics">): ReliabilityTable {
  const rows = metrics
    .flatMap(({ metricName, variance }) =>
      variance === undefined
        ? []
        : [[shorten(oneLine(metricName), 60), scoreText(variance.between), scoreText(variance.within)]],
    )
    .slice(0, MOST_ROWS);
  return { title: "Variance of scores", columns: ["between cases", "between runs of a case"], rows };
}

/** The cases that are flaky, then those that never pass, then the others. */
function casesTable(found: Reliability): ReliabilityTable {
  const cases = isRepeated(found) ? found.cases : [];
  const rank = ({ isFlaky, passed }: CaseReliability) => (isFlaky ? 0 : passed === 0 ? 1 : 2);
  const rows = cases
    .map((one, at) => ({ one, at }))
    .sort((a, b) => rank(a.one) - rank(b.one) || a.at - b.at)
    .slice(0, MOST_ROWS)
    .map(({ one }) => [
      shorten(oneLine(caseName(one.evalId)), 60),
      passesText(one),
      one.metrics.flatMap(spreadText).slice(0, MOST_NAMED).join(", "),
      pairText(one),
    ]);
  const left = cases.length - rows.length;
  if (left > 0) rows.push([`… and ${count(left, "more case")}`, "", "", ""]);
  return { title: "Case", columns: ["Runs that pass", "Scores that vary", "pass@2, pass^2"], rows };
}

function flakyMetricsTable({ cases }: Pick<Reliability, "cases">): ReliabilityTable {
  const rows = cases
    .flatMap((ofCase) => flakyMetrics(ofCase).map((one) => ({ evalId: ofCase.evalId, one })))
    .slice(0, MOST_ROWS)
    .map(({ evalId, one }) => [
      shorten(oneLine(caseName(evalId)), 60),
      shorten(oneLine(one.metricName), 60),
      `${one.passed} of ${one.runs}`,
      pairText(one),
    ]);
  return { title: "Case", columns: ["Flaky metric", "Runs that pass", "pass@2, pass^2"], rows };
}

/** The metrics by which some runs of a case pass and some fail. A single one ends as its case does, and is not told apart. */
function flakyMetrics({ metrics }: CaseReliability): CaseMetricReliability[] {
  const decided = metrics.filter(({ runs }) => runs > 0);
  return decided.length > 1 ? decided.filter(({ isFlaky }) => isFlaky) : [];
}

/** `100%, 33%`: how likely one of two runs passes, and both; nothing for a case that was run once. */
function pairText({ passAtK, passHatK }: Chances): string {
  return [passAtK, passHatK].flatMap(([, pair]) => (pair === undefined ? [] : percent(pair))).join(", ");
}

/** `2 of 3, flaky` */
export function passesText({ passed, runs, notEvaluated, isFlaky }: CaseReliability): string {
  const missing = notEvaluated === 0 ? "" : `, ${notEvaluated} not evaluated`;
  return `${passed} of ${runs}${isFlaky ? ", flaky" : ""}${missing}`;
}

/** `response_match_score 0.6667 (0.0000 to 1.0000)`; nothing for one that is always the same. */
function spreadText({ metricName, scores, runs }: CaseMetricReliability): string[] {
  if (scores === undefined || runs === 0 || scores.least === scores.most) return [];
  const { mean, least, most } = scores;
  return [`${shorten(oneLine(metricName), 60)} ${scoreText(mean)} (${scoreText(least)} to ${scoreText(most)})`];
}

/** What a report for programs says of all runs, by name. */
export function reliabilityProperties(found: Reliability): [name: string, value: number][] {
  const { passRate, cases, passAtK, passHatK, variance, needed, metrics } = found;
  if (passRate === undefined) return [];
  const estimates: [name: string, estimate: Estimate][] = [["passRate", passRate]];
  for (const [name, all] of Object.entries({ passAt: passAtK, passHat: passHatK })) {
    const row = common(found, all).at(-1);
    if (row !== undefined) estimates.push([`${name}${row.k}`, row]);
  }
  for (const { metricName, passRate: rate, score } of metrics) {
    if (rate !== undefined) estimates.push([`passRate.${metricName}`, rate]);
    if (score !== undefined) estimates.push([`meanScore.${metricName}`, score]);
  }
  const values: [name: string, value: number | undefined][] = [
    ...estimates.flatMap(([name, { value, low, high }]): [string, number | undefined][] => {
      // `passRateLow`, but `meanScore.safety_v1.low`, since the name of a metric may be anything.
      const [least, most] = name.includes(".") ? [".low", ".high"] : ["Low", "High"];
      return [
        [name, value],
        [name + least, low],
        [name + most, high],
      ];
    }),
    ["caseGroups", found.groups],
    ["oneCase", found.isOneCase ? 1 : undefined],
    ["flakyCases", cases.filter(({ isFlaky }) => isFlaky).length],
    ["varianceBetweenCases", variance?.between],
    ["varianceBetweenRuns", variance?.within],
    ["neededPrecision", needed?.precision],
    ["neededCases", needed?.cases],
    ["neededRuns", needed?.runs],
  ];
  return values.flatMap(([name, value]) => (value === undefined ? [] : [[name, Number(value.toFixed(6))]]));
}

/** pass@k and pass^k of a case, and of its flaky metrics, by their names, for a few k and the most. */
export function caseProperties(found: CaseReliability): [name: string, value: number][] {
  const ofMetrics = flakyMetrics(found).flatMap((one) => chanceProperties(one, `.${one.metricName}`));
  return [...chanceProperties(found, ""), ...ofMetrics];
}

/** How likely k runs have one that passes, and have only such. */
type Chances = Pick<CaseReliability, "passAtK" | "passHatK">;

function chanceProperties({ passAtK, passHatK }: Chances, of: string): [name: string, value: number][] {
  return passAtK.flatMap((some, at): [string, number][] => {
    const k = at + 1;
    if (k === 1 || !(SHOWN_RUNS.includes(k) || k === passAtK.length)) return [];
    return [
      [`casePassAt${k}${of}`, Number(some.toFixed(6))],
      [`casePassHat${k}${of}`, Number((passHatK[at] as number).toFixed(6))],
    ];
  });
}

/** The estimates that every case with a verdict can tell of. */
function common({ passHatK: [first] }: Reliability, all: readonly PassEstimate[]): PassEstimate[] {
  return all.filter(({ cases }) => cases === first?.cases);
}

function flakyText({ evalId, passed, runs }: CaseReliability): string {
  return `${shorten(oneLine(evalId), 40)} (${passed} of ${runs})`;
}

function rateText({ value, low, high }: Estimate, confidence: number): string {
  if (low === undefined || high === undefined) return percent(value);
  return `${percent(value)} (${percent(confidence)} interval ${Math.round(100 * low)} to ${percent(high)})`;
}

/** `83% (24 to 99%)` */
function shortRate({ value, low, high }: Estimate): string {
  if (low === undefined || high === undefined) return percent(value);
  return `${percent(value)} (${Math.round(100 * low)} to ${percent(high)})`;
}

/** `0.8333 (0.4000 to 1.0000)` */
function shortMean({ value, low, high }: Estimate): string {
  if (low === undefined || high === undefined || low === high) return scoreText(value);
  return `${scoreText(value)} (${scoreText(low)} to ${scoreText(high)})`;
}

function levelText({ confidence }: { confidence: number }): string {
  return `${percent(confidence)} interval`;
}
