// What results warn of, in every renderer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { REPORT_FORMATS } from "../../pkg-template/src/report/index.js";
import * as report from "../../pkg-template/src/report/index.js";
import { resultLines } from "../../pkg-template/src/stored-results.js";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import type { EvalSetResult } from "../../pkg-template/src/types.js";
import { travelSet } from "./fixtures.js";
import { judgedSet } from "./judged-fixtures.js";

const WARNINGS = [
  { code: "invalid_input", message: "alpha is ignored", path: "config: beta", line: 7, help: "Do gamma" },
  { code: "invalid_input", message: "delta is left out" },
  { code: "custom_metric_failed", message: "epsilon threw", path: "evalSet: zeta", help: "Mend eta" },
] satisfies EvalSetResult["warnings"];
const WORDS = ["alpha is ignored", "config: beta", "delta is left out", "epsilon threw", "evalSet: zeta"];
const HELP = ["Do gamma", "Mend eta"];

/** Characters that Markdown would read stand there as numbers. */
const plain = (markdown: string) => markdown.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

/** Every renderer of results. */
const RENDERERS: Readonly<Record<string, (set: EvalSetResult) => string>> = {
  renderTable: (set) => report.renderTable(set),
  renderFailures: (set) => report.renderFailures(set),
  renderMarkdown: (set) => plain(report.renderMarkdown(set)),
  renderHtml: (set) => report.renderHtml(set),
  renderCsv: (set) => report.renderCsv(set),
  renderJUnit: (set) => report.renderJUnit(set),
  resultLines: (set) => [...resultLines(set)].join(""),
};

const passing = (): EvalSetResult => {
  const set = travelSet();
  const evalCaseResults = set.evalCaseResults.filter(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.PASSED);
  return { ...set, evalCaseResults: evalCaseResults.slice(0, 1) };
};

test("the renderers here are all there are", () => {
  const exported = Object.keys(report).filter((name) => /^render(?!Comparison)/.test(name));
  assert.deepEqual(
    exported.sort(),
    Object.keys(RENDERERS)
      .filter((name) => name !== "resultLines")
      .sort(),
  );
});

for (const [name, render] of Object.entries(RENDERERS)) {
  test(`${name} shows every warning, its place and what to do`, () => {
    const text = render({ ...travelSet(), warnings: WARNINGS });
    for (const word of [...WORDS, ...HELP]) assert.ok(text.includes(word), word);
  });

  const isEmpty = name === "renderFailures";
  test(`${name} shows ${isEmpty ? "no warning" : "them"} where all passes`, () => {
    const text = render({ ...passing(), warnings: WARNINGS });
    if (isEmpty) assert.equal(text, "");
    else for (const word of WORDS) assert.ok(text.includes(word), word);
  });
}

test("so does every format of the command line", () => {
  for (const [format, { render }] of Object.entries(REPORT_FORMATS)) {
    if (render === undefined) continue;
    const text = plain([...render({ ...travelSet(), warnings: WARNINGS }, {})].join(""));
    for (const word of WORDS) assert.ok(text.includes(word), `${format}: ${word}`);
  }
});

test("a turn without a verdict counts as not passed where the score is a share of the turns, elsewhere not at all", () => {
  const { NOT_EVALUATED } = EvalStatus;
  const withOpenTurn = (evalId: string): EvalSetResult => {
    const set = judgedSet();
    set.evalCaseResults = set.evalCaseResults.filter((result) => result.evalId === evalId);
    const turns = set.evalCaseResults[0]?.evalMetricResultPerInvocation ?? [];
    for (const metric of turns[1]?.evalMetricResults ?? []) {
      metric.evalStatus = NOT_EVALUATED;
      metric.explanation = { samples: { asked: 1, of: 1, votes: [] } };
      delete metric.score;
    }
    set.judges =
      turns[1]?.evalMetricResults.map(({ metricName }) => ({ metricName, scoredBy: "judge" as const })) ?? [];
    return set;
  };
  const user = report.renderTable(withOpenTurn("simulated_family_trip"), { width: 400 });
  assert.match(user, /has no verdict on turn 2 of simulated_family_trip, which counts as not passed: /);
  const rubrics = report.renderTable(withOpenTurn("room_with_view"), { width: 400 });
  assert.match(rubrics, /has no verdict on turn 2 of room_with_view, which does not count: /);
});

test("the page says in how many of the cases that passed a metric was not evaluated, and its bar shows them", () => {
  const set = passing();
  const notice = /a metric was not evaluated/;
  assert.doesNotMatch(report.renderHtml(set), notice);
  const [result] = set.evalCaseResults;
  assert.ok(result);
  const { PASSED, NOT_EVALUATED } = EvalStatus;
  const open = { metricName: "safety_v1", threshold: 0.8, evalStatus: NOT_EVALUATED, criterion: { threshold: 0.8 } };
  const incomplete = { ...result, overallEvalMetricResults: [...result.overallEvalMetricResults, open] };
  assert.equal(incomplete.finalEvalStatus, PASSED);
  const page = report.renderHtml({ ...set, evalCaseResults: [result, incomplete] });
  assert.match(page, /In 1 of the 2 cases that passed, a metric was not evaluated\./);
  assert.notEqual(barOf(page), barOf(report.renderHtml({ ...set, evalCaseResults: [result, result] })));
  const advisory = report.renderHtml({ ...set, evalCaseResults: [result, incomplete], advisory: ["safety_v1"] });
  assert.doesNotMatch(advisory, notice);
});

/** The bar of the statuses. */
const barOf = (page: string) => /<[^>]*class="share"[\s\S]*?<\/(?:div|svg|p)>/.exec(page)?.[0];
