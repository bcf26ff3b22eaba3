/**
 * Results as GitHub-flavoured Markdown, for the summary of a CI job or a comment on a pull request.
 *
 * Text of results cannot become markup: in prose its punctuation is written as character references,
 * and a code block's fence is longer than any run of backticks inside.
 */

import { checkOptions } from "../known-options.js";
import { EvalStatus } from "../enums.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult } from "../types.js";
import { type DifferenceLine, failuresOf, type MetricFailure, traceOf, verdictText } from "./difference.js";
import { isNumber, percentOf } from "./judged.js";
import { calibrationsText, judgesText, simulatorText } from "./usage.js";
import {
  reliabilityNotes,
  type ReliabilityTable,
  reliabilityTables,
  reliabilityText,
  repeatedOf,
} from "./reliability.js";
import {
  alikeRuns,
  type At,
  casesText,
  countCases,
  countsText,
  firstByName,
  guarded,
  joined,
  judgedMetrics,
  listOf,
  metricNames,
  MOST_METRIC_COLUMNS,
  passedText,
  type NamedCase,
  namedCases,
  noticesOf,
  type Results,
  stampText,
  statusWord,
} from "./results.js";
import { amountText, count, defused, head, scoreText, shorten, thresholdText } from "./text.js";

/** How much to render. */
export interface MarkdownOptions {
  /**
   * The most bytes to render, 1,000,000 by default, which is within the 1 MiB that GitHub takes as a
   * job summary. A comment takes 65,536. What does not fit is left out, and the report says so.
   */
  maxBytes?: number;
  /** The most rows in the table of a set, 200 by default; cases that did not pass come first. */
  maxRows?: number;
}

/**
 * Renders results as Markdown: for each set a table of its cases and metrics, then the differences
 * of each case that did not pass, collapsed.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results.
 *
 * @example
 * await appendFile(process.env.GITHUB_STEP_SUMMARY, renderMarkdown([result]));
 */
export function renderMarkdown(results: Results, options: MarkdownOptions = {}): string {
  checkOptions(options, ["maxBytes", "maxRows"]);
  return joined(guarded(listOf(results), (sets, at) => [markdownOf(sets, options, at)]));
}

function markdownOf(sets: readonly EvalSetResult[], options: MarkdownOptions, at: At): string {
  const { maxBytes = 1_000_000, maxRows = 200 } = options;
  const head = [`## Evaluation of ${casesText(sets)}: ${countsText(countCases(sets))}`];
  const foot = [...new Set(sets.map(stampText))].map((stamp) => `<sub>${prose(stamp)}</sub>`);
  const limit = maxBytes - [...head, ...foot].reduce((sum, block) => sum + bytes(block), 0) - 200;
  const body: string[] = [];
  let used = 0;
  let leftOut = 0;
  const write = (block: string) => {
    const size = bytes(block);
    if (used + size > limit) leftOut++;
    else {
      body.push(block);
      used += size;
    }
  };
  for (const [index, set] of sets.entries()) {
    at(index);
    const named = worstFirst(namedCases(set));
    write(`### ${code(set.evalSetId)} ${countsText(countCases([set]))}`);
    const found = repeatedOf([set]);
    const notes = [
      reliabilityText([set], found),
      ...reliabilityNotes(found),
      judgesText([set]),
      risksText(named, maxRows),
      calibrationsText([set]),
      simulatorText([set]),
    ];
    for (const text of notes) if (text) write(prose(capital(text)));
    for (const { message, place, help } of noticesOf(set)) {
      write(
        `> ${[message, place, help]
          .filter((part) => part !== undefined)
          .map((part) => prose(shorten(part, 1000)))
          .join("<br>")}`,
      );
    }
    if (named.length > 0) write(summaryTable(named, maxRows, set.advisory));
    for (const table of found === undefined ? [] : reliabilityTables(found)) write(reliabilityTable(table));
    const failures = alikeRuns(named, ({ position, result }) => {
      at(index, position);
      return failureText(result);
    });
    for (const group of failures) if (group !== undefined) write(detailsOf(group.name, group.result, group.text));
  }
  at();
  if (leftOut > 0) body.push(`_${count(leftOut, "section")} left out to stay within ${amountText(maxBytes)} bytes._`);
  return `${[...head, ...body, ...foot].join("\n\n")}\n`;
}

/** `verdicts that rest on a risk: late_refund safety_v1 (0.8%), lost_parcel safety_v1 (1%)`; empty for none. */
function risksText(named: readonly NamedCase[], most: number): string {
  const found = named.flatMap(({ name, result }) =>
    result.evalMetricResultPerInvocation.flatMap(({ evalMetricResults }) =>
      evalMetricResults.flatMap(({ metricName, explanation }) => {
        const risk = explanation?.samples?.risk;
        return isNumber(risk) ? [`${shorten(name, 100)} ${shorten(metricName, 100)} (${percentOf(risk)})`] : [];
      }),
    ),
  );
  const more = found.length > most ? ` and ${amountText(found.length - most)} more` : "";
  return found.length === 0 ? "" : `verdicts that rest on a risk: ${found.slice(0, most).join(", ")}${more}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function reliabilityTable({ title, columns, rows }: ReliabilityTable): string {
  const lines = [
    [title, ...columns].map(prose),
    [":---", ...columns.map(() => ":---")],
    ...rows.map((row) => row.map(prose)),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const ORDER: readonly EvalStatus[] = [EvalStatus.FAILED, EvalStatus.NOT_EVALUATED, EvalStatus.PASSED];

function worstFirst(cases: readonly NamedCase[]): NamedCase[] {
  return [...cases].sort((a, b) => ORDER.indexOf(a.result.finalEvalStatus) - ORDER.indexOf(b.result.finalEvalStatus));
}

function statusIcon(status: EvalStatus): string {
  if (status === EvalStatus.PASSED) return "✅";
  return status === EvalStatus.FAILED ? "❌" : "⚠️";
}

function summaryTable(cases: readonly NamedCase[], maxRows: number, advisory: readonly string[] = []): string {
  const names = metricNames(cases.map(({ result }) => judgedMetrics(result.overallEvalMetricResults)));
  const hasColumns = names.length <= MOST_METRIC_COLUMNS;
  const columns = hasColumns
    ? names.map((name) => `${code(name)}${advisory.includes(name) ? " (advisory)" : ""}`)
    : ["Metrics"];
  const rows = cases.slice(0, maxRows).map(({ name, result }) => {
    const metrics = judgedMetrics(result.overallEvalMetricResults);
    const first = firstByName(result.overallEvalMetricResults);
    return [
      code(name),
      ...(hasColumns ? names.map((wanted) => metricCell(first.get(wanted))) : [passedText(metrics)]),
      `${statusIcon(result.finalEvalStatus)} ${statusWord(result.finalEvalStatus)}`,
    ];
  });
  const table = [["Case", ...columns, "Status"], [":---", ...columns.map(() => "---:"), ":---"], ...rows].map(
    (cells) => `| ${cells.join(" | ")} |`,
  );
  const more = cases.length - rows.length;
  return [...table, ...(more > 0 ? ["", `… and ${count(more, "more case")}.`] : [])].join("\n");
}

function metricCell(metric: EvalMetricResult | undefined): string {
  if (metric === undefined) return "";
  const score = scoreText(metric.score, metric.threshold);
  if (metric.evalStatus === EvalStatus.PASSED) return score;
  if (metric.evalStatus === EvalStatus.NOT_EVALUATED) return "not evaluated";
  return metric.threshold === undefined ? `**${score}**` : `**${score}** &lt; ${thresholdText(metric.threshold)}`;
}

function detailsOf(name: string, { finalEvalStatus }: EvalCaseResult, text: string): string {
  const title = `${statusIcon(finalEvalStatus)} ${code(name)} ${statusWord(finalEvalStatus)}`;
  return [`<details><summary>${title}</summary>`, ...(text === "" ? [] : [text]), "</details>"].join("\n\n");
}

/** Why a case did not pass; undefined if there is nothing to tell. */
function failureText(result: EvalCaseResult): string | undefined {
  const failures = failuresOf(result);
  if (result.finalEvalStatus === EvalStatus.PASSED && failures.length === 0) return undefined;
  return [
    ...(result.reason ? reasonBlocks(result.reason) : []),
    ...traceOf(result).flatMap(({ turn, user, lines }) => [
      `Turn ${turn}: ${code(shorten(user, 160) || "(no text)")}`,
      diffBlock(lines),
    ]),
    ...failures.flatMap(failureBlocks),
  ].join("\n\n");
}

/** Why a case could not be scored; a stack below it as it is. */
function reasonBlocks(reason: string): string[] {
  const [first = "", ...rest] = head(reason, 4000).split("\n");
  const lines = rest.map((line): DifferenceLine => ({ mark: "note", text: shorten(line, 400) }));
  return [prose(shorten(first, 2000)), ...(lines.length > 0 ? [diffBlock(lines)] : [])];
}

function failureBlocks({ metric, lines, turns }: MetricFailure): string[] {
  const reason = metric.reason ? `: ${prose(shorten(metric.reason, 2000))}` : "";
  return [
    `**${code(metric.metricName)}** ${statusWord(metric.evalStatus)}, ${verdictText(metric)}${reason}`,
    ...(lines.length > 0 ? [diffBlock(lines)] : []),
    ...turns.flatMap((turn) => {
      const why =
        turn.metric.reason && turn.metric.reason !== metric.reason
          ? `: ${prose(shorten(turn.metric.reason, 2000))}`
          : "";
      const title = `Turn ${turn.turn}, ${scoreText(turn.metric.score, turn.metric.threshold)}: ${code(shorten(turn.user, 160) || "(no text)")}${why}`;
      return turn.lines.length > 0 ? [title, diffBlock(turn.lines)] : [title];
    }),
  ];
}

/** `!` is what GitHub's highlighting of differences has for a change that is neither `-` nor `+`. */
const SIGNS: Record<DifferenceLine["mark"], string> = {
  same: "  ",
  expected: "- ",
  actual: "+ ",
  changed: "! ",
  moved: "! ",
  note: "# ",
};

function diffBlock(lines: readonly DifferenceLine[]): string {
  const text = defused(lines.map((line) => SIGNS[line.mark] + line.text).join("\n"));
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}

/** A hyphen or a full stop at the beginning begins a list. */
const LIST = /^( *\d{0,9})([-.])/;

/**
 * After what an address, a mention or a reference to an issue begins. Such are found in the finished text, where references
 * to characters are characters again: only a character between helps, and this one takes no space.
 */
const LINKING = /[@#](?=[\p{L}\p{N}_])|:(?=\/\/)|www(?=\.)|GH(?=-\d)/giu;

/**
 * Text in prose or a table cell: one line, all punctuation that Markdown or HTML could take up as references, in which
 * nothing becomes a link or calls someone.
 */
export function prose(text: string): string {
  return shorten(text, 4000)
    .replace(LINKING, "$&\u200b")
    .replace(/[!-+/:-@[-`{-~]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(LIST, (_, before: string, mark: string) => `${before}&#${mark.charCodeAt(0)};`);
}

/** Text set as code; HTML's element, since its content may hold references. */
export function code(text: string): string {
  return `<code>${prose(shorten(text, 300))}</code>`;
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** The bytes of a block and of the blank line that sets it apart. */
export function bytes(text: string): number {
  return encoder.encode(text).length + 2;
}
