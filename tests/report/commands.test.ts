// Commands to CI systems in texts of results: no line of a report is one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentEvaluationError } from "../../pkg-template/src/agents/results.js";
import { compareRuns } from "../../pkg-template/src/compare/runs.js";
import * as report from "../../pkg-template/src/report/index.js";
import { warningLines } from "../../pkg-template/src/report/results.js";
import { defused, displayWidth } from "../../pkg-template/src/report/text.js";
import { checkGates } from "../../pkg-template/src/statistics/gates.js";
import { adkMatchers } from "../../pkg-template/src/testing/matchers.js";
import type { EvalSetResult } from "../../pkg-template/src/types.js";
import { supportSet, travelSet } from "./fixtures.js";
import { hostileJudgedSet, judgedSet } from "./judged-fixtures.js";

/** Azure Pipelines and GitHub act on these anywhere in a line, TeamCity and GitHub on those at its start. */
const isCommand = (line: string) =>
  /##(?:\[|vso\[|teamcity\[)/i.test(line) || /^\s*(?:\u001b\[[\d;]*m|\s)*::/.test(line);

const COMMANDS = [
  "##vso[task.setvariable variable=NODE_OPTIONS]--require=/tmp/evil.js",
  "##VSO[task.prependpath]/tmp",
  "##teamcity[buildStatus text='owned']",
  "##[add-mask]secret",
  "::error file=a.js::owned",
  "::set-env name=A::b",
  "  ::warning::owned",
];

const ATTACK = COMMANDS.flatMap((command) => [
  command,
  `said: ${command}`,
  `\n${command}`,
  `${"x".repeat(88)} ${command}`,
]).join("\n");

/** The value with the attack before, or in place of, every string in it. */
function attacked<T>(value: T, by: string, keep: RegExp = /^(?:change|goal|kind|fenced|verdict|scoredBy)$/): T {
  if (typeof value === "string") return `${by}${value}` as T;
  if (Array.isArray(value)) return value.map((one: unknown) => attacked(one, by, keep)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      keep.test(key) ? (part as unknown) : attacked(part as unknown, by, keep),
    ]),
  ) as T;
}

const SETS = () => [travelSet(), supportSet(), judgedSet(), hostileJudgedSet()];

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

for (const by of [ATTACK, ...COMMANDS.map((command) => `${command}\n`)]) {
  test(`no line of a report is a command to a CI system: ${JSON.stringify(by.slice(0, 24))}`, () => {
    const sets = SETS().map((set) => attacked(set, by));
    const texts = {
      table: report.renderTable(sets),
      narrow: report.renderTable(sets, { width: 60 }),
      colours: report.renderTable(sets, { details: true, color: true }),
      failures: report.renderFailures(sets),
      markdown: report.renderMarkdown(sets),
      csv: report.renderCsv(sets),
      junit: report.renderJUnit(sets),
      html: report.renderHtml(sets),
    };
    for (const [name, text] of Object.entries(texts)) {
      assert.deepEqual(linesOf(text).filter(isCommand).slice(0, 3), [], name);
    }
  });
}

test("no line of a comparison is a command to a CI system", () => {
  const [before, after] = [attacked(travelSet(), ATTACK), attacked(travelSet(), ATTACK)];
  for (const { overallEvalMetricResults } of after.evalCaseResults)
    for (const metric of overallEvalMetricResults) {
      metric.score = 0;
      metric.evalStatus = 2;
      metric.reason = ATTACK;
    }
  const comparison = compareRuns(before, { ...after, evalSetId: `${ATTACK}2` } as EvalSetResult);
  for (const [name, render] of Object.entries(report)) {
    if (!name.startsWith("renderComparison")) continue;
    const text = (render as (value: typeof comparison) => string)(comparison);
    assert.deepEqual(linesOf(text).filter(isCommand).slice(0, 3), [], name);
  }
  assert.deepEqual(JSON.parse(report.renderComparisonJson(comparison)), comparison);
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail("nothing is wrong");
}

test("no line of what a test runner prints is a command to a CI system", () => {
  const set = attacked(travelSet(), ATTACK);
  set.warnings = [{ code: "invalid_input", message: ATTACK, path: ATTACK, help: ATTACK }];
  // Each case twice: the means of runs are named too.
  const results = [{ ...set, evalCaseResults: [...set.evalCaseResults, ...set.evalCaseResults] }];
  const gates = { minPassRate: 1, minPassHat: { 4: 1 } };
  const failures = set.evalCaseResults.map(({ evalSetId, evalId, overallEvalMetricResults: [metric] }) => ({
    ...{ evalSetId, resultIndex: 0, evalId, metricName: ATTACK, threshold: 1, score: 0 },
    message: `${metric?.metricName} failed`,
  }));
  const texts = {
    error: new AgentEvaluationError(failures, results).message,
    gates: new AgentEvaluationError(failures, results, checkGates(results, gates)).message,
    matcher: adkMatchers.toPass(results, gates).message(),
    mistake: messageOf(() => adkMatchers.toPass(results, { [ATTACK]: 1 } as object)),
    warnings: warningLines(results).join("\n"),
  };
  for (const [name, text] of Object.entries(texts)) {
    assert.deepEqual(linesOf(text).filter(isCommand).slice(0, 3), [], name);
  }
});

test("a command keeps its width and its words; what is none stays as it is", () => {
  for (const command of COMMANDS) {
    assert.equal(displayWidth(defused(command)), displayWidth(command));
    assert.equal(defused(command).slice(4), command.slice(4));
  }
  for (const text of ["std::vector", "## Heading", "a ::error", "#[test]", "time 10::20", "# # [x]"]) {
    assert.equal(defused(text), text);
  }
});
