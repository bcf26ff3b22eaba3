/**
 * Results as JUnit XML, in the form that GitHub's report actions, GitLab and Jenkins read.
 *
 * - A test suite is an evalset; its properties are what made the result.
 * - A test case is an eval case and a metric, named `case › metric`; `classname` is the evalset.
 *   An eval case without metrics (its inference failed) is one test case of its name alone.
 * - A metric that failed is a `<failure>`; one that was not evaluated is an `<error>`, so that a
 *   pipeline does not take it for a success. Both hold the difference as text.
 * - Which eval case it is and which run of it are properties of the test case, and so are score and threshold, and the
 *   eval case's informational values, which neither pass nor fail and are not test cases.
 * - The seconds that the agent took for an eval case, where they are known, are the `time` of its first test case, so that
 *   the times of a suite add up to that of its eval cases.
 * - A run that was planned and not done when the evaluation ended is a test case that was `<skipped>`.
 * - Warnings, and that a run was cancelled, are the suite's `<system-err>`.
 * - What judges were asked and took, and how often people agree with them, is in properties too: that of the whole run
 *   with the suite, that of a metric with its test case.
 */

import { type NoOptions, refuseOptions } from "../known-options.js";
import { EvalStatus } from "../enums.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult, JudgeCalibration } from "../types.js";
import { type DifferenceLine, failuresOf, type Mark, type MetricFailure, traceOf, verdictText } from "./difference.js";
import { tokensOf } from "./judged.js";
import { calibrationsText, judgesByMetric } from "./usage.js";
import type { CaseReliability } from "../statistics/reliability.js";
import { caseProperties, reliabilityProperties, repeatedOf } from "./reliability.js";
import {
  type At,
  countStatuses,
  guarded,
  informationalMetrics,
  joined,
  judgedMetrics,
  listOf,
  missingRuns,
  MOST_METRIC_COLUMNS,
  type NamedCase,
  namedCases,
  NOT_RUN,
  noticesOf,
  noticeText,
  ofMetric,
  type Results,
  statusWord,
  timestampText,
} from "./results.js";
import { firstLine, head, oneLine, shorten, visible } from "./text.js";

/**
 * Renders results as one JUnit XML document. Characters that XML 1.0 cannot hold are replaced by
 * visible ones.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * await writeFile("junit.xml", renderJUnit([result]));
 */
export function renderJUnit(results: Results, options: NoOptions = {}): string {
  return joined(junitChunks(results, options));
}

/**
 * As {@link renderJUnit}, piece by piece: for results whose document is longer than a string can be.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 */
export function junitChunks(results: Results, options: NoOptions = {}): Generator<string> {
  refuseOptions(options);
  return guarded(listOf(results), documentPieces);
}

function* documentPieces(sets: readonly EvalSetResult[], at: At): Generator<string> {
  const totals = sets.map((set, index) => totalOf(set, index, at));
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="adk-metrics" ${attributesOf(totals)}>\n`;
  for (const [index, set] of sets.entries()) {
    at(index);
    yield lines(suiteLines(set, totals[index] as Total));
    const repeated = new Map(repeatedOf([set])?.cases.map((one) => [one.evalId, one]));
    for (const [position, one] of namedCases(set).entries()) {
      at(index, position);
      yield lines(testsOf(one, set, repeated.get(one.result.evalId)).flatMap((test) => testLines(set, test)));
    }
    for (const { name, evalId, run } of missingRuns(set)) {
      const properties: Test["properties"] = [
        ["evalId", evalId],
        ["run", String(run)],
      ];
      const status = EvalStatus.INFORMATIONAL;
      yield lines(testLines(set, { name, status, message: "", text: "", properties, skipped: NOT_RUN }));
    }
    yield lines([...noticeLines(set), "  </testsuite>"]);
  }
  yield "</testsuites>\n";
}

function lines(of: readonly string[]): string {
  return of.map((line) => `${line}\n`).join("");
}

/** What a suite says of its tests before they come. */
interface Total {
  statuses: EvalStatus[];
  /** Undefined where no time is known. */
  seconds: number | undefined;
}

function totalOf(set: EvalSetResult, index: number, at: At): Total {
  const statuses: EvalStatus[] = [];
  let seconds: number | undefined;
  for (const [position, result] of set.evalCaseResults.entries()) {
    at(index, position);
    for (const metric of judgedMetrics(result.overallEvalMetricResults)) statuses.push(testStatus(metric, set));
    if (!isByMetrics(result, set)) statuses.push(result.finalEvalStatus);
    const took = secondsOf(result);
    if (took !== undefined) seconds = (seconds ?? 0) + took;
  }
  for (const _ of missingRuns(set)) statuses.push(EvalStatus.INFORMATIONAL);
  return { statuses, seconds };
}

/** Whether a metric has the status of its case, which then needs no test case of its own. */
function isByMetrics({ overallEvalMetricResults, finalEvalStatus }: EvalCaseResult, set: EvalSetResult): boolean {
  return judgedMetrics(overallEvalMetricResults).some((metric) => testStatus(metric, set) === finalEvalStatus);
}

/** The status of a metric's test case; a metric that decides nothing and did not pass informs. */
function testStatus({ metricName, evalStatus }: EvalMetricResult, { advisory }: EvalSetResult): EvalStatus {
  const decides = evalStatus === EvalStatus.PASSED || ofMetric(advisory, metricName) === undefined;
  return decides ? evalStatus : EvalStatus.INFORMATIONAL;
}

/** The seconds that the agent took for a case, over the turns where they were measured. */
function secondsOf({ evalMetricResultPerInvocation }: EvalCaseResult): number | undefined {
  let seconds: number | undefined;
  for (const turn of evalMetricResultPerInvocation) {
    const metric = turn.evalMetricResults.find(({ metricName }) => metricName === "invocation_duration_v1");
    const took: unknown = metric?.score ?? (turn.actualInvocation as { duration?: unknown } | undefined)?.duration;
    if (typeof took === "number" && Number.isFinite(took) && took >= 0) seconds = (seconds ?? 0) + took;
  }
  return seconds;
}

/** To the microsecond, never as `1e-7`, which readers of JUnit do not take. */
function timeAttribute(seconds: number | undefined): string {
  return seconds === undefined ? "" : ` time="${Number(seconds.toFixed(6)) === 0 ? "0" : seconds.toFixed(6)}"`;
}

interface Test {
  name: string;
  /** The seconds of the eval case, with its first test. */
  seconds?: number | undefined;
  status: EvalStatus;
  /** Why it was skipped, if it is not advisory. */
  skipped?: string;
  /** The message of a failure or error. */
  message: string;
  /** What is between the tags of a failure or error. */
  text: string;
  properties: [name: string, value: string][];
}

function testsOf({ name, run, result }: NamedCase, set: EvalSetResult, ofCase?: CaseReliability): Test[] {
  const place: Test["properties"] = [
    ["evalId", result.evalId],
    ["run", String(run)],
    ...(ofCase === undefined ? [] : runProperties(ofCase)),
  ];
  const metrics = judgedMetrics(result.overallEvalMetricResults);
  // Every test has them: ADK's informational metrics only, whatever else a file contains.
  const informational = informationalMetrics(result.overallEvalMetricResults)
    .slice(0, MOST_METRIC_COLUMNS)
    .flatMap(({ metricName, score }) => property(metricName, score));
  const status = result.finalEvalStatus;
  const reason = result.reason ?? "";
  const own = { name, status, message: firstLine(reason) || statusWord(status), text: traceText(result, reason) };
  const tests: Test[] = isByMetrics(result, set) ? [] : [{ ...own, properties: [...place, ...informational] }];
  const failures = new Map(failuresOf(result).map((failure) => [failure.metric, failure]));
  const samples = samplesByMetric(result);
  for (const metric of metrics) {
    const failure = failures.get(metric);
    tests.push({
      name: `${name} › ${metric.metricName}`,
      status: testStatus(metric, set),
      message: messageOf(metric),
      text: failure ? failureText(failure) : "",
      properties: [
        ...place,
        ...scoreProperties(metric),
        ...(samples.get(metric.metricName) ?? []),
        ...calibrationProperties(ofMetric(set.judgeCalibrations, metric.metricName)),
        ...informational,
      ],
    });
  }
  const [first] = tests;
  if (first !== undefined) first.seconds = secondsOf(result);
  return tests;
}

/** How the runs of a case ended that was run repeatedly. */
function runProperties(ofCase: CaseReliability): Test["properties"] {
  return [
    ["caseRuns", String(ofCase.runs)],
    ["casePassedRuns", String(ofCase.passed)],
    ["flaky", String(ofCase.isFlaky)],
    ...caseProperties(ofCase).flatMap(([name, value]) => property(name, value)),
  ];
}

/** The numbers first: many lists of tests show the message alone, and only its beginning. */
function messageOf(metric: EvalMetricResult): string {
  return metric.reason ? `${verdictText(metric)}: ${metric.reason}` : verdictText(metric);
}

function scoreProperties({ score, threshold }: EvalMetricResult): Test["properties"] {
  return (
    [
      ["score", score],
      ["threshold", threshold],
    ] as const
  ).flatMap(([name, value]) => property(name, value));
}

/** How often people agree with the judge of a metric, as a stored calibration found. */
function calibrationProperties(found: JudgeCalibration | undefined): Test["properties"] {
  if (found === undefined) return [];
  const { labelled, agreement, stale } = found;
  return [
    ...property("judgeAgreement", agreement.value),
    ...property("judgeAgreementLow", agreement.low),
    ...property("judgeAgreementHigh", agreement.high),
    ...property("judgeLabels", labelled),
    ...(stale === undefined ? [] : [["judgeChanged", stale] satisfies [string, string]]),
  ];
}

/** The samples of each metric and their tokens, over all turns; not of metrics with a turn scored without an explanation. */
function samplesByMetric({ evalMetricResultPerInvocation }: EvalCaseResult): Map<string, Test["properties"]> {
  const found = new Map<string, EvalMetricResult[]>();
  const unknown = new Set<string>();
  for (const { evalMetricResults } of evalMetricResultPerInvocation) {
    for (const metric of evalMetricResults) {
      const isScored = metric.evalStatus === EvalStatus.PASSED || metric.evalStatus === EvalStatus.FAILED;
      if (isScored && !metric.explanation) unknown.add(metric.metricName);
      if (!metric.explanation?.samples) continue;
      const known = found.get(metric.metricName);
      if (known === undefined) found.set(metric.metricName, [metric]);
      else known.push(metric);
    }
  }
  const known = [...found].filter(([metricName]) => !unknown.has(metricName));
  return new Map(known.map(([metricName, turns]) => [metricName, sampleProperties(turns)]));
}

function sampleProperties(turns: readonly EvalMetricResult[]): Test["properties"] {
  const sum = (value: (metric: EvalMetricResult) => number | undefined) =>
    turns.reduce((total, metric) => total + (value(metric) ?? 0), 0);
  const hasTokens = turns.some((metric) => tokensOf(metric));
  const risks = turns.flatMap(({ explanation }) => explanation?.samples?.risk ?? []);
  return [
    ...property(
      "samplesAsked",
      sum(({ explanation }) => explanation?.samples?.asked),
    ),
    ...property(
      "samplesOf",
      sum(({ explanation }) => explanation?.samples?.of),
    ),
    ...property("judgeRisk", risks.length === 0 ? undefined : Math.max(...risks)),
    ...(hasTokens
      ? property(
          "judgeInputTokens",
          sum((metric) => tokensOf(metric)?.inputTokens),
        )
      : []),
    ...(hasTokens
      ? property(
          "judgeOutputTokens",
          sum((metric) => tokensOf(metric)?.outputTokens),
        )
      : []),
  ];
}

/** What the judges of a run were and did. */
function judgeProperties(set: EvalSetResult): Test["properties"] {
  const { judgeUsage: usage, simulatorUsage: users } = set;
  const names = judgesByMetric([set]);
  const right = calibrationsText([set]);
  return [
    ...(right === undefined ? [] : [["judgeCalibration", right] satisfies [string, string]]),
    ...(names !== "" ? [["judges", names] satisfies [string, string]] : []),
    ...(usage?.unpriced?.length ? [["judgeWithoutPrice", usage.unpriced.join(", ")] satisfies [string, string]] : []),
    ...(users?.unpriced?.length
      ? [["simulatorWithoutPrice", users.unpriced.join(", ")] satisfies [string, string]]
      : []),
    ...(users?.models?.length ? [["simulators", users.models.join(", ")] satisfies [string, string]] : []),
    ...(
      [
        ["judgeCalls", usage?.calls],
        ["judgeCallsRepeated", usage?.retried],
        ["judgeSamplesSaved", usage?.saved],
        ["judgeSamplesSavedAtRisk", usage?.savedAtRisk],
        ["judgeVerdictsAtRisk", usage?.verdictsAtRisk],
        ["judgeSamplesCached", usage?.cached],
        ["judgeSamplesLost", usage?.lost],
        ["judgeRepliesUnreadable", usage?.unread],
        ["judgeSamplesNotAsked", usage?.unsent || undefined],
        ["judgeInputTokens", usage?.inputTokens],
        ["judgeOutputTokens", usage?.outputTokens],
        ["judgeCost", usage?.cost],
        ["judgeCallsFailed", usage?.failed],
        ["judgeAnswersWithoutTokens", usage?.unreported || undefined],
        ["simulatorCalls", users?.calls],
        ["simulatorRepliesReused", users?.cached || undefined],
        ["simulatorInputTokens", users?.inputTokens],
        ["simulatorOutputTokens", users?.outputTokens],
        ["simulatorCost", users?.cost],
        ["simulatorAnswersWithoutTokens", users?.unreported || undefined],
      ] as const
    ).flatMap(([name, value]) => property(name, value)),
  ];
}

/** NaN and infinite numbers give no property. */
function property(name: string, value: number | undefined): Test["properties"] {
  return typeof value === "number" && Number.isFinite(value) ? [[name, String(value)]] : [];
}

const SIGNS: Record<Mark, string> = { same: "= ", expected: "- ", actual: "+ ", changed: "~ ", moved: "> ", note: "" };

function failureText({ metric, lines, turns }: MetricFailure): string {
  const signed = (line: DifferenceLine) => `  ${SIGNS[line.mark]}${line.text}`;
  return [
    ...(metric.reason ? [oneLine(head(metric.reason, 4000))] : []),
    ...lines.map(signed),
    ...turns.flatMap((turn) => [
      `turn ${turn.turn}: ${shorten(turn.user, 160)}`,
      ...(turn.metric.reason && turn.metric.reason !== metric.reason
        ? [`  ${oneLine(head(turn.metric.reason, 4000))}`]
        : []),
      ...turn.lines.map(signed),
    ]),
  ].join("\n");
}

/** Why a case has no scores, and what was done in it. */
function traceText(result: EvalCaseResult, reason: string): string {
  return [
    ...(reason === "" ? [] : [head(reason, 4000)]),
    ...traceOf(result).flatMap(({ turn, user, lines }) => [
      `turn ${turn}: ${shorten(user, 160)}`,
      ...lines.map(({ mark, text }) => `  ${SIGNS[mark]}${text}`),
    ]),
  ].join("\n");
}

function attributesOf(totals: readonly Total[]): string {
  const statuses = totals.flatMap((total) => total.statuses);
  const known = totals.flatMap(({ seconds }) => seconds ?? []);
  const { failed, notEvaluated } = countStatuses(statuses);
  const skipped = statuses.filter((status) => status === EvalStatus.INFORMATIONAL).length;
  const time = timeAttribute(known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0));
  return `tests="${statuses.length}" failures="${failed}" errors="${notEvaluated}" skipped="${skipped}"${time}`;
}

/** The beginning of a suite. */
function suiteLines(set: EvalSetResult, total: Total): string[] {
  const timestamp = timestampText(set);
  const found = repeatedOf([set]);
  const when = timestamp === undefined ? "" : ` timestamp="${timestamp}"`;
  return [
    `  <testsuite name="${escaped(set.evalSetId)}" ${attributesOf([total])}${when}>`,
    ...propertyLines(
      [
        ["engineVersion", set.engineVersion],
        ["referenceVersion", set.referenceVersion],
        ["dialect", set.dialect],
        ["evalSetResultId", set.evalSetResultId],
        ...((set.advisory ?? []).length > 0 ? [["advisory", set.advisory?.join(", ") ?? ""] as [string, string]] : []),
        ...(found === undefined
          ? []
          : reliabilityProperties(found).map(([name, value]): [string, string] => [name, String(value)])),
        ...judgeProperties(set),
      ],
      "    ",
    ),
  ];
}

/** What a reader has to know first, where JUnit has what was printed. */
function noticeLines(set: EvalSetResult): string[] {
  const lines = noticesOf(set).map((notice) => escaped(noticeText(notice)));
  return lines.length === 0 ? [] : ["    <system-err>", ...lines, "    </system-err>"];
}

function testLines(set: EvalSetResult, test: Test): string[] {
  const open = `    <testcase classname="${escaped(set.evalSetId)}" name="${escaped(test.name)}"${timeAttribute(test.seconds)}`;
  const inside = [...propertyLines(test.properties, "      "), ...outcomeLines(test)];
  return inside.length === 0 ? [`${open}/>`] : [`${open}>`, ...inside, "    </testcase>"];
}

function propertyLines(properties: readonly [string, string][], indent: string): string[] {
  if (properties.length === 0) return [];
  return [
    `${indent}<properties>`,
    ...properties.map(([name, value]) => `${indent}  <property name="${escaped(name)}" value="${escaped(value)}"/>`),
    `${indent}</properties>`,
  ];
}

function outcomeLines({ status, message, text, skipped }: Test): string[] {
  const tag = status === EvalStatus.FAILED ? "failure" : status === EvalStatus.NOT_EVALUATED ? "error" : undefined;
  if (status === EvalStatus.INFORMATIONAL) {
    return [`      <skipped message="${escaped(skipped ?? shorten(`advisory, does not count: ${message}`, 1000))}"/>`];
  }
  if (tag === undefined) return [];
  const type = status === EvalStatus.FAILED ? "FAILED" : "NOT_EVALUATED";
  const open = `      <${tag} type="${type}" message="${escaped(shorten(message, 1000))}"`;
  return [text === "" ? `${open}/>` : `${open}>${escaped(text)}</${tag}>`];
}

const XML_ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Text fit for an XML attribute or element, in whose lines no CI system finds a command. */
function escaped(text: string): string {
  return visible(text)
    .replace(/[&<>"']/g, (character) => XML_ESCAPES[character] ?? character)
    .replace(/#(?=#)/g, "&#35;")
    .replace(/:(?=:)/g, "&#58;");
}
