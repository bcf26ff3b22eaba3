/** Results as a table for spreadsheets and data frames (RFC 4180: CRLF, quotes doubled). */

import { type NoOptions, refuseOptions } from "../known-options.js";
import { EvalStatus } from "../enums.js";
import { scoreIn, reasonOf } from "../metric-info.js";
import type { CaseReliability } from "../statistics/reliability.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult } from "../types.js";
import { anyJudged, rubricsOf, tokensOf } from "./judged.js";
import { caseProperties, reliabilityProperties, repeatedOf } from "./reliability.js";
import {
  type At,
  guarded,
  joined,
  listOf,
  missingRuns,
  namedCases,
  NOT_RUN,
  noticesOf,
  noticeWords,
  ofMetric,
  type Results,
  statusWord,
} from "./results.js";
import { defused, head, visible } from "./text.js";
import { shortName } from "./usage.js";

const HEADER = ["evalSetId", "evalId", "run", "turn", "metricName", "score", "threshold", "evalStatus", "reason"];
const JUDGED_HEADER = ["samplesAsked", "samplesOf", "judgeInputTokens", "judgeOutputTokens", "rubricScores", "judge"];
const SIMULATOR_HEADER = ["simulatorModels", "simulatorCalls", "simulatorInputTokens", "simulatorOutputTokens"];
const RISK_HEADER = "judgeRisk";
const CALIBRATED_HEADER = ["judgeAgreement", "judgeAgreementLow", "judgeAgreementHigh", "judgeLabels", "judgeChanged"];
const REPEATED_HEADER = ["caseRuns", "casePassedRuns", "isFlaky", "caseReliability"];
const RELIABILITY_HEADER = "reliability";
const ADVISORY_HEADER = "isAdvisory";
const WARNINGS_HEADER = "warnings";

const MORE_COLUMNS = [
  ...[...JUDGED_HEADER, ...SIMULATOR_HEADER, ...CALIBRATED_HEADER, ...REPEATED_HEADER],
  ...[RISK_HEADER, RELIABILITY_HEADER, ADVISORY_HEADER, WARNINGS_HEADER],
];

/** Whether the first line has the columns of reports, and none of somebody else's. */
export function isOwnCsv(head: string): boolean {
  const end = head.indexOf("\r\n");
  const columns = head.slice(0, end).split(",");
  const isKnown = (name: string, at: number) =>
    at < HEADER.length ? name === HEADER[at] : MORE_COLUMNS.includes(name);
  return end > 0 && columns.length >= HEADER.length && columns.every(isKnown);
}

/** Which columns there are besides those that all results have. */
interface Columns {
  judged: boolean;
  /** Whether some votes ended at a risk. */
  risky: boolean;
  calibrated: boolean;
  /** Where cases were run repeatedly: what is known of each, by evalset and id. */
  repeated: ReadonlyMap<string, CaseReliability> | undefined;
  advisory: boolean;
  simulated: boolean;
  warnings: boolean;
}

/**
 * Renders results as CSV: a row for every metric of a case (its `turn` empty) and of each of its
 * turns (counted from 1), informational ones included. A case without metrics has one row without a
 * metric, and so has a run that was planned and not done when the evaluation ended. Repeated runs of a case are counted from 1 in `run`. Numbers are written in full.
 *
 * Where judges had a part in some result, six more columns follow: how many samples were asked about a turn, how many
 * might have been, the tokens of those not from a cache, the rubrics of the turn or the case with their scores as JSON,
 * such as `{"is_polite":1,"names_price":null}`, and who judged, with the versions that answered. Of results without explanations the samples and tokens are not known, and their
 * cells are empty.
 *
 * Where votes ended at a risk (`earlyStop: { risk }`), one more follows: the chance that all samples of the row's question
 * would have decided otherwise; empty where the verdict is certain.
 *
 * Where results have what a calibration found of their judges, five more follow: in which share people agree with the judge of
 * the metric, the ends of its interval, of how many labels, and what is another one since.
 *
 * Where cases were run repeatedly, five more follow: what the runs tell of future ones, as JSON, such as
 * `{"passRate":0.83,"passRateLow":0.24,…}`, in the first row of the evalset; how many runs of the case passed or failed, how many
 * passed, and whether some passed and some failed; and pass@k and pass^k of the case as JSON, `{"casePassAt2":1,"casePassHat2":0.33}`.
 *
 * Where metrics are advisory, a column says whether that of the row is: it decides nothing.
 *
 * Where models played users, four more columns name these models and count their calls and tokens, in the first row of the
 * evalset.
 *
 * Where there are warnings, a last column `warnings` holds them as a JSON list of texts: those about a metric in its rows, and
 * those about the inputs, and that the run was cancelled, in the first row of the evalset.
 *
 * A text that a spreadsheet would take for a formula, also where it splits at semicolons, tabs or line breaks, gets an
 * apostrophe before what would begin it. Control characters and commands to CI systems are replaced by visible ones.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * renderCsv([result]).split("\r\n")[0];
 * // "evalSetId,evalId,run,turn,metricName,score,threshold,evalStatus,reason"
 */
export function renderCsv(results: Results, options: NoOptions = {}): string {
  return joined(csvChunks(results, options));
}

/**
 * As {@link renderCsv}, piece by piece: for results whose CSV is longer than a string can be.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 */
export function csvChunks(results: Results, options: NoOptions = {}): Generator<string> {
  refuseOptions(options);
  return guarded(listOf(results), csvPieces);
}

function* csvPieces(sets: readonly EvalSetResult[], at: At): Generator<string> {
  const cases = repeatedOf(sets)?.cases;
  const repeated = cases === undefined ? undefined : new Map(cases.map((one) => [keyOf(one), one]));
  const simulated = sets.some(({ simulatorUsage }) => Boolean(simulatorUsage));
  const calibrated = sets.some(({ judgeCalibrations }) => (judgeCalibrations?.length ?? 0) > 0);
  const advisory = sets.some((set) => (set.advisory?.length ?? 0) > 0);
  const [judged, warnings] = [anyJudged(sets), anyWarning(sets)];
  const risky = sets.some(({ judgeUsage }) => (judgeUsage?.verdictsAtRisk ?? 0) > 0);
  const columns: Columns = { judged, risky, calibrated, repeated, advisory, simulated, warnings };
  const header = [
    ...HEADER,
    ...(columns.judged ? JUDGED_HEADER : []),
    ...(risky ? [RISK_HEADER] : []),
    ...(calibrated ? CALIBRATED_HEADER : []),
    ...(repeated === undefined ? [] : [RELIABILITY_HEADER, ...REPEATED_HEADER]),
    ...(columns.advisory ? [ADVISORY_HEADER] : []),
    ...(simulated ? SIMULATOR_HEADER : []),
    ...(columns.warnings ? [WARNINGS_HEADER] : []),
  ];
  yield `${header.join(",")}\r\n`;
  for (const [index, set] of sets.entries()) {
    const ofSet = noticesOf(set).map(noticeWords);
    if (set.evalCaseResults.length === 0 && ofSet.length > 0) {
      yield line([cell(set.evalSetId), ...header.slice(2).map(() => ""), warningsCell(ofSet)]);
    }
    for (const [position, { run, result }] of namedCases(set).entries()) {
      at(index, position);
      yield rowsOf(set, run, result, position === 0, position === 0 ? ofSet : [], columns);
    }
    for (const { evalId, run } of missingRuns(set)) {
      const cells = [set.evalSetId, evalId, String(run), "", "", "", "", statusWord(EvalStatus.NOT_EVALUATED), NOT_RUN];
      yield line([...cells.map(cell), ...header.slice(cells.length).map(() => "")]);
    }
  }
}

function rowsOf(
  set: EvalSetResult,
  run: number,
  result: EvalCaseResult,
  isFirst: boolean,
  ofSet: readonly string[],
  columns: Columns,
): string {
  const begin = [cell(set.evalSetId), cell(result.evalId), String(run)];
  const rows: string[] = [];
  const row = (cells: readonly string[], metric: EvalMetricResult | undefined) => {
    const ofMetric = metric?.explanation?.warnings ?? [];
    rows.push(
      line([
        ...begin,
        ...cells,
        ...(columns.judged ? judgedCells(set, metric) : []),
        ...(columns.risky ? [numberCell(metric?.explanation?.samples?.risk)] : []),
        ...(columns.calibrated ? calibratedCells(set.judgeCalibrations, metric) : []),
        ...(columns.repeated === undefined
          ? []
          : [
              isFirst && rows.length === 0 ? reliabilityCell(set) : "",
              ...repeatedCells(columns.repeated.get(keyOf(result))),
            ]),
        ...(columns.advisory ? [advisoryCell(set, metric)] : []),
        ...(columns.simulated ? simulatorCells(isFirst && rows.length === 0 ? set.simulatorUsage : undefined) : []),
        ...(columns.warnings ? [warningsCell(rows.length === 0 ? [...ofSet, ...ofMetric] : ofMetric)] : []),
      ]),
    );
  };
  const metricRow = (turn: string, metric: EvalMetricResult) =>
    row(
      [
        turn,
        cell(metric.metricName),
        numberCell(scoreIn(metric)),
        numberCell(metric.threshold),
        statusWord(metric.evalStatus),
        cell(reasonOf(metric) ?? ""),
      ],
      metric,
    );
  if (result.overallEvalMetricResults.length === 0) {
    row(["", "", "", "", statusWord(result.finalEvalStatus), cell(result.reason ?? "")], undefined);
  }
  for (const metric of result.overallEvalMetricResults) metricRow("", metric);
  for (const [index, turn] of result.evalMetricResultPerInvocation.entries()) {
    for (const metric of turn.evalMetricResults) metricRow(String(index + 1), metric);
  }
  return rows.join("");
}

function keyOf({ evalSetId, evalId }: { evalSetId: string; evalId: string }): string {
  return JSON.stringify([evalSetId, evalId]);
}

/** The cells below {@link CALIBRATED_HEADER}. */
function calibratedCells(found: EvalSetResult["judgeCalibrations"], metric: EvalMetricResult | undefined): string[] {
  const one = ofMetric(found, metric?.metricName);
  if (one === undefined) return CALIBRATED_HEADER.map(() => "");
  const { value, low, high } = one.agreement;
  return [...[value, low, high, one.labelled].map(numberCell), cell(one.stale ?? "")];
}

/** The cell below {@link RELIABILITY_HEADER}. */
function reliabilityCell(set: EvalSetResult): string {
  const found = repeatedOf([set]);
  return found === undefined ? "" : cell(JSON.stringify(Object.fromEntries(reliabilityProperties(found))));
}

/** The cells below {@link REPEATED_HEADER}. */
function repeatedCells(one: CaseReliability | undefined): string[] {
  return one === undefined
    ? REPEATED_HEADER.map(() => "")
    : [
        String(one.runs),
        String(one.passed),
        String(one.isFlaky),
        one.runs < 2 ? "" : cell(JSON.stringify(Object.fromEntries(caseProperties(one)))),
      ];
}

/** The cell below {@link ADVISORY_HEADER}. */
function advisoryCell({ advisory }: EvalSetResult, metric: EvalMetricResult | undefined): string {
  return metric === undefined ? "" : String(ofMetric(advisory, metric.metricName) !== undefined);
}

/** The cells below {@link SIMULATOR_HEADER}. */
function simulatorCells(usage: EvalSetResult["simulatorUsage"]): string[] {
  if (usage === undefined) return SIMULATOR_HEADER.map(() => "");
  const { models, calls, inputTokens, outputTokens } = usage;
  return [cell(models.join(", ")), numberCell(calls), numberCell(inputTokens), numberCell(outputTokens)];
}

function line(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}

/** Whether there is anything for the column of warnings. */
function anyWarning(sets: readonly EvalSetResult[]): boolean {
  const hasWarnings = ({ explanation }: EvalMetricResult) => (explanation?.warnings?.length ?? 0) > 0;
  return sets.some(
    (set) =>
      noticesOf(set).length > 0 ||
      set.evalCaseResults.some(
        ({ overallEvalMetricResults, evalMetricResultPerInvocation }) =>
          overallEvalMetricResults.some(hasWarnings) ||
          evalMetricResultPerInvocation.some(({ evalMetricResults }) => evalMetricResults.some(hasWarnings)),
      ),
  );
}

function warningsCell(texts: readonly string[]): string {
  return texts.length === 0 ? "" : cell(JSON.stringify(texts));
}

/** The cells below {@link JUDGED_HEADER}. */
function judgedCells({ judges }: EvalSetResult, metric: EvalMetricResult | undefined): string[] {
  if (metric === undefined) return JUDGED_HEADER.map(() => "");
  const stamp = ofMetric(judges, metric.metricName);
  const samples = metric.explanation?.samples;
  const tokens = tokensOf(metric);
  const rubrics = rubricsOf(metric).map(({ rubricId, score }) => [rubricId, Number.isFinite(score) ? score : null]);
  return [
    numberCell(samples?.asked),
    numberCell(samples?.of),
    numberCell(tokens?.inputTokens),
    numberCell(tokens?.outputTokens),
    rubrics.length > 0 ? cell(JSON.stringify(Object.fromEntries(rubrics))) : "",
    stamp === undefined ? "" : cell(shortName(stamp, 200)),
  ];
}

/** The most that spreadsheets take in a cell is 32,767 characters. */
const LONGEST_CELL = 32_000;

/**
 * What would begin a formula: at the start of a cell, and where a spreadsheet that splits at other characters than commas
 * sees the start of one. It does not see our quotes as such then, and white space and quotes may precede it.
 */
const FORMULA = /(^|[;\t\n])(?=["\p{Zs}]*[=+\-@＝＋－＠])/gu;

/** What a cell has of a text: no formula, and no more than fits. */
export function cellText(text: string): string {
  const near = defused(visible(head(text, LONGEST_CELL)) + (text.length > LONGEST_CELL ? "…" : ""));
  return near.replace(FORMULA, "$1'").replace(/^(?=[\t\n])/, "'");
}

/** A text as a cell that is not a formula. */
export function cell(text: string): string {
  const safe = cellText(text);
  return /[",;\t\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A number as a cell; an empty one for none. */
export function numberCell(value: number | undefined | null): string {
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}
